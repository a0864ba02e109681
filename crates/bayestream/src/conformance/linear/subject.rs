//! What is being checked: a kind of labelled rows with what it is fed and what it tells.

use super::stream::{N_COLUMNS, Sample, words};
use crate::conformance::tally::{Tallied, Tally};
use crate::data::Batch;
use crate::engine::linear::{Judgement, TargetChoice};
use crate::model::{FeatureChoice, LINEAR_KINDS, LinearChoices, LinearConfig, LinearError, LinearKind, LinearModel};

/// What a model is fed and what it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// Columns; one label a row.
    Columns,
    /// Columns; a number a row.
    Number,
    /// Columns; several labels a row.
    Several,
    /// Words; one label a document.
    Words,
}

/// A kind of labelled rows with a setup.
#[derive(Clone, Debug)]
pub struct LinearSubject {
    kind: LinearKind,
    setup: Setup,
    tally: Tally,
}

/// Every kind of labelled rows with every setup.
pub fn linear_subjects() -> Vec<LinearSubject> {
    let setups = [Setup::Columns, Setup::Number, Setup::Several, Setup::Words];
    LINEAR_KINDS.iter().flat_map(|k| setups.map(|setup| LinearSubject::new(k.kind, setup))).collect()
}

/// Rows per batch where a check does not care.
pub(super) const BATCH: usize = 40;

impl Tallied for LinearSubject {
    fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl LinearSubject {
    /// This kind with this setup.
    pub fn new(kind: LinearKind, setup: Setup) -> LinearSubject {
        LinearSubject { kind, setup, tally: Tally::default() }
    }

    /// The kind.
    pub fn kind(&self) -> LinearKind {
        self.kind
    }

    /// The setup.
    pub fn setup(&self) -> Setup {
        self.setup
    }

    /// One comparison of a check: an error with this message unless it holds.
    pub fn ensure(&self, holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
        self.tally.ensure(holds, message)
    }

    pub(super) fn is_words(&self) -> bool {
        self.setup == Setup::Words
    }

    pub(super) fn config(&self, change: impl FnOnce(&mut LinearChoices)) -> LinearConfig {
        let columns = (0..N_COLUMNS).map(|at| format!("column{at}")).collect();
        let mut config = LinearConfig::new(self.kind, if self.is_words() { Vec::new() } else { columns });
        config.settings.target = match self.setup {
            Setup::Number => TargetChoice::Number,
            Setup::Several => TargetChoice::Labels,
            Setup::Columns | Setup::Words => TargetChoice::Label,
        };
        if self.is_words() {
            config.settings.features = FeatureChoice::Words;
        }
        change(&mut config.settings);
        config
    }

    /// A new model.
    pub(super) fn model(&self) -> Result<LinearModel, String> {
        self.model_with(|_| ())
    }

    /// The same with settings changed.
    pub(super) fn model_with(&self, change: impl FnOnce(&mut LinearChoices)) -> Result<LinearModel, String> {
        LinearModel::new(self.config(change)).map_err(|e| e.to_string())
    }

    /// A new model whose words, if it has any, are given.
    pub(super) fn model_of_list(&self) -> Result<LinearModel, String> {
        match self.is_words() {
            true => LinearModel::with_words(self.config(|_| ()), words()).map_err(|e| e.to_string()),
            false => self.model(),
        }
    }

    /// A model that has seen these rows.
    pub(super) fn fitted(&self, sample: &Sample) -> Result<LinearModel, String> {
        let mut model = self.model()?;
        self.feed(&mut model, sample, BATCH)?;
        Ok(model)
    }

    /// Feeds rows in batches.
    pub(super) fn feed(&self, model: &mut LinearModel, sample: &Sample, n: usize) -> Result<(), String> {
        let mut from = 0;
        while from < sample.len() {
            let to = (from + n).min(sample.len());
            self.update(model, &sample.part(from, to)).map_err(|e| e.to_string())?;
            from = to;
        }
        Ok(())
    }

    /// Feeds one batch.
    pub(super) fn update(&self, model: &mut LinearModel, sample: &Sample) -> Result<(), LinearError> {
        match self.is_words() {
            true => model.update_documents(&sample.documents, &sample.labels).map(|_| ()),
            false => {
                let n_columns = model.config().columns.len();
                model.update_rows(&Batch::new(&sample.cells, n_columns)?, &sample.labels).map(|_| ())
            }
        }
    }

    /// What a model says of rows.
    pub(super) fn judged(&self, model: &LinearModel, sample: &Sample) -> Result<Vec<Judgement>, String> {
        let judged = match self.is_words() {
            true => model.score_documents(&sample.documents).map(|(judged, _)| judged),
            false => {
                let batch = Batch::new(&sample.cells, model.config().columns.len()).map_err(|e| e.to_string())?;
                model.score_rows(&batch)
            }
        };
        judged.map_err(|e| e.to_string())
    }

    /// How well it tells rows it has not seen: the share wholly right, or the share of the numbers' spread explained.
    pub(super) fn success(&self, model: &LinearModel, fresh: &Sample) -> Result<f64, String> {
        let judged = self.judged(model, fresh)?;
        if self.setup == Setup::Number {
            let truth: Vec<f64> = fresh.labels.iter().filter_map(|list| list[0].parse().ok()).collect();
            let mean = truth.iter().sum::<f64>() / truth.len() as f64;
            let spread: f64 = truth.iter().map(|t| (t - mean).abs()).sum();
            let off: f64 = truth.iter().zip(&judged).map(|(t, j)| (t - j.number).abs()).sum();
            return Ok(1.0 - off / spread);
        }
        let right = judged.iter().zip(&fresh.labels).filter(|(judgement, truth)| {
            let mut told: Vec<&str> = judgement.labels.iter().map(|at| model.labels()[*at].as_str()).collect();
            let mut truth: Vec<&str> = truth.iter().map(String::as_str).collect();
            told.sort_unstable();
            truth.sort_unstable();
            told == truth
        });
        Ok(right.count() as f64 / fresh.len() as f64)
    }

    /// Everything a model says must be finite, and its file must hold it.
    pub(super) fn ensure_sound(&self, model: &LinearModel, sample: &Sample, when: &str) -> Result<(), String> {
        for (at, judgement) in self.judged(model, sample)?.iter().enumerate() {
            let is_number = self.setup == Setup::Number;
            let finite = judgement.scores.iter().all(|score| score.is_finite())
                && (judgement.deviation.is_none_or(f64::is_finite))
                && judgement.reasons.iter().all(|reason| reason.amount.is_finite())
                && (if is_number { judgement.number.is_finite() } else { judgement.margin.is_finite() });
            self.ensure(finite, || format!("{when}: row {at} has {judgement:?}"))?;
        }
        let snapshot = model.snapshot();
        let weights = snapshot.labels.iter().flat_map(|label| snapshot.speaking_for(label, 3));
        self.ensure(weights.clone().all(|w| w.weight.is_finite()), || format!("{when}: weights are not finite"))?;
        let saved = model.save();
        let again = LinearModel::load(&saved).map_err(|e| format!("{when}: its file is refused: {e}"))?;
        self.ensure(again.save() == saved, || format!("{when}: its file changes when loaded"))
    }
}
