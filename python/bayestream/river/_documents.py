"""Models of documents, which come one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from river import base

from .. import _bayestream
from .._model import settings_of


class _Documents:
    """Documents one by one: texts, lists of tokens, or dictionaries of words and how often they occur."""

    def __init__(self, kind, settings, mini_batch, seed):
        self.kind = kind
        self.settings = settings
        self.mini_batch = mini_batch
        self.seed = seed
        self._model = _bayestream.Documents(kind, settings_of(settings), seed)
        self._waiting: list[Any] = []

    def _learn(self) -> None:
        if self._waiting:
            self._model.learn(self._waiting, self.mini_batch)
            self._waiting = []

    def to_bytes(self) -> bytes:
        """The bytes of a model file."""
        self._learn()
        return self._model.save()


class Topics(_Documents, base.Transformer):
    """Topics of documents, their number unknown; ``transform_one`` tells the topics of a text.

    >>> from bayestream import river
    >>> model = river.Topics()
    >>> for at in range(400):
    ...     model.learn_one("seed soil rain" if at % 2 else "goal match team")
    >>> max(model.transform_one("seed").values()) > 0.5
    True
    """

    _TEXT = base.tags.TEXT_INPUT

    def __init__(
        self, kind: str = "topics/mm-hdp", settings: dict | None = None, mini_batch: int = 100, seed: int = 0
    ):
        super().__init__(kind, settings, mini_batch, seed)

    def _more_tags(self):
        return {self._TEXT}

    def learn_one(self, x: Any) -> None:
        """Takes in a document."""
        self._waiting.append(_document(x))
        if len(self._waiting) >= self.mini_batch:
            self._learn()

    def transform_one(self, x: Any) -> dict:
        """The share of each topic in a document, by the topics' names."""
        self._learn()
        told = self._model.score([_document(x)])
        return {name: float(share) for name, share in zip(told["ids"], told["shares"][0])}


class TopicClassifier(_Documents, base.Classifier):
    """Topics that tell labels, learnt in one pass; new labels may come at any time.

    >>> from bayestream import river
    >>> model = river.TopicClassifier()
    >>> for at in range(400):
    ...     model.learn_one("seed soil rain" if at % 2 else "goal match team", "garden" if at % 2 else "football")
    >>> model.predict_one("a match")
    'football'
    """

    def __init__(
        self, kind: str = "topics/medlda-gibbs", settings: dict | None = None, mini_batch: int = 100, seed: int = 0
    ):
        super().__init__(kind, settings, mini_batch, seed)
        self._labels: dict[str, Any] = {}
        self._told: list[str] = []

    @property
    def _multiclass(self):
        return True

    def learn_one(self, x: Any, y: Any) -> None:
        """Takes in a document and its label."""
        label = str(y)
        if label not in self._labels:
            self._labels[label] = y
        self._waiting.append(_document(x))
        self._told.append(label)
        if len(self._waiting) >= self.mini_batch:
            self._learn()

    def _learn(self) -> None:
        if self._waiting:
            names = sorted(set(self._told))
            place = {name: at for at, name in enumerate(names)}
            starts = np.arange(len(self._told) + 1, dtype=np.int64)
            places = np.asarray([place[label] for label in self._told], dtype=np.int64)
            self._model.learn(self._waiting, self.mini_batch, (starts, places, names))
            self._waiting, self._told = [], []

    def predict_one(self, x: Any, **kwargs: Any) -> Any:
        """The label of a document; None before there is one."""
        self._learn()
        names = self._model.labels()
        margins = self._model.score([_document(x)])["margins"]
        return self._labels[names[int(margins[0].argmax())]] if margins.size else None


def _document(x: Any) -> Any:
    if isinstance(x, dict):
        return [str(word) for word, count in x.items() for _ in range(max(0, round(count)))]
    return x
