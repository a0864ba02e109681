//! Several kinds over the same stream: each learns every batch, and none sees it before the others.

mod course;
mod entry;
mod report;

pub use entry::{Entry, configs};
pub use report::{Heldout, document, figure, page, table};

use crate::error::Failure;
use crate::feed::{Portion, remove_row};
use crate::terminal::counted;
use crate::training::{batch_of, located};
use bayestream::data::DataError;
use bayestream::engine::StepReport;
use bayestream::interrupt::{Interrupt, Interrupted};
use bayestream::model::{Config, Model};
use bayestream::structure::Scorer;
use course::Course;
use cpu_time::ThreadTime;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// One kind, and how it fares.
pub struct Contestant {
    /// As it is told: the kind, with the settings of its own.
    pub name: String,
    /// What it was begun with.
    pub config: Config,
    /// The model; none once it has failed.
    model: Option<Model>,
    /// Why it failed.
    failure: Option<String>,
    course: Course,
    learning: Duration,
    /// Sum of log-scores over the rows that all kinds have scored.
    sum: f64,
    /// The end of it.
    result: Option<Outcome>,
}

/// What a kind came to.
struct Outcome {
    k_realized: usize,
    k_implemented: usize,
    model_bytes: usize,
}

/// All kinds of a run.
pub struct Contest {
    contestants: Vec<Contestant>,
    columns: Vec<String>,
    n_rows: u64,
    /// Rows scored, before they were learnt, by every kind that scores.
    n_compared: u64,
    n_refused: u64,
    skip_refused: bool,
}

impl Contest {
    /// Begins a model of each kind. A kind that cannot begin on such columns has failed.
    pub fn new(entries: Vec<(String, Config)>, columns: Vec<String>, skip_refused: bool) -> Contest {
        let begin = |(name, config): (String, Config)| {
            let config = Config { columns: columns.clone(), ..config };
            let (model, failure) = match Model::new(config.clone()) {
                Ok(model) => (Some(model), None),
                Err(error) => (None, Some(error.to_string())),
            };
            let (learning, course) = (Duration::ZERO, Course::new());
            Contestant { name, config, model, failure, course, learning, sum: 0.0, result: None }
        };
        let contestants = entries.into_iter().map(begin).collect();
        Contest { contestants, columns, n_rows: 0, n_compared: 0, n_refused: 0, skip_refused }
    }

    /// Has long steps ask whether to stop.
    pub fn heed(&mut self, interrupt: &Interrupt) {
        self.contestants.iter_mut().filter_map(|c| c.model.as_mut()).for_each(|model| model.heed(interrupt));
    }

    /// Rows learnt so far.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Rows that every kind refused, and that were left out.
    pub fn n_refused(&self) -> u64 {
        self.n_refused
    }

    /// Lets every kind learn some rows, and returns what the first that still learns did.
    pub fn learn(&mut self, portion: &mut Portion) -> Result<StepReport, Failure> {
        loop {
            let steps: Vec<Option<Step>> = self.contestants.iter_mut().map(|c| c.learn(portion)).collect();
            let mut refusals = steps.iter().flatten().filter_map(Step::refusal);
            let n_learning = steps.iter().flatten().count();
            match refusals.next() {
                // A row that nobody takes is a fault of the input, and nobody has learnt a row of the batch.
                Some(error) if refusals.count() + 1 == n_learning => {
                    if !self.skip_refused || error.row >= portion.batch.n_rows {
                        return Err(Failure::Failed(located(error, portion, &self.columns, true)));
                    }
                    remove_row(&mut portion.batch, error.row, self.columns.len());
                    self.n_refused += 1;
                }
                _ => return Ok(self.take_down(steps, portion)),
            }
        }
    }

    fn take_down(&mut self, steps: Vec<Option<Step>>, portion: &Portion) -> StepReport {
        self.n_rows += portion.batch.n_rows as u64;
        let mut reports = Vec::new();
        for (contestant, step) in self.contestants.iter_mut().zip(steps) {
            match step {
                Some(Step::Learnt(report)) if report.is_interrupted => contestant.fail(Interrupted.to_string()),
                Some(Step::Learnt(report)) => {
                    contestant.add_to_course(self.n_rows, &report);
                    reports.push((contestant, report));
                }
                Some(Step::Refused(error)) => contestant.fail(located(&error, portion, &self.columns, true)),
                Some(Step::Broke(why)) => contestant.fail(why),
                None => {}
            }
        }
        let first = reports.first().map_or_else(StepReport::default, |(_, report)| *report);
        // A kind that fits at the end scores no row before it is learnt.
        reports.retain(|(contestant, _)| contestant.config.kind.info().streaming);
        let n_scored = reports.first().map_or(0, |(_, report)| report.n_scored);
        // Rows are scored from some row of the first batch on: where the counts agree, so do the rows.
        if reports.iter().all(|(_, report)| report.n_scored == n_scored) {
            self.n_compared += n_scored as u64;
            reports.iter_mut().for_each(|(contestant, report)| contestant.sum += report.log_score);
        }
        first
    }

    /// Ends the stream: kinds that fit at the end do it now.
    pub fn finish(&mut self, interrupt: &Interrupt) {
        let n_rows = counted(self.n_rows, "row");
        self.contestants.iter_mut().for_each(|contestant| contestant.finish(&n_rows, interrupt));
    }

    /// A judge of rows that nobody has learnt.
    pub fn heldout(&self) -> Heldout {
        let scorer = |contestant: &Contestant| contestant.model.as_ref().map(Model::scorer);
        Heldout::new(self.contestants.iter().map(scorer).collect::<Vec<Option<Scorer>>>(), self.columns.len())
    }

    /// What to say of the kinds that failed, if any did.
    pub fn failures(&self) -> Option<String> {
        let failed: Vec<String> = self
            .contestants
            .iter()
            .filter_map(|c| c.failure.as_ref().map(|why| format!("{} failed: {why}", c.name)))
            .collect();
        (!failed.is_empty()).then(|| failed.join("\n  "))
    }
}

/// What came of a batch.
enum Step {
    Learnt(StepReport),
    /// The data is refused, and the model is as it was.
    Refused(DataError),
    /// The learner broke down.
    Broke(String),
}

impl Step {
    fn refusal(&self) -> Option<&DataError> {
        match self {
            Step::Refused(error) => Some(error),
            _ => None,
        }
    }
}

impl Contestant {
    fn learn(&mut self, portion: &Portion) -> Option<Step> {
        let model = self.model.as_mut()?;
        let begun = ThreadTime::now();
        let n_columns = model.columns().len();
        let step = guarded(|| batch_of(portion, n_columns).and_then(|batch| model.update(&batch)));
        self.learning += begun.elapsed();
        Some(match step {
            Ok(Ok(report)) => Step::Learnt(report),
            Ok(Err(error)) => Step::Refused(error),
            Err(why) => Step::Broke(why),
        })
    }

    fn add_to_course(&mut self, row: u64, report: &StepReport) {
        let Some(model) = &self.model else { return };
        let is_streaming = self.config.kind.info().streaming;
        self.course.add(row, report, || is_streaming.then(|| model.snapshot().k_realized()));
    }

    fn finish(&mut self, n_rows: &str, interrupt: &Interrupt) {
        let Some(model) = self.model.as_mut() else { return };
        let begun = ThreadTime::now();
        let finished =
            guarded(|| model.finish_unless(interrupt)).and_then(|done| done.map_err(|stopped| stopped.to_string()));
        self.learning += begun.elapsed();
        let outcome = finished.and_then(|()| {
            guarded(|| Outcome {
                k_realized: model.snapshot().k_realized(),
                k_implemented: model.k_implemented(),
                model_bytes: model.save().len(),
            })
        });
        match outcome {
            Ok(Outcome { k_realized: 0, .. }) => self.fail(format!("no components after {n_rows}: it needs more")),
            Ok(outcome) => {
                self.course.finish(outcome.k_realized);
                self.result = Some(outcome);
            }
            Err(why) => self.fail(why),
        }
    }

    fn fail(&mut self, why: String) {
        self.model = None;
        self.failure = Some(why);
    }
}

/// Runs a learner's step. One that panics must not end the comparison of the others: its model is thrown away.
fn guarded<T>(step: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(step)).map_err(|_| "it broke down, please report this input".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    use bayestream_io::RowBatch;

    fn contest(kinds: &[&str]) -> Contest {
        let entries: Vec<Entry> = kinds.iter().map(|kind| kind.parse().unwrap()).collect();
        Contest::new(configs(&entries, &[], 3).unwrap(), ["a", "b"].map(String::from).to_vec(), false)
    }

    /// Two clusters, a row of each in turn.
    fn portion(n_rows: usize) -> Portion {
        let mut batch = RowBatch::new();
        let cell = |ix: usize| (ix / 2 % 2) as f64 * 9.0 + ((ix * ix + 5 * ix) % 17) as f64 * 0.1;
        batch.rows = (0..2 * n_rows).map(cell).collect();
        batch.n_rows = n_rows;
        Portion { batch, file: "rows".into(), bytes_read: 0 }
    }

    #[test]
    fn a_learner_that_breaks_down_is_an_error() {
        assert_eq!(guarded(|| 7), Ok(7));
        assert!(guarded(|| [1][std::hint::black_box(3)]).unwrap_err().contains("report"));
    }

    #[test]
    fn a_kind_that_fails_leaves_the_others_to_go_on() {
        let mut contest = contest(&["gmm", "mppca", "gmm/fab"]);
        contest.learn(&mut portion(600)).unwrap();
        contest.contestants[0].fail("no memory left".to_string());
        contest.learn(&mut portion(400)).unwrap();
        contest.finish(&Interrupt::default());
        assert_eq!(contest.n_rows(), 1000);
        assert_eq!(contest.failures().unwrap(), "gmm/ofab failed: no memory left");
        let mut heldout = contest.heldout();
        heldout.add(&portion(50).batch.rows);
        let document = serde_json::to_value(document(&contest, Some(&heldout), &[])).unwrap();
        let kinds = document["kinds"].as_array().unwrap();
        assert_eq!((&kinds[0]["failure"], kinds[0]["k_realized"].is_null()), (&"no memory left".into(), true));
        assert!(kinds[0]["test_log_density"].is_null() && kinds[0]["log_score"].is_null());
        assert!(kinds[1]["log_score"].is_f64() && kinds[1]["test_log_density"].is_f64());
        assert!(kinds[2]["log_score"].is_null() && kinds[2]["test_log_density"].is_f64());
        assert!(table(&contest, Some(&heldout)).contains("failed"));
        assert!(figure(&contest).to_svg().starts_with("<svg"));
    }

    #[test]
    fn a_row_that_nobody_takes_is_a_fault_of_the_input() {
        let mut spoilt = portion(9);
        spoilt.batch.rows[7] = 1e300;
        let failure = contest(&["gmm", "mppca"]).learn(&mut spoilt).unwrap_err().to_string();
        assert!(failure.contains("row 4") || failure.contains("row 3"), "{failure}");
        let mut patient = contest(&["gmm", "mppca"]);
        patient.skip_refused = true;
        patient.learn(&mut spoilt).unwrap();
        assert_eq!((patient.n_rows(), patient.n_refused()), (8, 1));
    }
}
