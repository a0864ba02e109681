"""Models of rows without labels."""

from __future__ import annotations

import math
from typing import Any

from river import base

from .. import _bayestream
from .._model import settings_of
from .._tables import table
from ._rows import Rows, dictionaries


class GMM(Rows, base.Clusterer):
    """A mixture of Gaussians that finds its number of components.

    ``predict_one`` tells the number of the row's cluster, that of its oldest component, and -1 before there is one;
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
        """The number of the cluster that is most responsible for a row."""
        model = self._looked_at()
        cluster = model.score_one(x)[1] if model is not None else None
        return -1 if cluster is None else int(cluster.split("-")[1])

    def score_one(self, x: dict) -> float:
        """The log-density of a row, in nats; NaN before there is a model."""
        model = self._looked_at()
        return model.score_one(x)[0] if model is not None else math.nan


class OutlierDetector(Rows, base.AnomalyDetector):
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
        for row in dictionaries(X):
            self._take(row)

    def score_one(self, x: dict) -> float:
        """How unusual a row is, from 0 to 1."""
        model = self._looked_at()
        return 1.0 - model.judge_one(x)[1] if model is not None else 0.0


class LatentFeatures(Rows, base.Transformer):
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
