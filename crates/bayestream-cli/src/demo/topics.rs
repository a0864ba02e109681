//! The demonstration on documents: messages of made-up themes, one of which appears midway.

use crate::documents::inspect::topic_table;
use crate::documents::plot::{sizes_over_time, words};
use crate::error::Failure;
use crate::model_file;
use crate::terminal::{self, counted, short, thousands};
use bayestream::model::{DocumentConfig, DocumentKind, DocumentModel, TopicSnapshot};
use bayestream::num::{self, Rng};
use bayestream::structure::Topic;
use bayestream::text::RawDocument;
use bayestream_io::{Cell, CellKind, OutColumn, TableWriter, write_atomic};
use bayestream_plot::{Chart, MarkStyle, Page, grid};
use std::time::Instant;

/// Messages, and the one from which on there is something new to talk about.
const N_DOCUMENTS: usize = 6000;
const NEWS_AT: usize = 3000;
/// Messages learnt together.
const BATCH: usize = 100;
/// Words of a message.
const SHORTEST: usize = 20;
const LONGEST: usize = 60;
/// Share of words that belong to no theme.
const COMMON_SHARE: f64 = 0.3;
/// Among the words that describe a topic, how many must be of the new theme for it to be the new topic.
const TELLING: usize = 5;

const COMMON: &str = "today morning evening people said still again always never really think know good new old time place \
                      week year long little much going back home around right left next last";

/// What people talk about; the last is the news.
const THEMES: [(&str, &str); 8] = [
    (
        "kitchen",
        "recipe oven flour butter sugar dough bread bake salt pepper onion garlic soup sauce stew pan stir boil \
                 simmer taste spice cake pastry knife plate",
    ),
    (
        "weather",
        "rain cloud storm wind snow frost fog thunder lightning forecast humid drizzle breeze sunshine temperature \
                 pressure flood drought hail gust icy mild chill umbrella season",
    ),
    (
        "football",
        "goal match team player coach referee penalty league striker keeper stadium fans corner offside derby \
                  season transfer pitch tackle header defender midfield cup final whistle",
    ),
    (
        "music",
        "guitar piano drums concert album singer melody chord rhythm band stage orchestra violin tune lyrics chorus \
               bass studio record harmony jazz opera choir tempo encore",
    ),
    (
        "garden",
        "soil seed plant flower tomato rose prune weed compost shovel tree leaf root bulb lawn hedge watering \
                harvest bloom pot greenhouse fence shade mulch bee",
    ),
    (
        "travel",
        "train ticket station airport flight luggage hotel map border passport platform delay journey coach tram \
                harbour ferry bridge suitcase tourist guide museum beach mountain visa",
    ),
    (
        "money",
        "bank loan interest budget price market stock tax invoice salary rent savings debt credit account fee \
               profit pension insurance fund currency payment receipt inflation bond",
    ),
    (
        "eclipse",
        "eclipse moon shadow telescope corona totality astronomer sky glasses partial solar orbit path observers \
                 darkness crescent lunar diamond ring spectacle horizon alignment planet safe viewing",
    ),
];

/// The messages, and what each is about.
struct Messages {
    texts: Vec<String>,
    themes: Vec<usize>,
}

impl Messages {
    fn new(seed: u64) -> Messages {
        let common: Vec<&str> = COMMON.split_whitespace().collect();
        let themes: Vec<Vec<&str>> = THEMES.iter().map(|(_, words)| words.split_whitespace().collect()).collect();
        let mut rng = num::stream(seed, 0, 0);
        let mut messages = Messages { texts: Vec::new(), themes: Vec::new() };
        for at in 0..N_DOCUMENTS {
            let n_themes = if at < NEWS_AT { THEMES.len() - 1 } else { THEMES.len() };
            let first = below(&mut rng, n_themes);
            // Some messages are about two things.
            let second = if rng.uniform() < 0.3 { below(&mut rng, n_themes) } else { first };
            let n_words = SHORTEST + below(&mut rng, LONGEST - SHORTEST);
            let words: Vec<&str> = (0..n_words)
                .map(|_| {
                    let list = match rng.uniform() {
                        u if u < COMMON_SHARE => &common,
                        u if u < COMMON_SHARE + 0.45 => &themes[first],
                        _ => &themes[second],
                    };
                    // The first words of a list are the usual ones.
                    list[below(&mut rng, list.len()).min(below(&mut rng, list.len()))]
                })
                .collect();
            messages.texts.push(words.join(" "));
            messages.themes.push(first);
        }
        messages
    }
}

fn below(rng: &mut Rng, n: usize) -> usize {
    ((rng.uniform() * n as f64) as usize).min(n - 1)
}

/// Runs the demonstration and writes its files into a folder.
pub fn run(folder: &str, seed: u64) -> Result<(), Failure> {
    let file = super::files_in(folder)?;
    let messages = Messages::new(seed);
    write_messages(&file("messages.ndjson"), &messages)?;
    let mut model = DocumentModel::new(DocumentConfig { seed, ..DocumentConfig::new(DocumentKind::TopicsMmHdp) })?;
    let begun = Instant::now();
    for texts in messages.texts.chunks(BATCH) {
        let documents: Vec<RawDocument> = texts.iter().cloned().map(RawDocument::Text).collect();
        model.update(&documents).map_err(|error| Failure::Failed(error.to_string()))?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let snapshot = model.snapshot();
    model_file::save(&file("topics.bay"), &model)?;
    let news = newcomer(&snapshot);
    write_atomic(file("topics.html"), page(&snapshot, news).to_html().as_bytes())?;
    terminal::print(&closing_words(folder, &snapshot, news, seconds))
}

/// The topic that speaks of the new theme.
fn newcomer(snapshot: &TopicSnapshot) -> Option<&Topic> {
    let (_, of_theme) = THEMES[THEMES.len() - 1];
    let of_theme: Vec<&str> = of_theme.split_whitespace().collect();
    let speaks_of_it = |topic: &&Topic| {
        let top = snapshot.top_words(topic, 2 * TELLING);
        top.iter().filter(|w| of_theme.contains(&w.word)).count() >= TELLING
    };
    snapshot.topics.iter().find(speaks_of_it)
}

fn write_messages(path: &str, messages: &Messages) -> Result<(), Failure> {
    let columns = vec![OutColumn::new("theme", CellKind::Text), OutColumn::new("text", CellKind::Text)];
    let mut writer = TableWriter::create(path, None, columns)?;
    for (text, theme) in messages.texts.iter().zip(&messages.themes) {
        writer.write_row(&[Cell::Text(THEMES[*theme].0), Cell::Text(text)])?;
    }
    Ok(writer.finish()?)
}

fn page(snapshot: &TopicSnapshot, news: Option<&Topic>) -> Page {
    let also: Vec<&Topic> = news.into_iter().collect();
    let mut sizes = sizes_over_time(snapshot, &also).marks(&[(NEWS_AT as f64, "a new theme")], MarkStyle::default());
    let mut born = "No topic of the new theme was found.".to_string();
    if let Some(topic) = news {
        sizes = sizes.marks(&[(topic.born as f64, "its topic is born")], MarkStyle::default());
        born = format!(
            "From message {} on there is something new to talk about. Its topic, {}, was born at message {}.",
            thousands(NEWS_AT as u64 + 1),
            topic.id,
            thousands(topic.born)
        );
    }
    let panels: Vec<Chart> = snapshot.topics.iter().map(|topic| words(snapshot, topic).size(400.0, 320.0)).collect();
    Page::new("Topics of a stream of messages")
        .lead(format!(
            "{} in {}, learnt in one pass; nobody said how many there are.",
            counted(snapshot.k_realized() as u64, "topic"),
            counted(snapshot.n_seen, "message")
        ))
        .chart(sizes, born)
        .chart(grid(&panels, 3), "Words that describe each topic; bars are their probability in it.")
}

fn closing_words(folder: &str, snapshot: &TopicSnapshot, news: Option<&Topic>, seconds: f64) -> String {
    let born = match news {
        Some(topic) => format!(
            "the new theme began at message {}; its topic {} was born at message {}",
            thousands(NEWS_AT as u64 + 1),
            topic.id,
            thousands(topic.born)
        ),
        None => "no topic of the new theme was found".to_string(),
    };
    format!(
        "{} learnt in {} s: {} in {} words; {} nats a word\n{born}\n\n{}\nwritten to {folder}: messages.ndjson, topics.bay, \
         topics.html\n\nnow try\n  bayestream inspect {folder}/topics.bay\n  bayestream score {folder}/topics.bay \
         {folder}/messages.ndjson\n  bayestream plot {folder}/topics.bay -o {folder}/topics.svg\n",
        counted(snapshot.n_seen, "message"),
        short(seconds),
        counted(snapshot.k_realized() as u64, "topic"),
        thousands(snapshot.n_words as u64),
        short(snapshot.log_score.prequential_mean),
        topic_table(snapshot, None),
    )
}
