//! Tables between markers of a hand-written page.

/// Replaces what stands between `<!-- begin NAME -->` and `<!-- end NAME -->` by `section`. `None` when the page has
/// no such pair of markers.
///
/// ```
/// let page = "Before.\n<!-- begin ofab/x -->\nold\n<!-- end ofab/x -->\nAfter.\n";
/// let new = bayestream_papers::insert_section(page, "ofab/x", "| 1 |\n").unwrap();
/// assert_eq!(new, "Before.\n<!-- begin ofab/x -->\n\n| 1 |\n\n<!-- end ofab/x -->\nAfter.\n");
/// assert_eq!(bayestream_papers::insert_section(&new, "ofab/y", ""), None);
/// ```
pub fn insert_section(page: &str, name: &str, section: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- begin {name} -->"), format!("<!-- end {name} -->"));
    let from = page.find(&begin)? + begin.len();
    let to = from + page[from..].find(&end)?;
    Some(format!("{}\n\n{}\n\n{}", &page[..from], section.trim_end(), &page[to..]))
}
