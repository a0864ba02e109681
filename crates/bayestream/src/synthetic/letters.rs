//! Points on the strokes of the letters I, C, D and M, as in figure 4 of the online FAB paper.

use super::purpose;
use crate::num::{self, Rng};
use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

/// The order in which the points of the letters arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterOrder {
    /// All of I, then C, D and M.
    Sequential,
    /// I and C mixed, then I, C and D, then all four.
    Hybrid,
}

const WORDS: [(&str, LetterOrder); 2] = [("sequential", LetterOrder::Sequential), ("hybrid", LetterOrder::Hybrid)];

impl fmt::Display for LetterOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS[*self as usize].0)
    }
}

/// A word that names no [`LetterOrder`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownOrder(pub String);

impl fmt::Display for UnknownOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no order `{}` of the letters; use sequential or hybrid", self.0)
    }
}

impl std::error::Error for UnknownOrder {}

impl FromStr for LetterOrder {
    type Err = UnknownOrder;

    fn from_str(text: &str) -> Result<LetterOrder, UnknownOrder> {
        let found = WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, order)| *order).ok_or_else(|| UnknownOrder(text.to_string()))
    }
}

/// 2,000 points in two columns, 500 of each letter, in batches of 250.
#[derive(Clone, Debug, PartialEq)]
pub struct Letters {
    /// The points with noise, row-major.
    pub rows: Vec<f64>,
    /// The same points on the strokes.
    pub strokes: Vec<f64>,
    /// The letter of each point: 0 is I, 1 is C, 2 is D, 3 is M.
    pub labels: Vec<u32>,
    /// Standard deviation of the noise in each column.
    pub noise_sd: f64,
    /// Rows per batch.
    pub batch: usize,
}

/// Points of each letter in each phase of the hybrid order: two batches, two batches, four batches.
const HYBRID: [[usize; 4]; 3] = [[250, 250, 0, 0], [125, 125, 250, 0], [125, 125, 250, 500]];

/// The letters in one of the two orders. Letters are two units high and stand 2.5 units apart; the noise has a
/// standard deviation of 0.05.
pub fn letters(order: LetterOrder, seed: u64) -> Letters {
    let noise_sd = 0.05;
    let mut rng = num::stream(seed, purpose::ROWS, 2);
    let labels = match order {
        LetterOrder::Sequential => (0..4).flat_map(|letter| [letter; 500]).collect(),
        LetterOrder::Hybrid => hybrid_labels(&mut rng),
    };
    let strokes: Vec<f64> = labels.iter().flat_map(|letter| on_stroke(*letter, rng.uniform())).collect();
    let rows = strokes.iter().map(|x| x + noise_sd * rng.normal()).collect();
    Letters { rows, strokes, labels, noise_sd, batch: 250 }
}

fn hybrid_labels(rng: &mut Rng) -> Vec<u32> {
    let mut labels = Vec::new();
    for phase in HYBRID {
        let first = labels.len();
        for (letter, n) in phase.into_iter().enumerate() {
            labels.extend(std::iter::repeat_n(letter as u32, n));
        }
        rng.shuffle(&mut labels[first..]);
    }
    labels
}

/// The point at this share of a letter's length.
fn on_stroke(letter: u32, share: f64) -> [f64; 2] {
    let left = 2.5 * f64::from(letter);
    let [x, y] = match letter {
        0 => line([0.5, 0.0], [0.5, 2.0], share),
        1 => arc([1.0, 1.0], 0.25 * PI, 1.75 * PI, share),
        2 => {
            // The back of the D has length 2, its bow π.
            let back = 2.0 / (2.0 + PI);
            if share < back {
                line([0.2, 0.0], [0.2, 2.0], share / back)
            } else {
                arc([0.2, 1.0], -0.5 * PI, 0.5 * PI, (share - back) / (1.0 - back))
            }
        }
        _ => {
            let corners = [[0.0, 0.0], [0.0, 2.0], [0.75, 0.6], [1.5, 2.0], [1.5, 0.0]];
            along(&corners, share)
        }
    };
    [left + x, y]
}

fn line(from: [f64; 2], to: [f64; 2], share: f64) -> [f64; 2] {
    [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]
}

/// On the unit circle around `centre`.
fn arc(centre: [f64; 2], from: f64, to: f64, share: f64) -> [f64; 2] {
    let angle = from + share * (to - from);
    [centre[0] + angle.cos(), centre[1] + angle.sin()]
}

/// Along straight strokes from corner to corner.
fn along(corners: &[[f64; 2]], share: f64) -> [f64; 2] {
    let length = |pair: &[[f64; 2]]| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]);
    let total: f64 = corners.windows(2).map(length).sum();
    let mut left = share * total;
    for pair in corners.windows(2) {
        let this = length(pair);
        if left <= this {
            return line(pair[0], pair[1], left / this);
        }
        left -= this;
    }
    corners[corners.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_in_the_order_asked_for() {
        let sequential = letters(LetterOrder::Sequential, 1);
        assert!(sequential.labels.is_sorted());
        let hybrid = letters(LetterOrder::Hybrid, 1);
        for letter in 0..4 {
            let count = |labels: &[u32]| labels.iter().filter(|l| **l == letter).count();
            assert_eq!((count(&sequential.labels), count(&hybrid.labels)), (500, 500));
        }
        assert!(hybrid.labels[..500].iter().all(|l| *l < 2));
        assert!(hybrid.labels[..1000].iter().all(|l| *l < 3));
        assert!(hybrid.labels[..500].windows(2).any(|pair| pair[0] > pair[1]));
        assert_eq!(hybrid.rows.len(), 8 * hybrid.batch * 2);
    }

    #[test]
    fn noise_has_the_spread_it_says_and_strokes_do_not_touch() {
        let seen = letters(LetterOrder::Sequential, 9);
        let squares: f64 = seen.rows.iter().zip(&seen.strokes).map(|(a, b)| (a - b).powi(2)).sum();
        let sd = (squares / seen.rows.len() as f64).sqrt();
        // Five standard errors of a standard deviation from 4,000 normal numbers.
        assert!((sd - seen.noise_sd).abs() < 5.0 * seen.noise_sd / (2.0 * 4000.0f64).sqrt());
        for letter in 0..4u32 {
            let xs = seen.strokes.chunks(2).zip(&seen.labels).filter(|(_, l)| **l == letter).map(|(p, _)| p[0]);
            assert!(xs.into_iter().all(|x| (2.5 * f64::from(letter)..2.5 * f64::from(letter) + 2.0).contains(&x)));
        }
    }

    #[test]
    fn words_name_orders() {
        assert_eq!("hybrid".parse(), Ok(LetterOrder::Hybrid));
        assert!("mixed".parse::<LetterOrder>().unwrap_err().to_string().contains("sequential"));
    }
}
