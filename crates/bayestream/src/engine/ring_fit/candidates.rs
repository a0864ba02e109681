//! Which components a row may choose from, and which pairs are alike: nearness spares most of the work.

use super::member::Member;
use crate::num::{self, Lanes};

/// Neighbours of a component that it may merge with.
const PARTNERS: usize = 8;

/// For each component the `most` that are nearest to it, itself among them, in units of either's covariance.
fn neighbours(members: &[Member], most: usize, lanes: &mut Lanes) -> Vec<Vec<u32>> {
    let k = members.len();
    if k <= most {
        return vec![(0..k as u32).collect(); k];
    }
    let d = members[0].moments.n_columns();
    let means: Vec<f64> = members.iter().flat_map(|m| m.moments.mean.iter().copied()).collect();
    lanes.load(&means, d);
    let stride = lanes.n_padded();
    let mut distance = vec![0.0; k * stride];
    for (member, out) in members.iter().zip(distance.chunks_exact_mut(stride)) {
        member.distances(lanes, out);
    }
    let mut near: Vec<(f64, u32)> = Vec::with_capacity(k);
    (0..k)
        .map(|at| {
            near.clear();
            near.extend((0..k).map(|j| (distance[at * stride + j].min(distance[j * stride + at]), j as u32)));
            near[at].0 = -1.0;
            near.select_nth_unstable_by(most - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near[..most].iter().map(|(_, j)| *j).collect()
        })
        .collect()
}

/// Gives components the rows of their neighbours to judge, as well as their own: all of them, or those alone that have
/// changed. Shares stay.
pub(super) fn candidates(members: &mut [Member], x: &[f64], n_rows: usize, most: usize, all: bool, lanes: &mut Lanes) {
    let mut owner = vec![(0.0, None); n_rows];
    for (k, member) in members.iter().enumerate() {
        for (&i, &share) in member.rows.iter().zip(&member.shares) {
            if share > owner[i as usize].0 {
                owner[i as usize] = (share, Some(k));
            }
        }
    }
    let near = neighbours(members, most, lanes);
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); members.len()];
    let is_asked: Vec<bool> = members.iter().map(|m| all || !m.is_judged).collect();
    for (i, (_, owner)) in owner.iter().enumerate() {
        // A row whose component is gone goes to the nearest.
        let owner = owner.unwrap_or_else(|| nearest(members, x, i));
        near[owner].iter().filter(|&&k| is_asked[k as usize]).for_each(|&k| rows[k as usize].push(i as u32));
    }
    let mut share_of = vec![0.0; n_rows];
    for ((member, rows), _) in members.iter_mut().zip(rows).zip(is_asked).filter(|(_, is_asked)| *is_asked) {
        member.may_claim(rows, &mut share_of);
    }
}

fn nearest(members: &[Member], x: &[f64], row: usize) -> usize {
    let distance = |m: &Member| {
        let d = m.moments.n_columns();
        m.moments.mean.iter().zip(&x[row * d..(row + 1) * d]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
    };
    let distances = members.iter().map(distance).enumerate();
    distances.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k)
}

/// Disjoint pairs of components that cost least to merge, at most `n`, by Runnalls' bound on the loss.
pub(super) fn cheapest_pairs(members: &[Member], target: &[f64], n: usize, lanes: &mut Lanes) -> Vec<(usize, usize)> {
    let d = target.len();
    let near = neighbours(members, PARTNERS + 1, lanes);
    let mut covariances = vec![Vec::new(); members.len()];
    for (member, out) in members.iter().zip(&mut covariances) {
        member.covariance(target, out);
    }
    let mut pairs = Vec::new();
    let mut both = vec![0.0; d * d];
    for i in 0..members.len() {
        for &j in &near[i] {
            let j = j as usize;
            // Once for each pair, though either may be the other's neighbour alone.
            if j == i || (j < i && near[j].contains(&(i as u32))) {
                continue;
            }
            let (a, b) = (&members[i].moments, &members[j].moments);
            let count = a.count + b.count;
            let (p, q) = (a.count / count, b.count / count);
            for r in 0..d {
                for s in 0..=r {
                    let between = (a.mean[r] - b.mean[r]) * (a.mean[s] - b.mean[s]);
                    let at = r * d + s;
                    both[at] = p * covariances[i][at] + q * covariances[j][at] + p * q * between;
                }
            }
            let log_det = num::cholesky(&mut both, d).unwrap_or(f64::INFINITY);
            let apart = a.count * members[i].log_det_covariance() + b.count * members[j].log_det_covariance();
            pairs.push((0.5 * (count * log_det - apart), i.min(j), i.max(j)));
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut is_taken = vec![false; members.len()];
    let mut chosen = Vec::new();
    for (_, i, j) in pairs {
        if chosen.len() == n {
            break;
        }
        if !is_taken[i] && !is_taken[j] {
            (is_taken[i], is_taken[j]) = (true, true);
            chosen.push((i, j));
        }
    }
    chosen
}
