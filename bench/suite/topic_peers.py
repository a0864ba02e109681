"""Other programs that learn topics from bags of words: the same bags, in the same order, for all of them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import tomotopy
from gensim.models import HdpModel, LdaModel
from scipy.sparse import csr_matrix
from sklearn.decomposition import LatentDirichletAllocation

Array = np.ndarray

# The prior of documents and of words that all of them start from, where they take one.
ALPHA = 0.1
ETA = 0.01
SWEEPS = 50
FEW, MANY = 50, 200
# Where tomotopy's HDP begins: with 2 topics, its default, it has found few after so many sweeps.
START = 100
# Weight of all topics in a document for tomotopy's HDP, as ours has it: with its own, 0.03, it foretells less well.
CONCENTRATION = 3.0


@dataclass(frozen=True)
class Bags:
    """Documents as rows (document, word, count)."""

    rows: Array
    n_words: int

    @property
    def pairs(self) -> list[list[tuple[int, int]]]:
        """Words and counts of each document."""
        documents = np.split(self.rows[:, 1:].astype(int), np.flatnonzero(np.diff(self.rows[:, 0])) + 1)
        return [[(word, count) for word, count in document.tolist()] for document in documents]

    @property
    def matrix(self) -> csr_matrix:
        document, word, count = self.rows.T
        return csr_matrix((count, (document.astype(int), word.astype(int))), shape=(int(document[-1]) + 1, self.n_words))


@dataclass(frozen=True)
class Learnt:
    """Probabilities of words, topic by topic; the weight of each topic in a document of which nothing is known; the cost."""

    topics: Array
    alpha: Array
    cpu_seconds: float


@dataclass(frozen=True)
class Peer:
    """A program to compare with."""

    name: str
    settings: str
    passes: int
    run: Callable[[Bags, int], Learnt]


def gensim_lda(bags: Bags, seed: int, *, n_topics: int, chunk: int, decay: float, offset: float) -> Learnt:
    documents, names = bags.pairs, {word: str(word) for word in range(bags.n_words)}
    start = time.process_time()
    model = LdaModel(
        documents,
        num_topics=n_topics,
        id2word=names,
        alpha=[ALPHA] * n_topics,
        eta=ETA,
        chunksize=chunk,
        decay=decay,
        offset=offset,
        eval_every=None,
        random_state=seed,
    )
    seconds = time.process_time() - start
    return Learnt(model.get_topics(), model.alpha, seconds)


def gensim_hdp(bags: Bags, seed: int) -> Learnt:
    documents, names = bags.pairs, {word: str(word) for word in range(bags.n_words)}
    start = time.process_time()
    model = HdpModel(documents, names, random_state=seed)
    seconds = time.process_time() - start
    alpha, topics = model.hdp_to_lda()
    return Learnt(topics, alpha, seconds)


def scikit_lda(bags: Bags, seed: int, *, n_topics: int, chunk: int, decay: float, offset: float) -> Learnt:
    matrix = bags.matrix
    model = LatentDirichletAllocation(
        n_topics,
        doc_topic_prior=ALPHA,
        topic_word_prior=ETA,
        learning_decay=decay,
        learning_offset=offset,
        # What `partial_fit` is given it cuts into batches of this size.
        batch_size=chunk,
        total_samples=matrix.shape[0],
        random_state=seed,
    )
    start = time.process_time()
    for at in range(0, matrix.shape[0], chunk):
        model.partial_fit(matrix[at : at + chunk])
    seconds = time.process_time() - start
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    return Learnt(topics, np.full(n_topics, ALPHA), seconds)


def tomotopy_lda(bags: Bags, seed: int, *, n_topics: int) -> Learnt:
    model = tomotopy.LDAModel(k=n_topics, alpha=ALPHA, eta=ETA, seed=seed)
    seconds = swept(model, bags)
    return Learnt(words_in_order(model, range(n_topics), bags.n_words), np.asarray(model.alpha), seconds)


def tomotopy_hdp(bags: Bags, seed: int) -> Learnt:
    model = tomotopy.HDPModel(initial_k=START, alpha=ALPHA, eta=ETA, seed=seed)
    seconds = swept(model, bags)
    live = [topic for topic in range(model.k) if model.is_live_topic(topic)]
    words = np.asarray(model.get_count_by_topics(), float)[live]
    return Learnt(words_in_order(model, live, bags.n_words), CONCENTRATION * words / words.sum(), seconds)


def swept(model: tomotopy.LDAModel, bags: Bags) -> float:
    """Seconds of processor time of all sweeps; handing over the documents is not counted."""
    for document in bags.pairs:
        model.add_doc([str(word) for word, count in document for _ in range(count)])
    start = time.process_time()
    model.train(SWEEPS, workers=1)
    return time.process_time() - start


def words_in_order(model: tomotopy.LDAModel, topics: range | list[int], n_words: int) -> Array:
    """Topics over all words by their numbers; tomotopy has its own order, and knows the words that occur only."""
    places = [int(word) for word in model.used_vocabs]
    out = np.zeros((len(topics), n_words))
    for row, topic in zip(out, topics, strict=True):
        row[places] = model.get_topic_word_dist(topic)
    return out


Tunable = Callable[..., Learnt]
# Chunks of documents, decay and offset of the step: (offset + chunks)^-decay.
GRID = [
    {"chunk": chunk, "decay": decay, "offset": offset}
    for chunk in (256, 1024)
    for decay, offset in ((0.5, 1.0), (0.5, 64.0), (0.7, 10.0))
]


def described(setting: dict[str, float]) -> str:
    return f"chunks of {setting['chunk']:,}, decay {setting['decay']:g}, offset {setting['offset']:g}"


def tuned_peers(best_of: Callable[[str, Tunable], dict[str, float]]) -> list[Peer]:
    """All programs; `best_of` names the best setting of the grid for those that have steps to tune."""
    gensim = best_of("gensim LdaModel", partial(gensim_lda, n_topics=FEW))
    scikit = best_of("scikit-learn LDA", partial(scikit_lda, n_topics=FEW))
    return [
        Peer(f"gensim LdaModel, K = {FEW}", described(gensim), 1, partial(gensim_lda, n_topics=FEW, **gensim)),
        Peer(f"gensim LdaModel, K = {MANY}", described(gensim), 1, partial(gensim_lda, n_topics=MANY, **gensim)),
        Peer("gensim HdpModel", "defaults, at most 150 topics", 1, gensim_hdp),
        Peer(f"scikit-learn LDA partial_fit, K = {FEW}", described(scikit), 1, partial(scikit_lda, n_topics=FEW, **scikit)),
        Peer(f"tomotopy LDA, K = {FEW}", "learns its prior", SWEEPS, partial(tomotopy_lda, n_topics=FEW)),
        Peer(f"tomotopy LDA, K = {MANY}", "learns its prior", SWEEPS, partial(tomotopy_lda, n_topics=MANY)),
        Peer("tomotopy HDP", f"{START} topics at first; in scoring its shares of topics with our concentration", SWEEPS, tomotopy_hdp),
    ]
