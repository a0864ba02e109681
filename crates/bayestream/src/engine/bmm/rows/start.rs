//! The first model, from the first rows: the prior that foretells them best.

use super::learner::MomentMatcher;
use super::part::Part;
use super::slots::Slots;
use crate::data::Frame;
use crate::engine::bmm::BmmSettings;

impl<P: Part> MomentMatcher<P> {
    /// Makes the model anew from all rows in the ring.
    pub(super) fn start_over(&mut self) {
        let (rows, weights) = self.ring.recent(self.ring.len());
        let frame = Frame::of_rows(&rows, self.n_columns, self.scaling);
        let mut framed = Vec::with_capacity(rows.len());
        frame.push_rows(&rows, &mut framed);
        let next_serial = self.slots.as_ref().map_or(0, |s| s.next_serial);
        let mut best: Option<(f64, Slots<P>)> = None;
        // Settings were checked when the model was made, so there is a prior.
        for prior in P::priors(&self.settings, &frame).unwrap_or_default() {
            let mut slots = Slots::new(BmmSettings::of_rows(&self.settings), self.seed, self.shard, prior, next_serial);
            let mut foretold = 0.0;
            let rows = framed.chunks_exact(self.n_columns).zip(&weights);
            for (row, weight) in rows.take_while(|_| !self.interrupt.is_raised()) {
                foretold += weight * slots.learn_row(row, *weight);
            }
            if best.as_ref().is_none_or(|(most, _)| foretold > *most) {
                best = Some((foretold, slots));
            }
        }
        if let Some((_, mut slots)) = best {
            slots.news.clear();
            (self.slots, self.frame) = (Some(slots), Some(frame));
        }
    }
}
