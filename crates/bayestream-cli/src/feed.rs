//! Rows on their way to a model: read on a thread of their own, so that reading and learning overlap and a wish to
//! stop is heard while a pipe is silent.

use crate::error::Failure;
use crate::stop::StopSignal;
use bayestream_io::{CellProblem, InputError, ReadOptions, RowBatch, RowSource, open};
use std::fs;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

/// Batches read ahead of the learner.
const READ_AHEAD: usize = 4;
/// How long a wish to stop may wait while no row arrives.
const PATIENCE: Duration = Duration::from_millis(50);
/// A cell of so many words where a number should be is text.
const WORDS_OF_TEXT: usize = 3;

/// What to read.
pub struct Plan {
    /// Paths, or `-` for standard input; read one after the other.
    pub inputs: Vec<String>,
    /// How.
    pub options: ReadOptions,
    /// The columns of the model to be fed, in its order; those of the first input when there is no model yet.
    pub columns: Option<Vec<String>>,
    /// Rows to pass over before the first is handed out.
    pub skip: u64,
}

/// Rows read together, all of one input.
pub struct Portion {
    /// The rows, their cells in the order of the model's columns.
    pub batch: RowBatch,
    /// The input's name, for messages.
    pub file: Arc<str>,
    /// Bytes of all inputs read so far.
    pub bytes_read: u64,
}

/// What comes next.
pub enum Next {
    /// Some rows.
    Rows(Portion),
    /// All inputs have ended; so many rows were left out as unreadable.
    End {
        /// Rows left out under `--on-error skip`.
        n_skipped: u64,
        /// Last lines of inputs that were cut.
        n_unfinished: u64,
    },
    /// A signal asks to stop.
    Stop(i32),
}

/// How the reading begins.
pub enum Opening {
    /// The columns, in the order of the cells to come.
    Columns(Vec<String>),
    /// A signal asks to stop.
    Stop(i32),
}

enum Delivery {
    Columns(Vec<String>),
    Rows(Portion),
    End { n_skipped: u64, n_unfinished: u64 },
    Failed(Failure),
}

enum Received {
    Delivery(Delivery),
    Stop(i32),
}

/// The receiving end.
pub struct Feed {
    deliveries: Receiver<Delivery>,
    spares: Sender<RowBatch>,
    stop: Option<StopSignal>,
    total_bytes: Option<u64>,
}

impl Feed {
    /// Starts to read.
    pub fn start(plan: Plan, stop: Option<StopSignal>) -> Feed {
        let (send, deliveries) = sync_channel(READ_AHEAD);
        let (spares, spare_batches) = channel();
        let sizes: Vec<Option<u64>> = plan.inputs.iter().map(|input| size_of(input)).collect();
        let total_bytes = sizes.iter().copied().sum();
        thread::spawn(move || {
            let mut reader = Reader { plan, sizes, send, spare_batches, n_skipped: 0, n_unfinished: 0, n_before: 0 };
            let last = match reader.run() {
                Ok(Heard::Yes) => Delivery::End { n_skipped: reader.n_skipped, n_unfinished: reader.n_unfinished },
                Ok(Heard::No) => return,
                Err(failure) => Delivery::Failed(failure),
            };
            // Nobody listens any more when the command has ended early.
            let _ = reader.send.send(last);
        });
        Feed { deliveries, spares, stop, total_bytes }
    }

    /// The size of all inputs, where they have one.
    pub fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }

    /// Waits for the columns; to be asked for once, before the rows.
    pub fn opening(&mut self) -> Result<Opening, Failure> {
        match self.receive()? {
            Received::Delivery(Delivery::Columns(columns)) => Ok(Opening::Columns(columns)),
            Received::Delivery(Delivery::Failed(failure)) => Err(failure),
            Received::Delivery(_) => Err(reader_died()),
            Received::Stop(signal) => Ok(Opening::Stop(signal)),
        }
    }

    /// Waits for what comes next.
    pub fn next(&mut self) -> Result<Next, Failure> {
        match self.receive()? {
            Received::Delivery(Delivery::Rows(portion)) => Ok(Next::Rows(portion)),
            Received::Delivery(Delivery::End { n_skipped, n_unfinished }) => Ok(Next::End { n_skipped, n_unfinished }),
            Received::Delivery(Delivery::Failed(failure)) => Err(failure),
            Received::Delivery(Delivery::Columns(_)) => Err(reader_died()),
            Received::Stop(signal) => Ok(Next::Stop(signal)),
        }
    }

    /// Gives a batch's memory back.
    pub fn reuse(&self, batch: RowBatch) {
        let _ = self.spares.send(batch);
    }

    fn receive(&mut self) -> Result<Received, Failure> {
        loop {
            if let Some(signal) = self.stop.as_ref().and_then(StopSignal::received) {
                return Ok(Received::Stop(signal));
            }
            match self.deliveries.recv_timeout(PATIENCE) {
                Ok(delivery) => return Ok(Received::Delivery(delivery)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(reader_died()),
            }
        }
    }
}

fn reader_died() -> Failure {
    Failure::Failed("the reader ended without a word: please report this input".to_string())
}

/// The size of an input, where it has one.
pub fn size_of(input: &str) -> Option<u64> {
    let metadata = fs::metadata(input).ok().filter(|_| input != "-")?;
    metadata.is_file().then_some(metadata.len())
}

/// Whether the other end still listens.
enum Heard {
    Yes,
    No,
}

struct Reader {
    plan: Plan,
    sizes: Vec<Option<u64>>,
    send: SyncSender<Delivery>,
    spare_batches: Receiver<RowBatch>,
    n_skipped: u64,
    n_unfinished: u64,
    /// Bytes of the inputs that have ended.
    n_before: u64,
}

impl Reader {
    fn run(&mut self) -> Result<Heard, Failure> {
        let inputs = std::mem::take(&mut self.plan.inputs);
        let whose = if self.plan.columns.is_some() { "the model" } else { "the first input" };
        for (input_ix, input) in inputs.iter().enumerate() {
            let mut source = open(input, &self.plan.options).map_err(|error| self.explain(error))?;
            let order = match &self.plan.columns {
                Some(columns) => order_of(columns, &*source, whose)?,
                None => {
                    self.plan.columns = Some(source.columns().to_vec());
                    None
                }
            };
            if input_ix == 0 {
                let columns = self.plan.columns.clone().unwrap_or_default();
                if self.send.send(Delivery::Columns(columns)).is_err() {
                    return Ok(Heard::No);
                }
            }
            if let Heard::No = self.pump(&mut *source, order.as_deref())? {
                return Ok(Heard::No);
            }
            self.n_skipped += source.n_skipped();
            self.n_unfinished += source.n_unfinished();
            self.n_before += self.sizes[input_ix].unwrap_or(0);
        }
        Ok(Heard::Yes)
    }

    fn pump(&mut self, source: &mut dyn RowSource, order: Option<&[usize]>) -> Result<Heard, Failure> {
        let file: Arc<str> = source.name().into();
        let n_columns = source.columns().len();
        let mut has_rows = false;
        loop {
            let mut batch = self.spare_batches.try_recv().unwrap_or_default();
            if !source.next_batch(&mut batch).map_err(|error| self.explain(error))? {
                return if has_rows { Ok(Heard::Yes) } else { Err(source.no_rows_error().into()) };
            }
            has_rows = true;
            let n_passed = self.plan.skip.min(batch.n_rows as u64);
            self.plan.skip -= n_passed;
            if n_passed == batch.n_rows as u64 {
                continue;
            }
            pass_over(&mut batch, n_passed as usize, n_columns);
            if let Some(order) = order {
                reorder(&mut batch.rows, order);
            }
            let bytes_read = self.n_before + source.progress().bytes_read;
            if self.send.send(Delivery::Rows(Portion { batch, file: Arc::clone(&file), bytes_read })).is_err() {
                return Ok(Heard::No);
            }
        }
    }

    /// A column that the reader misses is, with a model, one that the model needs; a cell of several words is text.
    fn explain(&self, error: InputError) -> Failure {
        match (&self.plan.columns, &error) {
            (Some(columns), InputError::UnknownColumn { file, option: "--columns", column, hint }) => {
                Failure::Failed(format!(
                    "{file}: the model needs the column `{column}`, which the input does not have; {hint}\n  \
                     the model's columns: {}",
                    columns.join(", ")
                ))
            }
            (_, InputError::BadCell { problem: CellProblem::NotANumber, column, value, .. })
                if value.split_whitespace().count() >= WORDS_OF_TEXT =>
            {
                let advice = format!(
                    "to learn from text: -m topics or -m classify, or for classify/pa, classify/bayespa-ave and \
                     classify/bayespa-gibbs --text-column {column}"
                );
                Failure::from(error).and(advice)
            }
            _ => error.into(),
        }
    }
}

/// Where each of the wanted columns stands in the source; none when the order is the same.
fn order_of(wanted: &[String], source: &dyn RowSource, whose: &str) -> Result<Option<Vec<usize>>, Failure> {
    let found = source.columns();
    if found == wanted {
        return Ok(None);
    }
    let not_in = |names: &[String], others: &[String]| -> Vec<String> {
        names.iter().filter(|name| !others.contains(name)).cloned().collect()
    };
    let (missing, extra) = (not_in(wanted, found), not_in(found, wanted));
    if missing.is_empty() && extra.is_empty() {
        let place = |name: &String| found.iter().position(|f| f == name).unwrap_or(0);
        return Ok(Some(wanted.iter().map(place).collect()));
    }
    let mut text = format!("{}: the columns are not those of {whose}", source.name());
    if !missing.is_empty() {
        text += &format!("\n  missing: {}", missing.join(", "));
    }
    if !extra.is_empty() {
        text += &format!("\n  extra: {}", extra.join(", "));
    }
    text += match (missing.is_empty(), extra.is_empty()) {
        (true, false) => "\n  leave the extra columns out with --drop, or choose with --columns",
        _ => "\n  rename the columns of the input, or learn a new model from it",
    };
    Err(Failure::Failed(text))
}

fn reorder(rows: &mut [f64], order: &[usize]) {
    let mut moved = vec![0.0; order.len()];
    for row in rows.chunks_exact_mut(order.len()) {
        moved.iter_mut().zip(order).for_each(|(to, &from)| *to = row[from]);
        row.copy_from_slice(&moved);
    }
}

/// Drops the first `n` rows of a batch.
fn pass_over(batch: &mut RowBatch, n: usize, n_columns: usize) {
    if n == 0 {
        return;
    }
    batch.first_row = batch.row_number(n);
    batch.rows.drain(..n * n_columns);
    batch.n_rows -= n;
    for texts in [&mut batch.labels, &mut batch.ids] {
        texts.drain(..n.min(texts.len()));
    }
    batch.weights.drain(..n.min(batch.weights.len()));
    batch.row_numbers.drain(..n.min(batch.row_numbers.len()));
}

/// Takes one row out of a batch.
pub fn remove_row(batch: &mut RowBatch, row_ix: usize, n_columns: usize) {
    if batch.row_numbers.is_empty() {
        batch.row_numbers = (0..batch.n_rows as u64).map(|ix| batch.first_row + ix).collect();
    }
    batch.rows.drain(row_ix * n_columns..(row_ix + 1) * n_columns);
    batch.n_rows -= 1;
    for texts in [&mut batch.labels, &mut batch.ids] {
        if row_ix < texts.len() {
            texts.remove(row_ix);
        }
    }
    if row_ix < batch.weights.len() {
        batch.weights.remove(row_ix);
    }
    batch.row_numbers.remove(row_ix);
    batch.first_row = batch.row_numbers.first().copied().unwrap_or(batch.first_row);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch() -> RowBatch {
        let mut batch = RowBatch::new();
        batch.rows = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        batch.n_rows = 3;
        batch.weights = vec![0.5, 1.5, 2.5];
        batch.ids = ["a", "b", "c"].map(String::from).to_vec();
        batch.first_row = 11;
        batch
    }

    #[test]
    fn rows_passed_over_take_their_numbers_with_them() {
        let mut passed = batch();
        pass_over(&mut passed, 2, 2);
        assert_eq!((passed.rows, passed.weights, passed.first_row), (vec![5.0, 6.0], vec![2.5], 13));
        assert_eq!(passed.ids, ["c"]);
    }

    #[test]
    fn a_removed_row_leaves_the_numbers_of_the_others() {
        let mut left = batch();
        remove_row(&mut left, 1, 2);
        assert_eq!((left.row_number(0), left.row_number(1), left.n_rows), (11, 13, 2));
        assert_eq!(left.rows, [1.0, 2.0, 5.0, 6.0]);
        remove_row(&mut left, 0, 2);
        assert_eq!((left.first_row, left.row_number(0)), (13, 13));
    }

    #[test]
    fn cells_follow_the_names_of_their_columns() {
        let mut rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        reorder(&mut rows, &[2, 0, 1]);
        assert_eq!(rows, [3.0, 1.0, 2.0, 6.0, 4.0, 5.0]);
    }
}
