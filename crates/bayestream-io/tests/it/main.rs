//! What the crate promises, checked from outside.

mod columnar;
mod csv;
mod document_columns;
mod document_faults;
mod documents;
mod faults;
mod growing;
mod laws;
mod ndjson;
mod outputs;
mod streams;
mod support;
mod unfinished;
