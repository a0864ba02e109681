"""Streams with known outliers: real sets, planted clusters, and rows with holes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

Rows = np.ndarray

SEED = 1000
MIN_OUTLIERS = 30
MISSING_SHARE = 0.2
PLANTED_ROWS = 10_000
PLANTED_DISTANCE = 6.0
PLANTED_SPREAD = 0.3
# Shares of the Gaussians among the ordinary rows.
BULKS = {1: (1.0,), 3: (0.5, 0.3, 0.2)}


@dataclass(frozen=True)
class RealSet:
    """A file of rows whose last used column says which are outliers."""

    name: str
    file: str
    n_columns: int
    choosing: bool
    """Whether settings were chosen with its labels in view; the other sets only report."""


REAL_SETS = (
    RealSet("shuttle", "shuttle/shuttle.csv.gz", 9, choosing=True),
    RealSet("smtp", "kddcup99/smtp.csv.gz", 3, choosing=True),
    RealSet("mammography", "anomaly/mammography.csv.gz", 6, choosing=True),
    RealSet("cardio", "anomaly/cardio.csv.gz", 21, choosing=True),
    RealSet("http", "kddcup99/http.csv.gz", 3, choosing=False),
    RealSet("cover", "anomaly/cover.csv.gz", 10, choosing=False),
    RealSet("thyroid", "anomaly/thyroid.csv.gz", 6, choosing=False),
    RealSet("satimage-2", "anomaly/satimage-2.csv.gz", 36, choosing=False),
)


@dataclass(frozen=True)
class Stream:
    """Rows in the order they arrive, and which of them are outliers."""

    label: str
    seed: int
    rows: Rows
    outlier: np.ndarray


def load(data: Path, real: RealSet) -> tuple[Rows, np.ndarray]:
    """All rows of a set in the file's order, and which of them are outliers."""
    table = np.loadtxt(data / real.file, delimiter=",", skiprows=1, usecols=range(real.n_columns + 1))
    rows, label = np.ascontiguousarray(table[:, :-1]), table[:, -1]
    if real.name == "shuttle":
        # The usual reading of this set: class 1 is ordinary, class 4 (many, and alike) is left out, the others are outliers.
        kept = label != 4
        return rows[kept], label[kept] != 1
    return rows, label == 1


def shuffled(real: RealSet, rows: Rows, outlier: np.ndarray, shuffle: int, n_rows: int | None) -> Stream:
    """A random order of a set, or of a random part of it with the same share of outliers."""
    rng = np.random.default_rng([SEED, REAL_SETS.index(real), shuffle])
    picked = np.arange(len(rows))
    if n_rows is not None and n_rows < len(rows):
        inside, outside = np.flatnonzero(~outlier), np.flatnonzero(outlier)
        wanted = max(round(n_rows * len(outside) / len(rows)), MIN_OUTLIERS)
        n_outside = min(wanted, len(outside), n_rows)
        picked = np.concatenate([rng.choice(outside, n_outside, replace=False), rng.choice(inside, n_rows - n_outside, replace=False)])
    order = rng.permutation(picked)
    return Stream(f"{real.name}-{len(order)}-{shuffle}", shuffle, rows[order], outlier[order])


def with_holes(stream: Stream, pattern: int = 0) -> Stream:
    """The same stream with a share of its cells missing at random; every row keeps at least one cell."""
    rng = np.random.default_rng([SEED, stream.seed, len(stream.rows), stream.rows.shape[1], pattern])
    missing = rng.random(stream.rows.shape) < MISSING_SHARE
    kept = rng.integers(stream.rows.shape[1], size=len(stream.rows))
    bare = missing.all(axis=1)
    missing[bare, kept[bare]] = False
    return Stream(f"{stream.label}-holes-{pattern}", stream.seed, np.where(missing, np.nan, stream.rows), stream.outlier)


def planted(n_columns: int, share: float, seed: int, n_bulk: int = 3) -> Stream:
    """Rows of a mixture of Gaussians with mean 0 and variance 1 in every column, and a dense cluster far from their mean."""
    rng = np.random.default_rng([SEED, n_columns, seed])
    weights = np.array(BULKS[n_bulk])
    centres = 1.5 * rng.standard_normal((n_bulk, n_columns))
    factors = rng.standard_normal((n_bulk, n_columns, n_columns)) / np.sqrt(n_columns)
    centre = weights @ centres
    variance = weights @ ((centres - centre) ** 2 + np.sum(factors**2, axis=2))
    component = rng.choice(n_bulk, size=PLANTED_ROWS, p=weights)
    noise = rng.standard_normal((PLANTED_ROWS, n_columns))
    inside = centres[component] + np.einsum("nij,nj->ni", factors[component], noise)
    direction = rng.standard_normal(n_columns)
    direction *= PLANTED_DISTANCE / np.linalg.norm(direction)
    outside = direction + PLANTED_SPREAD * rng.standard_normal((PLANTED_ROWS, n_columns))
    outlier = rng.permutation(PLANTED_ROWS) < round(share * PLANTED_ROWS)
    rows = np.where(outlier[:, None], outside, (inside - centre) / np.sqrt(variance))
    return Stream(f"planted-{n_columns}-{share:g}-{seed}" + ("" if n_bulk == 3 else f"-of-{n_bulk}"), seed, rows, outlier)
