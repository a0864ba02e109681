"""Held-out log-likelihood on real data: one pass of ours against many passes of scikit-learn. Two large sets are here; many
others, strange orders and first rows in `real_sets`."""

import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from suite import real_sets, report, rust

SETS = {"mnist": "MNIST, 20 principal components", "shuttle": "Shuttle, ordinary rows"}
NEEDED = ("mnist/train-images-idx3-ubyte.gz", "mnist/t10k-images-idx3-ubyte.gz", "shuttle/shuttle.csv.gz")
BATCHES = (50, 500)
SIZES = (20, 40, 60)
MAX_ITERATIONS = 100
SEED = 1000


def run(data: Path) -> None:
    """Writes bench/results/real.md."""
    missing = [name for name in NEEDED if not (data / name).is_file()]
    if missing:
        print(f"real: left out, because {data} has no {', '.join(missing)}; point --data at the folder of the data sets.")
        return
    rust.ROWS.mkdir(exist_ok=True)
    rust.call("real", data, rust.ROWS)
    sections = [one_set(slug, title) for slug, title in SETS.items()] + real_sets.sections(data)
    report.publish(
        "real",
        "Held-out log-likelihood",
        "Nats a row on rows that were not learned from. MNIST and Shuttle come first, the very rows of the experiment `ofab/real`: "
        "`gmm/ofab` with default settings, one pass; the master model is what the learner scores its stream with, the snapshot is "
        f"the small model it hands out. scikit-learn: full covariances, `n_init=1`, `max_iter={MAX_ITERATIONS}`, all rows in "
        "memory. Processor time, one thread, one run each. `held out` is the mean, which a few far rows can carry (Shuttle has rows "
        "a thousand standard deviations out); `median row` is not moved by them.",
        *sections,
    )


def one_set(slug: str, title: str) -> str:
    files = [rust.ROWS / f"ofab-real-{slug}-{part}.npy" for part in ("train", "test")]
    train, test = (np.load(file) for file in files)
    rows: list[list[str]] = []
    for batch in BATCHES:
        answer = rust.call("fit", *files, batch)
        for which, k in (("master", answer["k_implemented"]), ("snapshot", answer["k_realized"])):
            name = f"bayestream, batches of {batch}, {which}"
            rows.append(line(name, k, answer[f"held_out_{which}"], answer[f"median_{which}"], 1, answer["cpu_seconds"]))
    models = [(f"scikit-learn GaussianMixture({k})", GaussianMixture(k, max_iter=MAX_ITERATIONS, random_state=SEED)) for k in SIZES]
    largest = SIZES[-1]
    bayesian = BayesianGaussianMixture(n_components=largest, max_iter=MAX_ITERATIONS, random_state=SEED)
    models.append((f"scikit-learn BayesianGaussianMixture({largest})", bayesian))
    for name, model in models:
        with warnings.catch_warnings():
            # The limit on iterations is part of the comparison.
            warnings.simplefilter("ignore", ConvergenceWarning)
            start = time.process_time()
            model.fit(train)
            seconds = time.process_time() - start
        used = int(np.sum(model.weights_ > 1e-3))
        scores = model.score_samples(test)
        rows.append(line(name, used, float(np.mean(scores)), float(np.median(scores)), model.n_iter_, seconds))
        print(f"real: {slug}: {name}: {seconds:.0f} s", flush=True)
    head = ["program", "K above 0.1 %", "held out", "median row", "passes", "CPU seconds"]
    size = f"{len(train):,} rows to learn from, {len(test):,} to score, {train.shape[1]} columns."
    return f"## {title}\n\n{size}\n\n" + report.table(head, rows)


def line(name: str, k: int, mean: float, median: float, passes: int, seconds: float) -> list[str]:
    return [name, str(k), f"{mean:.3f}", f"{median:.3f}", str(passes), f"{seconds:.1f}"]
