//! Blocks of columns out of Parquet and Arrow files: what differs between the two, and nothing else.

use std::fmt::Display;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::{Block, root_as_footer};
use arrow_schema::{ArrowError, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::reader::ChunkReader;

use super::guard::{Damaged, guarded};
use super::input::{Gauge, Input};
use super::text_bytes::as_bytes;
use crate::{Format, InputError, Progress};

type Blocks = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// Which columns to read, and what for.
pub(crate) trait Planner {
    /// What is to be done with the columns.
    type Plan;

    /// Rows of a Parquet file decoded at a time; independent of the batches handed out.
    const DECODED_ROWS: usize;

    /// Gives the columns their parts; also returns which of them to read.
    fn plan(&self, file: &str, schema: &Schema) -> Result<(Self::Plan, Vec<usize>), InputError>;

    /// The columns of text that are to be read as bytes.
    fn text_as_bytes(&self, _plan: &Self::Plan, _schema: &Schema) -> Vec<usize> {
        Vec::new()
    }
}

/// An opened file that gives its rows block by block.
pub(crate) struct Decoder<P> {
    file: String,
    format: Format,
    pub(crate) plan: P,
    /// The columns of a block: their place in the plan.
    pub(crate) projected: Vec<usize>,
    blocks: Blocks,
    meter: Meter,
}

/// Progress by rows or blocks done, for readers that jump around in the file.
struct Meter {
    gauge: Gauge,
    /// What the file holds, in rows or blocks; none where the gauge counts by itself.
    total: Option<u64>,
    done: u64,
    counts_rows: bool,
}

impl Meter {
    fn block_taken(&mut self, n_rows: usize) {
        self.done += if self.counts_rows { n_rows as u64 } else { 1 };
        if let (Some(total), Some(bytes)) = (self.total, self.gauge.progress().total_bytes) {
            let share = self.done.min(total) as f64 / total.max(1) as f64;
            self.gauge.set((share * bytes as f64) as u64);
        }
    }
}

impl<P> Decoder<P> {
    pub(crate) fn open_parquet(mut input: Input, planner: &impl Planner<Plan = P>) -> Result<Decoder<P>, InputError> {
        let (name, gauge) = (input.name.clone(), input.gauge.clone());
        match input.plain_file.take() {
            Some(file) => Decoder::from_parquet(file, name, gauge, true, planner),
            None => Decoder::from_parquet(Bytes::from(input.slurp()?), name, gauge, false, planner),
        }
    }

    fn from_parquet<R: ChunkReader + 'static, L: Planner<Plan = P>>(
        reader: R,
        name: String,
        gauge: Gauge,
        is_file: bool,
        planner: &L,
    ) -> Result<Decoder<P>, InputError> {
        let format = Format::Parquet;
        let mut metadata = decode(&name, format, || ArrowReaderMetadata::load(&reader, ArrowReaderOptions::default()))?;
        let (plan, projected) = planner.plan(&name, metadata.schema())?;
        let bytes = planner.text_as_bytes(&plan, metadata.schema());
        if !bytes.is_empty() {
            metadata = decode(&name, format, || as_bytes(metadata.metadata(), &bytes))?;
        }
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata);
        let n_rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let mask = ProjectionMask::roots(builder.parquet_schema(), projected.iter().copied());
        let builder = builder.with_projection(mask).with_batch_size(L::DECODED_ROWS);
        let blocks = Box::new(decode(&name, format, || builder.build())?);
        let meter = Meter { gauge, total: is_file.then_some(n_rows), done: 0, counts_rows: true };
        Ok(Decoder { file: name, format, plan, projected, blocks, meter })
    }

    pub(crate) fn open_arrow(mut input: Input, planner: &impl Planner<Plan = P>) -> Result<Decoder<P>, InputError> {
        let (name, gauge) = (input.name.clone(), input.gauge.clone());
        if !input.is_arrow_file() {
            return Decoder::from_arrow_stream(input, planner);
        }
        match input.plain_file.take() {
            Some(file) => {
                let again = file.try_clone().map_err(|source| InputError::from_io(&name, source))?;
                let readers = (BufReader::new(file), BufReader::new(again));
                Decoder::from_arrow_file(readers, name, gauge, true, planner)
            }
            None => {
                let bytes = Bytes::from(input.slurp()?);
                let readers = (Cursor::new(bytes.clone()), Cursor::new(bytes));
                Decoder::from_arrow_file(readers, name, gauge, false, planner)
            }
        }
    }

    /// Takes two readers of the same bytes: the columns must be known before those to read can be chosen.
    fn from_arrow_file<R: Read + Seek + Send + 'static>(
        mut readers: (R, R),
        name: String,
        gauge: Gauge,
        is_file: bool,
        planner: &impl Planner<Plan = P>,
    ) -> Result<Decoder<P>, InputError> {
        let format = Format::Arrow;
        decode(&name, format, || check_blocks(&mut readers.0))?;
        let schema = decode(&name, format, || FileReader::try_new(readers.0, None))?.schema();
        let (plan, projected) = planner.plan(&name, &schema)?;
        let blocks = decode(&name, format, || FileReader::try_new(readers.1, Some(projected.clone())))?;
        let total = is_file.then_some(blocks.num_batches() as u64);
        let meter = Meter { gauge, total, done: 0, counts_rows: false };
        Ok(Decoder { file: name, format, plan, projected, blocks: Box::new(blocks), meter })
    }

    fn from_arrow_stream(input: Input, planner: &impl Planner<Plan = P>) -> Result<Decoder<P>, InputError> {
        let Input { name, reader, gauge, .. } = input;
        let format = Format::Arrow;
        let blocks = decode(&name, format, || StreamReader::try_new(BufReader::new(reader), None))?;
        let (plan, projected) = planner.plan(&name, &blocks.schema())?;
        let kept = projected.clone();
        let blocks = Box::new(blocks.map(move |block| block?.project(&kept)));
        let meter = Meter { gauge, total: None, done: 0, counts_rows: false };
        Ok(Decoder { file: name, format, plan, projected, blocks, meter })
    }

    /// The next block; none at the end.
    pub(crate) fn next_block(&mut self) -> Result<Option<RecordBatch>, InputError> {
        let block = decode(&self.file, self.format, || self.blocks.next().transpose())?;
        if let Some(block) = &block {
            self.meter.block_taken(block.num_rows());
        }
        Ok(block)
    }

    pub(crate) fn progress(&self) -> Progress {
        self.meter.gauge.progress()
    }
}

/// Refuses an Arrow file whose table of blocks points beyond its end: the reader would ask for that much memory first.
fn check_blocks<R: Read + Seek>(reader: &mut R) -> Result<(), ArrowError> {
    const TRAILER: u64 = 10;
    let damaged = || ArrowError::ParseError("the table of blocks is damaged".to_string());
    let size = reader.seek(SeekFrom::End(0))?;
    let trailer_start = size.checked_sub(TRAILER).ok_or_else(damaged)?;
    let mut trailer = [0; TRAILER as usize];
    reader.seek(SeekFrom::Start(trailer_start))?;
    reader.read_exact(&mut trailer)?;
    let footer_length = read_footer_length(trailer)?;
    let footer_start = trailer_start.checked_sub(footer_length as u64).ok_or_else(damaged)?;
    let mut footer = vec![0; footer_length];
    reader.seek(SeekFrom::Start(footer_start))?;
    reader.read_exact(&mut footer)?;
    let footer = root_as_footer(&footer).map_err(|_| damaged())?;
    let end_of = |block: &Block| {
        let [offset, metadata, body] =
            [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()].map(u64::try_from);
        offset.ok()?.checked_add(metadata.ok()?)?.checked_add(body.ok()?)
    };
    let blocks = footer.recordBatches().into_iter().flatten().chain(footer.dictionaries().into_iter().flatten());
    match blocks.map(end_of).all(|end| end.is_some_and(|end| end <= footer_start)) {
        true => Ok(()),
        false => Err(damaged()),
    }
}

/// Runs a step of a decoder and puts whatever is wrong with the file into our words.
fn decode<T, E: Display>(file: &str, format: Format, step: impl FnOnce() -> Result<T, E>) -> Result<T, InputError> {
    let detail = match guarded(step) {
        Ok(Ok(decoded)) => return Ok(decoded),
        Ok(Err(error)) => format!("cannot be read as {format} ({error})"),
        Err(Damaged) => format!("cannot be read as {format} (the file is damaged)"),
    };
    Err(InputError::WrongFormat { file: file.to_string(), detail })
}
