//! Articles of Reuters-21578 by the split ModApte, each as its own words and its topics.

use super::{Article, reuters_articles};
use crate::data::DataFolder;
use crate::error::ReproduceError;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// An article: title and text, and what it is about.
pub struct Filed {
    pub text: String,
    pub topics: Vec<String>,
}

/// The articles of the two sides, each in the order of time.
pub struct SplitArticles {
    pub train: Vec<Filed>,
    pub test: Vec<Filed>,
}

/// The articles that the split ModApte takes to learn from and to test.
pub fn split_articles(data: &DataFolder) -> Result<SplitArticles, ReproduceError> {
    let mut sides = SplitArticles { train: Vec::new(), test: Vec::new() };
    for article in reuters_articles(data)? {
        match article.modapte.as_deref() {
            Some("train") => sides.train.push(filed(article)),
            Some("test") => sides.test.push(filed(article)),
            _ => {}
        }
    }
    Ok(sides)
}

/// The topics that most articles have, beginning with the largest; of equal ones the first in the alphabet.
pub fn largest_topics(articles: &[Filed], n: usize) -> Vec<String> {
    let mut sizes: BTreeMap<&String, usize> = BTreeMap::new();
    articles.iter().flat_map(|article| &article.topics).for_each(|topic| *sizes.entry(topic).or_default() += 1);
    let mut topics: Vec<(&String, usize)> = sizes.into_iter().collect();
    topics.sort_by_key(|(_, size)| Reverse(*size));
    topics.into_iter().take(n).map(|(topic, _)| topic.clone()).collect()
}

fn filed(mut article: Article) -> Filed {
    article.text = article.text.map(|text| unsigned(&text).to_string());
    // One article has a topic twice.
    let topics: BTreeSet<String> = std::mem::take(&mut article.labels).into_iter().collect();
    Filed { text: article.whole(), topics: topics.into_iter().collect() }
}

/// A text without the agency's name in its last line, which says nothing of the article; it comes in many spellings
/// (`REUTER...`, `Reuter^M`).
fn unsigned(text: &str) -> &str {
    let text = text.trim_end();
    let (body, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let name = last.trim().trim_end_matches("^M").trim_matches(|letter: char| !letter.is_alphabetic());
    if name.eq_ignore_ascii_case("reuter") { body } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agencys_name_goes_from_the_last_line_only() {
        for ending in ["Reuter", " REUTER...", "reuter\u{3}", "REUTER^M"] {
            assert_eq!(unsigned(&format!("Reuter said so.\n{ending}\n  ")), "Reuter said so.");
        }
        assert_eq!(unsigned("Wheat rose.\nReuter said so.\n"), "Wheat rose.\nReuter said so.");
        assert_eq!((unsigned("Reuter"), unsigned("one line"), unsigned("")), ("", "one line", ""));
    }

    #[test]
    fn topics_are_ordered_by_their_articles() {
        let filed =
            |topics: &[&str]| Filed { text: String::new(), topics: topics.iter().map(|t| (*t).into()).collect() };
        let articles = [filed(&["corn", "grain"]), filed(&[]), filed(&["grain", "acq"]), filed(&["ship"])];
        assert_eq!(largest_topics(&articles, 2), ["grain", "acq"]);
        assert_eq!(largest_topics(&articles, 9).len(), 4);
    }
}
