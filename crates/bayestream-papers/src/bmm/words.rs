//! Topics by their words.

use crate::table::Table;
use bayestream::metrics;
use bayestream::structure::Topic;

/// The likeliest words of the heaviest topics.
pub fn heaviest(title: impl Into<String>, topics: &[Topic], vocabulary: &[String]) -> Table {
    let mut table = Table::new("words", title, ["share", "words"]);
    for topic in topics.iter().take(12) {
        let words: Vec<&str> =
            metrics::top_words(&topic.words, 15).iter().map(|word| vocabulary[*word as usize].as_str()).collect();
        table.row([format!("{:.3}", topic.weight), words.join(" ")]);
    }
    table
}
