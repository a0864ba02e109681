//! Rows gathered into Arrow columns, written as Parquet or Arrow IPC.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::target::Target;
use super::{Cell, CellKind, OutColumn, text};
use crate::OutputError;

/// Rows gathered before they are encoded.
const BLOCK_ROWS: usize = 8192;
/// Rows of a Parquet row group, which is held in memory until it is full.
const ROW_GROUP_ROWS: usize = 128 * 1024;

pub(super) struct ColumnarTable {
    name: String,
    schema: SchemaRef,
    builders: Vec<Builder>,
    n_rows: usize,
    writer: Writer,
}

enum Writer {
    Parquet(ArrowWriter<Target>),
    ArrowFile(FileWriter<Target>),
    ArrowStream(StreamWriter<Target>),
}

enum Builder {
    Float(Float64Builder),
    Int(Int64Builder),
    Text(StringBuilder),
    Bool(BooleanBuilder),
    TextList(ListBuilder<StringBuilder>),
    FloatList(ListBuilder<Float64Builder>),
}

impl ColumnarTable {
    pub(super) fn parquet(target: Target, columns: &[OutColumn]) -> Result<ColumnarTable, OutputError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .build();
        ColumnarTable::start(target, columns, |target, schema| {
            ArrowWriter::try_new(target, schema, Some(properties)).map(Writer::Parquet).map_err(Failure::from)
        })
    }

    pub(super) fn arrow_file(target: Target, columns: &[OutColumn]) -> Result<ColumnarTable, OutputError> {
        ColumnarTable::start(target, columns, |target, schema| {
            FileWriter::try_new(target, &schema).map(Writer::ArrowFile).map_err(Failure::from)
        })
    }

    pub(super) fn arrow_stream(target: Target, columns: &[OutColumn]) -> Result<ColumnarTable, OutputError> {
        ColumnarTable::start(target, columns, |target, schema| {
            StreamWriter::try_new(target, &schema).map(Writer::ArrowStream).map_err(Failure::from)
        })
    }

    fn start(
        target: Target,
        columns: &[OutColumn],
        open: impl FnOnce(Target, SchemaRef) -> Result<Writer, Failure>,
    ) -> Result<ColumnarTable, OutputError> {
        let fields: Vec<Field> =
            columns.iter().map(|column| Field::new(&column.name, data_type(column.kind), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let name = target.name.clone();
        let writer = open(target, Arc::clone(&schema)).map_err(|failure| failure.at(&name))?;
        let builders = columns.iter().map(|column| Builder::new(column.kind)).collect();
        Ok(ColumnarTable { name, schema, builders, n_rows: 0, writer })
    }

    pub(super) fn write_row(&mut self, cells: &[Cell<'_>]) -> Result<(), OutputError> {
        for (builder, cell) in self.builders.iter_mut().zip(cells) {
            builder.push(cell);
        }
        self.n_rows += 1;
        if self.n_rows == BLOCK_ROWS { self.write_block() } else { Ok(()) }
    }

    fn write_block(&mut self) -> Result<(), OutputError> {
        if self.n_rows == 0 {
            return Ok(());
        }
        self.n_rows = 0;
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        let written = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(Failure::from).and_then(|block| {
            match &mut self.writer {
                Writer::Parquet(writer) => writer.write(&block).map_err(Failure::from),
                Writer::ArrowFile(writer) => writer.write(&block).map_err(Failure::from),
                Writer::ArrowStream(writer) => writer.write(&block).map_err(Failure::from),
            }
        });
        written.map_err(|failure| failure.at(&self.name))
    }

    pub(super) fn flush(&mut self) -> Result<(), OutputError> {
        let flushed = match &mut self.writer {
            Writer::Parquet(_) => return Ok(()),
            Writer::ArrowFile(_) | Writer::ArrowStream(_) => self.write_block(),
        };
        flushed?;
        let flushed = match &mut self.writer {
            Writer::Parquet(_) => Ok(()),
            Writer::ArrowFile(writer) => writer.flush(),
            Writer::ArrowStream(writer) => writer.flush(),
        };
        flushed.map_err(|error| Failure::from(error).at(&self.name))
    }

    pub(super) fn finish(mut self) -> Result<(), OutputError> {
        self.write_block()?;
        let target = match self.writer {
            Writer::Parquet(writer) => writer.into_inner().map_err(Failure::from),
            Writer::ArrowFile(mut writer) => writer.finish().and_then(|()| writer.into_inner()).map_err(Failure::from),
            Writer::ArrowStream(mut writer) => {
                writer.finish().and_then(|()| writer.into_inner()).map_err(Failure::from)
            }
        };
        target.map_err(|failure| failure.at(&self.name))?.commit()
    }
}

impl Builder {
    fn new(kind: CellKind) -> Builder {
        match kind {
            CellKind::Float => Builder::Float(Float64Builder::new()),
            CellKind::Int => Builder::Int(Int64Builder::new()),
            CellKind::Text | CellKind::Records => Builder::Text(StringBuilder::new()),
            CellKind::Bool => Builder::Bool(BooleanBuilder::new()),
            CellKind::TextList => Builder::TextList(ListBuilder::new(StringBuilder::new())),
            CellKind::FloatList => Builder::FloatList(ListBuilder::new(Float64Builder::new())),
        }
    }

    /// Adds a cell that fits the column's kind.
    fn push(&mut self, cell: &Cell<'_>) {
        match (self, *cell) {
            (Builder::Float(builder), Cell::Float(value)) => builder.append_option(finite(value)),
            (Builder::Float(builder), Cell::Int(value)) => builder.append_value(value as f64),
            (Builder::Float(builder), _) => builder.append_null(),
            (Builder::Int(builder), Cell::Int(value)) => builder.append_value(value),
            (Builder::Int(builder), _) => builder.append_null(),
            (Builder::Text(builder), Cell::Text(text)) => builder.append_value(text),
            (Builder::Text(builder), Cell::Records(records)) => builder.append_value(text::json_of(records)),
            (Builder::Text(builder), _) => builder.append_null(),
            (Builder::Bool(builder), Cell::Bool(value)) => builder.append_value(value),
            (Builder::Bool(builder), _) => builder.append_null(),
            (Builder::TextList(builder), Cell::TextList(texts)) => {
                builder.append_value(texts.iter().map(Some));
            }
            (Builder::TextList(builder), _) => builder.append_null(),
            (Builder::FloatList(builder), Cell::FloatList(values)) => {
                builder.append_value(values.iter().map(|&value| finite(value)));
            }
            (Builder::FloatList(builder), _) => builder.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Float(builder) => Arc::new(builder.finish()),
            Builder::Int(builder) => Arc::new(builder.finish()),
            Builder::Text(builder) => Arc::new(builder.finish()),
            Builder::Bool(builder) => Arc::new(builder.finish()),
            Builder::TextList(builder) => Arc::new(builder.finish()),
            Builder::FloatList(builder) => Arc::new(builder.finish()),
        }
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn data_type(kind: CellKind) -> DataType {
    match kind {
        CellKind::Float => DataType::Float64,
        CellKind::Int => DataType::Int64,
        CellKind::Text | CellKind::Records => DataType::Utf8,
        CellKind::Bool => DataType::Boolean,
        CellKind::TextList => DataType::new_list(DataType::Utf8, true),
        CellKind::FloatList => DataType::new_list(DataType::Float64, true),
    }
}

/// What an encoder said, with the system's error dug out of it where there is one.
enum Failure {
    Io(std::io::Error),
    Encoder(String),
}

impl Failure {
    fn at(self, name: &str) -> OutputError {
        match self {
            Failure::Io(source) => OutputError::from_io(name, source),
            Failure::Encoder(detail) => OutputError::Encoding { file: name.to_string(), detail },
        }
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Failure {
        match error {
            ArrowError::IoError(_, source) => Failure::Io(source),
            other => Failure::Encoder(other.to_string()),
        }
    }
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Failure {
        match error {
            ParquetError::External(source) => match source.downcast::<std::io::Error>() {
                Ok(source) => Failure::Io(*source),
                Err(other) => Failure::Encoder(other.to_string()),
            },
            other => Failure::Encoder(other.to_string()),
        }
    }
}
