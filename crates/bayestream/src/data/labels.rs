//! Labels by name, numbered as they first come.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The labels met so far. A label's number is for life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct LabelNames {
    names: Vec<String>,
    numbers: BTreeMap<String, u32>,
}

impl From<Vec<String>> for LabelNames {
    fn from(names: Vec<String>) -> LabelNames {
        let mut labels = LabelNames::default();
        names.iter().for_each(|name| {
            labels.number(name);
        });
        labels
    }
}

impl From<LabelNames> for Vec<String> {
    fn from(labels: LabelNames) -> Vec<String> {
        labels.names
    }
}

impl LabelNames {
    /// The number of a label, a new one if it was never met.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_string(), number);
        self.names.push(name.to_string());
        number
    }

    /// The number of a label that was met.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many labels.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True before the first label.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_keeps_its_number() {
        let mut labels = LabelNames::default();
        assert_eq!([labels.number("b"), labels.number("a"), labels.number("b")], [0, 1, 0]);
        assert_eq!((labels.find("a"), labels.find("c"), labels.len()), (Some(1), None, 2));
        assert_eq!(LabelNames::from(Vec::from(labels.clone())), labels);
    }
}
