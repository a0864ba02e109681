//! Test error along several passes (figure 3).

use super::trial::{MODELS, Model, Timed, Told, stream, test_accuracy};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd, mean_sd_text};
use crate::table::Table;
use bayestream::data::{DocumentBuffer, Documents};
use bayestream::engine::bayespa::Size;
use bayestream_plot::{Chart, grid};

/// Documents of the first pass after which test documents are judged; then after whole passes.
const WITHIN: [usize; 3] = [512, 2048, 4096];
const PASSES: [usize; 2] = [1, 2];
/// Topics of each label's model, as in the paper's figure, and at first where their number is open.
const K: usize = 80;
const K_OPEN: usize = 20;

#[derive(Clone, Copy)]
struct Way {
    model: Model,
    k: usize,
}

/// A look at a learner: documents learnt, the test error then, topics, and the seconds of learning so far.
pub struct Look {
    pub at: usize,
    pub error: f64,
    pub n_topics: f64,
    pub seconds: f64,
}

pub type Course = Vec<Look>;

/// A place along the passes over some number of documents.
pub struct Place(usize);

impl Place {
    pub fn name(&self, n: usize) -> String {
        if self.0.is_multiple_of(n) { format!("{} passes", self.0 / n) } else { self.0.to_string() }
    }
}

/// What learns along a course.
pub trait Learning {
    fn learn(&mut self, documents: &Documents<'_>, n_words: usize);
    fn told(&self) -> Told<'_>;
}

impl Learning for Timed {
    fn learn(&mut self, documents: &Documents<'_>, n_words: usize) {
        Timed::learn(self, documents, n_words);
    }

    fn told(&self) -> Told<'_> {
        Told { learner: &self.learner, seconds: self.seconds, n_topics: self.n_topics() }
    }
}

/// Where learners are looked at.
pub fn looks(n: usize) -> Vec<Place> {
    let within = WITHIN.iter().copied().filter(|at| *at < n);
    within.chain(PASSES.iter().map(|pass| pass * n)).map(Place).collect()
}

fn ways() -> Vec<Way> {
    MODELS.map(|model| Way { model, k: if model.size == Size::Given { K } else { K_OPEN } }).to_vec()
}

/// Some of the documents, one after the other.
fn part(documents: &Documents<'_>, range: std::ops::Range<usize>) -> DocumentBuffer {
    let mut part = DocumentBuffer::new();
    range.for_each(|document| part.push_from(documents, document));
    part
}

/// Learns the training documents in the seed's order, the same in every pass.
pub fn course(learner: &mut dyn Learning, corpus: &Labelled, seed: u64) -> Course {
    let documents = stream(corpus, seed);
    let documents = documents.documents();
    let n = documents.len();
    let (mut course, mut from) = (Course::new(), 0);
    for Place(end) in looks(n) {
        while from < end {
            let (begin, stop) = (from % n, (end - from / n * n).min(n));
            learner.learn(&part(&documents, begin..stop).documents(), corpus.vocabulary.len());
            from += stop - begin;
        }
        let told = learner.told();
        let error = 1.0 - test_accuracy(told.learner, corpus);
        course.push(Look { at: end, error, n_topics: told.n_topics, seconds: told.seconds });
    }
    course
}

/// The test error of each look of the courses of several seeds: mean and spread.
pub fn errors(courses: &[Course]) -> Vec<String> {
    let of_look = |look: usize| courses.iter().map(|course| course[look].error).collect::<Vec<f64>>();
    (0..courses[0].len()).map(|look| mean_sd_text(&of_look(look))).collect()
}

/// The mean of a quantity at each look, against passes over so many documents.
pub fn points(courses: &[Course], n: usize, value: impl Fn(&Look) -> f64) -> Vec<(f64, f64)> {
    let mean = |look: usize| mean_sd(&courses.iter().map(|course| value(&course[look])).collect::<Vec<f64>>()).0;
    courses[0].iter().enumerate().map(|(look, first)| (first.at as f64 / n as f64, mean(look))).collect()
}

/// The courses of every way, seed by seed.
pub fn courses_of<W: Sync>(
    setting: &mut Setting<'_>,
    (ways, seeds): (&[W], &[u64]),
    describe: impl Fn(&W) -> String,
    learn: impl Fn(&W, u64) -> Course + Sync,
) -> Result<Vec<Vec<Course>>, ReproduceError> {
    let jobs: Vec<(&W, u64)> = ways.iter().flat_map(|way| seeds.iter().map(move |&seed| (way, seed))).collect();
    let name = |&(way, seed): &(&W, u64), course: &Course| {
        let last = course.last().expect("a course has looks");
        format!("{} seed {seed}: error {:.3}, {:.1} s", describe(way), last.error, last.seconds)
    };
    let learn = |&(way, seed): &(&W, u64)| Ok(learn(way, seed));
    let mut courses = run_all(&jobs, setting.n_threads, setting.progress, name, learn)?.into_iter();
    Ok(ways.iter().map(|_| courses.by_ref().take(seeds.len()).collect()).collect())
}

fn learn(way: &Way, corpus: &Labelled, seed: u64) -> Course {
    course(&mut Timed::new(&way.model.with_topics(way.k), seed), corpus, seed)
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let ways = ways();
    let describe = |way: &Way| format!("passes {} K = {}", way.model.name, way.k);
    let courses = courses_of(setting, (&ways, &seeds), describe, |way, seed| learn(way, &corpus, seed))?;
    let n = corpus.train_labels.len();
    let names = looks(n).into_iter().map(|place| place.name(n));
    let mut table =
        Table::new("", "Test error after some documents", ["model".to_string(), "K".into()].into_iter().chain(names));
    let charts = [K, K_OPEN].map(|k| {
        let chart = Chart::new(format!("K = {k}")).size(480.0, 340.0).x_label("passes").y_label("test error").log_x();
        let of_k = ways.iter().zip(&courses).filter(|(way, _)| way.k == k);
        of_k.fold(chart.y_range(0.15, 1.0), |chart, (way, courses)| {
            chart.line(way.model.name, &points(courses, n, |look| look.error))
        })
    });
    for (way, courses) in ways.iter().zip(&courses) {
        table.row([way.model.name.to_string(), way.k.to_string()].into_iter().chain(errors(courses)));
    }
    let notes = vec![format!(
        "20 Newsgroups, separate models with the settings of the paper; seeds {}, each with an order of its own, the same in every \
         pass; mean and standard deviation, means in the figure. The paper's figure has K = 80 and converges in less than one pass. K is \
         the number at first where it is open, {K_OPEN} as in the paper.",
        list(&seeds),
    )];
    let caption = "Figure 3: test error against passes over 20 Newsgroups".to_string();
    Ok(Outcome { notes, tables: vec![table], figures: vec![("error", caption, grid(&charts, 2))], files: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::super::trial::tests::planted;
    use super::*;

    #[test]
    fn a_course_has_every_look_and_ends_better_than_it_began() {
        let corpus = planted();
        let course = learn(&Way { model: MODELS[1], k: 6 }, &corpus, 3);
        assert_eq!(course.iter().map(|look| look.at).collect::<Vec<_>>(), [400, 800]);
        assert!(course[1].error < 0.5, "{}", course[1].error);
    }
}
