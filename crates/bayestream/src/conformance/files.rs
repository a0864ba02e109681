//! What a model says is the same after its file was read.

use super::Subject;
use super::forged::forge;
use super::stream::{SEED, mixture};
use crate::data::Batch;
use crate::model::Model;

fn reloaded(model: &Model) -> Result<Model, String> {
    Model::load(&model.save()).map_err(|e| e.to_string())
}

pub(super) fn scores_after_load(subject: &Subject) -> Result<(), String> {
    let stream = mixture(4, 3, 1500, SEED + 13);
    let d = stream.n_columns;
    let model = subject.fitted(&stream.rows, d, SEED + 14)?;
    let again = reloaded(&model)?;
    let mut rows = stream.held_out[..200 * d].to_vec();
    (0..40).for_each(|i| rows[i * 7] = f64::NAN);
    let scorers = [
        ("snapshot", model.snapshot().scorer(), again.snapshot().scorer()),
        ("master", model.scorer(), again.scorer()),
    ];
    for (name, mut before, mut after) in scorers {
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        before.score(&rows, &mut expected);
        after.score(&rows, &mut found);
        // As text, because two missing values are equal here.
        let same = format!("{expected:?}") == format!("{found:?}");
        subject.ensure(same && found.len() == 200, || format!("scores of the {name} differ after loading"))?;
        for row in rows.chunks(d).take(20) {
            let same = before.reasons(row) == after.reasons(row);
            subject.ensure(same, || format!("reasons of the {name} differ after loading"))?;
        }
    }
    Ok(())
}

/// What is wrong with what a model says of rows, if anything.
fn told_of(model: &Model, rows: &[f64]) -> Result<(), String> {
    let mut scores = Vec::new();
    for (name, mut scorer) in [("snapshot", model.snapshot().scorer()), ("master", model.scorer())] {
        // Before there is a model there is nothing to say.
        if scorer.ids().is_empty() {
            continue;
        }
        scorer.score(rows, &mut scores);
        if let Some(score) = scores.iter().find(|s| !(s.log_density.is_finite() && s.responsibility.is_finite())) {
            return Err(format!("the {name} says {score:?}"));
        }
    }
    let batch = Batch::new(rows, model.columns().len()).map_err(|e| e.to_string())?;
    let mut verdicts = Vec::new();
    model.judge().judge(&batch, &mut verdicts).map_err(|e| e.to_string())?;
    let is_odd = |p: f64| !(p > 0.0 && p <= 1.0);
    match verdicts.iter().find(|v| is_odd(v.p_value) || !v.surprise.is_finite() || v.views.into_iter().any(is_odd)) {
        Some(verdict) => Err(format!("the judge says {verdict:?}")),
        None => Ok(()),
    }
}

pub(super) fn forged(subject: &Subject) -> Result<(), String> {
    let stream = mixture(2, 2, 700, SEED + 17);
    let (d, streams) = (stream.n_columns, subject.kind().info().streaming);
    let rows = &stream.held_out[..20 * d];
    // While the first model is being made, and later; watched, so that what judging remembers is there too.
    for age in [40, 650] {
        let mut model = subject.fitted(&stream.rows[..age * d], d, SEED + 18)?;
        if streams {
            let watched = Batch::new(&stream.rows[age * d..(age + 50) * d], d).map_err(|e| e.to_string())?;
            model.watch(&watched).map_err(|e| e.to_string())?;
        }
        let harmless = |bytes: &[u8]| {
            let Ok(mut model) = Model::load(bytes) else { return Ok(()) };
            told_of(&model, rows)?;
            super::subject::update(&mut model, rows)?;
            model.finish();
            told_of(&model, rows).map_err(|why| format!("after another batch {why}"))
        };
        harmless(&model.save()).map_err(|why| format!("before anything is forged: {why}"))?;
        forge(&model, &model.save(), harmless, || {
            let _ = subject.ensure(true, String::new);
        })?;
    }
    Ok(())
}
