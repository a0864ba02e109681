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
        }
    }

    /// The other component in a merge or a split.
    pub fn other(self) -> Option<ComponentId> {
        match self {
            Happening::Merged { into: id } | Happening::Split { new: id } => Some(id),
            Happening::Born | Happening::Died | Happening::Drift => None,
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

/// The last events of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventLog {
    events: VecDeque<Event>,
    n_total: u64,
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
        let (mut events, mut n_total) = (Vec::new(), 0);
        for log in logs {
            events.extend(log.events.iter().copied());
            n_total += log.n_total;
        }
        events.sort_by_key(|e| (e.row, e.component));
        let excess = events.len().saturating_sub(EVENTS_KEPT);
        EventLog { events: events.split_off(excess).into(), n_total }
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
}
