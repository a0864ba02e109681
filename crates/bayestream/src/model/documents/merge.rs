//! Models of disjoint parts of one stream of documents, combined.

use super::{Body, DocumentModel};
use crate::data::{DocumentBuffer, LabelNames};
use crate::engine::bayespa::MedTopics;
use crate::engine::bmm::{LdaBmm, NaiveBayesBmm};
use crate::engine::topics::MmHdp;
use crate::model::merge::in_canonical_order;
use crate::model::{MergeError, Variant};
use crate::text::TextPipeline;

/// The learners of one kind, each with the new numbers of its words.
fn learners<'a, T>(
    models: &[&'a DocumentModel],
    numbers: &'a [Vec<Option<u32>>],
    pick: impl Fn(&'a Body) -> Option<&'a T>,
) -> Vec<(&'a T, &'a [Option<u32>])> {
    let each = models.iter().zip(numbers);
    each.filter_map(|(model, numbers)| Some((pick(&model.body)?, numbers.as_slice()))).collect()
}

fn unsupported(reason: String) -> Result<DocumentModel, MergeError> {
    Err(MergeError::Unsupported { reason })
}

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
        let mut labels = LabelNames::default();
        let label_numbers: Vec<Vec<u32>> =
            ordered.iter().map(|m| m.labels.names().iter().map(|name| labels.number(name)).collect()).collect();
        if labels.len() > config.settings.max_labels {
            let most = config.settings.max_labels;
            return unsupported(format!(
                "together they have {} labels, and may have {most} (max-labels)",
                labels.len()
            ));
        }
        let body = match &ordered[0].body {
            Body::TopicsMmHdp(_) => {
                let parts = learners(&ordered, &numbers, |body| match body {
                    Body::TopicsMmHdp(learner) => Some(learner.as_ref()),
                    _ => None,
                });
                let parts: Vec<MmHdp> = parts.iter().map(|(part, numbers)| part.renumbered(numbers, n_words)).collect();
                Body::TopicsMmHdp(Box::new(MmHdp::merged(parts.iter(), config.shard)))
            }
            Body::NaiveBayesBmm(_) | Body::LdaBmm(_) if config.settings.moments.variant == Variant::Paper => {
                return unsupported("the paper's algorithm has no merging; leave variant=paper out".into());
            }
            Body::NaiveBayesBmm(_) => {
                let parts = learners(&ordered, &numbers, |body| match body {
                    Body::NaiveBayesBmm(learner) => Some(learner.as_ref()),
                    _ => None,
                });
                Body::NaiveBayesBmm(Box::new(NaiveBayesBmm::merged(&parts, n_words, config.shard)))
            }
            Body::LdaBmm(_) => {
                let parts = learners(&ordered, &numbers, |body| match body {
                    Body::LdaBmm(learner) => Some(learner.as_ref()),
                    _ => None,
                });
                Body::LdaBmm(Box::new(LdaBmm::merged(&parts, n_words, config.shard)))
            }
            Body::Med(first) => {
                if let Some(reason) = first.settings().why_not_merged() {
                    return unsupported(reason);
                }
                let parts = learners(&ordered, &numbers, |body| match body {
                    Body::Med(learner) => Some(learner.as_ref()),
                    _ => None,
                });
                Body::Med(Box::new(MedTopics::merged(&parts, &label_numbers, n_words, config.shard)))
            }
            Body::NaiveBayesEm(_) | Body::NaiveBayesVbDp(_) => {
                return unsupported(format!(
                    "{} is for comparison and cannot be merged; fit naive-bayes/bmm instead",
                    config.kind
                ));
            }
            Body::Svi(_) => {
                return unsupported(format!(
                    "{} has no rule for topics of shards, which are in no common order; fit topics/mm-hdp instead",
                    config.kind
                ));
            }
        };
        Ok(DocumentModel { config, pipeline, labels, body, buffer: DocumentBuffer::new() })
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
