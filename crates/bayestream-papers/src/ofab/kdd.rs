//! Intrusions among the http connections of KDD Cup 1999.

use super::outliers::{
    BATCH_SIZES, Curve, Method, RIVALS, Split, about_methods, all_methods, detect, figure, final_auc, of_method, table,
};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::list;
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
    let seeds = setting.seeds(7000..7005);
    let logs = |rows: &[f64]| -> Vec<f64> { rows.iter().map(|v| (v + 0.1).ln()).collect() };
    let n_outliers = outliers.len() / COLUMNS.len();
    let divided: Vec<(Vec<usize>, Vec<usize>)> =
        seeds.iter().map(|seed| divide(ordinary.len() / COLUMNS.len(), *seed)).collect();
    // For each sort of rows, a split for each seed.
    let sorts = [("ln(v + 0.1)", logs(&ordinary), logs(&outliers)), ("as they are", ordinary, outliers)].map(
        |(name, ordinary, outliers)| {
            let split =
                |(train, test): &(Vec<usize>, Vec<usize>)| Split::new(&ordinary, &outliers, COLUMNS.len(), train, test);
            (name, divided.iter().map(split).collect::<Vec<Split>>())
        },
    );
    let mut jobs = Vec::new();
    for (sort, methods) in [(0, all_methods()), (1, RIVALS.to_vec())] {
        for method in methods {
            jobs.extend((0..seeds.len()).map(|ix| (sort, method, ix)));
        }
    }
    let describe = |&(sort, method, ix): &(usize, Method, usize), curve: &Curve| {
        let (name, batch) = (method.name(), method.batch);
        format!("kdd {} {name} T={batch} seed {}: ROC AUC {:.4}", sorts[sort].0, seeds[ix], final_auc(curve))
    };
    let run_job = |&(sort, method, ix): &(usize, Method, usize)| detect(&sorts[sort].1[ix], method, seeds[ix]);
    let curves = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let of_sort = |sort: usize| jobs.iter().zip(&curves).filter(move |(job, _)| job.0 == sort).map(|(_, curve)| curve);
    let mut lines: Vec<(&str, Method, Vec<&Curve>)> = Vec::new();
    for (sort, methods) in [(0, all_methods()), (1, RIVALS.to_vec())] {
        lines.extend(methods.into_iter().map(|method| (sorts[sort].0, method, of_method(of_sort(sort), method))));
    }
    let logarithms: Vec<&Curve> = of_sort(0).collect();
    let (train, test) = divided.first().map_or((0, 0), |(train, test)| (train.len(), test.len()));
    Ok(Outcome {
        notes: vec![
            format!(
                "The http connections with logged_in = 1 of the full file, columns duration, src_bytes and dst_bytes. \
                 Of the ordinary rows {} are kept at random (seeds {}); one pass goes over {:.0} % of them in file \
                 order, and the rest is ranked with all {n_outliers} intrusions. As many rows are flagged as there are \
                 intrusions, so precision and recall are one number. Logarithms are what the data set's own \
                 publication uses; the paper does not say what it did.",
                train + test,
                list(&seeds),
                100.0 * TRAIN,
            ),
            about_methods(),
        ],
        tables: vec![table("Intrusions among http connections".into(), &lines)],
        figures: vec![
            (
                "batches",
                "Figure 5B: detection and ranking on KDD Cup against batches of ten rows, logarithms".into(),
                figure(&logarithms, &RIVALS, false),
            ),
            (
                "sizes",
                "Figure 6C-D: detection and ranking on KDD Cup by the size of batches, logarithms".into(),
                figure(&logarithms, &BATCH_SIZES, true),
            ),
        ],
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
