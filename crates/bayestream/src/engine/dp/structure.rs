//! Merges and splits by the marginal likelihood, pruning by weight per age, and room for newcomers.

use super::component::Comp;
use super::core::{Core, Rule};
use super::halves::Halves;
use crate::family::{Moments, NormalWishart};
use crate::structure::Happening;

/// Rows between two looks at the structure: a share of the rows so far, within bounds.
const LOOKS_PER_AGE: u64 = 8;
const SHORTEST_LOOK: u64 = 250;
const LONGEST_LOOK: u64 = 2000;
/// Two well-known components are not compared when their means are further apart than this, in squared standard
/// deviations of both, plus as much per column.
const FAR: f64 = 60.0;
const FAR_PER_COLUMN: f64 = 4.0;
/// Rounds in which a component that is too light for its age is left alone.
const GRACE_ROUNDS: u64 = 4;
/// Mass below which a faded component is given up.
const FADED: f64 = 0.5;

/// Gains of merging, pair by pair, so that a merge costs one row of them and not all.
struct Gains {
    log_marginals: Vec<f64>,
    /// Pairs j < k.
    rows: Vec<Vec<f64>>,
}

impl Core {
    /// The prior, splits and merges of `gmm/dp`, when it is time.
    pub fn look(&mut self) {
        if self.n_learnt < self.next_structure || self.comps.is_empty() {
            return;
        }
        self.give_up_faded();
        self.learn_prior();
        self.split_all();
        self.merge_all();
        self.renew_halves();
        self.schedule();
    }

    pub fn schedule(&mut self) {
        self.next_structure = self.n_learnt + (self.n_learnt / LOOKS_PER_AGE).clamp(SHORTEST_LOOK, LONGEST_LOOK);
    }

    /// The prior that the components suggest, in the kind that learns it.
    pub fn learn_prior(&mut self) {
        if self.rule == Rule::Lazy {
            self.prior.learn(&self.comps);
        }
        self.refresh_all();
    }

    fn log_alpha(&self) -> f64 {
        self.alpha().ln()
    }

    fn prior(&self) -> &NormalWishart {
        &self.prior.clustering
    }

    /// Merges pairs while the marginal likelihood gains by it.
    pub fn merge_all(&mut self) {
        let mut gains = self.gains();
        loop {
            let k = self.comps.len();
            let best = (1..k)
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| (gains.rows[i][j], i, j))
                .max_by(|a, b| a.0.total_cmp(&b.0).then((b.1, b.2).cmp(&(a.1, a.2))));
            match best {
                Some((gain, i, j)) if gain > 0.0 => self.merge_pair(j, i, &mut gains),
                _ => break,
            }
        }
    }

    fn gains(&mut self) -> Gains {
        let mut gains = Gains { log_marginals: Vec::new(), rows: Vec::new() };
        for i in 0..self.comps.len() {
            let log_marginal = self.prior.clustering.log_marginal(&self.comps[i].moments, &mut self.work.comp.wishart);
            gains.log_marginals.push(log_marginal);
            gains.rows.push(Vec::with_capacity(i));
            for j in 0..i {
                let gain = self.gain(i, j, &gains.log_marginals);
                gains.rows[i].push(gain);
            }
        }
        gains
    }

    fn gain(&mut self, i: usize, j: usize, log_marginals: &[f64]) -> f64 {
        let (a, b) = (&self.comps[i], &self.comps[j]);
        if self.are_far(a, b) {
            return f64::NEG_INFINITY;
        }
        let log_alpha = self.log_alpha();
        let (a, b) = (&self.comps[i].moments, &self.comps[j].moments);
        let prior = &self.prior.clustering;
        prior.merge_gain((a, log_marginals[i]), (b, log_marginals[j]), log_alpha, &mut self.work.merge)
    }

    fn are_far(&self, a: &Comp, b: &Comp) -> bool {
        let d = a.moments.n_columns() as f64;
        let known = |c: &Comp| c.moments.count > 2.0 * (d + 2.0);
        if !known(a) || !known(b) {
            return false;
        }
        let mut scratch = crate::family::WishartScratch::default();
        let mut squared = |from: &Comp, to: &Comp| {
            (from.posterior.nu() - d - 1.0) * from.posterior.distance(&to.moments.mean, &mut scratch)
        };
        squared(a, b).min(squared(b, a)) > FAR + FAR_PER_COLUMN * d
    }

    /// The second joins the first, which keeps its name when it is the heavier.
    fn merge_pair(&mut self, i: usize, j: usize, gains: &mut Gains) {
        self.join(i, j);
        gains.log_marginals.remove(j);
        gains.rows.remove(j);
        gains.rows[j..].iter_mut().for_each(|row| {
            row.remove(j);
        });
        gains.log_marginals[i] =
            self.prior.clustering.log_marginal(&self.comps[i].moments, &mut self.work.comp.wishart);
        for other in 0..self.comps.len() {
            if other != i {
                let gain = self.gain(i.max(other), i.min(other), &gains.log_marginals);
                gains.rows[i.max(other)][i.min(other)] = gain;
            }
        }
    }

    /// Component `j` joins component `i` < `j`; the heavier keeps its name.
    fn join(&mut self, i: usize, j: usize) {
        let mut gone = self.comps.remove(j);
        self.overlaps.remove(j);
        let comp = &mut self.comps[i];
        if gone.moments.count > comp.moments.count {
            std::mem::swap(&mut gone.id, &mut comp.id);
        }
        comp.absorb(&gone, &self.prior, &mut self.work.comp);
        let into = comp.id;
        self.news.push((gone.id, Happening::Merged { into }));
    }

    /// Joins the lightest component with the one that suits it best; false when there is nothing to join.
    pub fn make_room(&mut self) -> bool {
        let k = self.comps.len();
        let Some(lightest) =
            (0..k).min_by(|&a, &b| self.comps[a].moments.count.total_cmp(&self.comps[b].moments.count).then(b.cmp(&a)))
        else {
            return false;
        };
        let log_marginals: Vec<f64> = self
            .comps
            .iter()
            .map(|c| self.prior.clustering.log_marginal(&c.moments, &mut self.work.comp.wishart))
            .collect();
        let mut best: Option<(f64, usize)> = None;
        for other in (0..k).filter(|&other| other != lightest) {
            let log_alpha = self.log_alpha();
            let gain = self.prior.clustering.merge_gain(
                (&self.comps[lightest].moments, log_marginals[lightest]),
                (&self.comps[other].moments, log_marginals[other]),
                log_alpha,
                &mut self.work.merge,
            );
            if best.is_none_or(|(g, _)| gain > g) {
                best = Some((gain, other));
            }
        }
        match best {
            Some((_, other)) => {
                self.join(lightest.min(other), lightest.max(other));
                true
            }
            None => false,
        }
    }

    /// Splits components whose halves are worth more.
    fn split_all(&mut self) {
        let log_alpha = self.log_alpha();
        for at in 0..self.comps.len() {
            if self.comps.len() >= self.settings.max_components {
                break;
            }
            let d = self.comps[at].moments.n_columns() as f64;
            let Some(halves) = &self.comps[at].halves else { continue };
            let [a, b] = [&halves.sides[0].moments, &halves.sides[1].moments];
            if a.count.min(b.count) < d + 2.0 {
                continue;
            }
            let wishart = &mut self.work.comp.wishart;
            let marginal = [a, b].map(|m| self.prior.clustering.log_marginal(m, wishart));
            let gain =
                self.prior().merge_gain((a, marginal[0]), (b, marginal[1]), log_alpha, &mut self.work.merge.clone());
            if gain < 0.0 {
                self.split(at);
            }
        }
    }

    /// The halves of the latest rows stand for all of them.
    fn split(&mut self, at: usize) {
        let id = self.new_id();
        let comp = &mut self.comps[at];
        let Some(halves) = comp.halves.take() else { return };
        let grown = comp.moments.count / halves.count();
        let [first, second] = halves.sides.map(|side| Moments { count: side.moments.count * grown, ..side.moments });
        let share = second.count / comp.moments.count;
        let mut other = Comp::new(id, second, &self.prior, comp.born, &mut self.work.comp);
        other.claimed = comp.claimed * share;
        comp.claimed -= other.claimed;
        comp.moments = first;
        comp.refresh(&self.prior, &mut self.work.comp);
        self.news.push((comp.id, Happening::Split { new: id }));
        self.comps.push(other);
    }

    /// Every component that has rows enough gets halves, and those whose time is over get new ones.
    fn renew_halves(&mut self) {
        if self.rule != Rule::Lazy {
            return;
        }
        for comp in &mut self.comps {
            let d = comp.moments.n_columns() as f64;
            match &comp.halves {
                None if comp.moments.count >= 2.0 * (d + 2.0) => {
                    comp.halves = Some(Halves::begin(&comp.moments, &self.prior, None));
                }
                Some(halves) if halves.is_over() => comp.halves = Some(halves.again(&comp.moments, &self.prior)),
                _ => {}
            }
        }
    }

    fn give_up_faded(&mut self) {
        if self.settings.memory.is_none() {
            return;
        }
        let heaviest = self.comps.iter().map(|c| c.moments.count).fold(0.0, f64::max);
        let (news, mass) = (&mut self.news, &mut self.mass);
        self.comps.retain(|c| {
            let stays = c.moments.count >= FADED.min(heaviest);
            if !stays {
                news.push((c.id, Happening::Died));
                *mass -= c.moments.count;
            }
            stays
        });
    }

    /// A round of `prune-merge=exact`.
    pub fn prune_merge_exactly(&mut self) {
        self.merge_all();
        let grace = GRACE_ROUNDS * self.settings.dirichlet.prune_every as u64;
        let heaviest = self.comps.iter().map(|c| c.claimed).fold(0.0, f64::max);
        let now = self.n_learnt;
        let mut k = 0;
        while k < self.comps.len() {
            let comp = &self.comps[k];
            let age = now - comp.born;
            let light = comp.claimed < self.settings.dirichlet.prune_below * age as f64;
            if age > grace && light && comp.claimed < heaviest {
                let gone = self.comps.remove(k);
                self.overlaps.remove(k);
                self.mass -= gone.moments.count;
                self.news.push((gone.id, Happening::Died));
            } else {
                k += 1;
            }
        }
    }
}
