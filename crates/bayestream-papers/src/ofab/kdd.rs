//! Intrusions among the http connections of KDD Cup 1999.

use super::outliers::{Curve, Split, detect, figure, final_auc, table};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use bayestream::model::Kind;
use bayestream::num;

const COLUMNS: [&str; 3] = ["duration", "src_bytes", "dst_bytes"];
/// Ordinary rows kept: about as many as the paper's fifth of the full file has.
const KEPT: usize = 197_000;
const TRAIN: f64 = 0.8;

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let file = setting.data.csv("kddcup99/http.csv.gz")?;
    let cells = file.numbers(&COLUMNS)?;
    let (mut ordinary, mut outliers) = (Vec::new(), Vec::new());
    for (row, anomaly) in cells.chunks(COLUMNS.len()).zip(file.words("anomaly")?) {
        if anomaly == "0" { ordinary.extend_from_slice(row) } else { outliers.extend_from_slice(row) }
    }
    let seed = setting.seeds(7000..7001)[0];
    let logs = |rows: &[f64]| -> Vec<f64> { rows.iter().map(|v| (v + 0.1).ln()).collect() };
    let (train, test) = divide(ordinary.len() / COLUMNS.len(), seed);
    let n_outliers = outliers.len() / COLUMNS.len();
    let splits = [
        ("ln(v + 0.1)", Split::new(&logs(&ordinary), &logs(&outliers), COLUMNS.len(), &train, &test)),
        ("as they are", Split::new(&ordinary, &outliers, COLUMNS.len(), &train, &test)),
    ];
    let mut jobs = Vec::new();
    for kind in [Kind::MppcaOfab, Kind::GmmOfab] {
        jobs.extend([10, 20, 50].map(|batch| (0, kind, batch)));
    }
    jobs.extend([Kind::MppcaOfab, Kind::GmmOfab].map(|kind| (1, kind, 10)));
    let describe = |&(ix, kind, batch): &(usize, Kind, usize), curve: &Curve| {
        format!("kdd {} {kind} T={batch}: ROC AUC {:.4}", splits[ix].0, final_auc(curve))
    };
    let run_job = |&(ix, kind, batch): &(usize, Kind, usize)| detect(&splits[ix].1, kind, batch, seed);
    let curves = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let labels: Vec<String> = jobs.iter().map(|(ix, _, _)| splits[*ix].0.to_string()).collect();
    Ok(Outcome {
        notes: vec![format!(
            "The http connections with logged_in = 1 of the full file, columns duration, src_bytes and dst_bytes. Of \
             the ordinary rows {} are kept at random (seed {seed}); one pass goes over {:.0} % of them in file order, \
             and the rest is ranked with all {n_outliers} intrusions. As many rows are flagged as there are \
             intrusions, so precision and recall are one number. Logarithms are what the data set's own \
             publication uses; the paper does not say what it did.",
            train.len() + test.len(),
            100.0 * TRAIN,
        )],
        tables: vec![table("Intrusions among http connections".into(), &labels, &curves)],
        figures: vec![(
            "batches",
            "Detection and ranking on KDD Cup against batches, logarithms".into(),
            figure(&curves.iter().take(6).collect::<Vec<_>>()),
        )],
        files: Vec::new(),
    })
}

/// Row numbers to learn from and to rank, each in file order.
fn divide(n: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..n).collect();
    num::stream(seed, 0, 0).shuffle(&mut order);
    order.truncate(KEPT);
    let mut test = order.split_off((TRAIN * order.len() as f64).round() as usize);
    order.sort_unstable();
    test.sort_unstable();
    (order, test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_divided_once_and_kept_in_order() {
        let (train, test) = divide(1000, 3);
        assert_eq!((train.len(), test.len()), (800, 200));
        assert!(train.is_sorted() && test.is_sorted());
        let mut all = [train, test].concat();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
        assert_eq!(divide(300_000, 3).0.len(), 157_600);
    }
}
