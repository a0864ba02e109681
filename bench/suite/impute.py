"""Missing cells filled: our features beside scikit-learn's imputers and one Gaussian, on the same rows with the same holes."""

import csv
import re
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

from suite import report, rust

# Half the width of a 90 % interval, in standard deviations.
NINETY = float(stats.norm.ppf(0.95))
DRAWS = 20
# Added to variances, which are 1 in columns as they come: without it, rows hardly more than columns leave directions without spread.
RIDGES = (0.0001, 0.001, 0.01, 0.1)
# The share of cells that is hidden besides, to choose among them.
SET_APART = 0.1
MAX_ROUNDS = 200
SETTLED = 1e-4

# Columns of the experiment's table that are told of every program.
TOLD = ("RMSE", "within the 90 % interval", "CPU seconds")

# A fill is the rows without holes, and a standard deviation for each cell where there was one (None: no interval).
Fill = tuple[np.ndarray, np.ndarray | None]


def run(data: Path) -> None:
    """Writes bench/results/impute.md."""
    if not data.is_dir():
        print(f"impute: left out, because there is no folder {data}; point --data at the folder of the data sets.")
        return
    # A folder of its own, since sets are told by the files in it.
    with tempfile.TemporaryDirectory() as folder:
        command = [rust.command_line(), "reproduce", "lfm/imputing", "--export", "--threads", 1, "--data", data, "--out", folder]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        with open(Path(folder) / "lfm-imputing.csv", newline="") as file:
            ours = list(csv.DictReader(file))
        sections = [one_set(name, truth, holes, ours) for name, truth, holes in exported(Path(folder))]
    report.publish(
        "impute",
        "Missing cells filled",
        "Cells are hidden and filled by the experiment `lfm/imputing`, and the others fill the very same cells of the very same "
        "rows, whose columns have mean 0 and variance 1: a fill by means of columns has an RMSE of about 1. Means over seeds of what "
        "is hidden, with standard deviations. The interval is the mean ± 1.645 standard deviations; it should hold 90 % of the "
        "hidden cells. Processor time of learning and filling (ours: of learning), one thread.",
        "`IterativeImputer` with its defaults, which regress each column on the others by `BayesianRidge`; its interval is that of "
        "the last regressions, which take cells that were filled, partly by themselves, for known. With "
        f"{DRAWS} draws: `sample_posterior=True`, one fit and {DRAWS} passes of draws; the fill is their mean, and the interval is "
        "Student's, because so few draws tell their spread roughly. `KNNImputer` with its defaults says nothing of how sure it is. "
        "One Gaussian: maximum likelihood by EM; mean and variance of a cell given those of its row that are there. What is added "
        f"to variances, one of {', '.join(map(str, RIDGES))}, is chosen by the log-density of cells that are hidden besides, within "
        "the time told.",
        *sections,
        packages=("numpy", "scipy", "scikit-learn"),
    )


def exported(folder: Path) -> list[tuple[str, np.ndarray, dict[int, np.ndarray]]]:
    """Sets by name: whole rows, and by seed the rows with holes."""
    files = {path.stem.removeprefix("impute-"): path for path in folder.glob("impute-*.npy")}
    holes: dict[str, dict[int, np.ndarray]] = {}
    for stem, path in files.items():
        parts = re.fullmatch(r"(.+)-(\d+)", stem)
        # Names may end in a number, too; then there are no whole rows by the shorter name.
        if parts and parts[1] in files:
            holes.setdefault(parts[1], {})[int(parts[2])] = np.load(path)
    return [(name, np.load(files[name]), dict(sorted(holes[name].items()))) for name in sorted(holes)]


def one_set(name: str, truth: np.ndarray, holes: dict[int, np.ndarray], ours: list[dict[str, str]]) -> str:
    """The table of a set: ours as the experiment tells it, then the others."""
    label = f"{name} {len(truth)} × {truth.shape[1]}"
    rows = [[f"bayestream, {line['method']}", *(line[column] for column in TOLD)] for line in ours if line["data"] == label]
    if not rows:
        raise RuntimeError(f"the table of lfm/imputing has no line for `{label}`, whose rows it exported")
    for program, fill in PROGRAMS.items():
        judged = []
        for seed, seen in holes.items():
            start = time.process_time()
            filled, sd = fill(seen, seed)
            seconds = time.process_time() - start
            judged.append((*verdict(truth, seen, filled, sd), seconds))
            print(f"impute: {name}: {program}: seed {seed}: {seconds:.1f} s", flush=True)
        rows.append([program, *map(mean_sd, zip(*judged, strict=True))])
    share = np.mean([np.isnan(seen) for seen in holes.values()])
    size = f"{len(truth):,} rows, {truth.shape[1]} columns, {100 * share:.0f} % of the cells hidden, {len(holes)} seeds."
    return f"## {name}\n\n{size}\n\n" + report.table(["program", *TOLD], rows)


def verdict(truth: np.ndarray, seen: np.ndarray, filled: np.ndarray, sd: np.ndarray | None) -> tuple[float, float]:
    """Root of the mean squared error of hidden cells, and the share of them within the interval (NaN where there is none)."""
    hidden = np.isnan(seen)
    error = np.abs(truth - filled)[hidden]
    coverage = np.nan if sd is None else np.mean(error <= NINETY * sd[hidden])
    return float(np.sqrt(np.mean(error**2))), float(coverage)


def mean_sd(values: Sequence[float]) -> str:
    """Three digits of the mean and as many decimals of the standard deviation, as in tables of experiments; empty without values."""
    mean = float(np.mean(values))
    if not np.isfinite(mean):
        return ""
    decimals = 0 if mean == 0 else max(0, 2 - int(np.floor(np.log10(abs(mean)))))
    return f"{mean:.{decimals}f}" + (f" ({np.std(values, ddof=1):.{decimals}f})" if len(values) > 1 else "")


def iterative(seen: np.ndarray, seed: int) -> Fill:
    """Regressions in turn; the last regression of a column tells how sure it is of its cells."""
    imputer = IterativeImputer(random_state=seed)
    with warnings.catch_warnings():
        # The limit on rounds is a default like the others.
        warnings.simplefilter("ignore", ConvergenceWarning)
        filled = imputer.fit_transform(seen)
    hidden, sd = np.isnan(seen), np.zeros_like(seen)
    for column, others, regression in imputer.imputation_sequence_[-imputer.n_features_with_missing_ :]:
        at = hidden[:, column]
        if at.any():
            sd[at, column] = regression.predict(filled[np.ix_(at, others)], return_std=True)[1]
    return filled, sd


def drawn(seen: np.ndarray, seed: int) -> Fill:
    """Regressions in turn, each filling by a draw, so that filled cells are not taken for known."""
    imputer = IterativeImputer(sample_posterior=True, random_state=seed).fit(seen)
    draws = np.stack([imputer.transform(seen) for _ in range(DRAWS)])
    # A cell and the mean of the draws differ by a Student's t of this scale, if cell and draws are of one Gaussian.
    scale = np.std(draws, axis=0, ddof=1) * np.sqrt(1 + 1 / DRAWS)
    return draws.mean(axis=0), scale * stats.t.ppf(0.95, DRAWS - 1) / NINETY


def neighbours(seen: np.ndarray, _seed: int) -> Fill:
    return KNNImputer().fit_transform(seen), None


def one_gaussian(seen: np.ndarray, seed: int) -> Fill:
    """One Gaussian, with the ridge that foretells cells best which are hidden besides."""
    apart = ~np.isnan(seen) & (np.random.default_rng(seed).random(seen.shape) < SET_APART)
    fewer = np.where(apart, np.nan, seen)

    def surprise(ridge: float) -> float:
        filled, sd = gaussian_by_em(fewer, ridge)
        return -float(np.mean(stats.norm.logpdf(seen[apart], filled[apart], sd[apart])))

    return gaussian_by_em(seen, min(RIDGES, key=surprise))


def gaussian_by_em(seen: np.ndarray, ridge: float) -> Fill:
    """EM for mean and covariance; rows with as many holes are worked on together."""
    hidden = np.isnan(seen)
    n, d = seen.shape
    counts = hidden.sum(axis=1)
    groups = []
    for count in np.unique(counts[counts > 0]):
        at = np.flatnonzero(counts == count)
        groups.append((at, np.nonzero(hidden[at])[1].reshape(len(at), count)))
    mean = np.nanmean(seen, axis=0)
    covariance = np.diag(np.nanvar(seen, axis=0) + ridge)
    # The first round, which knows of no dependence, changes nothing but means: it must not look like the last.
    filled = np.where(hidden, np.inf, seen)
    variance = np.zeros_like(seen)
    for _ in range(MAX_ROUNDS):
        before = filled
        precision = np.linalg.inv(covariance)
        # In the precision, the hidden block alone says how hidden cells depend on the rest; it is the smaller one.
        pull = np.where(hidden, 0.0, seen - mean) @ precision
        filled = seen.copy()
        spread = np.zeros((d, d))
        for at, columns in groups:
            given = np.linalg.inv(precision[columns[:, :, None], columns[:, None, :]])
            cells = (at[:, None], columns)
            filled[cells] = mean[columns] - np.einsum("nij,nj->ni", given, pull[cells])
            variance[cells] = np.einsum("nii->ni", given)
            np.add.at(spread, (columns[:, :, None], columns[:, None, :]), given)
        mean = filled.mean(axis=0)
        centred = filled - mean
        covariance = (centred.T @ centred + spread) / n + ridge * np.eye(d)
        if np.max(np.abs(filled - before)) < SETTLED:
            break
    return filled, np.sqrt(variance)


PROGRAMS: dict[str, Callable[[np.ndarray, int], Fill]] = {
    "scikit-learn IterativeImputer": iterative,
    f"scikit-learn IterativeImputer, {DRAWS} draws": drawn,
    "scikit-learn KNNImputer": neighbours,
    "one Gaussian": one_gaussian,
}
