//! Two halves of a component, kept beside it: when they are worth more than the whole, it splits.
//!
//! The first rows go to a side of the principal axis, later ones to the half that foretells them better. A pair that is
//! worth nothing after its time begins anew, with more time.

use super::prior::Prior;
use crate::family::{Moments, WishartPosterior, WishartScratch};
use crate::num::{self, Lanes, Whitener};
use serde::{Deserialize, Serialize};

/// Rows of the first pair of halves, in units of columns + 2; each later pair lives twice as long, up to a limit.
const FIRST_LIFE: f64 = 20.0;
const LONGEST_LIFE: f64 = 640.0;
/// Rows that are divided by the axis, in the same unit.
const BY_AXIS: f64 = 2.0;
/// A half's posterior is refreshed when this share of its count is new.
const REFRESH: f64 = 0.1;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Halves {
    centre: Vec<f64>,
    axis: Vec<f64>,
    pub sides: [Side; 2],
    life: f64,
    /// True once the rows are divided by the sides themselves.
    ready: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Side {
    pub moments: Moments,
    posterior: WishartPosterior,
    stale: f64,
    #[serde(skip)]
    whitener: Whitener,
}

/// Buffers for dividing rows.
#[derive(Clone, Debug, Default)]
pub(super) struct HalvesScratch {
    lanes: Lanes,
    scores: [Vec<f64>; 2],
    index: [Vec<u32>; 2],
    mass: [Vec<f64>; 2],
    pub gathered: Gathered,
    wishart: WishartScratch,
}

impl Halves {
    /// A pair that begins now, for a component with these statistics.
    pub fn begin(moments: &Moments, prior: &Prior, life: Option<f64>) -> Halves {
        let d = moments.n_columns();
        let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
        num::symmetric_eigen(&moments.covariance, d, &mut values, &mut vectors);
        vectors.truncate(d);
        let side = || {
            let moments = Moments::empty_at(&moments.mean);
            Side { posterior: prior.clustering.posterior(&moments), moments, stale: 0.0, whitener: Whitener::default() }
        };
        let life = life.unwrap_or(FIRST_LIFE).min(LONGEST_LIFE);
        Halves { centre: moments.mean.clone(), axis: vectors, sides: [side(), side()], life, ready: false }
    }

    /// The pair that follows this one.
    pub fn again(&self, moments: &Moments, prior: &Prior) -> Halves {
        Halves::begin(moments, prior, Some(2.0 * self.life))
    }

    pub fn count(&self) -> f64 {
        self.sides[0].moments.count + self.sides[1].moments.count
    }

    pub fn is_over(&self) -> bool {
        self.count() >= self.life * (self.axis.len() as f64 + 2.0)
    }

    /// Divides the rows numbered in `index` and adds each part to a side, and to the whole.
    pub fn add(
        &mut self,
        whole: &mut Moments,
        rows: &[f64],
        index: &[u32],
        mass: &[f64],
        prior: &Prior,
        scratch: &mut HalvesScratch,
    ) {
        let d = self.axis.len();
        self.divide(rows, index, mass, scratch);
        for (side_ix, side) in self.sides.iter_mut().enumerate() {
            let (index, mass) = (&scratch.index[side_ix], &scratch.mass[side_ix]);
            if index.is_empty() {
                continue;
            }
            scratch.gathered.rows(rows, index, mass, &whole.mean);
            side.moments.add_scaled(1.0, &scratch.gathered.moments);
            whole.add_scaled(1.0, &scratch.gathered.moments);
            side.stale += scratch.gathered.moments.count;
        }
        if self.ready || self.count() >= BY_AXIS * (d as f64 + 2.0) {
            self.refresh(prior, &mut scratch.wishart);
        }
    }

    fn refresh(&mut self, prior: &Prior, scratch: &mut WishartScratch) {
        for side in &mut self.sides {
            if side.stale > REFRESH * side.moments.count || !self.ready {
                side.posterior.rebuild(&prior.clustering, &side.moments, scratch);
                side.posterior.whitener(scratch, &mut side.whitener);
                side.stale = 0.0;
            }
        }
        self.ready = true;
    }

    fn divide(&self, rows: &[f64], index: &[u32], mass: &[f64], scratch: &mut HalvesScratch) {
        let d = self.axis.len();
        let HalvesScratch { lanes, scores, index: parts, mass: masses, .. } = scratch;
        parts.iter_mut().for_each(Vec::clear);
        masses.iter_mut().for_each(Vec::clear);
        let by_axis = !self.ready;
        if !by_axis {
            lanes.load_indexed(rows, d, index);
            for (side, scores) in self.sides.iter().zip(scores.iter_mut()) {
                scores.resize(lanes.n_padded(), 0.0);
                num::mahalanobis(lanes, &side.whitener, scores);
                let (a, b, s) = side.posterior.predictive_terms();
                let a = a + side.moments.count.max(f64::MIN_POSITIVE).ln();
                scores.iter_mut().for_each(|v| *v = 1.0 + s * *v);
                num::ln_slice(scores);
                scores.iter_mut().for_each(|v| *v = a - b * *v);
            }
        }
        for (at, (&i, &m)) in index.iter().zip(mass).enumerate() {
            let side = match by_axis {
                true => {
                    let row = &rows[i as usize * d..(i as usize + 1) * d];
                    let along: f64 = row.iter().zip(&self.centre).zip(&self.axis).map(|((x, c), a)| (x - c) * a).sum();
                    usize::from(along > 0.0)
                }
                false => usize::from(scores[1][at] > scores[0][at]),
            };
            parts[side].push(i);
            masses[side].push(m);
        }
    }

    /// Fades with the component.
    pub fn scale(&mut self, keep: f64) {
        self.sides.iter_mut().for_each(|side| side.moments.count *= keep);
    }

    /// The kernels' copies are not saved: they are made of the posteriors, which are.
    pub fn pack(&mut self, scratch: &mut WishartScratch) {
        if self.ready {
            self.sides.iter_mut().for_each(|side| side.posterior.whitener(scratch, &mut side.whitener));
        }
    }

    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.axis.len() == n_columns
            && self.centre.len() == n_columns
            && self.axis.iter().chain(&self.centre).all(|v| v.is_finite())
            && self.life.is_finite()
            && self
                .sides
                .iter()
                .all(|s| s.moments.is_sound(n_columns) && s.posterior.is_sound(n_columns) && s.stale.is_finite())
    }
}

/// Statistics of some rows of a batch. Buffers are reused.
#[derive(Clone, Debug)]
pub(super) struct Gathered {
    pub moments: Moments,
    lanes: Lanes,
    sum: Vec<f64>,
    scatter: Vec<f64>,
}

impl Default for Gathered {
    fn default() -> Self {
        Gathered { moments: Moments::empty_at(&[]), lanes: Lanes::new(), sum: Vec::new(), scatter: Vec::new() }
    }
}

impl Gathered {
    /// Sums the rows numbered in `index` about a centre near them.
    pub fn rows(&mut self, rows: &[f64], index: &[u32], mass: &[f64], centre: &[f64]) {
        let d = centre.len();
        self.lanes.load_indexed(rows, d, index);
        self.sum.clear();
        self.sum.resize(d, 0.0);
        self.scatter.clear();
        self.scatter.resize(d * d, 0.0);
        num::weighted_moments(&self.lanes, mass, centre, &mut self.sum, &mut self.scatter);
        self.moments.count = 0.0;
        self.moments.mean.clear();
        self.moments.mean.extend_from_slice(centre);
        self.moments.covariance.clear();
        self.moments.covariance.resize(d * d, 0.0);
        self.moments.absorb(1.0, mass.iter().sum(), &self.sum, &self.scatter);
    }
}
