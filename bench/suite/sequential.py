"""Rows that the sequential and variational kinds learn per second of processor time."""

import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from river import cluster
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture

from suite import report, rust
from suite.speed import CHUNK, COMPONENTS, REFERENCE, ROUNDS, SEED, Fitted, Rows, mini_batch_k_means, side_by_side

COLUMNS = (3, 10, 50)
N_ROWS = 200_000
N_TEST = 20_000
N_BATCH = 20_000
N_RIVER = 2_000
BATCH = 500
# Root of the mean variance of a column within a component of the generator.
SPREAD = math.sqrt(1 / 3)

# Kind, and the number of components where one must be given.
KINDS: tuple[tuple[str, int | None], ...] = (
    ("gmm/dp", None),
    ("gmm/asugs", None),
    ("gmm/sva", None),
    ("gmm/svb", COMPONENTS),
    ("gmm/ofab", None),
)


def run(_data: Path) -> None:
    """Writes bench/results/sequential.md."""
    parts = [
        f"{COMPONENTS} components, {N_ROWS:,} rows from memory, one thread, processor time. Each figure is the best of {ROUNDS} "
        "rounds, and every round runs all programs one after the other. Ours run with default settings in batches of "
        f"{BATCH} and find the number of components, but `gmm/svb`, which is given {COMPONENTS}. MiniBatchKMeans is given "
        f"{COMPONENTS}, learns chunks of {CHUNK:,} and finds centres only. BayesianGaussianMixture (Dirichlet process, at most "
        f"{2 * COMPONENTS} components) goes over the first {N_BATCH:,} rows many times and gets them all at once. River's "
        f"DBSTREAM learns row by row in Python; its rate is measured on {N_RIVER:,} rows, with a radius of 1.5 standard "
        "deviations of a component in every column. `held out` is the mean log-density, in nats, of "
        f"{N_TEST:,} further rows (ours: the snapshot's)."
    ]
    parts.extend(one_size(n_columns) for n_columns in COLUMNS)
    report.publish("sequential", "Speed of the sequential kinds", *parts)


def one_size(n_columns: int) -> str:
    train_file, test_file, truth = rust.generated(COMPONENTS, n_columns, N_ROWS, N_TEST, SEED)
    train, test = np.load(train_file), np.load(test_file)
    contenders: dict[str, Callable[[], Fitted]] = {
        f"bayestream `{kind}`": lambda kind=kind, k=k: ours(train_file, test_file, kind, k) for kind, k in KINDS
    }
    contenders[REFERENCE] = lambda: mini_batch_k_means(train)
    contenders["scikit-learn BayesianGaussianMixture, one batch"] = lambda: bayesian_mixture(train[:N_BATCH], test)
    contenders["River DBSTREAM, row by row"] = lambda: river_dbstream(train[:N_RIVER])
    return side_by_side(n_columns, contenders, truth)


def ours(train: Path, test: Path, kind: str, k: int | None) -> Fitted:
    given = [] if k is None else [k]
    answer = rust.call("fit", train, test, BATCH, kind, *given)
    return Fitted(answer["cpu_seconds"], answer["n_rows"], answer["k_realized"], answer["held_out_snapshot"])


def bayesian_mixture(rows: Rows, test: Rows) -> Fitted:
    model = BayesianGaussianMixture(n_components=2 * COMPONENTS, random_state=SEED)
    with warnings.catch_warnings():
        # A hundred rounds, the default, are what a user gets.
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.process_time()
        model.fit(rows)
        seconds = time.process_time() - start
    n_components = int(np.sum(model.weights_ > 1e-3))
    return Fitted(seconds, len(rows), n_components, model.score(test))


def river_dbstream(rows: Rows) -> Fitted:
    radius = 1.5 * SPREAD * math.sqrt(rows.shape[1])
    model = cluster.DBSTREAM(clustering_threshold=radius)
    dictionaries = [dict(enumerate(row)) for row in rows.tolist()]
    start = time.process_time()
    for row in dictionaries:
        model.learn_one(row)
    seconds = time.process_time() - start
    # Clusters are only made when somebody asks.
    model.predict_one(dictionaries[-1])
    return Fitted(seconds, len(rows), model.n_clusters)
