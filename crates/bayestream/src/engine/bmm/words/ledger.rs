//! What is remembered of topics besides their words: names, how much they explained and when.

use super::topics::WordTopics;
use crate::engine::parts::ScoreTrack;
use crate::structure::{ComponentId, Event, EventLog, Happening, Topic, TopicHistory};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Words in a topic that is worth a name in the log of events.
const BORN: f64 = 20.0;
/// Words by which topics are compared: the likeliest of each.
const COMPARED: usize = 30;
/// Topics say the same when Σ √(φ_v φ'_v) over those words is this share of what each has with itself.
const SAME: f64 = 0.9;

/// One line per topic, in the order of the mixture, and the course of the stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Ledger {
    shard: u32,
    next_serial: u32,
    lines: Vec<Line>,
    pub n_seen: u64,
    pub history: TopicHistory,
    pub events: EventLog,
    pub scores: ScoreTrack,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    id: ComponentId,
    /// Words it explained.
    words: f64,
    born: bool,
}

impl Ledger {
    pub fn new(shard: u32) -> Ledger {
        Ledger { shard, ..Ledger::default() }
    }

    /// Opens lines until there are so many.
    pub fn reach(&mut self, n_topics: usize) {
        while self.lines.len() < n_topics {
            let id = self.new_id();
            self.lines.push(Line { id, words: 0.0, born: false });
        }
    }

    fn new_id(&mut self) -> ComponentId {
        let id = ComponentId { shard: self.shard, serial: self.next_serial };
        self.next_serial = self.next_serial.wrapping_add(1);
        id
    }

    /// The ledgers of shards put together, their topics left out: [`Ledger::take`] has them.
    pub fn joined<'a>(parts: impl Iterator<Item = &'a Ledger> + Clone, shard: u32) -> Ledger {
        Ledger {
            shard,
            next_serial: parts.clone().map(|part| part.next_serial).max().unwrap_or(0),
            lines: Vec::new(),
            n_seen: parts.clone().map(|part| part.n_seen).sum(),
            history: TopicHistory::default(),
            events: EventLog::joined(parts.clone().map(|part| &part.events)),
            scores: ScoreTrack::joined(parts.map(|part| &part.scores)),
        }
    }

    /// Takes in a shard's topics, each as its twin here or as a further one; gives back the shard's history under the
    /// names they have here.
    pub fn take(&mut self, part: &Ledger, topics: &[usize], twins: &[Option<usize>]) -> TopicHistory {
        let mut names = BTreeMap::new();
        for (&z, twin) in topics.iter().zip(twins) {
            let theirs = &part.lines[z];
            let id = match twin {
                Some(twin) => {
                    let ours = &mut self.lines[*twin];
                    ours.words += theirs.words;
                    ours.born |= theirs.born;
                    let into = ours.id;
                    if into != theirs.id && theirs.born {
                        let what = Happening::Merged { into };
                        self.events.push(Event { row: self.n_seen, component: theirs.id, what });
                    }
                    into
                }
                None => {
                    let taken = self.lines.iter().any(|line| line.id == theirs.id);
                    let id = if taken { self.new_id() } else { theirs.id };
                    self.lines.push(Line { id, ..theirs.clone() });
                    id
                }
            };
            names.insert(theirs.id, id);
        }
        let mut history = part.history.clone();
        history.retain(|id| names.contains_key(&id));
        history.rename(|id| names.get(&id).copied().unwrap_or(id));
        history
    }

    /// Puts the topics in another order and lets go of those that are not in it; the course of the stream is what the
    /// shards had side by side.
    pub fn reorder(&mut self, order: &[usize], histories: &[TopicHistory]) {
        let lives: Vec<bool> = (0..self.lines.len()).map(|z| order.contains(&z)).collect();
        for (line, _) in self.lines.iter().zip(&lives).filter(|(line, lives)| line.born && !**lives) {
            self.events.push(Event { row: self.n_seen, component: line.id, what: Happening::Died });
        }
        self.lines = order.iter().map(|&z| self.lines[z].clone()).collect();
        self.history = TopicHistory::joined(histories.iter());
        let lines = &self.lines;
        self.history.retain(|id| lines.iter().any(|line| line.id == id));
    }

    /// Words that a topic explained.
    pub fn n_words(&self, topic: usize) -> f64 {
        self.lines.get(topic).map_or(0.0, |line| line.words)
    }

    /// Books the words that each topic explained in the document seen last.
    pub fn book(&mut self, words: &[f64]) {
        let before = &self.lines;
        self.history.add(1, before.iter().zip(words).filter(|(_, n)| **n > 0.01).map(|(line, n)| (line.id, *n)));
        for (line, n) in self.lines.iter_mut().zip(words) {
            line.words += n;
            if !line.born && line.words >= BORN {
                line.born = true;
                self.events.push(Event { row: self.n_seen, component: line.id, what: Happening::Born });
            }
        }
    }

    pub fn forget(&mut self, keep: f64) {
        for line in &mut self.lines {
            line.words *= keep;
            if line.born && line.words < 0.5 * BORN {
                line.born = false;
                self.events.push(Event { row: self.n_seen, component: line.id, what: Happening::Died });
            }
        }
    }

    /// True of a topic with words of its own; it need not exist.
    pub fn is_born(&self, topic: usize) -> bool {
        self.lines.get(topic).is_some_and(|line| line.born)
    }

    /// Topics with words of their own.
    pub fn n_living(&self) -> usize {
        self.lines.iter().filter(|line| line.born).count()
    }

    /// Topics to be shown: for each the lines that it is made of, the heaviest first. Those that say the same are one.
    pub fn groups(&self, topics: &WordTopics, delta: f64) -> Vec<Vec<usize>> {
        let total: f64 = self.lines.iter().map(|line| line.words).sum();
        let mut order: Vec<usize> = (0..topics.len().min(self.lines.len())).collect();
        order.retain(|&z| self.lines[z].words > 0.0 && self.lines[z].words >= delta * total);
        order.sort_by(|&a, &b| self.lines[b].words.total_cmp(&self.lines[a].words).then(a.cmp(&b)));
        let mut groups: Vec<(Vec<usize>, Sketch)> = Vec::new();
        for z in order {
            let sketch = Sketch::of(&topics.words(z));
            match groups.iter().position(|(_, other)| sketch.says_the_same(other)) {
                Some(at) => groups[at].0.push(z),
                None => groups.push((vec![z], sketch)),
            }
        }
        let words = |group: &[usize]| group.iter().map(|&z| self.lines[z].words).sum::<f64>();
        let mut groups: Vec<Vec<usize>> = groups.into_iter().map(|(group, _)| group).collect();
        groups.sort_by(|a, b| words(b).total_cmp(&words(a)).then(a[0].cmp(&b[0])));
        groups
    }

    /// The topics of a snapshot.
    pub fn topics(&self, topics: &WordTopics, delta: f64) -> Vec<Topic> {
        let groups = self.groups(topics, delta);
        let total: f64 = groups.iter().flatten().map(|&z| self.lines[z].words).sum();
        groups
            .iter()
            .map(|group| {
                let own: f64 = group.iter().map(|&z| self.lines[z].words).sum();
                let mut words = vec![0.0f32; topics.n_words()];
                for &z in group {
                    let share = self.lines[z].words / own;
                    words.iter_mut().zip(topics.words(z)).for_each(|(sum, p)| *sum += (share * p) as f32);
                }
                let members: Vec<ComponentId> = group.iter().map(|&z| self.lines[z].id).collect();
                Topic {
                    id: members[0],
                    weight: own / total,
                    trend: self.history.trend(&members),
                    born: self.history.began(&members).unwrap_or(1),
                    members,
                    words,
                }
            })
            .collect()
    }

    pub fn id(&self, topic: usize) -> ComponentId {
        self.lines[topic].id
    }

    pub fn is_sound(&self, n_topics: usize) -> bool {
        self.lines.len() >= n_topics
            && self.lines.iter().all(|line| line.words.is_finite() && line.words >= 0.0)
            && self.scores.is_sound()
    }
}

/// A topic by its likeliest words.
struct Sketch {
    /// √φ of all words.
    roots: Vec<f32>,
    top: Vec<usize>,
}

impl Sketch {
    fn of(words: &[f64]) -> Sketch {
        let roots: Vec<f32> = words.iter().map(|p| p.sqrt() as f32).collect();
        let mut top: Vec<usize> = (0..words.len()).collect();
        let likelier = |a: &usize, b: &usize| words[*b].total_cmp(&words[*a]).then(a.cmp(b));
        if top.len() > COMPARED {
            top.select_nth_unstable_by(COMPARED, likelier);
            top.truncate(COMPARED);
        }
        Sketch { roots, top }
    }

    fn says_the_same(&self, other: &Sketch) -> bool {
        let over = |top: &[usize]| {
            let (mut both, mut own, mut others) = (0.0, 0.0, 0.0);
            for &word in top {
                both += self.roots[word] * other.roots[word];
                own += self.roots[word] * self.roots[word];
                others += other.roots[word] * other.roots[word];
            }
            both / own.max(others)
        };
        f64::from(over(&self.top).min(over(&other.top))) >= SAME
    }
}
