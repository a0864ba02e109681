//! How far each component may vouch for rows: as far as the rows it was given so far looked normal themselves.
//!
//! A component whose rows the views together find unusual holds an outlier cluster, however heavy it has become; one
//! that was born a moment ago has shown nothing yet.

use crate::structure::{ComponentId, Member};
use serde::{Deserialize, Serialize};

/// The record of a component fades with this many times the rows that establish it.
const MEMORY: f64 = 10.0;
/// Components that are this heavy when first met come from a fit or a split of what was there, not from a birth.
const KNOWN_ROWS: f64 = 20.0;
/// What those are believed in advance: less than those whose rows looked normal.
const ADVANCE: f64 = 0.3;

/// The record of one component.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    id: ComponentId,
    /// Rows it was responsible for, what they count after trimming, and what it is given in advance.
    rows: f64,
    trimmed: f64,
    advance: f64,
}

/// Records of all components, by id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standings {
    records: Vec<Record>,
}

impl Standings {
    /// The share of a component's rows that count as normal, in [0, 1]. `new_mode_rows` rows of its own are worth as
    /// much as what is believed of it in advance.
    pub fn trust(&self, member: &Member, new_mode_rows: f64) -> f64 {
        match self.records.binary_search_by(|r| r.id.cmp(&member.id)) {
            Ok(at) => {
                let r = &self.records[at];
                (r.trimmed + new_mode_rows * r.advance) / (r.rows + new_mode_rows).max(f64::MIN_POSITIVE)
            }
            Err(_) => advance(member),
        }
    }

    /// Takes, for each present component, the rows it was responsible for and what they count after trimming.
    /// Components that are no longer there are forgotten.
    pub fn learn(&mut self, members: &[Member], sums: &[(f64, f64)], new_mode_rows: f64) {
        let most = MEMORY * new_mode_rows.max(1.0);
        let mut records: Vec<Record> = members
            .iter()
            .zip(sums)
            .map(|(member, (rows, trimmed))| {
                let mut record = match self.records.binary_search_by(|r| r.id.cmp(&member.id)) {
                    Ok(at) => self.records[at],
                    Err(_) => Record { id: member.id, rows: 0.0, trimmed: 0.0, advance: advance(member) },
                };
                record.rows += rows;
                record.trimmed += trimmed;
                if record.rows > most {
                    let keep = most / record.rows;
                    record.rows *= keep;
                    record.trimmed *= keep;
                }
                record
            })
            .collect();
        records.sort_by_key(|r| r.id);
        self.records = records;
    }

    /// Those of several shards.
    pub fn joined(parts: &[&Standings]) -> Standings {
        let mut records: Vec<Record> = parts.iter().flat_map(|p| p.records.iter().copied()).collect();
        records.sort_by_key(|r| r.id);
        records.dedup_by_key(|r| r.id);
        Standings { records }
    }

    /// True when it could have come from rows: what a file must satisfy.
    pub fn is_sound(&self) -> bool {
        self.records.is_sorted_by(|a, b| a.id < b.id)
            && self.records.iter().all(|r| {
                r.rows.is_finite() && r.trimmed >= 0.0 && r.trimmed <= r.rows && (0.0..=1.0).contains(&r.advance)
            })
    }
}

fn advance(member: &Member) -> f64 {
    if member.rows >= KNOWN_ROWS { ADVANCE } else { 0.0 }
}
