//! The most recent rows, in the data's own units: what structure moves are judged on.

use crate::data::LARGEST_CELL;
use serde::{Deserialize, Serialize};

/// A ring of rows with weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ring {
    n_columns: usize,
    capacity: usize,
    /// Where the next row goes, once the ring is full.
    head: usize,
    rows: Vec<f64>,
    weights: Vec<f64>,
}

impl Ring {
    /// An empty ring for `capacity` rows.
    pub fn new(n_columns: usize, capacity: usize) -> Ring {
        Ring { n_columns, capacity: capacity.max(1), head: 0, rows: Vec::new(), weights: Vec::new() }
    }

    /// Rows held.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// True when no row is held.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Rows it can hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Adds rows, dropping the oldest ones when full.
    pub fn push(&mut self, rows: &[f64], weights: Option<&[f64]>) {
        for (i, row) in rows.chunks_exact(self.n_columns).enumerate() {
            let weight = weights.map_or(1.0, |w| w[i]);
            if self.len() < self.capacity {
                self.rows.extend_from_slice(row);
                self.weights.push(weight);
            } else {
                let at = self.head;
                self.rows[at * self.n_columns..(at + 1) * self.n_columns].copy_from_slice(row);
                self.weights[at] = weight;
                self.head = (at + 1) % self.capacity;
            }
        }
    }

    /// Makes room for more rows.
    pub fn grow(&mut self, capacity: usize) {
        if capacity > self.capacity {
            self.rows.rotate_left(self.head * self.n_columns);
            self.weights.rotate_left(self.head);
            self.head = 0;
            self.capacity = capacity;
        }
    }

    /// Copies out the `n` most recent rows, oldest first, with their weights.
    pub fn recent(&self, n: usize) -> (Vec<f64>, Vec<f64>) {
        let n = n.min(self.len());
        let first = self.len() - n;
        let (mut rows, mut weights) = (Vec::with_capacity(n * self.n_columns), Vec::with_capacity(n));
        for i in first..self.len() {
            let at = (self.head + i) % self.len();
            rows.extend_from_slice(&self.rows[at * self.n_columns..(at + 1) * self.n_columns]);
            weights.push(self.weights[at]);
        }
        (rows, weights)
    }

    /// True when sizes agree: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.n_columns == n_columns
            && self.capacity > 0
            && self.rows.len() == self.weights.len() * n_columns
            && self.len() <= self.capacity
            && (self.head == 0 || (self.len() == self.capacity && self.head < self.capacity))
            && !self.rows.iter().any(|v| v.abs() > LARGEST_CELL)
            // Rows of no weight never come this far.
            && self.weights.iter().all(|w| w.is_finite() && *w > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_latest_rows_in_order_through_growth() {
        let mut ring = Ring::new(2, 3);
        for i in 0..5 {
            ring.push(&[f64::from(i), -f64::from(i)], Some(&[f64::from(i) + 0.5]));
        }
        assert_eq!(ring.recent(9), (vec![2.0, -2.0, 3.0, -3.0, 4.0, -4.0], vec![2.5, 3.5, 4.5]));
        ring.grow(5);
        ring.push(&[5.0, -5.0], None);
        assert_eq!(ring.recent(2), (vec![4.0, -4.0, 5.0, -5.0], vec![4.5, 1.0]));
        assert_eq!(ring.len(), 4);
        assert!(ring.is_sound(2));
    }
}
