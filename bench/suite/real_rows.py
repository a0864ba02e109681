"""Rows of many real sets, and what one Gaussian and scikit-learn's best mixture say of them."""

import hashlib
import json
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.covariance import LedoitWolf
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from suite import rust

Rows = np.ndarray

#: Rows of a set, at most, and the share of them that is tested.
MOST, TESTED = 4_000, 0.2
#: Standard deviation of the noise that makes densities of columns with few values comparable.
JITTER = 0.05
#: Sets below this many rows have many orders.
SMALL, ORDERS_OF_SMALL, ORDERS_OF_LARGE = 2_000, 10, 3
SIZES = (1, 2, 3, 5, 8, 12, 20, 30)
RIDGE = 1e-4
STORE = rust.ROWS / "real"
#: Files with columns that count, and which ones; the last ones of the others are labels.
FILES = {
    "faithful": ("faithful/faithful.csv", range(2)),
    "sonar": ("sonar/sonar.csv.gz", range(60)),
    "libras": ("libras/libras.csv.gz", range(90)),
    "shuttle": ("shuttle/shuttle.csv.gz", range(9)),
    "electricity": ("electricity/elec2.csv.gz", range(6)),
    "gas drift": ("gas-drift/gas-drift-partial.csv.gz", range(3, 131)),
}


def read(file: Path, columns: range | None = None) -> Rows:
    """The rows of a table without its labels."""
    if columns is not None:
        return np.loadtxt(file, delimiter=",", skiprows=1, usecols=columns)
    return np.loadtxt(file, delimiter=",", skiprows=1)[:, :-1]


def digits20() -> Rows:
    return PCA(20, random_state=0).fit_transform(datasets.load_digits().data)


def sets(data: Path) -> dict[str, Callable[[], Rows]]:
    """All sets by name."""
    known: dict[str, Callable[[], Rows]] = {
        "iris": lambda: datasets.load_iris().data,
        "wine": lambda: datasets.load_wine().data,
        "breast cancer": lambda: datasets.load_breast_cancer().data,
        "diabetes": lambda: datasets.load_diabetes().data,
        "digits": lambda: datasets.load_digits().data,
        "digits, 20 axes": digits20,
    }
    for name, (file, columns) in FILES.items():
        known[name] = lambda file=file, columns=columns: read(data / file, columns)
    for file in sorted((data / "anomaly" / "choosing").glob("*.csv.gz")):
        known[file.name.removesuffix(".csv.gz")] = lambda file=file: read(file)
    return known


def n_orders(rows: Rows) -> int:
    return ORDERS_OF_SMALL if len(rows) < SMALL else ORDERS_OF_LARGE


def shuffled(rows: Rows, order: int) -> Rows:
    """At most `MOST` rows in an order of their own."""
    return rows[np.random.default_rng(order).permutation(len(rows))[:MOST]]


def comparable(rows: Rows, order: int) -> Rows:
    """Shuffled rows in units of standard deviations, without constant columns, a little noise on each cell."""
    rows = shuffled(rows, order)
    spread = rows.std(axis=0)
    varies = spread > 1e-12 * np.abs(rows).max(axis=0)
    noise = np.random.default_rng([order, 1]).normal(scale=JITTER, size=(len(rows), int(varies.sum())))
    return rows[:, varies] / spread[varies] + noise


def parted(rows: Rows) -> tuple[Rows, Rows]:
    """Rows to learn from, and rows to test on."""
    n_test = round(TESTED * len(rows))
    return rows[n_test:], rows[:n_test]


def gaussian(train: Rows, test: Rows) -> Rows:
    """Log-densities of one Gaussian with the covariance of Ledoit and Wolf, fitted in units of standard deviations."""
    spread = np.where(train.std(axis=0) > 0.0, train.std(axis=0), 1.0)
    fitted = LedoitWolf().fit(train / spread)
    apart = test / spread - fitted.location_
    _, log_det = np.linalg.slogdet(fitted.covariance_)
    distance = np.einsum("ij,ij->i", apart @ np.linalg.inv(fitted.covariance_), apart)
    return -0.5 * (distance + log_det + train.shape[1] * np.log(2.0 * np.pi)) - np.log(spread).sum()


def best_mixture(train: Rows, test: Rows) -> tuple[float, int]:
    """The best mean log-density of the mixtures of all sizes, and that size: chosen on the test rows themselves. Kept in a
    file, because it takes long and does not change."""
    digest = hashlib.blake2b(digest_size=8)
    for part in (version("scikit-learn"), str((SIZES, RIDGE)), str(train.shape)):
        digest.update(part.encode() + b"\0")
    digest.update(np.ascontiguousarray(train).tobytes() + np.ascontiguousarray(test).tobytes())
    file = STORE / f"{digest.hexdigest()}.json"
    if not file.is_file():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            sizes = [k for k in SIZES if k <= len(train)]
            fitted = [GaussianMixture(k, reg_covar=RIDGE, random_state=0).fit(train) for k in sizes]
        STORE.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(max((float(model.score(test)), model.n_components) for model in fitted)))
    score, size = json.loads(file.read_text())
    return score, size
