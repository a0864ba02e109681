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
/// Others that a component is compared with, at most.
const NEIGHBOURS: usize = 10;
/// Rounds in which a component that is too light for its age is left alone.
const GRACE_ROUNDS: u64 = 4;
/// Rows in which a new component of `gmm/dp` may show that it is not rare.
const PROBATION: f64 = 2000.0;
/// Mass below which a faded component is given up.
const FADED: f64 = 0.5;

/// Gains of merging, pair by pair, so that a merge costs one row of them and not all.
struct Gains {
    log_marginals: Vec<f64>,
    /// Whether all rows of a component are at one place.
    at_one_place: Vec<bool>,
    /// Pairs j < k.
    rows: Vec<Vec<f64>>,
}

impl Gains {
    fn of(&self, i: usize, j: usize) -> f64 {
        self.rows[i.max(j)][i.min(j)]
    }
}

fn is_at_one_place(moments: &Moments) -> bool {
    moments.covariance.iter().all(|v| *v == 0.0)
}

impl Core {
    /// The prior, splits and merges of `gmm/dp`, when it is time; returns the rows at the last look as a share of those now.
    pub fn look(&mut self) -> Option<f64> {
        if self.n_learnt < self.next_structure || self.comps.is_empty() || self.work.interrupt.is_raised() {
            return None;
        }
        let grown = self.looked_at as f64 / self.n_learnt as f64;
        self.give_up_light();
        self.learn_prior();
        self.split_all();
        self.merge_all();
        self.renew_halves();
        self.renew_predictions();
        self.schedule();
        Some(grown)
    }

    /// Ends a look: what there is now is what the next one compares with.
    pub fn schedule(&mut self) {
        self.comps.iter_mut().for_each(|comp| comp.before.clone_from(&comp.moments));
        self.looked_at = self.n_learnt;
        self.next_structure = self.n_learnt + (self.n_learnt / LOOKS_PER_AGE).clamp(SHORTEST_LOOK, LONGEST_LOOK);
    }

    /// The prior that the components suggest, in the kind that learns it.
    pub fn learn_prior(&mut self) {
        let is_new = self.rule == Rule::Lazy && self.prior.learn(&self.comps);
        // While models compete, rows are added one by one and posteriors do not lag behind.
        if is_new || !self.work.comp.puts_off {
            self.refresh_all();
        }
    }

    pub fn log_alpha(&self) -> f64 {
        self.alpha().ln()
    }

    /// Merges pairs while the marginal likelihood gains by it.
    pub fn merge_all(&mut self) {
        let mut gains = self.gains();
        while !self.work.interrupt.is_raised() {
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
        let k = self.comps.len();
        let distances = self.distances();
        let near: Vec<Vec<usize>> =
            (0..k).map(|i| self.near(i, |j| distances[i * k + j].min(distances[j * k + i]))).collect();
        let log_marginals = (0..k).map(|i| self.log_marginal_of(i)).collect();
        let at_one_place = self.comps.iter().map(|c| is_at_one_place(&c.moments)).collect();
        let mut gains = Gains { log_marginals, at_one_place, rows: Vec::new() };
        for i in 0..k {
            gains.rows.push(vec![f64::NEG_INFINITY; i]);
            for j in 0..i {
                if (near[i].contains(&j) || near[j].contains(&i)) && !self.work.interrupt.is_raised() {
                    gains.rows[i][j] = self.gain(i, j, &gains);
                }
            }
        }
        gains
    }

    fn log_marginal_of(&mut self, at: usize) -> f64 {
        let (prior, comp) = (&self.prior.clustering, &self.comps[at]);
        let at_hand = prior.log_marginal_of(&comp.posterior, comp.moments.count);
        at_hand.unwrap_or_else(|| prior.log_marginal(&comp.moments, &mut self.work.comp.wishart))
    }

    fn gain(&mut self, i: usize, j: usize, gains: &Gains) -> f64 {
        if self.comps[i].is_told_from(&self.comps[j]) {
            return f64::NEG_INFINITY;
        }
        let log_alpha = self.log_alpha();
        let (prior, marginals) = (&self.prior.clustering, &gains.log_marginals);
        // Rows at one place change a determinant by one factor: no need to make it anew.
        let joins = [(i, j), (j, i)].into_iter().find(|(_, other)| gains.at_one_place[*other]);
        let together = joins.and_then(|(one, other)| {
            let (one, other) = (&self.comps[one], &self.comps[other].moments);
            let place = (other.mean.as_slice(), other.count);
            prior.log_marginal_with(&one.posterior, one.moments.count, place, &mut self.work.comp.wishart)
        });
        let (a, b) = (&self.comps[i].moments, &self.comps[j].moments);
        match together {
            Some(both) => {
                NormalWishart::merge_gain_of(both, (a.count, marginals[i]), (b.count, marginals[j]), log_alpha)
            }
            None => prior.merge_gain((a, marginals[i]), (b, marginals[j]), log_alpha, &mut self.work.merge),
        }
    }

    /// How far the mean of one component is from another, in squared standard deviations of the other.
    fn distance(&mut self, from: usize, to: usize) -> f64 {
        let d = self.prior.clustering.n_columns() as f64;
        let (from, to) = (&self.comps[from].posterior, &self.comps[to].moments.mean);
        (from.nu() - d - 1.0).max(1.0) * from.distance(to, &mut self.work.comp.wishart)
    }

    /// The same of all pairs.
    fn distances(&mut self) -> Vec<f64> {
        let k = self.comps.len();
        let distance = |at: usize| match at / k == at % k || self.work.interrupt.is_raised() {
            true => 0.0,
            false => self.distance(at / k, at % k),
        };
        (0..k * k).map(distance).collect()
    }

    /// The components that one may be joined with: the nearest by either's own measure, but none that is far off.
    pub fn nearest(&mut self, at: usize) -> Vec<usize> {
        let k = self.comps.len();
        let apart: Vec<f64> = (0..k).map(|other| self.distance(at, other).min(self.distance(other, at))).collect();
        self.near(at, |other| apart[other])
    }

    fn near(&self, at: usize, apart: impl Fn(usize) -> f64) -> Vec<usize> {
        let d = self.prior.clustering.n_columns() as f64;
        let here = &self.comps[at];
        let known = |c: &Comp| c.moments.count > 2.0 * (d + 2.0);
        let others = self.comps.iter().enumerate().filter(|(k, _)| *k != at);
        let mut near: Vec<(f64, usize)> = others
            .map(|(k, c)| (apart(k), k, known(here) && known(c)))
            .filter(|(distance, _, known)| !known || *distance <= FAR + FAR_PER_COLUMN * d)
            .map(|(distance, k, _)| (distance, k))
            .collect();
        if near.len() > NEIGHBOURS {
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(NEIGHBOURS);
        }
        near.into_iter().map(|(_, k)| k).collect()
    }

    /// The second joins the first, which keeps its name when it is the heavier.
    fn merge_pair(&mut self, i: usize, j: usize, gains: &mut Gains) {
        // Whoever was near either of the two is near both now.
        let candidates: Vec<usize> = (0..self.comps.len())
            .filter(|&k| k != i && k != j && (gains.of(k, i) > f64::NEG_INFINITY || gains.of(k, j) > f64::NEG_INFINITY))
            .map(|k| if k > j { k - 1 } else { k })
            .collect();
        self.join(i, j);
        gains.log_marginals.remove(j);
        gains.at_one_place.remove(j);
        gains.rows.remove(j);
        gains.rows[j..].iter_mut().for_each(|row| {
            row.remove(j);
        });
        gains.log_marginals[i] = self.log_marginal_of(i);
        gains.at_one_place[i] = is_at_one_place(&self.comps[i].moments);
        for other in candidates {
            let gain = self.gain(i.max(other), i.min(other), gains);
            gains.rows[i.max(other)][i.min(other)] = gain;
        }
    }

    /// Component `j` joins component `i` < `j`; the heavier keeps its name.
    fn join(&mut self, i: usize, j: usize) {
        self.join_overlaps(i, j);
        let mut gone = self.comps.remove(j);
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
        self.news.push((self.comps[lightest].id, Happening::Full));
        let mut near = self.nearest(lightest);
        if near.is_empty() {
            near = (0..k).filter(|&other| other != lightest).collect();
        }
        let log_alpha = self.log_alpha();
        let mut best: Option<(f64, usize)> = None;
        for other in near {
            let (a, b) = (&self.comps[lightest].moments, &self.comps[other].moments);
            let scratch = &mut self.work.comp.wishart;
            let marginal = [a, b].map(|m| self.prior.clustering.log_marginal(m, scratch));
            let prior = &self.prior.clustering;
            let gain = prior.merge_gain((a, marginal[0]), (b, marginal[1]), log_alpha, &mut self.work.merge);
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

    /// Gives up what has faded, and what is so rare that no snapshot would show it.
    fn give_up_light(&mut self) {
        let heaviest = self.comps.iter().map(|c| c.moments.count).fold(0.0, f64::max);
        let fading = self.settings.memory.is_some();
        let (now, delta) = (self.n_learnt, self.settings.least_share(self.comps.len()));
        let (news, mass) = (&mut self.news, &mut self.mass);
        self.comps.retain(|c| {
            let age = (now - c.born) as f64;
            let rare = age > PROBATION && c.claimed < 0.5 * delta * age;
            let light = rare || (fading && c.moments.count < FADED);
            let stays = !light || c.moments.count >= heaviest;
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
