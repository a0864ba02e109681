//! Labels: those who learn them do so whatever the stream does, and others do not look at them.

use super::stream::name;
use super::subject::DocumentSubject;
use crate::conformance::stream::SEED;
use crate::engine::bayespa::MedSettings;
use crate::model::{DocumentConfig, DocumentModel, DocumentSettings};
use crate::synthetic::{LabelledShape, LabelledTopics, Labelling, PlantedShape};
use crate::text::RawDocument;

/// Documents with the names of their labels.
type Stream = (Vec<RawDocument>, Vec<Vec<String>>);

fn truth(change: impl FnOnce(&mut LabelledShape)) -> LabelledTopics {
    let mut shape = LabelledShape {
        n_labels: 3,
        topics_per_label: 1,
        n_common: 0,
        noise: 0.0,
        topics: PlantedShape { n_words: 300, eta: 0.05, alpha: 0.05, mean_words: 40.0, ..PlantedShape::default() },
        ..LabelledShape::default()
    };
    change(&mut shape);
    LabelledTopics::new(&shape, SEED + 60)
}

fn stream(truth: &LabelledTopics, first: u64, n: usize) -> Stream {
    let (buffer, labels) = truth.documents(first, n);
    let tokens = |(words, counts): (&[u32], &[u32])| {
        words.iter().zip(counts).flat_map(|(&word, &count)| std::iter::repeat_n(name(word), count as usize)).collect()
    };
    let documents = buffer.documents().iter().map(|document| RawDocument::Tokens(tokens(document))).collect();
    (documents, labels.iter().map(|own| own.iter().map(|label| format!("label{label}")).collect()).collect())
}

fn feed(model: &mut DocumentModel, (documents, labels): &Stream, n: usize) -> Result<(), String> {
    for (documents, labels) in documents.chunks(n).zip(labels.chunks(n)) {
        model.update_labelled(documents, labels).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// The kind's defaults, with mini-batches small enough that some are learnt.
fn small(subject: &DocumentSubject) -> impl Fn(&mut DocumentSettings) {
    let supervised = DocumentSettings::of(subject.kind()).supervised;
    move |settings| {
        settings.supervised = MedSettings { minibatch: 64, ..supervised.clone() };
        settings.svi.batch_size = 64;
    }
}

fn model(subject: &DocumentSubject) -> Result<DocumentModel, String> {
    subject.model_with(61, small(subject))
}

fn fitted(subject: &DocumentSubject, stream: &Stream) -> Result<DocumentModel, String> {
    let mut model = model(subject)?;
    feed(&mut model, stream, 50)?;
    model.finish();
    Ok(model)
}

/// The share of documents whose labels are told exactly; 1 for kinds that do not tell labels.
fn accuracy(model: &DocumentModel, (documents, labels): &Stream) -> Result<f64, String> {
    let (scores, _) = model.score(documents).map_err(|e| e.to_string())?;
    if scores.n_labels == 0 {
        return Ok(1.0);
    }
    let names = model.labels().names();
    let right = (0..documents.len()).filter(|at| {
        let told = model.told_labels(scores.margins_of(*at));
        let mut told: Vec<&String> = told.iter().map(|label| &names[*label as usize]).collect();
        told.sort_unstable();
        told == labels[*at].iter().collect::<Vec<_>>()
    });
    Ok(right.count() as f64 / documents.len() as f64)
}

pub(super) fn learnt(subject: &DocumentSubject) -> Result<(), String> {
    let truth = truth(|_| ());
    let model = fitted(subject, &stream(&truth, 0, 900))?;
    let (scores, _) = model.score(&stream(&truth, 5000, 5).0).map_err(|e| e.to_string())?;
    let n_expected = if subject.kind().takes_labels() { 3 } else { 0 };
    subject.ensure(scores.n_labels == n_expected && model.labels().len() == n_expected, || {
        format!("{} labels of {n_expected}", scores.n_labels)
    })?;
    subject.ensure(scores.margins.iter().all(|margin| margin.is_finite()), || format!("{:?}", scores.margins))?;
    let accuracy = accuracy(&model, &stream(&truth, 5000, 300))?;
    subject.ensure(accuracy > 0.9, || format!("labels of {accuracy} of the documents are told"))
}

/// Kinds without labels are the same with and without them; for the others the order and blanks of labels do not matter.
pub(super) fn indifferent(subject: &DocumentSubject) -> Result<(), String> {
    let (documents, labels) = stream(&truth(|s| s.labelling = Labelling::Above(0.2)), 0, 200);
    let other: Vec<Vec<String>> = labels
        .iter()
        .map(|own| match subject.kind().takes_labels() {
            true => own.iter().rev().map(|label| format!(" {label}")).chain([String::new()]).collect(),
            false => Vec::new(),
        })
        .collect();
    // Labels are numbered as they come: the first document settles it.
    let first = |labels: &[Vec<String>]| -> Vec<Vec<String>> {
        let all = (0..3).map(|label| vec![format!("label{label}")]);
        all.chain(labels.iter().cloned()).collect()
    };
    let three: Vec<RawDocument> = documents[..3].iter().chain(&documents).cloned().collect();
    let one = fitted(subject, &(three.clone(), first(&labels)))?.save();
    let two = fitted(subject, &(three, first(&other)))?.save();
    subject.ensure(one == two, || "the way in which labels are written matters".into())
}

pub(super) fn threads(subject: &DocumentSubject) -> Result<(), String> {
    let stream = stream(&truth(|_| ()), 0, 300);
    let run = |n_threads: usize| {
        let mut model = model(subject)?;
        model.set_threads(n_threads);
        feed(&mut model, &stream, 130)?;
        model.finish();
        Ok::<_, String>(model.save())
    };
    let one = run(1)?;
    for n_threads in [2, 8] {
        subject.ensure(run(n_threads)? == one, || format!("{n_threads} threads give other bytes"))?;
    }
    Ok(())
}

pub(super) fn state(subject: &DocumentSubject) -> Result<(), String> {
    let all = stream(&truth(|s| s.last_appears = 150), 0, 300);
    let listed: Vec<String> = (0..300).map(name).collect();
    let run = |n: usize, reload: bool| {
        let mut model =
            DocumentModel::with_words(subject.config(62, small(subject)), listed.clone()).map_err(|e| e.to_string())?;
        for (documents, labels) in all.0.chunks(n).zip(all.1.chunks(n)) {
            model.update_labelled(documents, labels).map_err(|e| e.to_string())?;
            if reload {
                model = DocumentModel::load(&model.save()).map_err(|e| e.to_string())?;
            }
        }
        model.finish();
        Ok::<_, String>(model.save())
    };
    let whole = run(300, false)?;
    for n in [1, 37] {
        subject.ensure(run(n, false)? == whole, || format!("in batches of {n} labelled documents it differs"))?;
    }
    subject.ensure(run(60, true)? == whole, || "interrupted after every batch it differs".into())
}

pub(super) fn midway(subject: &DocumentSubject) -> Result<(), String> {
    let truth = truth(|s| s.last_appears = 600);
    let model = fitted(subject, &stream(&truth, 0, 1800))?;
    let accuracy = accuracy(&model, &stream(&truth, 5000, 300))?;
    subject.ensure(accuracy > 0.85, || format!("with a label that appeared midway {accuracy} are told"))
}

pub(super) fn partly_labelled(subject: &DocumentSubject) -> Result<(), String> {
    let truth = truth(|_| ());
    let (documents, mut labels) = stream(&truth, 0, 1200);
    // None of the first ones, and then every other one.
    labels.iter_mut().enumerate().filter(|(at, _)| *at < 100 || at % 2 == 0).for_each(|(_, own)| own.clear());
    let model = fitted(subject, &(documents, labels))?;
    let accuracy = accuracy(&model, &stream(&truth, 5000, 300))?;
    subject.ensure(accuracy > 0.85, || format!("with half of the labels {accuracy} are told"))
}

pub(super) fn several(subject: &DocumentSubject) -> Result<(), String> {
    let truth = truth(|s| {
        s.labelling = Labelling::Above(0.25);
        s.topics.alpha = 0.3;
    });
    let model = fitted(subject, &stream(&truth, 0, 1500))?;
    let fresh = stream(&truth, 5000, 300);
    let accuracy = accuracy(&model, &fresh)?;
    subject.ensure(accuracy > 0.5, || format!("of several labels {accuracy} are told exactly"))
}

/// A label seen once, one label for all, and labels that contradict each other: no harm.
pub(super) fn odd(subject: &DocumentSubject) -> Result<(), String> {
    let truth = truth(|_| ());
    let (documents, labels) = stream(&truth, 0, 300);
    let mut once = labels.clone();
    once[120] = vec!["rare".into()];
    let same = vec![vec!["all".to_string()]; 300];
    let turns: Vec<Vec<String>> = (0..300).map(|at| vec![format!("turn{}", at % 2)]).collect();
    let same_document = vec![documents[0].clone(); 300];
    let fresh = stream(&truth, 5000, 20).0;
    for (documents, labels, when) in [
        (&documents, &once, "a label seen once"),
        (&documents, &same, "one label for all"),
        (&same_document, &turns, "labels that contradict each other"),
    ] {
        let model = fitted(subject, &(documents.clone(), labels.clone()))?;
        subject.ensure_sound(&model, &fresh, when)?;
        let (scores, _) = model.score(&fresh).map_err(|e| e.to_string())?;
        subject.ensure(scores.margins.iter().all(|margin| margin.is_finite()), || format!("{when}: no margins"))?;
    }
    Ok(())
}

pub(super) fn refused(subject: &DocumentSubject) -> Result<(), String> {
    let all = stream(&truth(|_| ()), 0, 40);
    let mut model = subject.model_with(63, |s| s.max_labels = 5)?;
    feed(&mut model, &all, 20)?;
    let before = model.save();
    let many: Vec<Vec<String>> = (0..40).map(|at| vec![format!("id{at}")]).collect();
    let refused = model.update_labelled(&all.0, &many).is_err();
    subject.ensure(refused == subject.kind().takes_labels(), || "a label for each document is taken".into())?;
    let uneven = subject.kind().takes_labels() && model.update_labelled(&all.0, &many[..3]).is_ok();
    subject.ensure(!uneven, || "labels for some of the documents are taken".into())?;
    if refused {
        subject.ensure(model.save() == before, || "labels that are refused change the model".into())?;
    }
    Ok(())
}

/// Shards whose topics all belong to labels can be put together; others say why not.
pub(super) fn shards(subject: &DocumentSubject) -> Result<(), String> {
    let truth = truth(|_| ());
    let (documents, labels) = stream(&truth, 0, 1200);
    let shard = |shard: usize| {
        let config = DocumentConfig { shard: shard as u32, ..subject.config(64, small(subject)) };
        let mut model = DocumentModel::new(config).map_err(|e| e.to_string())?;
        let own = |at: &usize| at % 2 == shard;
        let documents: Vec<RawDocument> = (0..1200).filter(own).map(|at| documents[at].clone()).collect();
        let labels: Vec<Vec<String>> = (0..1200).filter(own).map(|at| labels[at].clone()).collect();
        feed(&mut model, &(documents, labels), 70)?;
        model.finish();
        Ok::<_, String>(model)
    };
    let (one, two) = (shard(0)?, shard(1)?);
    match DocumentModel::merge(&[one.clone(), two.clone()]) {
        Err(error) => subject.ensure(error.to_string().len() > 30, || format!("{error}")),
        Ok(merged) => {
            let other = DocumentModel::merge(&[two, one]).map_err(|e| e.to_string())?;
            subject.ensure(merged.save() == other.save(), || "the order of labelled shards matters".into())?;
            subject.ensure(merged.n_seen() == 1200, || format!("{} documents are left", merged.n_seen()))?;
            let accuracy = accuracy(&merged, &stream(&truth, 5000, 300))?;
            subject.ensure(accuracy > 0.9, || format!("of merged shards {accuracy} are told"))
        }
    }
}

/// Everything that is said of documents and labels is there, and finite, for labels that came with no words at all too.
pub(super) fn of_empty_documents(subject: &DocumentSubject) -> Result<(), String> {
    let empty = |labels: &[&str]| {
        let labels: Vec<Vec<String>> = labels.iter().map(|label| vec![label.to_string()]).collect();
        (vec![RawDocument::Tokens(Vec::new()); labels.len()], labels)
    };
    let real = stream(&truth(|_| ()), 0, 150);
    let joined = |parts: &[&Stream]| {
        let documents = parts.iter().flat_map(|part| part.0.clone()).collect();
        (documents, parts.iter().flat_map(|part| part.1.clone()).collect())
    };
    let (labelled, unlabelled) = (empty(&["wet", "dry", "dry"]), empty(&["", "", ""]));
    let streams: [(&str, Stream); 5] = [
        ("nothing but labels", labelled.clone()),
        ("neither words nor labels", unlabelled.clone()),
        ("labels of nothing first", joined(&[&labelled, &real])),
        ("labels of nothing last", joined(&[&real, &labelled])),
        ("documents without words or labels among others", joined(&[&real, &unlabelled, &real])),
    ];
    for (when, stream) in &streams {
        let model = fitted(subject, stream)?;
        let n_labels = model.labels().len();
        let asked = joined(&[&labelled, &(real.0[..5].to_vec(), real.1[..5].to_vec())]).0;
        let (scores, _) = model.score(&asked).map_err(|e| e.to_string())?;
        let sizes = (scores.n_labels, scores.margins.len());
        subject.ensure(sizes == (n_labels, n_labels * asked.len()), || {
            format!("{when}: {sizes:?} labels and margins of {} documents and {n_labels} labels", asked.len())
        })?;
        subject.ensure(scores.margins.iter().all(|m| m.is_finite()), || format!("{when}: {:?}", scores.margins))?;
        for (at, document) in asked.iter().enumerate() {
            let told = model.told_labels(scores.margins_of(at));
            let known = told.iter().all(|label| (*label as usize) < n_labels);
            let one = model.tells_several() || told.len() == n_labels.min(1);
            subject.ensure(known && one, || format!("{when}: document {at} has labels {told:?} of {n_labels}"))?;
            model.speaking_words(document, 0, 3).map_err(|e| e.to_string())?;
        }
        model.snapshot();
        model.label_summaries();
        let again = DocumentModel::load(&model.save()).map_err(|e| format!("{when}: {e}"))?;
        subject.ensure(again.save() == model.save(), || format!("{when}: its file changes when loaded"))?;
    }
    Ok(())
}
