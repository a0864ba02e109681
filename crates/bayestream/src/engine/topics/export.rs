//! The snapshot: topics that say the same as one, without those too light to show.

use super::master::Master;
use super::{MmHdp, TopicSettings};
use crate::num;
use crate::structure::{ComponentId, Topic, TopicHistory};
use std::borrow::Cow;

/// What others see of a learner, made once and kept until it learns again.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// The model of the held documents, before there is another.
    pub early: Option<Master>,
    pub topics: Vec<Topic>,
    /// The place in `topics` of each topic of the master; none for those not shown.
    pub place: Vec<Option<usize>>,
}

/// The topics of the master model, for measurements that want all of them.
#[derive(Clone, Debug)]
pub struct AllTopics {
    /// Weight of each topic in a document of which nothing is known; they add up to the concentration a0.
    pub alpha: Vec<f64>,
    /// Share of each topic of the words of the stream.
    pub weights: Vec<f64>,
    /// Probability of each word, topic by topic.
    pub words: Vec<Vec<f32>>,
}

impl MmHdp {
    pub(super) fn view(&self) -> &View {
        self.view.get_or_init(|| {
            let begun = self.begun();
            let learner = begun.as_ref().unwrap_or(self);
            match &learner.master {
                Some(master) => {
                    let (topics, place) = learner.snapshot(master);
                    View { early: begun.as_ref().and(learner.master.clone()), topics, place }
                }
                None => View { early: None, topics: Vec::new(), place: Vec::new() },
            }
        })
    }

    /// Every topic of the master model over words with numbers below `n_words`.
    pub fn all_topics(&self, n_words: usize) -> AllTopics {
        let begun = self.begun();
        let learner = begun.as_ref().unwrap_or(self);
        let Some(master) = &learner.master else {
            return AllTopics { alpha: Vec::new(), weights: Vec::new(), words: Vec::new() };
        };
        let all: f64 = master.words[..master.k].iter().sum();
        AllTopics {
            alpha: master.alpha(&self.settings),
            weights: master.words[..master.k].iter().map(|n| n / all).collect(),
            words: (0..master.k).map(|z| master.distribution(z, n_words)).collect(),
        }
    }

    /// The topics to show, and where each topic of the master went.
    fn snapshot(&self, master: &Master) -> (Vec<Topic>, Vec<Option<usize>>) {
        let total: f64 = master.words[..master.k].iter().sum();
        let mut groups = group(master, &self.settings);
        groups.retain(|one| one.words > 0.0 && one.words >= self.settings.show_above * total);
        groups.sort_by(|a, b| b.words.total_cmp(&a.words).then(a.members[0].cmp(&b.members[0])));
        let mut place = vec![None; master.k];
        for (at, group) in groups.iter().enumerate() {
            group.members.iter().for_each(|z| place[*z] = Some(at));
        }
        let history = self.up_to_date_history(master);
        let show = |group: &Group| {
            let members: Vec<ComponentId> = group.members.iter().map(|z| master.ids[*z]).collect();
            Topic {
                id: members[0],
                weight: group.words / total,
                trend: history.trend(&members),
                born: history.began(&members).unwrap_or(1),
                words: group.distribution(master),
                members,
            }
        };
        (groups.iter().map(show).collect(), place)
    }

    /// The history with the documents that it has not been told yet.
    fn up_to_date_history(&self, master: &Master) -> Cow<'_, TopicHistory> {
        match master.n_untold {
            0 => Cow::Borrowed(&self.history),
            n => {
                let mut history = self.history.clone();
                history.add(n, master.ids.iter().copied().zip(master.untold.iter().copied()));
                Cow::Owned(history)
            }
        }
    }
}

impl Master {
    /// Weights of the topics in a document of which nothing is known.
    pub fn alpha(&self, settings: &TopicSettings) -> Vec<f64> {
        let counts = &self.documents[..self.k];
        let total: f64 = counts.iter().sum();
        counts.iter().map(|c| settings.a0 * (c / total).max(1e-9)).collect()
    }

    /// What to divide a topic's probabilities by: more than 1 when there are more words than it thought.
    pub fn excess(&self, z: usize) -> f64 {
        let more = (self.n_rows() as f64 - self.prior_words).max(0.0);
        1.0 + more * f64::from(self.unseen[z]) * f64::from(self.scale[z])
    }

    /// Probability of every word with a number below `n_words` in a topic.
    pub fn distribution(&self, z: usize, n_words: usize) -> Vec<f32> {
        let over = (1.0 / self.excess(z)) as f32;
        (0..n_words).map(|word| self.phi(word, z) * over).collect()
    }
}

/// Topics of the master that are one topic of the snapshot.
struct Group {
    /// The heaviest first.
    members: Vec<usize>,
    words: f64,
    /// Square roots of its word probabilities, the overlaps' vectors.
    roots: Vec<f32>,
}

impl Group {
    /// The mean of its members by the words they explain.
    fn distribution(&self, master: &Master) -> Vec<f32> {
        let mut mean = vec![0.0; master.n_rows()];
        for z in &self.members {
            let share = (master.words[*z] / self.words) as f32;
            mean.iter_mut().zip(master.distribution(*z, master.n_rows())).for_each(|(m, p)| *m += share * p);
        }
        mean
    }
}

/// Joins the two groups that overlap most until none overlap by more than the settings allow.
fn group(master: &Master, settings: &TopicSettings) -> Vec<Group> {
    let single = |z: usize| {
        let mut roots = learnt_words(master, settings, z);
        roots.iter_mut().for_each(|p| *p = p.sqrt());
        Group { members: vec![z], words: master.words[z], roots }
    };
    let mut groups: Vec<Group> = (0..master.k).map(single).collect();
    // Row i has the overlaps of group i with those before it.
    let mut overlaps: Vec<Vec<f32>> = (0..groups.len()).map(|i| overlaps_with(&groups[..i], &groups[i])).collect();
    while let Some((overlap, keep, go)) = closest_pair(&overlaps) {
        if f64::from(overlap) <= settings.merge_above {
            break;
        }
        // The last group takes the place of the one that goes.
        let last = groups.len() - 1;
        let gone = groups.swap_remove(go);
        let from_last = overlaps.pop().unwrap_or_default();
        if go < last {
            overlaps[go].copy_from_slice(&from_last[..go]);
            for i in go + 1..last {
                overlaps[i][go] = from_last[i];
            }
        }
        join(&mut groups[keep], gone);
        overlaps[keep] = overlaps_with(&groups[..keep], &groups[keep]);
        for i in keep + 1..last {
            overlaps[i][keep] = num::dot_f32(&groups[i].roots, &groups[keep].roots);
        }
    }
    groups
}

/// The words that a topic learnt: its distribution without what is left of its prior, which all topics share and which
/// would make young ones look alike.
fn learnt_words(master: &Master, settings: &TopicSettings, z: usize) -> Vec<f32> {
    let even = master.unseen[z] * master.scale[z];
    let prior_left = f64::from(even) * master.prior_words / (1.0 - settings.common);
    let per_met = prior_left * settings.common / master.frequency.iter().sum::<f64>().max(1.0);
    let mut words = master.distribution(z, master.n_rows());
    for (p, frequency) in words.iter_mut().zip(&master.frequency) {
        *p = (*p - even - (per_met * frequency) as f32).max(0.0);
    }
    let total: f32 = words.iter().sum();
    if total > 0.0 {
        words.iter_mut().for_each(|p| *p /= total);
    }
    words
}

fn overlaps_with(others: &[Group], group: &Group) -> Vec<f32> {
    others.iter().map(|other| num::dot_f32(&other.roots, &group.roots)).collect()
}

/// The largest overlap, and the places of the two groups, the smaller first.
fn closest_pair(overlaps: &[Vec<f32>]) -> Option<(f32, usize, usize)> {
    let mut best: Option<(f32, usize, usize)> = None;
    for (j, row) in overlaps.iter().enumerate() {
        for (i, overlap) in row.iter().enumerate() {
            if best.is_none_or(|(most, _, _)| *overlap > most) {
                best = Some((*overlap, i, j));
            }
        }
    }
    best
}

fn join(keep: &mut Group, gone: Group) {
    let words = keep.words + gone.words;
    let share = if words > 0.0 { (keep.words / words) as f32 } else { 0.5 };
    for (a, b) in keep.roots.iter_mut().zip(&gone.roots) {
        *a = (share * *a * *a + (1.0 - share) * b * b).sqrt();
    }
    let heavier = gone.words > keep.words;
    keep.words = words;
    if heavier {
        keep.members.splice(0..0, gone.members);
    } else {
        keep.members.extend(gone.members);
    }
}
