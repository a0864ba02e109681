//! Outliers of the Statlog Shuttle data: class 1 is ordinary, the other classes of the test part are outliers.

use super::outliers::{
    BATCH_SIZES, Curve, Method, RIVALS, Split, about_methods, all_methods, detect, figure, final_auc, of_method, table,
};
use crate::data::DataFolder;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::list;
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
    let seeds = setting.seeds(6000..6005);
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
    let methods = all_methods();
    let jobs: Vec<(usize, Method)> =
        (0..seeds.len()).flat_map(|ix| methods.iter().map(move |method| (ix, *method))).collect();
    let describe = |&(ix, method): &(usize, Method), curve: &Curve| {
        format!("shuttle seed {} {} T={}: ROC AUC {:.4}", seeds[ix], method.name(), method.batch, final_auc(curve))
    };
    let run_job = |&(ix, method): &(usize, Method)| detect(&splits[ix], method, seeds[ix]);
    let curves = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let lines: Vec<(&str, Method, Vec<&Curve>)> =
        methods.iter().map(|method| ("Shuttle", *method, of_method(&curves, *method))).collect();
    let all: Vec<&Curve> = curves.iter().collect();
    Ok(Outcome {
        notes: vec![
            format!(
                "One pass over {:.0} % of the {n} ordinary rows (class 1), in random order, seeds {}; ranked are the \
                 other ordinary rows and the {} rows of other classes in the test part. Rows of lowest density are \
                 flagged, as many as there are outliers, so precision and recall are one number: a threshold that knows \
                 the true rate. The paper does not say whether its training rows held outliers, nor how it set its \
                 threshold.",
                100.0 * TRAIN,
                list(&seeds),
                shuttle.outliers.len() / COLUMNS.len(),
            ),
            about_methods(),
        ],
        tables: vec![table("Outliers of Shuttle".into(), &lines)],
        figures: vec![
            (
                "batches",
                "Figure 5A: detection and ranking on Shuttle against batches of ten rows".into(),
                figure(&all, &RIVALS, false),
            ),
            (
                "sizes",
                "Figure 6A-B: detection and ranking on Shuttle by the size of batches".into(),
                figure(&all, &BATCH_SIZES, true),
            ),
        ],
        files: Vec::new(),
    })
}
