//! Missing cells filled from the cells that are there.
//!
//! Under component k a missing cell has conditional mean m_k and variance v_k; with responsibilities q_k by the cells
//! that are there, the mixture's are Σ q_k m_k and Σ q_k (v_k + m_k²) − (Σ q_k m_k)².

use bayestream::data::Frame;
use bayestream::family::Gauss;
use bayestream::structure::{Posterior, RowBlock, Snapshot};

/// A snapshot ready to fill rows.
pub struct Imputer {
    frame: Frame,
    /// The frame's unit of each column, in the data's own.
    units: Vec<f64>,
    parts: Vec<(f64, Gauss)>,
    block: RowBlock,
    posterior: Posterior,
}

impl Imputer {
    /// An imputer by this snapshot.
    pub fn new(snapshot: &Snapshot) -> Imputer {
        let d = snapshot.columns.len();
        let frame = Frame::spanning(&snapshot.components, d);
        let (factor, offset) = Frame::identity(d).map_to(&frame);
        let framed = |component: &bayestream::structure::Component| {
            let mean: Vec<f64> = (0..d).map(|j| component.mean[j] * factor[j] + offset[j]).collect();
            let covariance: Vec<f64> =
                (0..d * d).map(|at| component.covariance[at] * factor[at / d] * factor[at % d]).collect();
            (component.weight.ln(), Gauss::with_covariance(&mean, &covariance))
        };
        let parts = snapshot.components.iter().map(framed).collect();
        let units = frame.map_to(&Frame::identity(d)).0;
        Imputer { frame, units, parts, block: RowBlock::default(), posterior: Posterior::default() }
    }

    /// Fills the missing cells of `rows`, row-major. `sd` gets the standard deviation of each cell that was filled,
    /// NaN elsewhere.
    pub fn fill(&mut self, rows: &mut [f64], sd: &mut Vec<f64>) {
        let d = self.frame.n_columns();
        sd.clear();
        sd.resize(rows.len(), f64::NAN);
        self.block.load_with(d, |into| self.frame.push_rows(rows, into));
        if self.block.is_whole() {
            return;
        }
        let n_rows = self.block.n_rows();
        let k = self
            .posterior
            .log_joint(&mut self.block, self.parts.iter().map(|(log_weight, gauss)| (*log_weight, gauss)));
        self.posterior.normalise(k, n_rows);
        // Sums over components of responsibility times first and second moment.
        let (mut first, mut second) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
        for (part_ix, (_, gauss)) in self.parts.iter().enumerate() {
            let shares = self.posterior.of(part_ix, n_rows);
            self.block.fill_holes(
                gauss,
                |row| shares[row] > 0.0,
                |row, filled, missing, covariance| {
                    for (at, &column) in missing.iter().enumerate() {
                        let cell = row * d + column as usize;
                        let mean = filled[column as usize];
                        let variance = covariance[at * missing.len() + at];
                        first[cell] += shares[row] * mean;
                        second[cell] += shares[row] * (variance + mean * mean);
                    }
                },
            );
        }
        for cell in (0..rows.len()).filter(|cell| rows[*cell].is_nan()).collect::<Vec<_>>() {
            let column = cell % d;
            rows[cell] = self.frame.cell_out(column, first[cell]);
            sd[cell] = (second[cell] - first[cell] * first[cell]).max(0.0).sqrt() * self.units[column];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bayestream::structure::{Component, ComponentId, EventLog, LogScore};

    fn snapshot(parts: &[(f64, [f64; 2], [f64; 4])]) -> Snapshot {
        let component = |(ix, (weight, mean, covariance)): (usize, &(f64, [f64; 2], [f64; 4]))| Component {
            id: ComponentId { shard: 0, serial: ix as u32 },
            weight: *weight,
            count: 100.0,
            mean: mean.to_vec(),
            covariance: covariance.to_vec(),
            latent_dim: None,
            basis: None,
        };
        Snapshot {
            n_seen: 100,
            columns: vec!["a".into(), "b".into()],
            k_implemented: parts.len(),
            components: parts.iter().enumerate().map(component).collect(),
            pool: None,
            log_score: LogScore::default(),
            events: EventLog::default(),
        }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs().max(1.0)
    }

    #[test]
    fn one_component_gives_its_regression() {
        // b given a: mean 20 + 6/4 (a − 10), variance 25 − 36/4.
        let one = snapshot(&[(1.0, [10.0, 20.0], [4.0, 6.0, 6.0, 25.0])]);
        let mut rows = [12.0, f64::NAN, 7.5, 8.5];
        let mut sd = Vec::new();
        Imputer::new(&one).fill(&mut rows, &mut sd);
        assert!(close(rows[1], 23.0) && close(sd[1], 4.0), "{rows:?} {sd:?}");
        assert_eq!(rows[2..], [7.5, 8.5]);
        assert!(sd[0].is_nan() && sd[2].is_nan() && sd[3].is_nan());
    }

    #[test]
    fn a_row_without_cells_gets_the_moments_of_the_mixture() {
        let two = snapshot(&[(0.25, [0.0, 8.0], [1.0, 0.0, 0.0, 4.0]), (0.75, [4.0, 0.0], [2.0, 0.0, 0.0, 1.0])]);
        let mut rows = [f64::NAN, f64::NAN];
        let mut sd = Vec::new();
        Imputer::new(&two).fill(&mut rows, &mut sd);
        // Mean 0.25·0 + 0.75·4; variance 0.25·1 + 0.75·(2 + 16) − 9. The other column likewise.
        assert!(close(rows[0], 3.0) && close(sd[0], 4.75_f64.sqrt()), "{rows:?} {sd:?}");
        assert!(close(rows[1], 2.0) && close(sd[1], 13.75_f64.sqrt()), "{rows:?} {sd:?}");
    }
}
