//! Models of disjoint parts of one stream of labelled rows, combined.

use super::LinearModel;
use crate::data::DocumentBuffer;
use crate::engine::linear::LinearLearner;
use crate::model::MergeError;
use crate::model::merge::in_canonical_order;
use crate::text::TextPipeline;

fn unsupported(reason: impl ToString) -> MergeError {
    MergeError::Unsupported { reason: reason.to_string() }
}

impl LinearModel {
    /// Combines models of disjoint parts of one stream. The order in which they are given does not matter, to the bit.
    pub fn merge(models: &[LinearModel]) -> Result<LinearModel, MergeError> {
        let Some(first) = models.first() else {
            return Err(MergeError::Nothing);
        };
        for other in &models[1..] {
            first.check_mergeable(other)?;
        }
        if models.len() == 1 {
            return Ok(first.clone());
        }
        if let Some(reason) = first.learner.unmergeable() {
            return Err(unsupported(reason));
        }
        let ordered = in_canonical_order(models, LinearModel::save);
        let mut config = ordered[0].config.clone();
        config.shard = ordered.iter().map(|m| m.config.shard).min().unwrap_or(0);
        let pipelines: Vec<&TextPipeline> = ordered.iter().filter_map(|m| m.pipeline.as_ref()).collect();
        let merged = match pipelines.is_empty() {
            true => None,
            false => Some(TextPipeline::merge(&pipelines).map_err(unsupported)?),
        };
        let numbers = |at: usize| merged.as_ref().map(|(_, numbers)| numbers[at].as_slice());
        let parts: Vec<_> = ordered.iter().enumerate().map(|(at, m)| (&m.learner, numbers(at))).collect();
        let n_words = merged.as_ref().map_or(0, |(pipeline, _)| pipeline.vocabulary().len());
        let learner = LinearLearner::merged(&parts, n_words).ok_or_else(|| {
            unsupported("the shards' evidence cannot be added up: their weights contradict each other")
        })?;
        if learner.labels().len() > config.settings.max_labels {
            return Err(unsupported(format!(
                "together the shards have {} labels, and max-labels={}",
                learner.labels().len(),
                config.settings.max_labels
            )));
        }
        Ok(LinearModel {
            config,
            pipeline: merged.map(|(pipeline, _)| pipeline),
            learner,
            buffer: DocumentBuffer::new(),
        })
    }

    fn check_mergeable(&self, other: &LinearModel) -> Result<(), MergeError> {
        let differ =
            |what: &str, first: String, other: String| Err(MergeError::Differ { what: what.to_string(), first, other });
        let (a, b) = (&self.config, &other.config);
        if a.kind != b.kind {
            return differ("kind", a.kind.to_string(), b.kind.to_string());
        }
        if a.settings.features == b.settings.features && !a.is_words() && a.columns != b.columns {
            return differ("columns", a.columns.join(", "), b.columns.join(", "));
        }
        let (ours, theirs) = (a.settings.all(a.kind), b.settings.all(b.kind));
        match ours.into_iter().zip(theirs).find(|(one, two)| one != two) {
            Some(((name, one), (_, two))) => differ(&format!("the setting {name}"), one, two),
            None => Ok(()),
        }
    }
}
