//! The snapshot: topics that say the same as one, without those too light to show.

use super::MmHdp;
use super::master::Master;
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
        let mut groups = group(master, self.settings.merge_above);
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
                born: group.members.iter().map(|z| master.opened[*z] + 1).min().unwrap_or(1),
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
    pub fn alpha(&self, settings: &super::TopicSettings) -> Vec<f64> {
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

/// Joins the two groups that overlap most until none overlap by more than `above`.
fn group(master: &Master, above: f64) -> Vec<Group> {
    let single = |z: usize| {
        let mut roots = master.distribution(z, master.n_rows());
        roots.iter_mut().for_each(|p| *p = p.sqrt());
        Group { members: vec![z], words: master.words[z], roots }
    };
    let mut groups: Vec<Group> = (0..master.k).map(single).collect();
    let mut best: Vec<(f32, usize)> = (0..groups.len()).map(|i| closest(&groups, i)).collect();
    while let Some(first) = (0..groups.len()).max_by(|a, b| best[*a].0.total_cmp(&best[*b].0).then(b.cmp(a))) {
        let (overlap, second) = best[first];
        if f64::from(overlap) <= above {
            break;
        }
        let (keep, go) = (first.min(second), first.max(second));
        let gone = groups.swap_remove(go);
        best.swap_remove(go);
        join(&mut groups[keep], gone);
        let moved = groups.len();
        // Whoever was closest to one of the two, or to the one that took its place, looks again.
        for i in 0..groups.len() {
            let was = best[i].1;
            if i == keep || was == keep || was == go {
                best[i] = closest(&groups, i);
            } else {
                if was == moved {
                    best[i].1 = go;
                }
                let overlap = num::dot_f32(&groups[i].roots, &groups[keep].roots);
                if overlap > best[i].0 {
                    best[i] = (overlap, keep);
                }
            }
        }
    }
    groups
}

/// The group that overlaps most with this one.
fn closest(groups: &[Group], i: usize) -> (f32, usize) {
    let others = (0..groups.len()).filter(|j| *j != i);
    others.fold((-1.0, i), |best, j| {
        let overlap = num::dot_f32(&groups[i].roots, &groups[j].roots);
        if overlap > best.0 { (overlap, j) } else { best }
    })
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
