//! `fit` of labelled rows and documents.

use super::ForetoldEntry;
use super::reading::{Next, Portion, Source};
use crate::checkpoint::Checkpoint;
use crate::commands::{FitArgs, Interrupted, stopped, stopped_before};
use crate::documents::reading::{self, Amiss};
use crate::error::Failure;
use crate::feed::{Feed, Opening, Plan};
use crate::model_file;
use crate::progress::Progress;
use crate::stop::StopSignal;
use crate::terminal::{self, counted, short, thousands};
use bayestream::engine::linear::TargetChoice;
use bayestream::model::{LinearConfig, LinearKind, LinearModel, LinearSnapshot};
use bayestream_io::{ReadOptions, open, read_words};
use serde::Serialize;
use std::time::Instant;

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    model: &'a str,
    kind: &'static str,
    n_seen: u64,
    n_learnt: u64,
    n_skipped: u64,
    n_unfinished: u64,
    n_unlabelled: u64,
    n_labels: usize,
    n_features: usize,
    score: ForetoldEntry,
    seconds: f64,
}

/// What was done in this run.
#[derive(Default)]
struct Tally {
    n_learnt: u64,
    n_unlabelled: u64,
    amiss: Amiss,
    n_refused: u64,
}

/// Begins a model of labelled rows and learns it.
pub fn begin(args: &FitArgs, kind: LinearKind) -> Result<(), Failure> {
    let mut config = args.kind.linear_config(kind, &args.text)?;
    config.label_column = Some(args.read.label_column.clone().ok_or_else(|| no_labels(args, kind))?);
    let is_words = config.settings.features == bayestream::model::FeatureChoice::Words;
    if args.vocabulary.is_some() && !is_words {
        return Err(Failure::Usage(
            "--vocabulary is for words: name the column of the text with --text-column, or pass --set features=words"
                .into(),
        ));
    }
    if !is_words {
        let (source, opening) = start_rows(args, None, config.label_column.clone(), 0)?;
        return match opening {
            Opening::Stop(signal) => Err(stopped_before("row", signal)),
            Opening::Columns(columns) => learn(args, LinearModel::new(LinearConfig { columns, ..config })?, source),
        };
    }
    config.columns = args.text.text_column.clone();
    let model = match &args.vocabulary {
        None => LinearModel::new(config)?,
        Some(path) => LinearModel::with_words(config, read_words(path)?)?,
    };
    let source = start_documents(args, &model, 0)?;
    learn(args, model, source)
}

/// Continues a model of labelled rows.
pub fn resume(args: &FitArgs, model: LinearModel) -> Result<(), Failure> {
    args.kind.check_continues_linear(&model)?;
    if args.vocabulary.is_some() {
        return Err(Failure::Usage(
            "--vocabulary is fixed when a model begins: leave it out to continue this one".into(),
        ));
    }
    let skip = if args.skip_seen { model.n_seen() } else { 0 };
    if model.reads_documents() {
        let source = start_documents(args, &model, skip)?;
        return learn(args, model, source);
    }
    let (columns, label) = (model.config().columns.clone(), label_column(args, &model));
    match start_rows(args, Some(columns), label, skip)? {
        (_, Opening::Stop(signal)) => Err(stopped_before("row", signal)),
        (source, Opening::Columns(_)) => learn(args, model, source),
    }
}

fn label_column(args: &FitArgs, model: &LinearModel) -> Option<String> {
    args.read.label_column.clone().or_else(|| model.config().label_column.clone())
}

fn start_rows(
    args: &FitArgs,
    columns: Option<Vec<String>>,
    label_column: Option<String>,
    skip: u64,
) -> Result<(Source, Opening), Failure> {
    let options = ReadOptions { label_column, ..args.read.options(args.batch as usize) };
    let plan = Plan { inputs: args.inputs.clone(), options, columns, skip };
    let mut feed = Feed::start(plan, Some(StopSignal::listen()?));
    let opening = feed.opening()?;
    Ok((Source::Rows(feed), opening))
}

fn start_documents(args: &FitArgs, model: &LinearModel, skip: u64) -> Result<Source, Failure> {
    let mut options = args.text.options(args.read.format, args.read.on_error, args.batch as usize);
    if options.text_columns.is_empty() {
        options.text_columns = model.config().columns.clone();
    }
    options.on_unfinished = args.read.on_unfinished();
    options.label_column = label_column(args, model);
    let stop = Some(StopSignal::listen()?);
    Ok(Source::Documents(reading::read_ahead(args.inputs.clone(), options, skip, stop)))
}

/// Says which columns there are, where they can be seen without taking rows from a pipe.
fn no_labels(args: &FitArgs, kind: LinearKind) -> Failure {
    let text = format!("{kind} learns from labels: name the column that has them with --label-column");
    let options = ReadOptions { format: args.read.format, ..ReadOptions::default() };
    let columns = args.inputs.first().filter(|input| *input != "-").and_then(|input| open(input, &options).ok());
    match columns {
        Some(source) => Failure::Usage(format!("{text}\n  the columns are {}", source.columns().join(", "))),
        None => Failure::Usage(text),
    }
}

fn learn(args: &FitArgs, mut model: LinearModel, mut source: Source) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut checkpoint = Checkpoint::of(&args.checkpoint);
    let mut progress = Progress::over(reading::total_bytes(&args.inputs));
    let mut tally = Tally::default();
    let outcome = loop {
        match source.next() {
            Ok(Next::Some(mut portion)) => match take_in(args, &mut model, &mut portion, &mut tally) {
                Ok(n_rows) => {
                    progress.show(portion.bytes_read(), n_rows, || told_briefly(&model));
                    if let Some(checkpoint) = &mut checkpoint {
                        checkpoint.advance(n_rows, &model);
                    }
                }
                Err(failure) => break Err(failure),
            },
            Ok(Next::End(amiss)) => {
                tally.amiss = amiss;
                break Ok(None);
            }
            Ok(Next::Stop(signal)) => break Ok(Some(signal)),
            Err(failure) => break Err(failure),
        }
    };
    progress.clear();
    match outcome {
        Ok(None) => finish(args, &model, checkpoint, &tally, begun),
        Ok(Some(signal)) => {
            let learnt = Interrupted { model: &model, n_learnt: tally.n_learnt, n_seen: model.n_seen(), unit: "row" };
            Err(stopped(args, &learnt, checkpoint.as_mut(), signal))
        }
        Err(failure) => {
            let learnt = format!("{} had been learnt; {} was not written", counted(tally.n_learnt, "row"), args.output);
            Err(failure.and(Checkpoint::left_after(checkpoint.as_ref(), learnt)))
        }
    }
}

fn take_in(
    args: &FitArgs,
    model: &mut LinearModel,
    portion: &mut Portion,
    tally: &mut Tally,
) -> Result<usize, Failure> {
    loop {
        match portion.learn(model) {
            Ok(step) => {
                tally.n_learnt += step.n_rows as u64;
                tally.n_unlabelled += step.n_unlabelled as u64;
                return Ok(step.n_rows);
            }
            Err(error) => match error.row().filter(|at| args.read.skips() && *at < portion.len()) {
                Some(at) => {
                    portion.remove(at, model.config().columns.len());
                    tally.n_refused += 1;
                }
                None => return Err(portion.located(&error, &model.config().columns, true)),
            },
        }
    }
}

fn told_briefly(model: &LinearModel) -> String {
    match model.config().settings.target {
        TargetChoice::Number => format!("mean error {}", short(model.foretold().mean_absolute_error())),
        _ => format!("{} labels  accuracy {}", model.labels().len(), short(model.foretold().accuracy())),
    }
}

/// How well rows were foretold, for people.
pub fn told(model: &LinearModel, snapshot: &LinearSnapshot) -> String {
    let foretold = &snapshot.foretold;
    match model.config().settings.target {
        TargetChoice::Number => format!(
            "off by {} on average (the mean so far: {})",
            short(foretold.mean_absolute_error()),
            short(foretold.mean_absolute_error_of_mean())
        ),
        TargetChoice::Labels => {
            format!(
                "F1 {} over all labels, {} of the rows wholly right",
                short(foretold.f1()),
                short(foretold.accuracy())
            )
        }
        TargetChoice::Label => format!(
            "{} of the rows right (the commonest label so far: {})",
            short(foretold.accuracy()),
            short(foretold.accuracy_of_commonest())
        ),
    }
}

fn finish(
    args: &FitArgs,
    model: &LinearModel,
    checkpoint: Option<Checkpoint>,
    tally: &Tally,
    begun: Instant,
) -> Result<(), Failure> {
    model_file::save_or_rescue(&args.output, model)?;
    if let Some(mut checkpoint) = checkpoint {
        checkpoint.save(model)?;
    }
    let snapshot = model.snapshot();
    let seconds = begun.elapsed().as_secs_f64();
    let n_skipped = tally.amiss.n_skipped + tally.n_refused;
    terminal::warn_skipped(n_skipped);
    terminal::warn_unfinished(tally.amiss.n_unfinished);
    terminal::warn_mended(tally.amiss.n_mended);
    if tally.n_unlabelled > 0 {
        terminal::note(format!("{} had no label: no weight learnt from them", counted(tally.n_unlabelled, "row")));
    }
    let what = match model.config().settings.target {
        TargetChoice::Number => "numbers".to_string(),
        _ => counted(model.labels().len() as u64, "label"),
    };
    let unit = if model.reads_documents() { "document" } else { "row" };
    terminal::note(format!(
        "{}: {} learnt {} in {} s: {what} from {} features; before they were learnt, {}",
        args.output,
        model.config().kind,
        counted(tally.n_learnt, unit),
        short(seconds),
        thousands(snapshot.n_features as u64),
        told(model, &snapshot)
    ));
    if !args.json {
        return Ok(());
    }
    terminal::print_json(&Summary {
        model: &args.output,
        kind: model.config().kind.name(),
        n_seen: snapshot.n_seen,
        n_learnt: tally.n_learnt,
        n_skipped,
        n_unfinished: tally.amiss.n_unfinished,
        n_unlabelled: tally.n_unlabelled,
        n_labels: model.labels().len(),
        n_features: snapshot.n_features,
        score: ForetoldEntry::of(model),
        seconds,
    })
}
