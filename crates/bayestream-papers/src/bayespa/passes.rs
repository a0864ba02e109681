//! Test error along several passes (figure 3).

use super::trial::{MODELS, Model, Timed, Told, stream, test_accuracy};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::table::Table;
use bayestream::data::{DocumentBuffer, Documents};
use bayestream::engine::bayespa::Size;
use bayestream_plot::{Chart, grid};

/// Documents of the first pass after which test documents are judged; then after whole passes.
const WITHIN: [usize; 4] = [512, 1024, 2048, 4096];
const PASSES: [usize; 2] = [1, 2];
/// Topics of each label's model; the paper's figure has the larger number.
const TOPICS: [usize; 2] = [20, 80];

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
    let given = |model: &Model| TOPICS.iter().take(if model.size == Size::Open { 1 } else { 2 });
    MODELS.iter().flat_map(|model| given(model).map(|k| Way { model: *model, k: *k })).collect()
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

fn learn(way: &Way, corpus: &Labelled, seed: u64) -> Course {
    course(&mut Timed::new(&way.model.with_topics(way.k), seed), corpus, seed)
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(9600..9601)[0];
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let ways = ways();
    let describe = |way: &Way, course: &Course| {
        let last = course.last().map_or(f64::NAN, |last| last.error);
        format!("passes {} K = {}: error {last:.3} at the end", way.model.name, way.k)
    };
    let courses = run_all(&ways, setting.n_threads, setting.progress, describe, |way| Ok(learn(way, &corpus, seed)))?;
    let n = corpus.train_labels.len();
    let names = looks(n).into_iter().map(|place| place.name(n));
    let mut table =
        Table::new("", "Test error after some documents", ["model".to_string(), "K".into()].into_iter().chain(names));
    let charts = TOPICS.map(|k| {
        let chart = Chart::new(format!("K = {k}")).size(480.0, 340.0).x_label("passes").y_label("test error").log_x();
        ways.iter().zip(&courses).filter(|(way, _)| way.k == k).fold(
            chart.y_range(0.15, 1.0),
            |chart, (way, course)| {
                let points: Vec<(f64, f64)> =
                    course.iter().map(|look| (look.at as f64 / n as f64, look.error)).collect();
                chart.line(way.model.name, &points)
            },
        )
    });
    for (way, course) in ways.iter().zip(&courses) {
        let errors = course.iter().map(|look| format!("{:.3}", look.error));
        table.row([way.model.name.to_string(), way.k.to_string()].into_iter().chain(errors));
    }
    let notes = vec![format!(
        "20 Newsgroups, separate models with the settings of the paper, one order of the documents (seed {seed}), the same in every \
         pass. The paper's figure has K = 80 and converges in less than one pass. K is the number at first where it is open, 20 \
         as in the paper. Standard error of an entry: 0.005."
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
