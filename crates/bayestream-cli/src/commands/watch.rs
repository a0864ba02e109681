//! `watch`: each row is scored by what was learnt before it, then learnt from.

use crate::args::{AlarmArgs, CheckpointArgs, KindArgs, ReadArgs, TableArgs};
use crate::changes;
use crate::checkpoint::Checkpoint;
use crate::error::Failure;
use crate::feed::{Feed, Next, Opening, Plan};
use crate::files::Files;
use crate::model_file;
use crate::score_record::{Noted, ScoreRecord};
use crate::scores::ScoreTable;
use crate::silence::{Silences, Word};
use crate::stop::{self, StopSignal};
use crate::terminal::{self, counted, thousands};
use crate::training::Training;
use crate::watching::Watching;
use bayestream::model::{Config, Model, Settings};
use bayestream::outlier::DriftAlarm;
use bayestream_io::{RowBatch, TableWriter};
use clap::Args;
use std::path::Path;

/// Arguments of `watch`.
#[derive(Args)]
pub struct WatchArgs {
    /// A file with rows, or `-` for standard input.
    #[arg(value_name = "INPUT")]
    input: String,
    #[command(flatten)]
    kind: KindArgs,
    /// Go on with this model instead of beginning one.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Pass over as many rows of the input as the model has seen: the run goes on where it was stopped.
    #[arg(long, requires = "model")]
    skip_seen: bool,
    /// Rows scored, then learnt, together: more is faster, 1 answers at once.
    #[arg(long, value_name = "T", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    /// Replace the file at --checkpoint even if it is no model, and with --model the one at -o even if its scores are not
    /// those of the model.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    alarms: AlarmArgs,
    #[command(flatten)]
    table: TableArgs,
}

/// Scores and learns until the input ends, a signal comes or the reader of the scores leaves.
pub fn run(args: WatchArgs) -> Result<(), Failure> {
    let CheckpointArgs { checkpoint: state, .. } = &args.checkpoint;
    let record = state.as_deref().map(ScoreRecord::beside);
    Files::default()
        .reads("INPUT", [&args.input])
        .reads_and_replaces("--model", &args.model, &["--checkpoint"])
        .writes("-o", [&args.table.output])
        .writes("--checkpoint", state)
        .writes("the record of scores beside --checkpoint", &record)
        .check()?;
    if let Some(path) = state {
        model_file::check_writable(path, args.force)?;
        if args.model.is_none() && Path::new(path).is_file() {
            terminal::note(format!("note: {path} will be replaced; to continue with it, use --model {path}"));
        }
    }
    let (known, config) = begin(&args)?;
    let mut options = args.read.options(args.batch as usize);
    let columns = known.as_ref().map(|model| model.columns().to_vec());
    if columns.is_some() && options.columns.is_none() {
        // Columns that the model does not have are none of its business.
        options.columns = columns.clone();
        options.drop.clear();
    }
    let skip = known.as_ref().filter(|_| args.skip_seen).map_or(0, Model::n_seen);
    let plan = Plan { inputs: vec![args.input.clone()], options, columns, skip };
    let stop = StopSignal::listen()?;
    let mut feed = Feed::start(plan, Some(stop.clone()));
    let mut model = match (feed.opening()?, known) {
        (Opening::Stop(signal), _) => {
            let message = format!("{}: no row was learnt, nothing was written", stop::name(signal));
            return Err(Failure::Stopped { signal, message });
        }
        (Opening::Columns(_), Some(model)) => model,
        (Opening::Columns(columns), None) => Model::new(Config { columns, ..config })?,
    };
    let n_first = counted(model.scores_after().unwrap_or_default(), "row");
    let reason = format!("{} makes its first model of {n_first}", model.config().kind);
    model.heed(&stop.interrupt());
    let (scores, continued) = begin_scores(&args, model.columns())?;
    let scores = scores.explaining(reason);
    let training = Training::new(model, Checkpoint::of(&args.checkpoint), args.read.skips());
    let mut watching = Watching::new(training, scores, &args.table.output, continued);
    let outcome = watch_all(&mut feed, &mut watching);
    watching.end(outcome, |training, signal| stopped(&args, training, signal))
}

/// The table of scores: continued, and then what is noted of it, where the model was saved with scores in the same file.
fn begin_scores(args: &WatchArgs, columns: &[String]) -> Result<(ScoreTable, Option<Noted>), Failure> {
    let TableArgs { output, to } = &args.table;
    let grows = TableWriter::can_grow(output, *to)?;
    if !grows && args.checkpoint.checkpoint.is_some() {
        terminal::note(format!(
            "note: {} is written at the end: a run that is killed leaves no scores there; CSV and NDJSON that are not \
             packed are written as rows come",
            if output == "-" { "standard output" } else { output }
        ));
    }
    let continued = match &args.model {
        Some(model) if grows && output != "-" => ScoreRecord::of_state(model, output, args.force)?,
        _ => None,
    };
    let begin = |fields| TableWriter::grow(output, *to, fields, continued.as_ref().map(Noted::length));
    let has_ids = args.read.id_column.is_some();
    let table = ScoreTable::begin(&args.table, &args.alarms, columns, None, has_ids, begin)?;
    Ok((table, continued))
}

fn begin(args: &WatchArgs) -> Result<(Option<Model>, Config), Failure> {
    // Every row is judged before it is learnt: a light mixture keeps up with the stream.
    let config = args.kind.config_from(Settings::for_watching())?;
    if !config.kind.info().streaming {
        let text = format!("{} is a batch kind: it would fit all rows anew for every row", config.kind);
        return Err(Failure::Usage(format!("{text}; watch with `-m gmm` or `-m mppca`, or fit once and `score`")));
    }
    let Some(path) = &args.model else {
        return Ok((None, config));
    };
    let model = model_file::load(path)?;
    args.kind.check_continues(&model)?;
    Ok((Some(model), config))
}

/// Runs until the end of the input, or until a signal, which is returned.
fn watch_all(feed: &mut Feed, watching: &mut Watching) -> Result<Option<i32>, Failure> {
    let columns = watching.model().columns().to_vec();
    let mut silences = Silences::new(columns.len());
    loop {
        match feed.next()? {
            Next::Rows(mut portion) => {
                let known = watching.model().drift_alarms().last().copied();
                watching.take_in(&mut portion)?;
                let alarms = watching.model().drift_alarms();
                if let Some(alarm) = alarms.last().filter(|alarm| known.as_ref() != Some(*alarm)) {
                    let lately = alarm.row - alarm.since + portion.batch.n_rows as u64;
                    terminal::note(drift_message(alarm, &columns, watching.table().blamed_lately(lately)));
                }
                tell_silences(&mut silences, &portion.batch, &columns);
                feed.reuse(portion.batch);
            }
            Next::End { n_skipped, n_unfinished } => {
                terminal::warn_skipped(n_skipped + watching.n_refused());
                terminal::warn_unfinished(n_unfinished);
                return Ok(None);
            }
            Next::Stop(signal) => return Ok(Some(signal)),
        }
    }
}

/// What a drift alarm says to people. Where it is about all columns, the one that unusual rows have as a reason is named.
fn drift_message(alarm: &DriftAlarm, columns: &[String], blamed: Option<&str>) -> String {
    let place = match (alarm.what.column(), blamed) {
        (None, Some(column)) => format!(", first of all in {column}"),
        _ => String::new(),
    };
    let what = changes::told(alarm.what, columns);
    let (row, first) = (thousands(alarm.row), thousands(changes::first_row(alarm)));
    format!("drift at row {row}: {what}{place}, since about row {first}")
}

/// Says which columns have fallen silent, or are back.
fn tell_silences(silences: &mut Silences, batch: &RowBatch, columns: &[String]) {
    for (row_ix, row) in batch.rows.chunks_exact(columns.len()).enumerate() {
        for word in silences.hear(batch.row_number(row_ix), row) {
            terminal::note(match word {
                Word::Silent { column, since } => {
                    format!("the column {} has had no value since row {}", columns[column], thousands(since))
                }
                Word::Back { column, at } => {
                    format!("the column {} has values again, from row {}", columns[column], thousands(at))
                }
            });
        }
    }
}

fn stopped(args: &WatchArgs, training: &Training, signal: i32) -> Failure {
    let seen = counted(training.model.n_seen(), "row");
    let message = match &training.checkpoint {
        Some(checkpoint) if training.n_learnt > 0 => format!(
            "{}: {} has learnt {seen}\n  go on by the same command with {}",
            stop::name(signal),
            checkpoint.path(),
            stop::how_to_go_on("--model", checkpoint.path(), std::slice::from_ref(&args.input)),
        ),
        Some(_) => format!("{}: no row was learnt, nothing was written", stop::name(signal)),
        None => {
            format!(
                "{}: what was learnt from {seen} is forgotten; --checkpoint FILE would keep them",
                stop::name(signal)
            )
        }
    };
    Failure::Stopped { signal, message }
}
