//! Which column of the input plays which part, decided once when the input is opened.

use std::collections::HashMap;

use super::number::parse_cell;
use crate::{CellProblem, InputError, OnError, Place, ReadOptions, RowBatch};

/// The part that one column of the input plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A number, at this position of the row handed out.
    Value(usize),
    Label,
    Id,
    Weight,
    Ignored,
}

/// The columns of an input and their roles.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) file: String,
    /// The input's columns.
    pub(crate) names: Vec<String>,
    /// The role of each.
    pub(crate) roles: Vec<Role>,
    /// The columns handed out, in order.
    pub(crate) values: Vec<String>,
    pub(crate) on_error: OnError,
    pub(crate) batch_rows: usize,
    /// The caller chose the columns, so that others are none of its business.
    pub(crate) columns_chosen: bool,
}

impl Plan {
    /// Gives each of the input's columns its role. An empty name stands for a column without one.
    pub(crate) fn new(file: &str, mut names: Vec<String>, options: &ReadOptions) -> Result<Plan, InputError> {
        let unnamed: Vec<bool> = names.iter().map(String::is_empty).collect();
        for (column_ix, name) in names.iter_mut().enumerate() {
            if name.is_empty() {
                *name = format!("column{}", column_ix + 1);
            }
        }
        refuse_duplicates(file, &names)?;

        let positions: HashMap<&str, usize> =
            names.iter().enumerate().map(|(column_ix, name)| (name.as_str(), column_ix)).collect();
        let mut claims: Vec<Option<(Role, &'static str)>> = vec![None; names.len()];
        let mut claim = |column: &str, role: Role, option: &'static str| -> Result<(), InputError> {
            let column_ix = *positions.get(column).ok_or_else(|| InputError::UnknownColumn {
                file: file.to_string(),
                option,
                column: column.to_string(),
                hint: known_columns_hint(column, &names),
            })?;
            match claims[column_ix] {
                Some((_, first)) if first != option || role != Role::Ignored => {
                    Err(InputError::ColumnClaimedTwice { column: column.to_string(), first, second: option })
                }
                _ => {
                    claims[column_ix] = Some((role, option));
                    Ok(())
                }
            }
        };
        for (position, column) in options.columns.iter().flatten().enumerate() {
            claim(column, Role::Value(position), "--columns")?;
        }
        for column in &options.drop {
            claim(column, Role::Ignored, "--drop")?;
        }
        let texts = [
            (&options.label_column, Role::Label, "--label-column"),
            (&options.id_column, Role::Id, "--id-column"),
            (&options.weight_column, Role::Weight, "--weight-column"),
        ];
        for (column, role, option) in texts {
            if let Some(column) = column {
                claim(column, role, option)?;
            }
        }

        let mut values: Vec<String> = options.columns.clone().unwrap_or_default();
        let mut roles = Vec::with_capacity(names.len());
        for (column_ix, claim) in claims.iter().enumerate() {
            roles.push(match claim {
                Some((role, _)) => *role,
                None if options.columns.is_some() => Role::Ignored,
                None if unnamed[column_ix] => {
                    return Err(InputError::UnnamedColumn { file: file.to_string(), position: column_ix + 1 });
                }
                None => {
                    values.push(names[column_ix].clone());
                    Role::Value(values.len() - 1)
                }
            });
        }
        if values.is_empty() {
            return Err(InputError::NoColumns { file: file.to_string() });
        }
        Ok(Plan {
            file: file.to_string(),
            names,
            roles,
            values,
            on_error: options.on_error,
            batch_rows: options.batch_rows.max(1),
            columns_chosen: options.columns.is_some(),
        })
    }

    /// Puts one text cell of the row that begins at `start` where its role says.
    pub(crate) fn take_text<'a>(
        &self,
        batch: &mut RowBatch,
        start: usize,
        column_ix: usize,
        cell: &'a [u8],
    ) -> Result<(), Fault<'a>> {
        let fault = |problem| Fault::Cell { column_ix, value: cell, problem };
        match self.roles[column_ix] {
            Role::Value(position) => batch.rows[start + position] = parse_cell(cell).map_err(fault)?,
            Role::Weight => batch.weights.push(parse_weight(cell).map_err(fault)?),
            Role::Label => batch.push_label(as_text(cell).map_err(fault)?),
            Role::Id => batch.push_id(as_text(cell).map_err(fault)?),
            Role::Ignored => {}
        }
        Ok(())
    }
}

fn parse_weight(cell: &[u8]) -> Result<f64, CellProblem> {
    match parse_cell(cell) {
        Ok(weight) if is_weight(weight) => Ok(weight),
        Err(CellProblem::NotANumber) => Err(CellProblem::NotANumber),
        _ => Err(CellProblem::BadWeight),
    }
}

/// Whether the number can be a weight (NaN cannot).
pub(crate) fn is_weight(weight: f64) -> bool {
    weight >= 0.0 && weight.is_finite()
}

fn as_text(cell: &[u8]) -> Result<&str, CellProblem> {
    std::str::from_utf8(cell).map_err(|_| CellProblem::NotUtf8)
}

pub(crate) fn refuse_duplicates(file: &str, names: &[String]) -> Result<(), InputError> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(InputError::DuplicateColumn { file: file.to_string(), column: pair[0].clone() }),
        None => Ok(()),
    }
}

/// The name most like `asked`, if one is like it at all.
pub(crate) fn nearest<'a>(asked: &str, names: &'a [String]) -> Option<&'a str> {
    let asked = asked.to_lowercase();
    let is_like = |distance: usize, name: &str| {
        let shorter = name.chars().count().min(asked.chars().count());
        distance < shorter && distance <= 1.max(shorter / 3)
    };
    names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&asked, &name.to_lowercase()), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| is_like(*distance, name))
        .map(|(_, name)| name.as_str())
}

pub(crate) fn known_columns_hint(asked: &str, names: &[String]) -> String {
    match nearest(asked, names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the columns are {}", listed(names)),
    }
}

/// The first names, and how many more there are.
pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut list = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        list.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    list
}

/// What is wrong with a row, before it is worth a message: skipped rows cost no memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault<'a> {
    Cell { column_ix: usize, value: &'a [u8], problem: CellProblem },
    CellCount { found: usize },
    Malformed { detail: &'static str },
    UnknownKey { key: &'a [u8] },
}

impl Fault<'_> {
    pub(crate) fn into_error(self, plan: &Plan, row: u64, line: u64) -> InputError {
        let place = Place { file: plan.file.clone(), row, line: Some(line) };
        match self {
            Fault::Cell { column_ix, value, problem } => {
                InputError::BadCell { place, column: plan.names[column_ix].clone(), value: shown(value), problem }
            }
            Fault::CellCount { found } => InputError::WrongCellCount { place, found, expected: plan.names.len() },
            Fault::Malformed { detail } => InputError::MalformedRow { place, detail: detail.to_string() },
            Fault::UnknownKey { key } => {
                let key = shown(key);
                let hint = nearest(&key, &plan.names).map(|name| format!(" (did you mean `{name}`?)"));
                InputError::UnknownKey { place, key, hint: hint.unwrap_or_default() }
            }
        }
    }
}

/// A value fit for one line of a message.
pub(crate) fn shown(value: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(value);
    let mut short: String = text.trim().chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.trim().chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
