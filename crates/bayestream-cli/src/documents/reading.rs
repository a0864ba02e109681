//! Documents on their way to a model.

use crate::ahead::Ahead;
use crate::error::Failure;
use crate::feed::size_of;
use crate::stop::StopSignal;
use bayestream::text::TextError;
use bayestream_io::{DocumentBatch, DocumentOptions, DocumentSource, open_documents};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Documents read together, all of one input.
pub struct Portion {
    /// The documents.
    pub batch: DocumentBatch,
    /// The input's name, for messages.
    pub file: Arc<str>,
    /// Bytes of all inputs read so far.
    pub bytes_read: u64,
}

/// Rows that were not read as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amiss {
    /// Left out as unreadable.
    pub n_skipped: u64,
    /// Last lines of inputs that were cut.
    pub n_unfinished: u64,
    /// Documents with bytes replaced.
    pub n_mended: u64,
}

impl Amiss {
    /// The same with what is amiss in a source.
    fn and(self, source: &dyn DocumentSource) -> Amiss {
        Amiss {
            n_skipped: self.n_skipped + source.n_skipped(),
            n_unfinished: self.n_unfinished + source.n_unfinished(),
            n_mended: self.n_mended + source.n_mended(),
        }
    }
}

/// Reads inputs one after the other, passing over the first `skip` documents.
pub fn read_ahead(
    inputs: Vec<String>,
    options: DocumentOptions,
    mut skip: u64,
    stop: Option<StopSignal>,
) -> Ahead<Portion, Amiss> {
    let mut waiting = inputs.into_iter();
    let mut current: Option<Box<dyn DocumentSource + Send>> = None;
    let (mut bytes_before, mut before, mut has_documents) = (0, Amiss::default(), false);
    Ahead::start(stop, move || {
        loop {
            let source = match &mut current {
                Some(source) => source,
                None => match waiting.next() {
                    None => return Ok(ControlFlow::Break(before)),
                    Some(input) => {
                        has_documents = false;
                        current.insert(open_documents(&input, &options)?)
                    }
                },
            };
            let mut batch = DocumentBatch::new();
            if !source.next_batch(&mut batch)? {
                if !has_documents {
                    return Err(source.no_documents_error().into());
                }
                bytes_before += source.progress().bytes_read;
                before = before.and(&**source);
                current = None;
                continue;
            }
            has_documents = true;
            let n_passed = skip.min(batch.len() as u64);
            skip -= n_passed;
            pass_over(&mut batch, n_passed as usize);
            if batch.is_empty() {
                continue;
            }
            return Ok(ControlFlow::Continue(Portion {
                batch,
                file: source.name().into(),
                bytes_read: bytes_before + source.progress().bytes_read,
            }));
        }
    })
}

/// The size of all inputs, where they have one.
pub fn total_bytes(inputs: &[String]) -> Option<u64> {
    inputs.iter().map(|input| size_of(input)).sum()
}

/// Drops the first `n` documents of a batch.
fn pass_over(batch: &mut DocumentBatch, n: usize) {
    batch.documents.drain(..n);
    batch.rows.drain(..n);
    batch.labels.drain(..n.min(batch.labels.len()));
    batch.ids.drain(..n.min(batch.ids.len()));
}

/// Takes one document out of a batch.
pub fn remove(batch: &mut DocumentBatch, at: usize) {
    batch.documents.remove(at);
    batch.rows.remove(at);
    if at < batch.labels.len() {
        batch.labels.remove(at);
    }
    if at < batch.ids.len() {
        batch.ids.remove(at);
    }
}

/// A fault of a batch, told in terms of the input.
pub fn located(error: &TextError, portion: &Portion) -> Failure {
    match error.document().and_then(|at| portion.batch.rows.get(at)) {
        Some(row) => Failure::Failed(format!(
            "{}: row {row}: {error}: fix the document, or pass --on-error skip to count and skip such rows",
            portion.file
        )),
        None => Failure::Failed(format!("{}: {error}", portion.file)),
    }
}
