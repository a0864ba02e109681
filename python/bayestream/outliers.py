"""Outliers in a stream: how unusual each row is among recent ones, judged before it is learnt."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bases import OutlierMixin
from ._bayestream import Mixture
from ._model import limit_of, seed_of, settings_of
from ._rows import RowModel
from ._tables import Table, table


class StreamingOutlierDetector(OutlierMixin, RowModel):
    """Judges rows by a mixture that learns them, as ``bayestream watch`` does.

    ``fit`` and ``partial_fit`` judge each row, then learn it; ``watch`` does so and returns what was said. ``predict``,
    ``score_samples`` and ``decision_function`` judge rows by the model as it is.

    Parameters
    ----------
    kind : str
        Any kind of mixture that streams.
    alarm_rate : float
        Rows with a p-value of at most this are outliers: about this share of a stream that does not change.
    settings, shard, random_state, memory_limit
        As in :class:`StreamingGMM`; the defaults are those of ``bayestream watch``.
    batch_size : int
        Rows judged together, before they are learnt together: more is faster.

    Examples
    --------
    >>> import numpy as np
    >>> from bayestream import StreamingOutlierDetector
    >>> X = np.random.default_rng(0).normal(size=(3000, 3))
    >>> model = StreamingOutlierDetector().fit(X)
    >>> model.predict([[0.0, 0.0, 0.0], [0.0, 9.0, 0.0]]).tolist()
    [1, -1]
    >>> model.reasons([[0.0, 9.0, 0.0]])[0][0]["column"]
    'x2'
    """

    _sort = "mixture"
    _holder = Mixture

    def __init__(
        self,
        kind="gmm/ofab",
        alarm_rate=0.01,
        settings=None,
        batch_size=10,
        shard=0,
        random_state=None,
        memory_limit=None,
    ):
        self.kind = kind
        self.alarm_rate = alarm_rate
        self.settings = settings
        self.batch_size = batch_size
        self.shard = shard
        self.random_state = random_state
        self.memory_limit = memory_limit

    def _new_model(self, columns: list[str]) -> Any:
        if not 0.0 < self.alarm_rate <= 0.5:
            raise ValueError(f"alarm_rate={self.alarm_rate}: expected a share of the rows above 0 and at most 0.5")
        settings, seed = settings_of(self.settings), seed_of(self.random_state)
        return Mixture(self._kind(), columns, settings, seed, self.shard, True, limit_of(self.memory_limit))

    def fit(self, X: Any, y: Any = None):
        """Begins anew, and judges and learns the rows in their order, once."""
        rows = table(X)
        self._begin(rows)
        self._watch(rows)
        return self

    def partial_fit(self, X: Any, y: Any = None):
        """Goes on: judges and learns these rows."""
        self.watch(X)
        return self

    def watch(self, X: Any) -> dict[str, np.ndarray]:
        """Judges these rows, each batch before it is learnt: ``log_density``, ``surprise``, ``p_value``, ``component``,
        ``responsibility``, ``cluster`` and ``alarm``, one value for each row."""
        rows = table(X)
        if "_model" in self.__dict__:
            self._check_columns(rows)
        else:
            self._begin(rows)
        return self._told(self._watch(rows))

    def _watch(self, rows: Table) -> list[Any]:
        batch_rows = self._batch_rows()
        return [self._model.watch(cells, batch_rows) for cells in rows.portions(batch_rows)]

    def _told(self, portions: list[Any]) -> dict[str, np.ndarray]:
        names = ("log_density", "surprise", "p_value", "component", "responsibility", "cluster")
        told = {
            name: np.concatenate([np.asarray(portion[at], dtype=object if name in ("component", "cluster") else None)
                                  for portion in portions])
            for at, name in enumerate(names)
        }  # fmt: skip
        told["alarm"] = told["p_value"] <= self.alarm_rate
        return told

    def judge(self, X: Any) -> dict[str, np.ndarray]:
        """Judges rows by the model as it is; the values are those of ``watch``."""
        return self._told(self._ask("judge", X))

    def score_samples(self, X: Any) -> np.ndarray:
        """The logarithm of each row's p-value: the lower, the more unusual."""
        return np.log(self.judge(X)["p_value"])

    def decision_function(self, X: Any) -> np.ndarray:
        """The same, less ``offset_``: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """-1 for outliers, 1 for other rows."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)

    @property
    def offset_(self) -> float:
        """The score below which rows are outliers: just above that of ``alarm_rate``, which itself raises an alarm."""
        self._fitted()
        return float(np.nextafter(np.log(self.alarm_rate), np.inf))

    @property
    def drift_alarms_(self) -> list[dict[str, Any]]:
        """Changes of the stream that were noticed: ``row``, ``since``, ``what``, ``column`` and ``strength``."""
        return self._fitted().drift_alarms()
