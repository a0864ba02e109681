//! What an experiment found, and how it becomes files.

use crate::error::ReproduceError;
use crate::table::Table;
use bayestream_plot::SvgFigure;
use std::fs;
use std::path::{Path, PathBuf};

/// Tables, figures and remarks of one experiment.
#[derive(Default)]
pub struct Outcome {
    /// Read before the tables.
    pub notes: Vec<String>,
    /// The tables.
    pub tables: Vec<Table>,
    /// Figures, each with a part of its file's name and a caption.
    pub figures: Vec<(&'static str, String, SvgFigure)>,
    /// Files the experiment wrote itself.
    pub files: Vec<PathBuf>,
}

impl Outcome {
    /// Writes all files and returns their paths; the Markdown page comes first.
    pub fn write(&self, experiment: &str, shows: &str, folder: &Path) -> Result<Vec<PathBuf>, ReproduceError> {
        let stem = experiment.replace('/', "-");
        let page = folder.join(format!("{stem}.md"));
        let mut files = vec![page.clone()];
        write_whole(&page, format!("# {experiment}\n\n{shows}.\n\n{}", self.section(experiment, "")))?;
        for table in &self.tables {
            let path = folder.join(format!("{}.csv", joined(&stem, table.slug)));
            write_whole(&path, table.to_csv())?;
            files.push(path);
        }
        for (slug, _, figure) in &self.figures {
            let path = folder.join(format!("{}.svg", joined(&stem, slug)));
            write_whole(&path, figure.to_svg())?;
            files.push(path);
        }
        files.extend(self.files.iter().cloned());
        Ok(files)
    }

    /// Notes, tables and figures in Markdown; `figures` is the way from the page to the folder of figures.
    pub fn section(&self, experiment: &str, figures: &str) -> String {
        let stem = experiment.replace('/', "-");
        let mut out = String::new();
        self.notes.iter().for_each(|note| out += &format!("{note}\n\n"));
        self.tables.iter().for_each(|table| out += &format!("{}\n", table.to_markdown()));
        for (slug, caption, _) in &self.figures {
            out += &format!("![{caption}]({figures}{}.svg)\n\n", joined(&stem, slug));
        }
        out
    }
}

fn joined(stem: &str, slug: &str) -> String {
    if slug.is_empty() { stem.to_string() } else { format!("{stem}-{slug}") }
}

/// Writes to a temporary name and renames, so that a reader never sees half a file.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), ReproduceError> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    let partial = path.with_file_name(name);
    fs::write(&partial, bytes).map_err(ReproduceError::io(format!("write {}", partial.display())))?;
    fs::rename(&partial, path).map_err(ReproduceError::io(format!("write {}", path.display())))
}
