"""Topics of documents, their number unknown, and labels told by topics."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bases import ClassifierMixin, TransformerMixin
from ._bayestream import Documents as Holder
from ._classifying import TellsLabels
from ._documents import Documents, documents
from ._labels import Labels, labels_of
from ._model import StreamingModel, seed_of, settings_of, unnamed


class TopicModel(TransformerMixin, StreamingModel):
    """What all models of documents can be asked. Topics come by decreasing weight.

    Documents are texts, lists of tokens, or a matrix of counts, dense or sparse. Texts and tokens bring their own words,
    and the vocabulary grows with the stream; a matrix has a column for each word, which ``vocabulary`` or the names of its
    columns name.
    """

    _sort = "documents"
    _holder = Holder

    def _new_documents(self, given: Documents) -> None:
        """A model that has seen nothing, for documents of this form."""
        if given.n_terms is None:
            words = None if self.vocabulary is None else _words_of(self.vocabulary)
        else:
            words = self._terms(given)
        settings = settings_of(self.settings)
        self._model = Holder(self._kind(), settings, seed_of(self.random_state), self.shard, words)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.pop("n_features_in_", None)
        if given.n_terms is not None:
            self.n_features_in_ = given.n_terms
            if given.names is not None:
                self.feature_names_in_ = np.asarray(given.names, dtype=object)

    def _terms(self, given: Documents) -> list[str]:
        if self.vocabulary is None:
            return given.names or unnamed(given.n_terms)
        words = _words_of(self.vocabulary)
        if len(words) != given.n_terms:
            raise ValueError(f"the vocabulary has {len(words)} words, and X has {given.n_terms} columns")
        return words

    def _check_documents(self, given: Documents) -> None:
        has_columns = "n_features_in_" in self.__dict__
        if has_columns and given.n_terms is not None:
            self._check_columns(given)
        elif given.n_terms is not None:
            raise ValueError(f"{type(self).__name__} was fitted with texts or tokens, and X is a matrix of counts")

    def _adopt(self, model: Any) -> None:
        self._model = model
        if model.has_given_words():
            words = model.words()
            self.n_features_in_ = len(words)
            if words != unnamed(len(words)):
                self.vocabulary = words

    def _threads(self) -> int:
        if self.n_jobs is None:
            return 1
        if self.n_jobs < 0:
            import os

            return max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)
        return int(self.n_jobs)

    def _ask(self, X: Any) -> dict[str, Any]:
        model = self._fitted()
        given = documents(X)
        self._check_documents(given)
        return model.score(given.given)

    def transform(self, X: Any) -> np.ndarray:
        """The share of each topic in each document."""
        return self._ask(X)["shares"].astype(np.float64)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log-probability of each document's words, in nats."""
        return self._ask(X)["log_likelihood"]

    def perplexity(self, X: Any) -> float:
        """The exponential of minus the mean log-probability of a word: lower is better."""
        scores = self._ask(X)
        return float(np.exp(-scores["log_likelihood"].sum() / max(int(scores["n_words"].sum()), 1)))

    def topics(self, n_words: int = 10) -> list[dict[str, Any]]:
        """The topics: ``id``, ``weight``, ``trend`` (its recent share over that before), ``born`` (the document from which on
        it was there) and ``words`` (those that describe it best)."""
        told = self._fitted().topics(n_words)
        described = zip(told["ids"], told["weights"], told["trends"], told["born"], told["top_words"])
        return [
            {"id": name, "weight": float(weight), "trend": float(trend), "born": int(born), "words": [w for w, _ in words]}
            for name, weight, trend, born, words in described
        ]

    def snapshot(self) -> dict[str, Any]:
        """The small model of what was seen."""
        model = self._fitted()
        topics = self.topics()
        return {
            "kind": self._kind(),
            "n_seen": model.n_seen(),
            "n_words": sum(bool(word) for word in model.words()),
            "k_realized": len(topics),
            "k_implemented": model.k_implemented(),
            "topics": topics,
            "log_score": {"prequential_mean_per_word": model.log_score()[0]},
        }

    @property
    def components_(self) -> np.ndarray:
        """The probability of each word in each topic, one row for each topic; ``vocabulary_`` names the columns."""
        return self._fitted().topics(0)["words"]

    @property
    def weights_(self) -> np.ndarray:
        """The topics' shares of the words of the stream."""
        return self._fitted().topics(0)["weights"]

    @property
    def component_ids_(self) -> list[str]:
        """The topics' names, which they keep."""
        return self._fitted().topics(0)["ids"]

    @property
    def n_components_(self) -> int:
        """How many topics were found."""
        return len(self._fitted().topics(0)["ids"])

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The words known, with their numbers."""
        return {word: at for at, word in enumerate(self._fitted().words()) if word}

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of ``transform``."""
        return np.asarray([f"topic_{name}" for name in self.component_ids_], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.string = True
        return tags


class StreamingTopics(TopicModel):
    """Topics of a stream of documents in one pass, their number unknown and the vocabulary growing (moment-matched HDP).

    Parameters
    ----------
    kind : str
        Any kind of documents: ``bayestream.kinds("documents")`` lists them.
    settings : dict
        Settings of the engine and of text (``stop``, ``stem``, ...): ``bayestream.settings(kind)`` lists them.
    vocabulary : list of str, dict or None
        The words to know; for a matrix of counts, what its columns stand for. None finds them.
    batch_size, shard, random_state
        As in :class:`StreamingGMM`.
    n_jobs : int or None
        Threads, where the kind can use several; the result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from bayestream import StreamingTopics
    >>> words = "soil seed rain rose weed".split(), "goal match team league player".split()
    >>> rng = np.random.default_rng(0)
    >>> texts = [" ".join(rng.choice(words[at % 2], 12)) for at in range(2000)]
    >>> model = StreamingTopics().fit(texts)
    >>> model.n_components_
    2
    >>> shares = model.transform(texts[:2])
    >>> bool(shares[0].argmax() != shares[1].argmax())
    True
    """

    def __init__(self, kind="topics/mm-hdp", settings=None, vocabulary=None, batch_size=500, n_jobs=None, shard=0,
                 random_state=None):  # fmt: skip
        self.kind = kind
        self.settings = settings
        self.vocabulary = vocabulary
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.shard = shard
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None):
        """Begins anew and learns the documents in their order, once."""
        given = documents(X)
        self._new_documents(given)
        self._model.learn(given.given, self._batch_rows(), None, self._threads())
        self._model.finish()
        return self

    def partial_fit(self, X: Any, y: Any = None):
        """Goes on learning: these documents, after all before."""
        given = documents(X)
        if "_model" in self.__dict__:
            self._check_documents(given)
        else:
            self._new_documents(given)
        self._model.learn(given.given, self._batch_rows(), None, self._threads())
        return self

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-probability of a word, in nats: higher is better."""
        return -float(np.log(self.perplexity(X)))


class TopicClassifier(ClassifierMixin, TellsLabels, TopicModel):
    """Topics that tell labels, learnt in one pass; one label a document, or several (online BayesPA, MedLDA).

    ``y`` has one label for each document, or a matrix of zeros and ones with a column for each label, or a list of labels
    for each document. The other parameters are those of :class:`StreamingTopics`.

    Examples
    --------
    >>> from bayestream import TopicClassifier
    >>> texts = ["soil seed rain seed", "goal match team goal"] * 200
    >>> model = TopicClassifier().fit(texts, ["garden", "football"] * 200)
    >>> model.predict(["seed in the rain", "a match"]).tolist()
    ['garden', 'football']
    >>> model.speaking_words("seed in the rain", "garden")[0][0]
    'seed'
    """

    def __init__(self, kind="topics/medlda-gibbs", settings=None, vocabulary=None, batch_size=500, n_jobs=None, shard=0,
                 random_state=None):  # fmt: skip
        self.kind = kind
        self.settings = settings
        self.vocabulary = vocabulary
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.shard = shard
        self.random_state = random_state

    def fit(self, X: Any, y: Any):
        """Begins anew and learns the documents and their labels in their order, once."""
        given = documents(X)
        labels = labels_of(y, given.n, type(self).__name__)
        self._new_documents(given)
        self._begin_labels(None, labels.form)
        self._learn(given, labels)
        self._model.finish()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None):
        """Goes on learning. New labels may come at any time, unless ``classes`` were given at first."""
        given = documents(X)
        labels = labels_of(y, given.n, type(self).__name__)
        if "_model" in self.__dict__:
            self._check_documents(given)
        else:
            self._new_documents(given)
            self._begin_labels(classes, labels.form)
        self._learn(given, labels)
        return self

    def _learn(self, given: Documents, labels: Labels) -> None:
        self._take_labels(labels)
        self._model.learn(given.given, self._batch_rows(), labels.for_model(), self._threads())
        if len(labels.places) and not self._model.labels():
            del self._model
            raise ValueError(f"{self._kind()} finds topics and tells no labels; use StreamingTopics, or another kind")

    def _adopt(self, model: Any) -> None:
        super()._adopt(model)
        self._adopt_labels(model.labels(), model.tells_several())

    def _margins(self, X: Any) -> np.ndarray:
        return self._in_order(self._ask(X)["margins"].astype(np.float64), self._model.labels())

    def speaking_words(self, document: Any, label: Any, n: int = 8) -> list[tuple[str, float]]:
        """The words of a document that speak loudest for a label, each with how much it adds to the margin."""
        model = self._fitted()
        names = model.labels()
        if str(label) not in names:
            raise ValueError(f"there is no label {label!r}; the labels are {names}")
        return model.speaking_words([document], names.index(str(label)), n)

    @property
    def accuracy_before_learning_(self) -> float:
        """The share of documents whose labels were told exactly before they were learnt."""
        n, right = self._fitted().judged() or (0, 0)
        return right / n if n else float("nan")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        # A column of a generic matrix is no word.
        tags.classifier_tags.poor_score = True
        return tags


def _words_of(vocabulary: Any) -> list[str]:
    if isinstance(vocabulary, dict):
        return [word for word, _ in sorted(vocabulary.items(), key=lambda item: item[1])]
    return [str(word) for word in vocabulary]
