//! A table that prints itself as Markdown and as CSV.

/// Cells are text already: each experiment knows how many digits its numbers deserve.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Part of the CSV file's name; empty for the main table of an experiment.
    pub slug: &'static str,
    /// What the table shows.
    pub title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new<S: Into<String>>(
        slug: &'static str,
        title: impl Into<String>,
        columns: impl IntoIterator<Item = S>,
    ) -> Table {
        let columns = columns.into_iter().map(Into::into).collect();
        Table { slug, title: title.into(), columns, rows: Vec::new() }
    }

    /// Adds a row, filled up with empty cells or cut to the number of columns.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// The table in Markdown, with its title above.
    pub fn to_markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut out = format!("**{}**\n\n", self.title);
        out += &line(&self.columns);
        out += &format!("|{}\n", "---|".repeat(self.columns.len()));
        self.rows.iter().for_each(|row| out += &line(row));
        out
    }

    /// The table as CSV.
    pub fn to_csv(&self) -> String {
        let field = |cell: &String| {
            if cell.contains(['"', ',', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
        };
        let lines = std::iter::once(&self.columns).chain(&self.rows);
        lines.map(|cells| cells.iter().map(field).collect::<Vec<_>>().join(",") + "\n").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_hold_the_same_cells() {
        let mut table = Table::new("", "A title", ["name", "value"]);
        table.row(["a|b", "1, 2"]);
        table.row(["c"]);
        assert_eq!(table.to_markdown(), "**A title**\n\n| name | value |\n|---|---|\n| a\\|b | 1, 2 |\n| c |  |\n");
        assert_eq!(table.to_csv(), "name,value\na|b,\"1, 2\"\nc,\n");
    }
}
