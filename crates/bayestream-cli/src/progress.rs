//! How a long run is going, on a terminal.

use crate::terminal::{self, counted, short, thousands};
use bayestream::engine::StepReport;
use indicatif::{ProgressBar, ProgressStyle};

/// How much of the log-score's past the shown mean remembers.
const LOG_SCORE_MEMORY: f64 = 0.95;

/// A bar on a terminal, nothing elsewhere.
pub struct Progress {
    bar: Option<ProgressBar>,
    n_rows: u64,
    log_score: f64,
    part: &'static str,
}

impl Progress {
    /// A bar of this length, in bytes or rows, or a count of rows where the end is unknown.
    pub fn over(length: Option<u64>) -> Progress {
        let bar = terminal::shows_progress().then(|| match length {
            Some(length) => {
                let template = "{bar:24} {percent:>3} %  {msg}  {elapsed}";
                ProgressBar::new(length).with_style(style(template).progress_chars("━╸ "))
            }
            None => ProgressBar::new_spinner().with_style(style("{spinner} {msg}  {elapsed}")),
        });
        Progress { bar, n_rows: 0, log_score: f64::NAN, part: "component" }
    }

    /// The same for a model with parts of another name.
    pub fn counting(self, part: &'static str) -> Progress {
        Progress { part, ..self }
    }

    /// Shows what an update did; `position` is in bytes or rows, as the bar is.
    pub fn update(&mut self, position: u64, report: &StepReport) {
        if report.n_scored > 0 {
            let mean = report.log_score / report.n_scored as f64;
            let kept = if self.log_score.is_nan() { 0.0 } else { LOG_SCORE_MEMORY };
            self.log_score = if kept == 0.0 { mean } else { kept * self.log_score + (1.0 - kept) * mean };
        }
        let (log_score, part) = (self.log_score, self.part);
        self.show(position, report.n_rows, || {
            format!("{}  log-score {}", counted(report.k_implemented as u64, part), short(log_score))
        });
    }

    /// Shows that so many more rows were learnt, and what there is to say.
    pub fn show(&mut self, position: u64, n_rows: usize, what: impl FnOnce() -> String) {
        self.n_rows += n_rows as u64;
        let Some(bar) = &self.bar else { return };
        let rate = self.n_rows as f64 / bar.elapsed().as_secs_f64().max(1e-9);
        bar.set_position(position);
        bar.set_message(format!("{} rows  {} rows/s  {}", thousands(self.n_rows), thousands(rate as u64), what()));
    }

    /// Takes the bar away, so that the next line is free.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
