"""Other programs that score a row before they learn it, and a store of what they answered."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np
from pysad.core.base_model import BaseModel
from pysad.models import LODA, xStream
from rcf3 import OnlineIForest
from river.anomaly import HalfSpaceTrees

from suite import rust
from suite.outlier_data import Rows, Stream

STORE = rust.ROWS / "outliers"
FIRST_ROWS = 250


@dataclass(frozen=True)
class Scored:
    """One score for each row, larger for rows further out, and the processor time of scoring and learning them."""

    scores: Rows
    cpu_seconds: float

    @property
    def rate(self) -> float:
        return len(self.scores) / self.cpu_seconds


@dataclass(frozen=True)
class Peer:
    """A program to compare with."""

    name: str
    package: str
    """Where it comes from; numpy when it is written here."""
    settings: str
    """All that decides its scores besides the rows: what is stored under other settings is not taken."""
    no_holes: str
    """Why it cannot take rows with missing cells; empty when it can."""
    run: Callable[[Rows, int], Scored]

    @property
    def origin(self) -> str:
        return f"{self.package} {version(self.package)}"

    def stored(self, stream: Stream) -> Scored:
        """What it answered to this very stream before, or what it answers now."""
        digest = hashlib.blake2b(digest_size=8)
        for part in (self.origin, self.settings, str(stream.seed), str(stream.rows.shape)):
            digest.update(part.encode() + b"\0")
        digest.update(np.ascontiguousarray(stream.rows).tobytes())
        slug = self.name.lower().replace(" ", "-")
        file = STORE / f"{slug}-{stream.label}-{digest.hexdigest()}.npz"
        if file.is_file():
            with np.load(file) as stored:
                return Scored(stored["scores"], float(stored["cpu_seconds"]))
        scored = self.run(stream.rows, stream.seed)
        STORE.mkdir(parents=True, exist_ok=True)
        # Renamed when whole, so that an interrupted run leaves nothing half written under the final name.
        half_written = file.with_suffix(".tmp")
        with half_written.open("wb") as out:
            np.savez(out, scores=scored.scores, cpu_seconds=scored.cpu_seconds)
        half_written.rename(file)
        print(f"outliers: {self.name} on {stream.label}: {scored.cpu_seconds:.1f} s", flush=True)
        return scored


def online_isolation_forest(rows: Rows, seed: int) -> Scored:
    model = OnlineIForest(rows.shape[1], seed=seed)
    lists = rows.tolist()
    scores = np.empty(len(rows))
    start = time.process_time()
    for at, row in enumerate(lists):
        scores[at] = model.score(row)
        model.update(row)
    return Scored(scores, time.process_time() - start)


def half_space_trees(rows: Rows, seed: int) -> Scored:
    # Ranges are taken from rows that are not counted, and never widened: knowing the range of the whole stream would tell the
    # trees where the outliers lie.
    first = rows[:FIRST_ROWS]
    limits = {column: (float(low), float(high)) for column, (low, high) in enumerate(zip(*ranges(first), strict=True))}
    model = HalfSpaceTrees(n_trees=25, height=8, window_size=250, limits=limits, seed=seed)
    present = ~np.isnan(rows)
    dictionaries = [
        {column: value for column, value in enumerate(row) if there[column]}
        for row, there in zip(rows.tolist(), present.tolist(), strict=True)
    ]
    # The trees are built on the columns of the first row that is learnt, so that one has to be whole.
    dictionaries[0] = {column: (low + high) / 2 for column, (low, high) in limits.items()} | dictionaries[0]
    scores = np.zeros(len(rows))
    start = time.process_time()
    for row in dictionaries[:FIRST_ROWS]:
        model.learn_one(row)
    for at, row in enumerate(dictionaries[FIRST_ROWS:], FIRST_ROWS):
        scores[at] = model.score_one(row)
        model.learn_one(row)
    return Scored(scores, time.process_time() - start)


def loda(rows: Rows, seed: int) -> Scored:
    return pysad(LODA(random_state=seed), rows)


def x_stream(rows: Rows, seed: int) -> Scored:
    return pysad(xStream(random_state=seed), rows)


def pysad(model: BaseModel, rows: Rows) -> Scored:
    scores = np.empty(len(rows))
    start = time.process_time()
    for at, row in enumerate(rows):
        scores[at] = np.squeeze(model.fit_score_partial(row))
    return Scored(scores, time.process_time() - start)


def loda_fixed_ranges(rows: Rows, seed: int) -> Scored:
    """LODA whose bins are laid over the first rows, with an open bin on either side, and stay there.

    Bins that grow with the stream, as PySAD's do, lose the bulk in one bin once a far row has come.
    """
    n_projections, n_bins = 100, 20
    n_columns = rows.shape[1]
    rng = np.random.default_rng(seed)
    projections = np.zeros((n_projections, n_columns))
    for projection in projections:
        used = rng.choice(n_columns, max(1, round(np.sqrt(n_columns))), replace=False)
        projection[used] = rng.standard_normal(len(used))
    low, high = ranges(rows[:FIRST_ROWS] @ projections.T)
    width = np.where(high > low, high - low, 1.0) / n_bins
    counts = np.zeros((n_projections, n_bins + 2))
    each = np.arange(n_projections)
    scores = np.empty(len(rows))
    start = time.process_time()
    for at, row in enumerate(rows):
        bins = np.clip((projections @ row - low) / width + 1, 0, n_bins + 1).astype(np.intp)
        scores[at] = -np.mean(np.log((counts[each, bins] + 1) / ((at + n_bins + 2) * width)))
        counts[each, bins] += 1
    return Scored(scores, time.process_time() - start)


def loda_fixed_ranges_standardised(rows: Rows, seed: int) -> Scored:
    return loda_fixed_ranges(standardised(rows), seed)


def running_gaussian(rows: Rows, _seed: int) -> Scored:
    """Squared Mahalanobis distance from the mean of all rows so far; mean and scatter by rank-one updates."""
    rows = standardised(rows)
    n_columns = rows.shape[1]
    ridge = 1e-6 * np.eye(n_columns)
    mean, scatter = np.zeros(n_columns), np.zeros((n_columns, n_columns))
    scores = np.zeros(len(rows))
    start = time.process_time()
    for at, row in enumerate(rows):
        deviation = row - mean
        if at > n_columns:
            scores[at] = deviation @ np.linalg.solve(scatter / at + ridge, deviation)
        scatter += np.outer(deviation, deviation) * (at / (at + 1))
        mean += deviation / (at + 1)
    return Scored(scores, time.process_time() - start)


def ranges(rows: Rows) -> tuple[Rows, Rows]:
    return np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)


def standardised(rows: Rows) -> Rows:
    """Columns in units of the mean and standard deviation of the first rows, so that none outweighs the others."""
    first = rows[:FIRST_ROWS]
    spread = first.std(axis=0)
    return (rows - first.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


FOREST = Peer("OnlineIForest", "rcf3", "defaults, 32 trees, window 2,048", "it refuses rows that are not finite", online_isolation_forest)
TREES = Peer("HalfSpaceTrees", "river", "25 trees, height 8, window 250, limits from the first 250 rows", "", half_space_trees)
PEERS = (
    FOREST,
    TREES,
    Peer(
        "LODA",
        "pysad",
        "defaults, 100 projections, 10 bins that grow",
        "it does not learn rows that are not finite, and scores them as such",
        loda,
    ),
    Peer(
        "LODA fixed ranges",
        "numpy",
        "100 projections, 20 bins over the range of the first 250 rows",
        "a projection needs all columns",
        loda_fixed_ranges,
    ),
    Peer(
        "LODA fixed ranges standardised",
        "numpy",
        "100 projections, 20 bins over the range of the first 250 rows, columns standardised by them",
        "a projection needs all columns",
        loda_fixed_ranges_standardised,
    ),
    Peer(
        "xStream",
        "pysad",
        "defaults, 100 projections, 100 chains, depth 15, window 256",
        "its projections of a row that is not finite are not finite",
        x_stream,
    ),
    Peer(
        "running Gaussian",
        "numpy",
        "Mahalanobis distance, rank-one updates, ridge 1e-6, columns standardised by the first 250 rows",
        "a distance needs all columns",
        running_gaussian,
    ),
)
