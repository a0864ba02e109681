//! Splits: a component whose rows look like two is divided, when rows held out agree.
//!
//! Candidate directions are where projected rows look least Gaussian; a one-dimensional two-part fit along each gives a
//! start, EM with full covariances on one half of the rows refines it, and the other half judges it.

use super::component::Comp;
use super::view::View;
use crate::engine::parts::{EmOptions, Gather, Part, Pull, em};
use crate::family::{Family, Gauss, Moments};
use crate::num::{self, Lanes};
use crate::structure::RowBlock;

/// Two children that replace a component.
pub(super) struct Split {
    pub k: usize,
    pub children: [Part; 2],
}

/// Gain of a one-dimensional fit from which a direction is worth a closer look: more directions find more by chance.
const SCREEN: f64 = 6.0;
const SCREEN_PER_COLUMN: f64 = 0.5;
const DIRECTIONS_KEPT: usize = 4;
const FAST_ICA: usize = 4;
const EM_1D: usize = 15;
const EM_CHILDREN: usize = 10;
const MARDIA: f64 = 4.0;
/// Principal axes along which a component is cut in two for a start.
const PRINCIPAL_CUTS: usize = 2;
/// Rows per column that the parent's covariance speaks for in each child.
const PULL: f64 = 4.0;
/// Rows seen that one ring row may speak for: a ring that has just begun must not decide over a long history.
const MOST_EXTRAPOLATED: f64 = 10.0;

/// A component's rows in the ring.
struct Rows {
    index: Vec<usize>,
    /// Responsibilities times weights.
    q: Vec<f64>,
    /// Plain responsibilities.
    share: Vec<f64>,
    /// Whitened rows, row-major.
    z: Vec<f64>,
    mass: f64,
}

/// Looks for the best split of component `k`; `None` when held-out rows do not pay for the parameters.
pub(super) fn find_split<F: Family>(family: F, comps: &[Comp], view: &View, k: usize) -> Option<Split> {
    let d = view.block.n_columns();
    let comp = &comps[k];
    let rows = component_rows(view, comp, k);
    if rows.mass < comp.gauss.n_free().max(4.0 * d as f64).max(12.0) {
        return None;
    }
    let total: f64 = comps.iter().map(|c| c.mass).sum();
    let starts = starts(family, comp, view, &rows, d);
    if starts.is_empty() {
        return None;
    }
    let parent = comp.gauss.covariance();
    let pull = Pull { covariance: &parent, rows: PULL * d as f64 };
    let all_rest = view.log_rest(&[k]);
    let rest: Vec<f64> = rows.index.iter().map(|&i| all_rest[i]).collect();
    let weight = comp.mass / total;
    let folds = [false, true].map(|side| Fold::new(view, &rows, &rest, side));
    if folds.iter().any(|f| f.index.len() < 2 * d + 2) {
        return None;
    }
    let mut best: Option<(f64, f64, [Part; 2])> = None;
    for start in starts {
        let children = start.map(|mut part| {
            part.weight *= weight;
            part
        });
        let gains = held_out_gains(family, view, &folds, &children, pull);
        let n = gains.len() as f64;
        let gain: f64 = gains.iter().sum();
        if gain <= 0.0 {
            continue;
        }
        let spread = (gains.iter().map(|g| (g - gain / n).powi(2)).sum::<f64>() / n).sqrt();
        let sure = gain - 2.0 * spread * n.sqrt();
        if best.as_ref().is_none_or(|(g, _, _)| sure > *g) {
            let p = children[0].weight / weight;
            best = Some((sure, p, children));
        }
    }
    let (sure, p, mut children) = best?;
    let effective = (view.distinct * comps.iter().map(|c| c.slow.count).sum::<f64>()).max(1.0);
    let count = comp.slow.count.max(rows.mass);
    let half = comp.gauss.n_free() / 2.0;
    let p = p.clamp(1e-3, 1.0 - 1e-3);
    let log = |c: f64| c.max(1.0).ln();
    let price = half * (log(count * p) + log(count * (1.0 - p)) - log(count)) + 0.5 * effective.ln(); // [OFAB] (3)
    if sure * (effective / view.total).clamp(1.0, MOST_EXTRAPOLATED) * view.distinct <= price {
        return None;
    }
    let mut block = view.subset(&rows.index);
    let weights: Vec<f64> = rows.index.iter().map(|&i| view.weights[i]).collect();
    let mut parts = children.to_vec();
    em(family, &mut block, &weights, Some(&rest), &mut parts, child_options(), Some(pull));
    children = <[Part; 2]>::try_from(parts).ok()?;
    children.iter().all(|c| c.moments.count >= 3.0).then_some(Split { k, children })
}

fn child_options() -> EmOptions {
    EmOptions { max_iterations: EM_CHILDREN, tolerance: 1e-9, penalty_cap: 0.0, drop_below: 0.0 }
}

fn component_rows(view: &View, comp: &Comp, k: usize) -> Rows {
    let d = view.block.n_columns();
    let index: Vec<usize> = (0..view.n_rows()).filter(|&i| view.q(k)[i] > 1e-4 && view.weights[i] > 0.0).collect();
    let share: Vec<f64> = index.iter().map(|&i| view.q(k)[i]).collect();
    let q: Vec<f64> = index.iter().zip(&share).map(|(&i, q)| q * view.weights[i]).collect();
    let mut z = vec![0.0; index.len() * d];
    for (&i, z) in index.iter().zip(z.chunks_exact_mut(d)) {
        comp.gauss.whitened(view.block.row(i), z);
    }
    Rows { mass: q.iter().sum(), index, q, share, z }
}

/// One half of a component's rows, for training or judging.
struct Fold {
    index: Vec<usize>,
    block: RowBlock,
    weights: Vec<f64>,
    rest: Vec<f64>,
}

impl Fold {
    fn new(view: &View, rows: &Rows, rest: &[f64], side: bool) -> Fold {
        let chosen: Vec<usize> = (0..rows.index.len()).filter(|&r| view.fold[rows.index[r]] == side).collect();
        let index: Vec<usize> = chosen.iter().map(|&r| rows.index[r]).collect();
        Fold {
            block: view.subset(&index),
            weights: index.iter().map(|&i| view.weights[i]).collect(),
            rest: chosen.iter().map(|&r| rest[r]).collect(),
            index,
        }
    }
}

/// Log-likelihood gains of the rows of each half under children fitted on the other half.
fn held_out_gains<F: Family>(
    family: F,
    view: &View,
    folds: &[Fold; 2],
    children: &[Part; 2],
    pull: Pull<'_>,
) -> Vec<f64> {
    let mut gains = Vec::new();
    for (train, test) in [(0, 1), (1, 0)] {
        let mut parts = children.to_vec();
        let half = &folds[train];
        em(family, &mut half.block.clone(), &half.weights, Some(&half.rest), &mut parts, child_options(), Some(pull));
        let judge = &folds[test];
        let mut block = judge.block.clone();
        let mut log_density: Vec<Vec<f64>> = Vec::new();
        for part in &parts {
            let mut out = vec![0.0; block.stride()];
            block.log_density(&part.gauss, part.weight.max(f64::MIN_POSITIVE).ln(), &mut out);
            log_density.push(out);
        }
        for (r, &i) in judge.index.iter().enumerate() {
            let terms: Vec<f64> = log_density.iter().map(|l| l[r]).chain([judge.rest[r]]).collect();
            gains.push(judge.weights[r] * (num::log_sum_exp(&terms) - view.log_p()[i]));
        }
        // One half that gains nothing is answer enough.
        if gains.iter().sum::<f64>() <= 0.0 {
            break;
        }
    }
    gains
}

/// Pairs of children to begin with; their weights add up to one.
fn starts<F: Family>(family: F, comp: &Comp, view: &View, rows: &Rows, d: usize) -> Vec<[Part; 2]> {
    let fobi = fobi_axes(rows, d);
    let mut found = Vec::new();
    if let Some(start) = one_dimensional(family, comp, rows, &fobi, d) {
        found.push(start);
    }
    // Mardia's kurtosis; rows that a component was not made of lie further out, by the uncertainty of its covariance.
    let fourth: f64 = rows.q.iter().zip(rows.z.chunks_exact(d)).map(|(q, z)| q * norm2(z).powi(2)).sum();
    let df = d as f64;
    let further_out = (comp.fast.count + 1.0) / (comp.fast.count - df - 2.0).max(1.0);
    let kurtosis = fourth / rows.mass / (further_out * further_out);
    let mardia = (kurtosis - df * (df + 2.0)) / (8.0 * df * (df + 2.0) / rows.mass).sqrt();
    if mardia > MARDIA && rows.mass > 2.0 * df {
        found.extend(labelled_starts(family, comp, view, rows, &fobi, d));
    }
    found
}

fn norm2(z: &[f64]) -> f64 {
    z.iter().map(|v| v * v).sum()
}

/// Eigenvectors of Σ q |z|² z z' / n by decreasing eigenvalue: axes along which kurtosis is extreme.
fn fobi_axes(rows: &Rows, d: usize) -> Vec<Vec<f64>> {
    let mut lanes = Lanes::new();
    lanes.load(&rows.z, d);
    let weights: Vec<f64> = rows.q.iter().zip(rows.z.chunks_exact(d)).map(|(q, z)| q * norm2(z) / rows.mass).collect();
    let (mut sum, mut m) = (vec![0.0; d], vec![0.0; d * d]);
    num::weighted_moments(&lanes, &weights, &vec![0.0; d], &mut sum, &mut m);
    let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
    num::symmetric_eigen(&m, d, &mut values, &mut vectors);
    vectors.chunks_exact(d).map(<[f64]>::to_vec).collect()
}

/// Principal axes of a component, carried into whitened space, the longest first.
fn principal_axes(comp: &Comp, d: usize) -> Vec<Vec<f64>> {
    let covariance = comp.gauss.covariance();
    let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
    num::symmetric_eigen(&covariance, d, &mut values, &mut vectors);
    let w = comp.gauss.whiten();
    let whitened = |v: &[f64]| (0..d).map(|i| (0..=i).map(|j| w[i * d + j] * v[j]).sum()).collect();
    vectors.chunks_exact(d).map(whitened).collect()
}

/// Directions in whitened space where the rows look least Gaussian, best first.
fn directions(comp: &Comp, rows: &Rows, fobi: &[Vec<f64>], d: usize) -> Vec<Vec<f64>> {
    let mut found = principal_axes(comp, d);
    found.truncate(3);
    let last = fobi.len().saturating_sub(2);
    found.extend(fobi.iter().take(2).cloned());
    found.extend(fobi.iter().skip(last.max(2)).cloned());
    let refined: Vec<Vec<f64>> = found.iter().map(|v| fast_ica(v.clone(), rows, d)).collect();
    found.extend(refined);
    found.iter_mut().for_each(|v| unit(v));
    let mut ranked: Vec<(f64, Vec<f64>)> = found.into_iter().map(|v| (non_gaussianity(&v, rows, d), v)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.truncate(DIRECTIONS_KEPT);
    // To second order a fit along a direction gains half its non-Gaussianity per row.
    ranked.into_iter().filter(|(g, _)| 0.5 * rows.mass * g >= SCREEN).map(|(_, v)| v).collect()
}

fn unit(v: &mut [f64]) {
    let norm = norm2(v).sqrt().max(f64::MIN_POSITIVE);
    v.iter_mut().for_each(|x| *x /= norm);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn fast_ica(mut v: Vec<f64>, rows: &Rows, d: usize) -> Vec<f64> {
    for _ in 0..FAST_ICA {
        unit(&mut v);
        let mut next: Vec<f64> = v.iter().map(|x| -3.0 * x).collect();
        for (q, z) in rows.q.iter().zip(rows.z.chunks_exact(d)) {
            let w = q * dot(&v, z).powi(3) / rows.mass;
            next.iter_mut().zip(z).for_each(|(n, z)| *n += w * z);
        }
        v = next;
    }
    v
}

/// Squared skewness over 6 plus squared excess kurtosis over 24 of the projected rows.
fn non_gaussianity(v: &[f64], rows: &Rows, d: usize) -> f64 {
    let (mut m3, mut m4) = (0.0, 0.0);
    for (q, z) in rows.q.iter().zip(rows.z.chunks_exact(d)) {
        let y = dot(v, z);
        m3 += q * y * y * y / rows.mass;
        m4 += q * y * y * y * y / rows.mass;
    }
    m3 * m3 / 6.0 + (m4 - 3.0).powi(2) / 24.0
}

/// The best two-part fit along a direction, as children in the frame.
fn one_dimensional<F: Family>(family: F, comp: &Comp, rows: &Rows, fobi: &[Vec<f64>], d: usize) -> Option<[Part; 2]> {
    let mut best: Option<(f64, Fit1d, Vec<f64>)> = None;
    for v in directions(comp, rows, fobi, d) {
        let y: Vec<f64> = rows.z.chunks_exact(d).map(|z| dot(&v, z)).collect();
        let fit = Fit1d::of(&y, &rows.share, &rows.q);
        if best.as_ref().is_none_or(|(g, _, _)| fit.gain > *g) {
            best = Some((fit.gain, fit, v));
        }
    }
    let (gain, fit, v) = best?;
    if gain < SCREEN + SCREEN_PER_COLUMN * d as f64 || fit.share.min(1.0 - fit.share) * rows.mass < 3.0 {
        return None;
    }
    // A step of one along v in whitened space is g = W⁻¹ v in the frame.
    let covariance = comp.gauss.covariance();
    let w = comp.gauss.whiten();
    let transposed: Vec<f64> = (0..d).map(|j| (j..d).map(|i| w[i * d + j] * v[i]).sum()).collect();
    let g: Vec<f64> = (0..d).map(|i| (0..d).map(|j| covariance[i * d + j] * transposed[j]).sum()).collect();
    let child = |side: usize| {
        let share = if side == 0 { fit.share } else { 1.0 - fit.share };
        let mean = (0..d).map(|j| comp.gauss.mean()[j] + fit.mean[side] * g[j]).collect();
        let spread = fit.variance[side] - 1.0;
        let covariance = (0..d * d).map(|at| covariance[at] + spread * g[at / d] * g[at % d]).collect();
        part(family, comp, share, Moments { count: share * rows.mass, mean, covariance })
    };
    Some([child(0), child(1)])
}

fn part<F: Family>(family: F, comp: &Comp, weight: f64, moments: Moments) -> Part {
    Part { weight, gauss: Gauss::of(family, &moments, &comp.prior), moments, prior: comp.prior.clone() }
}

/// A mixture of two on a line, in place of a standard normal.
struct Fit1d {
    share: f64,
    mean: [f64; 2],
    variance: [f64; 2],
    gain: f64,
}

impl Fit1d {
    /// EM with the other components fixed: a row of responsibility q has density ratio 1 + q (R − 1).
    fn of(y: &[f64], q: &[f64], weighted: &[f64]) -> Fit1d {
        let mut fit = Fit1d { share: 0.5, mean: [-0.7, 0.7], variance: [0.5, 0.5], gain: 0.0 };
        let mut ratio = [Vec::new(), Vec::new()];
        for _ in 0..EM_1D {
            fit.ratios(y, &mut ratio);
            let (mut n, mut s, mut ss) = ([0.0; 2], [0.0; 2], [0.0; 2]);
            for i in 0..y.len() {
                let mixed = 1.0 + q[i] * (ratio[0][i] + ratio[1][i] - 1.0);
                let scale = weighted[i] / mixed.max(1e-300);
                for c in 0..2 {
                    let r = scale * ratio[c][i];
                    n[c] += r;
                    s[c] += r * y[i];
                    ss[c] += r * y[i] * y[i];
                }
            }
            let total = (n[0] + n[1]).max(1e-300);
            fit.share = (n[0] / total).clamp(1e-6, 1.0 - 1e-6);
            for c in 0..2 {
                let m = n[c].max(1e-300);
                fit.mean[c] = s[c] / m;
                let around = (ss[c] - m * fit.mean[c] * fit.mean[c]).max(0.0);
                fit.variance[c] = (around + 0.05) / (n[c] + 1.0);
            }
        }
        fit.ratios(y, &mut ratio);
        let [mut mixed, other] = ratio;
        for i in 0..y.len() {
            mixed[i] = (1.0 + q[i] * (mixed[i] + other[i] - 1.0)).max(1e-300);
        }
        num::ln_slice(&mut mixed);
        fit.gain = (0..y.len()).map(|i| weighted[i] / q[i].max(1e-12) * mixed[i]).sum();
        fit
    }

    /// Each part's density over the standard normal's, for every row.
    fn ratios(&self, y: &[f64], out: &mut [Vec<f64>; 2]) {
        for (c, out) in out.iter_mut().enumerate() {
            let share = if c == 0 { self.share } else { 1.0 - self.share };
            let constant = share.ln() - 0.5 * self.variance[c].ln();
            let (mean, half) = (self.mean[c], 0.5 / self.variance[c]);
            out.clear();
            out.extend(y.iter().map(|y| (constant + 0.5 * y * y - half * (y - mean) * (y - mean)).min(300.0)));
            num::exp_slice(out);
        }
    }
}

/// Starts by labels: quadrants of the axes of extreme kurtosis, and near against far.
fn labelled_starts<F: Family>(
    family: F,
    comp: &Comp,
    view: &View,
    rows: &Rows,
    fobi: &[Vec<f64>],
    d: usize,
) -> Vec<[Part; 2]> {
    let mut labels: Vec<Vec<bool>> = Vec::new();
    for axis in principal_axes(comp, d).iter().take(PRINCIPAL_CUTS) {
        labels.push(rows.z.chunks_exact(d).map(|z| dot(axis, z) > 0.0).collect());
    }
    for a in 0..fobi.len().min(3) {
        for b in 0..a {
            labels.push(rows.z.chunks_exact(d).map(|z| (dot(&fobi[a], z) > 0.0) == (dot(&fobi[b], z) > 0.0)).collect());
        }
    }
    let mut distances: Vec<f64> = rows.z.chunks_exact(d).map(norm2).collect();
    let far = distances.clone();
    distances.sort_by(f64::total_cmp);
    let median = distances[distances.len() / 2];
    labels.push(far.iter().map(|m| *m > median).collect());
    let mut block = view.subset(&rows.index);
    let mut gather = Gather::default();
    labels
        .into_iter()
        .filter_map(|label| {
            let sides = [false, true].map(|side| {
                let q: Vec<f64> = label.iter().map(|l| f64::from(u8::from(*l == side))).collect();
                gather.moments(&mut block, &q, &rows.q, &comp.gauss)
            });
            let both = sides[0].count + sides[1].count;
            if sides.iter().any(|s| s.count < 3.0) {
                return None;
            }
            Some(sides.map(|m| part(family, comp, m.count / both, m)))
        })
        .collect()
}
