//! A plant of many like machines with eight sensors each, made up: regimes come and go, one sensor drifts, a few
//! readings are wrong. Machines report in turn, so that a row's regime says nothing of the next row's.

use bayestream::num::{self, Rng};
use bayestream::synthetic::Truth;

/// Rows of the stream.
pub const N_ROWS: usize = 60_000;
/// The regime `recipe b` begins with this row, counted from zero.
pub const NEW_REGIME_AT: usize = N_ROWS / 3;
/// The regime `cleaning` is never seen from this row on.
pub const OLD_REGIME_ENDS_AT: usize = 2 * N_ROWS / 3;
/// Share of rows with wrong readings.
pub const OUTLIER_SHARE: f64 = 0.003;
/// No wrong readings before this row: there is nothing yet to tell them by.
const FIRST_OUTLIER: usize = 2_000;
/// The sensor whose offset drifts.
pub const DRIFTING: usize = 4;
/// By how much it has drifted at the end, in spreads.
const DRIFT: f64 = 1.0;

/// A sensor: name, usual reading, and how far readings spread over all regimes.
const SENSORS: [(&str, f64, f64); 8] = [
    ("flow_in", 42.0, 8.0),
    ("flow_out", 40.0, 8.0),
    ("pressure", 3.1, 0.6),
    ("temp_in", 61.0, 5.0),
    ("temp_out", 74.0, 6.0),
    ("power", 11.5, 3.0),
    ("vibration", 2.2, 0.7),
    ("level", 55.0, 12.0),
];

/// A regime: name, weight, and its mean in spreads from the usual readings.
struct Regime {
    name: &'static str,
    weight: f64,
    mean: [f64; 8],
}

const REGIMES: [Regime; 5] = [
    Regime { name: "idle", weight: 0.2, mean: [-2.0, -2.0, -1.5, -1.0, -1.5, -2.2, -1.5, 0.5] },
    Regime { name: "normal", weight: 0.4, mean: [0.0; 8] },
    Regime { name: "high load", weight: 0.25, mean: [1.8, 1.6, 1.2, 0.6, 1.5, 2.0, 1.2, -0.8] },
    Regime { name: "cleaning", weight: 0.15, mean: [1.0, -1.0, -0.5, 2.0, 2.5, 0.3, -0.5, -2.0] },
    Regime { name: "recipe b", weight: 0.25, mean: [-0.8, 0.9, 1.8, -1.6, 0.8, 0.9, 2.2, 1.6] },
];
const CLEANING: usize = 3;
const RECIPE_B: usize = 4;

/// Common causes that move several sensors of a regime together, and how strongly.
const N_CAUSES: usize = 3;
const CAUSE_STRENGTH: f64 = 0.3;
/// What each sensor does on its own, in spreads.
const NOISE: f64 = 0.1;
/// Wrong readings are off by this much, in spreads: less than the regimes differ, so that no fixed limit finds them.
const WRONG_BY: (f64, f64) = (0.7, 2.0);

/// A wrong reading that was planted.
pub struct Planted {
    /// The row, from zero.
    pub row: usize,
    /// The sensors that are wrong.
    pub sensors: Vec<usize>,
}

/// The whole stream and what is true of it.
pub struct Plant {
    /// The rows, row-major.
    pub rows: Vec<f64>,
    /// The regime of each row.
    pub regimes: Vec<usize>,
    /// The rows with wrong readings, in their order.
    pub planted: Vec<Planted>,
    /// Mean and covariance of each regime, without drift.
    truth: Truth,
}

/// The sensors' names.
pub fn sensors() -> Vec<String> {
    SENSORS.iter().map(|(name, ..)| name.to_string()).collect()
}

/// A regime's name.
pub fn regime_name(regime: usize) -> &'static str {
    REGIMES[regime].name
}

/// Whether a regime can occur at a row.
fn is_open(regime: usize, row: usize) -> bool {
    match regime {
        RECIPE_B => row >= NEW_REGIME_AT,
        CLEANING => row < OLD_REGIME_ENDS_AT,
        _ => true,
    }
}

fn weights_at(row: usize) -> Vec<f64> {
    let open: Vec<f64> =
        REGIMES.iter().enumerate().map(|(ix, r)| if is_open(ix, row) { r.weight } else { 0.0 }).collect();
    let total: f64 = open.iter().sum();
    open.iter().map(|weight| weight / total).collect()
}

/// The drifting sensor's offset at a row, in its own unit.
fn offset_at(row: usize) -> f64 {
    DRIFT * SENSORS[DRIFTING].2 * row as f64 / N_ROWS as f64
}

impl Plant {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Plant {
        let d = SENSORS.len();
        let mut rng = num::stream(seed, 0x6465_6d6f, 0);
        let loadings: Vec<Vec<f64>> =
            REGIMES.iter().map(|_| (0..d * N_CAUSES).map(|_| CAUSE_STRENGTH * rng.normal()).collect()).collect();
        let truth = truth(&loadings);
        let mut plant = Plant { rows: Vec::with_capacity(N_ROWS * d), regimes: Vec::new(), planted: Vec::new(), truth };
        for row in 0..N_ROWS {
            let regime = rng.categorical(&weights_at(row));
            plant.push_row(row, regime, &loadings[regime], &mut rng);
        }
        plant
    }

    fn push_row(&mut self, row: usize, regime: usize, loadings: &[f64], rng: &mut Rng) {
        let d = SENSORS.len();
        let causes: Vec<f64> = (0..N_CAUSES).map(|_| rng.normal()).collect();
        let mut wrong = vec![0.0; d];
        if row >= FIRST_OUTLIER && rng.uniform() < OUTLIER_SHARE {
            let mut sensors: Vec<usize> = (0..d).collect();
            rng.shuffle(&mut sensors);
            sensors.truncate(1 + rng.below(2));
            for &sensor in &sensors {
                let size = WRONG_BY.0 + (WRONG_BY.1 - WRONG_BY.0) * rng.uniform();
                wrong[sensor] = if rng.uniform() < 0.5 { -size } else { size };
            }
            sensors.sort_unstable();
            self.planted.push(Planted { row, sensors });
        }
        for (j, (_, usual, spread)) in SENSORS.iter().enumerate() {
            let common: f64 = (0..N_CAUSES).map(|c| loadings[j * N_CAUSES + c] * causes[c]).sum();
            let in_spreads = REGIMES[regime].mean[j] + common + NOISE * rng.normal() + wrong[j];
            let drift = if j == DRIFTING { offset_at(row) } else { 0.0 };
            self.rows.push(usual + spread * in_spreads + drift);
        }
        self.regimes.push(regime);
    }

    /// Whether a row is of the regime that begins in the middle of the stream.
    pub fn is_new_regime(&self, row: usize) -> bool {
        self.regimes[row] == RECIPE_B
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.rows[row * SENSORS.len()..(row + 1) * SENSORS.len()]
    }

    /// What nobody can know: the log-density of some rows under the plant itself.
    pub fn log_density(&self, rows: std::ops::Range<usize>) -> Vec<f64> {
        let d = SENSORS.len();
        let mut truth = self.truth.clone();
        truth.weights = weights_at(rows.start);
        truth.means.iter_mut().for_each(|mean| mean[DRIFTING] += offset_at((rows.start + rows.end) / 2));
        let open = (0..REGIMES.len()).filter(|ix| truth.weights[*ix] > 0.0);
        let open: Vec<usize> = open.collect();
        let pick = |all: &[Vec<f64>]| open.iter().map(|ix| all[*ix].clone()).collect();
        let truth = Truth {
            weights: open.iter().map(|ix| truth.weights[*ix]).collect(),
            means: pick(&truth.means),
            covariances: pick(&truth.covariances),
        };
        truth.log_density(&self.rows[rows.start * d..rows.end * d])
    }

    /// The regime whose mean at the end of the stream is nearest, in spreads.
    pub fn nearest_regime(&self, mean: &[f64]) -> usize {
        let distance = |regime: usize| -> f64 {
            (0..SENSORS.len())
                .map(|j| {
                    let drift = if j == DRIFTING { offset_at(N_ROWS) } else { 0.0 };
                    ((mean[j] - self.truth.means[regime][j] - drift) / SENSORS[j].2).powi(2)
                })
                .sum()
        };
        (0..REGIMES.len()).min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap_or(0)
    }
}

fn truth(loadings: &[Vec<f64>]) -> Truth {
    let d = SENSORS.len();
    let mean = |regime: &Regime| (0..d).map(|j| SENSORS[j].1 + SENSORS[j].2 * regime.mean[j]).collect();
    let covariance = |loading: &Vec<f64>| {
        (0..d * d)
            .map(|at| {
                let (i, j) = (at / d, at % d);
                let common: f64 = (0..N_CAUSES).map(|c| loading[i * N_CAUSES + c] * loading[j * N_CAUSES + c]).sum();
                let own = if i == j { NOISE * NOISE } else { 0.0 };
                SENSORS[i].2 * SENSORS[j].2 * (common + own)
            })
            .collect()
    };
    Truth {
        weights: REGIMES.iter().map(|regime| regime.weight).collect(),
        means: REGIMES.iter().map(mean).collect(),
        covariances: loadings.iter().map(covariance).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regimes_come_and_go_when_they_should() {
        let plant = Plant::new(3);
        let first_b = plant.regimes.iter().position(|r| *r == RECIPE_B).unwrap();
        let last_cleaning = plant.regimes.iter().rposition(|r| *r == CLEANING).unwrap();
        assert!(first_b >= NEW_REGIME_AT && last_cleaning < OLD_REGIME_ENDS_AT);
        let n = plant.planted.len() as f64;
        let expected = OUTLIER_SHARE * (N_ROWS - FIRST_OUTLIER) as f64;
        // Five standard deviations of a binomial count.
        assert!((n - expected).abs() < 5.0 * expected.sqrt(), "{n} planted");
        assert!(plant.planted.iter().all(|p| p.row >= FIRST_OUTLIER && (1..=2).contains(&p.sensors.len())));
    }

    #[test]
    fn the_same_seed_gives_the_same_stream() {
        assert_eq!(Plant::new(5).rows, Plant::new(5).rows);
        assert_ne!(Plant::new(5).rows, Plant::new(6).rows);
    }
}
