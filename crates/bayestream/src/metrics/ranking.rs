//! How well a score puts outliers first. A higher score means more of an outlier.

/// The share of (outlier, ordinary) pairs in which the outlier scores higher, ties counting half.
///
/// NaN without an outlier, without an ordinary row, or with a score that is not a number.
pub fn roc_auc(scores: &[f64], is_outlier: &[bool]) -> f64 {
    let Some(steps) = steps(scores, is_outlier) else { return f64::NAN };
    let n_outliers: f64 = steps.iter().map(|s| s.n_outliers).sum();
    let n_ordinary: f64 = steps.iter().map(|s| s.n_rows - s.n_outliers).sum();
    let (mut above, mut pairs) = (0.0, 0.0);
    for step in &steps {
        let ordinary = step.n_rows - step.n_outliers;
        pairs += ordinary * (above + 0.5 * step.n_outliers);
        above += step.n_outliers;
    }
    pairs / (n_outliers * n_ordinary)
}

/// The area under the precision-recall curve as a step function: the mean of the precision at each outlier, rows of
/// equal score counted together.
///
/// NaN without an outlier or with a score that is not a number.
pub fn average_precision(scores: &[f64], is_outlier: &[bool]) -> f64 {
    let Some(steps) = steps(scores, is_outlier) else { return f64::NAN };
    let (mut n_rows, mut n_outliers, mut sum) = (0.0, 0.0, 0.0);
    for step in &steps {
        n_rows += step.n_rows;
        n_outliers += step.n_outliers;
        sum += step.n_outliers * n_outliers / n_rows;
    }
    sum / n_outliers
}

/// Precision and recall of flagging the highest scores.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Detection {
    /// The share of flagged rows that are outliers.
    pub precision: f64,
    /// The share of outliers that are flagged.
    pub recall: f64,
}

/// Flags the share `rate` of the rows that score highest. Of rows that tie at the threshold the same share of outliers
/// and of ordinary rows is flagged, so that the order of the rows does not matter.
///
/// NaN without an outlier or with a score that is not a number, and the precision also when nothing is flagged.
pub fn detection_at_rate(scores: &[f64], is_outlier: &[bool], rate: f64) -> Detection {
    let Some(steps) = steps(scores, is_outlier) else {
        return Detection { precision: f64::NAN, recall: f64::NAN };
    };
    let n_rows: f64 = steps.iter().map(|s| s.n_rows).sum();
    let n_outliers: f64 = steps.iter().map(|s| s.n_outliers).sum();
    let wanted = (rate * n_rows).clamp(0.0, n_rows);
    let (mut flagged, mut hits) = (0.0, 0.0);
    for step in &steps {
        let share = ((wanted - flagged) / step.n_rows).clamp(0.0, 1.0);
        flagged += share * step.n_rows;
        hits += share * step.n_outliers;
    }
    Detection { precision: hits / flagged, recall: hits / n_outliers }
}

/// Rows that share a score.
struct Step {
    n_rows: f64,
    n_outliers: f64,
}

/// Steps of falling score; none when a score is not a number.
fn steps(scores: &[f64], is_outlier: &[bool]) -> Option<Vec<Step>> {
    let mut rows: Vec<(f64, bool)> = scores.iter().copied().zip(is_outlier.iter().copied()).collect();
    if rows.iter().any(|(score, _)| score.is_nan()) {
        return None;
    }
    // Adding zero makes the two zeros one, which `total_cmp` would tell apart.
    rows.sort_by(|a, b| (b.0 + 0.0).total_cmp(&(a.0 + 0.0)));
    let ties = rows.chunk_by(|a, b| a.0 == b.0);
    Some(
        ties.map(|tie| Step {
            n_rows: tie.len() as f64,
            n_outliers: tie.iter().filter(|(_, outlier)| *outlier).count() as f64,
        })
        .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        let (scores, outlier) = ([0.1, 0.4, 0.35, 0.8], [false, false, true, true]);
        assert_eq!(roc_auc(&scores, &outlier), 0.75);
        // Precision 1 at the first outlier, 2/3 at the second.
        assert!((average_precision(&scores, &outlier) - (1.0 + 2.0 / 3.0) / 2.0).abs() < 1e-15);
        assert_eq!(detection_at_rate(&scores, &outlier, 0.5), Detection { precision: 0.5, recall: 0.5 });
    }

    #[test]
    fn equal_scores_say_nothing() {
        let (scores, outlier) = ([2.0; 5], [true, false, false, true, false]);
        assert_eq!(roc_auc(&scores, &outlier), 0.5);
        assert!((average_precision(&scores, &outlier) - 0.4).abs() < 1e-15);
        let detection = detection_at_rate(&scores, &outlier, 0.2);
        assert!((detection.precision - 0.4).abs() < 1e-15 && (detection.recall - 0.2).abs() < 1e-15);
        assert_eq!(roc_auc(&[0.0, -0.0], &[true, false]), 0.5);
    }

    #[test]
    fn nothing_to_find_or_to_rank_is_not_a_number() {
        assert!(roc_auc(&[1.0, 2.0], &[true, true]).is_nan());
        assert!(average_precision(&[1.0, 2.0], &[false, false]).is_nan());
        assert!(roc_auc(&[1.0, f64::NAN], &[true, false]).is_nan());
        assert!(detection_at_rate(&[], &[], 0.1).recall.is_nan());
    }

    proptest! {
        #[test]
        fn ranks_alone_matter(rows in proptest::collection::vec((0u8..12, any::<bool>()), 2..80), turn in 0usize..80) {
            let mut rows = rows;
            rows.push((3, true));
            rows.push((5, false));
            let split = |rows: &[(u8, bool)], f: fn(f64) -> f64| -> (Vec<f64>, Vec<bool>) {
                rows.iter().map(|(s, o)| (f(f64::from(*s)), *o)).unzip()
            };
            let (scores, outlier) = split(&rows, |s| s);
            let turn = turn % rows.len();
            rows.rotate_left(turn);
            let (turned, turned_outlier) = split(&rows, |s| s.exp() - 40.0);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
            let auc = roc_auc(&scores, &outlier);
            let (mut won, mut pairs) = (0.0, 0.0);
            for (s, _) in scores.iter().zip(&outlier).filter(|(_, o)| **o) {
                for (t, _) in scores.iter().zip(&outlier).filter(|(_, o)| !**o) {
                    pairs += 1.0;
                    won += if s > t { 1.0 } else if s == t { 0.5 } else { 0.0 };
                }
            }
            prop_assert!(close(auc, won / pairs));
            prop_assert!(close(auc, roc_auc(&turned, &turned_outlier)));
            prop_assert!(close(average_precision(&scores, &outlier), average_precision(&turned, &turned_outlier)));
            let (flipped, _) = split(&rows, |s| -s);
            prop_assert!(close(1.0 - auc, roc_auc(&flipped, &turned_outlier)));
            let whole = detection_at_rate(&scores, &outlier, 1.0);
            prop_assert!(close(whole.recall, 1.0));
        }
    }
}
