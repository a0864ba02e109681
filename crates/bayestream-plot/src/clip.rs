//! Cuts lines and areas to what can be seen, and thins what is finer than a pixel.

use crate::scene::{Point, Rect};

/// The part of a segment inside an area (Liang and Barsky).
pub(crate) fn segment(a: Point, b: Point, area: &Rect) -> Option<(Point, Point)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    let edges = [(-dx, a.0 - area.x), (dx, area.right() - a.0), (-dy, a.1 - area.y), (dy, area.bottom() - a.1)];
    for (speed, room) in edges {
        if speed == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if speed < 0.0 {
            enter = enter.max(room / speed);
        } else {
            leave = leave.min(room / speed);
        }
    }
    let at = |t: f64| (a.0 + t * dx, a.1 + t * dy);
    (enter <= leave).then(|| {
        let start = if enter == 0.0 { a } else { at(enter) };
        let end = if leave == 1.0 { b } else { at(leave) };
        (start, end)
    })
}

/// The visible pieces of a line.
pub(crate) fn line(points: &[Point], area: &Rect) -> Vec<Vec<Point>> {
    if let [only] = points {
        return if area.contains(*only) { vec![vec![*only]] } else { Vec::new() };
    }
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    for pair in points.windows(2) {
        let Some((start, end)) = segment(pair[0], pair[1], area) else {
            continue;
        };
        match pieces.last_mut() {
            Some(piece) if piece.last() == Some(&start) => piece.push(end),
            _ => pieces.push(vec![start, end]),
        }
    }
    pieces
}

/// The visible part of a filled area (Sutherland and Hodgman).
pub(crate) fn polygon(corners: &[Point], area: &Rect) -> Vec<Point> {
    // Each edge as a signed distance, positive inside.
    let edges: [Box<dyn Fn(Point) -> f64>; 4] = [
        Box::new(|p| p.0 - area.x),
        Box::new(|p| area.right() - p.0),
        Box::new(|p| p.1 - area.y),
        Box::new(|p| area.bottom() - p.1),
    ];
    let mut kept = corners.to_vec();
    for inside in &edges {
        let mut next = Vec::with_capacity(kept.len() + 4);
        for ix in 0..kept.len() {
            let (from, to) = (kept[(ix + kept.len() - 1) % kept.len()], kept[ix]);
            let (d_from, d_to) = (inside(from), inside(to));
            if (d_from >= 0.0) != (d_to >= 0.0) {
                let t = d_from / (d_from - d_to);
                next.push((from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1)));
            }
            if d_to >= 0.0 {
                next.push(to);
            }
        }
        kept = next;
    }
    kept
}

/// A line that looks the same with far fewer points.
///
/// Of consecutive points in one column of pixels only the first, lowest, highest and last matter.
pub(crate) fn thin(points: Vec<Point>) -> Vec<Point> {
    const ENOUGH: usize = 2_000;
    if points.len() <= ENOUGH {
        return points;
    }
    let mut thinned = Vec::new();
    for column in points.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        if column.len() <= 4 {
            thinned.extend_from_slice(column);
            continue;
        }
        let (mut low, mut high) = (0, 0);
        for ix in 1..column.len() {
            if column[ix].1 < column[low].1 {
                low = ix;
            }
            if column[ix].1 > column[high].1 {
                high = ix;
            }
        }
        let mut kept = [0, low.min(high), low.max(high), column.len() - 1].to_vec();
        kept.dedup();
        thinned.extend(kept.into_iter().map(|ix| column[ix]));
    }
    thinned
}

/// Every n-th item such that at most `most` remain.
pub(crate) fn subsample<T: Copy>(items: &[T], most: usize) -> Vec<T> {
    if items.len() <= most {
        return items.to_vec();
    }
    // Evenly spread over the whole length, so that late items are not favoured over early ones.
    (0..most).map(|ix| items[(ix as u128 * items.len() as u128 / most as u128) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect { x: 0.0, y: 0.0, w: 10.0, h: 20.0 };

    #[test]
    fn lines_are_cut_at_the_edges() {
        assert_eq!(segment((-10.0, 5.0), (10.0, 5.0), &AREA), Some(((0.0, 5.0), (10.0, 5.0))));
        assert_eq!(segment((-10.0, 5.0), (-1.0, 8.0), &AREA), None);
        let pieces = line(&[(1.0, 1.0), (1.0, 30.0), (9.0, 30.0), (9.0, 1.0)], &AREA);
        assert_eq!(pieces, [vec![(1.0, 1.0), (1.0, 20.0)], vec![(9.0, 20.0), (9.0, 1.0)]]);
    }

    #[test]
    fn areas_are_cut_at_the_edges() {
        let square = [(-5.0, 5.0), (5.0, 5.0), (5.0, 15.0), (-5.0, 15.0)];
        let cut = polygon(&square, &AREA);
        assert_eq!(cut.len(), 4);
        assert!(cut.iter().all(|p| AREA.contains(*p)));
        assert!(polygon(&[(50.0, 5.0), (60.0, 5.0), (60.0, 9.0)], &AREA).is_empty());
    }

    #[test]
    fn thinning_keeps_the_extremes_of_every_column() {
        let wave: Vec<Point> =
            (0..100_000).map(|i| (f64::from(i) * 0.005, (f64::from(i) * 0.7).sin() * 50.0)).collect();
        let thinned = thin(wave.clone());
        assert!(thinned.len() <= 4 * 501);
        let top = |points: &[Point]| points.iter().map(|p| p.1).fold(f64::MIN, f64::max);
        assert_eq!(top(&thinned), top(&wave));
        assert_eq!((thinned.first(), thinned.last()), (wave.first(), wave.last()));
    }

    #[test]
    fn samples_are_even_and_bounded() {
        let items: Vec<usize> = (0..1000).collect();
        let kept = subsample(&items, 300);
        assert_eq!(kept.len(), 300);
        assert!(kept.windows(2).all(|p| (3..=4).contains(&(p[1] - p[0]))));
    }
}
