//! Divisions: a component whose rows are predicted better by several, each row by the others, gives way to them.

use super::view::{View, distinct_rows};
use crate::engine::ring_fit::{FitSize, RingFit, price, ring_fit};
use crate::family::Family;
use crate::interrupt::Interrupt;
use crate::num::Rng;

/// Rows that a division is looked for in, at least.
const FEWEST: f64 = 16.0;
/// Shares below this do not make a row one of the component's.
const OWN: f64 = 1e-3;
/// Parts that a fit begins with: at most so many, and one for so many rows.
const MOST_STARTS: usize = 8;
const ROWS_PER_START: usize = 8;

/// What is asked of a division.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// Mass of a component's rows that must be here.
    pub fewest: f64,
    /// Parts, at most.
    pub most: usize,
    /// Free parameters of a part.
    pub n_free: f64,
}

/// Several parts that predict the rows of component `k` better than one does, if there are such.
pub(super) fn divide<F: Family>(
    family: F,
    view: &View,
    k: usize,
    floor: &[f64],
    terms: Terms,
    rng: &mut Rng,
    interrupt: &Interrupt,
) -> Option<RingFit> {
    let index: Vec<usize> = (0..view.n_real).filter(|&i| view.q(k)[i] * view.weights[i] > OWN).collect();
    let weights: Vec<f64> = index.iter().map(|&i| view.q(k)[i] * view.weights[i]).collect();
    if weights.iter().sum::<f64>() < terms.fewest.max(FEWEST) || terms.most < 2 {
        return None;
    }
    let rows: Vec<f64> = index.iter().flat_map(|&i| view.block.row(i).iter().copied()).collect();
    // Equal rows confirm one another whatever the parts.
    let (rows, weights, _) = distinct_rows(&rows, floor.len(), &weights);
    let price = price(terms.n_free, weights.len(), weights.iter().sum());
    let starts = (weights.len() / ROWS_PER_START).clamp(1, MOST_STARTS);
    let fit = ring_fit(family, &rows, &weights, floor, FitSize { starts, most: terms.most, price }, rng, interrupt);
    (fit.components.len() > 1).then_some(fit)
}
