//! Labels: their order, their names, their absence; and that what is learnt is what was planted.

use super::stream::{LABELS, Sample, sample};
use super::subject::{BATCH, LinearSubject, Setup};

fn renamed(sample: &Sample, name: impl Fn(&str) -> String) -> Sample {
    let mut out = sample.clone();
    out.labels.iter_mut().flatten().for_each(|label| *label = name(label));
    out
}

pub(super) fn order(subject: &LinearSubject) -> Result<(), String> {
    let all = sample(subject.setup(), 30, 0, 200);
    let first = subject.fitted(&all)?.save();
    // Twice the same label, blanks around it, labels in another order.
    let mut untidy = all.clone();
    for list in &mut untidy.labels {
        list.reverse();
        list.push(format!("  {} ", list[0]));
        list.push(String::new());
    }
    subject.ensure(subject.fitted(&untidy)?.save() == first, || "labels out of order make another model".into())
}

pub(super) fn names(subject: &LinearSubject) -> Result<(), String> {
    if subject.setup() == Setup::Number {
        // Numbers have no names, but one number may be written in many ways.
        let all = sample(subject.setup(), 31, 0, 100);
        let written = renamed(&all, |text| format!("{text}e0"));
        let same = subject.fitted(&all)?.save() == subject.fitted(&written)?.save();
        return subject.ensure(same, || "numbers written otherwise make another model".into());
    }
    let (all, fresh) = (sample(subject.setup(), 31, 0, 200), sample(subject.setup(), 31, 5000, 30));
    let model = subject.fitted(&all)?;
    // The same labels in the opposite order of the alphabet.
    let opposite = |label: &str| format!("{}-{label}", LABELS.iter().rev().position(|l| *l == label).unwrap_or(9));
    let other = subject.fitted(&renamed(&all, opposite))?;
    for (one, two) in subject.judged(&model, &fresh)?.iter().zip(subject.judged(&other, &fresh)?) {
        let turned: Vec<f64> = two.scores.iter().rev().copied().collect();
        subject.ensure(one.scores == turned, || format!("{:?} {turned:?}", one.scores))?;
    }
    Ok(())
}

pub(super) fn unlabelled(subject: &LinearSubject) -> Result<(), String> {
    let all = sample(subject.setup(), 32, 0, 240);
    let mut holes = all.clone();
    holes.labels.iter_mut().enumerate().filter(|(at, _)| at % 2 == 0).for_each(|(at, list)| {
        *list = if at % 4 == 0 { Vec::new() } else { vec![" ".into()] };
    });
    let unscaled = |s: &mut crate::model::LinearChoices| s.scale = false;
    let mut model = subject.model_with(unscaled)?;
    subject.feed(&mut model, &holes, BATCH)?;
    let counts = (model.n_seen(), model.learner().n_unlabelled());
    subject.ensure(counts == (240, 120), || format!("{counts:?}"))?;
    let mut without = subject.model_with(unscaled)?;
    subject.feed(&mut without, &all.only(|at| at % 2 == 1), BATCH)?;
    let fresh = sample(subject.setup(), 32, 5000, 30);
    // Words first met in a row without a label have other numbers, and sums of them another order.
    for (a, b) in subject.judged(&model, &fresh)?.iter().zip(subject.judged(&without, &fresh)?) {
        let near = a.scores.iter().zip(&b.scores).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs()));
        subject.ensure(near && a.scores.len() == b.scores.len(), || format!("{:?} {:?}", a.scores, b.scores))?;
    }
    Ok(())
}

pub(super) fn late(subject: &LinearSubject) -> Result<(), String> {
    let setup = subject.setup();
    let all = sample(setup, 33, 0, 900);
    // Until the middle of the stream there is no coral.
    let stream = all.only(|at| at >= 450 || !all.labels[at].iter().any(|label| label == LABELS[2]));
    let model = subject.fitted(&stream)?;
    let fresh = sample(setup, 33, 5000, 200);
    let success = subject.success(&model, &fresh)?;
    subject.ensure(success > 0.8, || format!("{success} right"))?;
    subject.ensure_sound(&model, &fresh, "with a label that came late")
}

pub(super) fn learns(subject: &LinearSubject) -> Result<(), String> {
    for seed in [34, 35] {
        let model = subject.fitted(&sample(subject.setup(), seed, 0, 1200))?;
        let success = subject.success(&model, &sample(subject.setup(), seed, 5000, 300))?;
        subject.ensure(success > 0.85, || format!("{success} right"))?;
        let foretold = model.foretold();
        let better = match subject.setup() {
            Setup::Number => foretold.mean_absolute_error() < 0.3 * foretold.mean_absolute_error_of_mean(),
            Setup::Several => foretold.f1() > 0.85,
            Setup::Columns | Setup::Words => foretold.accuracy() > 2.0 * foretold.accuracy_of_commonest(),
        };
        subject.ensure(better, || format!("{foretold:?}"))?;
    }
    Ok(())
}

pub(super) fn reasons(subject: &LinearSubject) -> Result<(), String> {
    let setup = subject.setup();
    let model = subject.fitted(&sample(setup, 36, 0, 600))?;
    let fresh = sample(setup, 36, 5000, 100);
    let (mut n, mut telling) = (0, 0);
    for judgement in subject.judged(&model, &fresh)? {
        let Some(reason) = judgement.reasons.first() else { continue };
        let name = model.feature_name(reason.feature).unwrap_or_default().to_string();
        let leading = judgement.labels.first().map_or("", |at| model.labels()[*at].as_str());
        let place = LABELS.iter().position(|label| *label == leading);
        n += 1;
        telling += usize::from(match setup {
            Setup::Number => name == "column0" || name == "column1",
            Setup::Words => name.starts_with(leading),
            Setup::Columns | Setup::Several => place.is_some_and(|at| name == format!("column{at}")),
        });
    }
    subject.ensure(n > 80 && telling * 10 > n * 9, || format!("{telling} of {n} reasons are the planted ones"))
}

/// A long stream may take this much more space than its first part.
const GROWTH: f64 = 1.05;

pub(super) fn memory(subject: &LinearSubject) -> Result<(), String> {
    let mut model = subject.model_with(|s| s.text.max_words = 150)?;
    let mut sizes = Vec::new();
    for (first, n) in [(0, 1000), (1000, 4000)] {
        let mut part = sample(subject.setup(), 37, first, n);
        for (at, document) in part.documents.iter_mut().enumerate() {
            if let crate::text::RawDocument::Tokens(tokens) = document {
                tokens.push(format!("strange{}", first as usize + at));
            }
        }
        subject.feed(&mut model, &part, 100)?;
        sizes.push(model.save().len());
    }
    subject.ensure(sizes[1] as f64 <= GROWTH * sizes[0] as f64, || format!("{sizes:?} bytes"))?;
    subject.ensure_sound(&model, &sample(subject.setup(), 37, 9000, 20), "after words were let go")
}
