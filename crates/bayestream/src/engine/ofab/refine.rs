//! Refits on the ring: a component handed over to its neighbours, and overlapping components polished together.

use super::component::Comp;
use super::view::View;
use crate::engine::parts::{EmOptions, Part, em};
use crate::family::{Family, prior_free_count};

/// Components that share less than this of their rows have nothing to negotiate.
const SHARED: f64 = 0.02;

/// Iterations of a polish: the more components there are, the fewer rows any two have to negotiate, and the dearer one is.
fn polish_iterations(n_components: usize) -> usize {
    (1500 / n_components).clamp(5, 50)
}

fn few_iterations(max_iterations: usize) -> EmOptions {
    EmOptions { max_iterations, tolerance: 1e-7, penalty_cap: 0.0, drop_below: 0.0 }
}

/// Tries to do without each overlapping component by refitting the two that would inherit most of its rows. Returns
/// the components that were given up, with their chief heirs' positions at that time.
pub(super) fn delete_and_refit<F: Family>(
    family: F,
    comps: &mut Vec<Comp>,
    view: &mut View,
    fraction: f64,
) -> Vec<(Comp, usize)> {
    let d = view.block.n_columns();
    let mut gone = Vec::new();
    let mut order: Vec<usize> = (0..comps.len()).collect();
    order.sort_by(|&a, &b| comps[a].slow.count.total_cmp(&comps[b].slow.count).then(a.cmp(&b)));
    let order: Vec<_> = order.into_iter().map(|k| comps[k].id).collect();
    let mut touched = Vec::new();
    for id in order {
        let Some(k) = comps.iter().position(|c| c.id == id) else { continue };
        if comps.len() < 3 || touched.contains(&id) {
            continue;
        }
        let total: f64 = comps.iter().map(|c| c.mass).sum();
        let alpha = comps[k].mass / total;
        if !view.covers(k, alpha, 0.25) || shared(view, k) < SHARED {
            continue;
        }
        let heirs = heirs_of(view, comps.len(), k);
        if heirs.iter().any(|&j| touched.contains(&comps[j].id)) {
            continue;
        }
        let rows = view.rows_of_any(&[k, heirs[0], heirs[1]]);
        let all_rest = view.log_rest(&[k, heirs[0], heirs[1]]);
        let rest: Vec<f64> = rows.iter().map(|&i| all_rest[i]).collect();
        let weights: Vec<f64> = rows.iter().map(|&i| view.weights[i]).collect();
        let mut parts: Vec<Part> = heirs.iter().map(|&j| comps[j].part(total)).collect();
        let inherited: f64 = parts.iter().map(|p| p.weight).sum();
        parts.iter_mut().for_each(|p| p.weight *= (inherited + alpha) / inherited);
        let before: f64 = rows.iter().zip(&weights).map(|(&i, w)| view.log_p()[i] * w).sum();
        let mut block = view.subset(&rows);
        let after = em(family, &mut block, &weights, Some(&rest), &mut parts, few_iterations(10), None);
        let effective = (view.distinct * comps.iter().map(|c| c.slow.count).sum::<f64>()).max(1.0);
        // The refit is optimistic by about one unit per free parameter it could bend.
        let n_free = comps[k].gauss.n_free();
        let gain = (after - before - n_free) * effective / view.total
            + fraction * (n_free / 2.0 * comps[k].slow.count.max(1.0).ln() + 0.5 * effective.ln());
        if gain <= 0.0 || parts.iter().any(|p| p.moments.count <= 2.0 * d as f64) {
            continue;
        }
        for (&j, part) in heirs.iter().zip(&parts) {
            touched.push(comps[j].id);
            comps[j].reset(family, part);
            comps[j].mass = part.weight * total;
        }
        let chief = comps[heirs[0]].id;
        let lost = comps.remove(k);
        let chief = comps.iter().position(|c| c.id == chief).unwrap_or(0);
        gone.push((lost, chief));
        view.evaluate(comps);
    }
    gone
}

/// Share of a component's rows that others claim.
fn shared(view: &View, k: usize) -> f64 {
    let (sum, squares) = view.q(k).iter().fold((0.0, 0.0), |(s, s2), q| (s + q, s2 + q * q));
    if sum > 0.0 { 1.0 - squares / sum } else { 0.0 }
}

/// The two components that would take over most of `k`'s rows.
fn heirs_of(view: &View, n_components: usize, k: usize) -> [usize; 2] {
    let qk = view.q(k);
    let rows: Vec<usize> = view.rows_of(k).collect();
    let mut claims: Vec<(f64, usize)> = (0..n_components)
        .filter(|&j| j != k)
        .map(|j| {
            let qj = view.q(j);
            (rows.iter().map(|&i| qj[i] * qk[i] / (1.0 - qk[i]).max(1e-12)).sum(), j)
        })
        .collect();
    claims.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    [claims[0].1, claims[1].1]
}

/// EM on the ring for the overlapping components, the others fixed: their early assignments were made by a worse
/// model, and the ring is enough to mend them.
pub(super) fn polish<F: Family>(family: F, comps: &mut [Comp], view: &mut View) {
    let total: f64 = comps.iter().map(|c| c.mass).sum();
    let chosen: Vec<usize> =
        (0..comps.len()).filter(|&k| comps[k].overlap > SHARED && view.covers(k, comps[k].mass / total, 0.5)).collect();
    if chosen.is_empty() {
        return;
    }
    let rest = view.log_rest(&chosen);
    let mut parts: Vec<Part> = chosen.iter().map(|&k| comps[k].part(total)).collect();
    em(
        family,
        &mut view.block,
        &view.weights,
        Some(&rest),
        &mut parts,
        few_iterations(polish_iterations(chosen.len())),
        None,
    );
    let least = prior_free_count(view.block.n_columns());
    for (&k, part) in chosen.iter().zip(&parts) {
        if part.moments.count >= least {
            comps[k].reset(family, part);
            comps[k].mass = part.weight * total;
        }
    }
    view.evaluate(comps);
}
