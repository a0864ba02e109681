//! A space along the stream: mini-batch after mini-batch, with labels that appear, topics that are opened, and what is
//! noted on the way.

use super::lot::Lot;
use super::reader::{Lens, Reader};
use super::sample::Drawn;
use super::settings::{MedSettings, Mode, Sharing};
use super::space::Space;
use super::step::Draws;
use crate::interrupt::Interrupt;
use crate::structure::ComponentId;

/// One document in so many is judged before it is learnt.
pub(super) const JUDGED_EVERY: u64 = 8;
/// Documents between two entries of the history.
const TOLD_EVERY: u64 = 64;
/// The first milestone, in documents; each is twice the one before.
const FIRST_MILESTONE: u64 = 64;
/// Batch learning ends when its objective falls by less than this part of it, [BayesPA] section 8.1, for so many rounds: topics
/// are drawn, so that it goes up and down in the end.
const SETTLED: f64 = 1e-4;
const PATIENCE: usize = 3;

/// A mini-batch with what is known of the labels when it comes.
pub(super) struct Leg<'a> {
    pub lot: Lot<'a>,
    /// Labels that it has and no mini-batch before had.
    pub new_labels: Vec<u32>,
    /// c for documents that have a label.
    pub positive_cost: f64,
}

impl Leg<'_> {
    /// c for a document on this side of a label.
    pub fn cost(&self, settings: &MedSettings, side: i8) -> f64 {
        if side > 0 { self.positive_cost } else { settings.cost }
    }
}

/// What is noted of a space on its way through mini-batches.
#[derive(Default)]
pub(super) struct Notes {
    pub n_repairs: u32,
    /// Rounds over all documents, in batch mode.
    pub n_rounds: usize,
    /// Topics born: after how many documents, and which place.
    pub born: Vec<(u64, usize)>,
    /// Words that each topic got up to a number of documents, since the entry before.
    pub told: Vec<(u64, Vec<f64>)>,
    /// Documents judged before they were learnt: leg, document in it, margins by label, and log-probability and number of the
    /// words foretold.
    pub judged: Vec<Judged>,
}

pub(super) struct Judged {
    pub leg: usize,
    pub document: usize,
    pub margins: Vec<(u32, f32)>,
    pub log_probability: f64,
    pub n_words: u64,
}

impl Space {
    /// Learns the mini-batches one after the other: each with all its rounds, or, in batch mode, round after round over all.
    /// An interrupt ends it between two mini-batches.
    pub fn travel(
        &mut self,
        settings: &MedSettings,
        legs: &[Leg<'_>],
        n_words: usize,
        draws: Draws,
        interrupt: &Interrupt,
    ) -> Notes {
        let mut notes = Notes::default();
        match settings.mode {
            Mode::Online => {
                for (at, leg) in legs.iter().enumerate() {
                    let mut drawn = Drawn::default();
                    self.meet_labels(settings, leg, &mut notes);
                    self.make_room(settings, leg, n_words, &mut notes);
                    self.judge(settings, leg, at, &mut notes);
                    for round in 0..settings.n_rounds() {
                        notes.n_repairs += self.visit(settings, leg, (round, &mut drawn), draws);
                    }
                    self.settle(settings, &leg.lot, &drawn);
                    self.tell(settings, leg.lot.first, leg.lot.len() as u64, &mut notes);
                }
            }
            Mode::Batch => {
                let mut drawn: Vec<Drawn> = legs.iter().map(|_| Drawn::default()).collect();
                legs.iter().for_each(|leg| self.meet_labels(settings, leg, &mut notes));
                let (mut least, mut n_idle) = (f64::INFINITY, 0);
                for round in 0..settings.n_rounds() {
                    for (leg, drawn) in legs.iter().zip(&mut drawn) {
                        if interrupt.is_raised() {
                            return notes;
                        }
                        self.make_room(settings, leg, n_words, &mut notes);
                        notes.n_repairs += self.visit(settings, leg, (round, drawn), draws);
                    }
                    notes.n_rounds = round + 1;
                    if settings.rounds.is_none() {
                        let now = self.objective(settings, legs, &drawn);
                        n_idle = if now < (1.0 - SETTLED) * least { 0 } else { n_idle + 1 };
                        least = least.min(now);
                        if n_idle == PATIENCE {
                            break;
                        }
                    }
                }
                legs.iter().zip(&drawn).for_each(|(leg, drawn)| self.settle(settings, &leg.lot, drawn));
                let n: usize = legs.iter().map(|leg| leg.lot.len()).sum();
                self.tell(settings, legs.first().map_or(0, |leg| leg.lot.first), n as u64, &mut notes);
            }
        }
        notes
    }

    fn meet_labels(&mut self, settings: &MedSettings, leg: &Leg<'_>, notes: &mut Notes) {
        for label in leg.new_labels.iter().filter(|_| settings.sharing == Sharing::Shared) {
            self.add_task(*label, settings);
            for _ in 0..settings.topics_per_label {
                self.add_topic(Some(*label), settings);
                notes.born.push((leg.lot.first, self.k - 1));
            }
        }
    }

    /// Makes room for topics and words of a mini-batch.
    fn make_room(&mut self, settings: &MedSettings, leg: &Leg<'_>, n_words: usize, notes: &mut Notes) {
        // Documents without labels need a topic too, and an open number of topics one more than are in use.
        let last_is_open = || self.totals[self.k - 1] == 0 && self.tags[self.k - 1].is_none();
        let may_open = self.sticks.is_some() && self.k < settings.max_topics;
        if self.k == 0 || may_open && !last_is_open() {
            self.add_topic(None, settings);
            notes.born.push((leg.lot.first, self.k - 1));
        }
        self.grow_words(n_words);
    }

    /// Notes how the topics are after some documents more.
    fn tell(&mut self, settings: &MedSettings, seen: u64, n: u64, notes: &mut Notes) {
        let after = seen + n;
        if after / TOLD_EVERY > seen / TOLD_EVERY {
            self.told.resize(self.totals.len(), 0);
            let scale = settings.count_scale();
            let words = (0..self.k).map(|k| scale * (self.totals[k] - self.told[k]) as f64).collect();
            self.told.clone_from(&self.totals);
            notes.told.push((after, words));
        }
        let milestone = |n: u64| (n / FIRST_MILESTONE).checked_ilog2();
        if milestone(after) > milestone(seen) {
            self.tasks.iter_mut().for_each(|task| task.pass_milestone(after));
        }
    }

    fn judge(&self, settings: &MedSettings, leg: &Leg<'_>, at: usize, notes: &mut Notes) {
        let lot = &leg.lot;
        if lot.first == 0 {
            return;
        }
        let chosen = (0..lot.len()).filter(|d| (lot.first + *d as u64).is_multiple_of(JUDGED_EVERY));
        let mut lens: Option<Lens> = None;
        for document in chosen {
            let reader = Reader::new(self, lens.get_or_insert_with(|| Lens::new(self, settings)));
            let (words, counts) = lot.counts(document);
            let (log_probability, n_words) = reader.foretell(words, counts);
            let margins = match lot.labels(document).is_empty() {
                true => Vec::new(),
                false => {
                    let read = reader.read(words, counts);
                    self.tasks.iter().zip(&read.margins).map(|(task, margin)| (task.label, *margin)).collect()
                }
            };
            notes.judged.push(Judged { leg: at, document, margins, log_probability, n_words });
        }
    }

    /// The name of a topic for life.
    pub fn id(&self, k: usize, shard: u32) -> ComponentId {
        ComponentId { shard, serial: self.number << 16 | k as u32 }
    }
}
