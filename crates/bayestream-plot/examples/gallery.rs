//! Draws every kind of chart: `cargo run -p bayestream-plot --example gallery -- OUTDIR`.

use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

use bayestream_plot::{Chart, MarkStyle, Marker, Page, Span, Style, SvgFigure, grid};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = std::env::args_os().nth(1).map(PathBuf::from);
    let out = out.ok_or("usage: gallery OUTDIR")?;
    std::fs::create_dir_all(&out)?;
    let figures: Vec<(&str, &str, SvgFigure)> = vec![
        ("lines", "Lines, a band, whiskers and events.", lines().into()),
        ("steps", "A staircase with a logarithmic axis.", steps().into()),
        ("mixture", "Points with the contours of a mixture.", mixture(640.0, 460.0).into()),
        ("cloud", "Fifty thousand points.", cloud().into()),
        ("bars", "Horizontal bars.", bars().into()),
        ("groups", "Groups of upright bars.", groups().into()),
        ("lives", "Lifelines of components.", lives().into()),
        ("log-log", "Two logarithmic axes.", log_log().into()),
        ("markers", "Every marker and every colour.", markers().into()),
        ("images", "Gray pictures.", images()),
        ("pairs", "A grid of panels.", pairs()),
        ("far", "A narrow range far from zero.", far_from_zero().into()),
        ("empty", "Nothing to draw.", Chart::new("A chart without data").x_label("x").into()),
    ];
    let mut page = Page::new("Gallery of charts").lead("Every kind of chart, with made-up numbers.");
    for (name, caption, figure) in figures {
        write(&out, &format!("{name}.svg"), figure.to_svg().as_bytes())?;
        write(&out, &format!("{name}.png"), &figure.to_png(2.0)?)?;
        page = page.section(name, "").chart(figure, caption);
    }
    let page = page
        .section("Table", "Columns of numbers are aligned to the right.")
        .table(&["kind", "rows", "score"], &[["gmm/ofab", "50,000", "−3.10"], ["gmm/asugs", "8,000", "−13.42"]])
        .pre("$ bayestream plot model.bs -o page.html");
    write(&out, "gallery.html", page.to_html().as_bytes())?;
    Ok(())
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    println!("{name}: {} bytes", bytes.len());
    std::fs::write(folder.join(name), bytes)
}

/// Evenly spread numbers that look random: enough for pictures, the same on every run.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }
}

fn lines() -> Chart {
    let mut noise = Noise(7);
    let rows = (0..=60).map(|i| f64::from(i) * 1000.0);
    let curve: Vec<(f64, f64)> =
        rows.map(|x| (x, -6.0 + 3.0 * (1.0 - (-x / 9000.0).exp()) + 0.05 * noise.normal())).collect();
    let slower: Vec<(f64, f64)> = curve.iter().map(|&(x, _)| (x, -6.0 + 2.6 * (1.0 - (-x / 20000.0).exp()))).collect();
    let band: Vec<_> = curve.iter().map(|&(x, y)| (x, y - 0.3, y + 0.25)).collect();
    let whiskers: Vec<_> = slower.iter().skip(6).step_by(10).map(|&(x, y)| (x, y - 0.2, y + 0.2)).collect();
    Chart::new("Held-out score while learning")
        .note("Mean log density of the next 1,000 rows, and its middle 80 % over ten seeds.")
        .x_label("rows seen")
        .y_label("log density per row")
        .band("online FAB", &band)
        .line("online FAB", &curve)
        .line("stochastic variational", &slower)
        .dashed()
        .whiskers("stochastic variational", &whiskers)
        .marks(&[(24_000.0, "drift"), (25_500.0, "component 4 born")], MarkStyle::default())
}

fn steps() -> Chart {
    let realized = [(100.0, 1.0), (400.0, 3.0), (900.0, 6.0), (3e3, 9.0), (2e4, 10.0), (5e4, 10.0)];
    let implemented = [(100.0, 4.0), (500.0, 8.0), (1500.0, 14.0), (6e3, 13.0), (5e4, 12.0)];
    Chart::new("Components")
        .size(520.0, 320.0)
        .x_label("rows seen")
        .y_label("components")
        .log_x()
        .step("realized", &realized)
        .step("implemented", &implemented)
}

/// A centre and a covariance.
type Component = ((f64, f64), [[f64; 2]; 2]);

const COMPONENTS: [Component; 4] = [
    ((0.0, 0.0), [[1.0, 0.6], [0.6, 0.8]]),
    ((5.0, 2.0), [[0.5, -0.3], [-0.3, 1.2]]),
    ((1.0, 5.0), [[1.6, 0.0], [0.0, 0.2]]),
    ((5.5, -3.0), [[0.3, 0.1], [0.1, 0.3]]),
];

fn draws(n: usize, component: usize) -> Vec<(f64, f64)> {
    let mut noise = Noise(component as u64 + 1);
    let ((mx, my), [[a, b], [_, d]]) = COMPONENTS[component];
    let (sd, slope) = (a.sqrt(), b / a.sqrt());
    let rest = (d - slope * slope).sqrt();
    let draw = |_| {
        let (u, v) = (noise.normal(), noise.normal());
        (mx + sd * u, my + slope * u + rest * v)
    };
    (0..n).map(draw).collect()
}

fn mixture(width: f64, height: f64) -> Chart {
    let mut chart = Chart::new("What the model found").size(width, height).x_label("x1").y_label("x2").equal_aspect();
    for ix in 0..COMPONENTS.len() {
        chart = chart.points("", &draws(250, ix), Style::color(ix).with_radius(1.8).with_opacity(0.45));
    }
    for (ix, (center, covariance)) in COMPONENTS.into_iter().enumerate() {
        chart = chart.ellipse(center, covariance, 1.0, ix, None).ellipse(
            center,
            covariance,
            2.0,
            ix,
            Some(&format!("0-{ix}")),
        );
    }
    chart
}

fn cloud() -> Chart {
    (0..4).fold(Chart::new("50,000 points").x_label("x1").y_label("x2"), |chart, ix| {
        chart.points(format!("component {ix}"), &draws(12_500, ix), Style::cloud())
    })
}

fn bars() -> Chart {
    Chart::new("Weights of the components")
        .size(520.0, 300.0)
        .x_label("share of rows")
        .bars("", &[("night shift", 0.31), ("0-1", 0.22), ("a component with a rather long name", 0.2)])
        .bars("", &[("0-7", 0.151), ("new", 0.0402)])
        .color(0)
}

fn groups() -> Chart {
    Chart::new("Error against the paper").note("Lower is better.").y_label("error").bar_groups(
        &["synthetic", "gas sensors", "covertype with all columns", "digits"],
        &[
            ("paper", vec![0.12, 0.31, 0.44, 0.08]),
            ("ours", vec![0.11, 0.29, 0.45, 0.085]),
            ("limit", vec![0.15, 0.35, f64::NAN, 0.1]),
        ],
    )
}

fn lives() -> Chart {
    let lives = [(0.0, 50e3), (0.0, 21e3), (2e3, 50e3), (5e3, 9e3), (21e3, f64::INFINITY), (3e4, 41e3)];
    let names = ["0-0", "0-1", "0-2", "0-3 merged into 0-2", "0-4", "0-5 died"];
    let span = |(ix, ((from, to), name)): (usize, ((f64, f64), &str))| Span {
        y: ix as f64,
        from,
        to,
        color: ix,
        label: name.to_string(),
    };
    let spans: Vec<Span> = lives.into_iter().zip(names).enumerate().map(span).collect();
    Chart::new("Lives of the components")
        .size(640.0, 260.0)
        .x_label("rows seen")
        .flip_y()
        .spans(&spans)
        .marks(&[(21e3, "drift")], MarkStyle { color: Some(1), dashed: true })
}

fn log_log() -> Chart {
    let sizes = [10.0, 100.0, 1e3, 1e4, 1e5, 1e6];
    let power = |c: f64, p: f64| sizes.map(|n: f64| (n, c * n.powf(p)));
    Chart::new("Time per batch")
        .size(520.0, 360.0)
        .x_label("rows")
        .y_label("seconds")
        .log_x()
        .log_y()
        .line("per-row code", &power(2e-6, 1.0))
        .points("per-row code", &power(2e-6, 1.0), Style::default())
        .line("kernels", &power(3e-7, 0.98))
        .points("kernels", &power(3e-7, 0.98), Style::default().with_marker(Marker::Square))
}

fn markers() -> Chart {
    let markers =
        [Marker::Circle, Marker::Square, Marker::Diamond, Marker::Triangle, Marker::Cross, Marker::Plus, Marker::Ring];
    let mut chart = Chart::new("Markers and colours").size(640.0, 300.0);
    for color in 0..bayestream_plot::palette_len() {
        for (ix, &marker) in markers.iter().enumerate() {
            let style = Style { color: Some(color), radius: 6.0, opacity: 0.9, marker };
            chart = chart.points("", &[(color as f64, -(ix as f64))], style);
        }
    }
    let stairs = |k: f64| [((0.0, 0.6 + k), (11.0, 0.6 + k))];
    chart
        .segments("solid", &stairs(0.0))
        .segments("dashed", &stairs(0.5))
        .dashed()
        .segments("dotted", &stairs(1.0))
        .dotted()
}

fn images() -> SvgFigure {
    let picture = |k: usize| -> Vec<f64> {
        let pixel = |ix: usize| {
            let (x, y) = ((ix % 16) as f64 / 15.0 - 0.5, (ix / 16) as f64 / 11.0 - 0.5);
            (TAU * (k as f64 + 1.0) * (x * x + y * y)).cos() + y
        };
        (0..16 * 12).map(pixel).collect()
    };
    let panels: Vec<Chart> = (0..6)
        .map(|k| Chart::new("").note(format!("feature {k}")).size(150.0, 130.0).image(16, 12, &picture(k)))
        .collect();
    grid(&panels, 3)
}

/// Three columns against each other: histograms on the diagonal, points off it.
fn pairs() -> SvgFigure {
    let columns = ["width", "height", "depth"];
    let mut noise = Noise(11);
    let rows: Vec<[f64; 3]> = (0..400)
        .map(|_| {
            let (shared, own) = (noise.normal(), noise.normal());
            [shared, 0.8 * shared + 0.5 * own, 1000.0 + 50.0 * (own + noise.normal())]
        })
        .collect();
    let mut panels = Vec::new();
    for (i, name) in columns.iter().enumerate() {
        for (j, other) in columns.iter().enumerate() {
            let points: Vec<(f64, f64)> = rows.iter().map(|row| (row[j], row[i])).collect();
            let panel = Chart::new("").size(215.0, 190.0);
            let panel = if i == 2 { panel.x_label(*other) } else { panel };
            let panel = if j == 0 { panel.y_label(*name) } else { panel };
            panels.push(if i == j {
                let values: Vec<f64> = rows.iter().map(|row| row[i]).collect();
                panel.histogram("", &values, 20)
            } else {
                panel.points("", &points, Style::color(1).with_radius(1.4))
            });
        }
    }
    grid(&panels, 3)
}

fn far_from_zero() -> Chart {
    let points: Vec<(f64, f64)> = (0..50).map(|i| (1e9 + f64::from(i), 1e-12 * (f64::from(i) * 0.2).sin())).collect();
    Chart::new("Far from zero").size(520.0, 300.0).x_label("time").y_label("signal").line("", &points)
}
