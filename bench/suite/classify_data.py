"""Corpora with labels, as `bench_classify` writes them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from suite import rust

BAGS = rust.ROWS / "classify"
ABOUT = BAGS / "about.json"
Array = np.ndarray


@dataclass(frozen=True)
class Documents:
    """Bags of words, and which labels they have: a column for each label."""

    matrix: csr_matrix
    labels: Array
    words: Sequence[str]

    @cached_property
    def single(self) -> Array:
        """The label of each document, where each has one."""
        return self.labels.argmax(axis=1)

    @cached_property
    def pairs(self) -> list[list[tuple[str, int]]]:
        """Words and counts of each document."""
        starts, places, counts = self.matrix.indptr, self.matrix.indices.tolist(), self.matrix.data.astype(int).tolist()
        named = [self.words[place] for place in places]
        return [list(zip(named[a:b], counts[a:b], strict=True)) for a, b in zip(starts[:-1], starts[1:], strict=True)]

    def chosen(self, places: Array) -> "Documents":
        return Documents(self.matrix[places], self.labels[places], self.words)

    def __len__(self) -> int:
        return self.labels.shape[0]


@dataclass(frozen=True)
class Part:
    """Training documents in one order, beside the test documents: the name of the corpus and the number of the order."""

    corpus: str
    order: int

    def read(self) -> tuple[Documents, Documents]:
        """The training documents and the test documents."""
        order = np.load(BAGS / f"{self.corpus}-orders.npy")[self.order].astype(int)
        return side_of(self.corpus, "train").chosen(order), side_of(self.corpus, "test")


def write(data: Path) -> dict[str, Any]:
    """Makes the bags of words of all corpora; says how many orders there are, and what is in each corpus."""
    BAGS.mkdir(parents=True, exist_ok=True)
    about = rust.classify("bags", data, BAGS)
    ABOUT.write_text(json.dumps(about))
    return about


@cache
def side_of(corpus: str, side: str) -> Documents:
    about = json.loads(ABOUT.read_text())["corpora"][corpus]
    words = (BAGS / f"{corpus}-words.txt").read_text().split("\n")
    document, word, count = np.load(BAGS / f"{corpus}-{side}.npy").T
    n_documents = about[f"n_{side}"]
    counts = csr_matrix((count, (document.astype(int), word.astype(int))), shape=(n_documents, len(words)))
    labelled, label = np.load(BAGS / f"{corpus}-{side}-labels.npy").astype(int).T
    labels = np.zeros((n_documents, len(about["labels"])), bool)
    labels[labelled, label] = True
    return Documents(counts, labels, words)
