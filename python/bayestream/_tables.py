"""Rows of numbers in whatever holds them: numpy, lists, scipy, pandas, polars, and anything that speaks Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator

import numpy as np

from ._bayestream import columns_of_stream

_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
#: Rows of a sparse matrix that are made dense together, in batches.
_BATCHES_TOGETHER = 8


@dataclass
class Table:
    """Rows on their way to a model; ``names`` are those of the columns, if they have any."""

    cells: Any
    names: list[str] | None
    is_sparse: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.cells.shape

    def portions(self, batch_rows: int) -> Iterator[np.ndarray]:
        """Dense arrays, one after the other, cut between batches; a dense array is one portion, as it is."""
        if not self.is_sparse:
            yield self.cells
            return
        step = batch_rows * _BATCHES_TOGETHER
        for first in range(0, self.shape[0], step):
            yield self.cells[first : first + step].toarray()


def is_sparse(X: Any) -> bool:
    """True for scipy's sparse matrices and arrays, without importing scipy."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def table(X: Any) -> Table:
    """The rows in ``X``, checked; float64 and float32 arrays stay as they are, in any layout."""
    if isinstance(X, np.ndarray):
        return Table(_matrix(X), None)
    if is_sparse(X):
        return Table(_sparse(X), None, is_sparse=True)
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        return Table(_matrix(_of_pandas(X)), _names(X.columns))
    if hasattr(X, "__arrow_c_stream__"):
        names, cells = columns_of_stream(X.__arrow_c_stream__())
        return Table(_matrix(cells), names)
    return Table(_matrix(np.asarray(X)), None)


def _names(columns: Any) -> list[str] | None:
    names = list(columns)
    are_texts = [isinstance(name, str) for name in names]
    if any(are_texts) and not all(are_texts):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has"
            f" {sorted({type(name).__name__ for name in names})} as feature name / column name types. If you want feature"
            " names to be stored and validated, you must convert them all to strings, by using"
            " X.columns = X.columns.astype(str) for example."
        )
    return names if all(are_texts) else None


def _of_pandas(X: Any) -> np.ndarray:
    if all(getattr(dtype, "kind", "O") in "fiub" and isinstance(dtype, np.dtype) for dtype in X.dtypes):
        return X.to_numpy()
    # Nullable columns say that a value is missing in their own way.
    return X.to_numpy(dtype=np.float64, na_value=np.nan)


def _matrix(X: np.ndarray) -> np.ndarray:
    dtype = X.dtype
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {'scalar' if X.ndim == 0 else f'{X.ndim}D'} array instead."
            " Reshape your data either using array.reshape(-1, 1) if your data has a single feature or"
            " array.reshape(1, -1) if it contains a single sample."
        )
    if dtype is not _DOUBLE and dtype is not _SINGLE and dtype != _DOUBLE and dtype != _SINGLE:
        if dtype.kind == "c":
            raise ValueError("Complex data not supported: rows are real numbers")
        X = X.astype(np.float64)
    n_rows, n_columns = X.shape
    if n_rows == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    if n_columns == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    flags = X.flags
    if not flags.c_contiguous and (not flags.aligned or any(step % X.itemsize for step in X.strides)):
        X = X.copy()
    elif not flags.aligned:
        X = X.copy()
    return X


def _sparse(X: Any) -> Any:
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: rows are real numbers")
    X = X.tocsr()
    if X.shape[0] == 0 or X.shape[1] == 0:
        _matrix(np.empty(X.shape))
    if X.dtype not in (_DOUBLE, _SINGLE):
        X = X.astype(np.float64)
    if not np.isfinite(X.data[~np.isnan(X.data)]).all():
        raise ValueError("Input X contains infinity: remove it or leave the cell empty (NaN is a missing value)")
    return X
