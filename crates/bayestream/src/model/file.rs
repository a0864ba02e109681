//! The model file: self-describing, versioned, checksummed, never executable.
//!
//! ```text
//! 8 bytes   "BAYESTRM"
//! u32 LE    format version
//! u32 LE    length of the header
//! u64 LE    length of the body
//! header    JSON: kind, columns, rows seen, settings (for people and other programs)
//! body      postcard: the whole model
//! u32 LE    CRC-32 of everything before
//! ```
//! The same model gives the same bytes. Reading checks all of it: a damaged file is an error, never a panic.

use super::{AnyKind, Body, Config, ConfigError, FormatError, Kind, Model, Variant};
use crate::engine::dp::Rule;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::str::FromStr;

const MAGIC: &[u8; 8] = b"BAYESTRM";
const FIXED: usize = 8 + 4 + 4 + 8;
/// The format this version writes, and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;

/// What a model file says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The kind's name.
    pub kind: String,
    /// Rows seen.
    pub n_seen: u64,
    /// Names of the columns; of documents, those that text comes from, or none where the reader finds them.
    pub columns: Vec<String>,
    /// Seed of every random choice.
    pub seed: u64,
    /// All settings of the kind.
    pub settings: BTreeMap<String, String>,
}

impl Header {
    pub(super) fn of(
        kind: &str,
        n_seen: u64,
        columns: &[String],
        seed: u64,
        settings: Vec<(&'static str, String)>,
    ) -> Header {
        let settings = settings.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        Header { kind: kind.to_string(), n_seen, columns: columns.to_vec(), seed, settings }
    }
}

impl Header {
    /// Refuses a model of another sort than that of the kinds `K`.
    pub(super) fn check_sort<K: FromStr>(&self) -> Result<(), FormatError> {
        if self.kind.parse::<K>().is_ok() {
            return Ok(());
        }
        let reads = match self.kind.parse().map_err(|error: ConfigError| invalid(error.to_string()))? {
            AnyKind::Rows(_) => "rows of numbers",
            AnyKind::Documents(_) => "documents",
            AnyKind::Linear(_) => "labelled rows",
            AnyKind::Features(_) => "rows as sums of features",
        };
        Err(FormatError::OtherInput { kind: self.kind.clone(), reads })
    }
}

/// A whole file.
pub(super) fn packed(header: &Header, model: &impl Serialize) -> Vec<u8> {
    let header = serde_json::to_vec(header).expect("names, numbers and strings are always JSON");
    let body = postcard::to_stdvec(model).expect("memory is the only sink");
    let mut bytes = Vec::with_capacity(FIXED + header.len() + body.len() + 4);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(&body);
    let crc = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes
}

/// The model in a sound file, which may still contradict itself.
pub(super) fn unpacked<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, FormatError> {
    let (_, body) = sections(bytes)?;
    let (model, rest) = postcard::take_from_bytes::<M>(body).map_err(|e| invalid(e.to_string()))?;
    if !rest.is_empty() {
        return Err(invalid("there is more in the body than a model".into()));
    }
    Ok(model)
}

pub(super) fn invalid(reason: String) -> FormatError {
    FormatError::Invalid { reason }
}

impl Model {
    /// The model as bytes; the same model always gives the same bytes.
    pub fn save(&self) -> Vec<u8> {
        packed(&self.header(), self)
    }

    /// Reads what [`Model::save`] wrote.
    pub fn load(bytes: &[u8]) -> Result<Model, FormatError> {
        read_header(bytes)?.check_sort::<Kind>()?;
        let mut model: Model = unpacked(bytes)?;
        model.config.check().map_err(|e| invalid(e.to_string()))?;
        if !model.body.fits(&model.config) {
            return Err(invalid("its learner is not of the kind it names".into()));
        }
        model.config.check_sane().map_err(invalid)?;
        if model.body.learner().settings() != &model.config.settings {
            return Err(invalid("its learner has other settings than it names".into()));
        }
        let n_columns = model.config.columns.len();
        model.body.learner_mut().restore(n_columns).map_err(invalid)?;
        if let Some(watch) = &mut model.watch {
            watch.restore(n_columns).map_err(invalid)?;
        }
        Ok(model)
    }

    /// What the file will say of itself.
    pub fn header(&self) -> Header {
        let Config { kind, settings, seed, columns, .. } = &self.config;
        Header::of(kind.name(), self.n_seen(), columns, *seed, settings.list(*kind))
    }
}

impl Body {
    fn fits(&self, config: &Config) -> bool {
        match (self, config.kind) {
            (Body::GmmOfab(_), Kind::GmmOfab) | (Body::MppcaOfab(_), Kind::MppcaOfab) => {
                config.settings.variant == Variant::Default
            }
            (Body::GmmPaper(_), Kind::GmmOfab) | (Body::MppcaPaper(_), Kind::MppcaOfab) => {
                config.settings.variant == Variant::Paper
            }
            (Body::GmmFab(_), Kind::GmmFab)
            | (Body::MppcaFab(_), Kind::MppcaFab)
            | (Body::GmmSvb(_), Kind::GmmSvb)
            | (Body::MppcaSvb(_), Kind::MppcaSvb)
            | (Body::GmmStrust(_), Kind::GmmStrust)
            | (Body::MppcaStrust(_), Kind::MppcaStrust)
            | (Body::GmmSdaDp(_), Kind::GmmSdaDp)
            | (Body::MppcaSdaDp(_), Kind::MppcaSdaDp)
            | (Body::Gaussian1dBmm(_), Kind::Gaussian1dBmm)
            | (Body::GmmBmm(_), Kind::GmmBmm) => true,
            (Body::Dirichlet(learner), Kind::GmmSugs) => learner.rule() == Rule::Sugs,
            (Body::Dirichlet(learner), Kind::GmmAsugs) => learner.rule() == Rule::Asugs,
            (Body::Dirichlet(learner), Kind::GmmSva) => learner.rule() == Rule::Sva,
            (Body::Dirichlet(learner), Kind::GmmDp) => learner.rule() == Rule::Lazy,
            _ => false,
        }
    }
}

/// The header alone, after the checksum was verified.
pub fn read_header(bytes: &[u8]) -> Result<Header, FormatError> {
    let (header, _) = sections(bytes)?;
    serde_json::from_slice(header).map_err(|e| invalid(e.to_string()))
}

/// Header and body of a sound file.
fn sections(bytes: &[u8]) -> Result<(&[u8], &[u8]), FormatError> {
    if bytes.len() < MAGIC.len() || &bytes[..MAGIC.len()] != MAGIC {
        return Err(FormatError::NotAModel);
    }
    let found = bytes.len() as u64;
    if bytes.len() < FIXED {
        return Err(FormatError::CutShort { expected: FIXED as u64 + 4, found });
    }
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let version = u32_at(8);
    if version > FORMAT_VERSION {
        return Err(FormatError::TooNew { found: version, newest: FORMAT_VERSION });
    }
    let n_header = u64::from(u32_at(12));
    let n_body = u64::from_le_bytes(bytes[16..24].try_into().expect("eight bytes"));
    let expected = (FIXED as u64 + 4).saturating_add(n_header).saturating_add(n_body);
    if found < expected {
        return Err(FormatError::CutShort { expected, found });
    }
    let end = bytes.len() - 4;
    if found > expected || crc32fast::hash(&bytes[..end]) != u32_at(end) {
        return Err(FormatError::Damaged);
    }
    let split = FIXED + n_header as usize;
    Ok((&bytes[FIXED..split], &bytes[split..end]))
}
