//! What a frozen mixture says of a row: numbers of about unit size whose distribution stays as long as the stream does.

use super::channel::Channel;
use super::drift::DriftKind;
use crate::data::Frame;
use crate::family::Gauss;
use crate::structure::{Posterior, RowBlock, Scorer};
use serde::{Deserialize, Serialize};

/// Residuals further out count as this far.
const FURTHEST: f64 = 3.0;
/// The same for products of two residuals.
const FURTHEST_PRODUCT: f64 = 4.0;
/// Products of residuals are looked at up to this many columns.
const MOST_PAIRED: usize = 12;
/// Components with a smaller responsibility have no say in a residual.
const LEAST_SAY: f64 = 0.01;
/// Tilts: those of a mean that moves by ¾ of a standard deviation, a variance that doubles or halves, a correlation of
/// about ½, and a component that gets three times its odds, or a seventh.
const MOVED: [f64; 2] = [0.75, -0.75];
const SPREAD: [f64; 2] = [0.25, -0.5];
const RELATED: [f64; 2] = [0.5, -0.5];
const VISITED: [f64; 2] = [1.1, -2.0];

/// A mixture as it was at one moment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Frozen {
    frame: Frame,
    parts: Vec<FrozenPart>,
    #[serde(skip)]
    block: RowBlock,
    #[serde(skip)]
    posterior: Posterior,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct FrozenPart {
    log_weight: f64,
    gauss: Gauss,
    /// One over the standard deviation of each column.
    sharpness: Vec<f64>,
}

impl Frozen {
    pub fn of(scorer: &Scorer) -> Option<Frozen> {
        let d = scorer.frame().n_columns();
        let parts: Vec<FrozenPart> = scorer
            .parts()
            .filter(|(weight, _)| *weight > 0.0)
            .map(|(weight, gauss)| {
                let covariance = gauss.covariance();
                let sharpness = (0..d).map(|j| 1.0 / covariance[j * d + j].max(f64::MIN_POSITIVE).sqrt()).collect();
                FrozenPart { log_weight: weight.ln(), gauss: gauss.clone(), sharpness }
            })
            .collect();
        let frozen = Frozen {
            frame: scorer.frame().clone(),
            parts,
            block: RowBlock::default(),
            posterior: Posterior::default(),
        };
        (!frozen.parts.is_empty()).then_some(frozen)
    }

    pub fn n_columns(&self) -> usize {
        self.frame.n_columns()
    }

    fn n_pairs(&self) -> usize {
        let d = self.frame.n_columns();
        if d <= MOST_PAIRED { d * (d - 1) / 2 } else { 0 }
    }

    pub fn n_features(&self) -> usize {
        4 * self.frame.n_columns() + self.n_pairs() + 1 + self.parts.len()
    }

    /// What a change of a feature means.
    pub fn kind_of(&self, feature: usize) -> DriftKind {
        let d = self.frame.n_columns();
        match (feature / d, feature) {
            (0 | 2, _) => DriftKind::Mean { column: feature % d },
            (1, _) => DriftKind::Spread { column: feature % d },
            (_, feature) if feature < 4 * d + self.n_pairs() => DriftKind::Dependence,
            _ => DriftKind::Occupancy,
        }
    }

    /// True for residuals from the component's mean: no other column has a part in them.
    pub fn is_of_column_alone(&self, feature: usize) -> bool {
        feature < 2 * self.frame.n_columns()
    }

    /// The bets on these features, at most two on each. The first column has nothing before it, so that its residuals are
    /// there once only.
    pub fn channels(&self) -> Vec<Channel> {
        let (d, n_pairs, k) = (self.frame.n_columns(), self.n_pairs(), self.parts.len());
        let tilted = |features: std::ops::Range<usize>, tilts: [f64; 2]| {
            features.flat_map(move |feature| tilts.map(|tilt| Channel::new(feature, tilt)))
        };
        let distance = 4 * d + n_pairs;
        let occupied = if k > 1 { distance + 1..distance + 1 + k } else { 0..0 };
        tilted(0..d, MOVED)
            .chain(tilted(d..2 * d, SPREAD))
            .chain(tilted(2 * d + 1..3 * d, MOVED))
            .chain(tilted(3 * d + 1..4 * d, SPREAD))
            .chain(tilted(4 * d..distance, RELATED))
            .chain([Channel::new(distance, MOVED[0])])
            .chain(tilted(occupied, VISITED))
            .collect()
    }

    /// Features of every row, row-major; NaN where a missing cell is behind one.
    ///
    /// Per column the residual from the component's mean and its square, the residual given the columns before and its
    /// square; products of these; the squared distance; responsibilities. Residuals are averages over components.
    pub fn features(&mut self, rows: &[f64], out: &mut Vec<f64>) {
        let d = self.frame.n_columns();
        let (k, paired) = (self.parts.len(), self.n_pairs() > 0);
        self.block.load_with(d, |into| self.frame.push_rows(rows, into));
        let n = self.block.n_rows();
        self.posterior.log_joint(&mut self.block, self.parts.iter().map(|p| (p.log_weight, &p.gauss)));
        self.posterior.normalise(k, n);
        out.clear();
        let (mut alone, mut given, mut centred) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
        for i in 0..n {
            let row = self.block.row(i);
            let share = |part: usize| self.posterior.q[part * self.posterior.stride + i];
            alone.fill(0.0);
            given.fill(0.0);
            let mut say = 0.0;
            for (at, part) in self.parts.iter().enumerate().filter(|(at, _)| share(*at) >= LEAST_SAY || k == 1) {
                let (share, w) = (share(at), part.gauss.whiten());
                say += share;
                for j in 0..d {
                    let before: f64 = w[j * d..j * d + j].iter().zip(&centred).map(|(w, x)| w * x).sum();
                    // A missing cell is where the columns before expect it.
                    centred[j] = if row[j].is_nan() { -before / w[j * d + j] } else { row[j] - part.gauss.mean()[j] };
                    alone[j] += share * centred[j] * part.sharpness[j];
                    given[j] += share * (before + w[j * d + j] * centred[j]);
                }
            }
            let whole = row.iter().filter(|v| !v.is_nan()).count() as f64;
            let cell = |j: usize, sum: f64| {
                if row[j].is_nan() { f64::NAN } else { (sum / say).clamp(-FURTHEST, FURTHEST) }
            };
            let distance: f64 = given.iter().map(|e| (e / say).powi(2)).sum();
            (0..d).for_each(|j| alone[j] = cell(j, alone[j]));
            (0..d).for_each(|j| given[j] = cell(j, given[j]));
            out.extend_from_slice(&alone);
            out.extend(alone.iter().map(|u| u * u));
            out.extend_from_slice(&given);
            out.extend(given.iter().map(|e| e * e));
            if paired {
                for a in 1..d {
                    let product = |b: usize| (given[a] * given[b]).clamp(-FURTHEST_PRODUCT, FURTHEST_PRODUCT);
                    out.extend((0..a).map(product));
                }
            }
            out.push(((distance - whole) / (2.0 * whole).sqrt()).clamp(-FURTHEST, FURTHEST));
            out.extend((0..k).map(share));
        }
    }

    /// Checks what a file may have got wrong and rebuilds what is not saved.
    pub fn restore(&mut self, n_columns: usize) -> bool {
        let is_sound = |p: &FrozenPart| {
            p.gauss.is_sound(n_columns)
                && p.log_weight.is_finite()
                && p.sharpness.len() == n_columns
                && p.sharpness.iter().all(|s| s.is_finite())
        };
        let sound = self.frame.is_sound(n_columns) && !self.parts.is_empty() && self.parts.iter().all(is_sound);
        if sound {
            self.parts.iter_mut().for_each(|p| p.gauss.pack());
        }
        sound
    }
}
