"""Pictures of models, where matplotlib is installed."""

from __future__ import annotations

from typing import Any

import numpy as np


def plot(model: Any, rows: Any = None, columns: tuple[Any, Any] | None = None, ax: Any = None):
    """Draws a model, and returns the axes.

    A mixture becomes its components in two columns (the first two, or those named), each with the ellipse that holds 95 %
    of its rows, and the rows behind them if some are given. Topics become their shares along the stream. Latent features
    become a picture of what each adds to each column.
    """
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install matplotlib") from error
    model._fitted()
    if ax is None:
        _, ax = pyplot.subplots()
    if hasattr(model, "topics"):
        return _topics(model, ax)
    if hasattr(model, "components_"):
        return _features(model, ax)
    if model._sort == "mixture":
        return _mixture(model, rows, columns, ax)
    raise ValueError(f"there is no picture of {type(model).__name__}")


def _places(model: Any, columns: tuple[Any, Any] | None) -> tuple[list[str], int, int]:
    names = model._fitted().columns()
    if columns is None:
        return names, 0, min(1, len(names) - 1)

    def place(column: Any) -> int:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"there is no column {column!r}; the columns are {names}")
            return names.index(column)
        return range(len(names))[column]

    return names, place(columns[0]), place(columns[1])


def _mixture(model: Any, rows: Any, columns: tuple[Any, Any] | None, ax: Any):
    from ._tables import table

    names, x, y = _places(model, columns)
    if rows is not None:
        cells = np.concatenate([np.asarray(part) for part in table(rows).portions(500)])
        ax.plot(cells[:, x], cells[:, y], ".", color="0.6", markersize=2, zorder=0)
    parts = model._fitted().components()
    d = len(names)
    turn = np.linspace(0.0, 2.0 * np.pi, 100)
    # 95 % of a Gaussian in two columns lie within this many standard deviations.
    circle = np.sqrt(-2.0 * np.log(0.05)) * np.stack([np.cos(turn), np.sin(turn)])
    for name, mean, covariance in zip(parts["ids"], parts["means"], parts["covariances"]):
        block = covariance.reshape(d, d)[np.ix_([x, y], [x, y])]
        spread, directions = np.linalg.eigh(block)
        ellipse = directions @ (np.sqrt(np.maximum(spread, 0.0))[:, None] * circle) + mean[[x, y], None]
        (line,) = ax.plot(*ellipse)
        ax.annotate(name, mean[[x, y]], color=line.get_color(), ha="center", va="center")
    ax.set_xlabel(names[x])
    ax.set_ylabel(names[y])
    return ax


def _topics(model: Any, ax: Any):
    told = model._fitted().topics(3)
    for name, shares, words in zip(told["ids"], told["shares_over_time"], told["top_words"]):
        ends = np.linspace(0, model.n_seen_, len(shares) + 1)[1:]
        ax.plot(ends, shares, label=f"{name}: {' '.join(word for word, _ in words)}")
    ax.set_xlabel("documents")
    ax.set_ylabel("share of the words")
    ax.legend(fontsize="small")
    return ax


def _features(model: Any, ax: Any):
    told = model._fitted().features()
    weights = told["weights"]
    largest = np.abs(weights).max(initial=1e-12)
    ax.imshow(weights, aspect="auto", cmap="RdBu", vmin=-largest, vmax=largest)
    ax.set_yticks(range(len(told["ids"])), told["ids"])
    ax.set_xticks(range(weights.shape[1]), model._fitted().columns(), rotation=90)
    return ax
