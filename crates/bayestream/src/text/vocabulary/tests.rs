//! What vocabularies promise.

use super::*;
use proptest::prelude::*;

/// Learns batches of words; gives each batch's numbers (none for words left out) and the numbers recycled.
fn learn(vocabulary: &mut Vocabulary, batches: &[Vec<String>]) -> Vec<(Vec<Option<u32>>, Vec<u32>)> {
    let mut numbers = Vec::new();
    for batch in batches {
        vocabulary.begin_batch();
        let of_batch = batch.iter().map(|word| Some(vocabulary.learn(word, 1)?.0)).collect();
        numbers.push((of_batch, vocabulary.end_batch()));
    }
    numbers
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

fn reload(vocabulary: &Vocabulary) -> Vocabulary {
    postcard::from_bytes(&postcard::to_stdvec(vocabulary).unwrap()).unwrap()
}

#[test]
fn numbers_are_given_in_the_order_of_arrival() {
    let mut vocabulary = Vocabulary::growing(10, 1);
    let numbers = learn(&mut vocabulary, &[words("b a b c"), words("a d")]);
    assert_eq!(numbers[0].0, [Some(0), Some(1), Some(0), Some(2)]);
    assert_eq!(numbers[1], (vec![Some(1), Some(3)], vec![]));
    assert_eq!((vocabulary.len(), vocabulary.n_words()), (4, 4));
    assert_eq!((vocabulary.word(2), vocabulary.number("c"), vocabulary.count(0)), (Some("c"), Some(2), 2));
    assert_eq!((vocabulary.word(4), vocabulary.number("e"), vocabulary.count(4)), (None, None, 0));
}

#[test]
fn a_word_enters_when_it_has_been_seen_often_enough() {
    let mut vocabulary = Vocabulary::growing(10, 3);
    let numbers = learn(&mut vocabulary, &[words("a b a"), words("b a a"), words("b")]);
    assert_eq!(numbers[0].0, [None, None, None]);
    assert_eq!(numbers[1].0, [None, Some(0), Some(0)]);
    assert_eq!(numbers[2].0, [Some(1)]);
    assert_eq!((vocabulary.count(0), vocabulary.count(1)), (4, 3));
    // Several at once: of five occurrences after one, the first lacks its place as the second of three.
    vocabulary.begin_batch();
    assert_eq!(vocabulary.learn("c", 1), None);
    assert_eq!(vocabulary.learn("c", 5), Some((2, 4)));
}

#[test]
fn the_rarest_and_then_the_oldest_words_make_room() {
    let mut vocabulary = Vocabulary::growing(8, 1);
    learn(&mut vocabulary, &[words("a a a b c d"), words("b e f g h")]);
    // c and d were seen once and before all others; one in eight goes at a time, the smaller number first.
    let numbers = learn(&mut vocabulary, &[words("new a")]);
    assert_eq!(numbers[0], (vec![Some(2), Some(0)], vec![2]));
    assert_eq!((vocabulary.number("c"), vocabulary.number("new"), vocabulary.word(2)), (None, Some(2), Some("new")));
    // Counts were halved: a had 3, then 1, and was seen once more.
    assert_eq!(vocabulary.count(0), 2);
    let numbers = learn(&mut vocabulary, &[words("newer newest")]);
    // d and the others seen once have 0 now, and d is the oldest; then b has 0 too, and the smallest number.
    assert_eq!(numbers[0].1, [1, 3]);
    assert_eq!((vocabulary.n_words(), vocabulary.len()), (8, 8));
}

#[test]
fn words_of_the_batch_are_not_forgotten_and_what_has_no_room_is_left_out() {
    let mut vocabulary = Vocabulary::growing(3, 1);
    learn(&mut vocabulary, &[words("old")]);
    let numbers = learn(&mut vocabulary, &[words("a b c d e a")]);
    // old makes room for c; then every word is one of the batch.
    assert_eq!(numbers[0], (vec![Some(1), Some(2), Some(0), None, None, Some(1)], vec![0]));
    // The next batch may take their places.
    let numbers = learn(&mut vocabulary, &[words("d")]);
    assert_eq!(numbers[0].1.len(), 1);
    assert!(vocabulary.number("d").is_some());
}

#[test]
fn words_that_wait_are_bounded_too() {
    let mut vocabulary = Vocabulary::growing(50, 4);
    for batch in 0..200 {
        let new: Vec<String> = (0..40).map(|ix| format!("w{}", batch * 40 + ix)).collect();
        learn(&mut vocabulary, &[new, words("again again")]);
        let Kind::Growing(growing) = &vocabulary.kind else { unreachable!("it grows") };
        assert!(growing.waiting.len() <= 50);
    }
    assert!(vocabulary.number("again").is_some(), "a word that goes on occurring enters in spite of the crowd");
    assert_eq!(reload(&vocabulary), vocabulary);
}

#[test]
fn a_given_list_stays() {
    let mut list = Vocabulary::from_list(words("zero one two one"));
    let numbers = learn(&mut list, &[words("two three one")]);
    assert_eq!(numbers[0], (vec![Some(2), None, Some(1)], vec![]));
    assert_eq!((list.len(), list.word(3), list.n_words()), (4, Some("one"), 4));
    assert_eq!(reload(&list).number("one"), Some(1));
}

#[test]
fn hashed_words_keep_within_the_size() {
    let mut hashed = Vocabulary::hashing(7, 2);
    assert_eq!((hashed.len(), hashed.n_words(), hashed.number("a")), (7, 0, None));
    assert_eq!(hashed.learn("a", 1), None);
    let (number, times) = hashed.learn("a", 3).unwrap();
    assert_eq!((times, hashed.number("a"), hashed.word(number)), (3, Some(number), Some("a")));
    assert_eq!((hashed.count(number), hashed.end_batch()), (4, vec![]));
    assert_eq!(reload(&hashed), hashed);
}

#[test]
fn damaged_vocabularies_are_refused() {
    let mut vocabulary = Vocabulary::growing(5, 2);
    learn(&mut vocabulary, &[words("a a b b c")]);
    let refuse = |change: fn(&mut Growing)| {
        let mut vocabulary = vocabulary.clone();
        let Kind::Growing(growing) = &mut vocabulary.kind else { unreachable!("it grows") };
        change(growing);
        let kind = vocabulary.kind;
        assert_eq!(Vocabulary::try_from(Saved { kind }).unwrap_err().code(), "damaged-vocabulary");
    };
    refuse(|growing| growing.words[1] = "a".into());
    refuse(|growing| {
        growing.counts.pop();
    });
    refuse(|growing| {
        growing.last_seen.pop();
    });
    refuse(|growing| growing.last_seen[0] = 9);
    refuse(|growing| growing.max_words = 1);
    refuse(|growing| growing.min_count = 0);
    refuse(|growing| {
        growing.waiting.insert("a".into(), 1);
    });
    refuse(|growing| {
        growing.waiting.insert("d".into(), 2);
    });
    assert!(Vocabulary::try_from(Saved { kind: vocabulary.kind.clone() }).is_ok());
}

#[test]
fn merging_adds_up_and_renumbers() {
    let (mut a, mut b) = (Vocabulary::growing(4, 2), Vocabulary::growing(4, 2));
    learn(&mut a, &[words("x x y y y once")]);
    learn(&mut b, &[words("z z z z x x"), words("once y w")]);
    let (merged, renumbering) = Vocabulary::merge(&[&a, &b]).unwrap();
    // y has 3 + 1, which waited, z and x 4; z was seen one batch ago, x and y in the last batch of a.
    assert_eq!([0, 1, 2].map(|number| merged.word(number).unwrap()), ["x", "y", "z"]);
    assert_eq!([0, 1, 2].map(|number| merged.count(number)), [4, 4, 4]);
    assert_eq!(renumbering, [vec![Some(0), Some(1)], vec![Some(2), Some(0)]]);
    // `once` was seen twice, but no model has learnt of it: the next time it enters.
    assert_eq!(merged.number("once"), None);
    let mut merged = merged;
    assert_eq!(merged.learn("once", 1), Some((3, 1)));

    let differ = |other: &Vocabulary| Vocabulary::merge(&[&a, other]).unwrap_err().code();
    assert_eq!(differ(&Vocabulary::growing(5, 2)), "vocabularies-differ");
    assert_eq!(differ(&Vocabulary::growing(4, 1)), "vocabularies-differ");
    assert_eq!(differ(&Vocabulary::hashing(4, 2)), "vocabularies-differ");
    assert!(Vocabulary::merge(&[]).is_err());
    let list = Vocabulary::from_list(words("a b"));
    assert_eq!(Vocabulary::merge(&[&list, &list]).unwrap().1, vec![vec![Some(0), Some(1)]; 2]);
    assert!(Vocabulary::merge(&[&list, &Vocabulary::from_list(words("b a"))]).is_err());
}

fn batches() -> impl Strategy<Value = Vec<Vec<String>>> {
    // Small numbers are frequent, as words are.
    let word = (0u32..1000).prop_map(|number| format!("w{}", number * number * number / 20_000_000));
    prop::collection::vec(prop::collection::vec(word, 0..30), 0..12)
}

fn any_kind(kind: usize, size: usize, min_count: u32) -> Vocabulary {
    match kind {
        0 => Vocabulary::growing(size, min_count),
        _ => Vocabulary::hashing(size, min_count),
    }
}

proptest! {
    #[test]
    fn the_bound_holds_and_numbers_keep_their_meaning(batches in batches(), size in 1usize..12, min_count in 1u32..4) {
        let mut vocabulary = Vocabulary::growing(size, min_count);
        let mut meaning: Vec<String> = vec![String::new(); size];
        for batch in &batches {
            let (numbers, recycled) = learn(&mut vocabulary, std::slice::from_ref(batch)).remove(0);
            prop_assert!(vocabulary.len() <= size && vocabulary.n_words() <= size);
            for number in recycled {
                meaning[number as usize].clear();
            }
            for (word, number) in batch.iter().zip(numbers) {
                if let Some(number) = number {
                    let meant = &mut meaning[number as usize];
                    prop_assert!(meant.is_empty() || meant == word, "{} became {}", meant, word);
                    meant.clone_from(word);
                    prop_assert_eq!(vocabulary.word(number), Some(word.as_str()));
                }
            }
        }
    }

    #[test]
    fn the_same_words_give_the_same_numbers_also_after_loading(
        batches in batches(), later in batches(), kind in 0usize..2, size in 1usize..12, min_count in 1u32..4
    ) {
        let mut once = any_kind(kind, size, min_count);
        let mut again = any_kind(kind, size, min_count);
        prop_assert_eq!(learn(&mut once, &batches), learn(&mut again, &batches));
        let mut loaded = reload(&once);
        prop_assert_eq!(&loaded, &once);
        prop_assert_eq!(learn(&mut once, &later), learn(&mut loaded, &later));
        prop_assert_eq!(postcard::to_stdvec(&once).unwrap(), postcard::to_stdvec(&loaded).unwrap());
    }

    #[test]
    fn merging_does_not_depend_on_the_order(
        a in batches(), b in batches(), c in batches(), kind in 0usize..2, size in 1usize..12, min_count in 1u32..4
    ) {
        let mut parts = [0; 3].map(|_| any_kind(kind, size, min_count));
        for (part, batches) in parts.iter_mut().zip([&a, &b, &c]) {
            learn(part, batches);
        }
        let [a, b, c] = &parts;
        let (merged, maps) = Vocabulary::merge(&[a, b, c]).unwrap();
        let (other, other_maps) = Vocabulary::merge(&[c, a, b]).unwrap();
        prop_assert_eq!(postcard::to_stdvec(&merged).unwrap(), postcard::to_stdvec(&other).unwrap());
        prop_assert_eq!([&maps[0], &maps[1], &maps[2]], [&other_maps[1], &other_maps[2], &other_maps[0]]);
        prop_assert!(merged.len() <= size);
        for (part, map) in parts.iter().zip(&maps) {
            prop_assert_eq!(map.len(), part.len());
            for (number, new) in map.iter().enumerate().filter(|_| kind == 0) {
                let word = part.word(number as u32);
                prop_assert_eq!(word.and_then(|word| merged.number(word)), *new);
                // Nothing is left out while there is room.
                prop_assert!(new.is_some() || word.is_none() || merged.n_words() == size);
            }
        }
        let (alone, map) = Vocabulary::merge(&[a]).unwrap();
        prop_assert_eq!(alone.n_words(), a.n_words());
        prop_assert_eq!(map[0].iter().flatten().count(), if kind == 0 { a.n_words() } else { size });
    }
}
