//! One component of the master model.

use super::turns::Turns;
use super::watch::MeanWatch;
use crate::engine::parts::{PENALTY_CAP, Part, penalty};
use crate::family::{Family, Gauss, GaussScratch, Moments, Prior, Repair};
use crate::structure::ComponentId;
use serde::{Deserialize, Serialize};

/// A component: two sets of statistics, its density, and what decides over its life.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::engine) struct Comp {
    pub id: ComponentId,
    /// Rows it stands for; its share of the masses is its mixing weight.
    pub mass: f64,
    /// Drives the E-step: forgets early assignments when components overlap.
    pub fast: Moments,
    /// What snapshots show: forgets hardly at all.
    pub slow: Moments,
    /// Prior of the covariance.
    pub prior: Prior,
    /// Density of `fast`, refreshed when enough mass has come in.
    pub gauss: Gauss,
    /// Mass since the last refresh.
    pub stale: f64,
    /// Running share of its rows that other components claim too.
    pub overlap: f64,
    /// Mass since birth.
    pub hits: f64,
    /// Rows seen when it was born.
    pub born: u64,
    /// False while on probation.
    pub graduated: bool,
    /// Log-likelihood ratio "gone" against "present" since `since`.
    pub absence: f64,
    /// What its remaining claims on rows take from that evidence, and how much row mass it covers.
    pub claimed: f64,
    pub absent_mass: f64,
    /// The last row at which it was surely present.
    pub since: u64,
    /// Whether its rows come strewn or in runs.
    pub turns: Turns,
    /// Its count when a split was last looked for in vain.
    pub split_tried: f64,
    /// Looks for a mean or scale that moves.
    pub watch: MeanWatch,
}

impl Comp {
    /// A component with given statistics, trusted from the start.
    pub fn settled<F: Family>(family: F, id: ComponentId, mass: f64, moments: Moments, prior: Prior, now: u64) -> Comp {
        let gauss = Gauss::of(family, &moments, &prior);
        let watch = MeanWatch::at(&moments.mean);
        Comp {
            id,
            mass,
            slow: moments.clone(),
            fast: moments,
            prior,
            gauss,
            stale: 0.0,
            overlap: 0.0,
            hits: 0.0,
            born: now,
            graduated: true,
            absence: 0.0,
            claimed: 0.0,
            absent_mass: 0.0,
            since: now,
            turns: Turns::default(),
            split_tried: 0.0,
            watch,
        }
    }

    /// Log of the E-step's weight of this component, up to the log of the total mass.
    pub fn log_tilted_mass(&self) -> f64 {
        self.mass.max(f64::MIN_POSITIVE).ln() - penalty(self.gauss.n_free(), self.fast.count, PENALTY_CAP)
    }

    /// Takes it as present at this row.
    pub fn seen(&mut self, now: u64) {
        (self.absence, self.claimed, self.absent_mass, self.since) = (0.0, 0.0, 0.0, now);
    }

    /// Rebuilds what is not saved.
    pub fn pack(&mut self) {
        self.gauss.pack();
    }

    /// Catches the density up with the fast statistics.
    pub fn refresh<F: Family>(&mut self, family: F, scratch: &mut GaussScratch) -> Repair {
        self.stale = 0.0;
        self.gauss.refresh(family, &self.fast, &self.prior, scratch)
    }

    /// Replaces its statistics by others, keeping its name, mass and age.
    pub fn reset<F: Family>(&mut self, family: F, part: &Part) {
        self.fast = part.moments.clone();
        self.slow = part.moments.clone();
        self.watch = MeanWatch::at(&part.moments.mean);
        self.refresh(family, &mut GaussScratch::default());
    }

    /// The component as a part for EM, from its fast statistics.
    pub fn part(&self, total_mass: f64) -> Part {
        Part {
            weight: self.mass / total_mass,
            moments: self.fast.clone(),
            prior: self.prior.clone(),
            gauss: self.gauss.clone(),
        }
    }

    /// Takes over another component's rows.
    pub fn absorb<F: Family>(&mut self, family: F, other: &Comp) {
        self.mass += other.mass;
        self.hits += other.hits;
        self.turns.add(&other.turns);
        self.fast.add_scaled(1.0, &other.fast);
        self.slow.add_scaled(1.0, &other.slow);
        self.overlap = self.overlap.min(other.overlap);
        self.born = self.born.min(other.born);
        self.graduated |= other.graduated;
        self.seen(self.since.max(other.since));
        self.watch = MeanWatch::at(&self.fast.mean);
        self.refresh(family, &mut GaussScratch::default());
    }

    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.fast.is_sound(n_columns)
            && self.slow.is_sound(n_columns)
            && self.gauss.is_sound(n_columns)
            && self.gauss.known().1 > 0.0
            && self.prior.is_sound(n_columns)
            && self.mass.is_finite()
            && self.mass >= 0.0
            && [self.stale, self.overlap, self.hits, self.absence, self.claimed, self.absent_mass, self.split_tried]
                .iter()
                .all(|v| v.is_finite())
            && self.turns.is_sound()
            && self.watch.is_sound(n_columns)
    }
}
