"""The same models in River's manner: one row at a time, as dictionaries, with features that come and go.

**Columns.** A model has the columns that are named with ``columns``, or else all features of the first ``settle`` rows, in
the order of the alphabet. These rows are kept until then: a feature that is new among them makes the model begin anew with
it, and learn them again. A feature that appears later is left alone, with a warning the first time. A feature that a row
does not have, or that is None, is missing.

**Batches.** Rows are gathered, and learnt ``mini_batch`` at a time; looking at the model learns those that wait first.

>>> from bayestream import river
>>> model = river.GMM(columns=("x", "y"))
>>> for at in range(300):
...     model.learn_one({"x": at % 2 * 9.0 + at % 7 / 7, "y": at % 5 / 5})
>>> model.predict_one({"x": 0.5}) != model.predict_one({"x": 9.5})
True
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from river import base

from . import _bayestream
from ._model import settings_of
from ._tables import table

__all__ = [
    "GMM",
    "LatentFeatures",
    "LinearClassifier",
    "LinearRegressor",
    "OutlierDetector",
    "TopicClassifier",
    "Topics",
]


class _Rows:
    """Rows one by one, and the columns they have."""

    def __init__(self, kind, columns, settings, mini_batch, settle, seed):
        self.kind = kind
        self.columns = columns
        self.settings = settings
        self.mini_batch = mini_batch
        self.settle = settle
        self.seed = seed
        self._model = None
        #: The rows until the columns are settled.
        self._first: list[Any] | None = None if columns is not None else []
        self._has_warned = False
        if columns is not None:
            self._model = self._new(list(columns))

    # What a subclass fills in.
    def _new(self, columns: list[str]) -> Any:
        raise NotImplementedError

    def _push(self, row: Any) -> bool:
        return self._model.push(row)

    def _keys(self, row: Any) -> Any:
        return row

    def _take(self, row: Any) -> None:
        """A row to be learnt."""
        if self._first is not None:
            self._take_first(row)
        elif self._push(row):
            self._warn(row)

    def _take_first(self, row: Any) -> None:
        if self._model is not None and not self._known.issuperset(self._keys(row)):
            self._model = None
        self._first.append(row)
        if self._model is not None:
            self._push(row)
        if len(self._first) >= self.settle:
            self._looked_at()
            self._first = None

    def _looked_at(self) -> Any:
        """The model, begun if it was not; none without any row."""
        if self._model is None and self._first:
            self._known = {key for row in self._first for key in self._keys(row)}
            if not self._known:
                return None
            self._model = self._new(sorted(self._known, key=str))
            for row in self._first:
                self._push(row)
        return self._model

    def _warn(self, row: Any) -> None:
        if not self._has_warned:
            self._has_warned = True
            known = set(self._model.columns())
            new = sorted(str(key) for key in self._keys(row) if key not in known)
            warnings.warn(
                f"{type(self).__name__} began with {len(known)} columns and leaves others alone: {', '.join(new)}",
                UserWarning,
                stacklevel=4,
            )

    def _take_many(self, X: Any) -> None:
        """A table to be learnt: at once when it has the model's columns, else row by row."""
        if self._first is None and self._model.columns() == list(X.columns):
            rows = table(X)
            for cells in rows.portions(self.mini_batch):
                self._model.learn(cells, self.mini_batch)
            return
        for row in _dictionaries(X):
            self._take(row)

    def to_bytes(self) -> bytes:
        """The bytes of a model file."""
        model = self._looked_at()
        if model is None:
            raise ValueError("the model has no columns yet: learn a row first")
        return model.save()


class GMM(_Rows, base.Clusterer):
    """A mixture of Gaussians that finds its number of components.

    ``predict_one`` tells the number of the component most responsible, which it keeps for life, and -1 before there is one;
    ``score_one`` the log-density.

    >>> from bayestream import river
    >>> river.GMM().predict_one({"x": 1.0})
    -1
    """

    def __init__(
        self,
        kind: str = "gmm/ofab",
        columns: tuple | None = None,
        settings: dict | None = None,
        mini_batch: int = 100,
        settle: int = 100,
        seed: int = 0,
    ):
        super().__init__(kind, columns, settings, mini_batch, settle, seed)

    def _new(self, columns):
        model = _bayestream.Mixture(self.kind, columns, settings_of(self.settings), self.seed)
        model.gather(self.mini_batch, False)
        return model

    def learn_one(self, x: dict) -> None:
        """Takes in a row."""
        if self._first is None:
            if self._model.push(x):
                self._warn(x)
        else:
            self._take_first(dict(x))

    def learn_many(self, X: Any) -> None:
        """Learns the rows of a table."""
        self._take_many(X)

    def predict_one(self, x: dict) -> int:
        """The number of the component most responsible for a row."""
        model = self._looked_at()
        component = model.score_one(x)[1] if model is not None else None
        return -1 if component is None else int(component.split("-")[1])

    def score_one(self, x: dict) -> float:
        """The log-density of a row, in nats; NaN before there is a model."""
        model = self._looked_at()
        return model.score_one(x)[0] if model is not None else math.nan


class OutlierDetector(_Rows, base.AnomalyDetector):
    """Judges rows by a mixture that learns them, as ``bayestream watch`` does.

    ``score_one`` is one less the p-value: near one for outliers, zero while too few rows were seen to judge.

    >>> from bayestream import river
    >>> model = river.OutlierDetector(columns=("x",))
    >>> for at in range(1000):
    ...     model.learn_one({"x": at % 17 / 17})
    >>> model.score_one({"x": 30.0}) > 0.99
    True
    """

    def __init__(
        self,
        kind: str = "gmm/ofab",
        columns: tuple | None = None,
        settings: dict | None = None,
        mini_batch: int = 10,
        settle: int = 100,
        seed: int = 0,
    ):
        super().__init__(kind, columns, settings, mini_batch, settle, seed)

    def _new(self, columns):
        model = _bayestream.Mixture(self.kind, columns, settings_of(self.settings), self.seed, 0, True)
        model.gather(self.mini_batch, True)
        return model

    def learn_one(self, x: dict) -> None:
        """Judges and takes in a row."""
        if self._first is None:
            if self._model.push(x):
                self._warn(x)
        else:
            self._take_first(dict(x))

    def learn_many(self, X: Any) -> None:
        """Judges and learns the rows of a table."""
        if self._first is None and self._model.columns() == list(X.columns):
            for cells in table(X).portions(self.mini_batch):
                self._model.watch(cells, self.mini_batch)
            return
        for row in _dictionaries(X):
            self._take(row)

    def score_one(self, x: dict) -> float:
        """How unusual a row is, from 0 to 1."""
        model = self._looked_at()
        return 1.0 - model.judge_one(x)[1] if model is not None else 0.0


class LatentFeatures(_Rows, base.Transformer):
    """Finds the features that rows are sums of; ``transform_one`` says which of them a row has.

    >>> from bayestream import river
    >>> river.LatentFeatures().transform_one({"x": 1.0})
    {}
    """

    def __init__(
        self,
        kind: str = "lfm/online-fab",
        columns: tuple | None = None,
        settings: dict | None = None,
        mini_batch: int = 100,
        settle: int = 100,
        seed: int = 0,
    ):
        super().__init__(kind, columns, settings, mini_batch, settle, seed)

    def _new(self, columns):
        model = _bayestream.Features(self.kind, columns, settings_of(self.settings), self.seed)
        model.gather(self.mini_batch)
        return model

    def learn_one(self, x: dict) -> None:
        """Takes in a row."""
        self._take(dict(x) if self._first is not None else x)

    def learn_many(self, X: Any) -> None:
        """Learns the rows of a table."""
        self._take_many(X)

    def transform_one(self, x: dict) -> dict:
        """The probability that a row has each feature, by the features' names."""
        model = self._looked_at()
        return dict(model.score_one(x)[1]) if model is not None else {}

    def score_one(self, x: dict) -> float:
        """The log-density of a row, in nats; NaN before there is a model."""
        model = self._looked_at()
        return model.score_one(x)[0] if model is not None else math.nan


class _Linear(_Rows):
    """Linear models learn row by row: nothing waits."""

    _target = "label"

    def _new(self, columns):
        settings = [("target", self._target), *settings_of(self.settings)]
        return _bayestream.Linear(self.kind, columns, settings, self.seed)

    def _push(self, row):
        return self._model.learn_one(row[0], row[1])

    def _keys(self, row):
        return row[0]


class LinearClassifier(_Linear, base.Classifier):
    """A linear classifier in one pass; new labels may come at any time.

    >>> from bayestream import river
    >>> model = river.LinearClassifier(columns=("x",))
    >>> for at in range(100):
    ...     model.learn_one({"x": at % 10}, at % 10 > 4)
    >>> model.predict_one({"x": 9})
    True
    """

    def __init__(
        self,
        kind: str = "classify/bayespa-gibbs",
        columns: tuple | None = None,
        settings: dict | None = None,
        settle: int = 100,
        seed: int = 0,
    ):
        super().__init__(kind, columns, settings, 1, settle, seed)
        #: What each label was before it became a text.
        self._labels: dict[str, Any] = {}

    @property
    def _multiclass(self):
        return True

    def learn_one(self, x: dict, y: Any) -> None:
        """Learns a row and its label."""
        label = str(y)
        if label not in self._labels:
            self._labels[label] = y
        self._take((dict(x) if self._first is not None else x, label))

    def learn_many(self, X: Any, y: Any) -> None:
        """Learns the rows of a table and their labels."""
        for row, label in zip(_dictionaries(X), y):
            self.learn_one(row, label)

    def predict_one(self, x: dict, **kwargs: Any) -> Any:
        """The label of a row; None before there is one."""
        model = self._looked_at()
        scores = model.score_one(x)[1] if model is not None else []
        return self._labels[model.labels()[int(np.argmax(scores))]] if scores else None

    def score_one(self, x: dict) -> dict:
        """How far a row lies on the side of each label."""
        model = self._looked_at()
        scores = model.score_one(x)[1] if model is not None else []
        return {self._labels[name]: score for name, score in zip(model.labels(), scores)} if scores else {}


class LinearRegressor(_Linear, base.Regressor):
    """A linear regressor in one pass.

    >>> from bayestream import river
    >>> model = river.LinearRegressor(columns=("x",))
    >>> for at in range(500):
    ...     model.learn_one({"x": at % 10}, 3.0 * (at % 10) + 1.0)
    >>> abs(model.predict_one({"x": 4}) - 13.0) < 0.5
    True
    """

    _target = "number"

    def __init__(
        self,
        kind: str = "classify/bayespa-gibbs",
        columns: tuple | None = None,
        settings: dict | None = None,
        settle: int = 100,
        seed: int = 0,
    ):
        super().__init__(kind, columns, settings, 1, settle, seed)

    def learn_one(self, x: dict, y: float) -> None:
        """Learns a row and its number."""
        self._take((dict(x) if self._first is not None else x, repr(float(y))))

    def learn_many(self, X: Any, y: Any) -> None:
        """Learns the rows of a table and their numbers."""
        for row, number in zip(_dictionaries(X), y):
            self.learn_one(row, number)

    def predict_one(self, x: dict) -> float:
        """The number of a row; 0 before there is one."""
        model = self._looked_at()
        number = model.score_one(x)[0] if model is not None else math.nan
        return 0.0 if math.isnan(number) else number


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


def _dictionaries(X: Any) -> Any:
    if hasattr(X, "iter_rows"):
        return X.iter_rows(named=True)
    return X.to_dict(orient="records")
