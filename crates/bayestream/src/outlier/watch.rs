//! Score before learn: five views of a row, each ranked among recent rows, and what they say together.
//!
//! 1. **Established density** s₁ = −log Σ_{k∈E} w_k N_k(x): only components that hold the bulk of the mass that looked
//!    normal itself (`standing.rs`), so that a cluster of outliers does not make itself normal.
//! 2. **One Gaussian** s₂ = (u−m)' C⁻¹ (u−m), of rows u with columns made comparable (`columns.rs`).
//! 3. **Its diagonal** s₃ = Σ_j z_j², z_j² = (u_j−m_j)²/C_jj: far out in one column.
//! 4. **Long-tailed columns** s₄ = Σ_j log(1 + z_j²/3), Student's t: a little out in many columns.
//! 5. **Slices** s₅ = −mean log share of the row's place on random lines (`slices.rs`).
//!
//! Each becomes a p-value by its rank among the scores of recent rows; T is a weighted mean of −log p_v, Fisher's
//! combination, in which no view counts for much more than `ENOUGH`: a row that all views find rare is more of an outlier than
//! one that a single view finds very rare. Two views that agree are heard for themselves too, at a discount. T is the
//! row's surprise: it ranks outliers that most views see, and a glitch that only the density sees stays below them.
//! An alarm should tell of both, so the p-value is that of U = max(−log p_T, −log p₁), in which T, by its rank, and the
//! density have an equal say. The two depend on each other, so U is ranked once more among its own recent values.
//! The plain views learn rows with weight ω = (p/0.2)^1.5, between 0.02 and 1, with the p-value of the columns one by one
//! (views 3 and 4): what looks like an outlier moves them little. A cluster of outliers tilts those two last; the density
//! and the covariance call it normal at first, and would teach the others to.
//! The mixture learns all rows alike, so that watching leaves the model what it would have been without; trimming it too
//! made no difference to the ranking that could be told from the spread between shuffles.
//!
//! Scores of all rows are ranked, outliers included: p is relative to the recent stream.

use super::columns::Columns;
use super::drift::{DriftAlarm, DriftWatch};
use super::ranks::Ranks;
use super::slices::Slices;
use super::standing::Standings;
use super::views::{DistanceScratch, OneGaussian};
use crate::engine::Learner;
use crate::model::Settings;
use crate::structure::{Clustering, ComponentId, Evaluation, Member, Posterior, RowBlock, Scorer};
use serde::{Deserialize, Serialize};

/// Rows that columns are fitted to.
const WARM_UP: usize = 250;
/// Scores that ranks of the views and of their combination are relative to. The first tell views apart and should
/// follow the model; the second must tell one in a thousand.
const VIEW_SCORES: usize = 2000;
const COMBINED_SCORES: usize = 10_000;
/// Scores kept after a change.
const KEPT_AFTER_CHANGE: usize = 200;
/// Rows that look like outliers are learnt with less weight, though never less than the floor, once so many rows were
/// judged.
const TRIM_POWER: f64 = 1.5;
const TRIM_FLOOR: f64 = 0.02;
const TRIM_AFTER: u64 = 100;
/// Nats by which a component is discounted when half of the mass beyond the bulk is heavier, and by which it is gone.
const FADING: f64 = 2.0;
const FADED: f64 = 30.0;
/// Changes remembered.
const MOST_ALARMS: usize = 100;
/// Rows evaluated together.
const CHUNK: usize = 512;

/// How many views there are.
pub const N_VIEWS: usize = 5;
const DENSITY: usize = 0;
/// Those of single columns, by which rows are trimmed.
const COLUMN_BY_COLUMN: [usize; 2] = [2, 3];
/// What each view counts for in T. These and `ENOUGH` come from a search on half of the sets of the benchmark:
/// `bench/run outlier-choice`.
const SHARES: [f64; N_VIEWS] = [0.05, 0.15, 0.4, 0.2, 0.2];
/// Nats beyond which a view adds little more, and how little: enough to keep the order.
const ENOUGH: f64 = 3.5;
const BEYOND: f64 = 0.01;
/// Nats that two views give up when they speak for themselves. The search does not mind; without it a value that is absurd
/// in one column would be less of a surprise than a row that is a little out in many.
const TWO_AGREE: f64 = 8.0;
/// Nats beyond which the density alone adds little more to an alarm: while a model is young it finds some rows absurd
/// that are not.
const LOUDEST: f64 = 12.0;

/// What is said of a row before it is learnt from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Log-density of the observed cells under the whole mixture, in nats and the data's own units; NaN before there
    /// is a model.
    pub log_density: f64,
    /// The views together, T, in nats; 0 while too few rows were seen to judge.
    pub surprise: f64,
    /// Share of recent rows at least as unusual, together or in density alone, in (0, 1]; 1 while too few rows were seen
    /// to judge.
    pub p_value: f64,
    /// p-values of the views: established density, one Gaussian, its diagonal, long-tailed columns, slices.
    pub views: [f64; N_VIEWS],
    /// The component most responsible.
    pub component: Option<ComponentId>,
    /// Its responsibility; NaN before there is a model.
    pub responsibility: f64,
    /// The cluster whose components are together most responsible.
    pub cluster: Option<ComponentId>,
    /// What the row counts as one of the normal rows, from 0.02 to 1.
    pub weight: f64,
}

/// What judging remembers of a stream: columns, views and recent scores.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Watch {
    /// Share of the mass that is established, and rows that a component of it must stand for.
    established: f64,
    new_mode_rows: f64,
    /// p-value below which a row counts less among the normal ones.
    trim_below: f64,
    n_seen: u64,
    n_judged: u64,
    columns: Columns,
    /// The latest rows, while there are columns to be fitted.
    waiting: Vec<f64>,
    gaussian: OneGaussian,
    slices: Slices,
    standings: Standings,
    views: [Ranks; N_VIEWS],
    /// Of T and of U.
    together: Ranks,
    alarming: Ranks,
    /// Of the columns one by one: what is trimmed.
    plain: Ranks,
    /// None when the stream is taken never to change.
    drift: Option<DriftWatch>,
    /// The latest of the changes noticed.
    alarms: Vec<DriftAlarm>,
    /// Clusters of the model's components, as they were lately.
    clusters: Clustering,
}

/// Buffers of judging; not part of the state.
#[derive(Clone, Debug, Default)]
pub struct WatchWork {
    evaluation: Evaluation,
    posterior: Posterior,
    established: Vec<f64>,
    /// Components by the mass that looked normal, and those that are established.
    order: Vec<(f64, usize)>,
    chosen: Vec<(usize, f64)>,
    /// Rows of each component, and what they count after trimming.
    sums: Vec<(f64, f64)>,
    given: Vec<f64>,
    block: RowBlock,
    distances: DistanceScratch,
    shares: Vec<f64>,
    transformed: Vec<f64>,
    /// Rows in plain units, and one of them with its holes filled.
    plain: Vec<f64>,
    whole: Vec<f64>,
    /// Where rows lie on the slices.
    places: Vec<u8>,
    /// Per row; none while there is nothing to judge by.
    scores: Vec<Option<Scores>>,
}

/// What the views say of a row.
#[derive(Clone, Copy, Debug)]
struct Scores {
    views: [f64; N_VIEWS],
    /// −log p of each.
    surprises: [f64; N_VIEWS],
    /// T, U, and the part of T that rows are trimmed by.
    together: f64,
    alarming: f64,
    plain: f64,
}

/// A surprise of which little counts beyond `most`.
fn heard(surprise: f64, most: f64) -> f64 {
    surprise.min(most) + BEYOND * (surprise - most).max(0.0)
}

impl Watch {
    /// A watch that has seen nothing.
    pub fn new(n_columns: usize, settings: &Settings) -> Watch {
        Watch {
            established: settings.established,
            new_mode_rows: settings.new_mode_rows,
            trim_below: settings.trim_below,
            n_seen: 0,
            n_judged: 0,
            columns: Columns::new(n_columns, WARM_UP as u64),
            waiting: Vec::new(),
            gaussian: OneGaussian::new(n_columns),
            slices: Slices::new(n_columns),
            standings: Standings::default(),
            views: std::array::from_fn(|_| Ranks::new(VIEW_SCORES)),
            together: Ranks::new(COMBINED_SCORES),
            alarming: Ranks::new(COMBINED_SCORES),
            plain: Ranks::new(VIEW_SCORES),
            drift: settings.drift.then(|| DriftWatch::new(n_columns)),
            alarms: Vec::new(),
            clusters: Clustering::default(),
        }
    }

    /// A watch for a model that was learnt without one: what is usual is told by the rows that the learner still holds.
    pub fn of_recent_rows(learner: &dyn Learner, n_columns: usize, settings: &Settings, work: &mut WatchWork) -> Watch {
        let mut watch = Watch::new(n_columns, settings);
        let rows = learner.recent_rows(COMBINED_SCORES);
        let n = rows.len() / n_columns;
        if n < WARM_UP {
            return watch;
        }
        watch.n_seen = n as u64;
        watch.n_judged = n as u64;
        watch.fit_columns(&rows);
        watch.rank_recent_rows(learner, work);
        watch
    }

    /// Ranks from here on among the rows that the learner still holds, as it and this watch score them now.
    pub fn rank_recent_rows(&mut self, learner: &dyn Learner, work: &mut WatchWork) {
        let rows = learner.recent_rows(COMBINED_SCORES);
        let mut verdicts = Vec::new();
        self.judge(learner, &rows, None, work, &mut verdicts);
        fn scores(work: &WatchWork, which: impl Fn(&Scores) -> f64) -> Vec<f64> {
            work.scores.iter().flatten().map(which).collect()
        }
        if work.scores.iter().flatten().count() < WARM_UP {
            return;
        }
        self.views = std::array::from_fn(|v| Ranks::of(VIEW_SCORES, &scores(work, |s| s.views[v])));
        // Once more, now that the views have ranks, and again, now that they have them together.
        self.judge(learner, &rows, None, work, &mut verdicts);
        self.together = Ranks::of(COMBINED_SCORES, &scores(work, |s| s.together));
        self.plain = Ranks::of(VIEW_SCORES, &scores(work, |s| s.plain));
        self.judge(learner, &rows, None, work, &mut verdicts);
        self.alarming = Ranks::of(COMBINED_SCORES, &scores(work, |s| s.alarming));
    }

    /// True when the clusters of a learner's components should be found anew.
    pub fn lacks_clusters(&self, learner: &dyn Learner) -> bool {
        let (k, n_columns) = (learner.k_implemented(), self.columns.n_columns());
        self.clusters.is_due(k, n_columns, learner.n_seen(), learner.events().n_total())
    }

    /// Finds them.
    pub fn find_clusters(&mut self, learner: &dyn Learner) {
        let clusters = learner.scorer().clusters();
        self.clusters = Clustering::new(&clusters, learner.n_seen(), learner.events().n_total());
    }

    /// Judges rows, all of them by the state as it is; verdicts are appended to `out`. Weights matter only for what is
    /// then learnt.
    pub fn judge(
        &self,
        learner: &dyn Learner,
        rows: &[f64],
        weights: Option<&[f64]>,
        work: &mut WatchWork,
        out: &mut Vec<Verdict>,
    ) {
        let d = self.columns.n_columns();
        work.scores.clear();
        work.transformed.clear();
        work.places.clear();
        work.sums.clear();
        for rows in rows.chunks(CHUNK * d) {
            learner.evaluate(rows, &mut work.evaluation);
            let members = work.evaluation.members();
            self.establish(members, &mut work.order, &mut work.chosen);
            if work.sums.len() != members.len() {
                work.sums.clear();
                work.sums.resize(members.len(), (0.0, 0.0));
            }
            let first = work.transformed.len();
            self.columns.push_rows(rows, &mut work.transformed);
            let (first_score, first_verdict) = (work.scores.len(), out.len());
            if !work.chosen.is_empty() && self.columns.is_ready() {
                work.evaluation.log_density_under(&work.chosen, &mut work.posterior, &mut work.established);
                work.block.load(&work.transformed[first..], d);
                let usual = [1, 2, 3].map(|view| self.usual(view));
                self.columns.usual_shares(&mut work.shares);
                let (scores, established, places) = (&mut work.scores, &work.established, &mut work.places);
                work.plain.clear();
                self.columns.push_plain_rows(rows, &mut work.plain);
                let (plain, whole) = (&work.plain, &mut work.whole);
                self.gaussian.distances(&mut work.block, usual, &work.shares, &mut work.distances, |i, s, filled| {
                    let observed = &plain[i * d..(i + 1) * d];
                    let has_holes = observed.iter().any(|v| v.is_nan());
                    if has_holes {
                        self.columns.untransform(filled, whole);
                    }
                    let slice = self.slices.score(observed, has_holes.then_some(&whole[..]), places);
                    scores.push(Some(self.combine([-established[i], s[0], s[1], s[2], slice])));
                });
            } else {
                work.scores.resize(first_score + rows.len() / d, None);
            }
            work.evaluation.normalise();
            work.evaluation.label_by(&self.clusters);
            for (i, scores) in work.scores[first_score..].iter().enumerate() {
                let cluster = work.evaluation.cluster_of_row(i);
                out.push(Verdict { cluster, ..self.verdict(work.evaluation.of_row(i), scores.as_ref()) });
            }
            let judged = &out[first_verdict..];
            work.given.clear();
            work.given.extend((0..judged.len()).map(|i| weights.map_or(1.0, |w| w[first_score + i])));
            for (k, (rows, trimmed)) in work.sums.iter_mut().enumerate() {
                let responsibilities = work.evaluation.responsibilities(k);
                for ((q, given), verdict) in responsibilities.iter().zip(&work.given).zip(judged) {
                    *rows += q * given;
                    *trimmed += q * given * verdict.weight;
                }
            }
        }
    }

    /// Looks for a change in rows that are not learnt yet. Ranks are kept: in a stream that changes again and again, ranks
    /// among the few rows since the last change alarm far too often; recent rows of several regimes are the better yardstick.
    pub fn look_for_change(&mut self, rows: &[f64], model: impl FnOnce() -> Scorer) {
        if let Some(alarm) = self.drift.as_mut().and_then(|drift| drift.observe(rows, model)) {
            if self.alarms.len() >= MOST_ALARMS {
                self.alarms.remove(0);
            }
            self.alarms.push(alarm);
        }
    }

    /// The latest changes that were noticed, oldest first.
    pub fn alarms(&self) -> &[DriftAlarm] {
        &self.alarms
    }

    /// What the middle one of recent rows scores.
    fn usual(&self, view: usize) -> f64 {
        let median = self.views[view].median();
        if median.is_finite() { median.max(0.0) } else { self.columns.n_columns() as f64 }
    }

    /// The established components: those that hold the bulk of the mass that looked normal. Trust counts to its fourth
    /// power: a component most of whose rows look normal keeps its mass, an outlier cluster of a tenth loses nearly all.
    /// What lies beyond the bulk fades by degrees: a component at the border must not come and go.
    fn establish(&self, members: &[Member], into: &mut Vec<(f64, usize)>, chosen: &mut Vec<(usize, f64)>) {
        into.clear();
        into.extend(
            members
                .iter()
                .enumerate()
                .map(|(k, m)| (m.weight * self.standings.trust(m, self.new_mode_rows).powi(4), k)),
        );
        let total: f64 = into.iter().map(|(mass, _)| mass).sum();
        into.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        chosen.clear();
        let mut left = total;
        for &(share, k) in into.iter() {
            let beyond = (1.0 - self.established) * total / left.max(f64::MIN_POSITIVE);
            let fade = FADING * (beyond - 1.0).max(0.0);
            if !chosen.is_empty() && fade > FADED {
                break;
            }
            chosen.push((k, -fade.min(FADED)));
            left -= share;
        }
    }

    /// What the views say together.
    fn combine(&self, views: [f64; N_VIEWS]) -> Scores {
        let surprises: [f64; N_VIEWS] = std::array::from_fn(|v| -self.views[v].log_p_value(views[v]));
        let mean: f64 = (0..N_VIEWS).map(|v| SHARES[v] * heard(surprises[v], ENOUGH)).sum();
        // Rows that all views find rare are told apart in nats again: the tail is fitted to them.
        let mean = if mean > ENOUGH { ENOUGH + (mean - ENOUGH) / BEYOND } else { mean };
        let (mut loudest, mut second) = (0.0_f64, 0.0_f64);
        for s in surprises {
            (loudest, second) = (loudest.max(s), second.max(loudest.min(s)));
        }
        let together = mean.max(second - TWO_AGREE);
        let plain = COLUMN_BY_COLUMN.iter().map(|v| surprises[*v]).sum::<f64>() / COLUMN_BY_COLUMN.len() as f64;
        let alarming = heard(surprises[DENSITY], LOUDEST).max(-self.together.log_p_value(together));
        Scores { views, surprises, together, alarming, plain }
    }

    fn verdict(&self, of_row: (f64, Option<ComponentId>, f64), scores: Option<&Scores>) -> Verdict {
        let (log_density, component, responsibility) = of_row;
        let mut verdict = Verdict {
            log_density,
            surprise: 0.0,
            p_value: 1.0,
            views: [1.0; N_VIEWS],
            component,
            responsibility,
            cluster: None,
            weight: 1.0,
        };
        if let Some(scores) = scores {
            verdict.surprise = scores.together;
            verdict.p_value = self.alarming.p_value(scores.alarming);
            verdict.views = scores.surprises.map(|s| (-s).exp());
            if self.n_judged >= TRIM_AFTER {
                let p_value = self.plain.p_value(scores.plain);
                verdict.weight = (p_value / self.trim_below).powf(TRIM_POWER).clamp(TRIM_FLOOR, 1.0);
            }
        }
        verdict
    }

    /// Learns from the rows that were just judged with `work`, with their weights after trimming; rows of weight 0
    /// count as none.
    pub fn learn(&mut self, rows: &[f64], weights: &[f64], work: &mut WatchWork) {
        let d = self.columns.n_columns();
        for (scores, _) in work.scores.iter().zip(weights).filter(|(_, w)| **w > 0.0) {
            if let Some(scores) = scores {
                (0..N_VIEWS).for_each(|v| self.views[v].push(scores.views[v]));
                self.together.push(scores.together);
                self.alarming.push(scores.alarming);
                self.plain.push(scores.plain);
                self.n_judged += 1;
            }
        }
        self.standings.learn(work.evaluation.members(), &work.sums, self.new_mode_rows);
        if self.columns.is_ready() {
            for (rows, weights) in work.transformed.chunks(CHUNK * d).zip(weights.chunks(CHUNK)) {
                work.block.load(rows, d);
                self.gaussian.learn(&mut work.block, weights);
            }
            self.slices.learn(&work.places, weights);
        }
        self.n_seen += weights.iter().filter(|w| **w > 0.0).count() as u64;
        self.columns.notice(rows, weights, self.n_seen + WARM_UP as u64);
        if !self.columns.is_waiting() {
            return;
        }
        let counts = rows.chunks_exact(d).zip(weights).filter(|(_, w)| **w > 0.0);
        counts.for_each(|(row, _)| self.waiting.extend_from_slice(row));
        let excess = self.waiting.len().saturating_sub(WARM_UP * d);
        self.waiting.drain(..excess);
        if self.columns.is_due(self.n_seen) {
            let rows = std::mem::take(&mut self.waiting);
            self.fit_columns(&rows);
            if self.columns.is_waiting() {
                self.waiting = rows;
            }
        }
    }

    /// Fits the columns that are due, and begins the Gaussian anew when those are all.
    fn fit_columns(&mut self, rows: &[f64]) {
        let d = self.columns.n_columns();
        let was_ready = self.columns.is_ready();
        let fitted = self.columns.fit(rows, self.n_seen, self.n_seen + WARM_UP as u64);
        if fitted.is_empty() {
            return;
        }
        self.gaussian.reset_columns(&fitted, WARM_UP as f64);
        let mut transformed = Vec::new();
        self.columns.push_rows(rows, &mut transformed);
        let mut plain = Vec::new();
        self.columns.push_plain_rows(rows, &mut plain);
        self.slices.begin(&plain, &fitted);
        if !was_ready || fitted.len() == d {
            let mut block = RowBlock::default();
            block.load(&transformed, d);
            self.gaussian.begin(&mut block);
        }
    }

    /// The stream is known to have changed: scores from before it are forgotten, and columns are fitted anew.
    pub fn announce_change(&mut self) {
        self.views.iter_mut().for_each(|ranks| ranks.flush(KEPT_AFTER_CHANGE));
        self.together.flush(KEPT_AFTER_CHANGE);
        self.alarming.flush(KEPT_AFTER_CHANGE);
        self.plain.flush(KEPT_AFTER_CHANGE);
        if self.columns.is_ready() {
            self.waiting.clear();
            self.columns.refit_at(self.n_seen + WARM_UP as u64);
        }
    }

    /// Those of several shards together: statistics add, recent scores interleave. Shards that had too few rows to judge have nothing to add.
    pub fn joined(parts: &[&Watch]) -> Option<Watch> {
        let ready: Vec<&Watch> = parts.iter().copied().filter(|p| p.columns.is_ready()).collect();
        let first = ready.first()?;
        Some(Watch {
            established: first.established,
            new_mode_rows: first.new_mode_rows,
            trim_below: first.trim_below,
            n_seen: ready.iter().map(|p| p.n_seen).sum(),
            n_judged: ready.iter().map(|p| p.n_judged).sum(),
            columns: Columns::joined(&ready.iter().map(|p| &p.columns).collect::<Vec<_>>()),
            waiting: Vec::new(),
            standings: Standings::joined(&ready.iter().map(|p| &p.standings).collect::<Vec<_>>()),
            gaussian: OneGaussian::joined(&ready.iter().map(|p| &p.gaussian).collect::<Vec<_>>()),
            slices: Slices::joined(&ready.iter().map(|p| &p.slices).collect::<Vec<_>>()),
            views: std::array::from_fn(|v| Ranks::joined(&ready.iter().map(|p| &p.views[v]).collect::<Vec<_>>())),
            together: Ranks::joined(&ready.iter().map(|p| &p.together).collect::<Vec<_>>()),
            alarming: Ranks::joined(&ready.iter().map(|p| &p.alarming).collect::<Vec<_>>()),
            plain: Ranks::joined(&ready.iter().map(|p| &p.plain).collect::<Vec<_>>()),
            drift: first.drift.as_ref().map(|_| DriftWatch::new(first.columns.n_columns())),
            // Rows of different shards have no common numbering.
            alarms: Vec::new(),
            // Components of shards that became one have other clusters.
            clusters: Clustering::default(),
        })
    }

    /// Checks everything a file may have got wrong and rebuilds what is not saved.
    pub fn restore(&mut self, n_columns: usize) -> Result<(), String> {
        let sound = self.columns.is_sound(n_columns)
            && self.gaussian.is_sound(n_columns)
            && self.slices.is_sound(n_columns)
            && self.standings.is_sound()
            && self.views.iter().all(|ranks| ranks.is_sound(VIEW_SCORES))
            && self.together.is_sound(COMBINED_SCORES)
            && self.alarming.is_sound(COMBINED_SCORES)
            && self.plain.is_sound(VIEW_SCORES)
            && self.waiting.len().is_multiple_of(n_columns)
            && self.waiting.len() <= WARM_UP * n_columns
            && !self.waiting.iter().any(|v| v.is_infinite())
            && (0.0..=1.0).contains(&self.established)
            && (0.0..=1.0).contains(&self.trim_below)
            && self.new_mode_rows >= 0.0;
        if !sound {
            return Err("its record of recent scores is inconsistent".into());
        }
        if let Some(drift) = &mut self.drift {
            drift.restore(n_columns)?;
        }
        self.gaussian.restore();
        self.slices.restore();
        self.views.iter_mut().for_each(Ranks::restore);
        self.together.restore();
        self.alarming.restore();
        self.plain.restore();
        Ok(())
    }
}
