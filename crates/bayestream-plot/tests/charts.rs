//! Laws every chart obeys: well-formed, deterministic, never a panic, nothing outside the file.

use bayestream_plot::{Chart, MarkStyle, Marker, Page, PlotError, Span, Style, grid, palette, palette_len};

/// Series that are hard to draw.
fn hard_series() -> Vec<(&'static str, Vec<(f64, f64)>)> {
    let nan = f64::NAN;
    vec![
        ("none", vec![]),
        ("one", vec![(3.0, 4.0)]),
        ("zero", vec![(0.0, 0.0)]),
        ("constant", vec![(1.0, 7.0), (2.0, 7.0), (3.0, 7.0)]),
        ("constant x", vec![(5.0, 1.0), (5.0, 2.0)]),
        ("tiny", vec![(1e-12, -2e-12), (3e-12, 4e-12)]),
        ("huge", vec![(-1e12, 3e12), (2e12, 9e12)]),
        ("mixed", vec![(1e-12, 1e12), (1e12, 1e-12)]),
        ("limits", vec![(f64::MAX, f64::MIN), (f64::MIN, f64::MAX), (5e-324, -5e-324)]),
        ("narrow", vec![(1e15, 1.0), (1e15 + 1.0, 1.0 + 1e-15)]),
        ("not finite", vec![(nan, nan), (f64::INFINITY, 1.0), (1.0, f64::NEG_INFINITY)]),
        ("gaps", vec![(0.0, 1.0), (1.0, nan), (2.0, 3.0), (nan, 3.0), (4.0, 5.0), (5.0, 6.0)]),
        ("negative", vec![(-3.0, -8.0), (-2.0, -9.0)]),
    ]
}

/// A chart with every layer that takes points, bars or ends.
fn all_layers(points: &[(f64, f64)]) -> Chart {
    let edges: Vec<_> = points.iter().map(|&(x, y)| (x, y, x)).collect();
    let ends: Vec<_> = points.iter().map(|&p| (p, (p.1, p.0))).collect();
    let marks: Vec<_> = points.iter().map(|p| (p.0, "event <&>")).collect();
    let span = |&(from, to): &(f64, f64)| Span { y: to, from, to, color: 17, label: "life".into() };
    let spans: Vec<Span> = points.iter().map(span).collect();
    let values: Vec<f64> = points.iter().map(|p| p.1).collect();
    let style = Style::default().with_marker(Marker::Diamond);
    let mut chart = Chart::new("Title").note("Note").x_label("x").y_label("y");
    chart = chart.line("line", points).dashed().step("step", points).points("dots", points, style);
    chart = chart.band("band", &edges).whiskers("whiskers", &edges).segments("segments", &ends);
    chart = chart.columns("columns", &edges).histogram("histogram", &values, 7);
    chart = chart.marks(&marks, MarkStyle::default()).spans(&spans);
    for &(x, y) in points {
        chart = chart.ellipse((x, y), [[x, 0.1], [0.1, y]], 2.0, 3, Some("e"));
    }
    chart
}

fn assert_well_formed(svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{e}\n{svg}"));
    assert_eq!(document.root_element().tag_name().name(), "svg");
    for node in document.descendants() {
        for attribute in node.attributes() {
            let value = attribute.value();
            let numeric = matches!(attribute.name(), "d" | "x" | "y" | "width" | "height" | "viewBox");
            assert!(!numeric || !value.contains("NaN") && !value.contains("inf"), "{value}");
        }
    }
}

#[test]
fn hard_numbers_give_well_formed_pictures() {
    for (name, points) in hard_series() {
        let chart = all_layers(&points);
        let labels: Vec<(String, f64)> = points.iter().map(|&(x, y)| (x.to_string(), y)).collect();
        let bars = Chart::new("bars").bars("a", &labels).bars("b", &labels);
        let values: Vec<f64> = points.iter().map(|p| p.1).collect();
        let groups = Chart::new("").bar_groups(&["one", "two"], &[("g", &values), ("h", &values)]);
        let variants = [
            chart.clone(),
            chart.clone().log_x(),
            chart.clone().log_x().log_y(),
            chart.clone().x_range(2.0, 2.5).y_range(9.0, -9.0),
            chart.clone().x_range(f64::NAN, 1.0).y_range(0.0, 0.0),
            chart.clone().size(1.0, f64::INFINITY),
            chart.clone().equal_aspect().flip_y(),
            bars.clone(),
            bars.log_x().log_y(),
            groups.clone(),
            groups.log_x().log_y(),
        ];
        for (ix, variant) in variants.iter().enumerate() {
            let svg = variant.to_svg();
            assert_well_formed(&svg);
            let png = variant.to_png(0.5).unwrap_or_else(|e| panic!("{name} {ix}: {e}"));
            assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        }
    }
}

#[test]
fn a_chart_without_data_says_so() {
    assert!(Chart::new("empty").to_svg().contains(">no data</text>"));
    assert!(Chart::new("empty").line("a", &[(f64::NAN, 1.0)]).to_svg().contains(">no data</text>"));
    assert!(Chart::new("empty").bars::<&str>("a", &[]).to_svg().contains(">no data</text>"));
    assert!(!Chart::new("full").line("a", &[(2.0, 1.0)]).to_svg().contains("no data"));
    assert!(!Chart::new("full").marks(&[(2.0, "m")], MarkStyle::default()).to_svg().contains("no data"));
}

#[test]
fn the_same_chart_gives_the_same_bytes() {
    for (_, points) in hard_series() {
        let (one, other) = (all_layers(&points), all_layers(&points));
        assert_eq!(one.to_svg(), other.to_svg());
        assert_eq!(one.to_png(1.0), other.to_png(1.0));
    }
}

#[test]
fn coordinates_have_at_most_two_decimals() {
    let svg = all_layers(&[(1.0 / 3.0, 2.0 / 7.0), (5.0 / 7.0, 1.1)]).to_svg();
    for (at, _) in svg.match_indices('.') {
        let digits = svg[at + 1..].chars().take_while(char::is_ascii_digit).count();
        assert!(digits <= 2, "{}", &svg[at.saturating_sub(20)..at + 10]);
    }
}

#[test]
fn text_is_escaped() {
    let hostile = "<script>\"x\" & 'y'</script>\u{0}\u{1b}";
    let chart = Chart::new(hostile)
        .size(2000.0, 400.0)
        .note(hostile)
        .x_label(hostile)
        .line(hostile, &[(0.0, 0.0), (1.0, 1.0)])
        .marks(&[(0.5, hostile)], MarkStyle::default());
    let svg = chart.to_svg();
    assert_well_formed(&svg);
    assert!(!svg.contains("<script"));
    let rows = [[hostile.to_string()]];
    let html = Page::new(hostile)
        .lead(hostile)
        .section(hostile, hostile)
        .chart(&chart, hostile)
        .table(&[hostile], &rows)
        .pre(hostile)
        .to_html();
    assert!(!html.contains("<script"));
    assert!(html.contains("&lt;script&gt;&quot;x&quot; &amp; &#39;y&#39;"));
}

#[test]
fn large_clouds_stay_small_files() {
    // A low-discrepancy sequence fills the square without a generator.
    let point = |i: u32| ((f64::from(i) * 0.754877666).fract(), (f64::from(i) * 0.569840296).fract());
    let points: Vec<(f64, f64)> = (0..200_000).map(point).collect();
    for marker in [Marker::Circle, Marker::Ring] {
        let svg = Chart::new("").points("", &points, Style::cloud().with_marker(marker)).to_svg();
        assert!(svg.len() < 1_000_000, "{marker:?}: {}", svg.len());
        assert_well_formed(&svg);
    }
    let svg = Chart::new("").line("", &points).step("", &points).to_svg();
    assert!(svg.len() < 1_500_000, "{}", svg.len());
}

#[test]
fn fifty_thousand_points_are_all_drawn() {
    let points: Vec<(f64, f64)> = (0..50_000).map(|i| (f64::from(i), f64::from(i % 97))).collect();
    let svg = Chart::new("").points("", &points, Style::cloud()).to_svg();
    assert_eq!(svg.matches("h0").count(), 50_000);
    assert!(svg.len() < 1_000_000, "{}", svg.len());
}

#[test]
fn png_has_the_size_asked_for() {
    let chart = Chart::new("size").size(300.0, 200.0).line("", &[(0.0, 1.0), (1.0, 2.0)]);
    let png = chart.to_png(1.5).expect("a small chart fits into memory");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    // Width and height follow the signature, the length and the name of the first chunk.
    assert_eq!(png[16..20], 450u32.to_be_bytes());
    assert_eq!(png[20..24], 300u32.to_be_bytes());
}

#[test]
fn impossible_scales_are_errors() {
    let chart = Chart::new("scale");
    assert_eq!(chart.to_png(0.0), Err(PlotError::Scale(0.0)));
    assert_eq!(chart.to_png(-2.0), Err(PlotError::Scale(-2.0)));
    assert!(matches!(chart.to_png(f64::NAN), Err(PlotError::Scale(_))));
    assert!(matches!(chart.to_png(1e9), Err(PlotError::TooLarge { .. })));
    assert!(chart.to_png(1e-9).is_ok());
}

#[test]
fn a_grid_holds_all_panels() {
    let panel = |name: &str| Chart::new(name).size(200.0, 150.0).line("", &[(0.0, 1.0), (1.0, 2.0)]);
    let panels: Vec<Chart> = ["a", "b", "c", "d", "e"].map(panel).to_vec();
    for columns in [0, 1, 2, 3, 9] {
        let figure = grid(&panels, columns);
        let svg = figure.to_svg();
        assert_well_formed(&svg);
        assert_eq!(svg.matches("<g transform").count(), 5);
        assert!(figure.width() >= 200.0 * columns.clamp(1, 5) as f64);
        assert!(figure.to_png(0.3).is_ok());
    }
    assert_well_formed(&grid(&[], 3).to_svg());
}

#[test]
fn images_need_as_many_values_as_pixels() {
    let gray = [0.0, 0.5, 1.0, f64::NAN, -2.0, 7.0];
    assert!(Chart::new("").image(3, 2, &gray).to_svg().contains("data:image/png;base64,"));
    for (w, h) in [(2, 2), (0, 0), (usize::MAX, 2), (6, 0)] {
        let chart = Chart::new("").image(w, h, &gray);
        assert!(chart.to_svg().contains("no data"));
        assert!(chart.to_png(1.0).is_ok());
    }
    assert!(Chart::new("").image(1, 1, &[f64::MAX]).to_png(1.0).is_ok());
}

#[test]
fn a_page_needs_nothing_else() {
    let html = Page::new("Report")
        .lead("Everything in one file.")
        .section("Charts", "First paragraph.\n\nSecond paragraph.")
        .chart(all_layers(&[(1.0, 2.0), (3.0, 5.0)]).image(2, 1, &[0.0, 1.0]), "caption")
        .chart(grid(&[Chart::new("a"), Chart::new("b")], 2), "")
        .table(&["name", "value"], &[["a", "−1.5"], ["b", "12,000"]])
        .to_html();
    let namespace = "xmlns=\"http://www.w3.org/2000/svg\"";
    let rest = html.replace(namespace, "");
    for outside in ["http:", "https:", "//", "src=", "@import", "url(", "<script", "<link"] {
        // Base64 text may hold slashes; it is not a reference.
        let found = rest.match_indices(outside).filter(|(at, _)| !inside_data(&rest, *at)).count();
        assert_eq!(found, 0, "{outside}");
    }
    for (at, _) in rest.match_indices("href=\"") {
        assert!(rest[at..].starts_with("href=\"data:image/png;base64,"));
    }
    assert!(html.contains("prefers-color-scheme: dark"));
    assert_eq!(html.matches("<p>").count(), 2);
    assert!(html.contains("<td class=\"number\">12,000</td>"));
    assert!(!html.contains(" id=\""), "ids of several charts would clash");
}

/// Whether a position lies in the text of an embedded picture.
fn inside_data(html: &str, at: usize) -> bool {
    let start = html[..at].rfind('"').unwrap_or(0);
    html[start..].starts_with("\"data:image/png;base64,")
}

#[test]
fn the_palette_has_more_than_ten_different_colours() {
    let mut colors: Vec<String> = (0..palette_len()).map(palette).collect();
    colors.sort();
    colors.dedup();
    assert_eq!(colors.len(), palette_len());
    assert!(palette_len() > 10);
    assert_eq!(palette(palette_len() + 2), palette(2));
}
