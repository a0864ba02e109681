//! Shards of one stream, learnt apart and put together.

use super::stream::{Sample, sample};
use super::subject::{BATCH, LinearSubject};
use crate::model::LinearModel;

pub(super) fn identity(subject: &LinearSubject) -> Result<(), String> {
    let model = subject.fitted(&sample(subject.setup(), 40, 0, 100))?;
    let merged = LinearModel::merge(std::slice::from_ref(&model)).map_err(|e| e.to_string())?;
    subject.ensure(merged.save() == model.save(), || "a model merged with nothing is another".into())?;
    subject.ensure(LinearModel::merge(&[]).is_err(), || "nothing at all can be merged".into())?;
    let other = subject.model_with(|s| s.c = Some(7.0))?;
    let code = LinearModel::merge(&[model, other]).map_err(|e| e.code()).err();
    subject.ensure(code == Some("models-differ"), || format!("{code:?}"))
}

fn shards(subject: &LinearSubject, all: &Sample, n: usize) -> Result<Vec<LinearModel>, String> {
    (0..n).map(|shard| subject.fitted(&all.only(|at| at % n == shard))).collect()
}

pub(super) fn commutes(subject: &LinearSubject) -> Result<(), String> {
    for n in [300, 2] {
        let models = shards(subject, &sample(subject.setup(), 41, 0, n), 3)?;
        let merge = |order: [usize; 3]| {
            let chosen: Vec<LinearModel> = order.iter().map(|at| models[*at].clone()).collect();
            LinearModel::merge(&chosen).map_err(|e| e.to_string())
        };
        let first = merge([0, 1, 2])?;
        subject.ensure(first.n_seen() == n as u64, || format!("{} rows are left of {n}", first.n_seen()))?;
        subject.ensure_sound(&first, &sample(subject.setup(), 41, 5000, 20), "three shards")?;
        for order in [[0, 2, 1], [1, 0, 2], [2, 1, 0]] {
            subject
                .ensure(merge(order)?.save() == first.save(), || format!("merged in the order {order:?} it differs"))?;
        }
    }
    Ok(())
}

/// Share of rows, or of the numbers' spread, that merged shards may lose.
const LOSS: f64 = 0.03;

pub(super) fn as_good(subject: &LinearSubject) -> Result<(), String> {
    let (all, fresh) = (sample(subject.setup(), 42, 0, 1200), sample(subject.setup(), 42, 5000, 300));
    let one_pass = subject.success(&subject.fitted(&all)?, &fresh)?;
    for n in [2, 4] {
        let mut merged = LinearModel::merge(&shards(subject, &all, n)?).map_err(|e| e.to_string())?;
        let found = subject.success(&merged, &fresh)?;
        subject.ensure(found > one_pass - LOSS, || format!("{n} shards have {found}, one pass {one_pass}"))?;
        subject.feed(&mut merged, &sample(subject.setup(), 42, 9000, 200), BATCH)?;
        let later = subject.success(&merged, &fresh)?;
        subject.ensure(later > one_pass - LOSS, || format!("{n} shards and more rows have {later}"))?;
    }
    Ok(())
}

pub(super) fn refusals(subject: &LinearSubject) -> Result<(), String> {
    let pair = |change: fn(&mut crate::model::LinearChoices)| {
        let models = [subject.model_with(change)?, subject.model_with(change)?];
        Ok::<_, String>(LinearModel::merge(&models).map(|_| ()).map_err(|e| (e.code(), e.to_string())))
    };
    let expected = |found: &Result<(), (&str, String)>, says: &str| match found {
        Err((code, text)) => *code == "merge-unsupported" && text.contains(says),
        Ok(()) => false,
    };
    let plain = pair(|_| ())?;
    if subject.kind() != crate::model::LinearKind::BayesPaGibbs {
        return subject.ensure(expected(&plain, "passive-aggressive steps"), || format!("{plain:?}"));
    }
    subject.ensure(plain.is_ok(), || format!("{plain:?}"))?;
    if !subject.is_words() {
        let diagonal = pair(|s| s.covariance = crate::model::CovarianceChoice::Diagonal)?;
        subject.ensure(expected(&diagonal, "covariance=full"), || format!("{diagonal:?}"))?;
        let unbiased = pair(|s| s.bias = Some(0.0))?;
        subject.ensure(expected(&unbiased, "bias above 0"), || format!("{unbiased:?}"))?;
        let raw = pair(|s| (s.scale, s.covariance) = (false, crate::model::CovarianceChoice::Diagonal))?;
        subject.ensure(raw.is_ok(), || format!("{raw:?}"))?;
    }
    Ok(())
}
