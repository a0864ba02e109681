//! Reproduction of the tables and figures of the papers.
//!
//! [`reproduce`] runs one experiment or all of a paper and writes, into a folder, a Markdown page with its tables, each
//! table as CSV, and its figures as SVG. When the folder's parent holds a page named after the paper (`papers/ofab.md`
//! beside `papers/figures`), the tables are put between its markers as well, so that numbers on the page come from a
//! command:
//!
//! ```text
//! <!-- begin ofab/table1 -->
//! <!-- end ofab/table1 -->
//! ```
//!
//! ```no_run
//! use bayestream_papers::{Options, reproduce};
//!
//! let mut options = Options {
//!     data_dir: None,
//!     out_dir: "papers/figures".into(),
//!     seeds: None,
//!     n_threads: 2,
//!     with_batch: false,
//!     export: false,
//!     progress: &mut |line| eprintln!("{line}"),
//! };
//! let report = reproduce("ofab/table1", &mut options).unwrap();
//! println!("{}", report.experiments[0].markdown);
//! ```
//!
//! [`EXPERIMENTS`] lists what there is. Runs with different seeds go over threads; results do not depend on how many.

mod asugs;
mod bayespa;
mod bmm;
mod corpus;
mod data;
mod error;
mod experiment;
mod learn;
mod lfm;
mod memory;
pub mod npy;
mod ofab;
mod outcome;
mod outliers;
mod page;
mod parallel;
mod pca;
mod summary;
mod table;
pub mod topics;

pub use corpus::Labelled;
pub use error::ReproduceError;
pub use experiment::{EXPERIMENTS, Experiment, Options, Report, Reproduced, reproduce};
pub use page::insert_section;
