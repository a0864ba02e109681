//! Which topics of two learners are one.

use crate::num;

/// For each of their distributions the one of ours that it is one with, each of ours at most once: closest pairs first.
/// Distributions come as the square roots of their probabilities; a pair overlaps (Bhattacharyya) by more than `above`.
pub fn twins(ours: &[Vec<f32>], theirs: &[Vec<f32>], above: f64) -> Vec<Option<usize>> {
    let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
    for (i, x) in ours.iter().enumerate() {
        for (j, y) in theirs.iter().enumerate() {
            let overlap = num::dot_f32(x, y);
            if f64::from(overlap) > above {
                pairs.push((overlap, i, j));
            }
        }
    }
    pairs.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
    let (mut taken, mut twins) = (vec![false; ours.len()], vec![None; theirs.len()]);
    for (_, i, j) in pairs {
        if !taken[i] && twins[j].is_none() {
            taken[i] = true;
            twins[j] = Some(i);
        }
    }
    twins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_pair_comes_first_and_nothing_has_two_twins() {
        let roots = |p: [f32; 3]| p.iter().map(|p| p.sqrt()).collect::<Vec<f32>>();
        let ours = [roots([0.8, 0.2, 0.0]), roots([0.0, 0.1, 0.9])];
        let theirs = [roots([0.6, 0.4, 0.0]), roots([0.79, 0.21, 0.0]), roots([0.0, 0.15, 0.85])];
        assert_eq!(twins(&ours, &theirs, 0.9), [None, Some(0), Some(1)]);
        assert_eq!(twins(&ours, &theirs, 0.99999), [None; 3]);
    }
}
