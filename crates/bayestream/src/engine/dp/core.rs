//! Components, prior and concentration together, in the learner's frame: what a row meets.

use super::component::{Comp, CompScratch};
use super::concentration::Concentration;
use super::paper::Overlaps;
use super::prior::Prior;
use crate::family::{FilledRow, MergeScratch, Moments, WishartPosterior};
use crate::interrupt::Interrupt;
use crate::model::{PruneMerge, Settings};
use crate::num::ln_gamma;
use crate::structure::{ComponentId, Happening};
use serde::{Deserialize, Serialize};

/// How rows attach to components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rule {
    /// The likeliest component, concentration averaged over a grid.
    Sugs,
    /// The likeliest component, adaptive concentration.
    Asugs,
    /// Every component by its share.
    Sva,
    /// The likeliest component, in batches; components merge and split, and the prior is learnt.
    Lazy,
}

/// Shares below this add nothing to statistics.
const NEGLIGIBLE: f64 = 1e-7;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Core {
    pub rule: Rule,
    pub settings: Settings,
    pub shard: u32,
    pub prior: Prior,
    /// The posterior of a component without rows.
    pub empty: WishartPosterior,
    pub comps: Vec<Comp>,
    pub concentration: Concentration,
    /// Mass of the rows behind the components.
    pub mass: f64,
    /// Rows learnt from.
    pub n_learnt: u64,
    pub next_serial: u32,
    pub next_structure: u64,
    /// Rows learnt from when structure was looked at last.
    pub looked_at: u64,
    pub overlaps: Overlaps,
    /// What happened since it was last asked.
    #[serde(skip)]
    pub news: Vec<(ComponentId, Happening)>,
    #[serde(skip)]
    pub work: CoreWork,
}

/// Buffers; not part of the state.
#[derive(Clone, Debug, Default)]
pub(super) struct CoreWork {
    pub scores: Vec<f64>,
    /// What each component gets of a row, the new one's last.
    pub shares: Vec<f64>,
    /// Posterior probabilities of a row's class, which pruning and merging as printed go by.
    pub posterior: Vec<f64>,
    pub filled: FilledRow,
    pub comp: CompScratch,
    pub merge: MergeScratch,
    /// What long work asks whether to stop.
    pub interrupt: Interrupt,
}

impl Core {
    pub fn new(rule: Rule, settings: &Settings, shard: u32, prior: Prior) -> Core {
        let asked = &settings.dirichlet;
        let concentration = match (asked.alpha, rule) {
            (Some(alpha), _) => Concentration::Fixed { alpha },
            (None, Rule::Sugs) => Concentration::grid(&asked.alpha_grid),
            (None, Rule::Asugs) => Concentration::Logarithmic { lambda: asked.lambda },
            (None, Rule::Sva) => Concentration::Fixed { alpha: 1.0 },
            (None, Rule::Lazy) => Concentration::FixedPoint { lambda: asked.lambda },
        };
        Core {
            rule,
            settings: settings.clone(),
            shard,
            empty: prior.clustering.empty_posterior(),
            prior,
            comps: Vec::new(),
            concentration,
            mass: 0.0,
            n_learnt: 0,
            next_serial: 0,
            next_structure: 0,
            looked_at: 0,
            overlaps: Overlaps::default(),
            news: Vec::new(),
            work: CoreWork::default(),
        }
    }

    pub fn alpha(&self) -> f64 {
        self.concentration.alpha(self.comps.len(), self.mass)
    }

    /// True when there may be no more components.
    pub fn is_full(&self) -> bool {
        self.comps.len() >= self.settings.max_components
    }

    pub fn new_id(&mut self) -> ComponentId {
        let id = ComponentId { shard: self.shard, serial: self.next_serial };
        self.next_serial += 1;
        id
    }

    /// Learns from one row that has at least one cell; returns its log predictive density before that.
    pub fn learn_row(&mut self, row: &[f64], weight: f64) -> f64 {
        let hard = self.rule != Rule::Sva;
        let log_density = self.assign(row, weight, hard);
        if self.rule != Rule::Lazy
            && self.settings.dirichlet.prune_merge != PruneMerge::Off
            && self.n_learnt.is_multiple_of(self.settings.dirichlet.prune_every as u64)
        {
            match self.settings.dirichlet.prune_merge {
                PruneMerge::Paper => self.prune_merge_as_printed(),
                _ => self.prune_merge_exactly(),
            }
        }
        log_density
    }

    /// Scores a row under every component and a new one, and adds it by the shares that follow; `hard` gives it to the
    /// likeliest alone.
    pub fn assign(&mut self, row: &[f64], weight: f64, hard: bool) -> f64 {
        let k = self.comps.len();
        let choice = self.concentration.choice(k, self.mass);
        let whole = !row.iter().any(|v| v.is_nan());
        let mut work = std::mem::take(&mut self.work);
        let mut log_predictive = |posterior: &WishartPosterior| match whole {
            true => posterior.log_predictive(row, &mut work.comp.wishart),
            false => posterior.fill(row, &mut work.filled),
        };
        work.scores.clear();
        for comp in &self.comps {
            work.scores.push(choice.log_old + comp.moments.count.ln() + log_predictive(&comp.posterior)); // [ASUGS] (1), (8)
        }
        work.scores.push(choice.log_new + log_predictive(&self.empty));
        let log_total = shares(&work.scores, hard, self.settings.dirichlet.epsilon, &mut work.shares);
        let is_new = work.shares[k] > 0.0;
        let as_printed = self.settings.dirichlet.prune_merge == PruneMerge::Paper && self.rule != Rule::Lazy;
        work.posterior.clear();
        match as_printed && hard {
            // The likeliest class gets the row, but every class has its probability of it.
            true => work.posterior.extend(work.scores.iter().map(|s| (s - log_total).exp())), // [ASUGS] section 5.1, q
            false => work.posterior.extend_from_slice(&work.shares),
        }
        for ((comp, &share), posterior) in self.comps.iter_mut().zip(&work.shares).zip(&work.posterior) {
            comp.claimed += weight * posterior; // [ASUGS] section 5.1, w
            if share <= NEGLIGIBLE {
                continue;
            }
            match whole {
                true => comp.add_row(row, weight * share, &self.prior, &mut work.comp),
                false => {
                    comp.posterior.fill(row, &mut work.filled);
                    comp.add_filled(&work.filled, weight * share, &self.prior, &mut work.comp);
                }
            }
        }
        self.concentration.learn(is_new, self.mass);
        self.n_learnt += 1;
        self.mass += weight;
        if as_printed {
            // Before room is made for a new component, which moves the others.
            self.overlaps.add(&work.posterior[..k + usize::from(is_new)], weight);
        }
        let (share, posterior) = (work.shares[k], work.posterior[k]);
        self.work = work;
        if is_new && self.birth(row, weight * share) {
            self.comps.last_mut().expect("one was born").claimed = weight * posterior;
        }
        log_total
    }

    /// A component of one row, after room was made for it; false when there is no room.
    pub fn birth(&mut self, row: &[f64], weight: f64) -> bool {
        while self.comps.len() >= self.settings.max_components {
            if !self.make_room() {
                // One component is all there may be: it takes what comes.
                let mut work = std::mem::take(&mut self.work);
                let comp = &mut self.comps[0];
                comp.posterior.fill(row, &mut work.filled);
                comp.add_filled(&work.filled, weight, &self.prior, &mut work.comp);
                self.work = work;
                self.overlaps.keep(self.comps.len());
                return false;
            }
        }
        let d = row.len();
        let id = self.new_id();
        self.news.push((id, Happening::Born));
        if !row.iter().any(|v| v.is_nan()) {
            let scratch = &mut self.work.comp;
            self.comps.push(Comp::of_row(id, (row, weight), &self.empty, &self.prior, self.n_learnt, scratch));
            return true;
        }
        let mut work = std::mem::take(&mut self.work);
        self.empty.fill(row, &mut work.filled);
        let mut moments = Moments { count: weight, mean: work.filled.row.clone(), covariance: vec![0.0; d * d] };
        let missing = &work.filled.missing;
        for (a, &i) in missing.iter().enumerate() {
            for (b, &j) in missing.iter().enumerate() {
                moments.covariance[i * d + j] = work.filled.covariance[a * missing.len() + b];
            }
        }
        self.comps.push(Comp::new(id, moments, &self.prior, self.n_learnt, &mut work.comp));
        self.work = work;
        true
    }

    /// Log joint probability of the rows and of how they are divided.
    pub fn log_evidence(&mut self) -> f64 {
        let alpha = self.alpha();
        let of_rows: f64 = self
            .comps
            .iter()
            .map(|c| {
                self.prior.clustering.log_marginal(&c.moments, &mut self.work.comp.wishart) + ln_gamma(c.moments.count)
            })
            .sum();
        of_rows + self.comps.len() as f64 * alpha.ln() + ln_gamma(alpha) - ln_gamma(alpha + self.mass)
    }

    /// Ends the competition in which densities were put off: makes them.
    pub fn make_due(&mut self) {
        self.work.comp.puts_off = false;
        self.comps.iter_mut().for_each(|comp| comp.make_due(&self.prior, &mut self.work.comp));
    }

    /// Everything is a function of the statistics and the prior.
    pub fn refresh_all(&mut self) {
        self.empty = self.prior.clustering.empty_posterior();
        for comp in &mut self.comps {
            comp.refresh(&self.prior, &mut self.work.comp);
        }
    }

    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.prior.is_sound(n_columns)
            && self.empty.is_sound(n_columns)
            && self.concentration.is_sound()
            && self.mass.is_finite()
            && self.mass >= 0.0
            && self.overlaps.is_sound(self.comps.len())
    }
}

/// Shares of a row from log-joints, the new component's last; returns the log of their sum. A new component gets its
/// share only if it is made: by being the likeliest, or when soft by a probability above `epsilon`.
fn shares(scores: &[f64], hard: bool, epsilon: f64, out: &mut Vec<f64>) -> f64 {
    let k = scores.len() - 1;
    let log_total = crate::num::log_sum_exp(scores);
    out.clear();
    if hard {
        // The first of equals, so that a new component must be better than the old ones.
        let best = (0..=k).fold(0, |best, at| if scores[at] > scores[best] { at } else { best });
        out.resize(k + 1, 0.0);
        out[best] = 1.0;
        return log_total;
    }
    let is_new = k == 0 || scores[k] - log_total > epsilon.ln();
    let n_shared = if is_new { k + 1 } else { k };
    // Over the old ones by their own sum: dividing by one less the share of the new could divide by zero.
    let log_shared = crate::num::log_sum_exp(&scores[..n_shared]);
    out.extend(scores[..n_shared].iter().map(|s| (s - log_shared).exp()));
    out.resize(k + 1, 0.0);
    log_total
}
