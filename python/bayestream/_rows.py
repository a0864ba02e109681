"""Estimators that learn rows of numbers without labels: how they are fed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._model import StreamingModel
from ._tables import Table, table


class RowModel(StreamingModel):
    """Learns rows, batch by batch. A missing cell is NaN; infinities are refused."""

    def fit(self, X: Any, y: Any = None):
        """Begins anew and learns the rows in their order, once; the same as ``bayestream fit`` with the same ``batch_size``.

        ``X`` is a matrix or a table: numpy, lists, scipy, pandas, polars, or anything that speaks Arrow. ``y`` is not
        looked at.
        """
        rows = table(X)
        self._batch_rows()
        self._begin(rows)
        self._learn(rows)
        self._model.finish()
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None):
        """Goes on learning: these rows, after all before. A row of weight 2 counts as two rows."""
        rows = table(X)
        if "_model" in self.__dict__:
            self._check_columns(rows)
        else:
            self._begin(rows)
        self._learn(rows, sample_weight)
        return self

    def _learn(self, rows: Table, sample_weight: Any = None) -> None:
        batch_rows = self._batch_rows()
        if sample_weight is None:
            for cells in rows.portions(batch_rows):
                self._model.learn(cells, batch_rows)
            return
        weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
        if weights.shape != (rows.shape[0],):
            raise ValueError(f"sample_weight has the shape {weights.shape}, and there are {rows.shape[0]} rows")
        first = 0
        for cells in rows.portions(batch_rows):
            self._model.learn(cells, batch_rows, weights[first : first + len(cells)])
            first += len(cells)

    def _ask(self, question: str, X: Any) -> list[Any]:
        """Answers to a question about rows, portion by portion."""
        model = self._fitted()
        rows = table(X)
        self._check_columns(rows)
        return [getattr(model, question)(cells) for cells in rows.portions(self._batch_rows())]

    def score_samples(self, X: Any) -> np.ndarray:
        """Log-density of each row, in nats; cells that are missing are left out of it."""
        return np.concatenate(self._ask("log_densities", X))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-density of the rows: higher is better."""
        return float(self.score_samples(X).mean())

    def reasons(self, X: Any) -> list[list[dict[str, Any]]]:
        """Why rows are surprising: for each row its cells, those that are blamed first, with what was expected instead."""
        return [reasons for portion in self._ask("reasons", X) for reasons in portion]

    @property
    def log_score_(self) -> float:
        """Mean log-density of rows before they were learnt, in nats."""
        return self._fitted().log_score()[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
