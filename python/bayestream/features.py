"""Binary latent features: rows as sums of features that are there or not, their number unknown."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bases import TransformerMixin
from ._bayestream import Features
from ._model import seed_of
from ._rows import RowModel


class LatentFeatures(TransformerMixin, RowModel):
    """Finds the features that rows are sums of, in one pass (online FAB for latent features).

    ``transform`` says which features a row has; ``impute`` fills missing cells.

    Parameters
    ----------
    kind : str
        Any kind of features: ``bayestream.kinds("features")`` lists them.
    settings, batch_size, shard, random_state, memory_limit
        As in :class:`StreamingGMM`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayestream import LatentFeatures
    >>> rng = np.random.default_rng(0)
    >>> has = rng.random((2000, 2)) < 0.5
    >>> X = has @ np.array([[3.0, 3, 0, 0], [0, 0, 4, 4]]) + 0.1 * rng.normal(size=(2000, 4))
    >>> model = LatentFeatures().fit(X)
    >>> model.n_components_
    2
    >>> model.impute([[3.0, np.nan, 0.0, 0.0]]).round(1).tolist()
    [[3.0, 3.0, 0.0, 0.0]]
    """

    _sort = "features"
    _holder = Features

    def __init__(self, kind="lfm/online-fab", settings=None, batch_size=500, shard=0, random_state=None, memory_limit=None):
        self.kind = kind
        self.settings = settings
        self.batch_size = batch_size
        self.shard = shard
        self.random_state = random_state
        self.memory_limit = memory_limit

    def transform(self, X: Any) -> np.ndarray:
        """The probability that each row has each feature."""
        return np.concatenate(self._ask("activations", X))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The rows that these features add up to, without noise."""
        told = self._fitted().features()
        return told["offset"] + np.asarray(X, dtype=np.float64) @ told["weights"]

    def impute(self, X: Any, return_std: bool = False):
        """The rows with their missing cells filled; with ``return_std``, also the standard deviation of each cell that was
        filled, NaN elsewhere."""
        parts = self._ask("fill", X)
        filled = np.concatenate([rows for rows, _ in parts])
        return (filled, np.concatenate([sd for _, sd in parts])) if return_std else filled

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draws rows."""
        if n_samples < 1:
            raise ValueError(f"n_samples={n_samples}: expected a number of at least 1")
        return self._fitted().sample(n_samples, seed_of(random_state))

    def snapshot(self) -> dict[str, Any]:
        """The small model of what was seen."""
        model = self._fitted()
        told = model.features()
        features = zip(told["ids"], told["shares"], told["weights"])
        return {
            "kind": self._kind(),
            "n_seen": model.n_seen(),
            "columns": model.columns(),
            "k_realized": len(told["ids"]),
            "k_implemented": model.k_implemented(),
            "offset": told["offset"].tolist(),
            "noise": told["noise"].tolist(),
            "features": [
                {"id": name, "share": float(share), "weights": weights.tolist()} for name, share, weights in features
            ],
            "log_score": {"prequential_mean": model.log_score()[0]},
        }

    @property
    def components_(self) -> np.ndarray:
        """What each feature adds to each column, one row for each feature."""
        return self._fitted().features()["weights"]

    @property
    def weights_(self) -> np.ndarray:
        """The share of rows that have each feature."""
        return self._fitted().features()["shares"]

    @property
    def offset_(self) -> np.ndarray:
        """A row without features."""
        return self._fitted().features()["offset"]

    @property
    def noise_variance_(self) -> np.ndarray:
        """The variance of the noise in each column."""
        return self._fitted().features()["noise"]

    @property
    def component_ids_(self) -> list[str]:
        """The features' names, which they keep."""
        return self._fitted().features()["ids"]

    @property
    def n_components_(self) -> int:
        """How many features were found."""
        return len(self._fitted().features()["ids"])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of ``transform``."""
        return np.asarray([f"feature_{name}" for name in self.component_ids_], dtype=object)
