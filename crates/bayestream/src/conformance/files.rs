//! What a model says is the same after its file was read.

use super::Subject;
use super::stream::{SEED, mixture};
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
