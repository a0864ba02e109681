//! Change points of the SKAB testbed, and log-scores for other programs to find them in.
//!
//! The experiments are one stream, in the order of the file. A change is announced in time within [`TOLERANCE`] rows after
//! it; change points nearer to each other than that are one. Alarms as soon after the start of an experiment are neither
//! right nor wrong: the testbed was set up anew.

use super::sets::SKAB_SENSORS;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::new_model;
use crate::outcome::{Outcome, write_whole};
use crate::table::Table;
use bayestream::data::Batch;
use bayestream::model::{Kind, Settings};
use bayestream::outlier::DriftWatch;

/// Rows (seconds) after a change within which an alarm counts.
const TOLERANCE: u64 = 60;
const BATCH: usize = 10;

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let file = setting.data.csv("skab/skab.csv.gz")?;
    let rows = file.numbers(&SKAB_SENSORS)?;
    let (experiments, marked) = (file.words("experiment")?, file.numbers(&["changepoint"])?);
    let d = SKAB_SENSORS.len();
    let mut model = new_model(Kind::GmmOfab, d, setting.seeds(5000..5001)[0], Settings::default())?;
    let mut watch = DriftWatch::new(d);
    let (mut alarms, mut scores, mut log_scores) = (Vec::new(), Vec::new(), Vec::new());
    for rows in rows.chunks(BATCH * d) {
        model.scorer().score(rows, &mut scores);
        log_scores.extend(scores.iter().map(|score| score.log_density));
        alarms.extend(watch.observe(rows, || model.scorer()).map(|alarm| alarm.row));
        model.update(&Batch::new(rows, d)?)?;
    }
    let n = log_scores.len();
    let begins = |i: &usize| *i > 0 && experiments[*i] != experiments[i - 1];
    let starts: Vec<u64> = (0..n).filter(begins).map(|i| i as u64 + 1).collect();
    let changes = merged((0..n).filter(|&i| marked[i] == 1.0).map(|i| i as u64 + 1));
    let verdict = judged(&alarms, &changes, &starts);

    let mut text = String::from("row,log_density,drift,changepoint,start\n");
    for (row, log_score) in (1..).zip(&log_scores) {
        let flag = |list: &[u64]| u8::from(list.binary_search(&row).is_ok());
        text += &format!("{row},{log_score},{},{},{}\n", flag(&alarms), flag(&changes), flag(&starts));
    }
    let path = setting.out_dir.join("outliers-skab-scores.csv");
    write_whole(&path, text)?;
    let title = format!(
        "SKAB: {} changes in {n} rows of {} experiments; an alarm counts within {TOLERANCE} rows",
        changes.len(),
        starts.len() + 1
    );
    let mut table = Table::new("", title, ["alarms", "at a start", "right", "wrong", "changes found"]);
    table.row([alarms.len(), verdict.at_start, verdict.right, verdict.wrong, verdict.found].map(|v| v.to_string()));
    Ok(Outcome { tables: vec![table], files: vec![path], ..Outcome::default() })
}

/// The first of every run of change points that follow each other within the tolerance.
fn merged(points: impl Iterator<Item = u64>) -> Vec<u64> {
    let (mut changes, mut last) = (Vec::new(), None);
    for point in points {
        if last.is_none_or(|last| point > last + TOLERANCE) {
            changes.push(point);
        }
        last = Some(point);
    }
    changes
}

#[derive(Debug, PartialEq)]
struct Verdict {
    right: usize,
    wrong: usize,
    at_start: usize,
    found: usize,
}

fn judged(alarms: &[u64], changes: &[u64], starts: &[u64]) -> Verdict {
    let soon_after = |alarm: u64, at: u64| (at..=at + TOLERANCE).contains(&alarm);
    let follows = |alarm: &u64, list: &[u64]| list.iter().any(|&at| soon_after(*alarm, at));
    let right = alarms.iter().filter(|alarm| follows(alarm, changes)).count();
    let at_start = alarms.iter().filter(|alarm| !follows(alarm, changes) && follows(alarm, starts)).count();
    let found = changes.iter().filter(|&&at| alarms.iter().any(|&alarm| soon_after(alarm, at))).count();
    Verdict { right, wrong: alarms.len() - right - at_start, at_start, found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_are_right_wrong_or_at_a_start() {
        assert_eq!(merged([100, 101, 150, 400].into_iter()), [100, 400]);
        let verdict = judged(&[99, 160, 161, 410, 705], &[100, 400], &[700]);
        assert_eq!(verdict, Verdict { right: 2, wrong: 2, at_start: 1, found: 2 });
    }
}
