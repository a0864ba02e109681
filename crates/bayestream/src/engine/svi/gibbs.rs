//! The local step of Mimno, Hoffman and Blei (2012): topics of words drawn with the shares of topics integrated out.
//!
//! p(z) ∝ (α + C_z) exp E ln φ_z(w), with the topics as they were before the mini-batch, so that documents do not depend on
//! each other. Draws give a word to few topics, and the global step touches those only.
//!
//! Deviates: every topic is weighed for every draw, side by side in vector instructions, where the paper looks at those only
//! that have the word; rows of words are too full for that to pay below some two hundred topics.

use super::batch::Assigned;
use super::settings::SviSettings;
use crate::num::{self, TopicDraws};

/// Sweeps over all documents; adds the mean counts of the sweeps that count to `statistics`.
pub(super) fn sweep(
    assigned: &mut Assigned,
    settings: &SviSettings,
    weights: &[f32],
    alpha: &[f32],
    statistics: &mut [f32],
) {
    let share = 1.0 / settings.sweeps as f32;
    let mut joint = Vec::new();
    for sweep in 0..settings.burn_in + settings.sweeps {
        for document in &mut assigned.documents {
            let draws = TopicDraws {
                rows: weights,
                tokens: &document.tokens,
                topics: &mut document.topics,
                prior: alpha,
                counts: &mut document.counts,
                own: &[],
            };
            num::draw_topics(draws, &mut document.rng, &mut joint);
        }
        if sweep >= settings.burn_in {
            assigned.add_to(statistics, alpha.len(), share);
        }
    }
}
