//! Laws of supervised topics.

use super::lot::Lot;
use super::sample::{Drawn, Round};
use super::space::{Pulls, Space};
use super::task::Weights;
use super::*;
use crate::num::{self, Rng};

/// Documents of a few words; labels follow from the words.
fn stream(n: usize, seed: u64, n_labels: u32) -> DocumentBuffer {
    let mut rng = num::stream(seed, 0, 0);
    let mut buffer = DocumentBuffer::new();
    for document in 0..n {
        let label = rng.below(n_labels.max(1) as usize) as u32;
        let word =
            |rng: &mut Rng| if rng.uniform() < 0.7 { 10 * label + rng.below(10) as u32 } else { rng.below(40) as u32 };
        let n_words = 5 + rng.below(20);
        buffer.push_tokens((0..n_words).map(|_| word(&mut rng)).collect::<Vec<_>>());
        if n_labels > 0 {
            buffer.label(document, [label]);
        }
    }
    buffer
}

fn without_labels(documents: &Documents<'_>) -> DocumentBuffer {
    let mut bare = DocumentBuffer::new();
    for (words, counts) in documents.iter() {
        bare.push_counts(words.iter().copied().zip(counts.iter().copied()).collect());
    }
    bare
}

fn small(classifier: Classifier, size: Size) -> MedSettings {
    MedSettings { minibatch: 32, n_topics: Some(5), ..MedSettings::new(classifier, size) }
}

const SORTS: [(Classifier, Size); 4] = [
    (Classifier::Averaging, Size::Given),
    (Classifier::Gibbs, Size::Given),
    (Classifier::Averaging, Size::Open),
    (Classifier::Gibbs, Size::Open),
];

/// Where nothing is asked of the labels, topics are those of the same documents without labels.
#[test]
fn a_margin_that_costs_nothing_leaves_plain_topics() {
    for (classifier, size) in SORTS {
        let settings = MedSettings { cost: 0.0, topics_per_label: 0, ..small(classifier, size) };
        let labelled = stream(200, 3, 3);
        let bare = without_labels(&labelled.documents());
        let topics = |documents: &DocumentBuffer| {
            let mut learner = MedTopics::new(&settings, 9, 0);
            learner.update(&documents.documents(), 40);
            (learner.spaces[0].sums.clone(), learner.spaces[0].sticks.clone(), learner.spaces[0].totals.clone())
        };
        assert_eq!(topics(&labelled), topics(&bare));
        let supervised = MedSettings { cost: 1.0, ..settings.clone() };
        let mut other = MedTopics::new(&supervised, 9, 0);
        other.update(&labelled.documents(), 40);
        assert_ne!(other.spaces[0].sums, topics(&bare).0);
    }
}

/// With weights that are known, 1/λ drawn, and both drawn in turn, the topics of a document are visited as often as
/// p(z) p(words | z) exp(−2c (ε − y f(z))₊) says: the augmentation and the pull on the words are exact. All assignments of a
/// document of three words are enumerated.
#[test]
fn a_chain_of_margins_and_topics_has_the_exact_distribution() {
    let settings = MedSettings {
        n_topics: Some(3),
        topics_per_label: 0,
        epsilon: 1.2,
        cost: 0.7,
        constant: 1.0,
        tag: 0.0,
        alpha: Some(0.6),
        gamma: 0.5,
        sweeps: 1,
        drawn: true,
        labels_each: LabelsEach::Several,
        ..MedSettings::new(Classifier::Gibbs, Size::Given)
    };
    let mut space = Space::new(&settings, 0);
    space.grow_words(4);
    space.count(&[0, 1, 2, 3], &[0, 0, 1, 2, 3, 3], &[0, 0, 1, 2, 0, 1], 1);
    let known = [[0.3, 2.0, -1.0, 0.5], [-0.4, -1.5, 0.7, 2.2]];
    for (label, mean) in known.iter().enumerate() {
        space.add_task(label as u32, &settings);
        let Weights::Gibbs { precision, shift } = &mut space.tasks[label].weights else { unreachable!() };
        // All but no variance.
        precision.fill(0.0);
        for i in 0..4 {
            precision[i * 4 + i] = 1e10;
            shift[i] = 1e10 * mean[i];
        }
    }
    let mut buffer = DocumentBuffer::new();
    buffer.push_tokens([0, 1, 3]);
    buffer.label(0, [1]);
    let documents = buffer.documents();
    let positive_cost = 1.1;
    let leg = Leg { lot: Lot::new(documents, 0..1, 0, true), new_labels: Vec::new(), positive_cost };
    let cache = space.cache(&settings, None);
    let pulls = Pulls::new(&space, &settings).unwrap();
    let exact: Vec<f64> = {
        let weight = |state: usize| {
            let z = [state % 3, state / 3 % 3, state / 9];
            let (mut counts, mut log) = ([0.0f64; 3], 0.0);
            for (k, word) in z.iter().zip([0, 1, 3]) {
                log += f64::from(cache.probability(space.sums[word * space.stride + k], *k)).ln();
                log += (0.6 + counts[*k]).ln();
                counts[*k] += 1.0;
            }
            for (q, mean) in known.iter().enumerate() {
                let y = if q == 1 { 1.0 } else { -1.0 };
                let c = if q == 1 { positive_cost } else { settings.cost };
                let f: f64 = mean[0] + (0..3).map(|k| mean[1 + k] * counts[k] / 3.0).sum::<f64>();
                log -= 2.0 * c * (1.2 - y * f).max(0.0);
            }
            log.exp()
        };
        let weights: Vec<f64> = (0..27).map(weight).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect()
    };
    let n = 150_000;
    let settings = MedSettings { sweeps: n, burn_in: 0, ..settings };
    let mut drawn = Drawn::default();
    Round {
        settings: &settings,
        space: &space,
        cache: &cache,
        pulls: Some(&pulls),
        leg: &leg,
        earlier: None,
        means: &[],
        seed: 23,
        shard: 0,
        round: 0,
    }
    .run(&mut drawn, 1);
    let mut seen = [0.0f64; 27];
    for z in drawn.kept.chunks_exact(3) {
        seen[(z[0] + 3 * z[1] + 9 * z[2]) as usize] += 1.0 / n as f64;
    }
    for state in 0..27 {
        let error = (exact[state] * (1.0 - exact[state]) / n as f64).sqrt();
        // A sweep depends on the one before it: a few times the error of independent draws.
        assert!((seen[state] - exact[state]).abs() < 10.0 * error + 1e-4, "{state}: {} {}", seen[state], exact[state]);
    }
}

/// What a mini-batch adds is what its last round found, however many rounds there were.
#[test]
fn rounds_replace_what_the_round_before_added() {
    for (classifier, size) in SORTS {
        let labelled = stream(64, 5, 3);
        let documents = labelled.documents();
        let n_words: usize = documents.iter().map(|(words, _)| words.len()).sum();
        for (rounds, sweeps, burn_in) in [(1, 2, 0), (3, 4, 1)] {
            let settings = MedSettings { rounds: Some(rounds), sweeps, burn_in, ..small(classifier, size) };
            let mut learner = MedTopics::new(&settings, 2, 0);
            learner.update(&documents, 40);
            let space = &learner.spaces[0];
            assert_eq!(space.totals.iter().sum::<i64>(), (n_words * (sweeps - burn_in)) as i64);
            let mut sums = vec![0i64; space.stride];
            for row in space.sums.chunks_exact(space.stride) {
                sums.iter_mut().zip(row).for_each(|(sum, n)| *sum += i64::from(*n));
            }
            assert_eq!(sums, space.totals);
        }
    }
}

/// One round over all documents is one pass, and what rounds added and took away again leaves no trace in the weights: the
/// last round's words and margins alone make them.
#[test]
fn batch_rounds_begin_as_one_pass_and_replace_each_other() {
    let labelled = stream(96, 15, 3);
    for (classifier, size) in SORTS {
        let online = MedSettings { minibatch: 32, rounds: Some(1), drawn: true, ..MedSettings::new(classifier, size) };
        let batch = MedSettings { mode: Mode::Batch, ..online.clone() };
        // All labels come in the first mini-batch, as batch mode knows them from the beginning.
        let learnt = |settings: &MedSettings| {
            let mut learner = MedTopics::new(settings, 2, 0);
            learner.update(&labelled.documents(), 40);
            learner.finish();
            learner.spaces.swap_remove(0)
        };
        let (one, other) = (learnt(&online), learnt(&batch));
        assert_eq!((one.sums, one.totals, one.sticks), (other.sums, other.totals, other.sticks));
        for rounds in [3, 8] {
            let space = learnt(&MedSettings { rounds: Some(rounds), ..batch.clone() });
            let n_tokens: usize = labelled.documents().iter().map(|(words, _)| words.len()).sum();
            assert_eq!(space.totals.iter().sum::<i64>(), (batch.n_kept() * n_tokens) as i64);
            for task in &space.tasks {
                let Weights::Gibbs { precision, .. } = &task.weights else { continue };
                let d = space.k + 1;
                // Shares of a document add up to one, so that all that margins added to the topics' part of the precision is
                // what they added to the constant's.
                let of_topics: f64 = (1..d).flat_map(|i| (1..d).map(move |j| precision[i * d + j])).sum();
                let priors = space.k as f64 / batch.variance;
                let of_constant = precision[0] - 1.0 / (batch.constant * batch.variance);
                assert!((of_topics - priors - of_constant).abs() < 1e-9 * of_topics, "{of_topics} {of_constant}");
            }
        }
    }
}

/// Ghost copies multiply what is counted: two of them are as if all that a document adds came twice.
#[test]
fn ghosts_count_as_copies() {
    let labelled = stream(32, 7, 2);
    let weights = |ghosts: u32| {
        let settings = MedSettings { ghosts, ..small(Classifier::Gibbs, Size::Given) };
        let mut learner = MedTopics::new(&settings, 4, 0);
        learner.update(&labelled.documents(), 40);
        match &learner.spaces[0].tasks[0].weights {
            Weights::Gibbs { precision, shift } => (precision.clone(), shift.clone()),
            Weights::Averaging { .. } => unreachable!(),
        }
    };
    let ((one, pulled), (three, pulled_more)) = (weights(1), weights(3));
    let fresh = MedTopics::new(&small(Classifier::Gibbs, Size::Given), 4, 0);
    let prior = {
        let mut space = Space::new(&fresh.settings, 0);
        space.add_task(0, &fresh.settings);
        // The labels come in the order of their documents.
        let labels: Vec<u32> = (0..32).map(|d| labelled.documents().labels(d)[0]).collect();
        let first = labels[0];
        space.tasks[0].label = first;
        space.add_topic(Some(first), &fresh.settings);
        space.add_topic(Some(1 - first), &fresh.settings);
        match &space.tasks[0].weights {
            Weights::Gibbs { precision, shift } => (precision.clone(), shift.clone()),
            Weights::Averaging { .. } => unreachable!(),
        }
    };
    for i in 0..one.len() {
        let (gained, gained_more) = (one[i] - prior.0[i], three[i] - prior.0[i]);
        assert!((gained_more - 3.0 * gained).abs() < 1e-9 * (1.0 + gained.abs()), "{i}: {gained} {gained_more}");
    }
    for i in 0..pulled.len() {
        let (gained, gained_more) = (pulled[i] - prior.1[i], pulled_more[i] - prior.1[i]);
        assert!((gained_more - 3.0 * gained).abs() < 1e-9 * (1.0 + gained.abs()), "{i}: {gained} {gained_more}");
    }
}

/// Precisions only ever gain what is not negative: they stay positive definite over long streams, for all costs and margins.
#[test]
fn precisions_stay_positive_definite() {
    for (at, (epsilon, cost, constant)) in
        [(164.0, 1.0, 1e4), (1.0, 50.0, 0.0), (1e-3, 1e-3, 1.0), (1e4, 30.0, 1e6)].into_iter().enumerate()
    {
        let settings = MedSettings { epsilon, cost, constant, rounds: Some(2), ..small(Classifier::Gibbs, Size::Open) };
        let mut learner = MedTopics::new(&settings, at as u64, 0);
        let report = learner.update(&stream(1500, 20 + at as u64, 3).documents(), 40);
        assert_eq!(report.n_repairs, 0);
        learner.check(40).unwrap();
        for task in &learner.spaces[0].tasks {
            let (moments, n_repairs) = task.moments();
            assert_eq!(n_repairs, 0);
            assert!(moments.mean.iter().chain(&moments.covariance).all(|x| x.is_finite()));
        }
    }
}

/// Statistics of shards add up, and the prior is counted once.
#[test]
fn merging_adds_what_shards_learnt() {
    let settings = MedSettings { minibatch: 32, ..MedSettings::new(Classifier::Gibbs, Size::Given) };
    let learn = |seed: u64, shard: u32| {
        let mut learner = MedTopics::new(&settings, 1, shard);
        learner.update(&stream(64, seed, 3).documents(), 40);
        learner
    };
    let (one, two) = (learn(31, 0), learn(32, 1));
    let numbers: Vec<Option<u32>> = (0..40).map(Some).collect();
    let labels: Vec<Vec<u32>> = vec![(0..3).collect(); 2];
    let merged = MedTopics::merged(&[(&one, &numbers), (&two, &numbers)], &labels, 40, 0);
    merged.check(40).unwrap();
    let both = |learner: &MedTopics| -> i64 { learner.spaces[0].totals.iter().sum() };
    assert_eq!(both(&merged), both(&one) + both(&two));
    let precision = |learner: &MedTopics, label: u32| -> f64 {
        let task = learner.spaces[0].tasks.iter().find(|task| task.label == label).unwrap();
        match &task.weights {
            Weights::Gibbs { precision, shift } => (0..shift.len()).map(|i| precision[i * shift.len() + i]).sum(),
            Weights::Averaging { .. } => unreachable!(),
        }
    };
    // Three topics of precision one, and the constant.
    let prior = 3.0 + 1e-4;
    for label in 0..3 {
        let expected = precision(&one, label) + precision(&two, label) - prior;
        assert!((precision(&merged, label) - expected).abs() < 1e-9 * expected);
    }
}

/// In batch mode all documents are learnt together, and nothing depends on what was asked before.
#[test]
fn batch_mode_learns_all_at_once() {
    let settings = MedSettings { mode: Mode::Batch, rounds: Some(20), ..small(Classifier::Gibbs, Size::Given) };
    let all = stream(300, 41, 3);
    let fresh = stream(100, 42, 3);
    let mut learner = MedTopics::new(&settings, 6, 0);
    learner.update(&all.documents(), 40);
    let asked_early = learner.score(&fresh.documents());
    learner.finish();
    let scores = learner.score(&fresh.documents());
    assert_eq!(asked_early, scores);
    // More documents begin the fit anew.
    let (mut more, mut at_once) = (learner.clone(), MedTopics::new(&settings, 6, 0));
    more.update(&stream(50, 43, 3).documents(), 40);
    at_once.update(&all.documents(), 40);
    at_once.update(&stream(50, 43, 3).documents(), 40);
    assert_eq!(more.score(&fresh.documents()), at_once.score(&fresh.documents()));
    let right = (0..100).filter(|at| {
        let margins: Vec<(u32, f32)> = (0..).zip(scores.margins_of(*at).iter().copied()).collect();
        told_labels(&margins, false) == fresh.documents().labels(*at)
    });
    assert!(right.count() > 85);
}

/// Without a number of rounds batch learning goes on until its objective has settled, each set of topics on its own; a number
/// is kept to.
#[test]
fn batch_rounds_end_when_the_objective_settles() {
    let all = stream(300, 44, 3);
    for (classifier, size) in SORTS {
        for sharing in [Sharing::Shared, Sharing::Separate] {
            let settings = MedSettings { mode: Mode::Batch, sharing, ..small(classifier, size) };
            let rounds = |settings: &MedSettings| {
                let mut learner = MedTopics::new(settings, 6, 0);
                learner.update(&all.documents(), 40);
                learner.finish();
                learner.batch_rounds().to_vec()
            };
            let auto = rounds(&settings);
            assert_eq!(auto.len(), if sharing == Sharing::Shared { 1 } else { 3 });
            assert!(auto.iter().all(|n| (2..100).contains(n)), "{classifier:?} {size:?} {auto:?}");
            assert!(rounds(&MedSettings { rounds: Some(4), ..settings }).iter().all(|n| *n == 4));
        }
    }
}

/// The words' votes add up to what the topics say of the label.
#[test]
fn votes_add_up_to_the_margin() {
    let mut learner = MedTopics::new(&MedSettings::new(Classifier::Gibbs, Size::Given), 6, 0);
    learner.update(&stream(600, 51, 3).documents(), 40);
    let fresh = stream(50, 52, 3);
    let scores = learner.score(&fresh.documents());
    for summary in learner.labels() {
        for at in 0..50 {
            let document = fresh.documents().get(at);
            let votes: f32 = learner.votes(document, summary.label).iter().sum();
            let margin = scores.margins_of(at)[summary.label as usize];
            let told = f64::from(votes) + summary.constant;
            assert!((told - f64::from(margin)).abs() < 0.05 * 164.0, "{told} {margin}");
        }
    }
}
