//! `fit` of documents: text in, a model of topics out.

use super::labels::LabelsEntry;
use super::reading::{self, Amiss, Portion};
use crate::ahead::Next;
use crate::args::OnErrorArg;
use crate::checkpoint::Checkpoint;
use crate::commands::{FitArgs, Interrupted, stopped, stopped_while_fitting};
use crate::error::Failure;
use crate::model_file;
use crate::progress::Progress;
use crate::stop::StopSignal;
use crate::terminal::{self, counted, short, thousands};
use bayestream::model::{DocumentKind, DocumentModel};
use bayestream_io::read_words;
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
    n_words: usize,
    n_tokens: u64,
    k_realized: usize,
    k_implemented: usize,
    log_score: MeanLogScore,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<LabelsEntry>,
    seconds: f64,
}

#[derive(Serialize)]
struct MeanLogScore {
    prequential_mean_per_word: f64,
}

/// What was done in this run.
#[derive(Default)]
struct Tally {
    n_learnt: u64,
    amiss: Amiss,
    n_refused: u64,
    n_tokens: u64,
    n_empty: u64,
    n_unlabelled: u64,
}

/// As many threads as the machine has cores.
fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Begins a model of documents and learns it.
pub fn begin(args: &FitArgs, kind: DocumentKind) -> Result<(), Failure> {
    if kind.supervised().is_some() && args.read.label_column.is_none() {
        return Err(Failure::Usage(format!(
            "{kind} learns labels: name their column with --label-column (for topics without labels: -m topics)"
        )));
    }
    let mut config = args.kind.document_config(kind)?;
    config.columns = args.text.text_column.clone();
    let model = match &args.vocabulary {
        None => DocumentModel::new(config)?,
        Some(path) => DocumentModel::with_words(config, read_words(path)?)?,
    };
    learn(args, model)
}

/// Continues a model of documents.
pub fn resume(args: &FitArgs, model: DocumentModel) -> Result<(), Failure> {
    args.kind.check_continues_documents(&model)?;
    if args.vocabulary.is_some() {
        return Err(Failure::Usage(
            "--vocabulary is fixed when a model begins: leave it out to continue this one".into(),
        ));
    }
    learn(args, model)
}

fn learn(args: &FitArgs, mut model: DocumentModel) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut checkpoint = Checkpoint::of(&args.checkpoint);
    let mut options = args.text.options(args.read.format, args.read.on_error, args.batch as usize);
    options.on_unfinished = args.read.on_unfinished();
    options.label_column.clone_from(&args.read.label_column);
    model.set_threads(args.threads.map_or_else(default_threads, |n| n as usize));
    if options.text_columns.is_empty() {
        options.text_columns = model.config().columns.clone();
    }
    let skip = if args.skip_seen { model.n_seen() } else { 0 };
    let stop = StopSignal::listen()?;
    let mut documents = reading::read_ahead(args.inputs.clone(), options, skip, Some(stop.clone()));
    let mut progress = Progress::over(reading::total_bytes(&args.inputs));
    let mut tally = Tally::default();
    let outcome = loop {
        match documents.next() {
            Ok(Next::One(mut portion)) => match take_in(args, &mut model, &mut portion, &mut tally) {
                Ok(report) => {
                    progress.update(portion.bytes_read, &report);
                    if let Some(checkpoint) = &mut checkpoint {
                        checkpoint.advance(report.n_rows, &model);
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
        Ok(None) => finish(args, model, checkpoint, &tally, begun, &stop),
        Ok(Some(signal)) => {
            let learnt =
                Interrupted { model: &model, n_learnt: tally.n_learnt, n_seen: model.n_seen(), unit: "document" };
            Err(stopped(args, &learnt, checkpoint.as_mut(), signal))
        }
        Err(failure) => Err(failure.and(what_is_left(args, checkpoint.as_ref(), &tally))),
    }
}

fn take_in(
    args: &FitArgs,
    model: &mut DocumentModel,
    portion: &mut Portion,
    tally: &mut Tally,
) -> Result<bayestream::engine::StepReport, Failure> {
    loop {
        match model.update_labelled(&portion.batch.documents, &portion.batch.labels) {
            Ok(step) => {
                let is_blank = |labels: &&Vec<String>| labels.iter().all(|label| label.trim().is_empty());
                tally.n_unlabelled += portion.batch.labels.iter().filter(is_blank).count() as u64;
                tally.n_learnt += step.learnt.n_rows as u64;
                tally.n_tokens += step.encoded.n_tokens;
                tally.n_empty += step.encoded.n_empty as u64;
                return Ok(step.learnt);
            }
            Err(error) => match error.document().filter(|_| args.read.on_error == OnErrorArg::Skip) {
                Some(at) => {
                    reading::remove(&mut portion.batch, at);
                    tally.n_refused += 1;
                }
                None => return Err(reading::located(&error, portion)),
            },
        }
    }
}

fn finish(
    args: &FitArgs,
    mut model: DocumentModel,
    checkpoint: Option<Checkpoint>,
    tally: &Tally,
    begun: Instant,
    stop: &StopSignal,
) -> Result<(), Failure> {
    if model.finish_unless(&stop.interrupt()).is_err() {
        let (kind, n_documents) = (model.config().kind.name(), counted(model.n_seen(), "document"));
        return Err(stopped_while_fitting(args, kind, &n_documents, checkpoint.as_ref(), stop));
    }
    model_file::save_or_rescue(&args.output, &model)?;
    if let Some(mut checkpoint) = checkpoint {
        checkpoint.save(&model)?;
    }
    let snapshot = model.snapshot();
    let seconds = begun.elapsed().as_secs_f64();
    let n_skipped = tally.amiss.n_skipped + tally.n_refused;
    terminal::warn_skipped(n_skipped);
    terminal::warn_unfinished(tally.amiss.n_unfinished);
    terminal::warn_mended(tally.amiss.n_mended);
    if tally.n_empty > 0 {
        terminal::note(format!("{} had no word that counts", counted(tally.n_empty, "document")));
    }
    terminal::note(format!(
        "{}: {} learnt {} ({} words, {} of them different) in {} s: {} ({} held), log-score {} nats a word",
        args.output,
        model.config().kind,
        counted(tally.n_learnt, "document"),
        thousands(tally.n_tokens),
        thousands(snapshot.n_words as u64),
        short(seconds),
        counted(snapshot.k_realized() as u64, "topic"),
        snapshot.k_implemented,
        short(snapshot.log_score.prequential_mean)
    ));
    let labels = LabelsEntry::of(&model);
    if let Some(labels) = &labels {
        terminal::note(labels.told());
        if tally.n_unlabelled > 0 {
            terminal::note(format!("{} had no label", counted(tally.n_unlabelled, "document")));
        }
    }
    if model.config().settings.text.stop.is_none()
        && let Some(language) = snapshot.stop_language()
    {
        terminal::note(format!(
            "most of the topics' likeliest words are stop words: to leave them out, begin again with --set stop={language}"
        ));
    }
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
        n_words: snapshot.n_words,
        n_tokens: tally.n_tokens,
        k_realized: snapshot.k_realized(),
        k_implemented: snapshot.k_implemented,
        log_score: MeanLogScore { prequential_mean_per_word: snapshot.log_score.prequential_mean },
        labels,
        seconds,
    })
}

fn what_is_left(args: &FitArgs, checkpoint: Option<&Checkpoint>, tally: &Tally) -> String {
    let learnt = format!("{} had been learnt; {} was not written", counted(tally.n_learnt, "document"), args.output);
    Checkpoint::left_after(checkpoint, learnt)
}
