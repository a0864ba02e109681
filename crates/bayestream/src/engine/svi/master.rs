//! The master model, and the global step that all kinds of this folder share.
//!
//! Kept are mean statistics S per document, from which λ = η + D S. The step λ ← (1−ρ) λ + ρ (η + D/|B| ŝ) is then
//! S ← (1−ρ) S + ρ ŝ/|B|, whatever D is, and D may grow with the stream.

use super::batch::MiniBatch;
use super::settings::SviSettings;
use crate::num::{self, TOPIC_LANES};
use crate::structure::ComponentId;
use serde::{Deserialize, Serialize};

/// A scale below this is multiplied out: `f32` would run out of large numbers.
const LEAST_SCALE: f64 = 1e-9;
/// Weights of a word in topics are at least this part of the largest.
const LEAST_WEIGHT: f32 = 1e-15;

/// Topics and what is known of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Master {
    /// Mini-batches learnt.
    pub n_steps: u64,
    /// Documents with words learnt.
    pub n_learnt: u64,
    pub stride: usize,
    /// Of word w and topic z, `rows[w * stride + z] * scale` is the mean number per document.
    pub rows: Vec<f32>,
    pub scale: f64,
    /// Sums of `rows` over words.
    pub totals: Vec<f64>,
    /// Mean tables of each topic per document; zero where shares of topics have no posterior.
    pub tables: Vec<f64>,
    pub ids: Vec<ComponentId>,
    pub next_serial: u32,
}

/// λ of the words of a mini-batch, in rows of `width`, and its sums over all words.
pub(super) struct Lambda {
    pub width: usize,
    pub n_topics: usize,
    pub rows: Vec<f64>,
    pub totals: Vec<f64>,
}

impl Master {
    pub fn new(n_topics: usize, shard: u32) -> Master {
        let mut master = Master {
            n_steps: 0,
            n_learnt: 0,
            stride: TOPIC_LANES,
            rows: Vec::new(),
            scale: 1.0,
            totals: Vec::new(),
            tables: Vec::new(),
            ids: Vec::new(),
            next_serial: 0,
        };
        for _ in 0..n_topics {
            master.open(shard);
        }
        master
    }

    /// A further topic, without words.
    pub fn open(&mut self, shard: u32) -> ComponentId {
        let id = ComponentId { shard, serial: self.next_serial };
        self.next_serial = self.next_serial.wrapping_add(1);
        self.widen(self.k() + 1);
        self.totals.push(0.0);
        self.tables.push(0.0);
        self.ids.push(id);
        id
    }

    /// Topics.
    pub fn k(&self) -> usize {
        self.ids.len()
    }

    /// Words so far.
    pub fn n_words(&self) -> usize {
        self.rows.len() / self.stride
    }

    /// Gives every word below `n_words` a row.
    pub fn grow(&mut self, n_words: usize) {
        self.rows.resize(n_words.max(self.n_words()) * self.stride, 0.0);
    }

    /// Makes rows as long as so many topics need.
    fn widen(&mut self, n_topics: usize) {
        let stride = n_topics.max(1).next_multiple_of(TOPIC_LANES);
        if stride == self.stride {
            return;
        }
        let both = stride.min(self.stride);
        let mut rows = vec![0.0; self.n_words() * stride];
        for (new, old) in rows.chunks_exact_mut(stride).zip(self.rows.chunks_exact(self.stride)) {
            new[..both].copy_from_slice(&old[..both]);
        }
        (self.rows, self.stride) = (rows, stride);
    }

    /// λ of a mini-batch's words after a step of size `rho` by `statistics`, in rows of `width`; as it is without one. Topics
    /// beyond ours have what the statistics give them.
    pub fn lambda(
        &self,
        settings: &SviSettings,
        batch: &MiniBatch<'_>,
        step: Option<(&[f32], f64)>,
        n_topics: usize,
        width: usize,
    ) -> Lambda {
        let n_after = self.n_learnt + if step.is_some() { batch.len() as u64 } else { 0 };
        let d = settings.documents(n_after);
        let rho = step.map_or(0.0, |(_, rho)| rho);
        let (keep, gain) = (d * (1.0 - rho) * self.scale, d * rho / batch.len() as f64);
        let mut rows = vec![0.0; batch.words.len() * width];
        for (row, word) in rows.chunks_exact_mut(width).zip(&batch.words) {
            row[..n_topics].fill(settings.eta);
            let from = *word as usize * self.stride;
            let old = self.rows.get(from..from + self.k()).unwrap_or(&[]);
            row.iter_mut().zip(old).for_each(|(lambda, s)| *lambda += keep * f64::from(*s));
        }
        let mut totals = vec![settings.eta * self.n_words() as f64; n_topics];
        totals.iter_mut().zip(&self.totals).for_each(|(total, s)| *total += keep * s);
        if let Some((statistics, _)) = step {
            for (row, gains) in rows.chunks_exact_mut(width).zip(statistics.chunks_exact(width)) {
                for z in 0..n_topics {
                    let more = gain * f64::from(gains[z]);
                    row[z] += more;
                    totals[z] += more;
                }
            }
        }
        Lambda { width, n_topics, rows, totals }
    }

    /// The global step. Statistics have rows of `width` for the words of the mini-batch; `tables` are sums over its documents.
    pub fn learn(&mut self, batch: &MiniBatch<'_>, statistics: &[f32], width: usize, tables: &[f64], rho: f64) {
        let per_document = rho / batch.len() as f64;
        match 1.0 - rho {
            keep if keep * self.scale > LEAST_SCALE => self.scale *= keep,
            keep => {
                let factor = (keep * self.scale) as f32;
                self.rows.iter_mut().for_each(|s| *s *= factor);
                self.totals.iter_mut().for_each(|s| *s *= f64::from(factor));
                self.scale = 1.0;
            }
        }
        let gain = per_document / self.scale;
        let k = self.k();
        for (gains, word) in statistics.chunks_exact(width).zip(&batch.words) {
            let row = &mut self.rows[*word as usize * self.stride..][..k];
            for z in 0..k {
                // Most topics have none of a word: leaving them alone keeps the step sparse.
                if gains[z] > 0.0 {
                    let more = (gain * f64::from(gains[z])) as f32;
                    row[z] += more;
                    self.totals[z] += f64::from(more);
                }
            }
        }
        for (mean, sum) in self.tables.iter_mut().zip(tables) {
            *mean = (1.0 - rho) * *mean + per_document * sum;
        }
        self.n_steps += 1;
        self.n_learnt += batch.len() as u64;
    }

    /// Lets go of what was learnt of a word.
    pub fn forget(&mut self, word: u32) {
        let (k, from) = (self.k(), word as usize * self.stride);
        if let Some(row) = self.rows.get_mut(from..from + k) {
            for (total, s) in self.totals.iter_mut().zip(row) {
                *total = (*total - f64::from(*s)).max(0.0);
                *s = 0.0;
            }
        }
    }

    /// Words in all documents of the stream that a topic explains.
    pub fn words_of(&self, settings: &SviSettings, z: usize) -> f64 {
        settings.documents(self.n_learnt) * self.scale * self.totals[z]
    }

    /// Lets topics go that are not wanted.
    pub fn retain(&mut self, wanted: &[bool]) {
        let kept: Vec<usize> = (0..self.k()).filter(|z| wanted[*z]).collect();
        for row in self.rows.chunks_exact_mut(self.stride) {
            kept.iter().enumerate().for_each(|(to, from)| row[to] = row[*from]);
            row[kept.len()..].fill(0.0);
        }
        self.totals = kept.iter().map(|z| self.totals[*z]).collect();
        self.tables = kept.iter().map(|z| self.tables[*z]).collect();
        self.ids = kept.iter().map(|z| self.ids[*z]).collect();
        self.widen(kept.len());
    }

    /// E φ of words with these numbers in all topics, in rows of `width`.
    pub fn means(&self, settings: &SviSettings, words: &[u32], width: usize) -> Vec<f32> {
        let d = settings.documents(self.n_learnt) * self.scale;
        let eta = settings.eta;
        let over: Vec<f64> = self.totals.iter().map(|s| 1.0 / (eta * self.n_words() as f64 + d * s)).collect();
        let mut means = vec![0.0; words.len() * width];
        for (mean, word) in means.chunks_exact_mut(width).zip(words) {
            let from = *word as usize * self.stride;
            let row = self.rows.get(from..from + self.k());
            for z in 0..self.k() {
                let s = row.map_or(0.0, |row| f64::from(row[z]));
                mean[z] = ((eta + d * s) * over[z]) as f32;
            }
        }
        means
    }
}

impl Lambda {
    /// Topics to start from, each λ about 1 as Hoffman et al. have it.
    ///
    /// Deviates: half of a topic is a document drawn at random and half the whole mini-batch, where the papers start from
    /// noise; topics that differ by noise alone come to be shared by several themes, and stay so.
    pub fn start(batch: &MiniBatch<'_>, n_topics: usize, width: usize, rng: &mut num::Rng) -> Lambda {
        let n_rows = batch.words.len();
        let mut frequency = vec![0.0; n_rows];
        let mut n_tokens = 0.0;
        for document in 0..batch.len() {
            for (place, n) in batch.pairs(document) {
                frequency[place] += n;
                n_tokens += n;
            }
        }
        let half = 0.5 * n_rows as f64;
        let mut lambda = Lambda { width, n_topics, rows: vec![0.0; n_rows * width], totals: vec![0.0; n_topics] };
        for (row, n) in lambda.rows.chunks_exact_mut(width).zip(&frequency) {
            row[..n_topics].fill(half * n / n_tokens);
        }
        let mut order: Vec<usize> = (0..batch.len()).collect();
        rng.shuffle(&mut order);
        for (z, document) in order.iter().cycle().take(n_topics).enumerate() {
            let n_own: f64 = batch.pairs(*document).map(|(_, n)| n).sum();
            for (place, n) in batch.pairs(*document) {
                // Noise tells topics apart that start from one document, when there are more topics than documents.
                lambda.rows[place * width + z] += half * n / n_own * 0.01 * rng.gamma(100.0);
            }
        }
        for row in lambda.rows.chunks_exact(width) {
            lambda.totals.iter_mut().zip(row).for_each(|(total, cell)| *total += cell);
        }
        lambda
    }

    /// exp E ln φ, each word's row up to a factor, which matters nowhere.
    pub fn expected_logs(mut self) -> Vec<f32> {
        let mut log_totals = self.totals.clone();
        num::digamma_slice(&mut log_totals);
        let mut weights = vec![0.0; self.rows.len()];
        for (row, weights) in self.rows.chunks_exact_mut(self.width).zip(weights.chunks_exact_mut(self.width)) {
            let row = &mut row[..self.n_topics];
            num::digamma_slice(row);
            let mut largest = f64::NEG_INFINITY;
            for (log, total) in row.iter_mut().zip(&log_totals) {
                *log -= total;
                largest = largest.max(*log);
            }
            row.iter_mut().for_each(|log| *log -= largest);
            num::exp_slice(row);
            for (weight, relative) in weights.iter_mut().zip(row) {
                *weight = (*relative as f32).max(LEAST_WEIGHT);
            }
        }
        weights
    }

    /// E φ.
    pub fn means(&self) -> Vec<f32> {
        let over: Vec<f64> = self.totals.iter().map(|total| 1.0 / total).collect();
        let mut means = vec![0.0; self.rows.len()];
        for (row, means) in self.rows.chunks_exact(self.width).zip(means.chunks_exact_mut(self.width)) {
            for z in 0..self.n_topics {
                means[z] = (row[z] * over[z]) as f32;
            }
        }
        means
    }
}
