"""Rows and tools that several tests share."""

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session")
def command_line():
    """Runs the command-line tool; `./test` builds it first."""
    folder = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    tool = shutil.which("bayestream", path=folder / "release")
    if tool is None:
        pytest.skip(f"the command-line tool is not in {folder}/release: cargo build --release -p bayestream-cli")

    def run(*arguments, **kwargs):
        done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, **kwargs)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def three_clusters(n=3000, seed=1):
    """Rows of three components in three columns, shuffled, and the component of each."""
    rng = np.random.default_rng(seed)
    which = rng.integers(3, size=n)
    centres = np.array([[-6.0, 0.0, 2.0], [5.0, 4.0, -3.0], [0.0, -7.0, 9.0]])
    return centres[which] + rng.normal(size=(n, 3)) * [1.0, 0.5, 2.0], which


@pytest.fixture(scope="session")
def clusters():
    return three_clusters()


def news(n=600, seed=3):
    """Made-up messages on three themes, and the theme of each."""
    rng = np.random.default_rng(seed)
    words = {
        "garden": "soil seed plant flower tomato prune rose weed".split(),
        "football": "goal match team player referee league penalty striker".split(),
        "music": "guitar concert drums piano album singer melody rhythm".split(),
    }
    themes = rng.choice(list(words), size=n)
    common = "today said people morning always".split()
    texts = [" ".join([*rng.choice(words[theme], 12), *rng.choice(common, 4)]) for theme in themes]
    return texts, themes


@pytest.fixture(scope="session")
def messages():
    return news()
