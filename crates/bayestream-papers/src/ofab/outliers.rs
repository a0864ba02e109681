//! Outliers by low density: a model learns ordinary rows in one pass and ranks rows of a test set along the way.

use super::cross_validation::{self, CHOOSING_ROWS, cross_validated, thinned};
use super::spread::Spread;
use crate::error::ReproduceError;
use crate::learn::{checkpoints, feed, new_model};
use crate::summary::{list, median};
use crate::table::Table;
use bayestream::metrics::{Detection, average_precision, detection_at_rate, roc_auc};
use bayestream::model::{Kind, Model, Settings};
use bayestream_plot::{Chart, SvgFigure, grid};

/// A kind, the rows of a batch, and whether it lets go of what no longer comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    pub kind: Kind,
    pub batch: usize,
    pub drift: bool,
}

const fn method(kind: Kind, batch: usize) -> Method {
    Method { kind, batch, drift: true }
}

/// The methods of figure 5, and beside them what it does not have: online FAB that keeps what no longer comes, and kinds
/// with full covariances.
pub const RIVALS: [Method; 7] = [
    method(Kind::MppcaOfab, 10),
    method(Kind::MppcaStrust, 10),
    method(Kind::MppcaFab, 10),
    Method { drift: false, ..method(Kind::MppcaOfab, 10) },
    method(Kind::GmmOfab, 10),
    method(Kind::GmmSvb, 10),
    method(Kind::GmmSdaDp, 10),
];

/// Those of figure 6, batches of 10, 20 and 50 rows, and strust-SVI, which it does not have.
pub const BATCH_SIZES: [Method; 6] = [
    method(Kind::MppcaOfab, 10),
    method(Kind::MppcaOfab, 20),
    method(Kind::MppcaOfab, 50),
    method(Kind::MppcaStrust, 10),
    method(Kind::MppcaStrust, 20),
    method(Kind::MppcaStrust, 50),
];

/// All of both figures, each once.
pub fn all_methods() -> Vec<Method> {
    let more = BATCH_SIZES.into_iter().filter(|method| !RIVALS.contains(method));
    RIVALS.into_iter().chain(more).collect()
}

/// What tables say of the methods.
pub fn about_methods() -> String {
    format!(
        "`+ CV`: {}. `mppca/fab` keeps all rows and revisits them. Figures are medians over seeds, in pictures too. With drift=off nothing is let go of because it no longer comes: what is ranked at the end is of the whole \
         stream. The paper compares with `mppca/strust-svi` and `mppca/fab`, and prints curves only, no numbers.",
        cross_validation::about()
    )
}

impl Method {
    /// True when the number of components is chosen by cross-validation.
    pub fn needs_k(&self) -> bool {
        self.kind.has_given_components()
    }

    /// True when all rows are kept and revisited, so that batches do not matter.
    pub fn revisits(&self) -> bool {
        !self.kind.info().streaming
    }

    /// Its name in tables and figures.
    pub fn name(&self) -> String {
        let more = match self {
            method if method.needs_k() => " + CV",
            method if !method.drift => ", drift=off",
            _ => "",
        };
        format!("{}{more}", self.kind)
    }
}

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
    pub method: Method,
    /// Looks at the test set, in the order of the stream; the last is at its end.
    pub path: Vec<Look>,
    /// The number of components it was given, if any.
    pub k_given: Option<usize>,
    pub k: usize,
    /// Dimensions of the components, for PPCA.
    pub dims: Vec<usize>,
}

/// One pass, looking at the test set a few times for each factor of ten; a batch engine looks once.
pub fn detect(split: &Split, method: Method, seed: u64) -> Result<Curve, ReproduceError> {
    let d = split.n_columns;
    let mut settings = Settings { drift: method.drift, ..Settings::default() };
    let mut k_given = None;
    if method.needs_k() {
        let rows = thinned(&split.train, d, CHOOSING_ROWS);
        let k = cross_validated(method.kind, &settings, &rows, d, method.batch, seed)?;
        (settings.start_components, k_given) = (k, Some(k));
    }
    let mut model = new_model(method.kind, d, seed, settings)?;
    let n_batches = (split.train.len() / d).div_ceil(method.batch);
    let look_at = if method.revisits() { Vec::new() } else { checkpoints(n_batches, 8) };
    let mut path = Vec::new();
    feed(&mut model, &split.train, method.batch, |n_done, model, _| {
        if look_at.contains(&n_done) {
            path.push(look(split, model, n_done));
        }
    })?;
    if method.revisits() {
        model.finish();
        path.push(look(split, &model, n_batches));
    }
    let snapshot = model.snapshot();
    Ok(Curve {
        method,
        path,
        k_given,
        k: snapshot.k_realized(),
        dims: snapshot.components.iter().filter_map(|component| component.latent_dim).collect(),
    })
}

fn look(split: &Split, model: &Model, n_batches: usize) -> Look {
    let mut scores = Vec::new();
    model.scorer().log_densities(&split.test, &mut scores);
    scores.iter_mut().for_each(|log_density| *log_density = -*log_density);
    Look {
        n_batches: n_batches as f64,
        detection: detection_at_rate(&scores, &split.is_outlier, split.rate()),
        roc_auc: roc_auc(&scores, &split.is_outlier),
        average_precision: average_precision(&scores, &split.is_outlier),
    }
}

/// A table of final figures, a line for each method and sort of rows: medians over seeds, and the worst seed.
pub fn table(title: String, by_line: &[(&str, Method, Vec<&Curve>)]) -> Table {
    let columns = [
        "rows",
        "kind",
        "T",
        "precision = recall",
        "worst seed",
        "ROC AUC",
        "average precision",
        "worst seed",
        "K given",
        "K, each seed",
        "dimensions, first seed",
    ];
    let mut table = Table::new("", title, columns);
    for (rows, method, curves) in by_line {
        let ends = |value: fn(&Look) -> f64| -> Vec<f64> {
            curves.iter().filter_map(|curve| curve.path.last()).map(value).collect()
        };
        let (precision, average) = (ends(|l| l.detection.precision), ends(|l| l.average_precision));
        let worst = |values: &[f64]| format!("{:.4}", values.iter().copied().fold(f64::INFINITY, f64::min));
        table.row([
            rows.to_string(),
            method.name(),
            if method.revisits() { "all".to_string() } else { method.batch.to_string() },
            format!("{:.4}", median(&precision)),
            worst(&precision),
            format!("{:.4}", median(&ends(|l| l.roc_auc))),
            format!("{:.4}", median(&average)),
            worst(&average),
            list(curves.iter().filter_map(|curve| curve.k_given)),
            list(curves.iter().map(|curve| curve.k)),
            curves.first().map_or(String::new(), |curve| list(&curve.dims)),
        ]);
    }
    table
}

/// Curves of a method, in their order.
pub fn of_method<'a>(curves: impl IntoIterator<Item = &'a Curve>, method: Method) -> Vec<&'a Curve> {
    curves.into_iter().filter(|curve| curve.method == method).collect()
}

/// Detection and ranking against the number of batches: medians over the curves of a method. With as many rows flagged
/// as there are outliers, precision and recall are one number. A batch engine is a level line.
pub fn figure(curves: &[&Curve], methods: &[Method], with_batch_size: bool) -> SvgFigure {
    let chart = |title: &str| Chart::new(title).size(600.0, 400.0).x_label("batches").y_label("share").log_x();
    let (mut detection, mut ranking) = (chart("Precision and recall at the true rate"), chart("Average precision"));
    let end = curves.iter().filter_map(|c| c.path.last()).map(|look| look.n_batches).fold(1.0, f64::max);
    for (color, method) in methods.iter().enumerate() {
        let of = of_method(curves.iter().copied(), *method);
        let batch = if with_batch_size { format!(", T={}", method.batch) } else { String::new() };
        let name = format!("{}{batch}", method.name());
        let draw = |chart: Chart, value: fn(&Look) -> f64| {
            let spread = spread(&of, value);
            match spread.middle[..] {
                [(_, level)] => chart.line(&name, &[(1.0, level), (end, level)]).color(color).dashed(),
                // Ranges of so many methods would hide each other; the table has the worst seeds.
                _ => chart.line(&name, &spread.middle).color(color),
            }
        };
        detection = draw(detection, |l| l.detection.precision);
        ranking = draw(ranking, |l| l.average_precision);
    }
    if let Some(method) = methods.first() {
        let ours = of_method(curves.iter().copied(), *method);
        detection = spread(&ours, |l| l.detection.precision).draw_again(detection, 0);
        ranking = spread(&ours, |l| l.average_precision).draw_again(ranking, 0);
    }
    grid(&[detection, ranking], 2)
}

fn spread(curves: &[&Curve], value: fn(&Look) -> f64) -> Spread {
    let path = |curve: &&Curve| curve.path.iter().map(|look| (look.n_batches, value(look))).collect();
    Spread::of(&curves.iter().map(path).collect::<Vec<_>>())
}

/// The area under the ROC curve at the end, for a line of progress.
pub fn final_auc(curve: &Curve) -> f64 {
    curve.path.last().map_or(f64::NAN, |look| look.roc_auc)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows around two points, and outliers far from both.
    #[test]
    fn batch_and_streaming_methods_rank_what_is_far_first() {
        let mut rng = bayestream::num::stream(5, 0, 0);
        let mut ordinary: Vec<f64> = Vec::new();
        for ix in 0..1200 {
            let centre = if ix % 2 == 0 { 0.0 } else { 8.0 };
            ordinary.extend((0..3).map(|_| centre + rng.normal()));
        }
        let outliers: Vec<f64> = (0..60).map(|_| 30.0 + rng.normal()).collect();
        let (train, test): (Vec<usize>, Vec<usize>) = (0..1200).partition(|ix| ix % 4 != 0);
        let split = Split::new(&ordinary, &outliers, 3, &train, &test);
        let methods = [Kind::MppcaOfab, Kind::MppcaStrust, Kind::MppcaFab].map(|kind| method(kind, 50));
        let curves: Vec<Curve> = methods.iter().map(|method| detect(&split, *method, 1).unwrap()).collect();
        for curve in &curves {
            assert_eq!(curve.path.last().unwrap().detection.recall, 1.0, "{}", curve.method.name());
            assert_eq!(curve.k_given.is_some(), curve.method.needs_k());
        }
        assert_eq!((curves[0].k, curves[2].path.len()), (2, 1));
        let lines: Vec<_> = methods.iter().map(|m| ("", *m, of_method(&curves, *m))).collect();
        assert_eq!(table(String::new(), &lines).to_csv().lines().count(), 1 + methods.len());
    }

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
