//! What the crate promises, checked from outside.

mod columnar;
mod csv;
mod faults;
mod laws;
mod ndjson;
mod outputs;
mod streams;
mod support;
