//! `score` of labelled rows and documents: the label or number of each, how sure, and which features spoke for it.

use super::reading::{Next, Source};
use crate::args::OnErrorArg;
use crate::commands::ScoreArgs;
use crate::documents::reading;
use crate::error::Failure;
use crate::feed::{Feed, Plan};
use crate::named_numbers::NamedNumbers;
use crate::terminal::{self, counted};
use bayestream::engine::linear::{Contribution, Judgement, TargetChoice};
use bayestream::model::{LinearKind, LinearModel};
use bayestream_io::{Cell, CellKind, Format, OnError, OutColumn, ReadOptions, TableWriter};

/// Rows scored together.
const BATCH: usize = 256;

/// A table of judgements being written.
struct Table<'a> {
    writer: TableWriter,
    model: &'a LinearModel,
    has_ids: bool,
    has_deviations: bool,
    /// Lists of objects, where the format has them.
    has_records: bool,
}

/// Scores every row of the input, in its order.
pub fn run(args: &ScoreArgs, path: &str, model: &LinearModel) -> Result<(), Failure> {
    let is_number = model.config().settings.target == TargetChoice::Number;
    if model.learner().n_unlabelled() == model.n_seen() {
        let (n_seen, what) = (counted(model.n_seen(), "row"), if is_number { "numbers" } else { "labels" });
        return Err(Failure::Failed(format!("{path}: the model has met no {what} yet ({n_seen} seen): fit it first")));
    }
    let mut source = start(args, model)?;
    let mut table = Table::create(args, model)?;
    let (mut n_rows, mut n_left_out, mut n_refused) = (0, 0, 0);
    loop {
        match source.next()? {
            Next::Some(mut portion) => {
                let (judged, unknown) = loop {
                    match portion.score(model) {
                        Ok(judged) => break judged,
                        Err(error) => {
                            let skips = args.on_error == OnErrorArg::Skip;
                            let Some(at) = error.row().filter(|at| skips && *at < portion.len()) else {
                                return Err(portion.located(&error, &model.config().columns, false));
                            };
                            portion.remove(at, model.config().columns.len());
                            n_refused += 1;
                        }
                    }
                };
                for (at, judgement) in judged.iter().enumerate() {
                    table.write(portion.row(at), portion.id(at), judgement, unknown.get(at).copied())?;
                }
                n_rows += portion.len() as u64;
                table.writer.flush()?;
            }
            Next::End(amiss) => {
                n_left_out = amiss.n_skipped;
                break;
            }
            // Nobody listens for signals here: one ends the process.
            Next::Stop(_) => break,
        }
    }
    table.writer.finish()?;
    terminal::warn_skipped(n_left_out + n_refused);
    terminal::note(counted(n_rows, "row"));
    Ok(())
}

fn start(args: &ScoreArgs, model: &LinearModel) -> Result<Source, Failure> {
    if model.reads_documents() {
        let mut options = args.text.options(args.format, args.on_error, BATCH);
        options.id_column = args.id_column.clone();
        if options.text_columns.is_empty() {
            options.text_columns = model.config().columns.clone();
        }
        return Ok(Source::Documents(reading::read_ahead(vec![args.input.clone()], options, 0, None)));
    }
    let columns = model.config().columns.clone();
    let options = ReadOptions {
        format: args.format,
        columns: Some(columns.clone()),
        id_column: args.id_column.clone(),
        on_error: if args.on_error == OnErrorArg::Skip { OnError::Skip } else { OnError::Fail },
        batch_rows: BATCH,
        ..ReadOptions::default()
    };
    let plan = Plan { inputs: vec![args.input.clone()], options, columns: Some(columns), skip: 0 };
    let mut feed = Feed::start(plan, None);
    feed.opening()?;
    Ok(Source::Rows(feed))
}

impl<'a> Table<'a> {
    fn create(args: &ScoreArgs, model: &'a LinearModel) -> Result<Table<'a>, Failure> {
        let has_records = TableWriter::format_of(&args.table.output, args.table.to)? == Format::Ndjson;
        let list = if has_records { CellKind::Records } else { CellKind::TextList };
        let (has_ids, has_deviations) = (args.id_column.is_some(), model.config().kind == LinearKind::BayesPaGibbs);
        let mut fields = vec![OutColumn::new("row", CellKind::Int)];
        if has_ids {
            fields.push(OutColumn::new("id", CellKind::Text));
        }
        fields.push(match model.config().settings.target {
            TargetChoice::Label => OutColumn::new("label", CellKind::Text),
            TargetChoice::Labels => OutColumn::new("labels", CellKind::TextList),
            TargetChoice::Number => OutColumn::new("prediction", CellKind::Float),
        });
        let is_number = model.config().settings.target == TargetChoice::Number;
        if !is_number {
            fields.push(OutColumn::new("margin", CellKind::Float));
        }
        if has_deviations {
            fields.push(OutColumn::new("deviation", CellKind::Float));
        }
        if !is_number {
            fields.push(OutColumn::new("scores", list));
        }
        if model.reads_documents() {
            fields.push(OutColumn::new("n_unknown", CellKind::Int));
        }
        fields.push(OutColumn::new("reasons", list));
        let writer = TableWriter::create(&args.table.output, args.table.to, fields)?;
        Ok(Table { writer, model, has_ids, has_deviations, has_records })
    }

    fn write(&mut self, row: u64, id: Option<&str>, judged: &Judgement, unknown: Option<u64>) -> Result<(), Failure> {
        let (model, target) = (self.model, self.model.config().settings.target);
        let name = |at: usize| model.labels()[at].as_str();
        let named: Vec<String> = judged.labels.iter().map(|at| name(*at).to_string()).collect();
        let scores = judged.scores.iter().enumerate().map(|(at, score)| (name_of(model, at), *score));
        let scores = NamedNumbers::of("label", "score", scores);
        let reason = |reason: &Contribution| (model.feature_name(reason.feature).unwrap_or_default(), reason.amount);
        let reasons = NamedNumbers::of("feature", "amount", judged.reasons.iter().map(reason));
        let whole = |n: u64| Cell::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let mut cells = vec![whole(row)];
        if self.has_ids {
            cells.push(id.map_or(Cell::Null, Cell::Text));
        }
        cells.push(match target {
            TargetChoice::Label => judged.labels.first().map_or(Cell::Null, |at| Cell::Text(name(*at))),
            TargetChoice::Labels => Cell::TextList(&named),
            TargetChoice::Number => Cell::Float(judged.number),
        });
        if target != TargetChoice::Number {
            cells.push(Cell::Float(judged.margin));
        }
        if self.has_deviations {
            cells.push(judged.deviation.map_or(Cell::Null, Cell::Float));
        }
        if target != TargetChoice::Number {
            cells.push(scores.cell(self.has_records));
        }
        if model.reads_documents() {
            cells.push(unknown.map_or(Cell::Null, whole));
        }
        cells.push(reasons.cell(self.has_records));
        Ok(self.writer.write_row(&cells)?)
    }
}

fn name_of(model: &LinearModel, label: usize) -> &str {
    model.labels().get(label).map_or("", String::as_str)
}
