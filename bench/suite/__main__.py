"""Command line: which benchmarks to run, and where the data sets lie."""

import argparse
from pathlib import Path

from threadpoolctl import threadpool_limits

from suite import classify, clusters, growth, impute, kernels, memory, outlier_choice, outliers, python, real, rust, sequential, skab, speed, topics

BENCHMARKS = {
    "speed": speed.run,
    "growth": growth.run,
    "real": real.run,
    "memory": memory.run,
    "kernels": kernels.run,
    "outliers": outliers.run,
    "outlier-choice": outlier_choice.run,
    "skab": skab.run,
    "sequential": sequential.run,
    "topics": topics.run,
    "classify": classify.run,
    "impute": impute.run,
    "python": python.run,
    "clusters": clusters.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    parser.add_argument("names", nargs="+", choices=[*BENCHMARKS, "all"], metavar="NAME", help=", ".join([*BENCHMARKS, "all"]))
    parser.add_argument("--data", type=Path, default=rust.REPOSITORY.parent / "shared" / "data", help="folder of the data sets")
    parser.add_argument("--rows", type=int, default=outliers.DEFAULT_ROWS, help="rows of a shuffle in `outliers`, at most")
    arguments = parser.parse_args()
    names = list(BENCHMARKS) if "all" in arguments.names else arguments.names
    with threadpool_limits(limits=1):
        for name in names:
            limits = {"n_rows": arguments.rows} if name == "outliers" else {}
            BENCHMARKS[name](arguments.data.resolve(), **limits)


main()
