//! Names with numbers in one cell of a table.

use crate::terminal::short;
use bayestream_io::Cell;

/// Names with numbers, as objects and as texts: some formats have the one, some the other.
pub struct NamedNumbers<'a> {
    records: Vec<Vec<(&'a str, Cell<'a>)>>,
    texts: Vec<String>,
}

impl<'a> NamedNumbers<'a> {
    /// `name` and `number` are the keys of the objects.
    pub fn of(name: &'a str, number: &'a str, entries: impl Iterator<Item = (&'a str, f64)>) -> NamedNumbers<'a> {
        let mut list = NamedNumbers { records: Vec::new(), texts: Vec::new() };
        for (what, much) in entries {
            list.records.push(vec![(name, Cell::Text(what)), (number, Cell::Float(much))]);
            list.texts.push(format!("{what} {}", short(much)));
        }
        list
    }

    /// The cell.
    pub fn cell(&'a self, as_records: bool) -> Cell<'a> {
        if as_records { Cell::Records(&self.records) } else { Cell::TextList(&self.texts) }
    }
}
