//! `score` of documents: the topics of each, and how likely its words are.

use super::reading;
use crate::ahead::Next;
use crate::args::OnErrorArg;
use crate::commands::ScoreArgs;
use crate::error::Failure;
use crate::named_numbers::NamedNumbers;
use crate::terminal::{self, counted};
use bayestream::model::DocumentModel;
use bayestream::structure::ComponentId;
use bayestream::text::{RawDocument, TextError};
use bayestream_io::{Cell, CellKind, Format, OutColumn, TableWriter};

/// Documents scored together.
const BATCH: usize = 256;
/// Words told that spoke for a label, at most.
const REASONS: usize = 8;
/// Topics with a smaller share of a document are not listed.
const LEAST_SHARE: f32 = 0.01;

/// Scores every document of the input, in its order.
pub fn run(args: &ScoreArgs, mut model: DocumentModel) -> Result<(), Failure> {
    // Batch kinds fit here once, and not for every batch.
    model.finish();
    let mut options = args.text.options(args.format, args.on_error, BATCH);
    options.id_column = args.id_column.clone();
    if options.text_columns.is_empty() {
        options.text_columns = model.config().columns.clone();
    }
    let mut documents = reading::read_ahead(vec![args.input.clone()], options, 0, None);
    let mut fields = vec![OutColumn::new("row", CellKind::Int)];
    if args.id_column.is_some() {
        fields.push(OutColumn::new("id", CellKind::Text));
    }
    fields.extend([
        OutColumn::new("log_likelihood", CellKind::Float),
        OutColumn::new("log_likelihood_per_word", CellKind::Float),
        OutColumn::new("n_words", CellKind::Int),
        OutColumn::new("n_unknown", CellKind::Int),
        OutColumn::new("component", CellKind::Text),
        OutColumn::new("responsibility", CellKind::Float),
    ]);
    let has_records = TableWriter::format_of(&args.table.output, args.table.to)? == Format::Ndjson;
    let kind = if has_records { CellKind::Records } else { CellKind::TextList };
    fields.push(OutColumn::new("topics", kind));
    let labels = model.labels().names().to_vec();
    let several = model.tells_several();
    if !labels.is_empty() {
        fields.push(match several {
            true => OutColumn::new("labels", CellKind::TextList),
            false => OutColumn::new("label", CellKind::Text),
        });
        fields.push(OutColumn::new("margin", CellKind::Float));
        fields.push(OutColumn::new("scores", kind));
        fields.push(OutColumn::new("reasons", kind));
    }
    let mut writer = TableWriter::create(&args.table.output, args.table.to, fields)?;
    let (mut n_documents, mut n_refused) = (0u64, 0);
    let n_left_out = loop {
        let mut portion = match documents.next()? {
            Next::One(portion) => portion,
            Next::End(amiss) => break amiss.n_skipped,
            // Nobody listens for signals here: one ends the process.
            Next::Stop(_) => break 0,
        };
        let (scores, encoded) = loop {
            match model.score(&portion.batch.documents) {
                Ok(scored) => break scored,
                Err(error) => match error.document().filter(|_| args.on_error == OnErrorArg::Skip) {
                    Some(at) => {
                        reading::remove(&mut portion.batch, at);
                        n_refused += 1;
                    }
                    None => return Err(reading::located(&error, &portion)),
                },
            }
        };
        for at in 0..portion.batch.len() {
            let shares = heaviest(&scores.topics, scores.shares_of(at));
            let names: Vec<String> = shares.iter().map(|(id, _)| id.to_string()).collect();
            let told: Vec<String> = shares.iter().map(|(id, share)| format!("{id} {share:.3}")).collect();
            let records: Vec<Vec<(&str, Cell<'_>)>> = names
                .iter()
                .zip(&shares)
                .map(|(name, (_, share))| vec![("id", Cell::Text(name)), ("share", Cell::Float(f64::from(*share)))])
                .collect();
            let whole = |n: u64| Cell::Int(i64::try_from(n).unwrap_or(i64::MAX));
            let mut cells = vec![whole(portion.batch.rows[at])];
            if args.id_column.is_some() {
                cells.push(portion.batch.ids.get(at).map_or(Cell::Null, |id| Cell::Text(id)));
            }
            cells.extend([
                Cell::Float(scores.log_likelihood[at]),
                Cell::Float(scores.per_word(at).unwrap_or(f64::NAN)),
                whole(scores.n_tokens[at]),
                whole(encoded.unknown[at]),
                names.first().map_or(Cell::Null, |name| Cell::Text(name)),
                shares.first().map_or(Cell::Null, |(_, share)| Cell::Float(f64::from(*share))),
                if has_records { Cell::Records(&records) } else { Cell::TextList(&told) },
            ]);
            let judged;
            if !labels.is_empty() {
                judged = Judged::new(&model, &labels, &portion.batch.documents[at], scores.margins_of(at))
                    .map_err(|error| reading::located(&error, &portion))?;
                cells.extend(judged.cells(several, has_records));
            }
            writer.write_row(&cells)?;
        }
        n_documents += portion.batch.len() as u64;
        writer.flush()?;
    };
    writer.finish()?;
    terminal::warn_skipped(n_left_out + n_refused);
    terminal::note(counted(n_documents, "document"));
    Ok(())
}

/// What a document says of the labels.
struct Judged<'a> {
    told: Vec<String>,
    margin: f64,
    scores: NamedNumbers<'a>,
    reasons: NamedNumbers<'a>,
}

impl<'a> Judged<'a> {
    fn new(
        model: &'a DocumentModel,
        labels: &'a [String],
        document: &RawDocument,
        margins: &[f32],
    ) -> Result<Judged<'a>, TextError> {
        let mut order: Vec<usize> = (0..margins.len()).collect();
        order.sort_by(|a, b| margins[*b].total_cmp(&margins[*a]).then(a.cmp(b)));
        let best = order.first().copied().unwrap_or(0);
        let margin = match (model.tells_several(), order.get(1)) {
            (true, _) => margins.iter().fold(f32::INFINITY, |least, margin| least.min(margin.abs())),
            (false, Some(second)) => margins[best] - margins[*second],
            (false, None) => margins[best],
        };
        let words = model.speaking_words(document, best as u32, REASONS)?;
        let score = |label: &usize| (labels[*label].as_str(), f64::from(margins[*label]));
        Ok(Judged {
            told: model.told_labels(margins).iter().map(|label| labels[*label as usize].clone()).collect(),
            margin: f64::from(margin),
            scores: NamedNumbers::of("label", "score", order.iter().map(score)),
            reasons: NamedNumbers::of(
                "feature",
                "amount",
                words.into_iter().map(|(word, vote)| (word, f64::from(vote))),
            ),
        })
    }

    fn cells(&'a self, several: bool, as_records: bool) -> [Cell<'a>; 4] {
        let first = self.told.first().map_or(Cell::Null, |label| Cell::Text(label));
        [
            if several { Cell::TextList(&self.told) } else { first },
            Cell::Float(self.margin),
            self.scores.cell(as_records),
            self.reasons.cell(as_records),
        ]
    }
}

/// The topics that a document has, the heaviest first.
fn heaviest(topics: &[ComponentId], shares: &[f32]) -> Vec<(ComponentId, f32)> {
    let mut listed: Vec<(ComponentId, f32)> =
        topics.iter().copied().zip(shares.iter().copied()).filter(|(_, share)| *share >= LEAST_SHARE).collect();
    listed.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    listed
}
