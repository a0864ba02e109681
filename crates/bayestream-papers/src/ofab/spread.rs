//! Curves of several seeds as one: the median, and the range behind it.

use crate::summary::median;
use bayestream_plot::Chart;

/// The median of curves at each place that all of them have, and their lowest and highest value there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    pub middle: Vec<(f64, f64)>,
    range: Vec<(f64, f64, f64)>,
}

impl Spread {
    /// Of curves that were looked at in the same places; the shortest decides how far.
    pub fn of(curves: &[Vec<(f64, f64)>]) -> Spread {
        let n_looks = curves.iter().map(Vec::len).min().unwrap_or(0);
        let mut spread = Spread::default();
        for ix in 0..n_looks {
            let values: Vec<f64> = curves.iter().map(|curve| curve[ix].1).collect();
            let at = curves[0][ix].0;
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            spread.middle.push((at, median(&values)));
            spread.range.push((at, low, high));
        }
        spread
    }

    /// Draws the median over the range, with an entry in the legend.
    pub fn draw(&self, chart: Chart, name: &str, color: usize) -> Chart {
        chart.band("", &self.range).color(color).line(name, &self.middle).color(color)
    }

    /// Draws the median alone and without an entry: for a curve that others must not hide.
    pub fn draw_again(&self, chart: Chart, color: usize) -> Chart {
        chart.line("", &self.middle).color(color)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_range_go_as_far_as_the_shortest_curve() {
        let curves = [vec![(1.0, 5.0), (2.0, 1.0)], vec![(1.0, 7.0)], vec![(1.0, -1.0), (2.0, 0.0)]];
        let spread = Spread::of(&curves);
        assert_eq!((spread.middle, spread.range), (vec![(1.0, 5.0)], vec![(1.0, -1.0, 7.0)]));
        assert_eq!(Spread::of(&[]), Spread::default());
    }
}
