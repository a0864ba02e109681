//! Topics that know nothing of labels, with a linear machine on top: the rivals of figures 3 and 4.

use super::passes::{Course, Learning, Look, course, courses_of, errors, looks, points};
use super::trial::Told;
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::summary::{list, mean_sd};
use crate::table::Table;
use bayestream::data::Documents;
use bayestream::engine::DocumentLearner;
use bayestream::engine::svi::{Method, SviSettings, SviTopics};
use bayestream_plot::{Chart, grid};
use cpu_time::ThreadTime;

/// Numbers of topics, the first of them also where it is open.
const TOPICS: [usize; 3] = [20, 40, 80];

#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    method: Method,
    k: usize,
    is_as_printed: bool,
}

impl Way {
    /// Section 8.1: α = 1/K and γ = 0.45 for models of LDA, γ = 0.5 for those of the HDP, mini-batches of 512; or our defaults.
    fn settings(&self) -> SviSettings {
        let (ours, alpha, eta) = match self.method {
            Method::Growing => (SviSettings::for_hdp(), SviSettings::for_hdp().alpha, 0.5),
            Method::Gibbs | Method::Variational => (SviSettings::default(), 1.0 / self.k as f64, 0.45),
        };
        let ours = SviSettings { n_topics: self.k, ..ours };
        if self.is_as_printed { SviSettings { alpha, eta, batch_size: 512, ..ours } } else { ours }
    }
}

fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for (name, method) in [("spLDA + SVM", Method::Gibbs), ("SVI-LDA + SVM", Method::Variational)] {
        ways.extend(TOPICS.map(|k| Way { name, method, k, is_as_printed: true }));
    }
    ways.push(Way { name: "tfHDP + SVM", method: Method::Growing, k: TOPICS[0], is_as_printed: true });
    ways.push(Way { name: "spLDA + SVM, our settings", method: Method::Gibbs, k: 80, is_as_printed: false });
    ways.push(Way { name: "SVI-LDA + SVM, our settings", method: Method::Variational, k: 80, is_as_printed: false });
    ways.push(Way { name: "tfHDP + SVM, our settings", method: Method::Growing, k: TOPICS[0], is_as_printed: false });
    ways
}

struct Learner {
    topics: SviTopics,
    seconds: f64,
}

impl Learning for Learner {
    fn learn(&mut self, documents: &Documents<'_>, n_words: usize) {
        let clock = ThreadTime::now();
        self.topics.update(documents, n_words);
        self.seconds += clock.elapsed().as_secs_f64();
    }

    fn told(&self) -> Told<'_> {
        Told { learner: &self.topics, seconds: self.seconds, n_topics: self.topics.topics().len() as f64 }
    }
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let ways = ways();
    let describe = |way: &Way| format!("rivals {} K = {}", way.name, way.k);
    let courses = courses_of(setting, (&ways, &seeds), describe, |way, seed| {
        let topics = SviTopics::new(way.method, &way.settings(), seed, 0);
        course(&mut Learner { topics, seconds: 0.0 }, &corpus, seed)
    })?;
    let n = corpus.train_labels.len();
    let head = ["model", "K"].map(String::from).into_iter();
    let tail = ["topics with words".to_string(), "CPU seconds of a pass".into()];
    let columns = head.chain(looks(n).into_iter().map(|place| place.name(n))).chain(tail);
    let mut table = Table::new("", "Test error after some documents", columns);
    for (way, courses) in ways.iter().zip(&courses) {
        let pass = |value: &dyn Fn(&Look) -> f64| {
            let after_a_pass = |course: &Course| course.iter().find(|look| look.at == n).map(value);
            mean_sd(&courses.iter().filter_map(after_a_pass).collect::<Vec<f64>>()).0
        };
        let tail = [format!("{:.0}", pass(&|look| look.n_topics)), format!("{:.1}", pass(&|look| look.seconds))];
        table.row([way.name.to_string(), way.k.to_string()].into_iter().chain(errors(courses)).chain(tail));
    }
    let along = |k: usize| {
        let chart = Chart::new(format!("Test error, K = {k}")).size(440.0, 320.0).x_label("passes").log_x();
        let of_k = ways.iter().zip(&courses).filter(|(way, _)| way.k == k);
        of_k.fold(chart.y_range(0.15, 1.0), |chart, (way, courses)| {
            chart.line(way.name, &points(courses, n, |look| look.error))
        })
    };
    let charts = [along(20), along(80)];
    let notes = vec![format!(
        "20 Newsgroups; seeds {}, each with an order of its own, the same in every pass; mean and standard deviation, means alone of the last two \
         columns and in the figure. Topics are learnt without labels, α = 1/K and γ = 0.45 \
         (HDP: 0.5), mini-batches of 512, or our settings (α = 0.1, γ = 0.05, mini-batches of 256); after each number of documents linear support vector machines learn the labels of all documents \
         so far from their topics, which the time does not count. K is the number at first where it is open. The paper's figures have \
         spLDA clearly below the supervised models, as here.",
        list(&seeds),
    )];
    let caption = "Figure 3, rivals: test error against passes over 20 Newsgroups".to_string();
    Ok(Outcome { notes, tables: vec![table], figures: vec![("error", caption, grid(&charts, 2))], files: Vec::new() })
}
