//! The learner: a task for each label, one for the labels that have not come yet, and what was foretold on the way.

use super::prepare::{Example, Preparation, Prepared, Running};
use super::settings::{Inputs, LinearSettings, TargetChoice};
use super::tally::Foretold;
use super::task::{Aim, Task};
use serde::{Deserialize, Serialize};

/// What is known of a row beside its features.
#[derive(Clone, Copy, Debug)]
pub enum Truth<'a> {
    /// Nothing: its features are taken note of, and no weight changes.
    Unknown,
    /// Its labels, each once; one of them where each row has one.
    Labels(&'a [&'a str]),
    /// Its number.
    Number(f64),
}

/// A linear classifier or regressor that learns row by row.
///
/// Each label has weights of its own, which are told of every labelled row whether the label is there. Beside them are
/// the weights that a label would have that was never there: a label that appears midway begins with them, and so ends
/// where it would have ended had it been announced before the first row.
///
/// ```
/// use bayestream::engine::linear::{
///     Example, Inference, Inputs, LinearLearner, LinearSettings, Rule, TargetChoice, Truth,
/// };
///
/// let settings = LinearSettings {
///     rule: Rule::PaOne, target: TargetChoice::Label, inputs: Inputs::Columns { n: 1, scale: false },
///     c: 1.0, epsilon: 1.0, sigma2: 1.0, full: false,
///     inference: Inference::Moments, rounds: 1, bias: 1.0, positive: 1.0,
/// };
/// let mut learner = LinearLearner::new(settings).unwrap();
/// for row in 0..40 {
///     let (x, label) = if row % 2 == 0 { (2.0, "warm") } else { (-1.0, "cold") };
///     learner.learn(Example::Cells(&[x]), Truth::Labels(&[label]), 1.0);
/// }
/// let judgement = learner.judge(Example::Cells(&[1.7]));
/// assert_eq!(learner.labels()[judgement.labels[0]], "warm");
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinearLearner {
    pub(super) settings: LinearSettings,
    pub(super) preparation: Preparation,
    /// In the order of the alphabet, so that the order of their coming does not matter.
    pub(super) labels: Vec<String>,
    /// Labelled rows with each.
    pub(super) counts: Vec<u64>,
    /// One for each label; a single one for numbers.
    pub(super) tasks: Vec<Task>,
    /// What a label would know that was never there.
    pub(super) unseen: Task,
    /// The numbers so far.
    pub(super) numbers: Running,
    pub(super) foretold: Foretold,
    pub(super) n_seen: u64,
    pub(super) n_unlabelled: u64,
    /// Places of features so far, the constant one's included.
    pub(super) n_places: usize,
    #[serde(skip)]
    pub(super) prepared: Prepared,
    #[serde(skip)]
    pub(super) scores: Vec<f64>,
}

/// What the learner says of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Labels foretold, as places in [`LinearLearner::labels`], by falling score; none before the first is known.
    pub labels: Vec<usize>,
    /// A score for each label.
    pub scores: Vec<f64>,
    /// The number foretold; NaN before the first.
    pub number: f64,
    /// One label: the best score less the next (the only one's alone). Several: the least distance of a score from zero.
    pub margin: f64,
    /// Standard deviation of the leading score, or of the number, where the weights have one.
    pub deviation: Option<f64>,
    /// What the features said for the leading label, or for the number, strongest first.
    pub reasons: Vec<Contribution>,
}

/// What a feature adds to a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// Column or word, from zero.
    pub feature: usize,
    /// Weight times value; of a number, in its own units.
    pub amount: f64,
}

/// Most features named as reasons.
const MOST_REASONS: usize = 5;

impl LinearLearner {
    /// A learner that has seen nothing, or what is wrong with the settings.
    pub fn new(settings: LinearSettings) -> Result<LinearLearner, &'static str> {
        if let Some(fault) = settings.fault() {
            return Err(fault);
        }
        let n_places = match settings.inputs {
            Inputs::Columns { n, .. } => n + 1,
            Inputs::Words(_) => 1,
        };
        let unseen = Task::new(&settings, n_places);
        let tasks = if settings.target == TargetChoice::Number { vec![unseen.clone()] } else { Vec::new() };
        Ok(LinearLearner {
            settings,
            preparation: Preparation::new(&settings),
            labels: Vec::new(),
            counts: Vec::new(),
            tasks,
            unseen,
            numbers: Running::default(),
            foretold: Foretold::default(),
            n_seen: 0,
            n_unlabelled: 0,
            n_places,
            prepared: Prepared::default(),
            scores: Vec::new(),
        })
    }

    /// Its settings.
    pub fn settings(&self) -> &LinearSettings {
        &self.settings
    }

    /// The labels met so far, in the order of the alphabet.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Labelled rows with each label.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The weights of each label, or of the number: place 0 is the constant feature's, place j + 1 that of column or word j.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Mean and deviation of the numbers so far.
    pub fn numbers(&self) -> &Running {
        &self.numbers
    }

    /// How well rows were foretold before they were learnt.
    pub fn foretold(&self) -> &Foretold {
        &self.foretold
    }

    /// Rows seen.
    pub fn n_seen(&self) -> u64 {
        self.n_seen
    }

    /// Rows among them without a label or number: no weight learnt from them.
    pub fn n_unlabelled(&self) -> u64 {
        self.n_unlabelled
    }

    /// Makes room for words with any number below `n_words`.
    pub fn grow(&mut self, n_words: usize) {
        if matches!(self.settings.inputs, Inputs::Words(_)) && n_words + 1 > self.n_places {
            self.n_places = n_words + 1;
            let (n, sigma2) = (self.n_places, self.settings.sigma2);
            self.tasks.iter_mut().chain([&mut self.unseen]).for_each(|task| task.grow(n, sigma2));
        }
    }

    /// These numbers stand for other words from now on: what was learnt of them is let go.
    pub fn forget_words(&mut self, words: &[u32]) {
        for word in words {
            self.preparation.forget(*word);
            let sigma2 = self.settings.sigma2;
            let all = self.tasks.iter_mut().chain([&mut self.unseen]);
            all.for_each(|task| task.forget(*word as usize + 1, sigma2));
        }
    }

    /// Foretells a row, then learns from it. A row of weight w has w times the loss.
    pub fn learn(&mut self, example: Example<'_>, truth: Truth<'_>, weight: f64) {
        if let Example::Words(words, _) = example
            && let Some(last) = words.last()
        {
            self.grow(*last as usize + 1);
        }
        self.n_seen += 1;
        self.preparation.note(example, weight);
        let mut prepared = std::mem::take(&mut self.prepared);
        self.preparation.features(example, self.settings.bias, &mut prepared);
        match truth {
            Truth::Labels(labels) if !labels.is_empty() => self.learn_labels(&prepared, labels, weight),
            Truth::Number(number) => self.learn_number(&prepared, number, weight),
            Truth::Unknown | Truth::Labels(_) => self.n_unlabelled += 1,
        }
        self.prepared = prepared;
    }

    fn learn_labels(&mut self, prepared: &Prepared, present: &[&str], weight: f64) {
        let x = prepared.features();
        let mut scores = std::mem::take(&mut self.scores);
        scores.clear();
        scores.extend(self.tasks.iter().map(|task| task.score(x)));
        self.foretell(&scores, present);
        let of_unseen = self.unseen.score(x);
        for label in present {
            let at = match self.labels.binary_search_by(|known| known.as_str().cmp(label)) {
                Ok(at) => at,
                Err(at) => {
                    self.labels.insert(at, (*label).to_string());
                    self.counts.insert(at, 0);
                    self.tasks.insert(at, self.unseen.clone());
                    scores.insert(at, of_unseen);
                    at
                }
            };
            self.counts[at] += 1;
        }
        let settings = &self.settings;
        let c = settings.c * weight;
        for ((task, label), score) in self.tasks.iter_mut().zip(&self.labels).zip(&scores) {
            match present.contains(&label.as_str()) {
                true => task.learn(settings, x, *score, Aim::Side(1.0), c * settings.positive),
                false => task.learn(settings, x, *score, Aim::Side(-1.0), c),
            }
        }
        self.unseen.learn(settings, x, of_unseen, Aim::Side(-1.0), c);
        self.scores = scores;
    }

    /// Keeps account of a row that is about to be learnt.
    fn foretell(&mut self, scores: &[f64], present: &[&str]) {
        if self.labels.is_empty() {
            return;
        }
        let chosen = self.chosen(scores);
        let hits = chosen.iter().filter(|at| present.contains(&self.labels[**at].as_str())).count();
        let commonest = (0..self.counts.len()).max_by_key(|at| (self.counts[*at], std::cmp::Reverse(*at)));
        let by_commonest = present.len() == 1 && commonest.is_some_and(|at| self.labels[at] == present[0]);
        self.foretold.n += 1;
        self.foretold.right += u64::from(hits == present.len() && hits == chosen.len());
        self.foretold.by_commonest += u64::from(by_commonest);
        self.foretold.hits += hits as u64;
        self.foretold.false_alarms += (chosen.len() - hits) as u64;
        self.foretold.misses += (present.len() - hits) as u64;
    }

    fn learn_number(&mut self, prepared: &Prepared, number: f64, weight: f64) {
        let x = prepared.features();
        let score = self.tasks[0].score(x);
        if self.numbers != Running::default() {
            self.foretold.n += 1;
            self.foretold.absolute_error += (self.in_units(score) - number).abs();
            self.foretold.absolute_error_of_mean += (self.numbers.mean() - number).abs();
        }
        self.numbers.add(number, weight);
        let aim = if self.is_scaled() { self.numbers.standard(number) } else { number };
        self.tasks[0].learn(&self.settings, x, score, Aim::Number(aim), self.settings.c * weight);
    }

    fn is_scaled(&self) -> bool {
        !matches!(self.settings.inputs, Inputs::Columns { scale: false, .. })
    }

    /// A score in the units of the numbers.
    fn in_units(&self, score: f64) -> f64 {
        if self.is_scaled() { self.numbers.mean() + self.numbers.deviation() * score } else { score }
    }

    /// The labels that scores speak for, by falling score, equal ones by name.
    fn chosen(&self, scores: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        match self.settings.target {
            TargetChoice::Labels => order.retain(|at| scores[*at] > 0.0),
            _ => order.truncate(1),
        }
        order
    }

    /// What there is to say of a row, without learning from it.
    pub fn judge(&self, example: Example<'_>) -> Judgement {
        let mut prepared = Prepared::default();
        self.preparation.features(example, self.settings.bias, &mut prepared);
        let x = prepared.features();
        let scores: Vec<f64> = self.tasks.iter().map(|task| task.score(x)).collect();
        let is_number = self.settings.target == TargetChoice::Number;
        let labels = if is_number { Vec::new() } else { self.chosen(&scores) };
        let leading = if is_number { Some(0) } else { labels.first().copied() };
        let unit = if is_number && self.is_scaled() { self.numbers.deviation() } else { 1.0 };
        let deviation =
            leading.and_then(|at| self.tasks[at].variance(x, self.settings.sigma2)).map(|v| unit * v.sqrt());
        let reasons = leading.map_or_else(Vec::new, |at| {
            let weights = self.tasks[at].weights();
            let of = |(place, value): (usize, f64)| Contribution {
                feature: place.wrapping_sub(1),
                amount: unit * value * weights.get(place).copied().unwrap_or(0.0),
            };
            let mut all: Vec<Contribution> = x.iter().filter(|(place, _)| *place > 0).map(of).collect();
            let strength = |c: &Contribution| if is_number { c.amount.abs() } else { c.amount };
            all.retain(|c| strength(c) > 0.0);
            all.sort_by(|a, b| strength(b).total_cmp(&strength(a)).then(a.feature.cmp(&b.feature)));
            all.truncate(MOST_REASONS);
            all
        });
        let number = match is_number && self.numbers != Running::default() {
            true => self.in_units(scores[0]),
            false => f64::NAN,
        };
        Judgement { margin: self.margin(&scores), scores, labels, number, deviation, reasons }
    }

    fn margin(&self, scores: &[f64]) -> f64 {
        match self.settings.target {
            TargetChoice::Number => f64::NAN,
            TargetChoice::Labels => scores.iter().map(|score| score.abs()).reduce(f64::min).unwrap_or(f64::NAN),
            TargetChoice::Label => {
                let mut sorted = scores.to_vec();
                sorted.sort_by(|a, b| b.total_cmp(a));
                match sorted.as_slice() {
                    [] => f64::NAN,
                    [only] => *only,
                    [best, next, ..] => best - next,
                }
            }
        }
    }

    /// Checks everything a file may have got wrong: `n_features` columns, or words.
    pub fn restore(&self, settings: &LinearSettings, n_features: usize) -> Result<(), &'static str> {
        if self.settings != *settings {
            return Err("its learner has other settings than it names");
        }
        let is_number = settings.target == TargetChoice::Number;
        let n_tasks = if is_number { 1 } else { self.labels.len() };
        let sorted = self.labels.windows(2).all(|pair| pair[0] < pair[1]);
        if self.tasks.len() != n_tasks || self.counts.len() != self.labels.len() || !sorted {
            return Err("its labels and weights do not belong together");
        }
        if is_number && !self.labels.is_empty() || self.n_unlabelled > self.n_seen || self.foretold.n > self.n_seen {
            return Err("its counts of rows contradict each other");
        }
        if !self.foretold.is_sound() || !self.numbers.is_sound() || self.counts.iter().any(|n| *n > self.n_seen) {
            return Err("its account of the rows is not sound");
        }
        // Words may have numbers of which the learner has not heard yet: those that never came in a document.
        let fits = match settings.inputs {
            Inputs::Columns { n, .. } => n == n_features && self.n_places == n + 1,
            Inputs::Words(_) => (1..=n_features + 1).contains(&self.n_places),
        };
        if !fits {
            return Err("it has not as many features as columns or words");
        }
        let fault = self.preparation.fault(settings, n_features);
        let all = self.tasks.iter().chain([&self.unseen]);
        let fault = fault.or_else(|| all.filter_map(|task| task.fault(settings, self.n_places)).next());
        fault.map_or(Ok(()), Err)
    }
}
