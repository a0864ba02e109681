//! Rows at the edge of what there is: whatever comes, what a model says stays finite and makes sense.

use super::stream::{LABELS, N_COLUMNS, Sample, of_words, sample};
use super::subject::{BATCH, LinearSubject, Setup};
use crate::data::LARGEST_CELL;
use crate::model::{LinearConfig, LinearModel};
use crate::num::stream;
use crate::text::RawDocument;

pub(super) fn one_row(subject: &LinearSubject) -> Result<(), String> {
    let one = sample(subject.setup(), 20, 0, 1);
    subject.ensure_sound(&subject.fitted(&one)?, &one, "after one row")
}

pub(super) fn label_seen_once(subject: &LinearSubject) -> Result<(), String> {
    let setup = subject.setup();
    let (mut all, fresh) = (sample(setup, 21, 0, 300), sample(setup, 21, 5000, 100));
    let is_number = setup == Setup::Number;
    all.labels[150] = vec![if is_number { "-1e6" } else { "once" }.to_string()];
    let model = subject.fitted(&all)?;
    subject.ensure_sound(&model, &fresh, "with a label seen once")?;
    let known = is_number || model.labels().iter().any(|label| label == "once");
    subject.ensure(known, || "the label is not known".into())?;
    let success = subject.success(&model, &fresh)?;
    subject.ensure(is_number || success > 0.85, || format!("{success} right"))
}

pub(super) fn one_class(subject: &LinearSubject) -> Result<(), String> {
    let mut all = sample(subject.setup(), 22, 0, 200);
    let is_number = subject.setup() == Setup::Number;
    all.labels = vec![vec![if is_number { "7.25" } else { "only" }.to_string()]; 200];
    let model = subject.fitted(&all)?;
    subject.ensure_sound(&model, &all, "with one label")?;
    for judgement in subject.judged(&model, &all)? {
        match is_number {
            true => subject.ensure((judgement.number - 7.25).abs() < 1e-9, || format!("{judgement:?}"))?,
            false => subject.ensure(judgement.labels == [0], || format!("{judgement:?}"))?,
        }
    }
    let foretold = model.foretold();
    // Where labels need a score above zero, the first rows may not have taught that much.
    let early = if subject.setup() == Setup::Several { 3 } else { 0 };
    subject.ensure(is_number || foretold.right + early >= foretold.n, || format!("{foretold:?}"))
}

pub(super) fn conflicting(subject: &LinearSubject) -> Result<(), String> {
    let one = sample(subject.setup(), 23, 0, 1);
    let told = if subject.setup() == Setup::Number { ["1", "2"] } else { [LABELS[0], LABELS[1]] };
    let mut model = subject.model()?;
    for row in 0..400 {
        let mut same = one.clone();
        same.labels[0] = vec![told[row % 2].to_string()];
        subject.feed(&mut model, &same, 1)?;
    }
    subject.ensure_sound(&model, &one, "with one row of two labels in turn")?;
    // Neither is right for long: what is said must stay of the size of what was asked for.
    let judgement = &subject.judged(&model, &one)?[0];
    let within = judgement.scores.iter().all(|score| score.abs() < 3.0);
    subject.ensure(within, || format!("scores run away: {judgement:?}"))
}

pub(super) fn nothing_to_go_by(subject: &LinearSubject) -> Result<(), String> {
    let setup = subject.setup();
    let (all, fresh) = (sample(setup, 24, 0, 200), sample(setup, 24, 5000, 100));
    let emptied = |sample: &Sample, empty: &dyn Fn(usize) -> bool| {
        let mut out = sample.clone();
        for at in (0..out.len()).filter(|at| empty(*at)) {
            out.documents[at] = if at % 2 == 0 { of_words(&[]) } else { RawDocument::Text(" … 12 !".into()) };
            out.cells[at * N_COLUMNS..(at + 1) * N_COLUMNS].fill(f64::NAN);
        }
        out
    };
    // The first rows are empty, and every third.
    let model = subject.fitted(&emptied(&all, &|at| at < 3 || at % 3 == 0))?;
    subject.ensure(model.n_seen() == 200, || format!("{} seen", model.n_seen()))?;
    subject.ensure_sound(&model, &fresh, "with empty rows")?;
    subject.ensure_sound(&model, &emptied(&fresh, &|_| true), "scoring empty rows")?;
    let success = subject.success(&model, &fresh)?;
    // Numbers of empty rows pull at the constant, and passive-aggressive steps follow the latest rows.
    let least = if setup == Setup::Number { 0.5 } else { 0.75 };
    subject.ensure(success > least, || format!("{success} right"))?;
    let mut model = subject.fitted(&emptied(&all, &|_| true))?;
    subject.ensure_sound(&model, &fresh, "after nothing but empty rows")?;
    subject.feed(&mut model, &all, BATCH)?;
    subject.ensure_sound(&model, &fresh, "after empty rows and others")
}

pub(super) fn missing_cells(subject: &LinearSubject) -> Result<(), String> {
    let setup = subject.setup();
    let (mut all, fresh) = (sample(setup, 25, 0, 400), sample(setup, 25, 5000, 100));
    let mut rng = stream(25, 1, 0);
    all.cells.iter_mut().for_each(|cell| *cell = if rng.uniform() < 0.15 { f64::NAN } else { *cell });
    for document in &mut all.documents {
        if let RawDocument::Tokens(tokens) = document {
            tokens.retain(|_| rng.uniform() > 0.15);
        }
    }
    let model = subject.fitted(&all)?;
    subject.ensure_sound(&model, &all, "with missing cells")?;
    let success = subject.success(&model, &fresh)?;
    let least = if setup == Setup::Number { 0.4 } else { 0.6 };
    subject.ensure(success > least, || format!("{success} right with holes"))
}

pub(super) fn unseen_words(subject: &LinearSubject) -> Result<(), String> {
    let model = subject.fitted(&sample(subject.setup(), 26, 0, 200))?;
    let mut fresh = sample(subject.setup(), 26, 5000, 10);
    let before = subject.judged(&model, &fresh)?;
    for document in &mut fresh.documents {
        if let RawDocument::Tokens(tokens) = document {
            tokens.push("zeppelin".into());
        }
    }
    let after = subject.judged(&model, &fresh)?;
    let same = before.iter().zip(&after).all(|(a, b)| a.scores == b.scores && a.labels == b.labels);
    subject.ensure(same, || "a word that was never learnt changes scores".into())?;
    fresh.documents.iter_mut().for_each(|document| *document = of_words(&["zeppelin", "xylophone"]));
    subject.ensure_sound(&model, &fresh, "with words that were never learnt alone")
}

/// The largest cells that models take, and the smallest that are not zero.
pub(super) fn extreme_cells(subject: &LinearSubject) -> Result<(), String> {
    let (all, mut model) = (sample(subject.setup(), 27, 0, 60), subject.model()?);
    let sizes = [LARGEST_CELL, 1e75, 1e-300];
    for (size, scale) in sizes.into_iter().flat_map(|size| [(size, true), (size, false)]) {
        let mut wild = all.clone();
        wild.cells.iter_mut().enumerate().filter(|(at, _)| at % 3 == 0).for_each(|(at, cell)| {
            *cell = if at % 2 == 0 { size } else { -size };
        });
        model = subject.model_with(|s| s.scale = scale)?;
        subject.feed(&mut model, &wild, BATCH)?;
        subject.ensure_sound(&model, &all, &format!("with cells of {size:e}"))?;
        subject.ensure_sound(&model, &wild, &format!("scoring cells of {size:e}"))?;
    }
    subject.ensure(model.n_seen() == 60, || format!("{} seen", model.n_seen()))
}

pub(super) fn more_columns_than_rows(subject: &LinearSubject) -> Result<(), String> {
    if subject.is_words() {
        // Three documents have more words than that.
        let few = sample(subject.setup(), 28, 0, 3);
        return subject.ensure_sound(&subject.fitted(&few)?, &few, "with three documents");
    }
    let mut rng = stream(28, 2, 0);
    for d in [60, 300] {
        let columns = (0..d).map(|at| format!("c{at}")).collect();
        let config = LinearConfig { columns, ..subject.config(|_| ()) };
        let mut model = LinearModel::new(config).map_err(|e| e.to_string())?;
        let labels = sample(subject.setup(), 28, 0, 12).labels;
        let cells = (0..12 * d).map(|_| rng.normal()).collect();
        let wide = Sample { cells, documents: Vec::new(), labels };
        subject.update(&mut model, &wide).map_err(|e| e.to_string())?;
        subject.ensure_sound(&model, &wide, &format!("with {d} columns and 12 rows"))?;
    }
    Ok(())
}

pub(super) fn constant_columns(subject: &LinearSubject) -> Result<(), String> {
    let (mut all, mut fresh) = (sample(subject.setup(), 29, 0, 300), sample(subject.setup(), 29, 5000, 100));
    for sample in [&mut all, &mut fresh] {
        sample.cells.chunks_exact_mut(N_COLUMNS).for_each(|row| row[3] = 1e6);
    }
    let model = subject.fitted(&all)?;
    subject.ensure_sound(&model, &fresh, "with a column that does not vary")?;
    let success = subject.success(&model, &fresh)?;
    subject.ensure(success > 0.8, || format!("{success} right"))
}
