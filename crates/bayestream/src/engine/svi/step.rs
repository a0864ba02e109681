//! One mini-batch: foretold, explained by a local step, learnt by the global one.

use super::batch::{Assigned, MiniBatch};
use super::master::{Lambda, Master};
use super::settings::SviSettings;
use super::{gibbs, growing, variational};
use crate::data::Documents;
use crate::engine::parts::Sticks;
use crate::num::{self, TOPIC_LANES};
use crate::structure::ComponentId;
use serde::{Deserialize, Serialize};

/// Fewer words than this are none.
const EMPTY: f64 = 0.5;
/// The streams of random numbers that the documents of a mini-batch share lie above those of all shards' documents.
const SHARED: u64 = 1 << 32;

/// How the topics of a document's words are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    /// Mean-field shares: stochastic variational inference for latent Dirichlet allocation.
    Variational,
    /// Gibbs sampling: sparse stochastic inference for latent Dirichlet allocation.
    Gibbs,
    /// Gibbs sampling with new topics: truncation-free online inference for the hierarchical Dirichlet process.
    Growing,
}

/// What a learner is told at the beginning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Plan {
    pub method: Method,
    pub settings: SviSettings,
    pub seed: u64,
    pub shard: u32,
}

/// What a mini-batch did.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// Log-probability of each document's words before they were learnt, and their number.
    pub foretold: Vec<(f64, u64)>,
    /// Words that each topic explains.
    pub words: Vec<(ComponentId, f64)>,
    pub born: Vec<ComponentId>,
    pub died: Vec<ComponentId>,
}

impl Plan {
    /// Weights of the topics in a document of which nothing is known, padded to `width`.
    pub fn alpha(&self, master: &Master, width: usize) -> Vec<f32> {
        let k = master.k();
        let mut alpha: Vec<f32> = match self.method {
            Method::Variational | Method::Gibbs => vec![self.settings.alpha as f32; k],
            Method::Growing => {
                let d = self.settings.documents(master.n_learnt);
                let tables: Vec<f64> = master.tables.iter().map(|s| d * s).collect();
                let shares = Sticks::of_tables(&tables, self.settings.gamma).expected().0;
                shares.iter().map(|share| ((self.settings.alpha * share) as f32).max(f32::MIN_POSITIVE)).collect()
            }
        };
        alpha.resize(width, 0.0);
        alpha
    }

    /// Learns documents, each of which has words; `part` is how much of a mini-batch they are.
    ///
    /// Less than a whole mini-batch moves topics by so much less: this is for looks at a learner that waits for the rest.
    pub fn step(&self, master: &mut Master, documents: Documents<'_>, part: f64) -> Outcome {
        let batch = MiniBatch::new(documents);
        master.grow(batch.n_words());
        let first = master.n_steps == 0;
        let mut outcome = Outcome::default();
        if !first {
            outcome.foretold = self.foretell(master, &batch);
        }
        let rho = if first { 1.0 } else { part * self.settings.rate(master.n_steps + 1) };
        let k = master.k();
        let (statistics, width, tables) = match self.method {
            Method::Variational | Method::Gibbs => {
                let width = k.next_multiple_of(TOPIC_LANES);
                (self.explain(master, &batch, width, rho), width, Vec::new())
            }
            Method::Growing => {
                let mut rng = self.shared_stream(master);
                let stream = |at: usize| self.document_stream(master, at);
                let grown = growing::sweep(&batch, master, &self.settings, rho, stream, &mut rng);
                for _ in k..grown.tables.len() {
                    outcome.born.push(master.open(self.shard));
                }
                (grown.statistics, grown.width, grown.tables)
            }
        };
        if first {
            outcome.born = master.ids.clone();
        }
        master.learn(&batch, &statistics, width, &tables, rho);
        outcome.words = master.ids.iter().copied().zip(column_sums(&statistics, width)).collect();
        if self.method == Method::Growing {
            outcome.died = self.prune(master);
            outcome.born.retain(|id| !outcome.died.contains(id));
            let (words, died) = (&mut outcome.words, &outcome.died);
            words.retain(|(id, _)| !died.contains(id));
        }
        outcome
    }

    /// Words of each topic by the local step, the topics fitted to the mini-batch as often as the settings say.
    fn explain(&self, master: &Master, batch: &MiniBatch<'_>, width: usize, rho: f64) -> Vec<f32> {
        let (k, alpha) = (master.k(), self.alpha(master, width));
        let mut assigned = None;
        let mut statistics: Option<Vec<f32>> = None;
        for _ in 0..self.settings.rounds_of(master.n_steps + 1) {
            let lambda = match &statistics {
                None if master.n_steps == 0 => Lambda::start(batch, k, width, &mut self.shared_stream(master)),
                latest => {
                    let step = latest.as_ref().map(|latest| (latest.as_slice(), rho));
                    master.lambda(&self.settings, batch, step, k, width)
                }
            };
            let weights = lambda.expected_logs();
            let mut next = vec![0.0; weights.len()];
            match self.method {
                Method::Variational => variational::expect(batch, &weights, &alpha, &mut next),
                Method::Gibbs | Method::Growing => {
                    let stream = |at: usize| self.document_stream(master, at);
                    let assigned = assigned.get_or_insert_with(|| Assigned::new(batch, width, stream));
                    gibbs::sweep(assigned, &self.settings, &weights, &alpha, &mut next);
                }
            }
            statistics = Some(next);
        }
        statistics.unwrap_or_default()
    }

    /// Log-probability of each document's words, each word given those before it.
    fn foretell(&self, master: &Master, batch: &MiniBatch<'_>) -> Vec<(f64, u64)> {
        let width = master.k().next_multiple_of(TOPIC_LANES);
        let rows = master.means(&self.settings, &batch.words, width);
        let prior = self.alpha(master, width);
        let one = |document: usize| {
            let tokens = batch.tokens(document, &mut self.document_stream(master, document));
            let n: u64 = batch.get(document).1.iter().map(|n| u64::from(*n)).sum();
            (num::foretell(&rows, &tokens, &mut prior.clone()), n)
        };
        (0..batch.len()).map(one).collect()
    }

    /// Lets go of topics without words; those there were at first stay, since they would be missed in small mini-batches.
    fn prune(&self, master: &mut Master) -> Vec<ComponentId> {
        let wanted: Vec<bool> = (0..master.k())
            .map(|z| {
                (master.ids[z].serial as usize) < self.settings.n_topics || master.words_of(&self.settings, z) >= EMPTY
            })
            .collect();
        let died = master.ids.iter().zip(&wanted).filter(|(_, wanted)| !**wanted).map(|(id, _)| *id).collect();
        if wanted.contains(&false) {
            master.retain(&wanted);
        }
        died
    }

    fn document_stream(&self, master: &Master, document: usize) -> num::Rng {
        num::stream(self.seed, u64::from(self.shard), master.n_learnt + document as u64)
    }

    fn shared_stream(&self, master: &Master) -> num::Rng {
        num::stream(self.seed, SHARED + u64::from(self.shard), master.n_steps)
    }
}

fn column_sums(rows: &[f32], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    for row in rows.chunks_exact(width) {
        sums.iter_mut().zip(row).for_each(|(sum, n)| *sum += f64::from(*n));
    }
    sums
}
