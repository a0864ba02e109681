//! `sample`: rows drawn from a model.

use crate::args::TableArgs;
use crate::error::Failure;
use crate::model_file;
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
    let snapshot = model_file::load_learnt(&args.model)?.snapshot();
    let columns = snapshot.columns.iter().map(|name| OutColumn::new(name, CellKind::Float)).collect();
    let mut table = TableWriter::create(&args.table.output, args.table.to, columns)?;
    let mut cells = Vec::with_capacity(snapshot.columns.len());
    let (mut n_left, mut part) = (args.n, 0_u64);
    while n_left > 0 {
        let n = n_left.min(ROWS_AT_ONCE);
        let seed = args.seed.wrapping_add(part.wrapping_mul(PART_STRIDE));
        for row in snapshot.sample(n as usize, seed).chunks_exact(snapshot.columns.len()) {
            cells.clear();
            cells.extend(row.iter().map(|value| Cell::Float(*value)));
            table.write_row(&cells)?;
        }
        n_left -= n;
        part += 1;
    }
    Ok(table.finish()?)
}
