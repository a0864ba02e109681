//! `score`: rows against a model that stays as it is.

use crate::args::{OnErrorArg, TableArgs};
use crate::error::Failure;
use crate::feed::{Feed, Next, Plan};
use crate::model_file;
use crate::scores::ScoreTable;
use crate::terminal;
use bayestream_io::{Format, OnError, ReadOptions};
use clap::Args;

/// Rows scored together.
const BATCH_ROWS: usize = 512;

/// Arguments of `score`.
#[derive(Args)]
pub struct ScoreArgs {
    /// The model file.
    #[arg(value_name = "MODEL")]
    model: String,
    /// A file with rows, or `-` for standard input. Columns that the model does not have are ignored.
    #[arg(value_name = "INPUT")]
    input: String,
    /// Format of the input: csv, ndjson, parquet or arrow [default: by extension, else by the first bytes].
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// A column that names the rows, repeated beside their scores.
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// What to do with a row that cannot be used.
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    on_error: OnErrorArg,
    #[command(flatten)]
    table: TableArgs,
}

/// Scores every row of the input, in its order.
pub fn run(args: ScoreArgs) -> Result<(), Failure> {
    let snapshot = model_file::load_learnt(&args.model)?.snapshot();
    let options = ReadOptions {
        format: args.format,
        columns: Some(snapshot.columns.clone()),
        id_column: args.id_column.clone(),
        on_error: if args.on_error == OnErrorArg::Skip { OnError::Skip } else { OnError::Fail },
        batch_rows: BATCH_ROWS,
        ..ReadOptions::default()
    };
    let columns = Some(snapshot.columns.clone());
    let mut feed = Feed::start(Plan { inputs: vec![args.input.clone()], options, columns, skip: 0 }, None);
    feed.opening()?;
    let mut table = ScoreTable::create(&args.table.output, args.table.to, &snapshot.columns, args.id_column.is_some())?;
    let mut scorer = snapshot.scorer();
    loop {
        match feed.next()? {
            Next::Rows(portion) => {
                table.add(&mut scorer, &portion.batch)?;
                table.flush()?;
                feed.reuse(portion.batch);
            }
            Next::End { n_skipped } => {
                terminal::warn_skipped(n_skipped);
                return table.finish();
            }
            // Nobody listens for signals here: one ends the process.
            Next::Stop(_) => return table.finish(),
        }
    }
}
