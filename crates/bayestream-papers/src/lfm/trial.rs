//! Rows learnt one way, and how well cells that were hidden are foretold then.

use bayestream::data::Batch;
use bayestream::engine::FeatureLearner;
use bayestream::engine::lfm::{BatchFeatures, FabSettings, OnlineFab, OnlineSettings, Rival, RivalSettings, Way};
use bayestream::num;
use bayestream::structure::{FeatureReader, FeatureSet};
use cpu_time::ThreadTime;

/// Ways to find features, by the names that the paper has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Births,
    Printed,
    Online,
    Em,
    Ibp,
    Vb,
    Meibp,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Births => "FAB",
            Method::Printed => "FAB, random start",
            Method::Online => "FAB, one pass",
            Method::Em => "EM",
            Method::Ibp => "IBP",
            Method::Vb => "VB",
            Method::Meibp => "MEIBP",
        }
    }

    /// How all rows are fitted at once, if they are; `rivals` is what rivals are told.
    pub fn way(self, rivals: &RivalSettings) -> Option<Way> {
        let rival = |rival: Rival| Some(Way::Rival(rival, rivals.clone()));
        match self {
            Method::Births => Some(Way::Fab(FabSettings::default())),
            Method::Printed => Some(Way::Fab(FabSettings::paper())),
            Method::Online => None,
            Method::Em => rival(Rival::Em),
            Method::Ibp => rival(Rival::Ibp),
            Method::Vb => rival(Rival::Vb),
            Method::Meibp => rival(Rival::Meibp),
        }
    }

    fn learner(self, n_columns: usize, seed: u64, rivals: &RivalSettings) -> Box<dyn FeatureLearner> {
        match self.way(rivals) {
            Some(way) => Box::new(BatchFeatures::new(way, n_columns, seed, 0)),
            None => Box::new(OnlineFab::new(OnlineSettings::default(), n_columns, seed, 0)),
        }
    }

    /// Learns rows and gives the features, with the seconds of processor time that it took.
    pub fn fit(self, rows: &[f64], n_columns: usize, seed: u64, rivals: &RivalSettings) -> (FeatureSet, f64) {
        let mut learner = self.learner(n_columns, seed, rivals);
        let clock = ThreadTime::now();
        if let Ok(batch) = Batch::new(rows, n_columns) {
            learner.update(&batch);
        }
        learner.finish();
        let set = learner.features();
        (set, clock.elapsed().as_secs_f64())
    }
}

/// Mean and standard deviation of each column.
fn moments(rows: &[f64], n_columns: usize) -> Vec<(f64, f64)> {
    let n = (rows.len() / n_columns) as f64;
    let of_column = |j: usize| {
        let column = || rows.iter().skip(j).step_by(n_columns);
        let mean = column().sum::<f64>() / n;
        (mean, (column().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt())
    };
    (0..n_columns).map(of_column).collect()
}

/// Columns with mean 0 and variance 1, as in the paper; columns that do not vary are left out.
pub fn standardised(rows: &[f64], n_columns: usize) -> (Vec<f64>, usize) {
    let moments = moments(rows, n_columns);
    let kept: Vec<usize> = (0..n_columns).filter(|j| moments[*j].1 > 0.0).collect();
    let scaled = |row: &[f64]| kept.iter().map(|&j| (row[j] - moments[j].0) / moments[j].1).collect::<Vec<f64>>();
    (rows.chunks_exact(n_columns).flat_map(scaled).collect(), kept.len())
}

/// Some of the rows, or all, in a random order.
pub fn shuffled(rows: &[f64], d: usize, seed: u64, most: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..rows.len() / d).collect();
    num::stream(seed, 0x2f, 0).shuffle(&mut order);
    order.iter().take(most).flat_map(|i| rows[i * d..][..d].iter().copied()).collect()
}

/// How well cells are foretold by the features that the cells which are there give a row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Foretold {
    /// Mean log-density of a hidden cell (PLL), by the mean and the standard deviation that it is filled with.
    pub hidden: f64,
    /// The same by the noise alone, as in the paper, and the mean log-density of a cell that is there (TLL).
    pub hidden_by_noise: f64,
    pub there: f64,
    /// Root of the mean squared error of hidden cells.
    pub rmse: f64,
    /// The share of hidden cells within the 90 % interval.
    pub coverage: f64,
}

/// Half the width of a 90 % interval, in standard deviations.
const NINETY: f64 = 1.644_853_626_951_472_7;

/// Judges `set` on rows of which `seen` shows some cells.
pub fn foretell(set: &FeatureSet, seen: &[f64], truth: &[f64]) -> Foretold {
    foretell_some(set, seen, truth, |_| true)
}

/// The same by the cells of some columns.
pub fn foretell_some(set: &FeatureSet, seen: &[f64], truth: &[f64], is_judged: impl Fn(usize) -> bool) -> Foretold {
    let d = set.offset.len();
    let mut reader = FeatureReader::new(set.clone());
    let mut told = Foretold::default();
    let (mut n_hidden, mut n_there) = (0.0, 0.0);
    let ln_density = |error: f64, variance: f64| -0.5 * (num::LN_2PI + variance.ln() + error * error / variance);
    for (seen, truth) in seen.chunks_exact(d).zip(truth.chunks_exact(d)) {
        let reading = reader.read(seen);
        for j in (0..d).filter(|j| is_judged(*j)) {
            let (mean, variance) = reader.missing_cell(&reading, j);
            let error = truth[j] - mean;
            if seen[j].is_nan() {
                n_hidden += 1.0;
                told.hidden += ln_density(error, variance);
                told.hidden_by_noise += ln_density(error, set.noise[j]);
                told.rmse += error * error;
                told.coverage += f64::from(u8::from(error.abs() <= NINETY * variance.sqrt()));
            } else {
                n_there += 1.0;
                told.there += ln_density(error, set.noise[j]);
            }
        }
    }
    Foretold {
        hidden: told.hidden / n_hidden,
        hidden_by_noise: told.hidden_by_noise / n_hidden,
        there: told.there / n_there,
        rmse: (told.rmse / n_hidden).sqrt(),
        coverage: told.coverage / n_hidden,
    }
}

/// Rivals that are told the noise, by the mean over columns of its standard deviation in units of the columns' own.
pub fn told_noise(noise: f64, rows: &[f64], n_columns: usize) -> RivalSettings {
    let relative = moments(rows, n_columns).into_iter().map(|(_, sd)| noise / sd);
    RivalSettings { noise: relative.sum::<f64>() / n_columns as f64, ..RivalSettings::default() }
}
