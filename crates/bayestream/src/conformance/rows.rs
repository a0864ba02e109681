//! What subjects have in common whose models learn from rows of numbers, and what is checked of all of them alike.

use super::stream::SEED;
use super::tally::Tallied;
use crate::data::{Batch, DataError, LARGEST_CELL};
use crate::model::read_header;

/// Rows per batch where a check does not care.
pub(super) const BATCH: usize = 50;
/// Ages at which the state is looked at: before a model, while it is being made, and after.
pub(super) const AGES: [usize; 5] = [0, 57, 130, 600, 2600];
/// Rows after which a stream is interrupted: around every age at which a learner is known to change its ways.
const INTERRUPTIONS: [usize; 8] = [0, 57, 100, 499, 500, 1000, 2000, 2500];

/// A subject whose models learn from rows of numbers.
pub(super) trait RowSubject: Tallied {
    /// What is checked.
    type Model;

    /// The kind's name.
    fn kind_name(&self) -> &'static str;

    /// A new model with columns `x1 … xD`.
    fn begin(&self, n_columns: usize, seed: u64) -> Result<Self::Model, String>;

    /// Feeds one batch.
    fn learn(&self, model: &mut Self::Model, batch: &Batch<'_>) -> Result<(), DataError>;

    /// Ends a pass.
    fn finish(&self, model: &mut Self::Model);

    /// The model's file.
    fn file(&self, model: &Self::Model) -> Vec<u8>;

    /// The model in a file.
    fn load(&self, bytes: &[u8]) -> Result<Self::Model, String>;

    /// So many rows worth learning, and how many columns they have.
    fn stream(&self, n: usize, seed: u64) -> (Vec<f64>, usize);

    /// One comparison of a check: an error with this message unless it holds.
    fn holds(&self, holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
        self.tally().ensure(holds, message)
    }

    /// Feeds rows in batches.
    fn feed(&self, model: &mut Self::Model, rows: &[f64], d: usize, n_rows: usize) -> Result<(), String> {
        rows.chunks(n_rows * d).try_for_each(|rows| {
            Batch::new(rows, d).and_then(|batch| self.learn(model, &batch)).map_err(|e| e.to_string())
        })
    }

    /// A model that has seen these rows, in batches of [`BATCH`], and has fitted them.
    fn fit(&self, rows: &[f64], d: usize, seed: u64) -> Result<Self::Model, String> {
        let mut model = self.begin(d, seed)?;
        self.feed(&mut model, rows, d, BATCH)?;
        self.finish(&mut model);
        Ok(model)
    }
}

pub(super) fn empty_batch<S: RowSubject>(subject: &S) -> Result<(), String> {
    let (rows, d) = subject.stream(2600, SEED);
    for age in AGES {
        let mut model = subject.begin(d, SEED)?;
        subject.feed(&mut model, &rows[..age * d], d, BATCH)?;
        let before = subject.file(&model);
        let nothing = Batch::new(&[], d).map_err(|e| e.to_string())?;
        subject.learn(&mut model, &nothing).map_err(|e| e.to_string())?;
        subject
            .holds(subject.file(&model) == before, || format!("after {age} rows an empty batch changes the file"))?;
    }
    Ok(())
}

pub(super) fn failed_update<S: RowSubject>(subject: &S) -> Result<(), String> {
    let (rows, d) = subject.stream(2600, SEED + 1);
    let good = &rows[..20 * d];
    let spoilt = |value: f64| {
        let mut rows = good.to_vec();
        rows[20 * d - 1] = value;
        rows
    };
    let (infinite, too_large) = (spoilt(f64::NEG_INFINITY), spoilt(-2.0 * LARGEST_CELL));
    for age in AGES {
        let mut model = subject.begin(d, SEED)?;
        subject.feed(&mut model, &rows[..age * d], d, BATCH)?;
        let before = subject.file(&model);
        let mut refused = |rows: &[f64], n_columns: usize, weights: Option<&[f64]>| {
            let batch = Batch::new(rows, n_columns).and_then(|b| match weights {
                Some(weights) => b.with_weights(weights),
                None => Ok(b),
            });
            batch.and_then(|b| subject.learn(&mut model, &b)).is_err()
        };
        let mut bad_weights = [1.5; 20];
        bad_weights[19] = -0.5;
        let attempts = [
            ("an infinite cell", refused(&infinite, d, None)),
            ("a cell too large", refused(&too_large, d, None)),
            ("a wrong number of columns", refused(&good[..20 * (d - 1)], d - 1, None)),
            ("a negative weight", refused(good, d, Some(&bad_weights))),
            ("too few weights", refused(good, d, Some(&[1.0; 3]))),
        ];
        for (what, refused) in attempts {
            subject.holds(refused, || format!("after {age} rows {what} is accepted"))?;
        }
        let same = subject.file(&model) == before;
        subject.holds(same, || format!("after {age} rows a refused batch changes the file"))?;
    }
    Ok(())
}

pub(super) fn same_seed<S: RowSubject>(subject: &S) -> Result<(), String> {
    let (rows, d) = subject.stream(3000, SEED + 2);
    let file = || Ok::<_, String>(subject.file(&subject.fit(&rows, d, SEED + 3)?));
    subject.holds(file()? == file()?, || "two runs with one seed differ".into())
}

fn reloaded<S: RowSubject>(subject: &S, model: &S::Model) -> Result<S::Model, String> {
    subject.load(&subject.file(model))
}

pub(super) fn round_trip<S: RowSubject>(subject: &S) -> Result<(), String> {
    let (rows, d) = subject.stream(2500, SEED + 10);
    let mut model = subject.begin(d, SEED)?;
    let mut from = 0;
    for age in INTERRUPTIONS {
        subject.feed(&mut model, &rows[from * d..age * d], d, BATCH)?;
        from = age;
        let saved = subject.file(&model);
        let again = subject.file(&reloaded(subject, &model)?);
        subject.holds(again == saved, || format!("after {age} rows the file changes when loaded"))?;
        let header = read_header(&saved).map_err(|e| e.to_string())?;
        let said = (header.kind.as_str(), header.n_seen, header.columns.len());
        subject.holds(said == (subject.kind_name(), age as u64, d), || format!("{header:?}"))?;
    }
    subject.finish(&mut model);
    let again = subject.file(&reloaded(subject, &model)?);
    subject.holds(again == subject.file(&model), || "the file of a fit changes when loaded".into())
}

pub(super) fn resume<S: RowSubject>(subject: &S) -> Result<(), String> {
    let (rows, d) = subject.stream(3000, SEED + 11);
    let mut ends: Vec<usize> = (BATCH..=3000).step_by(BATCH).chain(INTERRUPTIONS).collect();
    ends.sort_unstable();
    ends.dedup();
    let run = |interrupted: &dyn Fn(usize) -> bool| {
        let (mut model, mut from) = (subject.begin(d, SEED + 12)?, 0);
        for &end in &ends {
            subject.feed(&mut model, &rows[from * d..end * d], d, end - from + 1)?;
            from = end;
            if interrupted(end) {
                model = reloaded(subject, &model)?;
            }
        }
        subject.finish(&mut model);
        Ok::<_, String>(subject.file(&model))
    };
    let uninterrupted = run(&|_| false)?;
    for at in INTERRUPTIONS {
        let same = run(&|end| end == at)? == uninterrupted;
        subject.holds(same, || format!("interrupted after {at} rows it differs"))?;
    }
    subject.holds(run(&|_| true)? == uninterrupted, || "interrupted after every batch it differs".into())
}

/// A file of some size to damage.
fn some_file<S: RowSubject>(subject: &S) -> Result<Vec<u8>, String> {
    let (rows, d) = subject.stream(700, SEED + 15);
    Ok(subject.file(&subject.fit(&rows, d, SEED + 16)?))
}

fn ensure_refused<S: RowSubject>(subject: &S, bytes: &[u8], what: impl Fn() -> String) -> Result<(), String> {
    subject.holds(subject.load(bytes).is_err(), || format!("{} loads", what()))?;
    subject.holds(read_header(bytes).is_err(), || format!("the header of {} is read", what()))
}

pub(super) fn truncated<S: RowSubject>(subject: &S) -> Result<(), String> {
    let saved = some_file(subject)?;
    let n = saved.len();
    // Every length near both ends, and a sample in between.
    for length in (0..200).chain((200..n - 200).step_by(131)).chain(n - 200..n) {
        ensure_refused(subject, &saved[..length], || format!("a file cut from {n} to {length} bytes"))?;
    }
    let longer = [saved.as_slice(), &[0]].concat();
    ensure_refused(subject, &longer, || "a file with a byte too many".into())
}

pub(super) fn flipped<S: RowSubject>(subject: &S) -> Result<(), String> {
    let mut bytes = some_file(subject)?;
    let n = bytes.len();
    for at in (0..200).chain((200..n - 200).step_by(131)).chain(n - 200..n) {
        let bit = 1 << (at % 8);
        bytes[at] ^= bit;
        ensure_refused(subject, &bytes, || format!("a file with a bit flipped in byte {at}"))?;
        bytes[at] ^= bit;
    }
    subject.holds(subject.load(&bytes).is_ok(), || "the mended file does not load".into())
}
