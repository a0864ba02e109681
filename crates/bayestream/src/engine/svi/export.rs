//! What others see: the topics, and documents scored by them.

use super::master::Master;
use super::step::Plan;
use super::{AllTopics, SviTopics};
use crate::data::Documents;
use crate::engine::readout::Weights;
use crate::num::{self, TOPIC_LANES};
use crate::structure::{DocumentScores, Topic};
use std::sync::OnceLock;

/// Rounds of a fold-in: shares change by less than a thousandth after them.
const ROUNDS: usize = 30;

/// What others see of a learner, made once and kept until it learns again.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// The model with the documents that wait for the rest of their mini-batch; none if there are none.
    caught_up: Option<Master>,
    pub topics: Vec<Topic>,
    /// The topic of the master that each of `topics` is.
    order: Vec<usize>,
    labels: OnceLock<Weights>,
}

impl SviTopics {
    pub(super) fn view(&self) -> &View {
        self.view.get_or_init(|| {
            let caught_up = (!self.held.is_empty()).then(|| {
                let mut master = self.master.clone();
                let part = self.held.len() as f64 / self.plan.settings.batch_size as f64;
                self.plan.step(&mut master, self.held.documents(), part);
                master
            });
            let master = caught_up.as_ref().unwrap_or(&self.master);
            let total: f64 = master.totals.iter().sum();
            let mut order: Vec<usize> = (0..master.k()).filter(|z| master.totals[*z] > 0.0).collect();
            order.sort_by(|a, b| master.totals[*b].total_cmp(&master.totals[*a]).then(a.cmp(b)));
            let mut words = self.distributions(master, master.n_words());
            let topic = |z: &usize| {
                let id = master.ids[*z];
                Topic {
                    id,
                    members: vec![id],
                    weight: master.totals[*z] / total,
                    trend: self.history.trend(&[id]),
                    born: self.history.began(&[id]).unwrap_or(1),
                    words: std::mem::take(&mut words[*z]),
                }
            };
            let topics = order.iter().map(topic).collect();
            View { caught_up, topics, order, labels: OnceLock::new() }
        })
    }

    fn distributions(&self, master: &Master, n_words: usize) -> Vec<Vec<f32>> {
        let width = master.k();
        let numbers: Vec<u32> = (0..n_words as u32).collect();
        let rows = master.means(&self.plan.settings, &numbers, width);
        (0..width).map(|z| rows.iter().skip(z).step_by(width).copied().collect()).collect()
    }

    /// Every topic over words with numbers below `n_words`, for measurements that want all of them.
    pub fn all_topics(&self, n_words: usize) -> AllTopics {
        let master = self.view().caught_up.as_ref().unwrap_or(&self.master);
        let total: f64 = master.totals.iter().sum();
        AllTopics {
            alpha: self.plan.alpha(master, master.k()).iter().map(|a| f64::from(*a)).collect(),
            weights: master.totals.iter().map(|s| s / total).collect(),
            words: self.distributions(master, n_words),
        }
    }

    pub(super) fn scored(&self, documents: &Documents<'_>) -> DocumentScores {
        let view = self.view();
        let master = view.caught_up.as_ref().unwrap_or(&self.master);
        let mut scores =
            DocumentScores { topics: view.topics.iter().map(|topic| topic.id).collect(), ..DocumentScores::default() };
        let reader = (!view.order.is_empty()).then(|| Reader::new(&self.plan, master));
        let labels = reader.as_ref().filter(|_| self.readout.n_labels() > 0).map(|reader| {
            view.labels.get_or_init(|| self.readout.fit(|kept| reader.all_shares(kept), self.readout.n_labels()))
        });
        scores.n_labels = self.readout.n_labels();
        for (words, counts) in documents.iter() {
            scores.n_tokens.push(counts.iter().map(|count| u64::from(*count)).sum());
            let Some(reader) = &reader else {
                scores.log_likelihood.push(0.0);
                // Without topics nothing speaks for one label or another.
                scores.margins.resize(scores.margins.len() + scores.n_labels, 0.0);
                continue;
            };
            let (theta, log_likelihood) = reader.read(words, counts);
            scores.log_likelihood.push(log_likelihood);
            let shown: f32 = view.order.iter().map(|z| theta[*z]).sum();
            scores.shares.extend(view.order.iter().map(|z| theta[*z] / shown));
            if let Some(labels) = labels {
                labels.margins(&theta, &mut scores.margins);
            }
        }
        scores
    }
}

/// The master's topics, ready to explain documents.
struct Reader<'a> {
    plan: &'a Plan,
    master: &'a Master,
    alpha: Vec<f32>,
}

impl<'a> Reader<'a> {
    fn new(plan: &'a Plan, master: &'a Master) -> Reader<'a> {
        let width = master.k().next_multiple_of(TOPIC_LANES);
        Reader { plan, master, alpha: plan.alpha(master, width) }
    }

    /// Shares of the master's topics, and the log-probability of the words under them.
    fn read(&self, words: &[u32], counts: &[u32]) -> (Vec<f32>, f64) {
        let width = self.alpha.len();
        let rows = self.master.means(&self.plan.settings, words, width);
        let counts: Vec<f32> = counts.iter().map(|count| *count as f32).collect();
        let mut theta = vec![0.0; width];
        num::fold_in(&rows, &counts, &self.alpha, ROUNDS, &mut theta);
        let log = |(row, count): (&[f32], &f32)| {
            f64::from(*count) * f64::from(num::dot_f32(row, &theta).max(f32::MIN_POSITIVE)).ln()
        };
        let log_likelihood = rows.chunks_exact(width).zip(&counts).map(log).sum();
        theta.truncate(self.master.k());
        (theta, log_likelihood)
    }

    /// Shares of the master's topics in many documents, one after the other.
    fn all_shares(&self, documents: &Documents<'_>) -> Vec<f32> {
        documents.iter().flat_map(|(words, counts)| self.read(words, counts).0).collect()
    }
}
