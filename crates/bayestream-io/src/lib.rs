//! Sources and sinks: rows and documents in, tables and model files out.
//!
//! [`open`] turns a file or a pipe (CSV, NDJSON, Parquet or Arrow, packed or not) into a [`RowSource`]: batches of
//! finite numbers and missing values, with labels, ids and weights where asked for. Whatever is wrong with the input
//! becomes an [`InputError`] that names file, row, column, value and remedy.
//!
//! [`open_documents`] does the same for text: batches of documents, with labels and ids where asked for.
//!
//! [`TableWriter`] writes a table in any of the formats, and [`write_atomic`] a file of bytes; neither ever leaves half
//! a file under the final name.
//!
//! ```
//! use bayestream_io::{ReadOptions, RowBatch, open_reader};
//!
//! let text = "height,width,kind\n1.5,2.5,a\n,NA,b\n";
//! let options = ReadOptions { label_column: Some("kind".into()), ..ReadOptions::default() };
//! let mut source = open_reader(Box::new(text.as_bytes()), "example", &options)?;
//! assert_eq!(source.columns(), ["height", "width"]);
//! let mut batch = RowBatch::new();
//! while source.next_batch(&mut batch)? {
//!     assert_eq!(batch.rows[..2], [1.5, 2.5]);
//!     assert!(batch.rows[2].is_nan() && batch.rows[3].is_nan());
//!     assert_eq!(batch.labels, ["a", "b"]);
//! }
//! # Ok::<(), bayestream_io::InputError>(())
//! ```

mod atomic;
mod batch;
mod document;
mod error;
mod format;
mod options;
mod sink;
mod source;
mod temporary;

pub use atomic::{check_writable, through_links, write_atomic};
pub use batch::{Progress, RowBatch, RowSource, read_all};
pub use document::{DocumentBatch, DocumentSource};
pub use error::{CellProblem, InputError, Place};
pub use format::{Format, UnknownFormat};
pub use options::{DocumentOptions, OnError, ReadOptions};
pub use sink::{Cell, CellKind, OutColumn, OutputError, TableWriter};
pub use source::{open, open_documents, open_documents_reader, open_reader, read_file, read_words};
