//! Learners of disjoint shards put together: what each has learnt beyond its beginning is added up.

use super::learner::LinearLearner;
use super::prepare::{Preparation, Running};
use super::settings::{Inputs, Rule, TargetChoice};
use super::task::Task;

/// What a task has learnt, as precision and natural mean.
type Evidence = (Vec<f64>, Vec<f64>);

impl LinearLearner {
    /// Why learners like this one cannot be merged, if they cannot.
    pub fn unmergeable(&self) -> Option<&'static str> {
        let settings = &self.settings;
        match settings.inputs {
            _ if settings.rule != Rule::Gibbs => Some(
                "passive-aggressive steps depend on all steps before them, so that shards cannot be put together; learn \
                 from one stream, or fit classify/bayespa-gibbs, whose evidence adds up",
            ),
            Inputs::Columns { scale: true, .. } if !settings.full => Some(
                "each shard has put its columns on scales of its own, and variances alone cannot be moved to common ones; \
                 fit the shards with --set covariance=full, or with --set scale=off",
            ),
            Inputs::Columns { scale: true, .. } if settings.bias == 0.0 => Some(
                "each shard has centred its columns for itself, and without the constant feature they cannot be moved to a \
                 common centre; fit the shards with a bias above 0, or with --set scale=off",
            ),
            Inputs::Words(_) if settings.target == TargetChoice::Number => Some(
                "each shard has put its numbers on a scale of its own, and variances alone cannot be moved to a common one; \
                 learn from one stream",
            ),
            _ => None,
        }
    }

    /// Puts learners of one kind together, which [`LinearLearner::unmergeable`] allows, each with the new numbers of its
    /// words (none for columns). A shard that does not know a label of another has what a label knows that never came.
    pub fn merged(parts: &[(&LinearLearner, Option<&[Option<u32>]>)], n_words: usize) -> Option<LinearLearner> {
        let (first, _) = parts.first()?;
        let settings = first.settings;
        let mut merged = LinearLearner::new(settings).ok()?;
        merged.grow(n_words);
        for (part, numbers) in parts {
            merged.preparation.add_all(&part.preparation, *numbers);
            merged.numbers.add_all(&part.numbers);
            merged.foretold.add(&part.foretold);
            merged.n_seen += part.n_seen;
            merged.n_unlabelled += part.n_unlabelled;
            for (label, count) in part.labels.iter().zip(&part.counts) {
                match merged.labels.binary_search(label) {
                    Ok(at) => merged.counts[at] += count,
                    Err(at) => {
                        merged.labels.insert(at, label.clone());
                        merged.counts.insert(at, *count);
                    }
                }
            }
        }
        let combine = |merged: &LinearLearner, of: &dyn Fn(&LinearLearner) -> Option<Task>| -> Option<Task> {
            let n = merged.n_places;
            let size = if settings.full { n * n } else { n };
            let mut total: Evidence = (vec![0.0; size], vec![0.0; n]);
            for (part, numbers) in parts {
                let (precision, natural) = merged.moved_here(part, *numbers, &of(part)?)?;
                total.0.iter_mut().zip(&precision).for_each(|(sum, one)| *sum += one);
                total.1.iter_mut().zip(&natural).for_each(|(sum, one)| *sum += one);
            }
            Task::of_evidence(total.0, total.1, settings.full, settings.sigma2)
        };
        if settings.target == TargetChoice::Number {
            merged.tasks = vec![combine(&merged, &|part| part.tasks.first().cloned())?];
        } else {
            let of_label = |label: &String| {
                combine(&merged, &|part| {
                    let at = part.labels.binary_search(label).ok();
                    Some(at.map_or(&part.unseen, |at| &part.tasks[at]).clone())
                })
            };
            merged.tasks = merged.labels.iter().map(of_label).collect::<Option<Vec<Task>>>()?;
            merged.unseen = combine(&merged, &|part| Some(part.unseen.clone()))?;
        }
        Some(merged)
    }

    /// What a part's task has learnt, in terms of our features.
    fn moved_here(&self, part: &LinearLearner, numbers: Option<&[Option<u32>]>, task: &Task) -> Option<Evidence> {
        let (precision, natural) = task.evidence(self.settings.sigma2)?;
        match (&self.preparation, &part.preparation) {
            (Preparation::Scaled(ours), Preparation::Scaled(theirs)) => {
                let move_ = Move::new(ours, theirs, self.settings.bias);
                let moved = (move_.both_sides(&precision), move_.vector(&natural));
                Some(self.in_our_units(part, moved))
            }
            (Preparation::Words { .. }, _) => {
                let places = self.n_places;
                let renumbered = |from: &[f64]| {
                    let mut to = vec![0.0; places];
                    to[0] = from[0];
                    for (word, value) in from[1..].iter().enumerate() {
                        let number = numbers.map_or(Some(word as u32), |n| n.get(word).copied().flatten());
                        if let Some(number) = number {
                            to[number as usize + 1] += value;
                        }
                    }
                    to
                };
                Some((renumbered(&precision), renumbered(&natural)))
            }
            _ => Some((precision, natural)),
        }
    }

    /// Numbers on another scale: with t′ = t/r + δ, a precision k becomes kr², and kxt becomes rkxt + r²δkx.
    fn in_our_units(&self, part: &LinearLearner, (mut precision, mut natural): Evidence) -> Evidence {
        let (ours, theirs) = (self.numbers.deviation(), part.numbers.deviation());
        if self.settings.target != TargetChoice::Number || ours == 0.0 || theirs == 0.0 {
            return (precision, natural);
        }
        let r = ours / theirs;
        let shift = (part.numbers.mean() - self.numbers.mean()) / ours;
        let n = natural.len();
        for (i, h) in natural.iter_mut().enumerate() {
            *h = r * *h + r * r * shift * precision[i * n] / self.settings.bias;
        }
        precision.iter_mut().for_each(|p| *p *= r * r);
        (precision, natural)
    }
}

/// The way from columns on one scale to the same on another: with the constant feature it is linear.
struct Move {
    /// For each column: by how much its value grows, and how much of the constant feature is added.
    columns: Vec<(f64, f64)>,
}

impl Move {
    fn new(ours: &[Running], theirs: &[Running], bias: f64) -> Move {
        let column = |(ours, theirs): (&Running, &Running)| match ours.deviation() {
            0.0 => (0.0, 0.0),
            unit => (theirs.deviation() / unit, (theirs.mean() - ours.mean()) / unit / bias),
        };
        Move { columns: ours.iter().zip(theirs).map(column).collect() }
    }

    /// What becomes of a sum of features.
    fn vector(&self, from: &[f64]) -> Vec<f64> {
        let of = |((scale, shift), value): (&(f64, f64), &f64)| scale * value + shift * from[0];
        std::iter::once(from[0]).chain(self.columns.iter().zip(&from[1..]).map(of)).collect()
    }

    /// What becomes of a sum of products of features.
    fn both_sides(&self, from: &[f64]) -> Vec<f64> {
        let n = self.columns.len() + 1;
        let transposed = |m: &[f64]| -> Vec<f64> { (0..n * n).map(|at| m[(at % n) * n + at / n]).collect() };
        let rows = |m: &[f64]| -> Vec<f64> { m.chunks_exact(n).flat_map(|row| self.vector(row)).collect() };
        rows(&transposed(&rows(from)))
    }
}

impl Preparation {
    fn add_all(&mut self, other: &Preparation, numbers: Option<&[Option<u32>]>) {
        match (self, other) {
            (Preparation::Scaled(ours), Preparation::Scaled(theirs)) => {
                ours.iter_mut().zip(theirs).for_each(|(one, other)| one.add_all(other));
            }
            (
                Preparation::Words { n_documents, holding, .. },
                Preparation::Words { n_documents: more, holding: theirs, .. },
            ) => {
                *n_documents += more;
                for (word, n) in theirs.iter().enumerate() {
                    let number = numbers.map_or(Some(word as u32), |all| all.get(word).copied().flatten());
                    if let Some(at) = number.map(|number| number as usize) {
                        holding.resize(holding.len().max(at + 1), 0);
                        holding[at] += n;
                    }
                }
            }
            _ => {}
        }
    }
}
