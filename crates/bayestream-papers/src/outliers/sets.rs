//! Labelled sets of rows.

use crate::data::DataFolder;
use crate::error::ReproduceError;
use bayestream::num;

/// Rows, row-major, and which of them are outliers.
#[derive(Clone)]
pub struct Labelled {
    pub n_columns: usize,
    pub rows: Vec<f64>,
    pub is_outlier: Vec<bool>,
}

/// Sets on which choices were made, and sets that were looked at once, after the last choice.
pub const CHOOSING: [&str; 4] = ["shuttle", "smtp", "mammography", "cardio"];
pub const REPORTING: [&str; 4] = ["http", "cover", "thyroid", "satimage-2"];

/// Outliers that are kept when a set is cut to size, if there are as many.
const LEAST_OUTLIERS: usize = 30;

/// A set by its short name. Shuttle is taken as outlier benchmarks do: class 1 is normal, class 4 is left out.
pub fn named(data: &DataFolder, name: &str) -> Result<Labelled, ReproduceError> {
    match name {
        "shuttle" => {
            let file = data.csv("shuttle/shuttle.csv.gz")?;
            let names: Vec<String> = (1..=9).map(|j| format!("a{j}")).collect();
            let cells = file.numbers(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
            let (mut rows, mut is_outlier) = (Vec::new(), Vec::new());
            for (row, class) in cells.chunks(9).zip(file.words("class")?) {
                if class != "4" {
                    rows.extend_from_slice(row);
                    is_outlier.push(class != "1");
                }
            }
            Ok(Labelled { n_columns: 9, rows, is_outlier })
        }
        "http" | "smtp" => of_columns(
            data,
            &format!("kddcup99/{name}.csv.gz"),
            ["duration", "src_bytes", "dst_bytes"].map(String::from),
        ),
        _ => {
            let n_columns = match name {
                "cover" => 10,
                "satimage-2" => 36,
                "cardio" => 21,
                _ => 6,
            };
            of_columns(data, &format!("anomaly/{name}.csv.gz"), (1..=n_columns).map(|j| format!("x{j}")))
        }
    }
}

fn of_columns(
    data: &DataFolder,
    file: &str,
    names: impl IntoIterator<Item = String>,
) -> Result<Labelled, ReproduceError> {
    let file = data.csv(file)?;
    let names: Vec<String> = names.into_iter().collect();
    let rows = file.numbers(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
    let is_outlier = file.words("anomaly")?.iter().map(|word| *word != "0").collect();
    Ok(Labelled { n_columns: names.len(), rows, is_outlier })
}

/// The sensors of the water circuit.
pub const SKAB_SENSORS: [&str; 8] = [
    "accelerometer1_rms",
    "accelerometer2_rms",
    "current",
    "pressure",
    "temperature",
    "thermocouple",
    "voltage",
    "volume_flow_rate_rms",
];

/// The file of the water circuit in which nothing happens, in the order of time.
pub fn skab_without_anomalies(data: &DataFolder) -> Result<Labelled, ReproduceError> {
    let file = data.csv("skab/skab.csv.gz")?;
    let cells = file.numbers(&SKAB_SENSORS)?;
    let rows: Vec<f64> = cells
        .chunks(SKAB_SENSORS.len())
        .zip(file.words("experiment")?)
        .filter(|(_, experiment)| experiment.starts_with("anomaly-free"))
        .flat_map(|(row, _)| row.iter().copied())
        .collect();
    let is_outlier = vec![false; rows.len() / SKAB_SENSORS.len()];
    Ok(Labelled { n_columns: SKAB_SENSORS.len(), rows, is_outlier })
}

impl Labelled {
    fn chosen(&self, index: impl Iterator<Item = usize> + Clone) -> Labelled {
        let d = self.n_columns;
        Labelled {
            n_columns: d,
            rows: index.clone().flat_map(|i| self.rows[i * d..(i + 1) * d].iter().copied()).collect(),
            is_outlier: index.map(|i| self.is_outlier[i]).collect(),
        }
    }

    /// The rows that are no outliers, in their order.
    pub fn normal_only(&self) -> Labelled {
        self.chosen((0..self.is_outlier.len()).filter(|&i| !self.is_outlier[i]))
    }

    /// At most about `most` rows in random order, with the set's share of outliers, though at least 30 of them.
    pub fn sample(&self, most: usize, seed: u64) -> Labelled {
        let n = self.is_outlier.len();
        let n_outliers = self.is_outlier.iter().filter(|o| **o).count();
        let share = (most as f64 / n as f64).min(1.0);
        let wanted = |count: usize| (count as f64 * share).round() as usize;
        let outliers = wanted(n_outliers).max(LEAST_OUTLIERS.min(n_outliers));
        let mut left = [wanted(n - n_outliers), outliers];
        let kept: Vec<usize> = order(n, seed)
            .into_iter()
            .filter(|&i| {
                let left = &mut left[usize::from(self.is_outlier[i])];
                let keep = *left > 0;
                *left -= usize::from(keep);
                keep
            })
            .collect();
        self.chosen(kept.iter().copied())
    }
}

fn order(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    num::stream(seed, 0, 0).shuffle(&mut order);
    order
}

/// All rows in random order.
pub fn shuffled(set: &Labelled, seed: u64) -> Labelled {
    set.chosen(order(set.is_outlier.len(), seed).iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_keep_rows_and_labels_together_and_enough_outliers() {
        let n = 2000;
        let set = Labelled {
            n_columns: 2,
            rows: (0..n).flat_map(|i| [f64::from(i), f64::from(u8::from(i % 50 == 0))]).collect(),
            is_outlier: (0..n).map(|i| i % 50 == 0).collect(),
        };
        let sample = set.sample(500, 3);
        assert_eq!(sample.is_outlier.iter().filter(|o| **o).count(), 30);
        assert_eq!(sample.is_outlier.len(), 490 + 30);
        assert!(sample.rows.chunks(2).zip(&sample.is_outlier).all(|(row, o)| (row[1] == 1.0) == *o));
        assert_eq!(set.normal_only().is_outlier.len(), 1960);
        assert_ne!(set.sample(9000, 4).rows, set.rows);
    }
}
