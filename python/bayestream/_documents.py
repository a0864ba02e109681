"""Documents in whatever form they come: texts, lists of tokens, or counts of terms in a matrix."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._tables import is_sparse, table

_LARGEST_COUNT = 2**32 - 1


@dataclass
class Documents:
    """Documents on their way to a model: a list of texts or of token lists, or ``(starts, terms, counts)``."""

    given: Any
    n: int
    #: Of counts: how many terms there are, and their names if they have any.
    n_terms: int | None = None
    names: list[str] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n_terms or 0


def documents(X: Any) -> Documents:
    """The documents in ``X``, checked."""
    if isinstance(X, str):
        raise ValueError("X is one text; give a list of texts, one for each document")
    if is_sparse(X):
        return _of_counts(X.tocsr(), None)
    if isinstance(X, np.ndarray):
        if X.ndim == 1 and X.dtype.kind in "UO" and len(X) and _is_document(X[0]):
            return _of_list(X.tolist())
        return _of_matrix(X)
    if hasattr(X, "columns"):
        if len(X.columns) == 1 and not _is_number_table(X):
            column = X[list(X.columns)[0]]
            return _of_list(column.to_list() if hasattr(column, "to_list") else list(column))
        return _of_matrix(X)
    if hasattr(X, "__array__") and hasattr(X, "to_list"):
        return _of_list(X.to_list())
    rows = list(X) if hasattr(X, "__iter__") else X
    if isinstance(rows, list) and all(_is_document(row) for row in rows):
        return _of_list(rows)
    return _of_matrix(X)


def _is_document(row: Any) -> bool:
    if isinstance(row, str):
        return True
    return isinstance(row, (list, tuple)) and all(isinstance(token, str) for token in row)


def _is_number_table(X: Any) -> bool:
    dtypes = getattr(X, "dtypes", [])
    return all(getattr(dtype, "kind", "") in "biuf" or getattr(dtype, "is_numeric", bool)() for dtype in dtypes)


def _of_list(rows: list[Any]) -> Documents:
    if not rows:
        raise ValueError("Found 0 documents while a minimum of 1 is required.")
    texts = [row if isinstance(row, str) else list(row) if isinstance(row, (list, tuple)) else row for row in rows]
    return Documents(texts, len(texts))


def _of_matrix(X: Any) -> Documents:
    rows = table(X)
    if rows.is_sparse:
        return _of_counts(rows.cells, rows.names)
    cells = np.asarray(rows.cells)
    _check(cells)
    counts = _whole(cells)
    at, terms = np.nonzero(counts)
    starts = np.searchsorted(at, np.arange(len(cells) + 1)).astype(np.int64)
    given = starts, terms.astype(np.uint32), np.ascontiguousarray(counts[at, terms])
    return Documents(given, *cells.shape, names=rows.names)


def _of_counts(X: Any, names: list[str] | None) -> Documents:
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: counts are whole numbers")
    if X.shape[0] == 0 or X.shape[1] == 0:
        table(np.empty(X.shape))
    _check(X.data)
    given = X.indptr.astype(np.int64), X.indices.astype(np.uint32), _whole(X.data)
    return Documents(given, *X.shape, names=names)


def _check(cells: np.ndarray) -> None:
    if cells.dtype.kind == "f" and not np.isfinite(cells).all():
        raise ValueError("Input X contains NaN or infinity: counts of terms are whole numbers of at least 0")
    if cells.size and cells.min() < 0:
        raise ValueError("Negative values in data passed to X: counts of terms are whole numbers of at least 0")
    if cells.size and cells.max() > _LARGEST_COUNT:
        raise ValueError(f"Input X contains a count above {_LARGEST_COUNT}")


def _whole(cells: np.ndarray) -> np.ndarray:
    rounded = np.rint(cells)
    if cells.dtype.kind == "f" and not np.array_equal(rounded, cells):
        warnings.warn(
            "X has fractions where counts of terms are expected; they are rounded. Give counts, not tf-idf",
            UserWarning,
            stacklevel=6,
        )
    return rounded.astype(np.uint32)
