//! A fit from nothing: births or random features, then FAB to convergence, then moves.

use super::fit::{Fit, Saved};
use super::grow::{MANY_CELLS, births, grow, regrow};
use super::held_out::HeldOut;
use super::many::grow_many;
use super::prune::prune;
use super::rows::Rows;
use super::settings::{FabSettings, Gate, Start};
use crate::interrupt::Interrupt;
use crate::num::Rng;

/// Rows are few when there are fewer than this many for each column.
pub(super) const FEW_ROWS: f64 = 5.0;
/// Births after the best one that are waited for a better one.
const PATIENCE: usize = 5;
/// With few rows cells are held out anew so many times, and this share of them.
const FOLDS: usize = 5;
const SHARE_OF_FEW: f64 = 0.1;
/// Share of the cells held out along the way with many rows.
pub(super) const SHARE_OF_MANY: f64 = 0.05;
/// Starts of which the best is kept, where there are few cells, and cells that all of them may have together.
const STARTS: usize = 6;
const CELLS_OF_STARTS: usize = 75_000;
/// Rounds of births and moves, at most.
const ROUNDS: usize = 3;

/// What a fit of framed rows gives.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The rows.
    pub rows: Rows,
    /// Features and where they are.
    pub fit: Fit,
}

/// Rows to fit: framed, row by row, NaN where missing.
#[derive(Clone, Copy)]
pub(super) struct Framed<'a> {
    pub cells: &'a [f64],
    pub d: usize,
    pub weights: Option<&'a [f64]>,
    pub interrupt: &'a Interrupt,
}

impl Framed<'_> {
    fn rows(&self) -> Rows {
        let mut rows = Rows::heeding(self.interrupt, self.cells, self.d, self.weights);
        rows.find_least_noise();
        rows
    }

    /// Some of the rows, and weights by which they stand for all: what a feature is worth by the criterion grows as the rows, and
    /// what it costs only as their logarithm.
    pub fn part(&self, n: usize, rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
        let mut order: Vec<usize> = (0..self.cells.len() / self.d).collect();
        let each = order.len() as f64 / n as f64;
        rng.shuffle(&mut order);
        order.truncate(n);
        let cells = order.iter().flat_map(|i| self.cells[i * self.d..][..self.d].iter().copied()).collect();
        (cells, order.iter().map(|i| each * self.weights.map_or(1.0, |weights| weights[*i])).collect())
    }

    /// The rows without some of their cells, and these.
    pub fn hold_out(&self, share: f64, rng: &mut Rng) -> (Rows, HeldOut) {
        let mut seen = self.cells.to_vec();
        let held_out = HeldOut::take(&mut seen, self.d, share, rng);
        (Framed { cells: &seen, ..*self }.rows(), held_out)
    }
}

/// Fits framed rows (row by row, NaN where missing). `watch` sees every iteration that lasts. What is left of a fit after
/// an interrupt is of no use.
pub fn fit_rows(
    framed: &[f64],
    d: usize,
    weights: Option<&[f64]>,
    settings: &FabSettings,
    mut rng: Rng,
    interrupt: &Interrupt,
    watch: &mut dyn FnMut(&Fit),
) -> Fitted {
    let framed = Framed { cells: framed, d, weights, interrupt };
    let rows = framed.rows();
    let mut fit = Fit::new(&rows);
    if rows.mass <= 0.0 {
        return Fitted { rows, fit };
    }
    let mut settings = *settings;
    if rows.n_cells > MANY_CELLS {
        // An iteration takes long there, and the bound grows by little in each of many columns: what counts is a cell's gain.
        settings.tolerance *= d as f64;
    }
    match settings.start {
        Start::Random => scatter(&mut fit, &rows, &settings, &mut rng),
        // Deviates: the paper shrinks random features, which kills true ones while W is still noise
        // (`laws::planted_features_are_found_with_and_without_missing_cells`).
        Start::Births => {
            let judge = Judge::of(&rows, &settings);
            if judge == Judge::Before {
                settings.max_features = foretelling(framed, &settings, &mut rng);
            }
            let most_unjudged = if judge == Judge::Along { d / 2 } else { usize::MAX };
            fit = match rows.n_cells > MANY_CELLS {
                true => grow_many(framed, &rows, &settings, judge == Judge::Along, &mut rng, watch),
                false => best_start(framed, &rows, &settings, most_unjudged, &mut rng, watch),
            };
        }
    }
    fit.converge(&rows, &settings.pace(), watch);
    match settings.moves {
        true if rows.n_cells > MANY_CELLS => prune(&mut fit, &rows, &settings.pace(), watch),
        true => moves(&mut fit, &rows, &settings, watch),
        false => {}
    }
    Fitted { rows, fit }
}

/// When births are judged by cells that are held out, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judge {
    /// Never.
    No,
    /// In fits of their own, before the one that counts.
    Before,
    /// While features are born, once they are many.
    Along,
}

impl Judge {
    fn of(rows: &Rows, settings: &FabSettings) -> Judge {
        let are_few = rows.mass < FEW_ROWS * rows.d as f64 && rows.n_cells <= MANY_CELLS;
        match (settings.held_out_gate, are_few) {
            (Gate::Off, _) => Judge::No,
            (Gate::On, _) | (Gate::Auto, true) => Judge::Before,
            (Gate::Auto, false) => Judge::Along,
        }
    }
}

/// As many random features as rows or columns.
fn scatter(fit: &mut Fit, rows: &Rows, settings: &FabSettings, rng: &mut Rng) {
    for _ in 0..rows.n.min(rows.d).min(settings.max_features) {
        let mu: Vec<f64> = (0..rows.n).map(|_| rng.uniform()).collect();
        fit.field.push(&mu);
    }
    fit.maximise(rows);
}

/// How features begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Births {
    /// Many at once.
    Many,
    /// One by one.
    Single,
}

impl Births {
    fn go(
        self,
        fit: &mut Fit,
        rows: &Rows,
        settings: &FabSettings,
        rng: &mut Rng,
        goes_on: &mut dyn FnMut(&Fit) -> bool,
    ) {
        match self {
            Births::Many => grow(fit, rows, settings, rng, goes_on),
            Births::Single => births(fit, rows, settings, goes_on),
        }
    }
}

/// The fit of largest bound among those that grow from several starts, more of them where cells are few and cheap. Cells are
/// held out to judge growth by once a start has more than `most_unjudged` features.
fn best_start(
    framed: Framed<'_>,
    rows: &Rows,
    settings: &FabSettings,
    most_unjudged: usize,
    rng: &mut Rng,
    watch: &mut dyn FnMut(&Fit),
) -> Fit {
    let n_starts = (CELLS_OF_STARTS / rows.n_cells.max(1)).clamp(1, STARTS);
    let mut best: Option<Fit> = None;
    let mut is_judged = most_unjudged == 0;
    for start in 1..=n_starts {
        if rows.interrupt.is_raised() {
            break;
        }
        // The last of several: features that were born one by one may be fewer.
        let births = if start > 1 && start == n_starts { Births::Single } else { Births::Many };
        let mut fit = Fit::new(rows);
        if !is_judged {
            births.go(&mut fit, rows, settings, rng, &mut |fit| {
                watch(fit);
                fit.k() <= most_unjudged
            });
            is_judged = fit.k() > most_unjudged;
        }
        let grown = match is_judged {
            true => grow_judged(framed, rows, settings, births, rng, watch),
            false => fit,
        };
        if best.as_ref().is_none_or(|best| grown.bound > best.bound) {
            best = Some(grown);
        }
    }
    best.unwrap_or_else(|| Fit::new(rows))
}

/// Grows features as long as cells that are held out become more probable. Where features only share out what varies by
/// degrees, the criterion would rise for long.
fn grow_judged(
    framed: Framed<'_>,
    rows: &Rows,
    settings: &FabSettings,
    births: Births,
    rng: &mut Rng,
    watch: &mut dyn FnMut(&Fit),
) -> Fit {
    let (seen, held_out) = framed.hold_out(SHARE_OF_MANY, rng);
    let told = |fit: &Fit| held_out.log_likelihood(&seen, &fit.parameters, &fit.field);
    let mut fit = Fit::new(&seen);
    let mut best: (Saved, f64) = (fit.save(), told(&fit));
    // Many at once may be too many for the held-out cells, which then say nothing of fewer.
    for births in if births == Births::Many { &[Births::Many, Births::Single][..] } else { &[Births::Single] } {
        births.go(&mut fit, &seen, settings, rng, &mut |fit| {
            watch(fit);
            let now = told(fit);
            if now > best.1 {
                best = (fit.save(), now);
            }
            fit.k() < best.0.k() + PATIENCE
        });
        fit.restore(&best.0);
        if best.0.k() > 0 {
            break;
        }
    }
    fit.maximise(rows);
    for _ in 0..settings.trial_iterations {
        fit.iterate(rows, settings.shrink_steps);
    }
    fit
}

/// How many features there may be at most, by held-out cells. With few rows the criterion rises after more features have begun to make held-out cells less probable.
fn foretelling(framed: Framed<'_>, settings: &FabSettings, rng: &mut Rng) -> usize {
    let mut paths: Vec<Path> = Vec::new();
    for _ in 0..FOLDS {
        if framed.interrupt.is_raised() {
            break;
        }
        let (seen, held_out) = framed.hold_out(SHARE_OF_FEW, rng);
        let mut fit = Fit::new(&seen);
        let told = |fit: &Fit| held_out.log_likelihood(&seen, &fit.parameters, &fit.field);
        let mut path = Path(vec![(0, told(&fit))]);
        grow(&mut fit, &seen, settings, rng, &mut |fit: &Fit| {
            // A birth may come with deaths, and then replaces what was known of as many features.
            path.0.retain(|(k, _)| *k < fit.k());
            path.0.push((fit.k(), told(fit)));
            fit.k() < path.best() + PATIENCE
        });
        paths.push(path);
    }
    let longest = paths.iter().map(Path::end).max().unwrap_or(0);
    let k = most_foretelling(&paths, longest);
    // All cells may tell one more than those that the folds saw.
    let most = (k + 1).min(longest);
    most.min(settings.max_features)
}

/// How held-out cells are foretold by ever more features.
struct Path(Vec<(usize, f64)>);

impl Path {
    /// With `k` features or the next more that there were.
    fn at(&self, k: usize) -> f64 {
        let n_fewer = self.0.iter().take_while(|step| step.0 < k).count();
        self.0[n_fewer.min(self.0.len() - 1)].1
    }

    /// The number of features that foretells best.
    fn best(&self) -> usize {
        let better = |best: (usize, f64), step: &(usize, f64)| if step.1 > best.1 { *step } else { best };
        self.0.iter().fold((0, f64::NEG_INFINITY), better).0
    }

    fn end(&self) -> usize {
        self.0.last().map_or(0, |step| step.0)
    }
}

/// The largest number of features that foretells no worse than the best one, as far as folds can tell: it is the
/// criterion's part to say that a feature is not there.
fn most_foretelling(paths: &[Path], longest: usize) -> usize {
    let of = |k: usize| paths.iter().map(move |path| path.at(k));
    let told = |k: usize| of(k).sum::<f64>();
    let best = (1..=longest).fold(0, |best, k| if told(k) > told(best) { k } else { best });
    let n = paths.len() as f64;
    let is_no_worse = |k: &usize| {
        let losses: Vec<f64> = of(best).zip(of(*k)).map(|(best, other)| best - other).collect();
        let mean = losses.iter().sum::<f64>() / n;
        let variance = losses.iter().map(|l| (l - mean) * (l - mean)).sum::<f64>() / (n - 1.0).max(1.0);
        mean <= (variance / n).sqrt()
    };
    (best..=longest).rev().find(is_no_worse).unwrap_or(best)
}

/// Removals, merges and births in the place of others, as long as the bound rises.
fn moves(fit: &mut Fit, rows: &Rows, settings: &FabSettings, watch: &mut dyn FnMut(&Fit)) {
    let pace = settings.pace();
    for _ in 0..ROUNDS {
        if rows.interrupt.is_raised() {
            return;
        }
        let before = fit.bound;
        while fit.try_removal(rows, &pace) || fit.try_merge(rows, &pace) {
            watch(fit);
        }
        if regrow(fit, rows, settings) {
            watch(fit);
        }
        if fit.bound <= before {
            break;
        }
        fit.converge(rows, &pace, watch);
    }
}
