"""Rows one by one, and the columns they have: the rule is told in the package's own text."""

from __future__ import annotations

import warnings
from typing import Any

from .._tables import table


class Rows:
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
        for row in dictionaries(X):
            self._take(row)

    def to_bytes(self) -> bytes:
        """The bytes of a model file."""
        model = self._looked_at()
        if model is None:
            raise ValueError("the model has no columns yet: learn a row first")
        return model.save()


def dictionaries(X: Any) -> Any:
    """The rows of a table of pandas or polars."""
    if hasattr(X, "iter_rows"):
        return X.iter_rows(named=True)
    return X.to_dict(orient="records")
