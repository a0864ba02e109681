"""Labels in whatever form they come, as the library takes them, and back."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._bases import DataConversionWarning, check_classification_targets


@dataclass
class Labels:
    """Labels of rows: one each, or several. ``starts`` and ``places`` say which of ``classes`` each row has."""

    classes: np.ndarray
    starts: np.ndarray
    places: np.ndarray
    #: "one" label a row, an "indicator" matrix, or "lists" of labels.
    form: str

    def for_model(self) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """What the compiled half takes."""
        return self.starts, self.places, names_of(self.classes)

    def __len__(self) -> int:
        return len(self.starts) - 1


def names_of(classes: np.ndarray) -> list[str]:
    """Labels as texts: what a model file keeps."""
    return [str(name) for name in classes.tolist()]


def labels_of(y: Any, n_rows: int, who: str) -> Labels:
    """The labels in ``y``, checked."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None")
    if _is_lists(y):
        return _of_lists(y, n_rows)
    y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    if y.ndim == 2 and y.shape[1] > 1:
        return _of_indicator(y, n_rows)
    if y.ndim == 2:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,),"
            " for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    _check_length(len(y), n_rows)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity")
    if y.dtype.kind == "O" and any(value is None or value != value for value in y):
        raise ValueError("Input y contains NaN or None")
    check_classification_targets(y)
    classes, places = np.unique(y, return_inverse=True)
    return Labels(classes, np.arange(n_rows + 1, dtype=np.int64), places.astype(np.int64), "one")


def _is_lists(y: Any) -> bool:
    """True for a list with a list (or set) of labels for each row, which may be of any lengths."""
    if isinstance(y, np.ndarray) and y.dtype != object:
        return False
    if hasattr(y, "toarray") or hasattr(y, "columns"):
        return False
    rows = list(y) if hasattr(y, "__len__") else []
    is_list = [isinstance(row, (list, tuple, set, frozenset)) for row in rows]
    return bool(rows) and all(is_list) and any(isinstance(label, str) for row in rows for label in row)


def _of_lists(y: Any, n_rows: int) -> Labels:
    rows = [sorted(set(row)) for row in y]
    _check_length(len(rows), n_rows)
    classes = np.unique(np.asarray([label for row in rows for label in row], dtype=str))
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    places = np.searchsorted(classes, [label for row in rows for label in row]).astype(np.int64)
    return Labels(classes, starts, places, "lists")


def _of_indicator(y: np.ndarray, n_rows: int) -> Labels:
    _check_length(len(y), n_rows)
    if y.dtype.kind not in "biuf" or not np.isin(y, (0, 1)).all():
        raise ValueError("y has several columns, so it should be a matrix of zeros and ones: one column for each label")
    rows, places = np.nonzero(y)
    starts = np.searchsorted(rows, np.arange(n_rows + 1)).astype(np.int64)
    return Labels(np.arange(y.shape[1]), starts, places.astype(np.int64), "indicator")


def _check_length(found: int, n_rows: int) -> None:
    if found != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {found}]")


def numbers_of(y: Any, n_rows: int, who: str) -> np.ndarray:
    """The numbers in ``y``, checked."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,),"
            " for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    _check_length(len(y), n_rows)
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: y has real numbers")
    y = np.ascontiguousarray(y, dtype=np.float64)
    if not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity")
    return y
