//! Arrow arrays → numbers and texts, for every type that can stand for them.

use std::ops::Range;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::DataType;

/// Whether cells of this type are numbers (or always missing).
pub(crate) fn is_number_type(data_type: &DataType) -> bool {
    data_type.is_integer() || data_type.is_floating() || *data_type == DataType::Null
}

/// Whether cells of this type can be labels and ids.
pub(crate) fn is_text_type(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Boolean => true,
        DataType::Dictionary(_, value_type) => is_text_type(value_type),
        other => is_number_type(other),
    }
}

/// Copies a stretch of a column of numbers into `cells`; missing values are left as they are there.
pub(crate) fn copy_numbers<'c>(array: &dyn Array, stretch: Range<usize>, cells: impl Iterator<Item = &'c mut f64>) {
    match array.data_type() {
        DataType::Float64 => copy::<Float64Type>(array, stretch, cells, |value| value),
        DataType::Float32 => copy::<Float32Type>(array, stretch, cells, f64::from),
        DataType::Float16 => copy::<Float16Type>(array, stretch, cells, |value| value.to_f64()),
        DataType::Int8 => copy::<Int8Type>(array, stretch, cells, f64::from),
        DataType::Int16 => copy::<Int16Type>(array, stretch, cells, f64::from),
        DataType::Int32 => copy::<Int32Type>(array, stretch, cells, f64::from),
        DataType::Int64 => copy::<Int64Type>(array, stretch, cells, |value| value as f64),
        DataType::UInt8 => copy::<UInt8Type>(array, stretch, cells, f64::from),
        DataType::UInt16 => copy::<UInt16Type>(array, stretch, cells, f64::from),
        DataType::UInt32 => copy::<UInt32Type>(array, stretch, cells, f64::from),
        DataType::UInt64 => copy::<UInt64Type>(array, stretch, cells, |value| value as f64),
        _ => {}
    }
}

fn copy<'c, T: ArrowPrimitiveType>(
    array: &dyn Array,
    stretch: Range<usize>,
    cells: impl Iterator<Item = &'c mut f64>,
    to_f64: impl Fn(T::Native) -> f64,
) {
    let Some(array) = array.as_primitive_opt::<T>() else {
        return;
    };
    let values = &array.values()[stretch.clone()];
    match array.nulls() {
        None => cells.zip(values).for_each(|(cell, &value)| *cell = to_f64(value)),
        Some(nulls) => {
            for ((cell, &value), row_ix) in cells.zip(values).zip(stretch) {
                if nulls.is_valid(row_ix) {
                    *cell = to_f64(value);
                }
            }
        }
    }
}

/// Hands the text of one cell to `take`: an empty one when it is missing.
pub(crate) fn take_text(array: &dyn Array, row_ix: usize, take: &mut dyn FnMut(&str)) {
    if array.is_null(row_ix) {
        return take("");
    }
    match array.data_type() {
        DataType::Utf8 => take(array.as_string::<i32>().value(row_ix)),
        DataType::LargeUtf8 => take(array.as_string::<i64>().value(row_ix)),
        DataType::Utf8View => take(array.as_string_view().value(row_ix)),
        DataType::Boolean => take(if array.as_boolean().value(row_ix) { "true" } else { "false" }),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            let key = one_number(dictionary.keys(), row_ix) as usize;
            take_text(dictionary.values(), key, take);
        }
        DataType::Int64 => take(&array.as_primitive::<Int64Type>().value(row_ix).to_string()),
        DataType::UInt64 => take(&array.as_primitive::<UInt64Type>().value(row_ix).to_string()),
        // Every other number fits a float exactly.
        _ => take(&one_number(array, row_ix).to_string()),
    }
}

fn one_number(array: &dyn Array, row_ix: usize) -> f64 {
    let mut number = f64::NAN;
    copy_numbers(array, row_ix..row_ix + 1, std::iter::once(&mut number));
    number
}
