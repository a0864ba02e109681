"""Other programs that learn labels of documents from bags of words: the same bags, in the same order, for all of them."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from river import naive_bayes
from scipy.sparse import csr_matrix
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from vowpalwabbit import Workspace

from suite.classify_data import Documents

Array = np.ndarray
Setting = dict[str, Any]
# River's ComplementNB makes its whole table anew for each document that it scores.
FEW_SCORED = 20


@dataclass(frozen=True)
class Given:
    """Labels given to the test documents, and seconds of processor time; `n_scored` documents were scored in theirs."""

    labels: Array
    train_seconds: float
    score_seconds: float
    n_scored: int


Program = Callable[..., Given]


@dataclass(frozen=True)
class Peer:
    """A program to compare with. The settings are tried on documents set apart from the training documents."""

    name: str
    about: str
    run: Program
    passes: str = "1"
    settings: Sequence[Setting] = ({},)
    repeats: bool = True


def one_hot(labels: Array, n_labels: int) -> Array:
    return np.asarray(labels)[:, np.newaxis] == np.arange(n_labels)


class Stopwatch:
    """Processor time of this process, between calls."""

    def __init__(self) -> None:
        self.start = time.process_time()

    def lap(self) -> float:
        now = time.process_time()
        seconds, self.start = now - self.start, now
        return seconds


def passive_aggressive(c: float) -> SGDClassifier:
    """What scikit-learn says to use for its `PassiveAggressiveClassifier`, which is deprecated."""
    return SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=c, shuffle=False)


def tf_idf_with(make: Callable[..., Any], one_pass: bool = False) -> Program:
    """A classifier of scikit-learn on the weights of words that it learns from the training documents first."""

    def run(train: Documents, test: Documents, **setting: Any) -> Given:
        n_labels, counts, unseen = train.labels.shape[1], train.matrix, test.matrix
        truth, model = train.single, make(**setting)
        clock = Stopwatch()
        weights = TfidfTransformer(sublinear_tf=True)
        weighted = weights.fit_transform(counts)
        if one_pass:
            model.partial_fit(weighted, truth, classes=range(n_labels))
        else:
            model.fit(weighted, truth)
        learnt = clock.lap()
        given = model.predict(weights.transform(unseen))
        return Given(one_hot(given, n_labels), learnt, clock.lap(), len(test))

    return run


def multinomial(train: Documents, test: Documents, *, alpha: float, once: bool) -> Given:
    n_labels, counts, unseen = train.labels.shape[1], train.matrix, test.matrix
    truth, model = train.single, MultinomialNB(alpha=alpha)
    clock = Stopwatch()
    model.partial_fit(counts.sign() if once else counts, truth, classes=range(n_labels))
    learnt = clock.lap()
    given = model.predict(unseen.sign() if once else unseen)
    return Given(one_hot(given, n_labels), learnt, clock.lap(), len(test))


def hashed_batches(documents: Documents, hasher: FeatureHasher, size: int) -> Iterator[csr_matrix]:
    """Batches of hashed words, weighted by what one document tells: 1 + ln(count), documents of length 1."""
    for at in range(0, len(documents), size):
        hashed = hasher.transform(documents.pairs[at : at + size])
        # Counts may be negative after hashing, and have no logarithm then.
        hashed.data = np.sign(hashed.data) * (1 + np.log(np.maximum(np.abs(hashed.data), 1)))
        yield normalize(hashed, copy=False)


def hashing(bits: int, batch: int | None) -> Program:
    """Words by their hashes, learnt in batches of so many documents or all at once."""

    def run(train: Documents, test: Documents, *, c: float) -> Given:
        n_labels, truth, size = train.labels.shape[1], train.single, batch or max(len(train), len(test))
        _ = (train.pairs, test.pairs)
        model, hasher = passive_aggressive(c), FeatureHasher(1 << bits, input_type="pair")
        clock = Stopwatch()
        for at, hashed in enumerate(hashed_batches(train, hasher, size)):
            model.partial_fit(hashed, truth[at * size : (at + 1) * size], classes=range(n_labels))
        learnt = clock.lap()
        given = np.concatenate([model.predict(hashed) for hashed in hashed_batches(test, hasher, size)])
        return Given(one_hot(given, n_labels), learnt, clock.lap(), len(test))

    return run


def vowpal_lines(documents: Documents) -> Iterator[str]:
    """Documents as Vowpal Wabbit reads them, with the same weights of words as `hashed_batches` has."""
    # These two mean something else in its format.
    plain = str.maketrans({":": "_", "|": "_"})
    for pairs, label in zip(documents.pairs, documents.single, strict=True):
        weights = [1 + math.log(count) for _, count in pairs]
        length = math.hypot(*weights) or 1.0
        words = " ".join(f"{word.translate(plain)}:{weight / length:.5f}" for (word, _), weight in zip(pairs, weights, strict=True))
        yield f"{label + 1} | {words}\n"


def vowpal(train: Documents, test: Documents, *, loss: str, rate: float) -> Given:
    n_labels = train.labels.shape[1]
    with TemporaryDirectory() as folder:
        learn, score, model, answers = (Path(folder) / name for name in ("learn", "score", "model", "answers"))
        learn.write_text("".join(vowpal_lines(train)))
        score.write_text("".join(vowpal_lines(test)))
        clock = Stopwatch()
        Workspace(f"--quiet --oaa {n_labels} -b 22 --loss_function {loss} -l {rate} -d {learn} -f {model}").finish()
        learnt = clock.lap()
        Workspace(f"--quiet -t -i {model} -d {score} -p {answers}").finish()
        scored = clock.lap()
        given = np.loadtxt(answers).astype(int) - 1
    return Given(one_hot(given, n_labels), learnt, scored, len(test))


def river_bayes(train: Documents, test: Documents, *, complement: bool, alpha: float) -> Given:
    bags, unseen = [dict(pairs) for pairs in train.pairs], [dict(pairs) for pairs in test.pairs]
    model = (naive_bayes.ComplementNB if complement else naive_bayes.MultinomialNB)(alpha=alpha)
    n_labels, truth = train.labels.shape[1], train.single.tolist()
    clock = Stopwatch()
    for bag, label in zip(bags, truth, strict=True):
        model.learn_one(bag, label)
    learnt = clock.lap()
    given = [model.predict_one(bag) for bag in (unseen[:FEW_SCORED] if complement else unseen)]
    return Given(one_hot(np.array(given), n_labels), learnt, clock.lap(), len(given))


def one_against_rest(train: Documents, test: Documents, *, c: float, balanced: bool) -> Given:
    counts, unseen = train.matrix, test.matrix
    model = OneVsRestClassifier(LinearSVC(C=c, class_weight="balanced" if balanced else None))
    clock = Stopwatch()
    weights = TfidfTransformer(sublinear_tf=True)
    model.fit(weights.fit_transform(counts), train.labels.astype(int))
    learnt = clock.lap()
    given = model.predict(weights.transform(unseen))
    return Given(np.asarray(given, bool), learnt, clock.lap(), len(test))


def grid(name: str, values: Sequence[Any], **others: Sequence[Any]) -> list[Setting]:
    """All settings with these values."""
    rest = grid(*others.popitem(), **others) if others else [{}]
    return [{name: value, **more} for value in values for more in rest]


C_SETTINGS = grid("c", (0.1, 0.3, 1.0, 3.0))


def hashing_peer(bits: int, batch: int | None) -> Peer:
    name = f"scikit-learn hashing + PA, 2^{bits}, {f'batches of {batch:,}' if batch else 'all at once'}"
    about = "`FeatureHasher` on (word, count) pairs, 1 + ln(count), length 1, the same PA"
    return Peer(name, about, hashing(bits, batch), settings=C_SETTINGS)


SINGLE = (
    Peer(
        "scikit-learn TF-IDF + PA",
        "`SGDClassifier(loss='hinge', penalty=None, learning_rate='pa1', eta0=c)`, one `partial_fit`; a pass before it for TF-IDF",
        tf_idf_with(passive_aggressive, one_pass=True),
        passes="1 + 1",
        settings=C_SETTINGS,
    ),
    hashing_peer(18, 512),
    hashing_peer(18, 2048),
    hashing_peer(18, None),
    hashing_peer(20, None),
    Peer(
        "Vowpal Wabbit",
        "`--oaa`, `-b 22`, the same weights of words as with hashing, from a file in its format",
        vowpal,
        settings=grid("loss", ("logistic", "hinge"), rate=(0.5, 2.0, 8.0)),
    ),
    Peer(
        "scikit-learn TF-IDF + ComplementNB",
        "",
        tf_idf_with(ComplementNB),
        passes="1 + 1",
        settings=grid("alpha", (0.03, 0.1, 0.3, 1.0)),
    ),
    Peer(
        "scikit-learn TF-IDF + LinearSVC",
        "`C=c`",
        tf_idf_with(lambda c: LinearSVC(C=c)),
        passes="many",
        settings=C_SETTINGS,
    ),
    Peer(
        "scikit-learn MultinomialNB",
        "one `partial_fit`; `once`: each word once per document",
        multinomial,
        settings=grid("alpha", (0.01, 0.1, 1.0), once=(False, True)),
    ),
    Peer("River MultinomialNB", "`learn_one`", partial(river_bayes, complement=False), settings=[{"alpha": 0.1}], repeats=False),
    Peer(
        "River ComplementNB",
        f"`learn_one`; it makes its table anew for each document that it scores, and was given {FEW_SCORED}",
        partial(river_bayes, complement=True),
        settings=[{"alpha": 0.3}],
        repeats=False,
    ),
)

SEVERAL = tuple(
    Peer(
        f"scikit-learn TF-IDF + LinearSVC, one against rest{', balanced' if balanced else ''}",
        "`C=c`, `class_weight='balanced'`" if balanced else "`C=c`",
        partial(one_against_rest, balanced=balanced),
        passes="many",
        settings=C_SETTINGS,
    )
    for balanced in (False, True)
)
