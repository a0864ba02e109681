//! `score`: rows against a model that stays as it is.

use crate::args::{AlarmArgs, OnErrorArg, TableArgs, TextArgs};
use crate::documents;
use crate::error::Failure;
use crate::feed::{Feed, Next, Plan, Portion, remove_row};
use crate::linear;
use crate::model_file::{self, AnyModel};
use crate::scores::ScoreTable;
use crate::terminal;
use crate::training::{batch_of, located};
use bayestream::data::DataError;
use bayestream::model::Judge;
use bayestream::outlier::Verdict;
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
    pub input: String,
    /// Format of the input: csv, ndjson, parquet, arrow, or text for one document a line [default: by extension, else by
    /// the first bytes].
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// A column that names the rows, repeated beside their scores.
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    /// What to do with a row that cannot be used.
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub on_error: OnErrorArg,
    #[command(flatten)]
    alarms: AlarmArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub table: TableArgs,
}

/// Scores every row of the input, in its order.
pub fn run(args: ScoreArgs) -> Result<(), Failure> {
    let mut model = match model_file::load_any(&args.model)? {
        AnyModel::Documents(model) => return documents::score::run(&args, *model),
        AnyModel::Linear(model) => return linear::score::run(&args, &args.model, &model),
        AnyModel::Rows(model) => model_file::learnt(&args.model, *model)?,
    };
    // Batch kinds fit here once; otherwise the judge and the scorer would each do it.
    model.finish();
    let columns = model.columns();
    let options = ReadOptions {
        format: args.format,
        columns: Some(columns.to_vec()),
        id_column: args.id_column.clone(),
        on_error: if args.on_error == OnErrorArg::Skip { OnError::Skip } else { OnError::Fail },
        batch_rows: BATCH_ROWS,
        ..ReadOptions::default()
    };
    let plan = Plan { inputs: vec![args.input.clone()], options, columns: Some(columns.to_vec()), skip: 0 };
    let mut feed = Feed::start(plan, None);
    feed.opening()?;
    let mut table = ScoreTable::create(&args.table, &args.alarms, columns, args.id_column.is_some())?;
    let (mut judge, scorer, mut verdicts) = (model.judge(), model.scorer(), Vec::new());
    let mut n_refused = 0;
    loop {
        match feed.next()? {
            Next::Rows(mut portion) => {
                while let Err(error) = judged(&mut judge, &portion, columns.len(), &mut verdicts) {
                    if args.on_error != OnErrorArg::Skip || error.row >= portion.batch.n_rows {
                        return Err(Failure::Failed(located(&error, &portion, columns, false)));
                    }
                    remove_row(&mut portion.batch, error.row, columns.len());
                    n_refused += 1;
                }
                table.add(&portion.batch, &verdicts, &scorer)?;
                table.flush()?;
                feed.reuse(portion.batch);
            }
            Next::End { n_skipped } => {
                terminal::warn_skipped(n_skipped + n_refused);
                return table.finish();
            }
            // Nobody listens for signals here: one ends the process.
            Next::Stop(_) => return table.finish(),
        }
    }
}

fn judged(
    judge: &mut Judge<'_>,
    portion: &Portion,
    n_columns: usize,
    verdicts: &mut Vec<Verdict>,
) -> Result<(), DataError> {
    judge.judge(&batch_of(portion, n_columns)?, verdicts)
}
