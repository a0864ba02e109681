//! Pages of charts, tables and text as one HTML file that needs nothing else.

use crate::color::dark_rules;
use crate::figure::SvgFigure;
use crate::text::escape;

/// A page that reads from top to bottom, in a light or a dark theme as the reader prefers.
///
/// The file refers to nothing outside itself and runs no scripts.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    title: String,
    body: String,
}

impl Page {
    /// An empty page under a title.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), body: String::new() }
    }

    /// Opening words, a little larger than the rest.
    pub fn lead(self, text: impl AsRef<str>) -> Self {
        self.paragraphs(text.as_ref(), " class=\"lead\"")
    }

    /// A heading with the text that follows it; empty text is left out.
    pub fn section(mut self, heading: impl AsRef<str>, text: impl AsRef<str>) -> Self {
        self.body += &format!("<h2>{}</h2>\n", escape(heading.as_ref()));
        self.paragraphs(text.as_ref(), "")
    }

    /// Plain text; blank lines separate paragraphs.
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.paragraphs(text.as_ref(), "")
    }

    fn paragraphs(mut self, text: &str, attributes: &str) -> Self {
        for paragraph in text.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
            self.body += &format!("<p{attributes}>{}</p>\n", escape(paragraph));
        }
        self
    }

    /// A chart or a grid of charts with a caption; an empty caption is left out.
    pub fn chart(mut self, figure: impl Into<SvgFigure>, caption: impl AsRef<str>) -> Self {
        let svg = figure.into().to_svg();
        self.body += &format!("<figure>\n{svg}");
        if !caption.as_ref().is_empty() {
            self.body += &format!("<figcaption>{}</figcaption>\n", escape(caption.as_ref()));
        }
        self.body += "</figure>\n";
        self
    }

    /// A table; columns of numbers are aligned to the right.
    pub fn table<H: AsRef<str>, R: AsRef<[C]>, C: AsRef<str>>(mut self, headers: &[H], rows: &[R]) -> Self {
        let cell_of =
            |row: &R, column: usize| row.as_ref().get(column).map(|cell| cell.as_ref().to_string()).unwrap_or_default();
        let n_columns = rows.iter().map(|row| row.as_ref().len()).max().unwrap_or(0).max(headers.len());
        let numeric: Vec<bool> = (0..n_columns)
            .map(|column| {
                let mut cells = rows.iter().map(|row| cell_of(row, column)).filter(|c| !c.is_empty());
                let first_is_number = cells.next().is_some_and(|cell| looks_numeric(&cell));
                first_is_number && cells.all(|cell| looks_numeric(&cell))
            })
            .collect();
        let class = |column: usize| {
            if numeric[column] { " class=\"number\"" } else { "" }
        };
        self.body += "<div class=\"table\"><table>\n<thead><tr>";
        for column in 0..n_columns {
            let header = headers.get(column).map(|h| escape(h.as_ref())).unwrap_or_default();
            self.body += &format!("<th{}>{header}</th>", class(column));
        }
        self.body += "</tr></thead>\n<tbody>\n";
        for row in rows {
            self.body += "<tr>";
            for column in 0..n_columns {
                self.body += &format!("<td{}>{}</td>", class(column), escape(&cell_of(row, column)));
            }
            self.body += "</tr>\n";
        }
        self.body += "</tbody>\n</table></div>\n";
        self
    }

    /// Text in a fixed-width font with its line breaks kept, for commands and output.
    pub fn pre(mut self, text: impl AsRef<str>) -> Self {
        self.body += &format!("<pre>{}</pre>\n", escape(text.as_ref()));
        self
    }

    /// The page as the text of an HTML file.
    pub fn to_html(&self) -> String {
        let title = escape(&self.title);
        let heading = if title.is_empty() { String::new() } else { format!("<h1>{title}</h1>\n") };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{STYLE}@media (prefers-color-scheme: dark) {{\n{DARK_STYLE}{}}}\n</style>\n\
             </head>\n<body>\n<main>\n{heading}{}</main>\n</body>\n</html>\n",
            dark_rules(),
            self.body
        )
    }
}

/// Whether a cell reads as a number, possibly with a sign, a unit or an uncertainty.
fn looks_numeric(cell: &str) -> bool {
    let cell = cell.trim();
    let start = cell.trim_start_matches(['−', '-', '+', '<', '>', '≤', '≥', '≈', '±', ' ', '$']);
    let n_letters = cell.chars().filter(|c| c.is_alphabetic()).count();
    let missing = matches!(cell, "–" | "—" | "-" | "NaN" | "n/a");
    missing || (start.starts_with(|c: char| c.is_ascii_digit() || c == '.') && n_letters <= 3)
}

const STYLE: &str = "\
:root { --paper: #ffffff; --ink: #1f2328; --soft: #59626b; --line: #e1e5ea; --shade: #f5f7f9 }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Roboto, Helvetica, Arial, sans-serif }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 0.8rem; letter-spacing: -0.01em }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.6rem 0 0.6rem }
p { max-width: 46rem; margin: 0 0 1rem }
.lead { font-size: 1.12rem; color: var(--soft) }
figure { margin: 1.5rem 0; overflow-x: auto }
figure > svg { display: block; max-width: 100%; height: auto }
figcaption { max-width: 46rem; margin-top: 0.4rem; font-size: 0.9rem; color: var(--soft) }
.table { overflow-x: auto; margin: 1.2rem 0 }
table { border-collapse: collapse; font-size: 0.92rem; font-variant-numeric: tabular-nums }
th, td { padding: 0.35rem 0.9rem 0.35rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line) }
th { color: var(--soft); font-weight: 600; border-bottom-width: 2px }
th.number, td.number { text-align: right; padding-left: 0.9rem }
pre { background: var(--shade); border: 1px solid var(--line); border-radius: 6px; padding: 0.8rem 1rem;
  overflow-x: auto; font: 0.86rem/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, monospace }
";

const DARK_STYLE: &str = "\
:root { --paper: #15191e; --ink: #e6e9ec; --soft: #a3acb5; --line: #2b3138; --shade: #1c2127 }
";
