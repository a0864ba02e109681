//! Documents at the edge of what there is: whatever comes, what a model says stays finite and makes sense.

use super::stream::{documents, of_words, planted};
use super::subject::{BATCH, DocumentSubject, feed};
use crate::text::RawDocument;

pub(super) fn empty_documents(subject: &DocumentSubject) -> Result<(), String> {
    let planted = planted(20);
    let (all, fresh) = (documents(&planted, 0, 200), documents(&planted, 5000, 20));
    let nothing = of_words(&[]);
    // Every third document is empty, as the first ones are.
    let spaced: Vec<RawDocument> = [nothing.clone(), RawDocument::Text("  … 12 !".into())]
        .into_iter()
        .chain(all.iter().enumerate().flat_map(|(at, d)| {
            let gap = (at % 3 == 0).then(|| nothing.clone());
            std::iter::once(d.clone()).chain(gap)
        }))
        .collect();
    let model = subject.fitted(&spaced, 20)?;
    subject.ensure(model.n_seen() == spaced.len() as u64, || format!("{} seen", model.n_seen()))?;
    subject.ensure_sound(&model, &fresh, "with empty documents")?;
    subject.ensure_sound(&model, std::slice::from_ref(&nothing), "scoring an empty document")?;
    let (scores, _) = model.score(std::slice::from_ref(&nothing)).map_err(|e| e.to_string())?;
    subject.ensure(scores.log_likelihood == [0.0], || format!("nothing has {:?}", scores.log_likelihood))?;
    // Nothing but nothing: there may be no model, but there must be no harm.
    let mut model = subject.fitted(&vec![nothing; 150], 21)?;
    model.snapshot();
    feed(&mut model, &all, BATCH)?;
    model.finish();
    subject.ensure_sound(&model, &fresh, "after 150 empty documents")
}

pub(super) fn one_document(subject: &DocumentSubject) -> Result<(), String> {
    let one = documents(&planted(22), 0, 1);
    let model = subject.fitted(&one, 22)?;
    subject.ensure_sound(&model, &one, "after one document")
}

pub(super) fn one_word_documents(subject: &DocumentSubject) -> Result<(), String> {
    let words = ["alpha", "beta", "gamma", "delta"];
    let all: Vec<RawDocument> = (0..400).map(|at| of_words(&[words[at * 7 % 4]])).collect();
    let model = subject.fitted(&all, 23)?;
    subject.ensure_sound(&model, &all[..8], "with documents of one word")
}

pub(super) fn one_document_repeated(subject: &DocumentSubject) -> Result<(), String> {
    let same = vec![of_words(&["wheat", "corn", "wheat", "export"]); 300];
    let model = subject.fitted(&same, 24)?;
    subject.ensure_sound(&model, &same[..3], "with one document, repeated")?;
    // All that is said is what the document says.
    let snapshot = model.snapshot();
    let wheat = model.vocabulary().number("wheat").map_or(0, |word| word as usize);
    let expected: f64 = snapshot.topics.iter().map(|t| t.weight * f64::from(t.words[wheat])).sum();
    subject.ensure((expected - 0.5).abs() < 0.05, || format!("half of the words are wheat, and {expected} expected"))
}

pub(super) fn repeated_word(subject: &DocumentSubject) -> Result<(), String> {
    let planted = planted(25);
    let (mut all, fresh) = (documents(&planted, 0, 200), documents(&planted, 5000, 20));
    for at in [0, 57, 199] {
        all[at] = RawDocument::Tokens(vec!["buffalo".into(); 20_000]);
    }
    let model = subject.fitted(&all, 25)?;
    subject.ensure_sound(&model, &fresh, "with a word repeated 20,000 times")?;
    subject.ensure_sound(&model, &all[..1], "scoring a word repeated 20,000 times")
}

pub(super) fn unknown_words(subject: &DocumentSubject) -> Result<(), String> {
    let planted = planted(26);
    let model = subject.fitted(&documents(&planted, 0, 200), 26)?;
    let (known, strange) = (documents(&planted, 5000, 1), of_words(&["xylophone", "zeppelin", "xylophone"]));
    let RawDocument::Tokens(words) = &known[0] else { return Err("not words".into()) };
    let mixed = RawDocument::Tokens(words.iter().cloned().chain(["xylophone".to_string()]).collect());
    let all = [known[0].clone(), mixed, strange];
    subject.ensure_sound(&model, &all, "with words that were never learnt")?;
    let (scores, encoded) = model.score(&all).map_err(|e| e.to_string())?;
    let unknown = (encoded.unknown[1], encoded.unknown[2]);
    subject.ensure(unknown == (encoded.unknown[0] + 1, 3), || format!("{:?} words unknown", encoded.unknown))?;
    let same = scores.log_likelihood[0] == scores.log_likelihood[1] && scores.log_likelihood[2] == 0.0;
    subject.ensure(same, || format!("unknown words change the scores: {:?}", scores.log_likelihood))?;
    // A model that has seen nothing has no word for anything.
    let (scores, _) = subject.model(27)?.score(&all).map_err(|e| e.to_string())?;
    subject.ensure(scores.log_likelihood == [0.0; 3], || format!("nothing learnt: {:?}", scores.log_likelihood))
}
