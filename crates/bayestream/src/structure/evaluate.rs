//! Rows against components: log-densities, responsibilities, and what to do about missing cells.
//!
//! A row with holes gets the marginal density of its observed cells. With the precision `P` of a component and `m`
//! its missing cells, the conditional mean solves `P_mm (x_m − μ_m) = −P_mo (x_o − μ_o)` and its covariance is
//! `P_mm⁻¹`; the distance of the row filled with that mean is the marginal distance.

use crate::family::Gauss;
use crate::interrupt::Interrupt;
use crate::num::{self, LN_2PI, Lanes};

/// A row with missing cells.
#[derive(Clone, Debug)]
struct Holed {
    row: u32,
    first: u32,
    n: u32,
}

/// Rows laid out for the kernels, with their holes listed. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub struct RowBlock {
    lanes: Lanes,
    rows: Vec<f64>,
    n_columns: usize,
    holed: Vec<Holed>,
    missing: Vec<u32>,
    scratch: HoleScratch,
    interrupt: Interrupt,
}

/// A row filled in under one component.
#[derive(Clone, Debug, Default)]
pub struct HoleScratch {
    /// The row with missing cells replaced by their conditional means.
    pub filled: Vec<f64>,
    /// Conditional covariance of the missing cells, row-major over them.
    pub covariance: Vec<f64>,
    factor: Vec<f64>,
    rhs: Vec<f64>,
    /// Log-determinant of the missing cells' precision.
    log_det: f64,
}

impl RowBlock {
    /// Lets whoever works on the rows find out whether to stop. Once raised, densities are 0, to be thrown away.
    pub fn heed(&mut self, interrupt: &Interrupt) {
        self.interrupt = interrupt.clone();
    }

    /// True when to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    /// Takes a copy of row-major rows.
    pub fn load(&mut self, rows: &[f64], n_columns: usize) {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        self.index(n_columns);
    }

    /// Lets `fill` write the rows, then lays them out.
    pub fn load_with(&mut self, n_columns: usize, fill: impl FnOnce(&mut Vec<f64>)) {
        self.rows.clear();
        fill(&mut self.rows);
        self.index(n_columns);
    }

    fn index(&mut self, n_columns: usize) {
        self.n_columns = n_columns;
        self.lanes.load(&self.rows, n_columns);
        self.holed.clear();
        self.missing.clear();
        // The sum is NaN exactly when a cell is: one pass without branches over sound blocks.
        if !self.rows.iter().sum::<f64>().is_nan() {
            return;
        }
        for (row, cells) in self.rows.chunks_exact(n_columns).enumerate() {
            let first = self.missing.len() as u32;
            self.missing.extend((0..n_columns as u32).filter(|&j| cells[j as usize].is_nan()));
            let n = self.missing.len() as u32 - first;
            if n > 0 {
                self.holed.push(Holed { row: row as u32, first, n });
            }
        }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.lanes.n_rows()
    }

    /// Rows rounded up to whole lanes: the stride of a matrix of values per row.
    pub fn stride(&self) -> usize {
        num::column_stride(self.lanes.n_rows())
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// One row; missing cells are NaN.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.n_columns..(i + 1) * self.n_columns]
    }

    /// All rows, row-major.
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }

    /// True when no cell is missing.
    pub fn is_whole(&self) -> bool {
        self.holed.is_empty()
    }

    /// The rows that have missing cells.
    pub fn holed_rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.holed.iter().map(|h| h.row as usize)
    }

    /// `shift` plus each row's log-density under a component, over its observed cells; `out` has `stride` places.
    pub fn log_density(&mut self, gauss: &Gauss, shift: f64, out: &mut [f64]) {
        self.log_density_with(gauss, shift, out, |_, _| ());
    }

    /// The same, and for each row with holes the log-density that its missing cells are expected to have given the
    /// others: the sum of both can be compared with that of a whole row.
    pub fn log_density_and_missing(&mut self, gauss: &Gauss, shift: f64, out: &mut [f64], missing: &mut [f64]) {
        missing.fill(0.0);
        self.log_density_with(gauss, shift, out, |row, expected| missing[row] = expected);
    }

    fn log_density_with(
        &mut self,
        gauss: &Gauss,
        shift: f64,
        out: &mut [f64],
        mut expected_missing: impl FnMut(usize, f64),
    ) {
        if self.is_interrupted() {
            return out.fill(0.0);
        }
        gauss.log_density(&self.lanes, shift, out);
        if self.holed.is_empty() {
            return;
        }
        let precision = gauss.precision();
        for h in &self.holed {
            if self.interrupt.is_raised() {
                break;
            }
            let (row, missing) = (h.row as usize, &self.missing[h.first as usize..][..h.n as usize]);
            let cells = &self.rows[row * self.n_columns..][..self.n_columns];
            out[row] = shift + self.scratch.fill(gauss, &precision, cells, missing);
            // The mean of a Gaussian's log-density: half of ln |P| − m (ln 2π + 1).
            expected_missing(row, 0.5 * (self.scratch.log_det - missing.len() as f64 * (LN_2PI + 1.0)));
        }
    }

    /// Squared Mahalanobis distance of one row over its observed cells, and how many those are.
    pub fn distance(&mut self, gauss: &Gauss, row: usize) -> (f64, usize) {
        let d = self.n_columns;
        let cells = &self.rows[row * d..(row + 1) * d];
        let missing: Vec<u32> = (0..d as u32).filter(|&j| cells[j as usize].is_nan()).collect();
        let mut z = vec![0.0; d];
        if missing.is_empty() {
            gauss.whitened(cells, &mut z);
        } else {
            self.scratch.fill(gauss, &gauss.precision(), cells, &missing);
            gauss.whitened(&self.scratch.filled, &mut z);
        }
        (z.iter().map(|v| v * v).sum(), d - missing.len())
    }

    /// Calls `each(row, filled row, missing columns, covariance of the missing cells)` for rows with holes that
    /// `wanted` accepts.
    pub fn fill_holes(
        &mut self,
        gauss: &Gauss,
        mut wanted: impl FnMut(usize) -> bool,
        mut each: impl FnMut(usize, &[f64], &[u32], &[f64]),
    ) {
        if self.holed.is_empty() {
            return;
        }
        let precision = gauss.precision();
        for h in &self.holed {
            let row = h.row as usize;
            if !wanted(row) {
                continue;
            }
            if self.interrupt.is_raised() {
                break;
            }
            let missing = &self.missing[h.first as usize..][..h.n as usize];
            let cells = &self.rows[row * self.n_columns..][..self.n_columns];
            self.scratch.fill(gauss, &precision, cells, missing);
            each(row, &self.scratch.filled, missing, &self.scratch.covariance);
        }
    }
}

impl HoleScratch {
    /// Fills a row under a component and returns the log-density of its observed cells.
    fn fill(&mut self, gauss: &Gauss, precision: &[f64], cells: &[f64], missing: &[u32]) -> f64 {
        let (d, m) = (cells.len(), missing.len());
        let mean = gauss.mean();
        self.filled.clear();
        self.filled.extend_from_slice(cells);
        missing.iter().for_each(|&j| self.filled[j as usize] = mean[j as usize]);
        self.factor.clear();
        self.rhs.clear();
        for &a in missing {
            let a = a as usize;
            // Cells set to their mean above add nothing here.
            self.rhs.push(-(0..d).map(|j| precision[a * d + j] * (self.filled[j] - mean[j])).sum::<f64>());
            self.factor.extend(missing.iter().map(|&b| precision[a * d + b as usize]));
        }
        // A principal block of a positive definite matrix; if rounding spoilt it, treat its cells as independent.
        let log_det = match num::cholesky(&mut self.factor, m) {
            Ok(log_det) => log_det,
            Err(_) => {
                self.factor.fill(0.0);
                missing.iter().enumerate().fold(0.0, |sum, (i, &a)| {
                    let p = precision[a as usize * d + a as usize].max(f64::MIN_POSITIVE);
                    self.factor[i * m + i] = p.sqrt();
                    sum + p.ln()
                })
            }
        };
        self.log_det = log_det;
        num::solve_lower(&self.factor, m, &mut self.rhs);
        num::solve_lower_transposed(&self.factor, m, &mut self.rhs);
        for (&a, step) in missing.iter().zip(&self.rhs) {
            self.filled[a as usize] += step;
        }
        self.covariance.resize(m * m, 0.0);
        for i in 0..m {
            self.rhs.fill(0.0);
            self.rhs[i] = 1.0;
            num::solve_lower(&self.factor, m, &mut self.rhs);
            num::solve_lower_transposed(&self.factor, m, &mut self.rhs);
            self.covariance[i * m..(i + 1) * m].copy_from_slice(&self.rhs);
        }
        self.rhs.resize(d, 0.0);
        gauss.whitened(&self.filled, &mut self.rhs);
        let distance: f64 = self.rhs.iter().map(|z| z * z).sum();
        gauss.log_norm() + 0.5 * (m as f64 * LN_2PI - log_det) - 0.5 * distance
    }
}

/// Log-densities of a block's rows under several components, and what follows from them. Component-major.
#[derive(Clone, Debug, Default)]
pub struct Posterior {
    /// Responsibilities: component `k`'s are at `k * stride ..`.
    pub q: Vec<f64>,
    /// Log of the mixture density of each row.
    pub log_total: Vec<f64>,
    /// Places per component.
    pub stride: usize,
}

impl Posterior {
    /// Fills in `log w_k + log N_k(x)` for every component; [`Posterior::normalise`] then makes responsibilities.
    pub fn log_joint<'a>(&mut self, block: &mut RowBlock, parts: impl Iterator<Item = (f64, &'a Gauss)>) -> usize {
        self.stride = block.stride();
        self.q.clear();
        let mut k = 0;
        for (log_weight, gauss) in parts {
            self.q.resize((k + 1) * self.stride, 0.0);
            block.log_density(gauss, log_weight, &mut self.q[k * self.stride..]);
            k += 1;
        }
        k
    }

    /// Turns log-joints into responsibilities and totals.
    pub fn normalise(&mut self, n_components: usize, n_rows: usize) {
        self.log_total.resize(self.stride, 0.0);
        num::normalise_columns(&mut self.q, n_components, self.stride, n_rows, &mut self.log_total);
    }

    /// One component's responsibilities.
    pub fn of(&self, k: usize, n_rows: usize) -> &[f64] {
        &self.q[k * self.stride..k * self.stride + n_rows]
    }
}
