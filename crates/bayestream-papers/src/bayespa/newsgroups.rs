//! One pass over 20 Newsgroups: the paper's models, and ours.

use super::trial::{self, MODELS, text};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::table::Table;
use bayestream::engine::bayespa::MedSettings;

/// Documents kept, from whose topics labels are learnt anew at the end.
const KEPT: usize = 20_000;

struct Way {
    name: &'static str,
    topics: &'static str,
    printed: &'static str,
    settings: MedSettings,
}

fn ways() -> Vec<Way> {
    let paper = MODELS.map(|model| Way {
        name: model.name,
        topics: "separate, as in the paper",
        printed: "0.80",
        settings: model.paper(),
    });
    let ours = MODELS.map(|model| Way {
        name: model.name,
        topics: "shared, our defaults",
        printed: "",
        settings: model.ours(),
    });
    let kept = [MODELS[0], MODELS[1]].map(|model| Way {
        name: model.name,
        topics: "shared, documents kept",
        printed: "",
        settings: MedSettings { keep: KEPT, ..model.ours() },
    });
    paper.into_iter().chain(ours).chain(kept).collect()
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let ways = ways();
    let describe = |way: &Way| format!("newsgroups {} {}", way.name, way.topics);
    let runs = trial::runs_of(setting, &corpus, (&ways, &seeds), describe, |way| way.settings.clone())?;
    let mut table = Table::new(
        "",
        "20 Newsgroups, one pass",
        ["model", "topics", "paper", "accuracy", "topics with words, of each model", "CPU seconds of training"],
    );
    for (way, runs) in ways.iter().zip(&runs) {
        table.row([
            way.name.to_string(),
            way.topics.to_string(),
            way.printed.to_string(),
            text(runs, |run| run.accuracy),
            text(runs, |run| run.n_topics),
            text(runs, |run| run.seconds),
        ]);
    }
    let documents = corpus.train.documents();
    let notes = vec![format!(
        "{} documents to learn from in random order, {} to be judged by, {} words, {} words of text to learn from; seeds {}, each \
         with an order of its own; mean and standard deviation. The paper's values are read off figure 4. Separate: each of \
         the twenty labels has a model of its own, of 20 topics, at first where their number is open, and the settings of section 8.1. \
         Shared: one model. Documents kept: labels are learnt at the end by linear \
         machines from the topics that up to {KEPT} documents have without their labels, which the time does not count. Processor time is of the machine at hand, \
         which had other work: compare lines of one table only.",
        documents.len(),
        corpus.test_labels.len(),
        corpus.vocabulary.len(),
        documents.n_tokens(),
        crate::summary::list(&seeds),
    )];
    Ok(Outcome { notes, tables: vec![table], figures: Vec::new(), files: Vec::new() })
}
