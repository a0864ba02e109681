"""Outliers in streams: every row is scored before it is learnt, beside other programs that do the same."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from suite import outlier_fresh, outlier_tables, report, rust
from suite.outlier_data import BULKS, REAL_SETS, RealSet, Rows, Stream, load, planted, shuffled, with_holes
from suite.outlier_judging import BATCH, HOLE_PATTERNS, NOT_COUNTED, OURS, OURS_BY_P, PLANTED_SEEDS, ROUNDS, SHUFFLES, Judged, judge
from suite.outlier_peers import FOREST, PEERS, STORE, TREES, Scored

DEFAULT_ROWS = 20_000
PLANTED_COLUMNS = (4, 12)
PLANTED_SHARES = (0.005, 0.05, 0.1, 0.2)
CLUSTER_SEEDS = 10
LATENCY_SET = "shuttle"

Loaded = dict[RealSet, tuple[Rows, np.ndarray]]
Method = Callable[[Stream], Scored]


def run(data: Path, n_rows: int = DEFAULT_ROWS) -> None:
    """Writes bench/results/outliers.md."""
    missing = [file for file in (*(real.file for real in REAL_SETS), *outlier_fresh.FILES) if not (data / file).is_file()]
    if missing:
        print(f"outliers: left out, because {data} has no {', '.join(missing)}; point --data at the folder of the data sets.")
        return
    if n_rows < 2 * NOT_COUNTED:
        raise SystemExit(f"--rows {n_rows}: the first {NOT_COUNTED} rows are not counted; ask for at least {2 * NOT_COUNTED}.")
    STORE.mkdir(parents=True, exist_ok=True)
    sets = {real: load(data, real) for real in REAL_SETS}
    complete, holed = judge_sets(sets, n_rows, holes=False), judge_sets(sets, n_rows, holes=True)
    clusters, alone = judge_planted(), judge_clusters()
    fresh = judge_fresh(data)
    rates = rates_side_by_side(sets, n_rows)
    entire = {real: judge(shuffled(real, *whole, 0, None), ours) for real, whole in sets.items()}
    report.publish(
        "outliers",
        "Outliers",
        outlier_tables.introduction(n_rows),
        outlier_tables.targets(complete, holed, alone, rates),
        outlier_tables.overview(complete),
        outlier_tables.each_set(complete),
        outlier_tables.fresh(fresh),
        outlier_tables.speed(rates),
        outlier_tables.latency(LATENCY_SET, latency(sets)),
        outlier_tables.planted(clusters),
        outlier_tables.clusters(alone),
        outlier_tables.holes(complete, holed),
        outlier_tables.entire(entire),
        packages=("numpy", "scikit-learn", "river", "rcf3", "pysad"),
    )


def contenders(*, holes: bool) -> dict[str, Method]:
    """Ours, measured anew, and the others, from the store where it has them; with holes only those that can take them."""
    by_p_value: Method = lambda stream: ours(stream, by="p")  # noqa: E731
    return {OURS: ours, OURS_BY_P: by_p_value} | {peer.name: peer.stored for peer in PEERS if not (holes and peer.no_holes)}


def judge_sets(sets: Loaded, n_rows: int, *, holes: bool) -> dict[RealSet, dict[str, list[Judged]]]:
    judged = {}
    for real, whole in sets.items():
        streams = [shuffled(real, *whole, shuffle, n_rows) for shuffle in range(SHUFFLES)]
        if holes:
            streams = [with_holes(stream, pattern) for stream in streams for pattern in range(HOLE_PATTERNS)]
        judged[real] = {name: [judge(stream, score) for stream in streams] for name, score in contenders(holes=holes).items()}
        print(f"outliers: {real.name}{' with missing cells' if holes else ''}: done", flush=True)
    return judged


def ours(stream: Stream, batch: int = BATCH, by: str = "surprise") -> Scored:
    rows, scores = STORE / "rows.npy", STORE / "scores.npy"
    np.save(rows, stream.rows)
    answer = rust.watch(rows, scores, batch, by)
    return Scored(np.load(scores).ravel(), answer["cpu_seconds"])


def judge_planted() -> dict[tuple[int, float], dict[str, list[Judged]]]:
    """A dense cluster of outliers of growing share."""
    judged = {}
    for n_columns in PLANTED_COLUMNS:
        for share in PLANTED_SHARES:
            streams = [planted(n_columns, share, seed) for seed in range(PLANTED_SEEDS)]
            judged[n_columns, share] = {
                name: [judge(stream, score) for stream in streams] for name, score in contenders(holes=False).items()
            }
    return judged


def judge_clusters() -> dict[outlier_tables.Cluster, list[Judged]]:
    """Ours alone, on more streams and also beside one Gaussian."""
    return {
        (n_bulk, n_columns, share): [judge(planted(n_columns, share, seed, n_bulk), ours) for seed in range(CLUSTER_SEEDS)]
        for n_bulk in BULKS
        for n_columns in PLANTED_COLUMNS
        for share in PLANTED_SHARES
    }


def judge_fresh(data: Path) -> dict[str, dict[str, list[Judged]]]:
    """Sets that had no part in choosing anything."""
    judged = {}
    for name, (rows, outlier) in outlier_fresh.sets(data).items():
        streams = outlier_fresh.streams(name, rows, outlier, SHUFFLES)
        judged[name] = {method: [judge(stream, score) for stream in streams] for method, score in contenders(holes=False).items()}
        print(f"outliers: {name}: done", flush=True)
    return judged


def rates_side_by_side(sets: Loaded, n_rows: int) -> dict[RealSet, tuple[float, float]]:
    """Rows per second of processor time of ours and of the forest on the same rows, taking turns; the best of each."""
    rates = {}
    for real, whole in sets.items():
        stream = shuffled(real, *whole, 0, n_rows)
        turns = [(ours(stream).rate, FOREST.run(stream.rows, stream.seed).rate) for _ in range(ROUNDS)]
        rates[real] = (max(turn[0] for turn in turns), max(turn[1] for turn in turns))
    return rates


def latency(sets: Loaded) -> dict[str, float]:
    """Microseconds of processor time for a row that is scored and learnt alone; taking turns, the best of each."""
    real = next(real for real in REAL_SETS if real.name == LATENCY_SET)
    stream = shuffled(real, *sets[real], 0, DEFAULT_ROWS)
    alone = {
        OURS: lambda: ours(stream, batch=1),
        FOREST.name: lambda: FOREST.run(stream.rows, stream.seed),
        TREES.name: lambda: TREES.run(stream.rows, stream.seed),
    }
    turns = [{name: 1e6 / score().rate for name, score in alone.items()} for _ in range(ROUNDS)]
    return {name: min(turn[name] for turn in turns) for name in alone}
