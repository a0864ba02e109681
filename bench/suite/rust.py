"""Our side: building and calling the Rust programs."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
ROWS = REPOSITORY / "bench" / "data"


@cache
def example(name: str) -> Path:
    """Builds and gives an example of `bayestream-papers`."""
    build = ["cargo", "build", "--release", "--quiet", "-p", "bayestream-papers", "--example", name]
    subprocess.run(build, cwd=REPOSITORY, check=True)
    return target() / "release" / "examples" / name


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
    return answer_of("bench_fit", *arguments)


def watch(rows: Path, scores: Path, batch: int, by: str) -> dict[str, Any]:
    """Scores and then learns the rows of a file, batch by batch; the scores (by surprise or p) go to another file."""
    return answer_of("bench_watch", rows, "--batch", batch, "--kind", "gmm", "--scores", scores, "--by", by)


def views(rows: Path, out: Path, batch: int, trim_below: float) -> dict[str, Any]:
    """Watches the rows of a file; what each view says of them goes to another file."""
    return answer_of("bench_watch", rows, "--batch", batch, "--kind", "gmm", "--views", out, "--set", f"trim-below={trim_below}")


def topics(*arguments: object) -> dict[str, Any]:
    """Runs `bench_topics`: bags of words, our pass over them, or the scorer of topics."""
    return answer_of("bench_topics", *arguments)


def classify(*arguments: object) -> dict[str, Any]:
    """Runs `bench_classify`: bags of words of corpora with labels, or our pass over them."""
    return answer_of("bench_classify", *arguments)


def answer_of(name: str, *arguments: object) -> dict[str, Any]:
    command = [str(example(name)), *map(str, arguments)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(answer.stdout)


def generated(k: int, d: int, n: int, n_test: int, seed: int) -> tuple[Path, Path, float]:
    """Files with rows of a random mixture to learn from and to score, and the truth's own mean log-density on the latter."""
    ROWS.mkdir(exist_ok=True)
    train, test = ROWS / f"mixture-{k}-{d}-train.npy", ROWS / f"mixture-{k}-{d}-test.npy"
    answer = call("rows", train, test, k, d, n, n_test, seed)
    return train, test, answer["held_out_truth"]
