//! One component of a Dirichlet-process mixture.

use super::halves::Halves;
use super::predictive::Shared;
use super::prior::Prior;
use crate::family::{self, FilledRow, FullGaussian, Gauss, GaussScratch, Moments, WishartPosterior, WishartScratch};
use crate::num::Whitener;
use crate::structure::ComponentId;
use serde::{Deserialize, Serialize};

/// A density is refreshed when this share of its count is new.
const REFRESH: f64 = 0.02;
/// Rows below which a component is young, in units of columns + 2.
const YOUNG: f64 = 3.0;
/// Enough rows for [`Gauss::refresh`] to add nothing of its own: the prior is blended in before.
const MANY: f64 = 1e12;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Comp {
    pub id: ComponentId,
    /// Raw statistics: nothing of the prior is inside.
    pub moments: Moments,
    /// What assignments are made by: exact in the sequential kinds, lagging by a few percent of the count in `gmm/dp`.
    pub posterior: WishartPosterior,
    /// The density that is handed out.
    pub gauss: Gauss,
    /// Rows that the density's prior is worth in `gmm/dp`; unknown until it is judged when structure is looked at.
    pub worth: Option<f64>,
    /// What the density is made of instead of `moments` when a ring fit found the component.
    pub shared: Option<Shared>,
    /// Mass since the density was made.
    pub stale: f64,
    /// Rows learnt from when it was born.
    pub born: u64,
    /// Running sum of its posterior weights, for pruning.
    pub claimed: f64,
    /// What a split is looked for with.
    pub halves: Option<Halves>,
    /// The statistics as they were when structure was last looked at.
    pub before: Moments,
    #[serde(skip)]
    pub whitener: Whitener,
    #[serde(skip)]
    due: Due,
}

/// What a density that was put off is to be made of.
#[derive(Clone, Debug, Default)]
enum Due {
    #[default]
    Nothing,
    /// The statistics as they are.
    Present,
    /// The statistics as they were when it would have been made.
    Past(Box<Moments>),
}

/// Buffers for changing a component.
#[derive(Clone, Debug, Default)]
pub(super) struct CompScratch {
    /// True while models compete by their predictions alone: densities, and what the kernels need, take as long as hundreds
    /// of rows with many columns, and are made for the winner ([`Comp::make_due`]).
    pub puts_off: bool,
    pub wishart: WishartScratch,
    gauss: GaussScratch,
    blended: Vec<f64>,
    floor: Option<family::Prior>,
    density: Option<family::Prior>,
}

impl Comp {
    /// A component with these statistics.
    pub fn new(id: ComponentId, moments: Moments, prior: &Prior, born: u64, scratch: &mut CompScratch) -> Comp {
        let posterior = prior.clustering.posterior(&moments);
        Comp::with_posterior(id, moments, posterior, prior, born, scratch)
    }

    /// A component of one whole row; `empty` is the posterior of one without rows.
    pub fn of_row(
        id: ComponentId,
        (row, weight): (&[f64], f64),
        empty: &WishartPosterior,
        prior: &Prior,
        born: u64,
        scratch: &mut CompScratch,
    ) -> Comp {
        let d = row.len();
        let mut posterior = empty.clone();
        posterior.add(row, weight, &mut scratch.wishart);
        let moments = Moments { count: weight, mean: row.to_vec(), covariance: vec![0.0; d * d] };
        Comp::with_posterior(id, moments, posterior, prior, born, scratch)
    }

    fn with_posterior(
        id: ComponentId,
        moments: Moments,
        posterior: WishartPosterior,
        prior: &Prior,
        born: u64,
        scratch: &mut CompScratch,
    ) -> Comp {
        let claimed = moments.count;
        let mut comp = Comp {
            id,
            gauss: Gauss::with_covariance(&[], &[]),
            worth: None,
            shared: None,
            posterior,
            stale: 0.0,
            born,
            claimed,
            halves: None,
            before: Moments::empty_at(&moments.mean),
            whitener: Whitener::default(),
            due: Due::Nothing,
            moments,
        };
        comp.refresh_density(prior, scratch);
        comp.pack_unless_put_off(scratch);
        comp
    }

    /// Adds a whole row, exactly.
    pub fn add_row(&mut self, row: &[f64], weight: f64, prior: &Prior, scratch: &mut CompScratch) {
        self.keep_due_unless_stale(weight);
        self.moments.add_row(row, weight);
        if let Some(shared) = &mut self.shared {
            shared.moments.add_row(row, weight);
        }
        self.posterior.add(row, weight, &mut scratch.wishart);
        self.grown(weight, prior, scratch);
    }

    /// Adds a row whose missing cells were filled in, with what is not known of them.
    pub fn add_filled(&mut self, filled: &FilledRow, weight: f64, prior: &Prior, scratch: &mut CompScratch) {
        self.keep_due_unless_stale(weight);
        add_filled(&mut self.moments, filled, weight);
        if let Some(shared) = &mut self.shared {
            add_filled(&mut shared.moments, filled, weight);
        }
        self.posterior.rebuild(&prior.clustering, &self.moments, &mut scratch.wishart);
        self.grown(weight, prior, scratch);
    }

    fn grown(&mut self, weight: f64, prior: &Prior, scratch: &mut CompScratch) {
        self.stale += weight;
        if self.is_stale() {
            self.refresh_density(prior, scratch);
        }
    }

    pub fn is_stale(&self) -> bool {
        self.stale > REFRESH * self.moments.count
    }

    /// Catches everything up with the statistics; returns how often a covariance had to be repaired.
    pub fn refresh(&mut self, prior: &Prior, scratch: &mut CompScratch) -> u32 {
        let n_repairs = self.posterior.rebuild(&prior.clustering, &self.moments, &mut scratch.wishart);
        self.pack_unless_put_off(scratch);
        self.refresh_density(prior, scratch);
        n_repairs
    }

    /// A row of this weight comes: it makes a density put off be made anew, or not, as it would one at hand.
    fn keep_due_unless_stale(&mut self, weight: f64) {
        if self.stale + weight <= REFRESH * (self.moments.count + weight) {
            self.keep_due();
        }
    }

    /// The statistics are about to change, and a density that was put off is not to see it.
    pub fn keep_due(&mut self) {
        if matches!(self.due, Due::Present) {
            self.due = Due::Past(Box::new(self.moments.clone()));
        }
    }

    /// Makes what was put off.
    pub fn make_due(&mut self, prior: &Prior, scratch: &mut CompScratch) {
        let stale = self.stale;
        match std::mem::take(&mut self.due) {
            Due::Nothing => {}
            Due::Present => self.refresh_density(prior, scratch),
            Due::Past(past) => {
                let present = std::mem::replace(&mut self.moments, *past);
                self.refresh_density(prior, scratch);
                self.moments = present;
            }
        }
        self.stale = stale;
        self.pack(&mut scratch.wishart);
    }

    pub fn refresh_density(&mut self, prior: &Prior, scratch: &mut CompScratch) {
        if scratch.puts_off {
            (self.due, self.stale) = (Due::Present, 0.0);
            return;
        }
        self.stale = 0.0;
        if let Some(common) = &prior.density {
            let of_this = scratch.density.get_or_insert_with(|| common.clone());
            of_this.target.clone_from(&common.target);
            of_this.floor.clone_from(&common.floor);
            of_this.worth = self.density_worth(prior);
            let told = self.shared.as_ref().map_or(&self.moments, |shared| &shared.moments);
            self.gauss.refresh(FullGaussian, told, of_this, &mut scratch.gauss);
            return;
        }
        let d = self.moments.n_columns();
        prior.blended(&self.moments, &mut scratch.blended);
        std::mem::swap(&mut self.moments.covariance, &mut scratch.blended);
        // The blend has a prior inside already; with MANY rows nothing of this one is left but its floor.
        let floor = scratch.floor.get_or_insert_with(|| family::Prior::vanishing(vec![0.0; d]));
        let count = std::mem::replace(&mut self.moments.count, MANY);
        self.gauss.refresh(FullGaussian, &self.moments, floor, &mut scratch.gauss);
        self.moments.count = count;
        std::mem::swap(&mut self.moments.covariance, &mut scratch.blended);
    }

    fn pack_unless_put_off(&mut self, scratch: &mut CompScratch) {
        if !scratch.puts_off {
            self.pack(&mut scratch.wishart);
        }
    }

    /// Packs the posterior for the kernels; it is not saved.
    pub fn pack(&mut self, scratch: &mut WishartScratch) {
        self.posterior.whitener(scratch, &mut self.whitener);
    }

    /// True while it knows little more than its first rows.
    pub fn is_young(&self) -> bool {
        self.moments.count < YOUNG * (self.moments.n_columns() as f64 + 2.0)
    }

    /// What its density is made of.
    pub fn told(&self) -> &Moments {
        self.shared.as_ref().map_or(&self.moments, |shared| &shared.moments)
    }

    /// Rows that its density stands for.
    pub fn rows(&self) -> f64 {
        self.told().count
    }

    /// Rows that the prior of its density is worth, in the kind that has one.
    pub fn density_worth(&self, prior: &Prior) -> Option<f64> {
        let common = prior.density.as_ref()?;
        let unjudged = if self.is_young() { common.worth } else { Some(prior.usual_worth) };
        self.worth.or(unjudged)
    }

    /// True when one fit told the two apart.
    pub fn is_told_from(&self, other: &Comp) -> bool {
        let found_by = |comp: &Comp| comp.shared.as_ref().map(|shared| shared.found_by);
        found_by(self).is_some() && found_by(self) == found_by(other)
    }

    /// Takes other rows in place of its own, which it did not share.
    pub fn replace_rows(&mut self, moments: Moments) {
        self.moments = moments;
        self.shared = None;
    }

    /// Takes more rows.
    pub fn take_rows(&mut self, more: &Moments) {
        self.moments.add_scaled(1.0, more);
        if let Some(shared) = &mut self.shared {
            shared.moments.add_scaled(1.0, more);
        }
    }

    /// Fades its rows, but not those of its halves.
    pub fn fade(&mut self, keep: f64) {
        self.moments.count *= keep;
        self.before.count *= keep;
        self.claimed *= keep;
        if let Some(shared) = &mut self.shared {
            shared.moments.count *= keep;
        }
    }

    /// Takes over another component's rows.
    pub fn absorb(&mut self, other: &Comp, prior: &Prior, scratch: &mut CompScratch) {
        self.moments.add_scaled(1.0, &other.moments);
        if let Some(shared) = &mut self.shared {
            shared.moments.add_scaled(1.0, other.told());
        }
        self.claimed += other.claimed;
        self.born = self.born.min(other.born);
        self.halves = None;
        self.before.add_scaled(1.0, &other.before);
        self.refresh(prior, scratch);
    }

    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.moments.is_sound(n_columns)
            && self.moments.count > 0.0
            && self.posterior.is_sound(n_columns)
            && self.gauss.is_sound(n_columns)
            && self.worth.is_none_or(|worth| worth.is_finite() && worth > 0.0 && self.gauss.known().1 > 0.0)
            && self.shared.as_ref().is_none_or(|shared| shared.is_sound(n_columns))
            && self.stale.is_finite()
            && self.claimed.is_finite()
            && self.before.is_sound(n_columns)
            && self.halves.as_ref().is_none_or(|h| h.is_sound(n_columns))
    }

    /// Rebuilds what is not saved.
    pub fn restore(&mut self) {
        let mut scratch = WishartScratch::default();
        self.gauss.pack();
        self.pack(&mut scratch);
        if let Some(halves) = &mut self.halves {
            halves.pack(&mut scratch);
        }
    }
}

fn add_filled(moments: &mut Moments, filled: &FilledRow, weight: f64) {
    let (d, m) = (filled.row.len(), filled.missing.len());
    moments.add_row(&filled.row, weight);
    let share = weight / moments.count;
    for (a, &i) in filled.missing.iter().enumerate() {
        for (b, &j) in filled.missing.iter().enumerate() {
            moments.covariance[i * d + j] += share * filled.covariance[a * m + b];
        }
    }
}
