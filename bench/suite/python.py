"""What the Python package costs beside the library itself, and beside scikit-learn and River."""

import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from river import anomaly, cluster
from sklearn.cluster import MiniBatchKMeans
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture

from suite import report, rust

COMPONENTS = 10
COLUMNS = (3, 5, 10)
N_ROWS = 200_000
BATCH = 500
ROUNDS = 5
SEED = 1000
#: Rows of programs that take long.
N_SLOW = 5_000

Rows = np.ndarray


def install() -> Any:
    """Builds the wheel and installs it beside the other programs."""
    folder = rust.target() / "python-wheel"
    for old in folder.glob("*.whl"):
        old.unlink()
    build = [sys.executable, "-m", "maturin", "build", "--release", "--quiet", "--interpreter", sys.executable]
    subprocess.run([*build, "--out", str(folder)], cwd=rust.REPOSITORY, check=True)
    (wheel,) = folder.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"]
    subprocess.run([*pip, str(wheel)], check=True)
    return wheel.stat().st_size


def cpu_seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def best(contenders: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The least seconds of each, all of them once in every round."""
    found: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, measure in contenders.items():
            found[name] = min(found.get(name, np.inf), measure())
    return found


def in_batches(model: Any, rows: Rows) -> None:
    for first in range(0, len(rows), BATCH):
        model.partial_fit(rows[first : first + BATCH])


def run(_data: Path) -> None:
    """Writes bench/results/python.md."""
    wheel = install()
    parts = [
        f"`gmm/ofab` with default settings, {COMPONENTS} components, {N_ROWS:,} rows from memory, one thread, processor time; "
        f"each figure is the best of {ROUNDS} rounds, and every round runs all programs one after the other. The wheel has "
        f"{wheel / 1e6:.1f} MB.",
        *(batches(n_columns) for n_columns in COLUMNS),
        one_by_one(),
        scoring(),
    ]
    report.publish("python", "The Python package", *parts)


def batches(n_columns: int) -> str:
    """`partial_fit` of 500 rows beside the same rows learnt without Python in between."""
    from bayestream import StreamingGMM

    train, test, _ = rust.generated(COMPONENTS, n_columns, N_ROWS, 1000, SEED)
    rows = np.load(train)
    single, columns = rows.astype(np.float32), np.asfortranarray(rows)

    def ours(given: Rows) -> Callable[[], float]:
        return lambda: cpu_seconds(lambda: in_batches(StreamingGMM(), given))

    def k_means() -> float:
        return cpu_seconds(lambda: in_batches(MiniBatchKMeans(n_clusters=COMPONENTS, random_state=SEED), rows))

    library = "the library, called from Rust"
    seconds = best(
        {
            library: lambda: rust.call("fit", train, test, BATCH)["cpu_seconds"],
            "`fit` of all rows": lambda: cpu_seconds(lambda: StreamingGMM().fit(rows)),
            "`partial_fit`, float64": ours(rows),
            "`partial_fit`, float32": ours(single),
            "`partial_fit`, float64, columns contiguous": ours(columns),
            "scikit-learn MiniBatchKMeans, `partial_fit`": k_means,
        }
    )
    lines = [
        [name, f"{N_ROWS / cost:,.0f}", f"{1e6 * cost * BATCH / N_ROWS:,.0f}", f"{cost / seconds[library]:.3f}"]
        for name, cost in seconds.items()
    ]
    head = ["program", "rows per CPU second", "µs a batch", "to the library"]
    return f"## Batches of {BATCH} rows, {n_columns} columns\n\n" + report.table(head, lines)


def one_by_one() -> str:
    """`learn_one` with five columns."""
    from bayestream import river

    train, _, _ = rust.generated(COMPONENTS, 5, N_ROWS, 1000, SEED)
    names = [f"x{at}" for at in range(5)]
    records = [dict(zip(names, row)) for row in np.load(train).tolist()]
    few = records[:N_SLOW]

    def learn(model: Any, given: list[dict[str, float]]) -> float:
        def work() -> None:
            for record in given:
                model.learn_one(record)

        return cpu_seconds(work) / len(given)

    def score_and_learn(model: Any, given: list[dict[str, float]]) -> float:
        def work() -> None:
            for record in given:
                model.score_one(record)
                model.learn_one(record)

        return cpu_seconds(work) / len(given)

    seconds = best(
        {
            "bayestream.river.GMM, `learn_one`": lambda: learn(river.GMM(), records),
            "River KMeans, `learn_one`": lambda: learn(cluster.KMeans(n_clusters=COMPONENTS, seed=SEED), few),
            "River DBSTREAM, `learn_one`": lambda: learn(cluster.DBSTREAM(), few),
            "bayestream.river.OutlierDetector, `learn_one`": lambda: learn(river.OutlierDetector(), records),
            "bayestream.river.OutlierDetector, `score_one`, then `learn_one`": lambda: score_and_learn(
                river.OutlierDetector(), few
            ),
            "River HalfSpaceTrees, `score_one`, then `learn_one`": lambda: score_and_learn(
                anomaly.HalfSpaceTrees(seed=SEED), few
            ),
        }
    )
    lines = [[name, f"{1.0 / cost:,.0f}", f"{1e6 * cost:.2f}"] for name, cost in seconds.items()]
    head = ["program", "rows per CPU second", "µs a row"]
    text = (
        f"## One row at a time, 5 columns\n\nRows are dictionaries, made before the clock runs. Ours learns all {N_ROWS:,} rows "
        f"where it only learns, and everybody else, and everybody who scores, {N_SLOW:,}."
    )
    return f"{text}\n\n" + report.table(head, lines)


def scoring() -> str:
    """Scores, states and copies, beside scikit-learn's."""
    from bayestream import StreamingGMM, StreamingOutlierDetector

    train, _, _ = rust.generated(COMPONENTS, 5, N_ROWS, 1000, SEED)
    rows = np.load(train)
    few = rows[:20_000]
    ours, theirs = StreamingGMM().fit(rows), GaussianMixture(COMPONENTS, random_state=SEED).fit(few)
    detector, forest = StreamingOutlierDetector().fit(few), IsolationForest(random_state=SEED).fit(few)
    seconds = best(
        {
            "StreamingGMM, `score_samples`": lambda: cpu_seconds(lambda: ours.score_samples(few)),
            "scikit-learn GaussianMixture, `score_samples`": lambda: cpu_seconds(lambda: theirs.score_samples(few)),
            "StreamingGMM, `predict_proba`": lambda: cpu_seconds(lambda: ours.predict_proba(few)),
            "scikit-learn GaussianMixture, `predict_proba`": lambda: cpu_seconds(lambda: theirs.predict_proba(few)),
            "StreamingOutlierDetector, `predict`": lambda: cpu_seconds(lambda: detector.predict(few)),
            "scikit-learn IsolationForest, `predict`": lambda: cpu_seconds(lambda: forest.predict(few)),
        }
    )
    lines = [[name, f"{len(few) / cost:,.0f}"] for name, cost in seconds.items()]
    kilobytes = len(pickle.dumps(ours)) / 1e3
    text = f"## Scores, 5 columns\n\nOf {len(few):,} rows at once. A pickle of the mixture has {kilobytes:.0f} kB."
    return f"{text}\n\n" + report.table(["program", "rows per CPU second"], lines)
