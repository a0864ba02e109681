"""What counts when outliers are scored, and how well scores tell them from the rest."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from suite.outlier_data import Stream
from suite.outlier_peers import Scored

OURS = "bayestream"
OURS_BY_P = "bayestream by p-value"
BATCH = 50
NOT_COUNTED = 500
SHUFFLES = 5
# Sets of missing cells for each shuffle: with one, a set of thirty outliers moves the mean over the sets by its chance.
HOLE_PATTERNS = 4
ROUNDS = 3
PLANTED_SEEDS = 3


@dataclass(frozen=True)
class Judged:
    """How well the scores of one stream tell its outliers from the rest, and what they cost."""

    roc: float
    pr: float
    n_rows: int
    cpu_seconds: float


def judge(stream: Stream, score: Callable[[Stream], Scored]) -> Judged:
    scored = score(stream)
    counted, outlier = scored.scores[NOT_COUNTED:], stream.outlier[NOT_COUNTED:]
    unscored = len(outlier) - int(np.sum(np.isfinite(counted)))
    if unscored:
        raise SystemExit(f"outliers: {stream.label}: {unscored} of the {len(outlier)} rows that count have no finite score.")
    roc, pr = roc_auc_score(outlier, counted), average_precision_score(outlier, counted)
    return Judged(float(roc), float(pr), len(outlier) + NOT_COUNTED, scored.cpu_seconds)
