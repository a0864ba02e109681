//! Outliers of the Statlog Shuttle data: class 1 is ordinary, the other classes of the test part are outliers.

use super::outliers::{Curve, Split, detect, figure, final_auc, table};
use crate::data::DataFolder;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::list;
use bayestream::model::Kind;
use bayestream::num;

pub const COLUMNS: [&str; 9] = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"];
/// Share of the ordinary rows to learn from.
const TRAIN: f64 = 0.8;

/// Class-1 rows of both parts, and the other rows of the test part: the paper's 45,586 and 3,022.
pub struct Shuttle {
    pub ordinary: Vec<f64>,
    pub outliers: Vec<f64>,
}

impl Shuttle {
    pub fn read(data: &DataFolder) -> Result<Shuttle, ReproduceError> {
        let file = data.csv("shuttle/shuttle.csv.gz")?;
        let cells = file.numbers(&COLUMNS)?;
        let (classes, parts) = (file.words("class")?, file.words("split")?);
        let (mut ordinary, mut outliers) = (Vec::new(), Vec::new());
        for (row, (class, part)) in cells.chunks(COLUMNS.len()).zip(classes.iter().zip(&parts)) {
            match (*class, *part) {
                ("1", _) => ordinary.extend_from_slice(row),
                (_, "test") => outliers.extend_from_slice(row),
                _ => {}
            }
        }
        Ok(Shuttle { ordinary, outliers })
    }
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let shuttle = Shuttle::read(&setting.data)?;
    let seeds = setting.seeds(6000..6003);
    let n = shuttle.ordinary.len() / COLUMNS.len();
    let splits: Vec<Split> = seeds
        .iter()
        .map(|&seed| {
            let mut order: Vec<usize> = (0..n).collect();
            num::stream(seed, 0, 0).shuffle(&mut order);
            let (train, test) = order.split_at((TRAIN * n as f64).round() as usize);
            Split::new(&shuttle.ordinary, &shuttle.outliers, COLUMNS.len(), train, test)
        })
        .collect();
    let kinds = [(Kind::GmmOfab, 10), (Kind::MppcaOfab, 10), (Kind::MppcaOfab, 20), (Kind::MppcaOfab, 50)];
    let jobs: Vec<(usize, Kind, usize)> =
        (0..seeds.len()).flat_map(|ix| kinds.map(|(kind, batch)| (ix, kind, batch))).collect();
    let describe = |&(ix, kind, batch): &(usize, Kind, usize), curve: &Curve| {
        format!("shuttle seed {} {kind} T={batch}: ROC AUC {:.4}", seeds[ix], final_auc(curve))
    };
    let run_job = |&(ix, kind, batch): &(usize, Kind, usize)| detect(&splits[ix], kind, batch, seeds[ix]);
    let curves = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let labels: Vec<String> = jobs.iter().map(|(ix, _, _)| format!("seed {}", seeds[*ix])).collect();
    let of_first: Vec<&Curve> = curves.iter().take(kinds.len()).collect();
    Ok(Outcome {
        notes: vec![format!(
            "One pass over {:.0} % of the {n} ordinary rows (class 1), in random order, seeds {}; ranked are the other \
             ordinary rows and the {} rows of other classes in the test part. Rows of lowest density are flagged, as \
             many as there are outliers, so precision and recall are one number: a threshold that knows the true \
             rate. The paper does not say whether its training rows held outliers, nor how it set its threshold.",
            100.0 * TRAIN,
            list(&seeds),
            shuttle.outliers.len() / COLUMNS.len(),
        )],
        tables: vec![table("Outliers of Shuttle".into(), &labels, &curves)],
        figures: vec![(
            "batches",
            format!("Detection and ranking on Shuttle against batches, seed {}", seeds[0]),
            figure(&of_first),
        )],
        files: Vec::new(),
    })
}
