//! Topics in one pass, their number unknown: real text, and planted topics.

use super::planted::{FOUND_ABOVE, Found};
use super::words::heaviest;
use crate::corpus::Split;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd, mean_sd_text};
use crate::table::Table;
use crate::topics::{Judge, Judged, LIVE, twins};
use bayestream::data::{DocumentBuffer, Documents};
use bayestream::engine::DocumentLearner;
use bayestream::engine::topics::{MmHdp, TopicSettings};
use bayestream::structure::Topic;
use bayestream::synthetic::{PlantedShape, PlantedTopics};
use cpu_time::ThreadTime;

/// Test documents of 20 Newsgroups by which constants were chosen; the next ones had no part in it.
const CHOSEN_ON: usize = 1500;
const FRESH: usize = 3000;
/// A small number of topics and an even prior, as other programs have them by default.
const FIXED_TOPICS: usize = 50;
const FLAT: f64 = 0.1;
const TESTED_PLANTED: usize = 1000;

/// Documents and a way to learn them.
struct Case {
    name: &'static str,
    split: Split,
    settings: TopicSettings,
    /// Weight of every topic in a document of which nothing is known, where it is not learnt.
    flat: Option<f64>,
}

struct Run {
    judged: Judged,
    topics: Vec<Topic>,
    rate: f64,
}

/// Learns documents in one pass and tells how many of them per second of processor time.
fn learn(documents: &Documents<'_>, n_words: usize, settings: &TopicSettings, seed: u64) -> (MmHdp, f64) {
    let mut learner = MmHdp::new(settings, seed, 0);
    let clock = ThreadTime::now();
    learner.update(documents, n_words);
    let rate = documents.len() as f64 / clock.elapsed().as_secs_f64();
    (learner, rate)
}

impl Case {
    fn learn(&self, seed: u64) -> Run {
        let n_words = self.split.vocabulary.len();
        let train = self.split.train_in_order(seed);
        let (learner, rate) = learn(&train.documents(), n_words, &self.settings, seed);
        let all = learner.all_topics(n_words);
        let alpha = self.flat.map_or(all.alpha, |a| vec![a; all.weights.len()]);
        let judged = self.judge().judge(&all.words, &alpha);
        Run { judged, topics: learner.topics(), rate }
    }

    fn judge(&self) -> Judge<'_> {
        Judge::new(self.split.train.documents(), self.split.test.documents(), self.split.vocabulary.len())
    }
}

fn cases(setting: &Setting<'_>) -> Result<Vec<Case>, ReproduceError> {
    let newsgroups = Split::newsgroups_of(&setting.data)?;
    let tested = |places: std::ops::Range<usize>| Split { test: newsgroups.tested(places), ..newsgroups.clone() };
    let fresh = CHOSEN_ON..CHOSEN_ON + FRESH;
    let fixed = TopicSettings { max_topics: FIXED_TOPICS, recycle: 0, ..TopicSettings::default() };
    let usual = |name, split| Case { name, split, settings: TopicSettings::default(), flat: None };
    let with_fifty = |name, split| Case { name, split, settings: fixed.clone(), flat: Some(FLAT) };
    Ok(vec![
        usual("20 Newsgroups", tested(0..CHOSEN_ON)),
        usual("20 Newsgroups, fresh", tested(fresh.clone())),
        with_fifty("20 Newsgroups, K = 50, flat", tested(0..CHOSEN_ON)),
        with_fifty("20 Newsgroups, fresh, K = 50, flat", tested(fresh)),
        usual("Reuters", Split::reuters(&setting.data)?),
        usual("NIPS", Split::nips(&setting.data)?),
        usual("AP", Split::ap(&setting.data)?),
    ])
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9480..9483);
    let cases = cases(setting)?;
    let jobs: Vec<(usize, u64)> = (0..cases.len()).flat_map(|c| seeds.iter().map(move |&seed| (c, seed))).collect();
    let describe = |&(c, seed): &(usize, u64), run: &Run| {
        let Judged { perplexity, learnt, .. } = &run.judged;
        format!("topics {} seed {seed}: perplexity {perplexity:.0}, NPMI {:.3}", cases[c].name, learnt.npmi)
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, |&(c, seed)| Ok(cases[c].learn(seed)))?;
    let mut sizes = Table::new(
        "documents",
        "Documents",
        ["documents", "to learn from", "words each", "vocabulary", "to be judged by", "perplexity of word frequencies"],
    );
    let mut worth = Table::new(
        "",
        "Topics of real text, each order by itself",
        [
            "documents",
            "perplexity",
            "NPMI",
            "live topics",
            "NPMI, live in test",
            "live in test",
            "topics shown",
            "with a twin, %",
            "heaviest 50 with a twin, %",
            "documents per CPU second",
        ],
    );
    for (case, runs) in cases.iter().zip(runs.chunks(seeds.len())) {
        let (train, test) = (case.split.train.documents(), case.split.test.documents());
        sizes.row([
            case.name.to_string(),
            train.len().to_string(),
            format!("{:.0}", train.n_tokens() as f64 / train.len() as f64),
            case.split.vocabulary.len().to_string(),
            test.len().to_string(),
            format!("{:.0}", case.judge().unigram()),
        ]);
        let each = |value: &dyn Fn(&Run) -> String| list(runs.iter().map(value));
        let words = |most: usize| -> Vec<Vec<Vec<f32>>> {
            runs.iter().map(|run| run.topics.iter().take(most).map(|topic| topic.words.clone()).collect()).collect()
        };
        let percent = |share: f64| if runs.len() > 1 { format!("{:.0}", 100.0 * share) } else { String::new() };
        worth.row([
            case.name.to_string(),
            each(&|run| format!("{:.0}", run.judged.perplexity)),
            each(&|run| format!("{:.3}", run.judged.learnt.npmi)),
            each(&|run| run.judged.learnt.places.len().to_string()),
            each(&|run| format!("{:.3}", run.judged.tested.npmi)),
            each(&|run| run.judged.tested.places.len().to_string()),
            each(&|run| run.topics.len().to_string()),
            percent(twins(&words(usize::MAX))),
            percent(twins(&words(50))),
            format!("{:.0}", mean_sd(&runs.iter().map(|run| run.rate).collect::<Vec<_>>()).0),
        ]);
    }
    let title = format!("20 Newsgroups, seed {}: the twelve heaviest topics, by their likeliest words", seeds[0]);
    let words = heaviest(title, &runs[0].topics, &cases[0].split.vocabulary);
    let notes = vec![
        format!(
            "One pass of `topics/mm-hdp` with default settings over documents in random order, three orders and seeds ({} to \
             {}); for `K = 50, flat` with at most {FIXED_TOPICS} topics and, in scoring, weight {FLAT} for each. Texts are split into \
             words of plain letters, without stop words (SMART's list, shortened) and words of less than three letters; of 20 \
             Newsgroups without headers, signatures and quotes. The settings were chosen by the {CHOSEN_ON} test documents of the first line; \
             the `fresh` ones had no part in it, nor had these orders.",
            seeds[0],
            seeds[seeds.len() - 1],
        ),
        format!(
            "`perplexity` is of the second half of the words of each test document, given the first half: shares of topics are \
             folded in by 50 rounds of EM under the learnt prior. A topic is live when it has more than {LIVE} of the words, of the training \
             documents or of the test documents; NPMI is the coherence of the ten likeliest words of live topics, counted in the \
             training documents. A topic that is shown has a twin when one shown after another order overlaps it by more \
             than 0.7 (Bhattacharyya coefficient). Documents per CPU second are of the machine at hand."
        ),
    ];
    let planted = planted(setting, &seeds)?;
    Ok(Outcome { notes, tables: vec![worth, sizes, planted, words], figures: Vec::new(), files: Vec::new() })
}

/// Planted topics of which the learner knows neither the words nor the number.
struct Planted {
    shape: PlantedShape,
    n_documents: usize,
}

struct PlantedRun {
    found: Found,
    perplexity: f64,
    of_truth: f64,
}

impl Planted {
    fn all() -> Vec<Planted> {
        let sizes = [(10, 5000), (30, 5000), (100, 10_000)];
        let each = |zipf: f64| {
            sizes.map(|(n_topics, n_documents)| {
                let (n_words, eta) = if zipf > 0.0 { (10_000, 0.02) } else { (2000, 0.05) };
                let alpha = 3.0 / n_topics as f64;
                let shape = PlantedShape { n_topics, n_words, eta, zipf, alpha, ..PlantedShape::default() };
                Planted { shape, n_documents }
            })
        };
        [0.0, 1.0].into_iter().flat_map(each).collect()
    }

    fn learn(&self, seed: u64) -> PlantedRun {
        let PlantedShape { n_topics, n_words, alpha, .. } = self.shape;
        let truth = PlantedTopics::new(&self.shape, seed);
        let (train, test): (DocumentBuffer, DocumentBuffer) =
            (truth.documents(0, self.n_documents), truth.documents(self.n_documents as u64, TESTED_PLANTED));
        let (learner, _) = learn(&train.documents(), n_words, &TopicSettings::default(), seed);
        let all = learner.all_topics(n_words);
        let judge = Judge::new(train.documents(), test.documents(), n_words);
        PlantedRun {
            found: Found::of(&learner, &truth, n_topics),
            perplexity: judge.perplexity(&all.words, &all.alpha),
            of_truth: judge.perplexity(&truth.topics, &vec![alpha; n_topics]),
        }
    }
}

fn planted(setting: &mut Setting<'_>, seeds: &[u64]) -> Result<Table, ReproduceError> {
    let cases = Planted::all();
    let jobs: Vec<(usize, u64)> = (0..cases.len()).flat_map(|c| seeds.iter().map(move |&seed| (c, seed))).collect();
    let describe = |&(c, seed): &(usize, u64), run: &PlantedRun| {
        let (planted, found) = (cases[c].shape.n_topics, &run.found);
        format!("topics planted {planted} seed {seed}: {} shown, {} found", found.n_shown, found.n_found)
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, |&(c, seed)| Ok(cases[c].learn(seed)))?;
    let mut table = Table::new(
        "planted",
        format!(
            "Planted topics, each seed by itself; one is found when a topic shown overlaps it by more than {FOUND_ABOVE}"
        ),
        [
            "planted",
            "word frequencies",
            "documents",
            "topics shown",
            "found",
            "mean overlap",
            "perplexity",
            "of the truth",
        ],
    );
    for (case, runs) in cases.iter().zip(runs.chunks(seeds.len())) {
        let each = |value: &dyn Fn(&PlantedRun) -> String| list(runs.iter().map(value));
        let overlaps: Vec<f64> = runs.iter().map(|run| run.found.overlap).collect();
        table.row([
            case.shape.n_topics.to_string(),
            if case.shape.zipf > 0.0 { "Zipf" } else { "flat" }.to_string(),
            case.n_documents.to_string(),
            each(&|run| run.found.n_shown.to_string()),
            each(&|run| run.found.n_found.to_string()),
            mean_sd_text(&overlaps),
            each(&|run| format!("{:.0}", run.perplexity)),
            each(&|run| format!("{:.0}", run.of_truth)),
        ]);
    }
    Ok(table)
}
