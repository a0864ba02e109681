//! Judging rows: while learning from them, or by a model that stays as it is.

use super::{Model, UpdateError};
use crate::data::Batch;
use crate::engine::StepReport;
use crate::outlier::{DriftAlarm, Verdict, Watch, WatchWork};
use std::borrow::Cow;

/// Rows judged by a model that stays as it is.
#[derive(Clone, Debug)]
pub struct Judge<'a> {
    model: Cow<'a, Model>,
    watch: Cow<'a, Watch>,
    work: WatchWork,
}

impl Judge<'_> {
    /// Judges rows in their order, replacing what `out` holds.
    pub fn judge(&mut self, batch: &Batch<'_>, out: &mut Vec<Verdict>) -> Result<(), UpdateError> {
        self.model.check(batch)?;
        out.clear();
        self.watch.judge(self.model.body.learner(), batch.rows(), None, &mut self.work, out);
        Ok(())
    }
}

impl Model {
    /// Says of each row of a batch how unusual it is, then learns from the batch as [`Model::update`] does. All rows of
    /// the batch are judged before any is learnt from. All or nothing, as an update is.
    pub fn watch(&mut self, batch: &Batch<'_>) -> Result<(Vec<Verdict>, StepReport), UpdateError> {
        let mut verdicts = Vec::with_capacity(batch.n_rows());
        let report = self.watch_into(batch, &mut verdicts)?;
        Ok((verdicts, report))
    }

    /// [`Model::watch`] with a buffer that is used again; what it holds is replaced.
    pub fn watch_into(&mut self, batch: &Batch<'_>, out: &mut Vec<Verdict>) -> Result<StepReport, UpdateError> {
        self.check(batch)?;
        out.clear();
        if batch.n_rows() == 0 {
            return self.update(batch);
        }
        let before = self.body.learner().asks_within(batch.n_rows()).then(|| self.watch.clone());
        let mut work = std::mem::take(&mut self.work);
        let learner = self.body.learner();
        let mut watch = self.watch.take().unwrap_or_else(|| {
            Watch::of_recent_rows(learner, self.config.columns.len(), &self.config.settings, &mut work)
        });
        watch.look_for_change(batch.rows(), || learner.scorer());
        if watch.lacks_clusters(learner) {
            watch.find_clusters(learner);
        }
        watch.judge(learner, batch.rows(), batch.weights(), &mut work, out);
        let given = |i: usize| batch.weights().map_or(1.0, |w| w[i]);
        let weights: Vec<f64> = out.iter().enumerate().map(|(i, v)| v.weight * given(i)).collect();
        let report = self.update(batch);
        if let (Some(before), Ok(StepReport { is_interrupted: true, .. })) = (before, &report) {
            out.clear();
            (self.watch, self.work) = (before, work);
            return report;
        }
        watch.learn(batch.rows(), &weights, &mut work);
        (self.watch, self.work) = (Some(watch), work);
        report
    }

    /// A judge of rows by this model, made [ready](Model::ready). A model that was watched knows which scores are usual; for
    /// one that was not, the rows that the learner still holds tell.
    pub fn judge(&self) -> Judge<'_> {
        self.judge_by(self.ready())
    }

    /// The same by the model as it is: quicker for single rows while the first model is not made, and without densities
    /// until then.
    pub fn judge_as_is(&self) -> Judge<'_> {
        match self.config.kind.info().streaming {
            true => self.judge_by(Cow::Borrowed(self)),
            false => self.judge(),
        }
    }

    fn judge_by<'a>(&'a self, model: Cow<'a, Model>) -> Judge<'a> {
        let mut work = WatchWork::default();
        let mut watch = match &self.watch {
            Some(watch) => Cow::Borrowed(watch),
            None => {
                let (n_columns, settings) = (self.config.columns.len(), &self.config.settings);
                Cow::Owned(Watch::of_recent_rows(model.body.learner(), n_columns, settings, &mut work))
            }
        };
        if watch.lacks_clusters(model.body.learner()) {
            watch.to_mut().find_clusters(model.body.learner());
        }
        Judge { model, watch, work }
    }

    /// Changes of the stream that were noticed while watching it, oldest first; the latest hundred are kept.
    pub fn drift_alarms(&self) -> &[DriftAlarm] {
        self.watch.as_ref().map_or(&[], |watch| watch.alarms())
    }

    /// The stream is known to have changed: what was usual before no longer says what is usual now.
    pub fn announce_change(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.announce_change();
        }
    }
}
