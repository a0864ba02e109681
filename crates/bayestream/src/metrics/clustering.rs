//! Agreement of two clusterings of the same rows; names of clusters do not matter.

use std::collections::BTreeMap;

/// Counts of rows by (first label, second label), by first and by second label.
struct Contingency {
    n: f64,
    cells: Vec<(f64, f64, f64)>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Contingency {
    /// Rows beyond the shorter list are left out.
    fn of<A: Ord + Copy, B: Ord + Copy>(a: &[A], b: &[B]) -> Contingency {
        let mut cells: BTreeMap<(A, B), f64> = BTreeMap::new();
        let (mut rows, mut columns) = (BTreeMap::<A, f64>::new(), BTreeMap::<B, f64>::new());
        let mut n = 0.0;
        for (&x, &y) in a.iter().zip(b) {
            *cells.entry((x, y)).or_default() += 1.0;
            *rows.entry(x).or_default() += 1.0;
            *columns.entry(y).or_default() += 1.0;
            n += 1.0;
        }
        Contingency {
            n,
            cells: cells.iter().map(|((x, y), count)| (*count, rows[x], columns[y])).collect(),
            rows: rows.into_values().collect(),
            columns: columns.into_values().collect(),
        }
    }
}

/// The Rand index corrected for chance (Hubert and Arabie): 1 for equal clusterings, 0 on average for unrelated ones.
///
/// 1 when neither list divides the rows at all, or both put every row by itself.
pub fn adjusted_rand_index<A: Ord + Copy, B: Ord + Copy>(a: &[A], b: &[B]) -> f64 {
    let table = Contingency::of(a, b);
    let pairs = |count: f64| count * (count - 1.0) / 2.0;
    let together: f64 = table.cells.iter().map(|(count, _, _)| pairs(*count)).sum();
    let in_a: f64 = table.rows.iter().map(|count| pairs(*count)).sum();
    let in_b: f64 = table.columns.iter().map(|count| pairs(*count)).sum();
    let all = pairs(table.n);
    let expected = if all > 0.0 { in_a * in_b / all } else { 0.0 };
    let most = (in_a + in_b) / 2.0;
    if most == expected { 1.0 } else { (together - expected) / (most - expected) }
}

/// Mutual information over the mean of the two entropies: 1 for equal clusterings, 0 for independent ones.
///
/// 1 when neither list divides the rows at all.
pub fn normalised_mutual_information<A: Ord + Copy, B: Ord + Copy>(a: &[A], b: &[B]) -> f64 {
    let table = Contingency::of(a, b);
    let entropy = |counts: &[f64]| -> f64 { counts.iter().map(|c| -(c / table.n) * (c / table.n).ln()).sum() };
    let mean_entropy = (entropy(&table.rows) + entropy(&table.columns)) / 2.0;
    if mean_entropy == 0.0 {
        return 1.0;
    }
    let information: f64 =
        table.cells.iter().map(|(count, row, column)| count / table.n * (count * table.n / (row * column)).ln()).sum();
    (information / mean_entropy).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        // By hand: cells of 2, 1, 1, 2 rows; a divides 3 and 3, b divides 2, 2 and 2; 15 pairs in all.
        let (a, b) = ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]);
        let (expected, most) = (6.0 * 3.0 / 15.0, (6.0 + 3.0) / 2.0);
        assert!((adjusted_rand_index(&a, &b) - (2.0 - expected) / (most - expected)).abs() < 1e-15);
        let information = 2.0 * (2.0 / 6.0) * 2f64.ln();
        let entropies = (2f64.ln() + 3f64.ln()) / 2.0;
        assert!((normalised_mutual_information(&a, &b) - information / entropies).abs() < 1e-15);
    }

    #[test]
    fn undivided_lists_agree() {
        assert_eq!(adjusted_rand_index(&[7, 7, 7], &["x", "x", "x"]), 1.0);
        assert_eq!(normalised_mutual_information(&[7, 7], &[1, 1]), 1.0);
        assert_eq!(adjusted_rand_index::<u8, u8>(&[], &[]), 1.0);
        assert_eq!(normalised_mutual_information::<u8, u8>(&[], &[]), 1.0);
        assert_eq!(adjusted_rand_index(&[1, 2, 3], &[3, 1, 2]), 1.0);
        assert_eq!(normalised_mutual_information(&[1, 1], &[1, 2]), 0.0);
    }

    proptest! {
        #[test]
        fn names_order_and_sides_do_not_matter(
            labels in proptest::collection::vec((0u8..4, 0u8..5), 2..60),
            turn in 0usize..60,
        ) {
            let mut labels = labels;
            let (a, b): (Vec<u8>, Vec<u8>) = labels.iter().copied().unzip();
            let renamed: Vec<u8> = a.iter().map(|x| (x * 7 + 3) % 11).collect();
            let (ari, nmi) = (adjusted_rand_index(&a, &b), normalised_mutual_information(&a, &b));
            let turn = turn % labels.len();
            labels.rotate_left(turn);
            let (a_turned, b_turned): (Vec<u8>, Vec<u8>) = labels.into_iter().unzip();
            let close = |x: f64, y: f64| (x - y).abs() < 1e-12;
            prop_assert!(close(ari, adjusted_rand_index(&b, &a)) && close(nmi, normalised_mutual_information(&b, &a)));
            prop_assert!(close(ari, adjusted_rand_index(&renamed, &b)));
            prop_assert!(close(nmi, normalised_mutual_information(&renamed, &b)));
            prop_assert!(close(ari, adjusted_rand_index(&a_turned, &b_turned)));
            prop_assert!(close(nmi, normalised_mutual_information(&a_turned, &b_turned)));
            prop_assert!(close(adjusted_rand_index(&a, &a), 1.0));
            prop_assert!(close(normalised_mutual_information(&a, &a), 1.0));
            prop_assert!(ari <= 1.0 + 1e-12 && (0.0..=1.0).contains(&nmi));
        }

        #[test]
        fn the_index_is_that_of_counted_pairs(labels in proptest::collection::vec((0u8..3, 0u8..4), 2..40)) {
            let (a, b): (Vec<u8>, Vec<u8>) = labels.iter().copied().unzip();
            // Pairs together in both, in a only, in b only, in neither.
            let (mut both, mut in_a, mut in_b, mut neither) = (0.0, 0.0, 0.0, 0.0);
            for i in 0..a.len() {
                for j in 0..i {
                    *match (a[i] == a[j], b[i] == b[j]) {
                        (true, true) => &mut both,
                        (true, false) => &mut in_a,
                        (false, true) => &mut in_b,
                        (false, false) => &mut neither,
                    } += 1.0;
                }
            }
            let scale = (both + in_a) * (in_a + neither) + (both + in_b) * (in_b + neither);
            let expected = if scale == 0.0 { 1.0 } else { 2.0 * (both * neither - in_a * in_b) / scale };
            prop_assert!((adjusted_rand_index(&a, &b) - expected).abs() < 1e-12);
        }
    }
}
