//! Clusters: components that belong together in the eyes of people, from their parameters alone.
//!
//! A mixture describes a cluster that is no Gaussian by several components: a core and a halo where tails are heavy, a
//! row of them along a bend. Two components are as separate as the plane that parts them best says: with
//! v = (Sᵢ + Sⱼ)⁻¹ d, d = mᵢ − mⱼ, s = |v·d| / (√(v'Sᵢv) + √(v'Sⱼv)) is how many standard deviations it is from either
//! mean to the plane. A halo around a core has s near 0 whatever its scale. Clusters are joined by average linkage, pairs
//! weighted by the product of their masses, which does not chain; the density stays as it is.

use super::event::ComponentId;
use super::snapshot::Snapshot;
use crate::family::Gauss;
use crate::num;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Clusters separated by less are one. Two equal Gaussians have two modes from 2 standard deviations of either apart
/// (s = 1), and are taken for two by people from about 4 (s = 2); below 1.7 heavy tails stay in pieces, at 2 classes
/// that touch become one.
const APART: f64 = 1.8;
/// Where one column alone parts two components by this much, its plane stands for the best one, which is no closer than
/// 1/√2 of it: far beyond what joins, and the solve is saved.
const FAR: f64 = 10.0 * APART;
/// Clusters are found anew when the rows have grown by this share.
const GROWTH: f64 = 0.1;

/// Components that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cluster {
    /// The name of its oldest component: as stable as names of components are.
    pub id: ComponentId,
    /// Its components, the oldest first.
    pub components: Vec<ComponentId>,
    /// Their share of the rows.
    pub weight: f64,
}

/// Where a component lies and how far it reaches.
struct Shape {
    mean: Vec<f64>,
    covariance: Vec<f64>,
    sd: Vec<f64>,
}

/// Buffers for one pair after another.
#[derive(Default)]
struct PairWork {
    step: Vec<f64>,
    factor: Vec<f64>,
    normal: Vec<f64>,
    image: Vec<f64>,
}

/// Clusters of weighted components in a common frame, by decreasing weight.
pub(super) fn clusters_of<'a>(parts: impl Iterator<Item = (ComponentId, f64, &'a Gauss)>) -> Vec<Cluster> {
    let mut parts: Vec<(ComponentId, f64, &Gauss)> = parts.collect();
    // By age, so that the order in which they are given does not matter.
    parts.sort_by_key(|(id, ..)| *id);
    let shapes: Vec<Shape> = parts.iter().map(|(_, _, gauss)| Shape::of(gauss)).collect();
    let masses: Vec<f64> = parts.iter().map(|(_, weight, _)| *weight).collect();
    let mut clusters: BTreeMap<usize, Cluster> = BTreeMap::new();
    for (place, root) in linked(&masses, separations(&shapes)).into_iter().enumerate() {
        let (id, weight, _) = parts[place];
        let cluster = clusters.entry(root).or_insert_with(|| Cluster { id, components: Vec::new(), weight: 0.0 });
        cluster.components.push(id);
        cluster.weight += weight;
    }
    let mut clusters: Vec<Cluster> = clusters.into_values().collect();
    clusters.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.id.cmp(&b.id)));
    clusters
}

impl Shape {
    fn of(gauss: &Gauss) -> Shape {
        let (mean, covariance) = (gauss.mean().to_vec(), gauss.covariance());
        let sd = (0..mean.len()).map(|j| covariance[j * mean.len() + j].sqrt()).collect();
        Shape { mean, covariance, sd }
    }

    /// Standard deviations from either mean to the plane that parts the two best.
    fn separation(&self, other: &Shape, work: &mut PairWork) -> f64 {
        let d = self.mean.len();
        work.step.clear();
        work.step.extend(self.mean.iter().zip(&other.mean).map(|(a, b)| a - b));
        let reach = self.sd.iter().zip(&other.sd).map(|(a, b)| a + b);
        let by_column = work.step.iter().zip(reach).map(|(step, reach)| step.abs() / reach).fold(0.0, f64::max);
        if by_column >= FAR {
            return by_column;
        }
        work.factor.clear();
        work.factor.extend(self.covariance.iter().zip(&other.covariance).map(|(a, b)| a + b));
        if num::cholesky(&mut work.factor, d).is_err() {
            return by_column;
        }
        work.normal.clone_from(&work.step);
        num::solve_lower(&work.factor, d, &mut work.normal);
        num::solve_lower_transposed(&work.factor, d, &mut work.normal);
        let across: f64 = work.normal.iter().zip(&work.step).map(|(v, d)| v * d).sum();
        let width = self.width(&work.normal, &mut work.image) + other.width(&work.normal, &mut work.image);
        if width > 0.0 { across.abs() / width } else { by_column }
    }

    /// The standard deviation along a direction.
    fn width(&self, v: &[f64], image: &mut Vec<f64>) -> f64 {
        image.clear();
        image.resize(v.len(), 0.0);
        for (v, row) in v.iter().zip(self.covariance.chunks_exact(v.len())) {
            image.iter_mut().zip(row).for_each(|(image, cell)| *image += v * cell);
        }
        image.iter().zip(v).map(|(a, b)| a * b).sum::<f64>().max(0.0).sqrt()
    }
}

/// The separation of every pair, as a full matrix.
fn separations(shapes: &[Shape]) -> Vec<f64> {
    let k = shapes.len();
    let mut apart = vec![0.0; k * k];
    let mut work = PairWork::default();
    for (i, shape) in shapes.iter().enumerate() {
        for (j, other) in shapes.iter().enumerate().take(i) {
            let s = shape.separation(other, &mut work);
            (apart[i * k + j], apart[j * k + i]) = (s, s);
        }
    }
    apart
}

/// Average linkage: the first member of the cluster that each component ends in.
fn linked(masses: &[f64], mut apart: Vec<f64>) -> Vec<usize> {
    let k = masses.len();
    // A component without mass must not divide by zero.
    let mut mass: Vec<f64> = masses.iter().map(|m| m.max(f64::MIN_POSITIVE)).collect();
    let mut roots: Vec<usize> = (0..k).collect();
    let mut alive: Vec<usize> = (0..k).collect();
    let nearest_of = |c: usize, alive: &[usize], apart: &[f64]| {
        let others = alive.iter().filter(|&&o| o != c).map(|&o| (apart[c * k + o], o));
        others.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, c))
    };
    let mut nearest: Vec<(f64, usize)> = (0..k).map(|c| nearest_of(c, &alive, &apart)).collect();
    while let Some(&one) = alive.iter().min_by(|&&a, &&b| nearest[a].0.total_cmp(&nearest[b].0)) {
        let (separation, other) = nearest[one];
        if separation >= APART {
            break;
        }
        let (kept, gone) = (one.min(other), one.max(other));
        alive.retain(|&c| c != gone);
        let total = mass[kept] + mass[gone];
        for &c in alive.iter().filter(|&&c| c != kept) {
            let s = (mass[kept] * apart[kept * k + c] + mass[gone] * apart[gone * k + c]) / total;
            (apart[kept * k + c], apart[c * k + kept]) = (s, s);
        }
        mass[kept] = total;
        roots.iter_mut().filter(|root| **root == gone).for_each(|root| *root = kept);
        for &c in &alive {
            // An average is never less than the smaller part: no other cluster's nearest can have changed.
            if c == kept || nearest[c].1 == kept || nearest[c].1 == gone {
                nearest[c] = nearest_of(c, &alive, &apart);
            }
        }
    }
    roots
}

/// Which cluster each component of a model belongs to, and the model as it was when they were found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clustering {
    of: BTreeMap<ComponentId, ComponentId>,
    rows: u64,
    n_events: u64,
}

impl Clustering {
    /// The clusters of a model that has seen so many rows and so many events.
    pub fn new(clusters: &[Cluster], rows: u64, n_events: u64) -> Clustering {
        let of = clusters.iter().flat_map(|c| c.components.iter().map(|component| (*component, c.id))).collect();
        Clustering { of, rows, n_events }
    }

    /// The cluster of a component; one that came later is a cluster by itself.
    pub fn cluster_of(&self, component: ComponentId) -> ComponentId {
        self.of.get(&component).copied().unwrap_or(component)
    }

    /// True when the clusters of a model of `k` components should be found anew: they changed, or it grew.
    pub fn is_due(&self, k: usize, n_columns: usize, rows: u64, n_events: u64) -> bool {
        let since = rows.abs_diff(self.rows) as f64;
        let has_changed = k != self.of.len() || n_events != self.n_events;
        // K²D³ steps after at least KD rows of KD² each: a small share of what learning costs.
        let is_affordable = self.of.is_empty() || since >= (k * n_columns) as f64;
        k > 0 && is_affordable && (has_changed || since > GROWTH * self.rows as f64)
    }
}

/// Components in some order with their clusters, ready to label rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    clusters: Vec<ComponentId>,
    /// Of each component among the clusters.
    places: Vec<usize>,
    sums: Vec<f64>,
}

impl Labels {
    /// Labels for rows whose responsibilities are given in the order of `ids`.
    pub fn set(&mut self, clustering: &Clustering, ids: impl Iterator<Item = ComponentId>) {
        let mut known = BTreeMap::new();
        self.clusters.clear();
        self.places.clear();
        for id in ids {
            let cluster = clustering.cluster_of(id);
            self.places.push(*known.entry(cluster).or_insert_with(|| {
                self.clusters.push(cluster);
                self.clusters.len() - 1
            }));
        }
    }

    /// The cluster whose components are together most responsible.
    pub fn of_row(&mut self, share_of: impl Fn(usize) -> f64) -> Option<ComponentId> {
        self.sums.clear();
        self.sums.resize(self.clusters.len(), 0.0);
        self.places.iter().enumerate().for_each(|(k, place)| self.sums[*place] += share_of(k));
        let best = (0..self.sums.len()).max_by(|&a, &b| self.sums[a].total_cmp(&self.sums[b]).then(b.cmp(&a)));
        best.map(|best| self.clusters[best])
    }
}

impl Snapshot {
    /// Its clusters, by decreasing weight.
    pub fn clusters(&self) -> Vec<Cluster> {
        self.scorer().clusters()
    }
}
