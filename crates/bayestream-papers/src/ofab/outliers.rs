//! Outliers by low density: a model learns ordinary rows in one pass and ranks rows of a test set along the way.

use crate::error::ReproduceError;
use crate::learn::{checkpoints, feed, new_model};
use crate::summary::list;
use crate::table::Table;
use bayestream::metrics::{Detection, average_precision, detection_at_rate, roc_auc};
use bayestream::model::{Kind, Settings};
use bayestream_plot::{Chart, SvgFigure, grid};

/// Rows to learn from and rows to rank.
pub struct Split {
    pub n_columns: usize,
    pub train: Vec<f64>,
    pub test: Vec<f64>,
    pub is_outlier: Vec<bool>,
}

impl Split {
    /// Ordinary rows numbered in `train` are learnt from; those in `test` and all outliers are ranked.
    pub fn new(ordinary: &[f64], outliers: &[f64], n_columns: usize, train: &[usize], test: &[usize]) -> Split {
        let rows_of = |index: &[usize]| -> Vec<f64> {
            index.iter().flat_map(|row| ordinary[row * n_columns..(row + 1) * n_columns].iter().copied()).collect()
        };
        let mut ranked = rows_of(test);
        ranked.extend_from_slice(outliers);
        let mut is_outlier = vec![false; test.len()];
        is_outlier.resize(ranked.len() / n_columns, true);
        Split { n_columns, train: rows_of(train), test: ranked, is_outlier }
    }

    /// The share of outliers in the test set.
    pub fn rate(&self) -> f64 {
        self.is_outlier.iter().filter(|outlier| **outlier).count() as f64 / self.is_outlier.len() as f64
    }
}

/// The test set after some batches.
pub struct Look {
    pub n_batches: f64,
    pub detection: Detection,
    pub roc_auc: f64,
    pub average_precision: f64,
}

/// How one model did.
pub struct Curve {
    pub kind: Kind,
    pub batch: usize,
    /// Looks at the test set, in the order of the stream; the last is at its end.
    pub path: Vec<Look>,
    pub k: usize,
    /// Dimensions of the components, for PPCA.
    pub dims: Vec<usize>,
}

/// One pass, looking at the test set a few times for each factor of ten.
pub fn detect(split: &Split, kind: Kind, batch: usize, seed: u64) -> Result<Curve, ReproduceError> {
    let mut model = new_model(kind, split.n_columns, seed, Settings::default())?;
    let n_batches = (split.train.len() / split.n_columns).div_ceil(batch);
    let look_at = checkpoints(n_batches, 8);
    let (mut path, mut scores) = (Vec::new(), Vec::new());
    feed(&mut model, &split.train, batch, |n_done, model, _| {
        if look_at.contains(&n_done) {
            model.scorer().log_densities(&split.test, &mut scores);
            scores.iter_mut().for_each(|log_density| *log_density = -*log_density);
            path.push(Look {
                n_batches: n_done as f64,
                detection: detection_at_rate(&scores, &split.is_outlier, split.rate()),
                roc_auc: roc_auc(&scores, &split.is_outlier),
                average_precision: average_precision(&scores, &split.is_outlier),
            });
        }
    })?;
    let snapshot = model.snapshot();
    Ok(Curve {
        kind,
        batch,
        path,
        k: snapshot.k_realized(),
        dims: snapshot.components.iter().filter_map(|component| component.latent_dim).collect(),
    })
}

/// A table of final figures, one line per curve, the first column from `labels`.
pub fn table(title: String, labels: &[String], curves: &[Curve]) -> Table {
    let columns = ["rows", "kind", "T", "precision", "recall", "ROC AUC", "average precision", "K", "dimensions"];
    let mut table = Table::new("", title, columns);
    for (label, curve) in labels.iter().zip(curves) {
        let last =
            |value: fn(&Look) -> f64| curve.path.last().map_or("n/a".to_string(), |l| format!("{:.4}", value(l)));
        table.row([
            label.clone(),
            curve.kind.to_string(),
            curve.batch.to_string(),
            last(|l| l.detection.precision),
            last(|l| l.detection.recall),
            last(|l| l.roc_auc),
            last(|l| l.average_precision),
            curve.k.to_string(),
            list(&curve.dims),
        ]);
    }
    table
}

/// Detection and ranking against the number of batches. With as many rows flagged as there are outliers, precision and
/// recall are one number.
pub fn figure(curves: &[&Curve]) -> SvgFigure {
    let chart = |title: &str| {
        Chart::new(title).size(520.0, 340.0).x_label("batches").y_label("share").log_x().y_range(0.0, 1.02)
    };
    let (mut detection, mut ranking) = (chart("Precision and recall at the true rate"), chart("Average precision"));
    for curve in curves {
        let name = format!("{}, T={}", curve.kind, curve.batch);
        let path = |value: fn(&Look) -> f64| -> Vec<(f64, f64)> {
            curve.path.iter().map(|look| (look.n_batches, value(look))).collect()
        };
        detection = detection.line(name.clone(), &path(|l| l.detection.precision));
        ranking = ranking.line(name, &path(|l| l.average_precision));
    }
    grid(&[detection, ranking], 2)
}

/// The area under the ROC curve at the end, for a line of progress.
pub fn final_auc(curve: &Curve) -> f64 {
    curve.path.last().map_or(f64::NAN, |look| look.roc_auc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_keeps_rows_and_labels_together() {
        let ordinary = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
        let split = Split::new(&ordinary, &[9.0, 9.5], 2, &[0, 2], &[3, 1]);
        assert_eq!(split.train, [0.0, 0.5, 2.0, 2.5]);
        assert_eq!(split.test, [3.0, 3.5, 1.0, 1.5, 9.0, 9.5]);
        assert_eq!(split.is_outlier, [false, false, true]);
        assert!((split.rate() - 1.0 / 3.0).abs() < 1e-15);
    }
}
