//! Log-scores of rows before they are learnt from.

use crate::structure::LogScore;
use serde::{Deserialize, Serialize};

/// How many recent scores a p-value is relative to.
const RECENT: usize = 1000;

/// Running log-scores, in the data's own units.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreTrack {
    sum: f64,
    n: u64,
    head: usize,
    recent: Vec<f64>,
}

impl ScoreTrack {
    /// Takes one row's log-density.
    pub fn push(&mut self, log_density: f64) {
        if !log_density.is_finite() {
            return;
        }
        self.sum += log_density;
        self.n += 1;
        if self.recent.len() < RECENT {
            self.recent.push(log_density);
        } else {
            self.recent[self.head] = log_density;
            self.head = (self.head + 1) % RECENT;
        }
    }

    /// Takes the log-probability of a document's words. Means are then over words; recent scores are of documents, each by
    /// its mean over words.
    pub fn push_words(&mut self, log_probability: f64, n_words: u64) {
        if n_words == 0 || !log_probability.is_finite() {
            return;
        }
        let per_word = log_probability / n_words as f64;
        self.push(per_word);
        self.sum += log_probability - per_word;
        self.n += n_words - 1;
    }

    /// What to report.
    pub fn report(&self) -> LogScore {
        let mut recent = self.recent.clone();
        recent.sort_by(f64::total_cmp);
        LogScore { prequential_mean: self.sum / self.n as f64, n_scored: self.n, recent }
    }

    /// The scores of several shards together.
    pub fn joined<'a>(tracks: impl Iterator<Item = &'a ScoreTrack> + Clone) -> ScoreTrack {
        let mut joined = ScoreTrack::default();
        let n_tracks = tracks.clone().count().max(1);
        for track in tracks {
            joined.sum += track.sum;
            joined.n += track.n;
            // An even share of each shard's recent scores.
            let keep = track.recent.len().min(RECENT / n_tracks);
            let step = track.recent.len() as f64 / keep.max(1) as f64;
            joined.recent.extend((0..keep).map(|i| track.recent[(i as f64 * step) as usize]));
        }
        joined
    }

    /// True when sizes agree: what a file must satisfy.
    pub fn is_sound(&self) -> bool {
        self.recent.len() <= RECENT
            && (self.head == 0 || self.head < self.recent.len())
            && self.recent.iter().all(|v| v.is_finite())
            && !self.sum.is_nan()
    }
}
