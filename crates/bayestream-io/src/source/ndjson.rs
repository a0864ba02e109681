//! Rows out of NDJSON: one flat object a line. The first object's keys are the columns; later objects may lack some
//! (missing values) but bring no new ones, unless the caller chose its columns.

use super::input::{Gauge, Input};
use super::lines::Lines;
use super::number::parse_float;
use super::object::{Pairs, Value, is_whole, unescape};
use super::plan::{Fault, Plan, Role, is_weight};
use crate::{CellProblem, InputError, OnError, Place, Progress, ReadOptions, RowBatch, RowSource};

pub(crate) struct NdjsonSource {
    lines: Lines,
    plan: Plan,
    keys: Keys,
    gauge: Gauge,
    /// The current line, the first one, has named the columns but has not been handed out.
    holds_row: bool,
    row: u64,
    n_skipped: u64,
    on_unfinished: OnError,
    n_unfinished: u64,
    ended: bool,
}

/// The first object's keys, and which of them the current row has shown.
struct Keys {
    /// As texts, in the order of the plan's columns.
    names: Vec<String>,
    /// The last row in which each was seen.
    last_seen: Vec<u64>,
    scratch: String,
}

impl NdjsonSource {
    pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<NdjsonSource, InputError> {
        let Input { name, reader, gauge, .. } = input;
        let mut lines = Lines::new(reader);
        let fail = |source| InputError::from_io(&name, source);
        let mut is_first = true;
        let mut n_skipped = 0;
        let names = loop {
            if !lines.advance().map_err(fail)? {
                return Err(match n_skipped {
                    0 => InputError::Empty { file: name },
                    _ => InputError::NoRows { file: name, n_skipped },
                });
            }
            if std::mem::take(&mut is_first) {
                lines.skip_byte_order_mark();
            }
            if lines.current().trim_ascii().is_empty() {
                continue;
            }
            match first_keys(lines.current()) {
                Ok(names) => break names,
                Err(_) if options.on_error == OnError::Skip => n_skipped += 1,
                Err(detail) => {
                    let place = Place { file: name, row: 1, line: Some(lines.number()) };
                    return Err(InputError::MalformedRow { place, detail: detail.to_string() });
                }
            }
        };
        let plan = Plan::new(&name, names.clone(), options)?;
        let keys = Keys { last_seen: vec![0; names.len()], names, scratch: String::new() };
        Ok(NdjsonSource {
            lines,
            plan,
            keys,
            gauge,
            holds_row: true,
            row: n_skipped,
            n_skipped,
            on_unfinished: options.on_unfinished,
            n_unfinished: 0,
            ended: false,
        })
    }

    /// Moves to the next line that is not blank; false at the end.
    fn next_line(&mut self) -> Result<bool, InputError> {
        if std::mem::take(&mut self.holds_row) {
            return Ok(true);
        }
        let fail = |source| InputError::from_io(&self.plan.file, source);
        while self.lines.advance().map_err(fail)? {
            if !self.lines.current().trim_ascii_start().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn fill(&mut self, into: &mut RowBatch) -> Result<bool, InputError> {
        while into.n_rows < self.plan.batch_rows {
            if !self.next_line()? {
                self.ended = true;
                break;
            }
            self.row += 1;
            let start = into.begin_row(self.plan.values.len());
            match self.keys.take_object(&self.plan, self.row, self.lines.current(), into, start) {
                Ok(()) => into.commit_row(self.row),
                Err(fault) => {
                    into.abort_row(start);
                    let leaves_unfinished = self.on_unfinished == OnError::Skip && self.lines.is_last_without_feed();
                    if leaves_unfinished && !is_whole(self.lines.current()) {
                        self.n_unfinished += 1;
                        continue;
                    }
                    if self.plan.on_error == OnError::Fail {
                        return Err(fault.into_error(&self.plan, self.row, self.lines.number()));
                    }
                    self.n_skipped += 1;
                }
            }
        }
        Ok(into.n_rows > 0)
    }
}

impl RowSource for NdjsonSource {
    fn name(&self) -> &str {
        &self.plan.file
    }

    fn columns(&self) -> &[String] {
        &self.plan.values
    }

    fn next_batch(&mut self, into: &mut RowBatch) -> Result<bool, InputError> {
        into.clear();
        if self.ended {
            return Ok(false);
        }
        let filled = self.fill(into);
        self.ended |= filled.is_err();
        filled
    }

    fn progress(&self) -> Progress {
        self.gauge.progress()
    }

    fn n_skipped(&self) -> u64 {
        self.n_skipped
    }

    fn n_unfinished(&self) -> u64 {
        self.n_unfinished
    }
}

fn first_keys(line: &[u8]) -> Result<Vec<String>, &'static str> {
    let mut names = Vec::new();
    let mut scratch = String::new();
    let mut pairs = Pairs::of(line)?;
    while let Some((key, _)) = pairs.next_pair()? {
        names.push(unescape(key, &mut scratch).ok_or("a key is not valid text")?.to_string());
    }
    Ok(names)
}

impl Keys {
    fn take_object<'a>(
        &mut self,
        plan: &Plan,
        row: u64,
        line: &'a [u8],
        batch: &mut RowBatch,
        start: usize,
    ) -> Result<(), Fault<'a>> {
        let malformed = |detail| Fault::Malformed { detail };
        let mut pairs = Pairs::of(line).map_err(malformed)?;
        let mut expected = 0;
        while let Some((key, value)) = pairs.next_pair().map_err(malformed)? {
            let Some(column_ix) = self.find(key, expected) else {
                if plan.columns_chosen {
                    continue;
                }
                return Err(Fault::UnknownKey { key });
            };
            if self.last_seen[column_ix] == row {
                return Err(malformed("the object has the same key twice"));
            }
            self.last_seen[column_ix] = row;
            self.take_value(plan, batch, start, column_ix, value)?;
            expected = column_ix + 1;
        }
        for (column_ix, role) in plan.roles.iter().enumerate() {
            if self.last_seen[column_ix] != row && !matches!(role, Role::Value(_)) {
                self.take_value(plan, batch, start, column_ix, Value::Null)?;
            }
        }
        Ok(())
    }

    /// The column of a key; most objects repeat the first one's order.
    fn find(&mut self, key: &[u8], expected: usize) -> Option<usize> {
        if self.names.get(expected).is_some_and(|name| name.as_bytes() == key) {
            return Some(expected);
        }
        let key = unescape(key, &mut self.scratch)?;
        self.names.iter().position(|name| name == key)
    }

    fn take_value<'a>(
        &mut self,
        plan: &Plan,
        batch: &mut RowBatch,
        start: usize,
        column_ix: usize,
        value: Value<'a>,
    ) -> Result<(), Fault<'a>> {
        match plan.roles[column_ix] {
            Role::Ignored => {}
            Role::Value(position) => batch.rows[start + position] = as_number(column_ix, value)?,
            Role::Weight => {
                let weight = as_number(column_ix, value)?;
                if !is_weight(weight) {
                    let value = written(value);
                    return Err(Fault::Cell { column_ix, value, problem: CellProblem::BadWeight });
                }
                batch.weights.push(weight);
            }
            Role::Label => batch.push_label(self.as_text(column_ix, value)?),
            Role::Id => batch.push_id(self.as_text(column_ix, value)?),
        }
        Ok(())
    }

    fn as_text<'s, 'a: 's>(&'s mut self, column_ix: usize, value: Value<'a>) -> Result<&'s str, Fault<'a>> {
        let fault = |problem| Fault::Cell { column_ix, value: written(value), problem };
        match value {
            Value::Null => Ok(""),
            Value::Nested(_) => Err(fault(CellProblem::Nested)),
            Value::Text(text) => unescape(text, &mut self.scratch).ok_or_else(|| fault(CellProblem::NotUtf8)),
            Value::Boolean(token) | Value::Number(token) => {
                std::str::from_utf8(token).map_err(|_| fault(CellProblem::NotUtf8))
            }
        }
    }
}

fn as_number(column_ix: usize, value: Value<'_>) -> Result<f64, Fault<'_>> {
    let problem = match value {
        Value::Null => return Ok(f64::NAN),
        Value::Number(token) => match parse_float(token) {
            Some(number) if number.is_finite() => return Ok(number),
            Some(number) if number.is_infinite() => CellProblem::Infinite,
            _ => CellProblem::NotANumber,
        },
        Value::Boolean(_) => CellProblem::Boolean,
        Value::Text(_) => CellProblem::NotANumber,
        Value::Nested(_) => CellProblem::Nested,
    };
    Err(Fault::Cell { column_ix, value: written(value), problem })
}

fn written(value: Value<'_>) -> &[u8] {
    match value {
        Value::Null => b"null",
        Value::Boolean(token) | Value::Number(token) | Value::Text(token) | Value::Nested(token) => token,
    }
}
