//! Documents out of NDJSON: one object a line. The first object tells which keys there are; what the others have beside
//! the chosen ones does not matter, and a missing one is an empty document.

use super::line::{advance, check_utf8};
use super::parts::{BadCell, List, Parts, read_list, take_escaped};
use super::plan::{DocumentPlan, Role};
use super::{Document, DocumentReader, Failure};
use crate::source::input::{Gauge, Input};
use crate::source::lines::Lines;
use crate::source::object::{Items, Pairs, Value, is_whole, unescape};
use crate::source::plan::shown;
use crate::{DocumentOptions, InputError, OnError, Progress};

pub(super) struct NdjsonDocuments {
    lines: Lines,
    plan: DocumentPlan,
    gauge: Gauge,
    /// Lines, up to the first object, that could not be read; they are handed out as faulty rows first.
    n_faulty: u64,
    /// The current line, the first object, has not been handed out.
    holds_row: bool,
    scratch: String,
}

/// What is wrong with a row.
enum Fault {
    Malformed(&'static str),
    Cell(BadCell),
}

impl NdjsonDocuments {
    pub(super) fn open(input: Input, options: &DocumentOptions) -> Result<NdjsonDocuments, InputError> {
        let Input { name, reader, gauge, .. } = input;
        let mut lines = Lines::with_longest(reader, options.longest_line);
        let nothing = DocumentPlan::without_columns(&name, options);
        let mut is_first = true;
        let mut n_faulty = 0;
        let names = loop {
            let keys = match advance(&mut lines, &nothing) {
                Ok(false) => return Err(InputError::NoDocuments { file: name, n_skipped: n_faulty }),
                Ok(true) => {
                    if std::mem::take(&mut is_first) {
                        lines.skip_byte_order_mark();
                    }
                    if lines.current().trim_ascii().is_empty() {
                        continue;
                    }
                    check_utf8(&lines, &nothing, 1, column_at).and_then(|_| {
                        first_keys(lines.current()).map_err(|detail| {
                            let place = nothing.place(1, Some(lines.number()));
                            Failure::Row(InputError::MalformedRow { place, detail: detail.to_string() })
                        })
                    })
                }
                Err(failure) => Err(failure),
            };
            match keys {
                Ok(names) => break names,
                Err(Failure::Row(_)) if options.on_error == OnError::Skip => n_faulty += 1,
                Err(Failure::Unfinished) => return Err(InputError::NoDocuments { file: name, n_skipped: n_faulty }),
                Err(Failure::Row(error) | Failure::Input(error)) => return Err(error),
            }
        };
        let plan = DocumentPlan::new(&name, names, options)?;
        Ok(NdjsonDocuments { lines, plan, gauge, n_faulty, holds_row: true, scratch: String::new() })
    }

    /// Moves to the next line that is not blank; false at the end.
    fn next_line(&mut self) -> Result<bool, Failure> {
        if std::mem::take(&mut self.holds_row) {
            return Ok(true);
        }
        while advance(&mut self.lines, &self.plan)? {
            if !self.lines.current().trim_ascii_start().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn take_object(&mut self, is_mended: bool) -> Result<Document, Fault> {
        let plan = &self.plan;
        let line = String::from_utf8_lossy(self.lines.current());
        let mut parts = Parts::new(plan);
        parts.is_mended = is_mended;
        let mut pairs = Pairs::of(line.as_bytes()).map_err(Fault::Malformed)?;
        while let Some((key, value)) = pairs.next_pair().map_err(Fault::Malformed)? {
            let Some(key) = unescape(key, &mut self.scratch) else { continue };
            let Some(column_ix) = plan.names.iter().position(|name| name == key) else { continue };
            if plan.roles[column_ix] != Role::Ignored {
                take_value(plan, &mut parts, plan.roles[column_ix], value)
                    .map_err(|detail| Fault::Cell(BadCell { column_ix, detail }))?;
            }
        }
        parts.finish(plan, self.lines.current().len()).map_err(Fault::Cell)
    }
}

fn take_value(plan: &DocumentPlan, parts: &mut Parts, role: Role, value: Value<'_>) -> Result<(), String> {
    let list = match value {
        Value::Nested(written) => match Items::of(written) {
            Some(items) => {
                let (list, is_mended) = read_list(items, plan.lossy)?;
                parts.is_mended |= is_mended;
                Some(list)
            }
            None => return Err(format!("`{}` is neither a text nor a list", shown(written))),
        },
        _ => None,
    };
    match (role, list) {
        (Role::Content(_), Some(list)) => parts.set_list(list),
        (Role::Counts, Some(list)) => parts.set_counts(list),
        (Role::Counts, None) if value == Value::Null => Ok(()),
        (Role::Counts, None) => Err("counts must be a list of numbers, one for each term".to_string()),
        (Role::Label, Some(List::Words(words))) => {
            parts.labels = words;
            Ok(())
        }
        (Role::Label, Some(List::Numbers(numbers))) => {
            parts.labels = numbers.iter().map(u32::to_string).collect();
            Ok(())
        }
        (Role::Id, Some(_)) => Err("a list cannot be an id".to_string()),
        (Role::Ignored, _) => Ok(()),
        (role, None) => {
            if value == Value::Null {
                return Ok(());
            }
            if role == Role::Label {
                parts.labels = vec![String::new()];
            }
            let into = match role {
                Role::Content(position) => parts.text(position),
                Role::Label => &mut parts.labels[0],
                _ => &mut parts.id,
            };
            // A key that comes twice counts as it came last.
            into.clear();
            match value {
                Value::Text(written) => parts.is_mended |= take_escaped(written, into, plan.lossy)?,
                Value::Boolean(token) | Value::Number(token) => into.push_str(&String::from_utf8_lossy(token)),
                Value::Null | Value::Nested(_) => {}
            }
            Ok(())
        }
    }
}

impl DocumentReader for NdjsonDocuments {
    fn plan(&self) -> &DocumentPlan {
        &self.plan
    }

    fn progress(&self) -> Progress {
        self.gauge.progress()
    }

    fn read(&mut self, row: u64) -> Result<Option<Document>, Failure> {
        if row <= self.n_faulty {
            let detail = "not one whole JSON object on one line".to_string();
            let place = self.plan.place(row, None);
            return Err(Failure::Row(InputError::MalformedRow { place, detail }));
        }
        if !self.next_line()? {
            return Ok(None);
        }
        let is_cut = || self.lines.is_last_without_feed() && !is_whole(self.lines.current());
        if self.plan.leaves_unfinished && is_cut() {
            return Err(Failure::Unfinished);
        }
        let is_mended = !check_utf8(&self.lines, &self.plan, row, column_at)?;
        let line = Some(self.lines.number());
        let error = match self.take_object(is_mended) {
            Ok(document) => return Ok(Some(document)),
            Err(Fault::Cell(cell)) => cell.into_error(&self.plan, row, line),
            Err(Fault::Malformed(detail)) => {
                InputError::MalformedRow { place: self.plan.place(row, line), detail: detail.to_string() }
            }
        };
        Err(Failure::Row(error))
    }
}

fn first_keys(line: &[u8]) -> Result<Vec<String>, &'static str> {
    let line = String::from_utf8_lossy(line);
    let mut names = Vec::new();
    let mut scratch = String::new();
    let mut pairs = Pairs::of(line.as_bytes())?;
    while let Some((key, _)) = pairs.next_pair()? {
        names.push(unescape(key, &mut scratch).ok_or("a key is not valid text")?.to_string());
    }
    Ok(names)
}

/// The key whose value has this byte of the line.
fn column_at(line: &[u8], at: usize) -> Option<String> {
    let mut pairs = Pairs::of(line).ok()?;
    while let Ok(Some((key, _))) = pairs.next_pair() {
        if pairs.position() > at {
            return Some(String::from_utf8_lossy(key).into_owned());
        }
    }
    None
}
