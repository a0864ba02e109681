//! Where components begin: k-means++ seeds among the rows of a batch, away from the centres there are.

use crate::num::Rng;
use crate::structure::RowBlock;

/// Squared distance over the cells that are there; a missing cell counts as much as the mean of the others.
fn squared_distance(row: &[f64], centre: &[f64]) -> f64 {
    let (mut sum, mut n) = (0.0, 0);
    for (x, c) in row.iter().zip(centre) {
        if !x.is_nan() {
            sum += (x - c) * (x - c);
            n += 1;
        }
    }
    if n == 0 { 0.0 } else { sum * row.len() as f64 / f64::from(n) }
}

/// At most `n` rows of the block, each drawn by its weight and its squared distance from all centres so far; missing
/// cells become zero, the frame's centre. Fewer when there are fewer distinct rows.
pub(super) fn seeds<'a>(
    block: &RowBlock,
    weights: Option<&[f64]>,
    centres: impl Iterator<Item = &'a [f64]>,
    n: usize,
    rng: &mut Rng,
) -> Vec<Vec<f64>> {
    let n_rows = block.n_rows();
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut nearest = vec![f64::INFINITY; n_rows];
    for centre in centres {
        nearest.iter_mut().enumerate().for_each(|(i, d)| *d = d.min(squared_distance(block.row(i), centre)));
    }
    let mut chosen: Vec<Vec<f64>> = Vec::new();
    while chosen.len() < n {
        // Without any centre every row is as good as another.
        let chance: Vec<f64> =
            nearest.iter().enumerate().map(|(i, d)| if d.is_finite() { d * weight(i) } else { weight(i) }).collect();
        if chance.iter().sum::<f64>() <= 0.0 {
            break;
        }
        let row = block.row(rng.categorical(&chance));
        let seed: Vec<f64> = row.iter().map(|v| if v.is_nan() { 0.0 } else { *v }).collect();
        nearest.iter_mut().enumerate().for_each(|(i, d)| *d = d.min(squared_distance(block.row(i), &seed)));
        chosen.push(seed);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num;

    #[test]
    fn seeds_are_distinct_rows_away_from_the_centres() {
        let mut block = RowBlock::default();
        block.load(&[0.0, 0.0, 5.0, 1.0, 0.0, 0.0, 5.0, 1.0, f64::NAN, 8.0], 2);
        let mut rng = num::stream(73, 0, 0);
        for _ in 0..20 {
            let mut found = seeds(&block, None, [&[5.0, 1.0][..]].into_iter(), 9, &mut rng);
            found.sort_by(|a, b| a[1].total_cmp(&b[1]));
            assert_eq!(found, [[0.0, 0.0], [0.0, 8.0]]);
            assert!(seeds(&block, Some(&[0.0; 5]), std::iter::empty(), 3, &mut rng).is_empty());
        }
    }
}
