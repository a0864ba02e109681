//! How unusual a log-density is among those of the recent stream.

use super::snapshot::LogScore;

/// Log-densities of recent rows before they were learnt from, ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentScores(Vec<f64>);

impl RecentScores {
    /// Those that a learner reports.
    pub(super) fn of(log_score: &LogScore) -> RecentScores {
        RecentScores(log_score.recent.clone())
    }

    /// Nats by which a row is less likely than the median of them; NaN when there are none.
    pub(super) fn surprise(&self, log_density: f64) -> f64 {
        self.0.get(self.0.len() / 2).map_or(f64::NAN, |median| median - log_density)
    }

    /// The conformal rank of a log-density among them: ties count half, and no value is impossible.
    pub(super) fn p_value(&self, log_density: f64) -> f64 {
        if self.0.is_empty() || log_density.is_nan() {
            return f64::NAN;
        }
        let below = self.0.partition_point(|v| *v < log_density);
        let equal = self.0.partition_point(|v| *v <= log_density) - below;
        (below as f64 + 0.5 * equal as f64 + 0.5) / (self.0.len() as f64 + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_ranks_with_ties_halved() {
        let recent = RecentScores(vec![-9.0, -4.0, -4.0, -1.0]);
        assert_eq!(recent.p_value(-20.0), 0.5 / 5.0);
        assert_eq!(recent.p_value(-4.0), (1.0 + 1.0 + 0.5) / 5.0);
        assert_eq!(recent.p_value(0.0), 4.5 / 5.0);
        assert_eq!(recent.surprise(-7.0), 3.0);
        assert!(RecentScores::default().p_value(0.0).is_nan());
    }
}
