//! Rows whose partition is known: what each component's rows say by shares, every row judged by the others.

use super::member::Member;
use super::{FIRST_SWEEPS, Fit, RingFit, WIDE, WIDE_SWEEPS};
use crate::family::FullGaussian;
use crate::interrupt::Interrupt;

/// Refines a partition of whole rows in the frame; `owners` says which component has each row.
pub(in crate::engine) fn refine(
    x: &[f64],
    weights: &[f64],
    floor: &[f64],
    owners: &[usize],
    price: f64,
    interrupt: &Interrupt,
) -> RingFit {
    let d = floor.len();
    let mut fit = Fit::new(x, weights, floor, interrupt);
    let n_owners = owners.iter().max().map_or(0, |most| most + 1);
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); n_owners];
    owners.iter().enumerate().for_each(|(i, &owner)| rows[owner].push(i as u32));
    let centre = |rows: &[u32]| x[rows[0] as usize * d..][..d].to_vec();
    let with_rows = rows.into_iter().filter(|rows| !rows.is_empty());
    fit.members.extend(with_rows.map(|rows| {
        let centre = centre(&rows);
        Member::of_rows(rows, &centre)
    }));
    fit.learn();
    fit.refresh(true);
    fit.find_candidates(true);
    fit.sweep(if d > WIDE { WIDE_SWEEPS } else { FIRST_SWEEPS });
    fit.finished(FullGaussian, price, false)
}
