"""Model files of any kind, and the tables of kinds and settings."""

from __future__ import annotations

import os
from typing import Any

from . import _bayestream
from .features import LatentFeatures
from .linear import StreamingLinearClassifier, StreamingLinearRegressor
from .mixtures import StreamingDPMM, StreamingGMM, StreamingMPPCA
from .topics import StreamingTopics, TopicClassifier


def load(path: str | os.PathLike[str]):
    """The model in a file, as the estimator that its kind belongs to.

    A model that was watched is a mixture too: ``StreamingOutlierDetector.load`` reads it as a detector.
    """
    with open(path, "rb") as file:
        data = file.read()
    return _class_for(_bayestream.header(data), data).from_bytes(data)


def _class_for(header: dict[str, Any], data: bytes):
    kind = header["kind"]
    sort = _bayestream.sort_of(kind)[1]
    if sort == "documents":
        return TopicClassifier if _bayestream.Documents.load(data).labels() else StreamingTopics
    if sort == "linear":
        is_number = header["settings"].get("target") == "number"
        return StreamingLinearRegressor if is_number else StreamingLinearClassifier
    if sort == "features":
        return LatentFeatures
    if kind == "gmm/dp":
        return StreamingDPMM
    return StreamingMPPCA if kind.startswith("mppca/") else StreamingGMM


def merge(models: list[Any]):
    """One model of what several have learnt, each from rows of its own; their order does not matter.

    >>> import numpy as np
    >>> from bayestream import StreamingGMM, merge
    >>> rows = np.random.default_rng(0).normal(size=(2, 1000, 2))
    >>> parts = [StreamingGMM(shard=shard).fit(rows[shard]) for shard in range(2)]
    >>> merge(parts).n_seen_
    2000
    """
    if not models:
        raise ValueError("there is no model to merge")
    return models[0].merge(*models[1:])


def kinds(sort: str | None = None) -> dict[str, str]:
    """Every kind of model, or those of one sort (mixture, documents, linear, features), with what it is.

    >>> import bayestream
    >>> "gmm/ofab" in bayestream.kinds("mixture")
    True
    """
    return {name: summary for name, _, of, _, summary in _bayestream.kinds() if sort in (None, of)}


def settings(kind: str) -> dict[str, str]:
    """The settings of a kind, with what each takes and does.

    >>> import bayestream
    >>> bayestream.settings("gmm/ofab")["delta"].startswith("a share in [0, 1)")
    True
    """
    return {name: f"{takes}: {does}" for name, takes, does in _bayestream.settings_of(kind)}
