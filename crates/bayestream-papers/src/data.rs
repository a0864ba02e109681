//! Reading the downloaded data sets.

use crate::error::ReproduceError;
use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

/// The folder of data sets, and who asks for them.
pub struct DataFolder {
    pub folder: Option<PathBuf>,
    pub experiment: &'static str,
}

/// A numeric table of which some columns may be words.
pub struct CsvTable {
    path: PathBuf,
    columns: Vec<String>,
    records: Vec<csv::StringRecord>,
}

/// Gray pictures of one size.
pub struct Images {
    pub n_pixels: usize,
    /// Row-major, one picture per row.
    pub pixels: Vec<u8>,
}

impl DataFolder {
    fn path(&self, file: &str) -> Result<PathBuf, ReproduceError> {
        let (experiment, file) = (self.experiment.to_string(), file.to_string());
        let Some(folder) = &self.folder else {
            return Err(ReproduceError::NoDataFolder { experiment, file });
        };
        let path = folder.join(&file);
        if path.is_file() {
            Ok(path)
        } else {
            Err(ReproduceError::MissingData { experiment, folder: folder.clone(), file })
        }
    }

    fn open(&self, file: &str) -> Result<(PathBuf, MultiGzDecoder<BufReader<File>>), ReproduceError> {
        let path = self.path(file)?;
        let handle = File::open(&path).map_err(ReproduceError::io(format!("open {}", path.display())))?;
        Ok((path, MultiGzDecoder::new(BufReader::new(handle))))
    }

    /// A gzipped CSV file with a header.
    pub fn csv(&self, file: &str) -> Result<CsvTable, ReproduceError> {
        let (path, reader) = self.open(file)?;
        let bad = |error: csv::Error| ReproduceError::BadData { file: path.clone(), reason: error.to_string() };
        let mut reader = csv::Reader::from_reader(reader);
        let columns = reader.headers().map_err(bad)?.iter().map(str::to_string).collect();
        let records = reader.records().collect::<Result<Vec<_>, _>>().map_err(bad)?;
        Ok(CsvTable { path, columns, records })
    }

    /// A gzipped file with a JSON object a line.
    pub fn ndjson<T: DeserializeOwned>(&self, file: &str) -> Result<Vec<T>, ReproduceError> {
        let (path, reader) = self.open(file)?;
        let mut out = Vec::new();
        for (row, line) in BufReader::new(reader).lines().enumerate() {
            let line = line.map_err(ReproduceError::io(format!("read {}", path.display())))?;
            let item = serde_json::from_str(&line).map_err(|error| ReproduceError::BadData {
                file: path.clone(),
                reason: format!("line {}: {error}", row + 1),
            })?;
            out.push(item);
        }
        Ok(out)
    }

    /// The lines of a plain file, without blanks around them.
    pub fn lines(&self, file: &str) -> Result<Vec<String>, ReproduceError> {
        let path = self.path(file)?;
        let text = fs::read_to_string(&path).map_err(ReproduceError::io(format!("read {}", path.display())))?;
        Ok(text.lines().map(|line| line.trim().to_string()).collect())
    }

    /// A gzipped IDX file of pictures (magic number 2051).
    pub fn images(&self, file: &str) -> Result<Images, ReproduceError> {
        let (path, mut reader) = self.open(file)?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(ReproduceError::io(format!("read {}", path.display())))?;
        parse_images(bytes).map_err(|reason| ReproduceError::BadData { file: path, reason })
    }

    /// A gzipped IDX file of labels (magic number 2049).
    pub fn labels(&self, file: &str) -> Result<Vec<u8>, ReproduceError> {
        let (path, mut reader) = self.open(file)?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(ReproduceError::io(format!("read {}", path.display())))?;
        parse_labels(bytes).map_err(|reason| ReproduceError::BadData { file: path, reason })
    }
}

/// The big-endian word at this place, counted in words.
fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(4 * at..4 * at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
}

fn parse_labels(mut bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if word(&bytes, 0) != Some(2049) {
        return Err("it does not begin as an IDX file of labels does (2049)".into());
    }
    let Some(n) = word(&bytes, 1) else { return Err("its header is cut short".into()) };
    if bytes.len() != n.saturating_add(8) {
        return Err(format!("it has {} bytes where its header promises {}", bytes.len(), n.saturating_add(8)));
    }
    Ok(bytes.split_off(8))
}

fn parse_images(mut bytes: Vec<u8>) -> Result<Images, String> {
    if word(&bytes, 0) != Some(2051) {
        return Err("it does not begin as an IDX file of pictures does (2051)".into());
    }
    let (Some(n), Some(height), Some(width)) = (word(&bytes, 1), word(&bytes, 2), word(&bytes, 3)) else {
        return Err("its header is cut short".into());
    };
    let n_pixels = height.saturating_mul(width);
    let expected = n.saturating_mul(n_pixels).saturating_add(16);
    if bytes.len() != expected || n_pixels == 0 {
        return Err(format!("it has {} bytes where its header promises {expected}", bytes.len()));
    }
    Ok(Images { n_pixels, pixels: bytes.split_off(16) })
}

impl CsvTable {
    fn column(&self, name: &str) -> Result<usize, ReproduceError> {
        self.columns.iter().position(|c| c == name).ok_or_else(|| ReproduceError::BadData {
            file: self.path.clone(),
            reason: format!("it has no column `{name}` (it has {})", self.columns.join(", ")),
        })
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The named columns of all rows as numbers, row-major.
    pub fn numbers(&self, names: &[&str]) -> Result<Vec<f64>, ReproduceError> {
        let columns = names.iter().map(|name| self.column(name)).collect::<Result<Vec<_>, _>>()?;
        let mut out = Vec::with_capacity(self.records.len() * columns.len());
        for (row, record) in self.records.iter().enumerate() {
            for (&column, name) in columns.iter().zip(names) {
                let cell = record.get(column).unwrap_or("");
                out.push(cell.trim().parse().map_err(|_| ReproduceError::BadData {
                    file: self.path.clone(),
                    reason: format!("row {}, column `{name}`: `{cell}` is not a number", row + 1),
                })?);
            }
        }
        Ok(out)
    }

    /// One column as words.
    pub fn words(&self, name: &str) -> Result<Vec<&str>, ReproduceError> {
        let column = self.column(name)?;
        Ok(self.records.iter().map(|record| record.get(column).unwrap_or("")).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_data_is_named_with_its_folder() {
        let nowhere = DataFolder { folder: None, experiment: "ofab/kdd" };
        let error = nowhere.csv("kddcup99/http.csv.gz").err().unwrap();
        assert_eq!(error.code(), "no-data-folder");
        assert!(error.to_string().contains("kddcup99/http.csv.gz") && error.to_string().contains("--data"));
        let folder = tempfile::tempdir().unwrap();
        let empty = DataFolder { folder: Some(folder.path().into()), experiment: "ofab/kdd" };
        let error = empty.csv("kddcup99/http.csv.gz").err().unwrap();
        assert_eq!(error.code(), "missing-data");
        assert!(error.to_string().contains(&folder.path().display().to_string()));
    }

    #[test]
    fn pictures_are_checked_against_their_header() {
        let mut bytes = Vec::new();
        for word in [2051u32, 2, 1, 3] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend([1, 2, 3, 4, 5, 6]);
        let images = parse_images(bytes.clone()).unwrap();
        assert_eq!((images.n_pixels, images.pixels), (3, vec![1, 2, 3, 4, 5, 6]));
        assert!(parse_images(bytes[..20].to_vec()).is_err());
        assert!(parse_images(bytes[4..].to_vec()).is_err());
        assert!(parse_images(Vec::new()).is_err());
    }

    #[test]
    fn labels_are_checked_against_their_header() {
        let mut bytes: Vec<u8> = [2049u32, 3].iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.extend([7, 0, 9]);
        assert_eq!(parse_labels(bytes.clone()).unwrap(), [7, 0, 9]);
        assert!(parse_labels(bytes[..10].to_vec()).is_err());
        assert!(parse_labels(bytes[1..].to_vec()).is_err());
        assert!(parse_labels(Vec::new()).is_err());
    }
}
