//! Shares of topics in documents that are not learnt.

use super::TopicSettings;
use super::export::View;
use super::master::Master;
use crate::data::Documents;
use crate::num::{self, TOPIC_LANES};
use crate::structure::DocumentScores;

/// Rounds of a fold-in: shares change by less than a thousandth after them.
const ROUNDS: usize = 30;

impl View {
    /// Scores documents by all topics of the master; shares of those not shown are divided among the others.
    pub fn score(
        &self,
        settings: &TopicSettings,
        master: Option<&Master>,
        documents: &Documents<'_>,
    ) -> DocumentScores {
        let mut scores =
            DocumentScores { topics: self.topics.iter().map(|topic| topic.id).collect(), ..DocumentScores::default() };
        let reader = master.or(self.early.as_ref()).filter(|master| master.k > 0).map(|m| Reader::new(m, settings));
        for (words, counts) in documents.iter() {
            scores.n_tokens.push(counts.iter().map(|count| u64::from(*count)).sum());
            let theta = reader.as_ref().map(|reader| reader.read(words, counts));
            scores.log_likelihood.push(theta.as_ref().map_or(0.0, |(_, log_likelihood)| *log_likelihood));
            let at = scores.shares.len();
            scores.shares.resize(at + self.topics.len(), 0.0);
            let shares = &mut scores.shares[at..];
            for (place, share) in self.place.iter().zip(theta.iter().flat_map(|(theta, _)| theta)) {
                if let Some(place) = place {
                    shares[*place] += share;
                }
            }
            let shown: f32 = shares.iter().sum();
            for (share, topic) in shares.iter_mut().zip(&self.topics) {
                *share = if shown > 0.0 { *share / shown } else { topic.weight as f32 };
            }
        }
        scores
    }
}

/// The master's topics, ready to explain documents.
struct Reader<'a> {
    master: &'a Master,
    alpha: Vec<f32>,
    /// What to multiply a row's entries with.
    scale: Vec<f32>,
}

impl<'a> Reader<'a> {
    fn new(master: &'a Master, settings: &TopicSettings) -> Reader<'a> {
        let mut alpha: Vec<f32> = master.alpha(settings).iter().map(|a| *a as f32).collect();
        let mut scale: Vec<f32> =
            (0..master.k).map(|z| (f64::from(master.scale[z]) / master.excess(z)) as f32).collect();
        let width = master.k.next_multiple_of(TOPIC_LANES);
        alpha.resize(width, 0.0);
        scale.resize(width, 0.0);
        Reader { master, alpha, scale }
    }

    /// Shares of the master's topics, and the log-probability of the words under them.
    fn read(&self, words: &[u32], counts: &[u32]) -> (Vec<f32>, f64) {
        let (master, width) = (self.master, self.alpha.len());
        let mut rows = Vec::with_capacity(words.len() * width);
        for word in words {
            let from = *word as usize * master.stride;
            let row = master.rows.get(from..from + width).unwrap_or(&master.unseen[..width]);
            rows.extend(row.iter().zip(&self.scale).map(|(entry, scale)| entry * scale));
        }
        let counts: Vec<f32> = counts.iter().map(|count| *count as f32).collect();
        let mut theta = vec![0.0; width];
        num::fold_in(&rows, &counts, &self.alpha, ROUNDS, &mut theta);
        let log_likelihood = rows
            .chunks_exact(width)
            .zip(&counts)
            .map(|(row, count)| f64::from(*count) * f64::from(num::dot_f32(row, &theta).max(f32::MIN_POSITIVE)).ln())
            .sum();
        theta.truncate(master.k);
        (theta, log_likelihood)
    }
}
