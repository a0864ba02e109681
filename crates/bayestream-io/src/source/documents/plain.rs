//! Documents out of plain text: one a line. An empty line is an empty document.

use bayestream::text::RawDocument;

use super::line::{advance, check_utf8};
use super::plan::DocumentPlan;
use super::{Document, DocumentReader, Failure};
use crate::source::input::{Gauge, Input};
use crate::source::lines::Lines;
use crate::{DocumentOptions, InputError, Progress};

pub(super) struct PlainDocuments {
    lines: Lines,
    plan: DocumentPlan,
    gauge: Gauge,
}

impl PlainDocuments {
    pub(super) fn open(input: Input, options: &DocumentOptions) -> Result<PlainDocuments, InputError> {
        let Input { name, reader, gauge, .. } = input;
        let columns = [
            (options.text_columns.first(), "--text-column"),
            (options.label_column.as_ref(), "--label-column"),
            (options.id_column.as_ref(), "--id-column"),
        ];
        for (column, option) in columns {
            if let Some(column) = column {
                let hint = "plain text has no columns; check the file, or name its format with --format".to_string();
                return Err(InputError::UnknownColumn { file: name, option, column: column.clone(), hint });
            }
        }
        let lines = Lines::with_longest(reader, options.longest_line);
        Ok(PlainDocuments { lines, plan: DocumentPlan::without_columns(&name, options), gauge })
    }
}

impl DocumentReader for PlainDocuments {
    fn plan(&self) -> &DocumentPlan {
        &self.plan
    }

    fn progress(&self) -> Progress {
        self.gauge.progress()
    }

    fn read(&mut self, row: u64) -> Result<Option<Document>, Failure> {
        if !advance(&mut self.lines, &self.plan)? {
            return Ok(None);
        }
        if row == 1 {
            self.lines.skip_byte_order_mark();
        }
        let is_mended = !check_utf8(&self.lines, &self.plan, row, |_, _| None)?;
        let line = self.lines.current();
        let raw = RawDocument::Text(String::from_utf8_lossy(line).into_owned());
        Ok(Some(Document { raw, labels: Vec::new(), id: String::new(), n_bytes: line.len(), is_mended }))
    }
}
