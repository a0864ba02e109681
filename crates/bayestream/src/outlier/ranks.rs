//! Recent scores and the share of them that a new one exceeds.
//!
//! Scores are kept in the order of the stream, and all but the last few hundred also in ascending order. The latest are
//! counted one by one and merged in together, so that a row costs a search and a share of a merge.

use super::tail::Tail;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Scores that are counted one by one before they are merged in.
const UNMERGED: usize = 256;
/// While the stream is young only the scores of its last quarter count, since the model was still being made; but so many
/// are kept in any case.
const YOUNG_SHARE: u64 = 4;
const LEAST_KEPT: usize = 1000;
/// Fewer than so many larger scores: the tail's fit tells more than the rank.
const IN_TAIL: usize = 10;
/// Scores are cut here.
const LARGEST: f64 = 1e30;
/// Log of the smallest p-value there is.
const LEAST_LOG_P: f64 = -690.0;

/// Scores of recent rows, larger for more unusual ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ranks {
    capacity: usize,
    n_pushed: u64,
    /// In the order of the stream; at most `UNMERGED` more than are wanted.
    recent: VecDeque<f32>,
    /// How many of the last are not in `ascending`.
    n_unmerged: usize,
    #[serde(skip)]
    cache: Cache,
}

/// What follows from the scores; not part of the state.
#[derive(Clone, Debug, Default)]
struct Cache {
    /// All but the unmerged scores.
    ascending: Vec<f32>,
    unmerged: Vec<f32>,
    /// The largest of all scores, descending.
    top: Vec<f32>,
    /// Where ranks and tail meet: how many scores are greater than the last of `top`, and how many equal to it.
    anchor: (usize, usize),
    /// The tail's log-survival there.
    anchor_survival: f64,
    tail: Option<Tail>,
    merged: Vec<f32>,
    gone: Vec<f32>,
}

/// As it is kept: finite, in half the space.
fn kept(score: f64) -> f32 {
    // Adding zero makes one zero of two.
    if score.is_nan() { 0.0 } else { score.clamp(-LARGEST, LARGEST) as f32 + 0.0 }
}

impl Ranks {
    /// No scores yet, of which the last `capacity` will be kept.
    pub fn new(capacity: usize) -> Ranks {
        Ranks { capacity, n_pushed: 0, recent: VecDeque::new(), n_unmerged: 0, cache: Cache::default() }
    }

    /// The last of these scores, all of one model.
    pub fn of(capacity: usize, scores: &[f64]) -> Ranks {
        let mut ranks = Ranks::new(capacity);
        ranks.recent.extend(scores[scores.len().saturating_sub(capacity)..].iter().map(|s| kept(*s)));
        // As many as if older scores had been forgotten already.
        ranks.n_pushed = YOUNG_SHARE * ranks.len() as u64;
        ranks.restore();
        ranks
    }

    /// Scores held.
    pub fn len(&self) -> usize {
        self.recent.len()
    }

    /// True before the first score.
    pub fn is_empty(&self) -> bool {
        self.recent.is_empty()
    }

    /// The middle one of the scores that are in order; NaN before there are any.
    pub fn median(&self) -> f64 {
        let scores = &self.cache.ascending;
        scores.get(scores.len() / 2).map_or(f64::NAN, |v| f64::from(*v))
    }

    /// Log of the share of recent scores at least as large: ties count half, no score is impossible. Scores larger than
    /// nearly all are told apart by the tail.
    pub fn log_p_value(&self, score: f64) -> f64 {
        let score = kept(score);
        let (greater, equal) = self.count(score);
        match &self.cache.tail {
            Some(tail) if greater + equal < IN_TAIL => {
                let (greater, equal) = self.cache.anchor;
                let beyond = tail.log_survival(f64::from(score)) - self.cache.anchor_survival;
                (self.mid_rank(greater, equal).ln() + beyond.min(0.0)).max(LEAST_LOG_P)
            }
            _ => self.mid_rank(greater, equal).ln(),
        }
    }

    /// [`Ranks::log_p_value`] as a probability, in (0, 1].
    pub fn p_value(&self, score: f64) -> f64 {
        self.log_p_value(score).exp()
    }

    fn mid_rank(&self, greater: usize, equal: usize) -> f64 {
        (greater as f64 + 0.5 * equal as f64 + 0.5) / (self.len() as f64 + 1.0)
    }

    /// How many are greater, and how many equal.
    fn count(&self, score: f32) -> (usize, usize) {
        let Cache { ascending, unmerged, .. } = &self.cache;
        let at_most = ascending.partition_point(|v| *v <= score);
        let below = match at_most.checked_sub(1) {
            Some(last) if ascending[last] == score => ascending[..at_most].partition_point(|v| *v < score),
            _ => at_most,
        };
        let (mut greater, mut not_less) = (0u32, 0u32);
        for v in unmerged {
            greater += u32::from(*v > score);
            not_less += u32::from(*v >= score);
        }
        (ascending.len() - at_most + greater as usize, at_most - below + (not_less - greater) as usize)
    }

    /// Takes the score of a row.
    pub fn push(&mut self, score: f64) {
        let score = kept(score);
        self.n_pushed += 1;
        self.recent.push_back(score);
        self.n_unmerged += 1;
        if self.note(score) {
            self.set_anchor();
        }
        if self.n_unmerged >= UNMERGED {
            self.merge();
        }
    }

    /// Takes a score that is not in order; true when it is one of the largest.
    fn note(&mut self, score: f32) -> bool {
        let Cache { unmerged, top, .. } = &mut self.cache;
        unmerged.push(score);
        let is_large = top.len() < IN_TAIL || top.last().is_some_and(|last| score >= *last);
        if is_large {
            let at = top.partition_point(|v| *v >= score);
            top.insert(at, score);
            top.truncate(IN_TAIL);
        }
        is_large
    }

    fn wanted(&self) -> usize {
        self.capacity.min(LEAST_KEPT.max((self.n_pushed / YOUNG_SHARE) as usize)).max(UNMERGED)
    }

    /// Brings the latest scores into order and lets go of the oldest.
    fn merge(&mut self) {
        let excess = self.len().saturating_sub(self.wanted());
        let Cache { ascending, unmerged, merged, gone, .. } = &mut self.cache;
        gone.clear();
        gone.extend(self.recent.drain(..excess));
        gone.sort_unstable_by(f32::total_cmp);
        unmerged.sort_unstable_by(f32::total_cmp);
        merged.clear();
        let (mut new, mut old) = (unmerged.iter().peekable(), gone.iter().peekable());
        for &score in ascending.iter() {
            if old.peek().is_some_and(|v| v.total_cmp(&score).is_eq()) {
                old.next();
                continue;
            }
            while let Some(v) = new.next_if(|v| v.total_cmp(&score).is_lt()) {
                merged.push(*v);
            }
            merged.push(score);
        }
        merged.extend(new);
        std::mem::swap(ascending, merged);
        unmerged.clear();
        self.n_unmerged = 0;
        self.refit();
    }

    /// Tail and largest scores of what is in order; the unmerged ones join the largest as they come.
    fn refit(&mut self) {
        let Cache { ascending, top, tail, .. } = &mut self.cache;
        *tail = Tail::of(ascending);
        top.clear();
        top.extend(ascending.iter().rev().take(IN_TAIL));
        self.set_anchor();
    }

    fn set_anchor(&mut self) {
        let Some(&last) = self.cache.top.last() else { return };
        let (greater, equal) = self.count(last);
        self.cache.anchor = (greater, equal);
        self.cache.anchor_survival = self.cache.tail.map_or(0.0, |tail| tail.log_survival(f64::from(last)));
    }

    /// Forgets all but the last `keep` scores: those before a change say nothing of what is usual after it.
    pub fn flush(&mut self, keep: usize) {
        let excess = self.len().saturating_sub(keep);
        self.recent.drain(..excess);
        self.n_pushed = self.len() as u64;
        self.n_unmerged = 0;
        self.restore();
    }

    /// Scores of several shards: an even share of each one's latest, interleaved.
    pub fn joined(parts: &[&Ranks]) -> Ranks {
        let mut joined = Ranks::new(parts.iter().map(|p| p.capacity).max().unwrap_or(1));
        let share = (joined.capacity / parts.len().max(1)).max(1);
        for i in 0..share {
            for part in parts {
                // Aligned at the recent end.
                if let Some(&score) = (part.len() + i).checked_sub(share).and_then(|at| part.recent.get(at)) {
                    joined.recent.push_back(score);
                }
            }
        }
        joined.n_pushed = parts.iter().map(|p| p.n_pushed).sum();
        joined.restore();
        joined
    }

    /// True when sizes agree: what a file must satisfy.
    pub fn is_sound(&self, capacity: usize) -> bool {
        self.capacity == capacity
            && self.len() <= self.capacity.max(LEAST_KEPT) + UNMERGED
            && self.n_unmerged < UNMERGED
            && self.n_unmerged <= self.len()
            && self.n_pushed >= self.len() as u64
            && self.recent.iter().all(|v| f64::from(v.abs()) <= 1.001 * LARGEST)
    }

    /// Rebuilds what is not saved.
    pub fn restore(&mut self) {
        let n_merged = self.len() - self.n_unmerged;
        let Cache { ascending, unmerged, .. } = &mut self.cache;
        ascending.clear();
        ascending.extend(self.recent.iter().take(n_merged));
        ascending.sort_unstable_by(f32::total_cmp);
        unmerged.clear();
        self.refit();
        let latest: Vec<f32> = self.recent.iter().skip(n_merged).copied().collect();
        for score in latest {
            self.note(score);
        }
        self.set_anchor();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::{self, Rng};

    /// A ring that has taken `n` scores.
    fn after(n: usize, capacity: usize, mut draw: impl FnMut(&mut Rng) -> f64) -> (Ranks, Rng) {
        let mut rng = num::stream(20_300, 0, n as u64);
        let mut ranks = Ranks::new(capacity);
        (0..n).for_each(|_| ranks.push(draw(&mut rng)));
        (ranks, rng)
    }

    #[test]
    fn ranks_are_those_of_a_plain_count_at_every_age() {
        let mut ranks = Ranks::new(1500);
        let mut rng = num::stream(20_301, 0, 0);
        let mut all: Vec<f32> = Vec::new();
        for n in 1..6000 {
            // Rounded, so that there are ties.
            let score = (rng.normal() * 20.0).round();
            ranks.push(score);
            all.push(score as f32);
            if n % 97 == 0 || n < 20 {
                let held = &all[all.len() - ranks.len()..];
                let probe = (rng.normal() * 20.0).round() as f32;
                let greater = held.iter().filter(|v| **v > probe).count();
                let equal = held.iter().filter(|v| **v == probe).count();
                assert_eq!(ranks.count(probe), (greater, equal), "after {n}");
                if greater + equal >= IN_TAIL {
                    let expected = (greater as f64 + 0.5 * equal as f64 + 0.5) / (held.len() as f64 + 1.0);
                    assert!((ranks.p_value(f64::from(probe)) - expected).abs() < 1e-12);
                }
            }
        }
        assert!((1500..1500 + UNMERGED).contains(&ranks.len()), "{}", ranks.len());
    }

    #[test]
    fn p_values_fall_as_scores_rise_through_ranks_and_tail() {
        let (ranks, _) = after(3100, 2000, |rng| (rng.normal() * 4.0).round() * 0.5 + 0.01 * rng.uniform());
        let mut last = 1.0;
        for i in -400..4000 {
            let p = ranks.p_value(f64::from(i) * 0.013);
            assert!(p > 0.0 && p <= last + 1e-12, "{p} after {last} at {i}");
            last = p;
        }
        assert!(ranks.p_value(1e300) > 0.0 && ranks.p_value(f64::NAN) > 0.0);
    }

    #[test]
    fn the_tail_continues_a_known_distribution() {
        // Exponential scores: P(score > s) = e^-s. Ten thousand of them tell ranks down to 1e-3; the tail goes on.
        let (ranks, _) = after(20_000, 10_000, |rng| -(1.0 - rng.uniform()).ln());
        for (s, tolerance) in [(5.0, 0.25), (7.0, 0.4), (9.0, 0.6), (11.0, 0.9)] {
            let log_p = ranks.log_p_value(s);
            assert!((log_p + s).abs() < tolerance, "log p {log_p} at {s}");
        }
    }

    #[test]
    fn a_heap_of_equal_scores_is_not_rare() {
        let (ranks, _) = after(2000, 1000, |rng| f64::from(u8::from(rng.uniform() < 0.3)));
        let p = ranks.p_value(1.0);
        assert!((0.1..0.2).contains(&p), "half of three tenths: {p}");
        assert!(ranks.p_value(0.0) > 0.5);
        let (constant, _) = after(700, 1000, |_| -2.5);
        assert!((constant.p_value(-2.5) - 0.5).abs() < 1e-3);
        assert!(constant.p_value(-2.0) < 2e-3);
    }

    #[test]
    fn what_is_restored_goes_on_the_same_way() {
        for n in [0, 5, 255, 256, 300, 5000] {
            let (mut ranks, mut rng) = after(n, 1200, |rng| rng.normal());
            let mut again: Ranks = postcard::from_bytes(&postcard::to_stdvec(&ranks).unwrap()).unwrap();
            assert!(again.is_sound(1200) && !again.is_sound(1201));
            again.restore();
            for _ in 0..700 {
                let score = rng.normal() * 1.5;
                assert_eq!(ranks.log_p_value(score).to_bits(), again.log_p_value(score).to_bits(), "after {n}");
                ranks.push(score);
                again.push(score);
            }
        }
    }

    #[test]
    fn flushing_keeps_the_latest_and_joining_takes_from_all() {
        let mut ranks = Ranks::new(1000);
        (0..900).for_each(|i| ranks.push(f64::from(i)));
        ranks.flush(200);
        assert_eq!(ranks.len(), 200);
        assert!(ranks.p_value(699.5) > 0.99 && ranks.p_value(899.0) < 0.01);
        let (low, _) = after(3000, 1000, |rng| rng.uniform());
        let (high, _) = after(2000, 1000, |rng| 2.0 + rng.uniform());
        let joined = Ranks::joined(&[&low, &high]);
        assert_eq!(joined.len(), 1000);
        assert!((joined.p_value(1.5) - 0.5).abs() < 1e-3);
    }
}
