//! From data units to pixels along one axis.

/// Data ranges are kept inside these limits so that no difference or ratio overflows.
const LARGEST: f64 = 1e300;
const SMALLEST: f64 = 1e-290;

/// The values an axis shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub lo: f64,
    pub hi: f64,
    pub log: bool,
}

impl Range {
    /// A range that can be drawn, whatever the ends: ordered, finite, of positive width, and
    /// positive throughout on a logarithmic axis.
    pub(crate) fn drawable(lo: f64, hi: f64, log: bool) -> Range {
        let (mut lo, mut hi) = if lo <= hi { (lo, hi) } else { (hi, lo) };
        if !lo.is_finite() || !hi.is_finite() {
            return if log { Range { lo: 0.1, hi: 10.0, log } } else { Range { lo: 0.0, hi: 1.0, log } };
        }
        (lo, hi) = (lo.clamp(-LARGEST, LARGEST), hi.clamp(-LARGEST, LARGEST));
        if log {
            hi = if hi > 0.0 { hi.max(SMALLEST) } else { 10.0 };
            lo = if lo > 0.0 { lo.max(SMALLEST / 10.0) } else { hi / 1e6 };
            if hi / lo < 1.0 + 1e-9 {
                (lo, hi) = (lo / 2.0, hi * 2.0);
            }
            return Range { lo, hi, log };
        }
        let magnitude = lo.abs().max(hi.abs());
        if magnitude < SMALLEST {
            return Range { lo: -1.0, hi: 1.0, log };
        }
        // Closer values differ by little more than rounding: show them as one.
        if hi - lo < magnitude * 1e-11 {
            let margin = magnitude * 0.1;
            (lo, hi) = (lo - margin, hi + margin);
        }
        Range { lo, hi, log }
    }

    /// The range with a share of its width added at each end.
    pub(crate) fn padded(self, below: f64, above: f64) -> Range {
        if self.log {
            let width = (self.hi / self.lo).ln();
            let (lo, hi) = (self.lo * (-width * below).exp(), self.hi * (width * above).exp());
            Range::drawable(lo, hi, true)
        } else {
            let width = self.hi - self.lo;
            Range::drawable(self.lo - width * below, self.hi + width * above, false)
        }
    }
}

/// Maps a range to an interval of pixels, which may run either way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub range: Range,
    pub from: f64,
    pub to: f64,
}

impl Scale {
    /// The pixel of a value, or nothing when the value has no place on this axis.
    ///
    /// Far-away values are held within a million times the length of the axis: further out, a
    /// picture cannot tell them apart, and renderers overflow.
    pub(crate) fn px(&self, value: f64) -> Option<f64> {
        let Range { lo, hi, log } = self.range;
        if !value.is_finite() || (log && value <= 0.0) {
            return None;
        }
        let share = if log { (value / lo).ln() / (hi / lo).ln() } else { (value - lo) / (hi - lo) };
        Some(self.from + share.clamp(-1e6, 1e6) * (self.to - self.from))
    }

    /// The pixel where bars start: zero, or the low end when zero has no place on the axis.
    pub(crate) fn base_px(&self) -> f64 {
        let base = if self.range.log { self.range.lo } else { 0.0f64.clamp(self.range.lo, self.range.hi) };
        self.px(base).unwrap_or(self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_drawable() {
        let ends = [0.0, -0.0, 1.0, -1.0, 1e-12, 1e12, 1e308, -1e308, 5e-324, f64::NAN, f64::INFINITY];
        for lo in ends {
            for hi in ends {
                for log in [false, true] {
                    let range = Range::drawable(lo, hi, log).padded(0.05, 0.1);
                    assert!(range.lo < range.hi, "{lo} {hi} {log}: {range:?}");
                    assert!((range.hi - range.lo).is_finite());
                    assert!(!log || range.lo > 0.0, "{lo} {hi}: {range:?}");
                }
            }
        }
    }

    #[test]
    fn values_land_in_proportion() {
        let linear = Scale { range: Range { lo: 2.0, hi: 6.0, log: false }, from: 100.0, to: 20.0 };
        assert_eq!(linear.px(3.0), Some(80.0));
        assert_eq!(linear.px(f64::NAN), None);
        let log = Scale { range: Range { lo: 1.0, hi: 1e4, log: true }, from: 0.0, to: 200.0 };
        assert!((log.px(10.0).unwrap() - 50.0).abs() < 1e-9);
        assert_eq!(log.px(0.0), None);
        assert!(linear.px(f64::MAX).unwrap().is_finite());
    }
}
