//! From cells and words to features of comparable size.

use super::settings::{Inputs, LinearSettings, WordSettings, WordWeighting};
use super::task::Features;
use crate::data::{LARGEST_CELL, LARGEST_FRAMED};
use serde::{Deserialize, Serialize};

/// One row as it comes in.
#[derive(Clone, Copy, Debug)]
pub enum Example<'a> {
    /// A cell for each column; NaN where it is missing.
    Cells(&'a [f64]),
    /// Words, increasing, and how often each occurs.
    Words(&'a [u32], &'a [u32]),
}

/// Mean and variance so far, of weighted values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Running {
    weight: f64,
    mean: f64,
    square: f64,
}

impl Running {
    /// Takes up a value.
    pub fn add(&mut self, value: f64, weight: f64) {
        self.weight += weight;
        let off = value - self.mean;
        self.mean += off * (weight / self.weight);
        // Of the largest cells, some millions would overflow.
        self.square = (self.square + weight * off * (value - self.mean)).min(f64::MAX);
    }

    /// Takes up all that another one has.
    pub(super) fn add_all(&mut self, other: &Running) {
        let total = self.weight + other.weight;
        if other.weight == 0.0 || total == 0.0 {
            return;
        }
        let off = other.mean - self.mean;
        self.mean += off * (other.weight / total);
        self.square = (self.square + other.square + off * off * (self.weight * other.weight / total)).min(f64::MAX);
        self.weight = total;
    }

    /// The mean; 0 before the first value.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation; 0 before the second value and where values are all the same.
    pub fn deviation(&self) -> f64 {
        if self.weight > 0.0 { (self.square / self.weight).sqrt() } else { 0.0 }
    }

    /// A value in deviations from the mean; 0 where nothing varies.
    pub fn standard(&self, value: f64) -> f64 {
        let deviation = self.deviation();
        if deviation > 0.0 { (value - self.mean) / deviation } else { 0.0 }
    }

    pub(super) fn is_sound(&self) -> bool {
        // A mean of cells is no larger than the largest, but for rounding.
        let finite = self.mean.abs() <= 1.001 * LARGEST_CELL && self.weight.is_finite() && self.square.is_finite();
        finite && self.weight >= 0.0 && self.square >= 0.0
    }
}

/// What making features of rows remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Preparation {
    /// Columns as they are.
    Raw { n: usize },
    /// Columns on their scales so far.
    Scaled(Vec<Running>),
    /// Words, and of how many documents each was a part.
    Words { settings: WordSettings, n_documents: u64, holding: Vec<u64> },
}

impl Preparation {
    pub(super) fn new(settings: &LinearSettings) -> Preparation {
        match settings.inputs {
            Inputs::Columns { n, scale: true } => Preparation::Scaled(vec![Running::default(); n]),
            Inputs::Columns { n, scale: false } => Preparation::Raw { n },
            Inputs::Words(settings) => Preparation::Words { settings, n_documents: 0, holding: Vec::new() },
        }
    }

    /// Takes note of a row that is about to be learnt.
    pub(super) fn note(&mut self, example: Example<'_>, weight: f64) {
        match (self, example) {
            (Preparation::Scaled(columns), Example::Cells(cells)) => {
                for (column, cell) in columns.iter_mut().zip(cells).filter(|(_, cell)| !cell.is_nan()) {
                    column.add(*cell, weight);
                }
            }
            (Preparation::Words { settings, n_documents, holding }, Example::Words(words, _)) if settings.idf => {
                *n_documents += 1;
                if let Some(last) = words.last() {
                    holding.resize(holding.len().max(*last as usize + 1), 0);
                }
                words.iter().for_each(|word| holding[*word as usize] += 1);
            }
            _ => {}
        }
    }

    pub(super) fn forget(&mut self, word: u32) {
        if let Preparation::Words { holding, .. } = self
            && let Some(n) = holding.get_mut(word as usize)
        {
            *n = 0;
        }
    }

    /// The features of a row. A missing cell is at its column's mean and says nothing; without scales it counts as 0.
    pub(super) fn features(&self, example: Example<'_>, bias: f64, into: &mut Prepared) {
        into.places.clear();
        into.values.clear();
        if bias > 0.0 {
            into.push(0, bias);
        }
        match (self, example) {
            (Preparation::Raw { .. }, Example::Cells(cells)) => {
                for (at, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_nan()) {
                    into.push(at, *cell);
                }
                into.shift(usize::from(bias > 0.0));
            }
            (Preparation::Scaled(columns), Example::Cells(cells)) => {
                for (at, (cell, column)) in cells.iter().zip(columns).enumerate().filter(|(_, (c, _))| !c.is_nan()) {
                    into.push(at, column.standard(*cell));
                }
                into.shift(usize::from(bias > 0.0));
            }
            (Preparation::Words { settings, n_documents, holding }, Example::Words(words, counts)) => {
                for (word, count) in words.iter().zip(counts) {
                    let times = match settings.weighting {
                        WordWeighting::Once => 1.0,
                        WordWeighting::Counts => f64::from(*count),
                        WordWeighting::Log => 1.0 + f64::from(*count).ln(),
                    };
                    let held = holding.get(*word as usize).copied().unwrap_or(0);
                    let rarity = match settings.idf {
                        true => 1.0 + ((1 + n_documents) as f64 / (1 + held) as f64).ln(),
                        false => 1.0,
                    };
                    into.push(*word as usize, times * rarity);
                }
                let from = usize::from(bias > 0.0);
                into.shift(from);
                let length = into.values[from..].iter().map(|v| v * v).sum::<f64>().sqrt();
                if settings.unit_length && length > 0.0 {
                    into.values[from..].iter_mut().for_each(|v| *v /= length);
                }
            }
            // The learner has one kind of input, and whoever calls it checks that.
            _ => {}
        }
    }

    /// What is wrong with what a file says, if anything.
    pub(super) fn fault(&self, settings: &LinearSettings, n_features: usize) -> Option<&'static str> {
        let sound = match (self, settings.inputs) {
            (Preparation::Raw { n }, Inputs::Columns { n: columns, scale: false }) => *n == columns && *n == n_features,
            (Preparation::Scaled(columns), Inputs::Columns { n, scale: true }) => {
                columns.len() == n && n == n_features && columns.iter().all(Running::is_sound)
            }
            (Preparation::Words { settings, holding, .. }, Inputs::Words(asked)) => {
                *settings == asked && holding.len() <= n_features
            }
            _ => false,
        };
        (!sound).then_some("the scales of the features are not those of the settings")
    }
}

/// Features being gathered.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Prepared {
    places: Vec<u32>,
    values: Vec<f64>,
}

impl Prepared {
    /// A value so far out that steps would overflow is as far as numbers can tell.
    fn push(&mut self, place: usize, value: f64) {
        self.places.push(place as u32);
        self.values.push(value.clamp(-LARGEST_FRAMED, LARGEST_FRAMED));
    }

    /// Place 0 is the constant feature's: others begin at 1.
    fn shift(&mut self, from: usize) {
        self.places[from..].iter_mut().for_each(|place| *place += 1);
    }

    pub(super) fn features(&self) -> Features<'_> {
        Features { places: &self.places, values: &self.values }
    }
}
