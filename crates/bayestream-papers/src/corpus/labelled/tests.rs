use super::*;
use std::io::Write;
use std::path::PathBuf;

/// A folder of data sets with these files; those that end in `gz` are packed.
fn data_folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = std::fs::File::create(&path).unwrap();
        if name.ends_with("gz") {
            let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
            packed.write_all(text.as_bytes()).unwrap();
            packed.finish().unwrap();
        } else {
            std::fs::write(&path, text).unwrap();
        }
    }
    folder
}

fn newsgroups_folder() -> tempfile::TempDir {
    data_folder(&[
        ("20newsgroups/vocab.txt", "god\nthe\nball\nfaith\n"),
        ("20newsgroups/stopwords-smart.txt", "and\nthe\n"),
        (
            "20newsgroups/bow-train.ndjson.gz",
            "{\"label\":\"talk.religion.misc\",\"terms\":[1,3],\"counts\":[7,2]}\n\
             {\"label\":\"rec.sport.hockey\",\"terms\":[2],\"counts\":[5]}\n\
             {\"label\":\"alt.atheism\",\"terms\":[1],\"counts\":[3]}\n",
        ),
        ("20newsgroups/bow-test.ndjson.gz", "{\"label\":\"alt.atheism\",\"terms\":[0,1],\"counts\":[1,1]}\n"),
    ])
}

#[test]
fn stop_words_go_words_keep_their_numbers_and_a_document_without_words_stays() {
    let folder = newsgroups_folder();
    let news = Labelled::newsgroups(folder.path()).unwrap();
    assert_eq!(news.label_names, ["alt.atheism", "rec.sport.hockey", "talk.religion.misc"]);
    assert_eq!(news.train_labels, [[2], [1], [0]]);
    let train: Vec<_> = news.train.documents().iter().collect();
    assert_eq!(train, [(&[3][..], &[2][..]), (&[2][..], &[5][..]), (&[][..], &[][..])]);
    assert_eq!((news.test.documents().get(0), &news.test_labels), ((&[0][..], &[1][..]), &vec![vec![0]]));
    assert_eq!(news.vocabulary.len(), 4);
}

#[test]
fn two_groups_are_numbered_among_themselves() {
    let folder = newsgroups_folder();
    let two = Labelled::two_newsgroups(folder.path()).unwrap();
    assert_eq!(two.label_names, TWO_GROUPS);
    assert_eq!((two.train_labels, two.test_labels), (vec![vec![1], vec![0]], vec![vec![0]]));
}

#[test]
fn an_order_keeps_documents_and_labels_together() {
    let mut news = Labelled::newsgroups(newsgroups_folder().path()).unwrap();
    (news.train, news.train_labels) = (DocumentBuffer::new(), Vec::new());
    for at in 0..50 {
        news.train.push_counts(vec![(at, 1)]);
        news.train_labels.push(vec![at]);
    }
    let (documents, labels) = news.train_in_order(7);
    let words: Vec<Vec<u32>> = documents.documents().iter().map(|(words, _)| words.to_vec()).collect();
    assert_eq!(words, labels);
    assert_ne!(labels, news.train_labels);
    assert_eq!(labels, news.train_in_order(7).1);
    assert_ne!(labels, news.train_in_order(8).1);
}

#[test]
fn each_page_is_judged_in_one_fold() {
    let page = |at: u32| WikiPage { labels: vec![at % 4, 2], terms: vec![1000 * at + 5, 17], counts: vec![3, at + 1] };
    let pages: Vec<WikiPage> = (0..13).map(page).collect();
    let folds = folds(&pages, 5, 3);
    assert_eq!(folds.iter().map(|fold| fold.test_labels.len()).collect::<Vec<_>>(), [3, 3, 3, 2, 2]);
    let mut judged = Vec::new();
    for fold in &folds {
        assert_eq!(fold.train_labels.len() + fold.test_labels.len(), 13);
        assert_eq!((fold.vocabulary.len(), fold.label_names.len()), (14, 4));
        // The word 17 comes second of all: the number of the other word tells the page, and so does its count.
        for ((words, counts), labels) in fold.test.documents().iter().zip(&fold.test_labels) {
            let second = words.iter().position(|word| fold.vocabulary[*word as usize] == "17").unwrap();
            let at = counts[second] - 1;
            assert_eq!(fold.vocabulary[words[1 - second] as usize], (1000 * at + 5).to_string());
            assert_eq!(labels, &BTreeSet::from([at % 4, 2]).into_iter().collect::<Vec<_>>());
            judged.push(at);
        }
    }
    judged.sort_unstable();
    assert_eq!(judged, (0..13).collect::<Vec<_>>());
}

#[test]
fn topics_of_articles_are_the_largest_and_words_those_of_training_articles() {
    let article = |side: &str, kind: &str, topics: &str, title: &str, text: &str| {
        format!(
            "{{\"modapte\":\"{side}\",\"type\":\"{kind}\",\"labels\":[{topics}],\"title\":\"{title}\",\"text\":\"{text}\"}}\n"
        )
    };
    let lines = [
        article("train", "NORM", "\"wheat\",\"grain\"", "Wheat", "The wheat rose.\\n Reuter"),
        article("unused", "NORM", "\"gold\",\"gold\"", "Gold", "Gold rose."),
        article("train", "BRIEF", "\"grain\"", "Rye", "******Blah blah blah."),
        article("test", "NORM", "\"gold\"", "Gold", "Wheat and gold.\\nREUTER..."),
    ];
    let folder = data_folder(&[("reuters21578/reuters21578.ndjson.gz", &lines.concat())]);
    let reuters = Labelled::reuters(folder.path()).unwrap();
    assert_eq!(reuters.label_names, ["grain", "wheat"]);
    assert_eq!(reuters.vocabulary, ["rose", "rye", "wheat"]);
    assert_eq!(reuters.train_labels, [vec![0, 1], vec![0]]);
    assert_eq!(reuters.train.documents().get(0), (&[0, 2][..], &[1, 2][..]));
    assert_eq!((reuters.test.documents().get(0), &reuters.test_labels), ((&[2][..], &[1][..]), &vec![vec![]]));
}

#[test]
fn missing_data_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = Labelled::newsgroups(folder.path()).unwrap_err();
    assert_eq!(error.code(), "missing-data");
    assert!(error.to_string().contains("20newsgroups/vocab.txt"));
}

/// How many documents have each label.
fn sizes(labels: &[Vec<u32>], n_labels: usize) -> Vec<usize> {
    (0..n_labels as u32).map(|label| labels.iter().filter(|own| own.contains(&label)).count()).collect()
}

#[test]
fn the_corpora_have_the_published_counts() {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        eprintln!("not checked: the corpora with labels are not in {}", data.display());
        return;
    }
    let news = Labelled::newsgroups(&data).unwrap();
    assert_eq!((news.train_labels.len(), news.test_labels.len(), news.vocabulary.len()), (11_269, 7_505, 61_188));
    assert_eq!((news.train.documents().n_tokens(), news.test.documents().n_tokens()), (1_318_299, 860_243));
    let (train, test) = (sizes(&news.train_labels, 20), sizes(&news.test_labels, 20));
    assert_eq!((train.iter().min(), train.iter().max()), (Some(&376), Some(&599)));
    assert_eq!((test.iter().min(), test.iter().max()), (Some(&251), Some(&399)));

    let two = Labelled::two_newsgroups(&data).unwrap();
    assert_eq!((sizes(&two.train_labels, 2), sizes(&two.test_labels, 2)), (vec![480, 376], vec![318, 251]));

    let wiki = Labelled::wiki_folds(&data, 1).unwrap();
    assert!(wiki.iter().all(|fold| (fold.train_labels.len(), fold.test_labels.len()) == (4000, 1000)));
    assert_eq!((wiki.len(), wiki[0].vocabulary.len(), wiki[0].label_names.len()), (5, 34_007, 20));
    let whole = [&wiki[0].train_labels[..], &wiki[0].test_labels[..]].concat();
    assert_eq!((sizes(&whole, 20)[1], sizes(&whole, 20)[16]), (2458, 75));

    let reuters = Labelled::reuters(&data).unwrap();
    assert_eq!((reuters.train_labels.len(), reuters.test_labels.len()), (9603, 3299));
    let names = ["earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn"];
    assert_eq!(reuters.label_names, names);
    assert_eq!(sizes(&reuters.train_labels, 10), [2877, 1650, 538, 433, 389, 369, 347, 212, 197, 181]);
    assert_eq!(sizes(&reuters.test_labels, 10), [1087, 719, 179, 149, 189, 117, 131, 71, 89, 56]);
    assert!(!reuters.vocabulary.iter().any(|word| word == "blah"));
}
