//! A stream of documents whose labels follow from planted topics.

use super::purpose;
use super::topics::{PlantedShape, PlantedTopics};
use crate::data::DocumentBuffer;
use crate::num;

/// How labels follow from a document's shares of topics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Labelling {
    /// One label: the one whose topics have the largest share.
    Largest,
    /// Every label whose topics have more than this share; there may be none.
    Above(f64),
}

/// What a stream of labelled documents looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelledShape {
    /// Number of labels.
    pub n_labels: usize,
    /// Topics of each label.
    pub topics_per_label: usize,
    /// Topics that say nothing about labels.
    pub n_common: usize,
    /// How labels follow from topics.
    pub labelling: Labelling,
    /// The share of documents with a wrong label: another one for [`Labelling::Largest`], one too many or too few for
    /// [`Labelling::Above`].
    pub noise: f64,
    /// The document, counted from 0, from which on the last label occurs; 0 for a stream that does not change.
    pub last_appears: u64,
    /// Words and lengths of documents. Number of topics and appearance are those above.
    pub topics: PlantedShape,
}

impl Default for LabelledShape {
    fn default() -> Self {
        LabelledShape {
            n_labels: 5,
            topics_per_label: 2,
            n_common: 2,
            labelling: Labelling::Largest,
            noise: 0.05,
            last_appears: 0,
            topics: PlantedShape::default(),
        }
    }
}

/// Documents from planted topics, with labels. A document and its labels are a function of the seed and its number, so that
/// a stream of any length takes no memory.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledTopics {
    /// The common topics, then those of each label in turn.
    pub planted: PlantedTopics,
    shape: LabelledShape,
    seed: u64,
}

impl LabelledTopics {
    /// Draws topics of this shape.
    pub fn new(shape: &LabelledShape, seed: u64) -> LabelledTopics {
        // Documents need a topic, and labels one each.
        let n_common = shape.n_common.max(usize::from(shape.n_labels == 0));
        let shape = LabelledShape { topics_per_label: shape.topics_per_label.max(1), n_common, ..*shape };
        let n_topics = shape.n_common + shape.n_labels * shape.topics_per_label;
        let planted = PlantedTopics::new(&PlantedShape { n_topics, last_appears: 0, ..shape.topics }, seed);
        LabelledTopics { planted, shape, seed }
    }

    /// The label of a topic; none for common ones.
    pub fn label_of_topic(&self, topic: usize) -> Option<u32> {
        Some((topic.checked_sub(self.shape.n_common)? / self.shape.topics_per_label) as u32)
    }

    /// The documents of the stream from number `first` on, and the labels of each in increasing order.
    pub fn documents(&self, first: u64, n: usize) -> (DocumentBuffer, Vec<Vec<u32>>) {
        let (mut documents, mut labels) = (DocumentBuffer::new(), Vec::with_capacity(n));
        let mut tokens = Vec::new();
        for at in first..first.saturating_add(n as u64) {
            labels.push(self.document(at, &mut tokens));
            documents.push_tokens(tokens.iter().copied());
        }
        (documents, labels)
    }

    /// The words of document `at`, repeats included, in place of what `tokens` holds; returns its labels.
    pub fn document(&self, at: u64, tokens: &mut Vec<u32>) -> Vec<u32> {
        let n_labels = self.n_labels_at(at);
        let n_topics = self.shape.n_common + n_labels * self.shape.topics_per_label;
        let shares = self.planted.draw(at, n_topics, tokens);
        let mut labels = self.true_labels(&shares);
        self.disturb(at, n_labels as u32, &mut labels);
        labels
    }

    fn n_labels_at(&self, at: u64) -> usize {
        let n_labels = self.shape.n_labels;
        n_labels - usize::from(at < self.shape.last_appears && n_labels > 1)
    }

    fn true_labels(&self, shares: &[f64]) -> Vec<u32> {
        let own = shares.get(self.shape.n_common..).unwrap_or_default().chunks(self.shape.topics_per_label);
        let sums = own.map(|topics| topics.iter().sum::<f64>()).zip(0u32..);
        match self.shape.labelling {
            Labelling::Largest => {
                let larger = |best: (f64, u32), next: (f64, u32)| if next.0 > best.0 { next } else { best };
                sums.reduce(larger).map(|(_, label)| label).into_iter().collect()
            }
            Labelling::Above(least) => sums.filter(|(share, _)| *share > least).map(|(_, label)| label).collect(),
        }
    }

    /// Makes the labels wrong for some documents, by a random stream of its own: words do not depend on the noise.
    fn disturb(&self, at: u64, n_labels: u32, labels: &mut Vec<u32>) {
        let mut rng = num::stream(self.seed, purpose::LABELS, at);
        if rng.uniform() >= self.shape.noise || n_labels < 2 {
            return;
        }
        match self.shape.labelling {
            Labelling::Largest => {
                let step = 1 + rng.below(n_labels as usize - 1) as u32;
                labels.iter_mut().for_each(|label| *label = (*label + step) % n_labels);
            }
            Labelling::Above(_) => {
                let label = rng.below(n_labels as usize) as u32;
                match labels.binary_search(&label) {
                    Ok(place) => drop(labels.remove(place)),
                    Err(place) => labels.insert(place, label),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{LabelAgreement, accuracy};

    fn shape(labelling: Labelling) -> LabelledShape {
        let topics = PlantedShape { n_words: 400, eta: 0.02, mean_words: 50.0, ..PlantedShape::default() };
        LabelledShape { n_labels: 4, topics_per_label: 3, n_common: 2, labelling, topics, ..LabelledShape::default() }
    }

    /// Labels by the words alone, with all topics known: the label to which most of the document's words belong.
    fn by_words(stream: &LabelledTopics, documents: &DocumentBuffer) -> Vec<Vec<u32>> {
        let told = |(words, counts): (&[u32], &[u32])| {
            let mut weights = [0.0; 4];
            for (word, count) in words.iter().zip(counts) {
                let chances: Vec<f64> =
                    stream.planted.topics.iter().map(|topic| f64::from(topic[*word as usize])).collect();
                let all: f64 = chances.iter().sum();
                for (topic, chance) in chances.iter().enumerate() {
                    if let Some(label) = stream.label_of_topic(topic) {
                        weights[label as usize] += f64::from(*count) * chance / all.max(1e-300);
                    }
                }
            }
            let best = (0..4).max_by(|a, b| weights[*a].total_cmp(&weights[*b])).unwrap();
            vec![best as u32]
        };
        documents.documents().iter().map(told).collect()
    }

    #[test]
    fn labels_follow_from_words() {
        let mut shape = shape(Labelling::Largest);
        let n = 2000;
        let share_right = |shape: &LabelledShape| {
            let stream = LabelledTopics::new(shape, 3);
            let (documents, labels) = stream.documents(0, n);
            assert!(labels.iter().all(|own| own.len() == 1 && own[0] < 4));
            accuracy(&labels, &by_words(&stream, &documents))
        };
        shape.noise = 0.0;
        let clean = share_right(&shape);
        // Close calls between two labels, and nothing else, are lost.
        assert!(clean > 0.85, "{clean}");
        shape.noise = 0.3;
        // The noise takes its share of what was right, and of what was wrong gives a third back, within five deviations.
        let expected = 0.7 * clean + 0.1 * (1.0 - clean);
        assert!((share_right(&shape) - expected).abs() < 5.0 * (0.25 / n as f64).sqrt());
    }

    #[test]
    fn noise_touches_its_share_of_documents_and_no_words() {
        for labelling in [Labelling::Largest, Labelling::Above(0.2)] {
            let clean = LabelledTopics::new(&LabelledShape { noise: 0.0, ..shape(labelling) }, 11);
            let noisy = LabelledTopics::new(&LabelledShape { noise: 0.2, ..shape(labelling) }, 11);
            let n = 4000;
            let ((words, truth), (same_words, told)) = (clean.documents(50, n), noisy.documents(50, n));
            assert_eq!(words, same_words);
            let found = LabelAgreement::of(&truth, &told);
            assert!((found.exact() - 0.8).abs() < 5.0 * (0.2 * 0.8 / n as f64).sqrt());
            assert!(told.iter().all(|labels| labels.is_sorted_by(|a, b| a < b)));
        }
    }

    #[test]
    fn a_document_may_have_several_labels_or_none() {
        let stream = LabelledTopics::new(&LabelledShape { noise: 0.0, ..shape(Labelling::Above(0.25)) }, 6);
        let (_, labels) = stream.documents(0, 1000);
        for n in 0..3 {
            assert!(labels.iter().any(|own| own.len() == n), "none with {n}");
        }
        // Four shares of more than a quarter are more than the whole.
        assert!(labels.iter().all(|own| own.len() < 4));
    }

    #[test]
    fn the_last_label_appears_midway() {
        for labelling in [Labelling::Largest, Labelling::Above(0.2)] {
            let stream = LabelledTopics::new(&LabelledShape { last_appears: 300, noise: 0.4, ..shape(labelling) }, 8);
            let (_, labels) = stream.documents(0, 600);
            assert!(labels[..300].iter().flatten().all(|label| *label < 3));
            assert!(labels[300..].iter().flatten().any(|label| *label == 3));
        }
    }

    #[test]
    fn a_document_is_a_function_of_seed_and_number() {
        let stream = LabelledTopics::new(&shape(Labelling::Above(0.2)), 4);
        let ((all, all_labels), (tail, tail_labels)) = (stream.documents(0, 80), stream.documents(60, 20));
        assert_eq!(all.documents().get(75), tail.documents().get(15));
        assert_eq!(all_labels[60..], tail_labels[..]);
        let far = 1 << 40;
        assert_eq!(stream.documents(far, 1), LabelledTopics::new(&shape(Labelling::Above(0.2)), 4).documents(far, 1));
        assert_ne!(stream.documents(0, 5), LabelledTopics::new(&shape(Labelling::Above(0.2)), 5).documents(0, 5));
    }

    #[test]
    fn shapes_at_the_edge() {
        let one = LabelledShape { n_labels: 1, last_appears: 9, noise: 1.0, n_common: 0, ..shape(Labelling::Largest) };
        assert_eq!(LabelledTopics::new(&one, 1).documents(0, 3).1, [[0], [0], [0]]);
        let none = LabelledShape { n_labels: 0, noise: 1.0, n_common: 0, ..shape(Labelling::Largest) };
        assert_eq!(LabelledTopics::new(&none, 1).documents(0, 2).1, [[], []] as [[u32; 0]; 2]);
        let flat = LabelledShape { topics_per_label: 0, ..shape(Labelling::Largest) };
        assert_eq!(LabelledTopics::new(&flat, 1).planted.topics.len(), 2 + 4);
    }
}
