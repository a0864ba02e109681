//! Changes of a stream in words: what the drift alarms of a watched model say to people and programs.

use bayestream::outlier::{DriftAlarm, DriftKind};

/// What changed, in words.
pub fn told(what: DriftKind, columns: &[String]) -> String {
    match what {
        DriftKind::Mean { .. } => format!("the level of {} has moved", names(what, columns)[0]),
        DriftKind::Spread { .. } => format!("the spread of {} has changed", names(what, columns)[0]),
        DriftKind::Dependence => "columns go together in another way".into(),
        DriftKind::Occupancy => "rows come from other places".into(),
    }
}

/// The same in a few letters, for the edge of a picture.
pub fn label(what: DriftKind, columns: &[String]) -> String {
    match what {
        DriftKind::Mean { .. } => format!("level of {}", names(what, columns)[0]),
        DriftKind::Spread { .. } => format!("spread of {}", names(what, columns)[0]),
        DriftKind::Dependence => "dependence".into(),
        DriftKind::Occupancy => "other places".into(),
    }
}

/// The word that programs read.
pub fn word(what: DriftKind) -> &'static str {
    match what {
        DriftKind::Mean { .. } => "mean",
        DriftKind::Spread { .. } => "spread",
        DriftKind::Dependence => "dependence",
        DriftKind::Occupancy => "occupancy",
    }
}

/// The columns a change is about; none when it is about all of them.
pub fn names(what: DriftKind, columns: &[String]) -> Vec<&str> {
    what.column().map(|column| columns.get(column).map_or("?", String::as_str)).into_iter().collect()
}

/// The first row of the stream after the change, as far as can be told.
pub fn first_row(alarm: &DriftAlarm) -> u64 {
    alarm.since + 1
}
