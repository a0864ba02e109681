//! `score`: rows against a model that stays as it is.

use crate::args::{AlarmArgs, OnErrorArg, TableArgs, TextArgs};
use crate::documents;
use crate::error::Failure;
use crate::feed::{Feed, Next, Plan, remove_row};
use crate::files::Files;
use crate::linear;
use crate::model_file::{self, AnyModel};
use crate::scores::{Belongs, RowVerdict, ScoreTable};
use crate::terminal;
use crate::training::{batch_of, located};
use bayestream::data::{Batch, DataError};
use bayestream::model::{FeatureModel, Judge};
use bayestream::outlier::Verdict;
use bayestream::structure::{FeatureScore, FeatureScorer, Reason, Scorer};
use bayestream_io::{Format, OnError, ReadOptions, TableWriter};
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
    Files::default()
        .reads("MODEL", [&args.model])
        .reads("INPUT", [&args.input])
        .writes("-o", [&args.table.output])
        .check()?;
    match model_file::load_any(&args.model)? {
        AnyModel::Documents(model) => documents::score::run(&args, *model),
        AnyModel::Linear(model) => linear::score::run(&args, &args.model, &model),
        AnyModel::Rows(model) => {
            let model = model_file::learnt(&args.model, *model)?;
            let (judge, scorer, verdicts) = (model.judge(), model.scorer(), Vec::new());
            score_rows(&args, model.columns(), None, &mut ByMixture { judge, scorer, verdicts })
        }
        AnyModel::Features(model) => {
            let model = model_file::learnt_features(&args.model, *model)?;
            let scorer = model.scorer();
            let names = scorer.set().features.iter().map(|feature| feature.id.to_string()).collect();
            score_rows(&args, model.columns(), Some(names), &mut ByFeatures { model: &model, scorer })
        }
    }
}

/// Rows before a model that stays as it is.
trait RowJudge {
    /// A verdict for each row of a batch.
    fn judge(&mut self, batch: &Batch<'_>) -> Result<Vec<RowVerdict>, DataError>;

    /// Why a row is surprising.
    fn reasons(&mut self, row: &[f64]) -> Vec<Reason>;
}

struct ByMixture<'a> {
    judge: Judge<'a>,
    scorer: Scorer,
    verdicts: Vec<Verdict>,
}

impl RowJudge for ByMixture<'_> {
    fn judge(&mut self, batch: &Batch<'_>) -> Result<Vec<RowVerdict>, DataError> {
        self.judge.judge(batch, &mut self.verdicts)?;
        Ok(self.verdicts.iter().map(Into::into).collect())
    }

    fn reasons(&mut self, row: &[f64]) -> Vec<Reason> {
        self.scorer.reasons(row)
    }
}

struct ByFeatures<'a> {
    model: &'a FeatureModel,
    scorer: FeatureScorer,
}

impl RowJudge for ByFeatures<'_> {
    fn judge(&mut self, batch: &Batch<'_>) -> Result<Vec<RowVerdict>, DataError> {
        self.model.check(batch)?;
        let verdict = |row: &[f64]| {
            let FeatureScore { log_density, surprise, p_value, activations } = self.scorer.score(row);
            RowVerdict { log_density, surprise, p_value, belongs: Belongs::Features(activations) }
        };
        Ok(batch.rows().chunks_exact(batch.n_columns()).map(verdict).collect())
    }

    fn reasons(&mut self, row: &[f64]) -> Vec<Reason> {
        self.scorer.reasons(row)
    }
}

fn score_rows(
    args: &ScoreArgs,
    columns: &[String],
    features: Option<Vec<String>>,
    judge: &mut impl RowJudge,
) -> Result<(), Failure> {
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
    let TableArgs { output, to } = &args.table;
    let begin = |fields| TableWriter::create(output, *to, fields);
    let mut table = ScoreTable::begin(&args.table, &args.alarms, columns, features, args.id_column.is_some(), begin)?;
    let mut n_refused = 0;
    loop {
        match feed.next()? {
            Next::Rows(mut portion) => {
                let verdicts = loop {
                    match batch_of(&portion, columns.len()).and_then(|batch| judge.judge(&batch)) {
                        Ok(verdicts) => break verdicts,
                        Err(error) => {
                            if args.on_error != OnErrorArg::Skip || error.row >= portion.batch.n_rows {
                                return Err(Failure::Failed(located(&error, &portion, columns, false)));
                            }
                            remove_row(&mut portion.batch, error.row, columns.len());
                            n_refused += 1;
                        }
                    }
                };
                table.add(&portion.batch, verdicts.into_iter(), |row| judge.reasons(row))?;
                table.flush()?;
                feed.reuse(portion.batch);
            }
            Next::End { n_skipped, .. } => {
                terminal::warn_skipped(n_skipped + n_refused);
                return table.finish();
            }
            // Nobody listens for signals here: one ends the process.
            Next::Stop(_) => return table.finish(),
        }
    }
}
