//! The local step of the truncation-free hierarchical Dirichlet process (Wang and Blei 2012): topics of words drawn with
//! shares integrated out, among them topics that were not there before.
//!
//! p(z) ∝ (α π_z + C_z) E φ_z(w) for the topics there are, α (1 − Σ π) / W for one that is not. After each sweep every
//! document's words are seated at tables, and π is drawn anew by sticks whose posterior has the stream's tables and these.
//!
//! Deviates: documents of a mini-batch must not depend on each other within a sweep, so that each can be drawn by itself.
//! Therefore topics and π stay as they are during a sweep, with the words that all documents gave them in the sweep before
//! (a word's own part taken out when it is drawn), where the paper updates them word by word; and one open topic is offered
//! to all documents in each sweep, which becomes a topic after it if any document has used it.
//!
//! Deviates: E φ in place of exp E ln φ, so that a word's own part can be taken out exactly; no difference was measurable
//! in accuracy.

use super::batch::{Assigned, MiniBatch};
use super::master::Master;
use super::settings::SviSettings;
use crate::engine::parts::{Sticks, beta, tables};
use crate::num::{self, Rng, TOPIC_LANES, TopicDraws};

/// Topics that one mini-batch may open.
const MOST_NEW: usize = 15;

/// What a mini-batch says.
pub(super) struct Grown {
    /// Words of each topic, in rows of `width`.
    pub statistics: Vec<f32>,
    pub width: usize,
    /// Tables of each topic, those opened included.
    pub tables: Vec<f64>,
}

/// The sampler of one mini-batch.
struct Sampler<'a> {
    batch: &'a MiniBatch<'a>,
    master: &'a Master,
    settings: &'a SviSettings,
    rho: f64,
    n_topics: usize,
    most_topics: usize,
    width: usize,
    /// Shares of the topics in the stream, and what is left for others.
    shares: (Vec<f64>, f64),
}

/// Sweeps over a mini-batch; `rng` is for what its documents share.
pub(super) fn sweep(
    batch: &MiniBatch<'_>,
    master: &Master,
    settings: &SviSettings,
    rho: f64,
    stream: impl Fn(usize) -> Rng,
    rng: &mut Rng,
) -> Grown {
    let k = master.k();
    let most_topics = (k + MOST_NEW).min(settings.max_topics.max(k));
    let width = (most_topics + 1).next_multiple_of(TOPIC_LANES);
    let mut assigned = Assigned::new(batch, width, stream);
    let mut sampler =
        Sampler { batch, master, settings, rho, n_topics: k, most_topics, width, shares: (Vec::new(), 1.0) };
    let size = batch.words.len() * width;
    let (mut latest, mut mean) = (None, vec![0.0; size]);
    if master.n_steps == 0 {
        scatter(&mut assigned, k);
        let mut counts = vec![0.0; size];
        assigned.add_to(&mut counts, width, 1.0);
        latest = Some(counts);
    }
    sampler.shares = sampler.sticks(&[]).drawn(rng);
    let n_sweeps = settings.rounds_of(master.n_steps + 1) * (settings.burn_in + settings.sweeps);
    let mut mean_tables = vec![0.0; most_topics];
    for sweep in 0..n_sweeps {
        sampler.draw(&mut assigned, latest.as_deref());
        let counts = latest.get_or_insert_with(Vec::new);
        counts.clear();
        counts.resize(size, 0.0);
        assigned.add_to(counts, width, 1.0);
        sampler.open_if_used(&assigned, rng);
        let seated = sampler.seat(&mut assigned);
        sampler.shares = sampler.sticks(&seated).drawn(rng);
        if sweep >= n_sweeps - settings.sweeps {
            let share = 1.0 / settings.sweeps as f32;
            mean.iter_mut().zip(counts.iter()).for_each(|(mean, n)| *mean += share * n);
            mean_tables.iter_mut().zip(&seated).for_each(|(mean, n)| *mean += f64::from(share) * n);
        }
    }
    mean_tables.truncate(sampler.n_topics);
    Grown { statistics: mean, width, tables: mean_tables }
}

/// Gives every word a topic at random.
fn scatter(assigned: &mut Assigned, k: usize) {
    for document in &mut assigned.documents {
        for ((_, repeats), topic) in document.tokens.iter().zip(&mut document.topics) {
            let z = document.rng.below(k);
            *topic = z as u32;
            document.counts[z] += repeats;
        }
    }
}

impl Sampler<'_> {
    /// Posterior of the sticks after a step by these tables; as it was without any.
    fn sticks(&self, seated: &[f64]) -> Sticks {
        let (k, n) = (self.n_topics, self.batch.len() as u64);
        let rho = if seated.is_empty() { 0.0 } else { self.rho };
        let d = self.settings.documents(self.master.n_learnt + if seated.is_empty() { 0 } else { n });
        let of = |z: usize| {
            let old = self.master.tables.get(z).copied().unwrap_or(0.0);
            let new = seated.get(z).copied().unwrap_or(0.0) / n as f64;
            d * ((1.0 - rho) * old + rho * new)
        };
        let tables: Vec<f64> = (0..k).map(of).collect();
        Sticks::of_tables(&tables, self.settings.gamma)
    }

    /// One sweep over all documents, with the words that topics have after the sweep before.
    fn draw(&self, assigned: &mut Assigned, latest: Option<&[f32]>) {
        let Sampler { batch, master, settings, rho, n_topics, width, .. } = *self;
        let step = latest.map(|counts| (counts, rho));
        let lambda = master.lambda(settings, batch, step, n_topics, width);
        let mut rows = lambda.means();
        let mut prior = vec![0.0; width];
        for (prior, share) in prior.iter_mut().zip(&self.shares.0) {
            *prior = (settings.alpha * share) as f32;
        }
        if n_topics < self.most_topics {
            let even = 1.0 / master.n_words() as f32;
            rows.iter_mut().skip(n_topics).step_by(width).for_each(|entry| *entry = even);
            prior[n_topics] = (settings.alpha * self.shares.1) as f32;
        }
        // Shares that rounding made zero must not leave a word without any topic.
        prior[..n_topics].iter_mut().for_each(|prior| *prior = prior.max(f32::MIN_POSITIVE));
        let mut own = Vec::new();
        if latest.is_some() {
            let gain = settings.documents(master.n_learnt + batch.len() as u64) * rho / batch.len() as f64;
            own = lambda.totals.iter().map(|total| (gain / total) as f32).collect();
            own.resize(width, 0.0);
        }
        let mut joint = Vec::new();
        for document in &mut assigned.documents {
            let draws = TopicDraws {
                rows: &rows,
                tokens: &document.tokens,
                topics: &mut document.topics,
                prior: &prior,
                counts: &mut document.counts,
                own: &own,
            };
            num::draw_topics(draws, &mut document.rng, &mut joint);
        }
    }

    /// The open topic is a topic if a word was given to it.
    fn open_if_used(&mut self, assigned: &Assigned, rng: &mut Rng) {
        let open = self.n_topics;
        if open < self.most_topics && assigned.documents.iter().any(|document| document.counts[open] > 0.0) {
            let share = self.shares.1 * beta(1.0, self.settings.gamma, rng);
            self.shares.0.push(share);
            self.shares.1 -= share;
            self.n_topics += 1;
        }
    }

    /// Tables of each topic over all documents.
    fn seat(&self, assigned: &mut Assigned) -> Vec<f64> {
        let mut seated = vec![0.0; self.n_topics];
        for document in &mut assigned.documents {
            for (z, sum) in seated.iter_mut().enumerate().filter(|(z, _)| document.counts[*z] > 0.0) {
                *sum += tables(document.counts[z], self.settings.alpha * self.shares.0[z], &mut document.rng);
            }
        }
        seated
    }
}
