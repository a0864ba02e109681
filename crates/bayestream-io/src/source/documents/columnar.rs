//! Documents out of Parquet and Arrow: columns of text, of lists of words, or of lists of term numbers.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};

use super::parts::{BadCell, List, Parts, as_count};
use super::plan::{DocumentPlan, Role};
use super::{Document, DocumentReader, Failure};
use crate::source::arrays::{copy_numbers, is_number_type, is_text_type, take_text};
use crate::source::decoder::{Decoder, Planner};
use crate::{DocumentOptions, InputError, Progress};

impl Planner for DocumentOptions {
    type Plan = DocumentPlan;

    // Documents are larger than rows of numbers.
    const DECODED_ROWS: usize = 512;

    fn plan(&self, file: &str, schema: &Schema) -> Result<(DocumentPlan, Vec<usize>), InputError> {
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let plan = DocumentPlan::new(file, names, self)?;
        let mut projected = Vec::new();
        for (column_ix, (field, role)) in schema.fields().iter().zip(&plan.roles).enumerate() {
            let (file, column) = (file.to_string(), field.name().clone());
            let data_type = field.data_type();
            let item_type = item_type(data_type);
            match role {
                Role::Ignored => continue,
                Role::Content(_) if is_document_type(data_type) => {}
                Role::Content(_) => {
                    return Err(InputError::NotText { file, column, data_type: data_type.to_string() });
                }
                Role::Counts if item_type.is_some_and(is_number_type) => {}
                Role::Label if is_text_type(item_type.unwrap_or(data_type)) => {}
                Role::Id if is_text_type(data_type) => {}
                Role::Counts => {
                    return Err(InputError::NotText { file, column, data_type: data_type.to_string() });
                }
                Role::Label | Role::Id => {
                    let data_type = data_type.to_string();
                    return Err(InputError::UnsupportedType { file, column, data_type, as_text: true });
                }
            }
            projected.push(column_ix);
        }
        Ok((plan, projected))
    }

    fn text_as_bytes(&self, plan: &DocumentPlan, schema: &Schema) -> Vec<usize> {
        let is_text = |data_type: &DataType| is_text_type(data_type) && item_type(data_type).is_none();
        let columns = schema.fields().iter().zip(&plan.roles).enumerate();
        let content = columns.filter(|(_, (field, role))| {
            matches!(role, Role::Content(_)) && is_text(field.data_type()) && *field.data_type() != DataType::Boolean
        });
        content.map(|(column_ix, _)| column_ix).collect()
    }
}

/// The type of a list's items; none for other types.
fn item_type(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => Some(item.data_type()),
        _ => None,
    }
}

fn is_document_type(data_type: &DataType) -> bool {
    match item_type(data_type) {
        Some(item) => is_text_type(item),
        None => is_binary(data_type) || is_text_type(data_type) && !is_number_type(data_type),
    }
}

fn is_binary(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

pub(super) struct ColumnarDocuments {
    decoder: Decoder<DocumentPlan>,
    block: Option<RecordBatch>,
    /// How many rows of the block have been handed out.
    taken: usize,
}

/// What is wrong with a row.
enum Fault {
    NotUtf8 { column_ix: usize, offset: usize, byte: u8 },
    Cell(BadCell),
}

impl ColumnarDocuments {
    pub(super) fn new(decoder: Decoder<DocumentPlan>) -> ColumnarDocuments {
        ColumnarDocuments { decoder, block: None, taken: 0 }
    }

    fn take_row(&self, block: &RecordBatch, row_ix: usize) -> Result<Document, Fault> {
        let plan = &self.decoder.plan;
        let mut parts = Parts::new(plan);
        let mut n_bytes = 0;
        for (array, &column_ix) in block.columns().iter().zip(&self.decoder.projected) {
            let bad = |detail| Fault::Cell(BadCell { column_ix, detail });
            if array.is_null(row_ix) {
                continue;
            }
            let list = list_at(array, row_ix);
            match (plan.roles[column_ix], list) {
                (Role::Content(_), Some(items)) => {
                    n_bytes += items.get_array_memory_size();
                    parts.set_list(read_items(&items).map_err(bad)?).map_err(bad)?;
                }
                (Role::Content(position), None) => {
                    take_content(array, row_ix, plan.lossy, &mut parts, position)
                        .map_err(|(offset, byte)| Fault::NotUtf8 { column_ix, offset, byte })?;
                    n_bytes += parts.text(position).len();
                }
                (Role::Counts, Some(items)) => parts.set_counts(read_items(&items).map_err(bad)?).map_err(bad)?,
                (Role::Label, Some(items)) => parts.labels = texts_of(&items),
                (Role::Label, None) => take_text(array, row_ix, &mut |text| parts.labels.push(text.to_string())),
                (Role::Id, _) => take_text(array, row_ix, &mut |text| parts.id.push_str(text)),
                (Role::Counts, None) | (Role::Ignored, _) => {}
            }
        }
        parts.finish(plan, n_bytes).map_err(Fault::Cell)
    }
}

/// The items of a cell that is a list.
fn list_at(array: &ArrayRef, row_ix: usize) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::List(_) => Some(array.as_list::<i32>().value(row_ix)),
        DataType::LargeList(_) => Some(array.as_list::<i64>().value(row_ix)),
        _ => None,
    }
}

/// Takes a cell of text, or of bytes; the error is the place of the first byte that is not UTF-8.
fn take_content(
    array: &ArrayRef,
    row_ix: usize,
    lossy: bool,
    parts: &mut Parts,
    position: usize,
) -> Result<(), (usize, u8)> {
    let bytes = match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().value(row_ix),
        DataType::LargeBinary => array.as_binary::<i64>().value(row_ix),
        DataType::BinaryView => array.as_binary_view().value(row_ix),
        _ => {
            take_text(array, row_ix, &mut |text| parts.text(position).push_str(text));
            return Ok(());
        }
    };
    if let Err(error) = std::str::from_utf8(bytes) {
        if !lossy {
            return Err((error.valid_up_to(), bytes[error.valid_up_to()]));
        }
        parts.is_mended = true;
    }
    parts.text(position).push_str(&String::from_utf8_lossy(bytes));
    Ok(())
}

/// The items of a list: numbers by their type, and else words. Nulls are no items.
fn read_items(items: &ArrayRef) -> Result<List, String> {
    if !is_number_type(items.data_type()) {
        return Ok(List::Words(texts_of(items)));
    }
    let mut numbers = vec![f64::NAN; items.len()];
    copy_numbers(items, 0..items.len(), numbers.iter_mut());
    let present = (0..items.len()).filter(|ix| items.is_valid(*ix)).map(|ix| numbers[ix]);
    let as_number = |number: f64| {
        as_count(number).ok_or_else(|| {
            format!("`{number}` is not a term or a count, which are whole numbers from 0 to {}", u32::MAX)
        })
    };
    Ok(List::Numbers(present.map(as_number).collect::<Result<_, _>>()?))
}

fn texts_of(items: &ArrayRef) -> Vec<String> {
    let mut texts = Vec::new();
    for ix in (0..items.len()).filter(|ix| items.is_valid(*ix)) {
        take_text(items, ix, &mut |text| texts.push(text.to_string()));
    }
    texts
}

impl DocumentReader for ColumnarDocuments {
    fn plan(&self) -> &DocumentPlan {
        &self.decoder.plan
    }

    fn progress(&self) -> Progress {
        self.decoder.progress()
    }

    fn read(&mut self, row: u64) -> Result<Option<Document>, Failure> {
        let block = loop {
            match self.block.take() {
                Some(block) if self.taken < block.num_rows() => break block,
                _ => {
                    self.taken = 0;
                    self.block = self.decoder.next_block()?;
                    if self.block.is_none() {
                        return Ok(None);
                    }
                }
            }
        };
        let taken = self.take_row(&block, self.taken);
        self.taken += 1;
        self.block = Some(block);
        let plan = &self.decoder.plan;
        let error = match taken {
            Ok(document) => return Ok(Some(document)),
            Err(Fault::Cell(cell)) => cell.into_error(plan, row, None),
            Err(Fault::NotUtf8 { column_ix, offset, byte }) => InputError::NotUtf8 {
                place: plan.place(row, None),
                column: Some(plan.names[column_ix].clone()),
                offset: offset as u64,
                byte,
            },
        };
        Err(Failure::Row(error))
    }
}
