//! From text to word counts: splitting, stop words, stems, and the numbers that words have.
//!
//! [`TextPipeline`] is the whole way: [`RawDocument`]s in, [`Documents`](crate::data::Documents) out, by
//! [`TextSettings`] and a [`Vocabulary`] that are saved together. Nothing here reads files.

mod error;
mod language;
mod memory;
mod pipeline;
mod settings;
mod split;
#[cfg(test)]
mod tests;
mod tokenizer;
mod vocabulary;

pub use error::TextError;
pub use language::Language;
pub use pipeline::{Encoded, RawDocument, TextPipeline};
pub use settings::{TextSetting, TextSettings, VocabularyChoice};
pub use tokenizer::Tokenizer;
pub use vocabulary::{Renumbering, Vocabulary};
