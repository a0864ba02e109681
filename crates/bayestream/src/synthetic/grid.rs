//! Round components on a square grid, all alike.

use super::Truth;

/// `side` × `side` equal components in two columns, at the points of a grid with this spacing about the origin, with
/// this variance in both columns. The ASUGS paper has 16 classes of variance 0.025; it prints no places for them, and a
/// spacing of 1 keeps neighbours 6.3 standard deviations apart.
pub fn grid_truth(side: usize, spacing: f64, variance: f64) -> Truth {
    let k = side * side;
    let place = |at: usize| spacing * (at as f64 - 0.5 * (side as f64 - 1.0));
    Truth {
        weights: vec![1.0 / k as f64; k],
        means: (0..k).map(|at| vec![place(at / side), place(at % side)]).collect(),
        covariances: vec![vec![variance, 0.0, 0.0, variance]; k],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_classes_stand_on_a_grid() {
        let truth = grid_truth(4, 2.0, 0.025);
        assert_eq!((truth.n_components(), truth.n_columns()), (16, 2));
        assert_eq!((truth.means[0].as_slice(), truth.means[7].as_slice()), (&[-3.0, -3.0][..], &[-1.0, 3.0][..]));
        // Far apart, the entropy is that of one class and of the choice among them.
        let (rows, _) = truth.sample(20_000, 7);
        let mean = truth.log_density(&rows).iter().sum::<f64>() / 20_000.0;
        let expected = -(16_f64.ln()) - (2.0 * std::f64::consts::PI * 0.025).ln() - 1.0;
        // One squared distance has variance 4 a row in two columns, a quarter of it in the log-density.
        assert!((mean - expected).abs() < 5.0 / 20_000_f64.sqrt(), "{mean} {expected}");
    }
}
