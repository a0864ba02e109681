//! Models of disjoint parts of one stream of documents, combined.

use super::{Body, DocumentModel};
use crate::data::DocumentBuffer;
use crate::engine::topics::MmHdp;
use crate::model::MergeError;
use crate::model::merge::in_canonical_order;
use crate::text::TextPipeline;

impl DocumentModel {
    /// Combines models of disjoint parts of one stream. The order in which they are given does not matter, to the bit.
    pub fn merge(models: &[DocumentModel]) -> Result<DocumentModel, MergeError> {
        let Some(first) = models.first() else {
            return Err(MergeError::Nothing);
        };
        for other in &models[1..] {
            first.check_mergeable(other)?;
        }
        if models.len() == 1 {
            return Ok(first.clone());
        }
        let ordered = in_canonical_order(models, DocumentModel::save);
        let mut config = ordered[0].config.clone();
        config.shard = ordered.iter().map(|m| m.config.shard).min().unwrap_or(0);
        let pipelines: Vec<&TextPipeline> = ordered.iter().map(|m| &m.pipeline).collect();
        let (pipeline, numbers) =
            TextPipeline::merge(&pipelines).map_err(|error| MergeError::Unsupported { reason: error.to_string() })?;
        let n_words = pipeline.vocabulary().len();
        let body = match &ordered[0].body {
            Body::TopicsMmHdp(_) => {
                let parts: Vec<MmHdp> = ordered
                    .iter()
                    .zip(&numbers)
                    .filter_map(|(model, numbers)| match &model.body {
                        Body::TopicsMmHdp(learner) => Some(learner.renumbered(numbers, n_words)),
                        _ => None,
                    })
                    .collect();
                Body::TopicsMmHdp(Box::new(MmHdp::merged(parts.iter(), config.shard)))
            }
            Body::NaiveBayesBmm(_) | Body::LdaBmm(_) | Body::NaiveBayesEm(_) | Body::NaiveBayesVbDp(_) => {
                return Err(MergeError::Unsupported {
                    reason: format!(
                        "{} is for comparison and cannot be merged; fit topics/mm-hdp instead",
                        config.kind
                    ),
                });
            }
        };
        Ok(DocumentModel { config, pipeline, body, buffer: DocumentBuffer::new() })
    }

    fn check_mergeable(&self, other: &DocumentModel) -> Result<(), MergeError> {
        let differ =
            |what: &str, first: String, other: String| Err(MergeError::Differ { what: what.to_string(), first, other });
        let (a, b) = (&self.config, &other.config);
        if a.kind != b.kind {
            return differ("kind", a.kind.to_string(), b.kind.to_string());
        }
        let (ours, theirs) = (a.settings.list(a.kind), b.settings.list(b.kind));
        match ours.into_iter().zip(theirs).find(|(one, two)| one != two) {
            Some(((name, one), (_, two))) => differ(&format!("the setting {name}"), one, two),
            None => Ok(()),
        }
    }
}
