//! What an update and a look may and may not change.

use super::stream::{N_COLUMNS, Sample, sample};
use super::subject::{BATCH, LinearSubject, Setup};
use crate::data::{Batch, LARGEST_CELL};
use crate::model::LinearModel;
use crate::text::RawDocument;

/// Ages at which the state is looked at.
const AGES: [usize; 4] = [0, 1, 30, 200];

fn aged(subject: &LinearSubject, age: usize) -> Result<LinearModel, String> {
    subject.fitted(&sample(subject.setup(), 1, 0, age))
}

pub(super) fn no_rows(subject: &LinearSubject) -> Result<(), String> {
    let nothing = sample(subject.setup(), 1, 0, 0);
    for age in AGES {
        let mut model = aged(subject, age)?;
        let before = model.save();
        subject.update(&mut model, &nothing).map_err(|e| e.to_string())?;
        subject.ensure(model.save() == before, || format!("after {age} rows none at all change the file"))?;
    }
    Ok(())
}

/// Batches of three rows with something wrong in the second, and the codes of their errors.
fn spoilt(subject: &LinearSubject) -> Vec<(Sample, &'static str)> {
    let good = sample(subject.setup(), 2, 900, 3);
    let with = |change: &dyn Fn(&mut Sample)| {
        let mut bad = good.clone();
        change(&mut bad);
        bad
    };
    let mut all = vec![(with(&|s| s.labels.truncate(2)), "label-count")];
    match subject.setup() {
        Setup::Words => {
            let uneven = RawDocument::Counts { terms: vec![3, 4, 5], counts: vec![1, 2] };
            all.push((with(&|s| s.documents[1] = uneven.clone()), "uneven-counts"));
        }
        _ => {
            all.push((with(&|s| s.cells[N_COLUMNS + 1] = 2.0 * LARGEST_CELL), "too-large"));
            all.push((with(&|s| s.cells[N_COLUMNS + 1] = f64::INFINITY), "infinite-cell"));
        }
    }
    match subject.setup() {
        Setup::Number => {
            for text in ["inf", "1e300", "seven", "1,5"] {
                all.push((with(&|s| s.labels[1] = vec![text.to_string()]), "not-a-number"));
            }
        }
        Setup::Several => {}
        Setup::Columns | Setup::Words => {
            all.push((with(&|s| s.labels[1] = vec!["one".into(), "two".into()]), "several-labels"));
        }
    }
    if subject.setup() != Setup::Number {
        let many = |s: &mut Sample| s.labels.iter_mut().enumerate().for_each(|(at, l)| *l = vec![format!("new{at}")]);
        all.push((with(&many), "too-many-labels"));
    }
    all
}

pub(super) fn failed_update(subject: &LinearSubject) -> Result<(), String> {
    for age in AGES {
        for (batch, code) in spoilt(subject) {
            let mut model = subject.model_with(|s| s.max_labels = 4)?;
            subject.feed(&mut model, &sample(subject.setup(), 1, 0, age), BATCH)?;
            // Three new labels are one too many only where some are known.
            if code == "too-many-labels" && age < 2 {
                continue;
            }
            let before = model.save();
            let found = subject.update(&mut model, &batch).map_err(|e| e.code());
            subject.ensure(found == Err(code), || format!("{found:?} where {code} was due"))?;
            subject.ensure(model.save() == before, || format!("after {age} rows {code} changes the file"))?;
        }
    }
    let mut model = aged(subject, 30)?;
    let before = model.save();
    let refused = match subject.is_words() {
        true => model.update_rows(&Batch::new(&[1.0, 2.0], 2).map_err(|e| e.to_string())?, &[vec!["amber".into()]]),
        false => model.update_documents(&[RawDocument::Text("a word".into())], &[vec!["1".into()]]),
    };
    subject.ensure(refused.is_err() && model.save() == before, || "features of another sort are learnt".into())
}

pub(super) fn same_bytes(subject: &LinearSubject) -> Result<(), String> {
    let all = sample(subject.setup(), 3, 0, 300);
    let first = subject.fitted(&all)?.save();
    subject.ensure(first == subject.fitted(&all)?.save(), || "two runs differ".into())
}

pub(super) fn looks_are_pure(subject: &LinearSubject) -> Result<(), String> {
    let all = sample(subject.setup(), 4, 0, 200);
    let (mut looked_at, mut left_alone) = (subject.model()?, subject.model()?);
    let mut from = 0;
    for age in AGES {
        let part = all.part(from, age);
        subject.feed(&mut looked_at, &part, BATCH)?;
        subject.feed(&mut left_alone, &part, BATCH)?;
        from = age;
        looked_at.snapshot();
        subject.judged(&looked_at, &all.part(0, 20))?;
        subject.ensure(looked_at.save() == left_alone.save(), || format!("a look after {age} rows changes it"))?;
    }
    Ok(())
}

pub(super) fn cut_of_batches(subject: &LinearSubject) -> Result<(), String> {
    let all = sample(subject.setup(), 5, 0, 300);
    let file = |n: usize| {
        // A vocabulary that grows remembers which words were in the latest batch; a given one does not.
        let mut model = subject.model_of_list()?;
        subject.feed(&mut model, &all, n)?;
        Ok::<_, String>(model.save())
    };
    let whole = file(all.len())?;
    for n in [1, 33, 250] {
        subject.ensure(file(n)? == whole, || format!("in batches of {n} rows it differs"))?;
    }
    Ok(())
}

pub(super) fn weights(subject: &LinearSubject) -> Result<(), String> {
    if subject.is_words() {
        // Documents have no weights: what is left to say is that each counts once.
        let all = sample(subject.setup(), 6, 0, 30);
        return subject.ensure(subject.fitted(&all)?.n_seen() == 30, || "documents are lost".into());
    }
    let all = sample(subject.setup(), 6, 0, 120);
    let weights: Vec<f64> = (0..120).map(|at| if at % 3 == 0 { 0.0 } else { 1.0 }).collect();
    let mut weighted = subject.model()?;
    let batch = Batch::new(&all.cells, N_COLUMNS).and_then(|b| b.with_weights(&weights)).map_err(|e| e.to_string())?;
    weighted.update_rows(&batch, &all.labels).map_err(|e| e.to_string())?;
    let without = subject.fitted(&all.only(|at| at % 3 != 0))?;
    subject.ensure(weighted.save() == without.save(), || "rows of weight zero matter".into())?;
    let heavy: Vec<f64> = vec![3.0; 120];
    let mut model = subject.model()?;
    let batch = Batch::new(&all.cells, N_COLUMNS).and_then(|b| b.with_weights(&heavy)).map_err(|e| e.to_string())?;
    model.update_rows(&batch, &all.labels).map_err(|e| e.to_string())?;
    subject.ensure_sound(&model, &all, "with rows of weight three")
}
