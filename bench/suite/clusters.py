"""How well clusters agree with known classes, by components and by clusters, beside scikit-learn."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture

from suite import report
from suite.python import install

N_ORDERS = 10
#: Generated mixtures: clusters, columns, rows, and the spread of their centres in standard deviations.
CLUSTERS, COLUMNS, N_ROWS, SPREAD = 6, 3, 3_000, 12.0
SEED = 7
#: Components that BIC chooses among, and that a Dirichlet process may use.
MOST = 15
#: Rows are cut to this many columns where there are more.
MOST_COLUMNS = 20

Rows = np.ndarray
Labels = np.ndarray
#: Agreement and number of groups, one of each for every name.
Found = dict[str, tuple[float, int]]


def run(_data: Path) -> None:
    """Writes bench/results/clusters.md."""
    install()
    sets = {"iris": datasets.load_iris, "wine": datasets.load_wine, "breast cancer": datasets.load_breast_cancer}
    known = {name: load(return_X_y=True) for name, load in sets.items()}
    digits, labels = datasets.load_digits(return_X_y=True)
    known[f"digits, {MOST_COLUMNS} columns"] = (PCA(MOST_COLUMNS, random_state=0).fit_transform(digits), labels)
    known |= {"t(3)": strewn(student), "lognormal": strewn(lognormal), "normal": strewn(normal), "three at 4 sd": three()}
    lines = [line(name, rows, labels) for name, (rows, labels) in known.items()]
    text = (
        f"Adjusted Rand index with the known classes, and in brackets the number of groups, both means over {N_ORDERS} orders of "
        "the rows. Ours are `gmm/ofab` and `gmm/dp` with default settings, one pass, by components (`predict_component`) and by "
        f"clusters (`predict`). GaussianMixture, full covariances, is given the true number or chooses among 1 to {MOST} by BIC; "
        f"BayesianGaussianMixture has at most {MOST} components; HDBSCAN runs with its defaults, and rows that it calls noise are "
        "a group of their own. Columns are divided by their standard deviations for scikit-learn. Generated sets have "
        f"{CLUSTERS} clusters in {COLUMNS} columns and {N_ROWS:,} rows, centres strewn with a standard deviation of {SPREAD:.0f} "
        "and at least 8 apart, where clusters have one of about 1; `three at 4 sd` has 5 columns."
    )
    head = ["set", "classes", *contenders(1)]
    report.publish("clusters", "Clusters", text, report.table(head, lines), packages=("numpy", "scikit-learn"))


def line(name: str, rows: Rows, labels: Labels) -> list[str]:
    found: dict[str, list[tuple[float, int]]] = {}
    k = len(set(labels))
    for order in range(N_ORDERS):
        shuffled = np.random.default_rng(order).permutation(len(rows))
        for contender, (score, n) in one_order(rows[shuffled], labels[shuffled], k, order).items():
            found.setdefault(contender, []).append((score, n))
    means = {contender: np.mean(values, axis=0) for contender, values in found.items()}
    return [name, str(k), *(f"{score:.2f} ({n:.1f})" for score, n in means.values())]


def one_order(rows: Rows, labels: Labels, k: int, order: int) -> Found:
    scaled = (rows - rows.mean(axis=0)) / np.maximum(rows.std(axis=0), 1e-12)
    found: Found = {}
    with warnings.catch_warnings():
        # A hundred rounds, the default, are what a user gets.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, label in contenders(k).items():
            told = label(rows if name.startswith("`") else scaled, order)
            found[name] = (adjusted_rand_score(labels, told), len(set(told)))
    return found


def contenders(k: int) -> dict[str, Callable[[Rows, int], Labels]]:
    """What labels rows, by name; the number of classes is for those who must be told."""
    return {
        "`gmm/ofab` components": lambda rows, _: ours("gmm/ofab", rows).predict_component(rows),
        "`gmm/ofab` clusters": lambda rows, _: ours("gmm/ofab", rows).predict(rows),
        "`gmm/dp` components": lambda rows, _: ours("gmm/dp", rows).predict_component(rows),
        "`gmm/dp` clusters": lambda rows, _: ours("gmm/dp", rows).predict(rows),
        "GaussianMixture, true K": lambda rows, seed: GaussianMixture(k, random_state=seed).fit_predict(rows),
        "GaussianMixture, BIC": by_bic,
        "BayesianGaussianMixture": dirichlet,
        "HDBSCAN": lambda rows, _: HDBSCAN(copy=True).fit_predict(rows),
    }


def ours(kind: str, rows: Rows):
    from bayestream import StreamingGMM

    return StreamingGMM(kind=kind).fit(rows)


def dirichlet(rows: Rows, seed: int) -> Labels:
    return BayesianGaussianMixture(n_components=MOST, random_state=seed).fit_predict(rows)


def by_bic(rows: Rows, seed: int) -> Labels:
    fitted = [GaussianMixture(k, random_state=seed).fit(rows) for k in range(1, MOST + 1)]
    return min(fitted, key=lambda model: model.bic(rows)).predict(rows)


def strewn(noise: Callable[[np.random.Generator, int], Rows]) -> tuple[Rows, Labels]:
    """Clusters of equal weight with random covariances about centres that keep their distance."""
    rng = np.random.default_rng(SEED)
    centres: list[Rows] = []
    while len(centres) < CLUSTERS:
        centre = rng.normal(size=COLUMNS) * SPREAD
        if all(np.linalg.norm(centre - other) >= 8.0 for other in centres):
            centres.append(centre)
    roots = [np.linalg.qr(rng.normal(size=(COLUMNS, COLUMNS)))[0] * rng.uniform(0.6, 1.2, COLUMNS) for _ in centres]
    labels = rng.integers(CLUSTERS, size=N_ROWS)
    steps = noise(rng, N_ROWS)
    return np.stack([centres[k] + roots[k] @ step for k, step in zip(labels, steps)]), labels


def normal(rng: np.random.Generator, n: int) -> Rows:
    return rng.normal(size=(n, COLUMNS))


def student(rng: np.random.Generator, n: int) -> Rows:
    return rng.normal(size=(n, COLUMNS)) / np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)


def lognormal(rng: np.random.Generator, n: int) -> Rows:
    """Skewed in every direction of the cluster's own axes."""
    return np.exp(rng.normal(size=(n, COLUMNS)) * 0.8) - 1.0


def three() -> tuple[Rows, Labels]:
    """Three Gaussians 4 standard deviations from one another."""
    rng = np.random.default_rng(SEED)
    labels = rng.integers(3, size=N_ROWS)
    return rng.normal(size=(N_ROWS, 5)) + np.eye(3, 5)[labels] * 4.0 / np.sqrt(2.0), labels
