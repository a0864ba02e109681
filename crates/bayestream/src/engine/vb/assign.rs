//! The assignment with the largest total gain (Hungarian method with potentials).

/// Gains beyond this are all the same: infinite ones could not be subtracted.
const LARGEST: f64 = 1e100;

/// For each row of `gain` (row-major, `n_rows` × `n_columns`) the column it is matched with: one to one, pairs without
/// a positive gain left apart, the sum of the gains as large as it can be.
pub(super) fn best_assignment(gain: &[f64], n_rows: usize, n_columns: usize) -> Vec<Option<usize>> {
    let n = n_rows.max(n_columns);
    // Places that pad the square are worth nothing, as is staying apart.
    let worth = |i: usize, j: usize| {
        let gain = if i < n_rows && j < n_columns { gain[i * n_columns + j] } else { 0.0 };
        if gain > 0.0 { gain.min(LARGEST) } else { 0.0 }
    };
    // Rows and columns from one: the zeroth column holds the row being placed.
    let (mut of_row, mut of_column) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    let mut row_at = vec![0; n + 1];
    let mut came_from = vec![0; n + 1];
    for row in 1..=n {
        row_at[0] = row;
        let mut column = 0;
        let (mut slack, mut visited) = (vec![f64::INFINITY; n + 1], vec![false; n + 1]);
        while row_at[column] != 0 {
            visited[column] = true;
            let i = row_at[column];
            let (mut least, mut next) = (f64::INFINITY, 0);
            for j in (1..=n).filter(|&j| !visited[j]) {
                let reduced = -worth(i - 1, j - 1) - of_row[i] - of_column[j];
                if reduced < slack[j] {
                    slack[j] = reduced;
                    came_from[j] = column;
                }
                if slack[j] < least {
                    least = slack[j];
                    next = j;
                }
            }
            for j in 0..=n {
                if visited[j] {
                    of_row[row_at[j]] += least;
                    of_column[j] -= least;
                } else {
                    slack[j] -= least;
                }
            }
            column = next;
        }
        while column != 0 {
            row_at[column] = row_at[came_from[column]];
            column = came_from[column];
        }
    }
    let mut matched = vec![None; n_rows];
    for j in 1..=n_columns {
        let i = row_at[j];
        if (1..=n_rows).contains(&i) && worth(i - 1, j - 1) > 0.0 {
            matched[i - 1] = Some(j - 1);
        }
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num;

    /// The best total over all one-to-one matchings, by trying them.
    fn by_trying(gain: &[f64], n_rows: usize, n_columns: usize, row: usize, taken: &mut Vec<bool>) -> f64 {
        if row == n_rows {
            return 0.0;
        }
        let mut best = by_trying(gain, n_rows, n_columns, row + 1, taken);
        for j in 0..n_columns {
            if !taken[j] {
                taken[j] = true;
                best = best.max(gain[row * n_columns + j] + by_trying(gain, n_rows, n_columns, row + 1, taken));
                taken[j] = false;
            }
        }
        best
    }

    #[test]
    fn no_matching_has_a_larger_total() {
        let mut rng = num::stream(72, 0, 0);
        for (n_rows, n_columns) in [(0, 3), (3, 0), (1, 1), (4, 4), (3, 6), (6, 3), (5, 5)] {
            for _ in 0..50 {
                let gain: Vec<f64> = (0..n_rows * n_columns).map(|_| 4.0 * rng.uniform() - 1.5).collect();
                let matched = best_assignment(&gain, n_rows, n_columns);
                let mut columns: Vec<usize> = matched.iter().flatten().copied().collect();
                columns.sort_unstable();
                assert!(columns.windows(2).all(|pair| pair[0] < pair[1]), "{matched:?}");
                let pairs = matched.iter().enumerate().filter_map(|(i, j)| j.map(|j| gain[i * n_columns + j]));
                let (mut total, mut all_gain) = (0.0, true);
                pairs.for_each(|g| {
                    total += g;
                    all_gain &= g > 0.0;
                });
                let best = by_trying(&gain, n_rows, n_columns, 0, &mut vec![false; n_columns]);
                assert!(all_gain && (total - best).abs() < 1e-12, "{total} {best}");
            }
        }
    }
}
