//! Laws of the topic model, and edges of its input.

use super::*;
use crate::metrics;
use crate::synthetic::{PlantedShape, PlantedTopics};

fn buffer(documents: &[&[u32]]) -> DocumentBuffer {
    let mut buffer = DocumentBuffer::new();
    documents.iter().for_each(|tokens| buffer.push_tokens(tokens.iter().copied()));
    buffer
}

fn small() -> TopicSettings {
    TopicSettings { max_topics: 40, ..TopicSettings::default() }
}

fn bytes(learner: &MmHdp) -> Vec<u8> {
    postcard::to_stdvec(learner).unwrap()
}

fn planted(n_topics: usize, seed: u64) -> (PlantedShape, PlantedTopics) {
    let alpha = 3.0 / n_topics as f64;
    let shape = PlantedShape { n_topics, n_words: 500, mean_words: 50.0, alpha, ..PlantedShape::default() };
    (shape, PlantedTopics::new(&shape, seed))
}

/// Learns documents in batches of `size`.
fn learnt(settings: &TopicSettings, documents: &Documents<'_>, size: usize) -> MmHdp {
    let mut learner = MmHdp::new(settings, 11, 2);
    learn_more(&mut learner, documents, 0, size);
    learner
}

fn learn_more(learner: &mut MmHdp, documents: &Documents<'_>, from: usize, size: usize) {
    let mut batch = DocumentBuffer::new();
    for at in from..documents.len() {
        let (words, counts) = documents.get(at);
        batch.push_counts(words.iter().copied().zip(counts.iter().copied()).collect());
        if batch.documents().len() == size || at + 1 == documents.len() {
            learner.update(&batch.documents(), 1000);
            batch.clear();
        }
    }
}

#[test]
fn one_topic_counts_words_as_conjugacy_has_it() {
    let settings =
        TopicSettings { max_topics: 1, s0: 7.0, prior_words: Some(5.0), recycle: 0, ..TopicSettings::default() };
    let mut documents = DocumentBuffer::new();
    let mut counts = [0.0; 5];
    for at in 0..300u32 {
        let word = (at * at) % 5;
        documents.push_counts(vec![(word, at % 4), (4, 1)]);
        counts[word as usize] += f64::from(at % 4);
        counts[4] += 1.0;
    }
    let all = learnt(&settings, &documents.documents(), 64).all_topics(5);
    let total: f64 = counts.iter().sum();
    assert_eq!(all.words.len(), 1);
    for word in 0..5 {
        let expected = (7.0 / 5.0 + counts[word]) / (7.0 + total);
        // Each of some 700 steps rounds to 2⁻²⁴ a few times.
        assert!((f64::from(all.words[0][word]) - expected).abs() < 700.0 * 4.0 * 2f64.powi(-24) * expected, "{word}");
    }
}

/// The mean and the precision of the Dirichlet with the first moments of (1−p) Dir(S m) + p Dir(S m + e_w), and the sum of
/// its second moments.
fn exact_match(m: &[f64], s: f64, word: usize, p: f64) -> (Vec<f64>, f64) {
    let after = |j: usize| (s * m[j] + f64::from(u8::from(j == word))) / (s + 1.0);
    let mean: Vec<f64> = (0..m.len()).map(|j| (1.0 - p) * m[j] + p * after(j)).collect();
    let second = |mean: f64, s: f64| mean * (s * mean + 1.0) / (s + 1.0);
    let seconds: f64 = (0..m.len()).map(|j| (1.0 - p) * second(m[j], s) + p * second(after(j), s + 1.0)).sum();
    let squares: f64 = mean.iter().map(|m| m * m).sum();
    // Σ E φ² = (S Σ m² + 1) / (S + 1).
    (mean, (1.0 - seconds) / (seconds - squares))
}

#[test]
fn the_first_order_is_the_moment_match_for_rare_words() {
    let n = 4000;
    let m: Vec<f64> = vec![1.0 / n as f64; n];
    for (s, p) in [(100.0, 0.3), (100.0, 0.9), (1000.0, 0.05)] {
        let (mean, precision) = exact_match(&m, s, 3, p);
        let first_order = (1.0 - p / (s + 1.0)) * m[3] + p / (s + 1.0);
        assert!((mean[3] - first_order).abs() < 1e-12);
        // The precision's next order is smaller by 1/S and by Σ m².
        assert!((precision - s - p * p).abs() < 3.0 / s + 2.0 * s / n as f64, "{s} {p} {precision}");
    }
}

#[test]
fn probabilities_of_words_add_up_to_one() {
    for prior_words in [40.0, 900.0] {
        let (_, truth) = planted(4, 3);
        let settings = TopicSettings { prior_words: Some(prior_words), ..small() };
        let learner = learnt(&settings, &truth.documents(0, 400).documents(), 50);
        let master = learner.master.as_ref().unwrap();
        let n_rows = master.n_rows();
        for z in 0..master.k {
            let met: f64 = master.distribution(z, n_rows).iter().map(|p| f64::from(*p)).sum();
            let unseen = f64::from(master.phi(n_rows, z)) / master.excess(z);
            let not_met = (prior_words - n_rows as f64).max(0.0) * unseen;
            // Some 20,000 words were learnt, most of them with hardly any effect on a topic.
            assert!((met + not_met - 1.0).abs() < 2e-3, "{z} {met} {not_met}");
        }
    }
}

#[test]
fn a_prequential_score_is_a_probability() {
    // After the same stream, the probabilities of every possible next word, each as a document of its own.
    let settings = TopicSettings { prior_words: Some(30.0), ..small() };
    let (_, truth) = planted(3, 8);
    let learner = learnt(&settings, &truth.documents(0, 300).documents(), 300);
    let n_rows = learner.master.as_ref().unwrap().n_rows() as u32;
    let sum: f64 = (0..n_rows)
        .map(|word| {
            let report = learner.clone().update(&buffer(&[&[word]]).documents(), n_rows as usize);
            assert_eq!(report.n_scored, 1);
            report.log_score.exp()
        })
        .sum();
    assert!((sum - 1.0).abs() < 1e-3, "{sum}");
}

#[test]
fn cuts_of_batches_do_not_matter() {
    let (_, truth) = planted(5, 1);
    let documents = truth.documents(0, 700);
    let one = bytes(&learnt(&small(), &documents.documents(), 1));
    for size in [7, 500, 700] {
        assert_eq!(one, bytes(&learnt(&small(), &documents.documents(), size)), "batches of {size}");
    }
}

#[test]
fn saving_midway_changes_nothing() {
    let (_, truth) = planted(5, 4);
    let documents = truth.documents(0, 1300);
    let never_stopped = learnt(&small(), &documents.documents(), 100);
    for midway in [1, 249, 250, 251, 1111] {
        let first = truth.documents(0, midway);
        let saved = bytes(&learnt(&small(), &first.documents(), 100));
        let mut resumed: MmHdp = postcard::from_bytes(&saved).unwrap();
        resumed.restore(1000).unwrap();
        learn_more(&mut resumed, &documents.documents(), midway, 100);
        assert_eq!(bytes(&resumed), bytes(&never_stopped), "stopped after {midway}");
    }
}

#[test]
fn a_snapshot_does_not_disturb_the_learner() {
    let (_, truth) = planted(4, 6);
    let learner = learnt(&small(), &truth.documents(0, 300).documents(), 100);
    let before = bytes(&learner);
    let (topics, scores) = (learner.topics(), learner.score(&truth.documents(300, 20).documents()));
    assert!(!topics.is_empty() && scores.topics.len() == topics.len());
    assert_eq!(bytes(&learner), before);
    assert_eq!(learner.topics(), topics);
}

#[test]
fn planted_topics_are_found_in_about_their_number() {
    let (shape, truth) = planted(10, 5);
    let learner = learnt(&TopicSettings::default(), &truth.documents(0, 4000).documents(), 500);
    let topics = learner.topics();
    assert!((8..=12).contains(&topics.len()), "{} topics of {}", topics.len(), shape.n_topics);
    let lists: Vec<Vec<f32>> = topics.iter().map(|topic| topic.words.clone()).collect();
    let pairs = metrics::match_topics(&truth.topics, &lists);
    let found = pairs.iter().filter(|(_, _, overlap)| *overlap > 0.9).count();
    assert!(found >= 8, "{pairs:?}");
    assert!((topics.iter().map(|topic| topic.weight).sum::<f64>() - 1.0).abs() < 0.1);
    assert!(topics.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
}

#[test]
fn a_topic_that_appears_midway_is_young_and_rising() {
    let (shape, _) = planted(6, 9);
    let truth = PlantedTopics::new(&PlantedShape { last_appears: 2600, ..shape }, 9);
    let learner = learnt(&small(), &truth.documents(0, 3000).documents(), 500);
    let topics = learner.topics();
    let lists: Vec<Vec<f32>> = topics.iter().map(|topic| topic.words.clone()).collect();
    let closest = metrics::closest_topics(&truth.topics, &lists);
    let (at, overlap) = closest[5].unwrap();
    assert!(overlap > 0.7 && topics[at].trend > 3.0, "{overlap} {}", topics[at].trend);
    let old = closest[0].unwrap().0;
    assert!(topics[old].trend < 1.5 && topics[old].trend > 0.5, "{}", topics[old].trend);
    let shares = learner.history().shares(&topics[at].members);
    assert!(shares[0] < 0.05 && shares[shares.len() - 1] > 0.1, "{shares:?}");
}

#[test]
fn documents_get_the_shares_of_their_topics() {
    let (_, truth) = planted(5, 12);
    let learner = learnt(&small(), &truth.documents(0, 2500).documents(), 500);
    let topics = learner.topics();
    let lists: Vec<Vec<f32>> = topics.iter().map(|topic| topic.words.clone()).collect();
    let (at, _) = metrics::closest_topics(&truth.topics, &lists)[2].unwrap();
    let pure = metrics::top_words(&truth.topics[2], 40);
    let scores = learner.score(&buffer(&[&pure, &[], &[999, 999, 123_456]]).documents());
    assert!(scores.shares_of(0)[at] > 0.8, "{:?}", scores.shares_of(0));
    for document in 0..3 {
        assert!((scores.shares_of(document).iter().sum::<f32>() - 1.0).abs() < 1e-4);
    }
    assert_eq!((scores.log_likelihood[1], scores.per_word(1), scores.n_tokens[2]), (0.0, None, 3));
    assert!(scores.log_likelihood[2].is_finite());
}

#[test]
fn edges_of_the_input_leave_numbers() {
    let once = |documents: &DocumentBuffer| {
        let learner = learnt(&small(), &documents.documents(), 100);
        let mut copy: MmHdp = postcard::from_bytes(&bytes(&learner)).unwrap();
        copy.restore(1000).unwrap();
        for topic in learner.topics() {
            assert!(topic.weight.is_finite() && topic.trend.is_finite() && topic.words.iter().all(|p| p.is_finite()));
        }
        let scores = learner.score(&documents.documents());
        assert!(scores.log_likelihood.iter().all(|l| l.is_finite()) && scores.shares.iter().all(|s| s.is_finite()));
        learner
    };
    assert_eq!(once(&DocumentBuffer::new()).k_implemented(), 0);
    assert_eq!(once(&buffer(&[&[][..]; 300])).topics(), []);
    let one_word = once(&buffer(&[&[0, 0, 0][..]; 400]));
    assert!((one_word.topics()[0].words[0] - 1.0).abs() < 0.2);
    let mut shouting = DocumentBuffer::new();
    for at in 0..260 {
        shouting.push_counts(vec![(1, 1_000_000), (2, if at % 2 == 0 { u32::MAX } else { 1 })]);
        shouting.push_counts(vec![(at, 1)]);
    }
    once(&shouting);
}

#[test]
fn before_the_first_documents_are_enough_there_are_topics_too() {
    let (_, truth) = planted(3, 2);
    let early = learnt(&small(), &truth.documents(0, 100).documents(), 10);
    assert_eq!((early.k_implemented(), early.n_seen()), (0, 100));
    assert!(early.topics().len() >= 2);
    let scores = early.score(&truth.documents(100, 3).documents());
    assert_eq!(scores.topics.len(), early.topics().len());
    assert!(early.log_score().prequential_mean.is_nan() && early.log_score().n_scored == 0);
}

#[test]
fn a_word_forgotten_is_a_word_never_seen() {
    let (_, truth) = planted(4, 7);
    for n in [100, 600] {
        let mut learner = learnt(&small(), &truth.documents(0, n).documents(), 50);
        let word = metrics::top_words(&truth.topics[1], 1)[0];
        learner.forget_words(&[word, 5000]);
        let all = learner.all_topics(600);
        // Word 550 is none of the 500.
        assert!(all.words.iter().all(|topic| (topic[word as usize] - topic[550]).abs() < 1e-7));
        assert!(all.words.iter().all(|topic| topic.iter().sum::<f32>() < 1.2));
        let mut again: MmHdp = postcard::from_bytes(&bytes(&learner)).unwrap();
        again.restore(1000).unwrap();
    }
}

#[test]
fn topics_come_and_go_under_names_of_their_own() {
    let (_, truth) = planted(8, 3);
    let settings = TopicSettings { max_topics: 6, protect: 300, ..TopicSettings::default() };
    let learner = learnt(&settings, &truth.documents(0, 1500).documents(), 100);
    let master = learner.master.as_ref().unwrap();
    use crate::structure::Happening;
    let count = |what: Happening| learner.events().iter().filter(|event| event.what == what).count();
    assert!(count(Happening::Died) >= 2, "{:?}", learner.events());
    assert_eq!(count(Happening::Born) - count(Happening::Died), master.k);
    let mut born: Vec<_> =
        learner.events().iter().filter(|event| event.what == Happening::Born).map(|event| event.component).collect();
    let n = born.len();
    born.sort_unstable();
    born.dedup();
    assert_eq!(born.len(), n);
    assert!(master.ids.iter().all(|id| born.contains(id) && id.shard == 2));
}

#[test]
fn shards_agree_on_their_topics() {
    let (_, truth) = planted(6, 10);
    let shard = |from: u64, n: usize, number: u32| {
        let mut learner = MmHdp::new(&small(), 11, number);
        learn_more(&mut learner, &truth.documents(from, n).documents(), 0, 100);
        learner
    };
    let parts = [shard(0, 2000, 0), shard(2000, 2000, 1), shard(4000, 120, 2)];
    let mut merged = MmHdp::merged(parts.iter(), 0);
    assert_eq!(merged.n_seen(), 4120);
    let again: MmHdp = postcard::from_bytes(&bytes(&merged)).unwrap();
    again.check(1000).unwrap();
    let topics = merged.topics();
    assert!((5..=8).contains(&topics.len()), "{}", topics.len());
    let lists: Vec<Vec<f32>> = topics.iter().map(|topic| topic.words.clone()).collect();
    let pairs = metrics::match_topics(&truth.topics, &lists);
    assert!(pairs.iter().filter(|(_, _, overlap)| *overlap > 0.9).count() >= 5, "{pairs:?}");
    // It learns on, and two shards under one number do not share names.
    merged.update(&truth.documents(5000, 300).documents(), 1000);
    let same = MmHdp::merged([shard(0, 600, 0), shard(600, 600, 0)].iter(), 0);
    same.check(1000).unwrap();
    let young = MmHdp::merged([shard(0, 90, 0), shard(90, 200, 1)].iter(), 0);
    assert!(young.n_seen() == 290 && young.master.is_some());
    young.check(1000).unwrap();
}

type Damage = dyn Fn(&mut MmHdp, &mut Master);

#[test]
fn what_a_damaged_file_may_hold_is_refused() {
    let (_, truth) = planted(3, 13);
    let sound = learnt(&small(), &truth.documents(0, 400).documents(), 100);
    assert!(sound.check(500).is_ok());
    assert!(sound.check(100).is_err(), "rows for more words than there are");
    let damage = |change: &Damage| {
        let mut learner = sound.clone();
        let mut master = learner.master.take().unwrap();
        change(&mut learner, &mut master);
        learner.master = Some(master);
        learner.check(500)
    };
    assert!(damage(&|_, _| {}).is_ok());
    let faults: [&Damage; 15] = [
        &|learner, _| learner.next_serial = 0,
        &|learner, _| learner.settings.max_topics = 0,
        &|learner, _| learner.settings.max_topics = 1_000_000,
        &|learner, _| learner.n_seen = 3,
        &|learner, _| learner.held.push_tokens([1]),
        &|_, master| master.rows[17] = f32::NAN,
        &|_, master| master.rows[0] = 0.0,
        &|_, master| master.scale[39] = 0.0,
        &|_, master| master.precision[2] = -3.0,
        &|_, master| master.ids[1] = master.ids[0],
        &|_, master| master.k += 1,
        &|_, master| master.words[0] = f64::INFINITY,
        &|_, master| master.opened[0] = 1_000_000,
        &|_, master| master.rows.truncate(100),
        &|_, master| master.frequency.truncate(3),
    ];
    for (at, fault) in faults.iter().enumerate() {
        assert!(damage(fault).is_err(), "fault {at}");
    }
}
