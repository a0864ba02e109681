//! Births, and topics given up for new ones.

use super::MmHdp;
use crate::structure::{ComponentId, Event, Happening};

impl MmHdp {
    /// The open topic becomes a topic, and another is opened if there is room.
    pub(super) fn give_birth(&mut self) {
        let id = self.new_id();
        let Some(master) = &mut self.master else { return };
        master.ids.push(id);
        master.k += 1;
        let row = master.n_learnt;
        master.open(&self.settings);
        self.events.push(Event { row, component: id, what: Happening::Born });
    }

    pub(super) fn new_id(&mut self) -> ComponentId {
        let id = ComponentId { shard: self.shard, serial: self.next_serial };
        self.next_serial = self.next_serial.wrapping_add(1);
        id
    }

    /// When every slot is in use, gives up the topics that explained the fewest words: recency is no criterion, because a
    /// theme that pauses would be forgotten.
    pub(super) fn recycle(&mut self) {
        let Some(master) = &mut self.master else { return };
        if master.k < self.settings.max_topics || master.k <= self.settings.recycle {
            return;
        }
        let old = |z: &usize| master.n_learnt - master.opened[*z] >= self.settings.protect;
        let mut candidates: Vec<usize> = (0..master.k).filter(old).collect();
        candidates.sort_by(|a, b| master.words[*a].total_cmp(&master.words[*b]).then(a.cmp(b)));
        candidates.truncate(self.settings.recycle);
        // From the last slot down, so that exchanging with the last moves none of those still to go.
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        let mut gone = Vec::new();
        for z in candidates {
            master.swap(z, master.k - 1);
            master.k -= 1;
            gone.extend(master.ids.pop());
        }
        if gone.is_empty() {
            return;
        }
        master.open(&self.settings);
        let row = master.n_learnt;
        gone.iter().for_each(|id| self.events.push(Event { row, component: *id, what: Happening::Died }));
        self.history.retain(|id| !gone.contains(&id));
    }

    /// Tells the history what the topics explained since it was last told.
    pub(super) fn tell_history(&mut self) {
        let Some(master) = &mut self.master else { return };
        let news: Vec<(ComponentId, f64)> =
            master.ids.iter().copied().zip(master.untold.iter().copied()).filter(|(_, n)| *n > 0.0).collect();
        master.untold[..master.k].fill(0.0);
        self.history.add(std::mem::take(&mut master.n_untold), news.into_iter());
    }
}
