//! The real data of the paper's Table 1 that can be had.

use super::trial::standardised;
use crate::data::DataFolder;
use crate::error::ReproduceError;

/// Rows with columns of mean 0 and variance 1.
pub struct Set {
    pub name: &'static str,
    pub rows: Vec<f64>,
    pub d: usize,
}

impl Set {
    pub fn n(&self) -> usize {
        self.rows.len() / self.d
    }
}

/// Name, file, how the columns' names begin, and how many of them: the paper has 49 of Sonar's 60.
const SETS: [(&str, &str, &[&str], usize); 4] = [
    ("Sonar", "sonar/sonar.csv.gz", &["band"], 49),
    ("Libras", "libras/libras.csv.gz", &["x", "y"], usize::MAX),
    ("USPS", "usps/usps.csv.gz", &["p"], usize::MAX),
    ("YaleB", "yaleb/yaleb_32x32.csv.gz", &["p"], usize::MAX),
];

/// One of the sets by its name.
pub fn load(data: &DataFolder, name: &str) -> Result<Set, ReproduceError> {
    let Some(&(name, file, begins, most)) = SETS.iter().find(|set| set.0 == name) else {
        return Err(ReproduceError::BadData { file: name.into(), reason: "there is no such set".into() });
    };
    let table = data.csv(file)?;
    let is_number = |column: &&str| {
        begins.iter().any(|b| column.strip_prefix(b).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))
    };
    let columns: Vec<&str> = table.columns().iter().map(String::as_str).filter(is_number).take(most).collect();
    let rows = table.numbers(&columns)?;
    let (rows, d) = standardised(&rows, columns.len());
    Ok(Set { name, rows, d })
}
