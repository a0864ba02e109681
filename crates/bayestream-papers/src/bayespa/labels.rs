//! Documents with several labels.

use super::trial::{MODELS, Model, Timed, with_labels};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::mean_sd;
use crate::table::Table;
use bayestream::engine::DocumentLearner;
use bayestream::engine::bayespa::{Classifier, LabelsEach, MedSettings, Sharing};
use bayestream::metrics::LabelAgreement;
use bayestream::structure::DocumentScores;

/// Documents kept, from whose topics labels are learnt anew at the end.
const KEPT: usize = 20_000;
/// Topics of the paper's models for several labels.
const PRINTED_TOPICS: usize = 40;
/// One against the rest by LinearSVC on TF-IDF, of bench/results/classify.md: micro- and macro-F1, plain and balanced.
const SVM: [[(f64, f64); 2]; 2] = [[(0.530, 0.186), (0.567, 0.340)], [(0.917, 0.843), (0.920, 0.854)]];

#[derive(Clone, Copy)]
struct Way {
    model: Model,
    /// Topics that each label begins with; none with the paper's settings for several labels.
    topics_each: usize,
    weight: Option<f64>,
    once: bool,
    keep: usize,
}

impl Way {
    fn settings(&self) -> MedSettings {
        if self.topics_each == 0 {
            return self.printed();
        }
        MedSettings {
            labels_each: LabelsEach::Several,
            topics_per_label: self.topics_each,
            positive_weight: self.weight,
            once: self.once,
            keep: self.keep,
            ..self.model.ours()
        }
    }

    /// The settings of section 8.2.2: topics that labels share, and that none of them begins with.
    fn printed(&self) -> MedSettings {
        let paper = self.model.paper();
        let (cost, variance) = match paper.classifier {
            Classifier::Gibbs => (1.0, 1.0),
            Classifier::Averaging => (5000.0, 1e-6),
        };
        MedSettings {
            sharing: Sharing::Shared,
            labels_each: LabelsEach::Several,
            n_topics: Some(PRINTED_TOPICS),
            epsilon: 1.0,
            cost,
            variance,
            alpha: Some(0.8),
            gamma: 0.5,
            positive_weight: self.weight,
            ..paper
        }
    }
}

fn ways() -> Vec<Way> {
    let each = |model: Model| {
        let usual = Way { model, topics_each: 1, weight: None, once: true, keep: 0 };
        let weighed = [1.0, 4.0, 8.0].map(|weight| Way { weight: Some(weight), ..usual });
        let larger = [2, 3].map(|topics_each| Way { topics_each, ..usual });
        [usual].into_iter().chain(weighed).chain(larger).chain([
            Way { once: false, ..usual },
            Way { keep: KEPT, ..usual },
            Way { once: false, keep: KEPT, ..usual },
            Way { topics_each: 3, keep: KEPT, ..usual },
            Way { topics_each: 0, weight: Some(1.0), once: false, ..usual },
        ])
    };
    MODELS[..2].iter().flat_map(|model| each(*model)).collect()
}

/// Labels to learn by: a document with none of the labels has one more, since nothing would be known of it otherwise.
fn with_other(labels: &[Vec<u32>], other: u32) -> Vec<Vec<u32>> {
    labels.iter().map(|own| if own.is_empty() { vec![other] } else { own.clone() }).collect()
}

struct Run {
    agreement: LabelAgreement,
    /// With thresholds of the training documents.
    with_thresholds: LabelAgreement,
    seconds: f64,
}

/// For each label the margin above which F1 is best: a document has the labels of `own`, and those above are given.
fn thresholds(scores: &DocumentScores, own: &[Vec<u32>]) -> Vec<f32> {
    let best_of = |label: usize| {
        let mut margins: Vec<(f32, bool)> = own
            .iter()
            .enumerate()
            .map(|(at, own)| (scores.margins_of(at)[label], own.contains(&(label as u32))))
            .collect();
        margins.sort_by(|a, b| b.0.total_cmp(&a.0));
        let n = margins.iter().filter(|(_, has)| *has).count();
        let (mut right, mut best, mut threshold) = (0, 0.0, 0.0);
        for (at, (margin, has)) in margins.iter().enumerate() {
            right += usize::from(*has);
            let f1 = 2.0 * right as f64 / (at + 1 + n) as f64;
            if f1 > best {
                let next = margins.get(at + 1).map_or(*margin, |next| next.0);
                (best, threshold) = (f1, 0.5 * (margin + next));
            }
        }
        threshold
    };
    (0..scores.n_labels).map(best_of).collect()
}

/// The labels of the documents whose margins are above the thresholds, and the agreement with their own.
fn agreement(scores: &DocumentScores, thresholds: &[f32], own: &[Vec<u32>], other: u32) -> LabelAgreement {
    let mut agreement = LabelAgreement::default();
    for (at, own) in own.iter().enumerate() {
        let margins = scores.margins_of(at).iter().zip(thresholds);
        let above = (0u32..).zip(margins).filter(|(label, (margin, least))| margin > least && *label != other);
        agreement.add(own, &above.map(|(label, _)| label).collect::<Vec<u32>>());
    }
    agreement
}

fn learn(settings: &MedSettings, corpus: &Labelled, seed: u64) -> Run {
    let other = corpus.label_names.len() as u32;
    let (documents, labels) = corpus.train_in_order(seed);
    let documents = with_labels(documents, &with_other(&labels, other));
    let mut timed = Timed::new(settings, seed);
    timed.learn(&documents.documents(), corpus.vocabulary.len());
    let scores = timed.learner.score(&corpus.test.documents());
    let of_training = thresholds(&timed.learner.score(&documents.documents()), &labels);
    let judged = |thresholds: &[f32]| agreement(&scores, thresholds, &corpus.test_labels, other);
    Run {
        agreement: judged(&vec![0.0; scores.n_labels]),
        with_thresholds: judged(&of_training),
        seconds: timed.seconds,
    }
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(9600..9601)[0];
    let wiki = Labelled::wiki_folds_of(&setting.data, seed)?;
    let reuters = vec![Labelled::reuters_of(&setting.data)?];
    let corpora = [("Wikipedia, five folds", wiki), ("Reuters, split ModApte", reuters)];
    let ways = ways();
    let mut tables = Vec::new();
    for (which, (name, folds)) in corpora.iter().enumerate() {
        let jobs: Vec<(usize, usize)> =
            (0..ways.len()).flat_map(|way| (0..folds.len()).map(move |fold| (way, fold))).collect();
        let describe = |&(way, fold): &(usize, usize), run: &Run| {
            let Way { model, topics_each, weight, .. } = ways[way];
            let (micro, of_each) = (run.agreement.micro_f1(), run.agreement.macro_f1());
            format!("labels {name} {} {topics_each} {weight:?} fold {fold}: {micro:.3} {of_each:.3}", model.name)
        };
        let learn = |&(way, fold): &(usize, usize)| Ok(learn(&ways[way].settings(), &folds[fold], seed));
        let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, learn)?;
        let columns = [
            "model",
            "topics of each label",
            "weight of documents with the label",
            "words",
            "documents kept",
            "micro-F1",
            "macro-F1",
            "micro-F1, thresholds",
            "macro-F1, thresholds",
            "CPU seconds",
        ];
        let mut table = Table::new(if which == 0 { "" } else { "reuters" }, *name, columns);
        for (way, runs) in ways.iter().zip(runs.chunks(folds.len())) {
            let text = |value: &dyn Fn(&Run) -> f64| {
                let (mean, sd) = mean_sd(&runs.iter().map(value).collect::<Vec<_>>());
                if runs.len() > 1 { format!("{mean:.3} ({sd:.3})") } else { format!("{mean:.3}") }
            };
            table.row([
                way.model.name.to_string(),
                match way.topics_each {
                    0 => format!("none, {PRINTED_TOPICS} in all, as in the paper"),
                    n => n.to_string(),
                },
                way.weight.map_or("auto".into(), |weight| weight.to_string()),
                if way.once { "once" } else { "counted" }.to_string(),
                way.keep.to_string(),
                text(&|run| run.agreement.micro_f1()),
                text(&|run| run.agreement.macro_f1()),
                text(&|run| run.with_thresholds.micro_f1()),
                text(&|run| run.with_thresholds.macro_f1()),
                text(&|run| run.seconds),
            ]);
        }
        for ((micro, of_each), how) in SVM[which].iter().zip(["1", "balanced"]) {
            let name = "TF-IDF + LinearSVC, one against the rest";
            let [micro, of_each] = [micro, of_each].map(|f1| format!("{f1:.3}"));
            table.row([name.to_string(), String::new(), how.into(), "TF-IDF".into(), "all".into(), micro, of_each]);
        }
        tables.push(table);
    }
    let notes = vec![format!(
        "One pass, topics shared, our defaults but for what the table names; a document is given every label with a positive margin, or, under `thresholds`, with a margin above the one by which F1 of \
         the label is best for the training documents, scored as if they had no labels. The weight `auto` is the root of how many times rarer labels are than \
         their absence, of all labels together. Where documents are kept, labels are \
         learnt by linear machines from the topics that these documents have without their labels. `As in the paper`: the settings of section 8.2.2. Wikipedia: 5000 pages with one to seven of twenty labels, means and \
         standard deviations over folds (seed {seed}). Reuters: the ten largest topics, one order (seed {seed}); a document with none of them is \
         learnt with a further label, which is not judged. The lines of LinearSVC, which goes over the documents many times, are from \
         [bench/results/classify.md](../bench/results/classify.md); its folds are others."
    )];
    Ok(Outcome { notes, tables, figures: Vec::new(), files: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::super::trial::tests::planted;
    use super::*;

    #[test]
    fn a_document_without_labels_is_one_of_the_others() {
        assert_eq!(with_other(&[vec![1, 3], vec![], vec![0]], 7), [vec![1, 3], vec![7], vec![0]]);
    }

    #[test]
    fn a_threshold_is_where_f1_is_best() {
        let margins = vec![5.0, -1.0, 3.0, -2.0, 1.0, -9.0, 0.0, -3.0];
        let scores = DocumentScores { margins, n_labels: 2, ..DocumentScores::default() };
        // Label 0: the two largest margins are right. Label 1: the third is the last that is.
        let own = [vec![0], vec![0, 1], vec![], vec![1]];
        assert_eq!(thresholds(&scores, &own), [2.0, -6.0]);
        assert_eq!(agreement(&scores, &[2.0, -6.0], &own, 2).pooled().wrong, 1);
    }

    #[test]
    fn labels_are_told_and_the_further_one_is_not_judged() {
        let mut corpus = planted();
        // The last label is no label any more: its documents have none.
        corpus.label_names.pop();
        let last = corpus.label_names.len() as u32;
        corpus
            .train_labels
            .iter_mut()
            .chain(&mut corpus.test_labels)
            .for_each(|own| own.retain(|label| *label != last));
        let settings = MedSettings { minibatch: 32, ..ways()[0].settings() };
        let found = learn(&settings, &corpus, 6);
        for found in [found.agreement, found.with_thresholds] {
            assert!(found.labels.len() <= 2 && found.n_documents == 200);
            assert!(found.micro_f1() > 0.6, "{}", found.micro_f1());
        }
    }
}
