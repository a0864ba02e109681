//! What somebody wrote in a post to a newsgroup, without what the program and others added.

/// The post without its header, its signature and what it quotes.
pub fn own_words(post: &str) -> String {
    without_quotes(&without_footer(without_header(post)))
}

fn without_header(post: &str) -> &str {
    post.split_once("\n\n").map_or("", |(_, body)| body)
}

/// Cuts what follows the last line that is blank or of dashes only.
fn without_footer(post: &str) -> String {
    let lines: Vec<&str> = post.trim().split('\n').collect();
    match lines.iter().rposition(|line| line.trim().trim_matches('-').is_empty()) {
        Some(at) if at > 0 => lines[..at].join("\n"),
        _ => post.to_string(),
    }
}

/// Leaves out lines that quote, or that announce a quotation.
fn without_quotes(post: &str) -> String {
    let announces = ["writes in", "writes:", "wrote:", "says:", "said:"];
    let begins = ["In article", "Quoted from", "|", ">"];
    let own = |line: &&str| !announces.iter().any(|s| line.contains(s)) && !begins.iter().any(|s| line.starts_with(s));
    post.split('\n').filter(own).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_quotes_and_signature_go() {
        let post =
            "From: a@b\nSubject: c\n\nIn article <1> d wrote:\n> quoted\nMy words.\n\nMore of them.\n---\nA. B.\n";
        assert_eq!(own_words(post), "My words.\n\nMore of them.");
        assert_eq!(own_words("no header"), "");
        assert_eq!(own_words("From: a\n\none line"), "one line");
    }
}
