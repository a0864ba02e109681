//! Columns of text in Parquet, read as bytes: a file can hold any bytes under the name of text, and only whoever takes
//! them row by row can say which row is at fault, mend it, or leave it out.

use std::sync::Arc;

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataBuilder};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

/// The same file with these columns, which are of text, declared as columns of bytes.
pub(crate) fn as_bytes(file: &ParquetMetaData, columns: &[usize]) -> Result<ArrowReaderMetadata, ParquetError> {
    let about = file.file_metadata();
    let schema = about.schema_descr().root_schema();
    let declared = |(ix, field): (usize, &TypePtr)| match columns.contains(&ix) && field.is_primitive() {
        true => undeclared(field),
        false => Ok(field.clone()),
    };
    let fields = schema.get_fields().iter().enumerate().map(declared).collect::<Result<Vec<_>, _>>()?;
    let root = Type::group_type_builder(schema.name()).with_fields(fields).build()?;
    let about = FileMetaData::new(
        about.version(),
        about.num_rows(),
        about.created_by().map(str::to_string),
        about.key_value_metadata().cloned(),
        Arc::new(SchemaDescriptor::new(Arc::new(root))),
        about.column_orders().cloned(),
    );
    let file = ParquetMetaDataBuilder::new(about).set_row_groups(file.row_groups().to_vec()).build();
    // What the writer says of its own types would make text of them again.
    ArrowReaderMetadata::try_new(Arc::new(file), ArrowReaderOptions::new().with_skip_arrow_metadata(true))
}

/// A column of the same bytes that does not say what they are.
fn undeclared(field: &TypePtr) -> Result<TypePtr, ParquetError> {
    let about = field.get_basic_info();
    let id = about.has_id().then(|| about.id());
    let bytes = Type::primitive_type_builder(field.name(), field.get_physical_type());
    bytes.with_repetition(about.repetition()).with_id(id).build().map(Arc::new)
}
