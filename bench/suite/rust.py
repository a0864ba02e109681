"""Our side: building and calling the Rust programs."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
ROWS = REPOSITORY / "bench" / "data"


@cache
def example() -> Path:
    """Builds and gives the example `bench_fit`."""
    build = ["cargo", "build", "--release", "--quiet", "-p", "bayestream-papers", "--example", "bench_fit"]
    subprocess.run(build, cwd=REPOSITORY, check=True)
    return target() / "release" / "examples" / "bench_fit"


@cache
def command_line() -> Path:
    """Builds and gives the program `bayestream`."""
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "bayestream-cli"], cwd=REPOSITORY, check=True)
    return target() / "release" / "bayestream"


@cache
def target() -> Path:
    """Cargo's folder of build products, wherever the user has put it."""
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    answer = subprocess.run(metadata, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE)
    return Path(json.loads(answer.stdout)["target_directory"])


def call(*arguments: object) -> dict[str, Any]:
    """Runs `bench_fit` and reads the line of JSON that it prints."""
    command = [str(example()), *map(str, arguments)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(answer.stdout)


def generated(k: int, d: int, n: int, n_test: int, seed: int) -> tuple[Path, Path, float]:
    """Files with rows of a random mixture to learn from and to score, and the truth's own mean log-density on the latter."""
    ROWS.mkdir(exist_ok=True)
    train, test = ROWS / f"mixture-{k}-{d}-train.npy", ROWS / f"mixture-{k}-{d}-test.npy"
    answer = call("rows", train, test, k, d, n, n_test, seed)
    return train, test, answer["held_out_truth"]
