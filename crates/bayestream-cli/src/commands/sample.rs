//! `sample`: rows drawn from a model.

use crate::args::TableArgs;
use crate::error::Failure;
use crate::files::Files;
use crate::model_file::{self, AnyModel};
use bayestream_io::{Cell, CellKind, OutColumn, TableWriter};
use clap::Args;

/// Rows drawn at once; longer samples are drawn in parts, each from a stream of its own.
const ROWS_AT_ONCE: u64 = 65_536;
/// Keeps the streams of the parts of one seed away from those of its neighbours.
const PART_STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Arguments of `sample`.
#[derive(Args)]
pub struct SampleArgs {
    /// The model file.
    #[arg(value_name = "MODEL")]
    model: String,
    /// How many rows to draw.
    #[arg(short = 'n', long = "rows", value_name = "N")]
    n: u64,
    /// Seed: the same seed gives the same rows.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    table: TableArgs,
}

/// Draws rows.
pub fn run(args: SampleArgs) -> Result<(), Failure> {
    Files::default().reads("MODEL", [&args.model]).writes("-o", [&args.table.output]).check()?;
    match model_file::load_any(&args.model)? {
        AnyModel::Features(model) => {
            let snapshot = model_file::learnt_features(&args.model, *model)?.snapshot();
            draw(&args, &snapshot.columns, |n, seed| snapshot.sample(n, seed))
        }
        AnyModel::Rows(model) => {
            let snapshot = model_file::learnt(&args.model, *model)?.snapshot();
            draw(&args, &snapshot.columns, |n, seed| snapshot.sample(n, seed))
        }
        AnyModel::Documents(model) => {
            Err(model_file::has_no_rows(&args.model, model.config().kind.name(), "documents"))
        }
        AnyModel::Linear(model) => {
            Err(model_file::has_no_rows(&args.model, model.config().kind.name(), "labelled rows"))
        }
    }
}

fn draw(args: &SampleArgs, names: &[String], rows: impl Fn(usize, u64) -> Vec<f64>) -> Result<(), Failure> {
    let columns = names.iter().map(|name| OutColumn::new(name, CellKind::Float)).collect();
    let mut table = TableWriter::create(&args.table.output, args.table.to, columns)?;
    let mut cells = Vec::with_capacity(names.len());
    let (mut n_left, mut part) = (args.n, 0_u64);
    while n_left > 0 {
        let n = n_left.min(ROWS_AT_ONCE);
        let seed = args.seed.wrapping_add(part.wrapping_mul(PART_STRIDE));
        for row in rows(n as usize, seed).chunks_exact(names.len()) {
            cells.clear();
            cells.extend(row.iter().map(|value| Cell::Float(*value)));
            table.write_row(&cells)?;
        }
        n_left -= n;
        part += 1;
    }
    Ok(table.finish()?)
}
