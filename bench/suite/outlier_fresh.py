"""Streams with known outliers that had no part in choosing anything: made of labelled sets, first run when all was settled."""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from suite.outlier_data import SEED, Rows, Stream

FILES = ("mocap6/mocap6.csv.gz", "usps/usps.csv.gz", "gas-drift/gas-drift-partial.csv.gz", "kddcup99/kddcup10pct.csv.gz")
SHARE = 0.03
"""Outliers are thinned to this share of the ordinary rows where there are more."""


def sets(data: Path) -> dict[str, tuple[Rows, np.ndarray]]:
    """Rows and which of them are outliers."""
    return {
        "mocap6, rarest action": mocap(data),
        "usps, digits 1 and 7": usps(data),
        "gas-drift, gas 1": gas(data),
        "kddcup99, ftp_data": ftp(data),
    }


def streams(name: str, rows: Rows, outlier: np.ndarray, n_streams: int) -> list[Stream]:
    """Random orders, each with other outliers where they are thinned."""
    inside, outside = np.flatnonzero(~outlier), np.flatnonzero(outlier)
    n_outside = min(len(outside), round(SHARE * len(inside)))
    orders = []
    for seed in range(n_streams):
        rng = np.random.default_rng([SEED, len(name), seed])
        order = rng.permutation(np.concatenate([inside, rng.choice(outside, n_outside, replace=False)]))
        orders.append(Stream(f"{name.replace(', ', '-').replace(' ', '-')}-{seed}", seed, rows[order], outlier[order]))
    return orders


def lines(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt") as file:
        yield from csv.DictReader(file)


def mocap(data: Path) -> tuple[Rows, np.ndarray]:
    table = list(lines(data / FILES[0]))
    channels = [name for name in table[0] if name not in ("seq_id", "tstep_id", "action")]
    actions = np.array([line["action"] for line in table])
    names, counts = np.unique(actions, return_counts=True)
    return np.array([[float(line[name]) for name in channels] for line in table]), actions == names[np.argmin(counts)]


def usps(data: Path) -> tuple[Rows, np.ndarray]:
    """Means of four by four pixels."""
    table = np.loadtxt(data / FILES[1], delimiter=",", skiprows=1)
    images = table[:, :-1].reshape(-1, 4, 4, 4, 4).mean(axis=(2, 4)).reshape(-1, 16)
    return images, ~np.isin(table[:, -1], (1, 7))


def gas(data: Path) -> tuple[Rows, np.ndarray]:
    """The eight features of the first sensor."""
    kept = [([float(line[f"f{at}"]) for at in range(1, 9)], line["gas_id"] != "1") for line in lines(data / FILES[2])]
    return np.array([row for row, _ in kept]), np.array([outlier for _, outlier in kept])


def ftp(data: Path) -> tuple[Rows, np.ndarray]:
    kept = [line for line in lines(data / FILES[3]) if line["service"] == "ftp_data"]
    label = next(name for name in kept[0] if name.startswith("label"))
    rows = [[float(line[name]) for name in ("duration", "src_bytes", "dst_bytes")] for line in kept]
    return np.array(rows), np.array([line[label] != "normal." for line in kept])
