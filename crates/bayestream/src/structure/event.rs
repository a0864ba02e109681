//! What happened to a model, kept in a bounded log.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;

/// A component's name for life: stable through births, deaths, merges and reordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ComponentId {
    /// The shard whose learner made it.
    pub shard: u32,
    /// A running number within the shard.
    pub serial: u32,
}

impl fmt::Display for ComponentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.shard, self.serial)
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Happening {
    /// A component began.
    Born,
    /// `into` took over this component's statistics.
    Merged {
        /// The component that lives on.
        into: ComponentId,
    },
    /// This component was divided; `new` is the second half.
    Split {
        /// The new component.
        new: ComponentId,
    },
    /// A component was given up.
    Died,
    /// The stream left this component (or moved it): its memory was cut.
    Drift,
    /// Rows asked for one component more than `max-components` allows: this one gave way, or stayed whole.
    Full,
}

impl Happening {
    /// The event's name in files and on screen.
    pub fn name(self) -> &'static str {
        match self {
            Happening::Born => "born",
            Happening::Merged { .. } => "merged",
            Happening::Split { .. } => "split",
            Happening::Died => "died",
            Happening::Drift => "drift",
            Happening::Full => "full",
        }
    }

    /// The other component in a merge or a split.
    pub fn other(self) -> Option<ComponentId> {
        match self {
            Happening::Merged { into: id } | Happening::Split { new: id } => Some(id),
            Happening::Born | Happening::Died | Happening::Drift | Happening::Full => None,
        }
    }
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Rows seen when it happened.
    pub row: u64,
    /// The component it happened to.
    pub component: ComponentId,
    /// What happened.
    pub what: Happening,
}

/// How many events a log keeps; the oldest go first.
pub const EVENTS_KEPT: usize = 1000;

/// A want of room is told again when the rows have grown by this share, while it lasts.
const FULL_AGAIN: f64 = 0.25;

/// The last events of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventLog {
    events: VecDeque<Event>,
    n_total: u64,
    /// Rows seen at the last want of room that was told; the event itself may be gone from the log.
    full_at: Option<u64>,
}

impl EventLog {
    /// Adds an event, dropping the oldest when the log is full.
    pub fn push(&mut self, event: Event) {
        if self.events.len() == EVENTS_KEPT {
            self.events.pop_front();
        }
        self.events.push_back(event);
        self.n_total += 1;
    }

    /// Adds a want of room for one component more, unless one was told not long ago.
    pub fn push_full(&mut self, row: u64, component: ComponentId) {
        if self.full_at.is_none_or(|last| row as f64 >= (1.0 + FULL_AGAIN) * last as f64) {
            self.full_at = Some(row);
            self.push(Event { row, component, what: Happening::Full });
        }
    }

    /// What a fit of all rows says of room: that one component more was wanted, or that none was.
    pub fn judge_room(&mut self, row: u64, wanting: Option<ComponentId>) {
        match wanting {
            Some(component) => self.push_full(row, component),
            None => self.full_at = None,
        }
    }

    /// Rows seen when room was last wanted, if after so many rows it still is: it was not long ago, or the model is full.
    pub fn full_at(&self, n_seen: u64, is_full: bool) -> Option<u64> {
        self.full_at.filter(|&at| is_full || (n_seen as f64) < (1.0 + FULL_AGAIN) * at as f64)
    }

    /// The events kept, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Event> {
        self.events.iter()
    }

    /// How many events there have been, kept or not.
    pub fn n_total(&self) -> u64 {
        self.n_total
    }

    /// The events of several shards in one log, by row.
    pub fn joined<'a>(logs: impl Iterator<Item = &'a EventLog>) -> EventLog {
        let (mut events, mut n_total, mut full_at) = (Vec::new(), 0, None);
        for log in logs {
            events.extend(log.events.iter().copied());
            n_total += log.n_total;
            full_at = full_at.max(log.full_at);
        }
        events.sort_by_key(|e| (e.row, e.component));
        let excess = events.len().saturating_sub(EVENTS_KEPT);
        EventLog { events: events.split_off(excess).into(), n_total, full_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_bounded_and_counts_what_it_dropped() {
        let mut log = EventLog::default();
        for row in 0..(EVENTS_KEPT as u64 + 7) {
            let component = ComponentId { shard: 3, serial: row as u32 };
            log.push(Event { row, component, what: Happening::Born });
        }
        assert_eq!(log.iter().len(), EVENTS_KEPT);
        assert_eq!(log.n_total(), EVENTS_KEPT as u64 + 7);
        assert_eq!(log.iter().next().unwrap().row, 7);
    }

    #[test]
    fn a_want_of_room_is_told_at_intervals_that_grow_and_known_for_as_long_as_it_lasts() {
        let mut log = EventLog::default();
        let component = ComponentId { shard: 0, serial: 1 };
        assert_eq!(log.full_at(10, true), None);
        (100..=1000).for_each(|row| log.push_full(row, component));
        let rows: Vec<u64> = log.iter().map(|event| event.row).collect();
        assert_eq!(rows, [100, 125, 157, 197, 247, 309, 387, 484, 605, 757, 947]);
        assert_eq!(
            [log.full_at(1000, false), log.full_at(2000, false), log.full_at(2000, true)],
            [Some(947), None, Some(947)]
        );
        (0..EVENTS_KEPT).for_each(|_| log.push(Event { row: 2000, component, what: Happening::Born }));
        assert_eq!(log.full_at(2000, true), Some(947));
    }
}
