"""Linear models of rows with labels or numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from river import base

from .. import _bayestream
from .._model import settings_of
from ._rows import Rows, dictionaries


class _Linear(Rows):
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
        for row, label in zip(dictionaries(X), y):
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
        for row, number in zip(dictionaries(X), y):
            self.learn_one(row, number)

    def predict_one(self, x: dict) -> float:
        """The number of a row; 0 before there is one."""
        model = self._looked_at()
        number = model.score_one(x)[0] if model is not None else math.nan
        return 0.0 if math.isnan(number) else number
