//! `plot`: a model as a picture, over data if there is any.

use crate::documents;
use crate::error::Failure;
use crate::features::{self, plot::ImageSize};
use crate::feed::{Feed, Next, Plan};
use crate::files::Files;
use crate::model_file::{self, AnyModel};
use crate::picture_file::PictureFile;
use crate::pictures::{self, Thinned};
use crate::score_pictures::{self, Changes, Judged};
use crate::terminal::{self, counted, short, thousands};
use bayestream::model::Model;
use bayestream::structure::Snapshot;
use bayestream_io::{Format, OnError, ReadOptions};
use bayestream_plot::{Chart, Page, SvgFigure, grid};
use clap::Args;

/// Columns drawn against each other at most.
const MOST_COLUMNS: usize = 4;

/// Arguments of `plot`.
#[derive(Args)]
pub struct PlotArgs {
    /// The model file; with --scores it may be left out, and adds marks where the stream drifted.
    #[arg(value_name = "MODEL", required_unless_present = "scores")]
    model: Option<String>,
    /// A file with rows to draw behind the model, or `-` for standard input.
    #[arg(value_name = "DATA")]
    data: Option<String>,
    /// Draw a table that `watch` or `score` has written: surprise row by row, with alarms.
    #[arg(long, value_name = "SCORES", conflicts_with_all = ["data", "row", "columns"])]
    scores: Option<String>,
    /// Draw what makes this row of the data surprising to the model, column by column; rows are numbered from 1.
    #[arg(long, value_name = "N", requires = "data", conflicts_with = "columns",
          value_parser = clap::value_parser!(u64).range(1..))]
    row: Option<u64>,
    /// The picture to write; its extension says which kind: svg, png or html.
    #[arg(short = 'o', long, value_name = "FILE")]
    output: String,
    /// The columns to draw, at most four [default: those in which the components differ most].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// Models of features: draw each feature as a picture of this size in pixels, one column a pixel, row by row.
    #[arg(long, value_name = "WxH")]
    image: Option<ImageSize>,
    /// Format of the data [default: by extension, else by the first bytes].
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

/// Draws a model, the scores of a stream, or one row.
pub fn run(args: PlotArgs) -> Result<(), Failure> {
    Files::default()
        .reads("MODEL", &args.model)
        .reads("DATA", &args.data)
        .reads("--scores", &args.scores)
        .writes("-o", [&args.output])
        .check()?;
    let picture = PictureFile::at(&args.output)?;
    let model = match &args.model {
        None => None,
        Some(path) => match model_file::load_any(path)? {
            AnyModel::Documents(model) => {
                return documents::plot::run(path, &model, &args.output);
            }
            AnyModel::Linear(model) => {
                let kind = model.config().kind;
                return Err(Failure::Usage(format!(
                    "{path}: there is no picture of {kind}: `inspect` shows its features"
                )));
            }
            AnyModel::Features(model) => {
                for (given, what) in [
                    (args.data.is_some(), "DATA"),
                    (args.scores.is_some(), "--scores"),
                    (args.columns.is_some(), "--columns"),
                ] {
                    if given {
                        let kind = model.config().kind;
                        return Err(Failure::Usage(format!("{path}: {kind} is drawn without {what}: leave it out")));
                    }
                }
                let model = model_file::learnt_features(path, *model)?;
                return features::plot::run(path, &model, args.image, &args.output);
            }
            AnyModel::Rows(model) => Some(model_file::learnt(path, *model)?),
        },
    };
    if args.image.is_some() {
        return Err(Failure::Usage("--image is for models of features, whose columns are pixels: leave it out".into()));
    }
    let drawing = match (&args.scores, &model, args.row) {
        (Some(scores), ..) => scored(scores, args.format, model.as_ref())?,
        (None, Some(model), Some(row)) => one_row(&args, model, row)?,
        (None, Some(model), None) => mixture(&args, model)?,
        (None, None, _) => return Err(Failure::Usage("name a model to draw, or a table with --scores".to_string())),
    };
    picture.write(drawing.figure, drawing.page)?;
    terminal::note(format!("{}: {}", args.output, drawing.told));
    Ok(())
}

/// What is drawn, the page around it, and what to say of it.
struct Drawing<'a> {
    figure: SvgFigure,
    page: Box<dyn FnOnce(SvgFigure) -> Page + 'a>,
    told: String,
}

fn mixture<'a>(args: &'a PlotArgs, model: &'a Model) -> Result<Drawing<'a>, Failure> {
    let snapshot = model.snapshot();
    let columns = chosen_columns(args, &snapshot)?;
    let rows = match &args.data {
        Some(data) => read_rows(data, args.format, &snapshot)?,
        None => Vec::new(),
    };
    Ok(Drawing {
        figure: pair_plot(&snapshot, &columns, &rows),
        told: told(&snapshot),
        page: Box::new(move |figure| page(args, model.config().kind.name(), &snapshot, figure)),
    })
}

fn told(snapshot: &Snapshot) -> String {
    terminal::told_parts(snapshot.k_realized(), "component", Some(snapshot.clusters().len()))
}

fn scored<'a>(scores: &'a str, format: Option<Format>, model: Option<&Model>) -> Result<Drawing<'a>, Failure> {
    let judged = read_scores(scores, format)?;
    let n_alarms = counted(judged.iter().filter(|judged| judged.alarm).count() as u64, "alarm");
    let told = format!("{}, {n_alarms}", counted(judged.len() as u64, "row"));
    let mut chart = score_pictures::surprise_over_time(&judged);
    if let (Some(model), [first, .., last]) = (model, judged.as_slice()) {
        let changes = Changes { alarms: model.drift_alarms(), columns: model.columns(), events: model.events().iter() };
        chart = score_pictures::with_changes(chart, changes, (first.row, last.row));
    }
    let lead = told.clone();
    let page = move |figure| Page::new(scores).lead(lead).chart(figure, "How unusual each row was when it came.");
    Ok(Drawing { figure: chart.into(), told, page: Box::new(page) })
}

fn one_row<'a>(args: &'a PlotArgs, model: &Model, number: u64) -> Result<Drawing<'a>, Failure> {
    let data = args.data.as_deref().unwrap_or("-");
    let row = read_row(data, args.format, model.columns(), number)?;
    let reasons = model.scorer().reasons(&row);
    let title = format!("Row {}", thousands(number));
    let figure = score_pictures::reasons(&title, &reasons, model.columns()).into();
    let heading = format!("{data}, row {}", thousands(number));
    let caption = "How unlikely each cell is given the others: what was seen and what was expected.";
    let page = move |figure| Page::new(heading).chart(figure, caption);
    Ok(Drawing { figure, told: counted(reasons.len() as u64, "column"), page: Box::new(page) })
}

fn chosen_columns(args: &PlotArgs, snapshot: &Snapshot) -> Result<Vec<usize>, Failure> {
    let Some(names) = &args.columns else {
        return Ok(pictures::telling_columns(snapshot, MOST_COLUMNS));
    };
    if names.len() > MOST_COLUMNS {
        return Err(Failure::Usage(format!("--columns names {} columns; at most {MOST_COLUMNS}", names.len())));
    }
    let find = |name: &String| {
        snapshot.columns.iter().position(|column| column == name).ok_or_else(|| {
            let known = snapshot.columns.join(", ");
            Failure::Usage(format!("the model has no column `{name}`; its columns are {known}"))
        })
    };
    names.iter().map(find).collect()
}

fn read_rows(data: &str, format: Option<Format>, snapshot: &Snapshot) -> Result<Vec<f64>, Failure> {
    let options = ReadOptions {
        format,
        columns: Some(snapshot.columns.clone()),
        // A picture is not worse for a row less.
        on_error: OnError::Skip,
        ..ReadOptions::default()
    };
    let columns = Some(snapshot.columns.clone());
    let mut feed = Feed::start(Plan { inputs: vec![data.to_string()], options, columns, skip: 0 }, None);
    feed.opening()?;
    let mut thinned = Thinned::new(snapshot.columns.len());
    while let Next::Rows(portion) = feed.next()? {
        thinned.extend(&portion.batch.rows);
        feed.reuse(portion.batch);
    }
    Ok(thinned.rows().to_vec())
}

fn read_row(data: &str, format: Option<Format>, columns: &[String], number: u64) -> Result<Vec<f64>, Failure> {
    let options = ReadOptions { format, columns: Some(columns.to_vec()), ..ReadOptions::default() };
    let plan = Plan { inputs: vec![data.to_string()], options, columns: Some(columns.to_vec()), skip: number - 1 };
    let mut feed = Feed::start(plan, None);
    feed.opening()?;
    match feed.next()? {
        Next::Rows(portion) if portion.batch.n_rows > 0 => Ok(portion.batch.rows[..columns.len()].to_vec()),
        _ => Err(Failure::Failed(format!("{data}: there is no row {number}; rows are numbered from 1"))),
    }
}

/// A table of scores, as `watch` and `score` write it.
fn read_scores(path: &str, format: Option<Format>) -> Result<Vec<Judged>, Failure> {
    // Alarms are truth values, which a reader of numbers hands on as the names of rows.
    let options = ReadOptions {
        format,
        columns: Some(["row", "surprise"].map(String::from).to_vec()),
        id_column: Some("alarm".to_string()),
        ..ReadOptions::default()
    };
    let plan = Plan { inputs: vec![path.to_string()], options, columns: None, skip: 0 };
    let mut feed = Feed::start(plan, None);
    let hint = "--scores takes a table that `watch` or `score` has written, with `row`, `surprise` and `alarm`";
    feed.opening().map_err(|failure| failure.and(hint.to_string()))?;
    let mut judged = Vec::new();
    while let Next::Rows(portion) = feed.next()? {
        let rows = portion.batch.rows.chunks_exact(2).zip(&portion.batch.ids);
        let known = rows.filter(|(row, _)| row.iter().all(|v| v.is_finite()));
        judged.extend(known.map(|(row, alarm)| Judged { row: row[0], surprise: row[1], alarm: alarm == "true" }));
        feed.reuse(portion.batch);
    }
    Ok(judged)
}

fn pair_plot(snapshot: &Snapshot, columns: &[usize], rows: &[f64]) -> SvgFigure {
    let pairs: Vec<(usize, usize)> =
        (0..columns.len()).flat_map(|j| (0..j).map(move |i| (columns[i], columns[j]))).collect();
    match pairs.as_slice() {
        [] => pictures::density(snapshot, columns.first().copied().unwrap_or(0), rows).into(),
        [pair] => pictures::scatter(snapshot, *pair, rows).size(720.0, 540.0).into(),
        _ => {
            let panel = |pair: &(usize, usize)| pictures::scatter(snapshot, *pair, rows).size(400.0, 320.0);
            let panels: Vec<Chart> = pairs.iter().map(panel).collect();
            grid(&panels, 3)
        }
    }
}

fn page(args: &PlotArgs, kind: &str, snapshot: &Snapshot, figure: SvgFigure) -> Page {
    let headers: Vec<String> =
        ["component", "share", "rows"].into_iter().map(String::from).chain(snapshot.columns.iter().cloned()).collect();
    let rows: Vec<Vec<String>> = snapshot
        .components
        .iter()
        .map(|c| {
            let first = [c.id.to_string(), format!("{:.4}", c.weight), thousands(c.count.round().max(0.0) as u64)];
            first.into_iter().chain(c.mean.iter().map(|m| short(*m))).collect()
        })
        .collect();
    let mut page = Page::new(format!("{} – {kind}", args.model.as_deref().unwrap_or_default()))
        .lead(format!(
            "{} after {}; log-score {} nats a row.",
            told(snapshot),
            counted(snapshot.n_seen, "row"),
            short(snapshot.log_score.prequential_mean)
        ))
        .chart(figure, "Components as ellipses of two standard deviations, one colour for each cluster, in the columns in which they differ most.")
        .section("Components", "")
        .chart(pictures::weights(snapshot), "")
        .table(&headers, &rows);
    if snapshot.events.n_total() > 0 {
        let held = Chart::new("Components held while learning")
            .x_label("rows seen")
            .y_label("components")
            .size(900.0, 300.0)
            .step("held", &pictures::held_over_time(snapshot));
        page = page.section("How it came about", "").chart(held, "").chart(
            pictures::lifelines(snapshot.events.iter(), snapshot),
            "Those of the last events kept in the model.",
        );
    }
    page
}
