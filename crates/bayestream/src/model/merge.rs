//! Models of disjoint shards of one stream, combined.

use super::{Body, MergeError, Model, Variant};
use crate::engine::bmm::MomentMatcher;
use crate::engine::dp::DirichletMixture;
use crate::engine::ofab::Ofab;
use crate::engine::vb::Vb;
use crate::outlier::{Watch, WatchWork};

fn paper_is_not_merged() -> MergeError {
    MergeError::Unsupported {
        reason: "variant=paper is for reproduction and cannot be merged; fit with variant=default".into(),
    }
}

/// The same order in whichever order the models are given, so that the result does not depend on it.
pub(super) fn in_canonical_order<M>(models: &[M], bytes: impl Fn(&M) -> Vec<u8>) -> Vec<&M> {
    let mut order: Vec<(Vec<u8>, &M)> = models.iter().map(|model| (bytes(model), model)).collect();
    order.sort_by(|a, b| a.0.cmp(&b.0));
    order.into_iter().map(|(_, model)| model).collect()
}

impl Model {
    /// Combines models of disjoint shards of one stream. The order in which they are given does not matter, to the bit.
    pub fn merge(models: &[Model]) -> Result<Model, MergeError> {
        let Some(first) = models.first() else {
            return Err(MergeError::Nothing);
        };
        for other in &models[1..] {
            first.check_mergeable(other)?;
        }
        if models.len() == 1 {
            return Ok(first.clone());
        }
        let ordered = in_canonical_order(models, Model::save);
        let mut config = ordered[0].config.clone();
        config.shard = ordered.iter().map(|m| m.config.shard).min().unwrap_or(0);
        macro_rules! merged_box {
            ($variant:ident, $learner:ident) => {
                Body::$variant(Box::new($learner::merged(
                    ordered.iter().filter_map(|m| match &m.body {
                        Body::$variant(learner) => Some(learner.as_ref()),
                        _ => None,
                    }),
                    config.shard,
                )))
            };
        }
        macro_rules! merged {
            ($variant:ident, $learner:ident) => {
                Body::$variant($learner::merged(
                    ordered.iter().filter_map(|m| match &m.body {
                        Body::$variant(learner) => Some(learner),
                        _ => None,
                    }),
                    config.shard,
                ))
            };
        }
        let body = match &ordered[0].body {
            Body::GmmOfab(_) => merged!(GmmOfab, Ofab),
            Body::MppcaOfab(_) => merged!(MppcaOfab, Ofab),
            Body::GmmSvb(_) => merged!(GmmSvb, Vb),
            Body::MppcaSvb(_) => merged!(MppcaSvb, Vb),
            Body::GmmStrust(_) => merged!(GmmStrust, Vb),
            Body::MppcaStrust(_) => merged!(MppcaStrust, Vb),
            Body::GmmSdaDp(_) => merged!(GmmSdaDp, Vb),
            Body::MppcaSdaDp(_) => merged!(MppcaSdaDp, Vb),
            Body::Dirichlet(_) => merged_box!(Dirichlet, DirichletMixture),
            Body::Gaussian1dBmm(_) | Body::GmmBmm(_) if config.settings.variant == Variant::Paper => {
                return Err(paper_is_not_merged());
            }
            Body::Gaussian1dBmm(_) => merged_box!(Gaussian1dBmm, MomentMatcher),
            Body::GmmBmm(_) => merged_box!(GmmBmm, MomentMatcher),
            Body::GmmPaper(_) | Body::MppcaPaper(_) => {
                return Err(paper_is_not_merged());
            }
            Body::GmmFab(_) | Body::MppcaFab(_) => {
                return Err(MergeError::Unsupported {
                    reason: format!("{} is a batch kind: fit it once on all rows instead", config.kind),
                });
            }
        };
        let watches: Vec<&Watch> = ordered.iter().filter_map(|m| m.watch.as_ref()).collect();
        let mut work = WatchWork::default();
        let watch = Watch::joined(&watches).map(|mut watch| {
            // Each shard scored by a model of its own; what is usual for this one is told by the rows it holds.
            watch.rank_recent_rows(body.learner(), &mut work);
            watch
        });
        Ok(Model { config, body, watch, work })
    }

    fn check_mergeable(&self, other: &Model) -> Result<(), MergeError> {
        let differ =
            |what: &str, first: String, other: String| Err(MergeError::Differ { what: what.to_string(), first, other });
        if self.config.kind != other.config.kind {
            return differ("kind", self.config.kind.to_string(), other.config.kind.to_string());
        }
        if self.config.columns != other.config.columns {
            return differ("columns", self.config.columns.join(","), other.config.columns.join(","));
        }
        let (ours, theirs) =
            (self.config.settings.list(self.config.kind), other.config.settings.list(other.config.kind));
        match ours.iter().zip(&theirs).find(|(a, b)| a != b) {
            Some((a, b)) => differ(&format!("the setting `{}`", a.0), a.1.clone(), b.1.clone()),
            None => Ok(()),
        }
    }
}
