//! Where one thing must equal another, and truth on cases small enough to enumerate.

use bayestream::data::Batch;
use bayestream::family::{Family, FullGaussian, Gauss, Ppca};
use bayestream::model::{Config, Kind, Model, ScaleChoice};
use bayestream::num;
use bayestream::structure::{Posterior, RowBlock, Snapshot};
use bayestream::synthetic::{Covariance, Truth, ofab_truth};

fn learnt(kind: Kind, rows: &[f64], d: usize, seed: u64) -> Snapshot {
    let columns = (1..=d).map(|j| format!("x{j}")).collect();
    let mut config = Config { seed, ..Config::new(kind, columns) };
    config.settings.scale = ScaleChoice::Common;
    let mut model = Model::new(config).unwrap();
    for batch in rows.chunks(50 * d) {
        model.update(&Batch::new(batch, d).unwrap()).unwrap();
    }
    model.finish();
    model.snapshot()
}

/// A mixture's likelihood and responsibilities are sums over all ways to assign rows to components.
#[test]
fn all_assignments_of_six_rows_add_up_to_the_mixture() {
    let weights: [f64; 3] = [0.2, 0.5, 0.3];
    let (means, variances) = ([-1.0, 0.4, 2.0], [0.3, 1.7, 0.9]);
    let rows = [-1.3, 0.1, 0.9, 2.2, 1.1, -4.0];
    let gaussians: Vec<Gauss> = (0..3).map(|k| Gauss::with_covariance(&[means[k]], &[variances[k]])).collect();
    let (mut block, mut posterior) = (RowBlock::default(), Posterior::default());
    for n in 1..=rows.len() {
        block.load(&rows[..n], 1);
        posterior.log_joint(&mut block, weights.iter().map(|w| w.ln()).zip(&gaussians));
        posterior.normalise(3, n);
        let joint = |i: usize, k: usize| {
            let off: f64 = rows[i] - means[k];
            let norm = (2.0 * std::f64::consts::PI * variances[k]).sqrt();
            weights[k] * (-0.5 * off * off / variances[k]).exp() / norm
        };
        let (mut total, mut assigned) = (0.0_f64, vec![0.0; 3 * n]);
        for code in 0..3_usize.pow(n as u32) {
            let choice = |i: usize| code / 3_usize.pow(i as u32) % 3;
            let probability: f64 = (0..n).map(|i| joint(i, choice(i))).product();
            total += probability;
            (0..n).for_each(|i| assigned[choice(i) * n + i] += probability);
        }
        let log_likelihood: f64 = posterior.log_total[..n].iter().sum();
        assert!((log_likelihood - total.ln()).abs() < 1e-12 * n as f64, "{n}: {log_likelihood} {}", total.ln());
        for k in 0..3 {
            for i in 0..n {
                let (found, expected) = (posterior.of(k, n)[i], assigned[k * n + i] / total);
                assert!((found - expected).abs() < 1e-13, "row {i} of {n}, component {k}: {found} {expected}");
            }
        }
    }
}

#[test]
fn ppca_of_the_largest_dimension_is_the_full_gaussian() {
    // Eigenvalues 16, 8, 4, 2, 1 in a random basis, so that every dimension is worth its parameters.
    let d = 5;
    let mut rng = num::stream(20_010, 0, 0);
    let symmetric: Vec<f64> = (0..d * d).map(|_| rng.normal()).collect();
    let (mut values, mut axes) = (vec![0.0; d], vec![0.0; d * d]);
    num::symmetric_eigen(&symmetric, d, &mut values, &mut axes);
    let covariance: Vec<f64> = (0..d * d)
        .map(|at| (0..d).map(|r| f64::from(16 >> r) * axes[r * d + at / d] * axes[r * d + at % d]).sum())
        .collect();
    let mut shaped = covariance.clone();
    assert_eq!(Ppca.shape(&mut shaped, d, 1e4), d - 1);
    for (a, b) in covariance.iter().zip(&shaped) {
        assert!((a - b).abs() < 1e-12 * 16.0, "{a} {b}");
    }
    for d in 1..8 {
        assert_eq!(Ppca.n_free(d, d - 1), FullGaussian.n_free(d, d), "{d} columns");
    }
}

/// In two columns a principal subspace has one dimension, and a mixture of PPCA is a mixture of full Gaussians; in
/// one column it has none.
#[test]
fn mixtures_of_ppca_in_one_and_two_columns_are_gaussian_mixtures() {
    for d in [1, 2] {
        let truth = ofab_truth(3, d, Covariance::Spd, 20_011);
        let (rows, _) = truth.sample(2500, 20_012);
        let (held_out, _) = truth.sample(1000, 20_013);
        for (full, ppca) in [(Kind::GmmOfab, Kind::MppcaOfab), (Kind::GmmFab, Kind::MppcaFab)] {
            let (full, ppca) = (learnt(full, &rows, d, 20_014), learnt(ppca, &rows, d, 20_014));
            assert_eq!(full.k_realized(), ppca.k_realized(), "{d} columns");
            let scores = (full.scorer().mean_log_density(&held_out), ppca.scorer().mean_log_density(&held_out));
            // Eigenvectors round differently from Cholesky factors, and every batch carries it on.
            assert!((scores.0 - scores.1).abs() < 1e-6, "{d} columns: {scores:?}");
            assert!(ppca.components.iter().all(|c| c.latent_dim == Some(d - 1)));
        }
    }
}

/// Statistics add up: one cluster's snapshot is the sample mean and covariance of all rows.
#[test]
fn one_cluster_is_its_sample_mean_and_covariance() {
    let truth =
        Truth { weights: vec![1.0], means: vec![vec![30.0, -2.0]], covariances: vec![vec![2.0, 0.9, 0.9, 1.0]] };
    // Rows in the far tails could be taken for newcomers for a while.
    let (drawn, _) = truth.sample(4000, 20_015);
    let gauss = Gauss::with_covariance(&truth.means[0], &truth.covariances[0]);
    let mut whitened = [0.0; 2];
    let rows: Vec<f64> = drawn
        .chunks(2)
        .filter(|row| {
            gauss.whitened(row, &mut whitened);
            whitened.iter().map(|z| z * z).sum::<f64>() < 9.0
        })
        .flatten()
        .copied()
        .collect();
    let n = rows.len() as f64 / 2.0;
    let mean: Vec<f64> = (0..2).map(|j| rows.iter().skip(j).step_by(2).sum::<f64>() / n).collect();
    let covariance: Vec<f64> = (0..4)
        .map(|at| rows.chunks(2).map(|r| (r[at / 2] - mean[at / 2]) * (r[at % 2] - mean[at % 2])).sum::<f64>() / n)
        .collect();
    // The batch kind fits them all at once. The online one starts from an over-complete model whose parts overlap, and
    // forgets while they do: it stays within half a standard error, which costs a quarter of the estimation error.
    for (kind, off) in [(Kind::GmmFab, 1e-9), (Kind::GmmOfab, 0.5)] {
        let snapshot = learnt(kind, &rows, 2, 20_016);
        assert_eq!(snapshot.k_realized(), 1);
        let c = &snapshot.components[0];
        assert_eq!(c.weight, 1.0);
        for j in 0..2 {
            let error = (covariance[j * 3] / n).sqrt();
            assert!((c.mean[j] - mean[j]).abs() < off * error, "{kind}: mean {:?} {mean:?}", c.mean);
        }
        for at in 0..4 {
            let (i, j) = (at / 2, at % 2);
            let error = ((covariance[i * 3] * covariance[j * 3] + covariance[at].powi(2)) / n).sqrt();
            let found = c.covariance[at];
            assert!(
                (found - covariance[at]).abs() < off * error,
                "{kind}: covariance {:?} {covariance:?}",
                c.covariance
            );
        }
    }
}

#[test]
fn columns_without_correlation_have_the_product_of_their_densities() {
    let truth = Truth {
        weights: vec![1.0],
        means: vec![vec![1.0, -2.0, 0.5]],
        covariances: vec![vec![2.0, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 5.0]],
    };
    let row = [2.2, -1.5, 3.0];
    let of_column = |j: usize| {
        let one = Truth {
            weights: vec![1.0],
            means: vec![vec![truth.means[0][j]]],
            covariances: vec![vec![truth.covariances[0][j * 4]]],
        };
        one.log_density(&row[j..=j])[0]
    };
    let product: f64 = (0..3).map(of_column).sum();
    assert!((truth.log_density(&row)[0] - product).abs() < 1e-13);
}
