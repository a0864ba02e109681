"""Rows learnt per second of processor time."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from river import cluster
from sklearn.cluster import MiniBatchKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from suite import report, rust

COMPONENTS = 10
COLUMNS = (3, 10)
N_ROWS = 200_000
N_TEST = 20_000
N_RIVER = 5_000
CHUNK = 1_000
ROUNDS = 3
SEED = 1000
REFERENCE = "scikit-learn MiniBatchKMeans, chunks of 1,000"

Rows = np.ndarray


@dataclass
class Fitted:
    """What a pass cost, and how well the result describes other rows (when it is a density)."""

    cpu_seconds: float
    n_rows: int
    n_components: int
    held_out: float | None = None

    @property
    def rate(self) -> float:
        return self.n_rows / self.cpu_seconds


def run(_data: Path) -> None:
    """Writes bench/results/speed.md."""
    parts = [
        f"{COMPONENTS} components, {N_ROWS:,} rows from memory, one thread, processor time. Each figure is the best of {ROUNDS} "
        "rounds, and every round runs all programs one after the other. Ours is `gmm/ofab` with default settings: it finds the "
        f"number of components, full covariances and a density, and k-means is given K = {COMPONENTS} and finds centres only. "
        "`GaussianMixture` in chunks is one EM step on each chunk from where the last one ended: it forgets older chunks. "
        f"River learns row by row in Python; its rate is measured on {N_RIVER:,} rows. `held out` is the mean log-density, in "
        f"nats, of {N_TEST:,} further rows (ours: the snapshot's)."
    ]
    for n_columns in COLUMNS:
        parts.append(one_size(n_columns))
    report.publish("speed", "Speed", *parts)


def one_size(n_columns: int) -> str:
    train_file, test_file, truth = rust.generated(COMPONENTS, n_columns, N_ROWS, N_TEST, SEED)
    train, test = np.load(train_file), np.load(test_file)
    contenders: dict[str, Callable[[], Fitted]] = {
        "bayestream, batches of 500": lambda: ours(train_file, test_file, 500),
        "bayestream, batches of 10": lambda: ours(train_file, test_file, 10),
        REFERENCE: lambda: mini_batch_k_means(train),
        "scikit-learn GaussianMixture, chunks of 1,000": lambda: mixture_by_chunks(train, test),
        "scikit-learn GaussianMixture, one batch": lambda: mixture_at_once(train, test),
        "River KMeans, row by row": lambda: river_k_means(train[:N_RIVER]),
    }
    return side_by_side(n_columns, contenders, truth)


def side_by_side(n_columns: int, contenders: dict[str, Callable[[], Fitted]], truth: float) -> str:
    """A table of the best of each contender, all of them once in every round."""
    best: dict[str, Fitted] = {}
    for _ in range(ROUNDS):
        for name, fit in contenders.items():
            fitted = fit()
            if name not in best or fitted.rate > best[name].rate:
                best[name] = fitted
    rows = [
        [
            name,
            f"{fitted.rate:,.0f}",
            f"{1e9 / fitted.rate:,.0f}",
            f"{fitted.rate / best[REFERENCE].rate:.3g}",
            str(fitted.n_components),
            "" if fitted.held_out is None else f"{fitted.held_out:.4f}",
        ]
        for name, fitted in best.items()
    ]
    rows.append(["the truth", "", "", "", str(COMPONENTS), f"{truth:.4f}"])
    head = ["program", "rows per CPU second", "ns a row", "to MiniBatchKMeans", "K", "held out"]
    return f"## {n_columns} columns\n\n" + report.table(head, rows)


def ours(train: Path, test: Path, batch: int) -> Fitted:
    answer = rust.call("fit", train, test, batch)
    return Fitted(answer["cpu_seconds"], answer["n_rows"], answer["k_realized"], answer["held_out_snapshot"])


def mini_batch_k_means(rows: Rows) -> Fitted:
    model = MiniBatchKMeans(n_clusters=COMPONENTS, random_state=SEED)
    start = time.process_time()
    for at in range(0, len(rows), CHUNK):
        model.partial_fit(rows[at : at + CHUNK])
    return Fitted(time.process_time() - start, len(rows), COMPONENTS)


def mixture_by_chunks(rows: Rows, test: Rows) -> Fitted:
    model = GaussianMixture(n_components=COMPONENTS, warm_start=True, max_iter=1, random_state=SEED)
    with warnings.catch_warnings():
        # One step is meant not to converge.
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.process_time()
        for at in range(0, len(rows), CHUNK):
            model.fit(rows[at : at + CHUNK])
        seconds = time.process_time() - start
    return Fitted(seconds, len(rows), COMPONENTS, model.score(test))


def mixture_at_once(rows: Rows, test: Rows) -> Fitted:
    model = GaussianMixture(n_components=COMPONENTS, random_state=SEED)
    start = time.process_time()
    model.fit(rows)
    return Fitted(time.process_time() - start, len(rows), COMPONENTS, model.score(test))


def river_k_means(rows: Rows) -> Fitted:
    model = cluster.KMeans(n_clusters=COMPONENTS, seed=SEED)
    dictionaries = [dict(enumerate(row)) for row in rows.tolist()]
    start = time.process_time()
    for row in dictionaries:
        model.learn_one(row)
    return Fitted(time.process_time() - start, len(rows), COMPONENTS)
