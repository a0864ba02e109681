//! What is being checked: a kind with a variant, and the few things that checks do with it.

use super::rows::RowSubject;
use super::stream::mixture;
use super::tally::{Tallied, Tally};
use crate::data::{Batch, DataError};
use crate::model::{Config, KINDS, Kind, Model, Settings, Variant};
use crate::structure::Snapshot;

/// A kind with a variant.
#[derive(Clone, Debug)]
pub struct Subject {
    kind: Kind,
    variant: Variant,
    tally: Tally,
}

/// Every kind, with both variants where it has them.
pub fn subjects() -> Vec<Subject> {
    let variants = |kind: Kind| match kind.has_paper_variant() {
        true => vec![Variant::Default, Variant::Paper],
        false => vec![Variant::Default],
    };
    KINDS.iter().flat_map(|k| variants(k.kind).into_iter().map(|v| Subject::new(k.kind, v))).collect()
}

impl Tallied for Subject {
    fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl Subject {
    /// This kind with this variant.
    pub fn new(kind: Kind, variant: Variant) -> Subject {
        Subject { kind, variant, tally: Tally::default() }
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The variant.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The kind's name, with the variant when it is not the default.
    pub fn name(&self) -> String {
        match self.variant {
            Variant::Default => self.kind.name().to_string(),
            Variant::Paper => format!("{} variant=paper", self.kind.name()),
        }
    }

    /// One comparison of a check: an error with this message unless it holds.
    pub fn ensure(&self, holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
        self.tally.ensure(holds, message)
    }

    /// A new model with columns `x1 … xD`.
    pub(super) fn model(&self, n_columns: usize, seed: u64) -> Result<Model, String> {
        self.model_with(n_columns, seed, |_| ())
    }

    /// The same with settings changed.
    pub(super) fn model_with(
        &self,
        n_columns: usize,
        seed: u64,
        change: impl FnOnce(&mut Settings),
    ) -> Result<Model, String> {
        let columns = (1..=n_columns).map(|j| format!("x{j}")).collect();
        let mut settings = Settings { variant: self.variant, ..Settings::default() };
        change(&mut settings);
        Model::new(Config { seed, settings, ..Config::new(self.kind, columns) }).map_err(|e| e.to_string())
    }

    /// A model that has seen these rows, in batches of [`BATCH`], and has fitted them.
    pub(super) fn fitted(&self, rows: &[f64], n_columns: usize, seed: u64) -> Result<Model, String> {
        self.fit(rows, n_columns, seed)
    }

    /// Everything a model says must be finite, and what must add up must add up.
    pub(super) fn ensure_sound(&self, model: &Model, rows: &[f64], when: &str) -> Result<(), String> {
        let snapshot = model.snapshot();
        self.ensure_sound_components(&snapshot, when)?;
        let mut scores = Vec::new();
        for (name, mut scorer) in [("snapshot", snapshot.scorer()), ("master", model.ready().scorer())] {
            scorer.score(rows, &mut scores);
            for (row, score) in scores.iter().enumerate() {
                self.ensure(score.log_density.is_finite() && (0.0..=1.0).contains(&score.responsibility), || {
                    format!("{when}: row {row} of the {name} scores {score:?}")
                })?;
            }
        }
        let (batch, mut verdicts) = (Batch::new(rows, model.columns().len()).map_err(|e| e.to_string())?, Vec::new());
        model.judge().judge(&batch, &mut verdicts).map_err(|e| e.to_string())?;
        let odd = verdicts.iter().find(|v| !(v.log_density.is_finite() && v.surprise.is_finite() && v.p_value > 0.0));
        self.ensure(odd.is_none(), || format!("{when}: a judge says {odd:?}"))?;
        let saved = model.save();
        let again = Model::load(&saved).map_err(|e| format!("{when}: its file is refused: {e}"))?;
        self.ensure(again.save() == saved, || format!("{when}: its file changes when loaded"))
    }

    fn ensure_sound_components(&self, snapshot: &Snapshot, when: &str) -> Result<(), String> {
        let d = snapshot.columns.len();
        self.ensure(snapshot.k_realized() > 0, || format!("{when}: there is no component"))?;
        let total: f64 = snapshot.components.iter().map(|c| c.weight).sum();
        self.ensure((total - 1.0).abs() < 1e-9, || format!("{when}: weights add up to {total}"))?;
        for c in &snapshot.components {
            let finite = c.mean.iter().chain(&c.covariance).all(|v| v.is_finite());
            let positive = (0..d).all(|j| c.covariance[j * d + j] > 0.0);
            let sound = finite && positive && c.weight > 0.0 && c.count.is_finite() && c.count >= 0.0;
            self.ensure(sound, || format!("{when}: component {c:?}"))?;
        }
        Ok(())
    }
}

impl RowSubject for Subject {
    type Model = Model;

    fn kind_name(&self) -> &'static str {
        self.kind.name()
    }

    fn begin(&self, n_columns: usize, seed: u64) -> Result<Model, String> {
        self.model(n_columns, seed)
    }

    fn learn(&self, model: &mut Model, batch: &Batch<'_>) -> Result<(), DataError> {
        model.update(batch).map(|_| ())
    }

    fn finish(&self, model: &mut Model) {
        model.finish();
    }

    fn file(&self, model: &Model) -> Vec<u8> {
        model.save()
    }

    fn load(&self, bytes: &[u8]) -> Result<Model, String> {
        Model::load(bytes).map_err(|e| e.to_string())
    }

    fn stream(&self, n: usize, seed: u64) -> (Vec<f64>, usize) {
        (mixture(5, 3, n, seed).rows, 3)
    }
}

/// Feeds rows in batches.
pub(super) fn feed(model: &mut Model, rows: &[f64], n_rows: usize) -> Result<(), String> {
    let d = model.columns().len();
    rows.chunks(n_rows * d).try_for_each(|batch| update(model, batch))
}

/// Feeds one batch.
pub(super) fn update(model: &mut Model, rows: &[f64]) -> Result<(), String> {
    let batch = Batch::new(rows, model.columns().len()).map_err(|e| e.to_string())?;
    model.update(&batch).map(|_| ()).map_err(|e| e.to_string())
}

/// Mean log-density of rows under the model's snapshot.
pub(super) fn mean_log_density(model: &Model, rows: &[f64]) -> f64 {
    model.snapshot().scorer().mean_log_density(rows)
}
