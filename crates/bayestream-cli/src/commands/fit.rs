//! `fit`: rows in, a model file out.

use crate::args::{CheckpointArgs, KindArgs, ReadArgs, TextArgs};
use crate::checkpoint::Checkpoint;
use crate::documents;
use crate::error::Failure;
use crate::feed::{Feed, Next, Opening, Plan};
use crate::files::Files;
use crate::linear;
use crate::model_file::{self, AnyModel};
use crate::progress::Progress;
use crate::row_model::RowModel;
use crate::stop::{self, StopSignal};
use crate::terminal::{self, counted, short};
use crate::training::Training;
use bayestream::model::{AnyKind, FeatureModel, Model};
use clap::Args;
use serde::Serialize;
use std::time::Instant;

/// Arguments of `fit`.
#[derive(Args)]
pub struct FitArgs {
    /// Files with rows, `-` for standard input; several are read one after the other.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The model file to write.
    #[arg(short = 'o', long, value_name = "MODEL")]
    pub output: String,
    #[command(flatten)]
    pub kind: KindArgs,
    /// Rows learnt from together.
    #[arg(long, value_name = "T", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub batch: u32,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub text: TextArgs,
    /// Documents: a file with the words to know, one a line; terms given by number are places in it.
    #[arg(long, value_name = "FILE")]
    pub vocabulary: Option<String>,
    /// Continue this model instead of beginning one.
    #[arg(long, value_name = "MODEL")]
    resume: Option<String>,
    /// Pass over as many rows of the input as the resumed model has seen: the run goes on where it was stopped.
    #[arg(long, requires = "resume")]
    pub skip_seen: bool,
    #[command(flatten)]
    pub checkpoint: CheckpointArgs,
    /// Replace the files at -o and --checkpoint even if they are no models.
    #[arg(long)]
    pub force: bool,
    /// Threads for kinds that can use several; the result does not depend on it [default: as many as there are cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Print a summary as JSON on standard output.
    #[arg(long)]
    pub json: bool,
}

/// Where the model to be trained comes from.
enum Origin<M: RowModel> {
    New(Box<M::Config>),
    Resumed(Box<M>),
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    model: &'a str,
    kind: &'static str,
    n_seen: u64,
    n_learnt: u64,
    n_skipped: u64,
    n_unfinished: u64,
    k_realized: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_clusters: Option<usize>,
    k_implemented: usize,
    /// Rows seen when `max-components` last kept a component out.
    #[serde(skip_serializing_if = "Option::is_none")]
    full_at: Option<u64>,
    /// Columns that go one way along the rows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counting: Vec<String>,
    log_score: MeanLogScore,
    seconds: f64,
}

#[derive(Serialize)]
struct MeanLogScore {
    prequential_mean: f64,
    n_scored: u64,
    /// Why no row was scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Learns a model.
pub fn run(args: FitArgs) -> Result<(), Failure> {
    Files::default()
        .reads("INPUT", &args.inputs)
        .reads("--vocabulary", &args.vocabulary)
        .reads_and_replaces("--resume", &args.resume, &["-o", "--checkpoint"])
        .writes("-o", [&args.output])
        .writes("--checkpoint", &args.checkpoint.checkpoint)
        .check()?;
    model_file::check_writable(&args.output, args.force)?;
    if let Some(path) = &args.checkpoint.checkpoint {
        model_file::check_writable(path, args.force)?;
    }
    let resumed = args.resume.as_deref().map(model_file::load_any).transpose()?;
    match (resumed, args.kind.kind) {
        (Some(AnyModel::Documents(model)), _) => documents::fit::resume(&args, *model),
        (Some(AnyModel::Linear(model)), _) => linear::fit::resume(&args, *model),
        (Some(AnyModel::Features(model)), _) => {
            args.kind.check_continues_features(&model)?;
            fit_rows(&args, Origin::Resumed(model))
        }
        (Some(AnyModel::Rows(model)), _) => {
            args.kind.check_continues(&model)?;
            fit_rows(&args, Origin::Resumed(model))
        }
        (None, Some(AnyKind::Documents(kind))) => documents::fit::begin(&args, kind),
        (None, Some(AnyKind::Linear(kind))) => linear::fit::begin(&args, kind),
        (None, Some(AnyKind::Features(kind))) => {
            let config = args.kind.feature_config(kind)?;
            fit_rows::<FeatureModel>(&args, Origin::New(Box::new(config)))
        }
        (None, _) => fit_rows::<Model>(&args, Origin::New(Box::new(args.kind.config()?))),
    }
}

/// Learns a model of rows without labels.
fn fit_rows<M: RowModel>(args: &FitArgs, origin: Origin<M>) -> Result<(), Failure> {
    let begun = Instant::now();
    let checkpoint = Checkpoint::of(&args.checkpoint);
    let (columns, skip) = match &origin {
        Origin::New(_) => (None, 0),
        Origin::Resumed(model) => (Some(model.columns().to_vec()), if args.skip_seen { model.n_seen() } else { 0 }),
    };
    let options = args.read.options(args.batch as usize);
    let plan = Plan { inputs: args.inputs.clone(), options, columns, skip };
    let stop = StopSignal::listen()?;
    let mut feed = Feed::start(plan, Some(stop.clone()));
    let model = match (feed.opening()?, origin) {
        (Opening::Stop(signal), _) => return Err(stopped_before("row", signal)),
        (Opening::Columns(_), Origin::Resumed(model)) => *model,
        (Opening::Columns(columns), Origin::New(config)) => M::begin(*config, columns)?,
    };
    let mut training = Training::new(model, checkpoint, args.read.skips());
    training.model.heed(&stop.interrupt());
    let mut progress = Progress::over(feed.total_bytes()).counting(M::PART);
    let outcome = feed_all(&mut feed, &mut training, &mut progress);
    progress.clear();
    match outcome {
        Ok(End::Complete { n_skipped, n_unfinished }) => finish(args, training, n_skipped, n_unfinished, begun, &stop),
        Ok(End::Stopped { signal }) => {
            let Training { model, checkpoint, n_learnt, .. } = &mut training;
            let learnt = Interrupted { n_learnt: *n_learnt, n_seen: model.n_seen(), model: &*model, unit: "row" };
            Err(stopped(args, &learnt, checkpoint.as_mut(), signal))
        }
        Err(failure) => Err(failure.and(what_is_left(args, &training))),
    }
}

enum End {
    Complete { n_skipped: u64, n_unfinished: u64 },
    Stopped { signal: i32 },
}

fn feed_all<M: RowModel>(feed: &mut Feed, training: &mut Training<M>, progress: &mut Progress) -> Result<End, Failure> {
    loop {
        match feed.next()? {
            Next::Rows(mut portion) => {
                let report = training.learn(&mut portion)?;
                progress.update(portion.bytes_read, &report);
                feed.reuse(portion.batch);
            }
            Next::End { n_skipped, n_unfinished } => {
                return Ok(End::Complete { n_skipped: n_skipped + training.n_refused, n_unfinished });
            }
            Next::Stop(signal) => return Ok(End::Stopped { signal }),
        }
    }
}

fn finish<M: RowModel>(
    args: &FitArgs,
    mut training: Training<M>,
    n_skipped: u64,
    n_unfinished: u64,
    begun: Instant,
    stop: &StopSignal,
) -> Result<(), Failure> {
    if training.model.finish(&stop.interrupt()).is_err() {
        let (kind, n_rows) = (training.model.kind_name(), counted(training.model.n_seen(), "row"));
        return Err(stopped_while_fitting(args, kind, &n_rows, training.checkpoint.as_ref(), stop));
    }
    model_file::save_or_rescue(&args.output, &training.model)?;
    if let Some(checkpoint) = &mut training.checkpoint {
        checkpoint.save(&training.model)?;
    }
    let found = training.model.found();
    let seconds = begun.elapsed().as_secs_f64();
    terminal::warn_skipped(n_skipped);
    terminal::warn_unfinished(n_unfinished);
    terminal::note(format!(
        "{}: {} learnt {} in {} s: {} ({} held{}), log-score {} nats a row",
        args.output,
        training.model.kind_name(),
        counted(training.n_learnt, "row"),
        short(seconds),
        terminal::told_parts(found.k_realized, M::PART, found.n_clusters),
        found.k_implemented,
        found.full.map(|(most, _)| terminal::told_full(most)).unwrap_or_default(),
        short(found.log_score)
    ));
    if !found.counting.is_empty() {
        terminal::note(terminal::told_counting(&found.counting));
    }
    let reason = (found.n_scored == 0).then(|| why_unscored(training.model.kind_name(), training.model.scores_after()));
    if let Some(reason) = &reason {
        terminal::note(reason);
    }
    if !args.json {
        return Ok(());
    }
    terminal::print_json(&Summary {
        model: &args.output,
        kind: training.model.kind_name(),
        n_seen: training.model.n_seen(),
        n_learnt: training.n_learnt,
        n_skipped,
        n_unfinished,
        k_realized: found.k_realized,
        n_clusters: found.n_clusters,
        k_implemented: found.k_implemented,
        full_at: found.full.map(|(_, row)| row),
        counting: found.counting,
        log_score: MeanLogScore { prequential_mean: found.log_score, n_scored: found.n_scored, reason },
        seconds,
    })
}

/// What was learnt when a signal came.
pub struct Interrupted<'a, M> {
    /// The model as it is.
    pub model: &'a M,
    /// Learnt in this run, and by the model in all.
    pub n_learnt: u64,
    pub n_seen: u64,
    /// What one of them is called.
    pub unit: &'a str,
}

/// Why no row was scored before it was learnt.
pub fn why_unscored(kind: &str, scores_after: Option<u64>) -> String {
    match scores_after {
        None => format!("no row has a log-score: {kind} learns all rows at the end"),
        Some(n) => format!(
            "no row has a log-score: {kind} makes its first model of {} and scores those that follow",
            counted(n, "row")
        ),
    }
}

/// Answers a signal that came while a batch kind was fitting: there is nothing to keep that reading the rows again would not
/// give.
pub fn stopped_while_fitting(
    args: &FitArgs,
    kind: &str,
    n_seen: &str,
    checkpoint: Option<&Checkpoint>,
    stop: &StopSignal,
) -> Failure {
    let signal = stop.received().unwrap_or_default();
    let left = format!("{}: {kind} was fitting {n_seen}, and {} was not written", stop::name(signal), args.output);
    Failure::Stopped { signal, message: Checkpoint::left_after(checkpoint, left) }
}

/// Answers a signal that came before anything was learnt.
pub fn stopped_before(unit: &str, signal: i32) -> Failure {
    Failure::Stopped { signal, message: format!("{}: no {unit} was learnt, nothing was written", stop::name(signal)) }
}

/// Answers a signal: saves the state at the last whole batch. What lies beyond it was not learnt, so that going on from
/// there gives what an undisturbed run would have given.
pub fn stopped<M: model_file::Stored>(
    args: &FitArgs,
    learnt: &Interrupted<'_, M>,
    checkpoint: Option<&mut Checkpoint>,
    signal: i32,
) -> Failure {
    let Interrupted { model, n_learnt, n_seen, unit } = *learnt;
    if n_learnt == 0 {
        return stopped_before(unit, signal);
    }
    let saved = model_file::save_or_rescue(&args.output, model)
        .and_then(|()| checkpoint.map_or(Ok(()), |checkpoint| checkpoint.save(model)));
    if let Err(failure) = saved {
        return failure;
    }
    let message = format!(
        "{}: {} has learnt {}\n  go on by the same command with {}",
        stop::name(signal),
        args.output,
        counted(n_seen, unit),
        stop::how_to_go_on("--resume", &args.output, &args.inputs)
    );
    Failure::Stopped { signal, message }
}

fn what_is_left<M>(args: &FitArgs, training: &Training<M>) -> String {
    let learnt = format!("{} had been learnt; {} was not written", counted(training.n_learnt, "row"), args.output);
    Checkpoint::left_after(training.checkpoint.as_ref(), learnt)
}
