//! Which column of the input is text, label or id, decided once when the input is opened.

use crate::source::plan::{known_columns_hint, listed, refuse_duplicates};
use crate::{DocumentOptions, InputError, OnError, Place};

/// Names that say text, by how surely they do.
const TEXT_NAMES: [&str; 19] = [
    "text",
    "body",
    "content",
    "message",
    "document",
    "tokens",
    "words",
    "terms",
    "abstract",
    "description",
    "comment",
    "review",
    "tweet",
    "post",
    "question",
    "title",
    "headline",
    "subject",
    "summary",
];

/// The part that one column of the input plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Text, words or terms, at this position among several.
    Content(usize),
    /// How often each term occurs.
    Counts,
    Label,
    Id,
    Ignored,
}

/// The columns of an input and their roles.
#[derive(Clone, Debug)]
pub(crate) struct DocumentPlan {
    pub(super) file: String,
    /// The input's columns.
    pub(super) names: Vec<String>,
    /// The role of each.
    pub(super) roles: Vec<Role>,
    /// The columns that make up a document, in order.
    pub(super) text_columns: Vec<String>,
    pub(super) has_labels: bool,
    pub(super) has_ids: bool,
    pub(super) on_error: OnError,
    /// A last line that was cut is left out.
    pub(super) leaves_unfinished: bool,
    pub(super) lossy: bool,
    pub(super) longest_line: usize,
    pub(super) batch_documents: usize,
}

impl DocumentPlan {
    /// Gives each of the input's columns its role.
    pub(super) fn new(file: &str, names: Vec<String>, options: &DocumentOptions) -> Result<DocumentPlan, InputError> {
        refuse_duplicates(file, &names)?;
        let mut claims: Vec<Option<(Role, &'static str)>> = vec![None; names.len()];
        let mut claim = |column: &str, role: Role, option: &'static str| -> Result<(), InputError> {
            let column_ix = names.iter().position(|name| name == column).ok_or_else(|| InputError::UnknownColumn {
                file: file.to_string(),
                option,
                column: column.to_string(),
                hint: known_columns_hint(column, &names),
            })?;
            match claims[column_ix] {
                Some((_, first)) => {
                    Err(InputError::ColumnClaimedTwice { column: column.to_string(), first, second: option })
                }
                None => {
                    claims[column_ix] = Some((role, option));
                    Ok(())
                }
            }
        };
        for (position, column) in options.text_columns.iter().enumerate() {
            claim(column, Role::Content(position), "--text-column")?;
        }
        if let Some(column) = &options.label_column {
            claim(column, Role::Label, "--label-column")?;
        }
        if let Some(column) = &options.id_column {
            claim(column, Role::Id, "--id-column")?;
        }
        let mut roles: Vec<Role> = claims.iter().map(|claim| claim.map_or(Role::Ignored, |claim| claim.0)).collect();
        let mut text_columns = options.text_columns.clone();
        if text_columns.is_empty() {
            let column_ix = find_text_column(&names, &roles)
                .ok_or_else(|| InputError::NoTextColumn { file: file.to_string(), columns: listed(&names) })?;
            roles[column_ix] = Role::Content(0);
            text_columns.push(names[column_ix].clone());
        }
        if let [only] = text_columns.as_slice()
            && only.eq_ignore_ascii_case("terms")
            && let Some(column_ix) = find_free(&names, &roles, "counts")
        {
            roles[column_ix] = Role::Counts;
        }
        Ok(DocumentPlan { names, roles, text_columns, ..DocumentPlan::without_columns(file, options) })
    }

    /// The plan of an input that has no columns.
    pub(super) fn without_columns(file: &str, options: &DocumentOptions) -> DocumentPlan {
        DocumentPlan {
            file: file.to_string(),
            names: Vec::new(),
            roles: Vec::new(),
            text_columns: Vec::new(),
            has_labels: options.label_column.is_some(),
            has_ids: options.id_column.is_some(),
            on_error: options.on_error,
            leaves_unfinished: options.on_unfinished == OnError::Skip,
            lossy: options.lossy,
            longest_line: options.longest_line,
            batch_documents: options.batch_documents.max(1),
        }
    }

    pub(super) fn place(&self, row: u64, line: Option<u64>) -> Place {
        Place { file: self.file.clone(), row, line }
    }

    /// Whether documents are counts of terms in two columns.
    pub(super) fn has_counts(&self) -> bool {
        self.roles.contains(&Role::Counts)
    }

    /// The first column with this role, for messages.
    pub(super) fn column_of(&self, is_role: impl Fn(Role) -> bool) -> String {
        let column_ix = self.roles.iter().position(|role| is_role(*role));
        column_ix.map(|column_ix| self.names[column_ix].clone()).unwrap_or_default()
    }
}

/// The column whose name says text most surely, or the only one that has no other role.
fn find_text_column(names: &[String], roles: &[Role]) -> Option<usize> {
    let mut free = (0..names.len()).filter(|column_ix| roles[*column_ix] == Role::Ignored);
    let only = free.next().filter(|_| free.next().is_none());
    TEXT_NAMES.iter().find_map(|name| find_free(names, roles, name)).or(only)
}

fn find_free(names: &[String], roles: &[Role], name: &str) -> Option<usize> {
    (0..names.len())
        .find(|column_ix| roles[*column_ix] == Role::Ignored && names[*column_ix].trim().eq_ignore_ascii_case(name))
}
