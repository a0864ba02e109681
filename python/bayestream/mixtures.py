"""Mixtures of Gaussians that find their number of components while rows stream by."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bases import DensityMixin
from ._bayestream import Mixture
from ._model import seed_of
from ._rows import RowModel


class MixtureModel(DensityMixin, RowModel):
    """What all mixtures can be asked. The components come by decreasing weight."""

    _sort = "mixture"
    _holder = Mixture

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of each row, its place in ``clusters_``: the one whose components are together most responsible."""
        shares = self.predict_proba(X)
        places = self._fitted().clusters()["places"]
        return np.column_stack([shares[:, members].sum(axis=1) for members in places]).argmax(axis=1)

    def predict_component(self, X: Any) -> np.ndarray:
        """The place of the component most responsible for each row, among ``weights_``; ``component_ids_`` has their names
        for life."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The responsibility of each component for each row."""
        return np.concatenate(self._ask("responsibilities", X))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-density of the rows: higher is better."""
        # Said again: scikit-learn's mixin has one that answers nothing.
        return RowModel.score(self, X)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """``fit``, then ``predict`` of the same rows."""
        return self.fit(X).predict(X)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draws rows, and the component of each."""
        if n_samples < 1:
            raise ValueError(f"n_samples={n_samples}: expected a number of at least 1")
        return self._fitted().sample(n_samples, seed_of(random_state))

    def snapshot(self) -> dict[str, Any]:
        """The small model of what was seen, as ``bayestream inspect --json`` tells it."""
        model = self._fitted()
        parts, clusters = model.components(), model.clusters()
        cluster_of = {at: name for name, places in zip(clusters["ids"], clusters["places"]) for at in places}
        d = len(model.columns())
        described = zip(parts["ids"], parts["weights"], parts["counts"], parts["means"], parts["covariances"],
                        parts["latent_dims"])  # fmt: skip
        components = [
            {"id": name, "cluster": cluster_of[at], "weight": float(weight), "count": float(count), "mean": mean.tolist(),
             "covariance": covariance.reshape(d, d).tolist(), **({} if dim is None else {"latent_dim": dim})}
            for at, (name, weight, count, mean, covariance, dim) in enumerate(described)
        ]  # fmt: skip
        return {
            "kind": self._kind(),
            "n_seen": model.n_seen(),
            "columns": model.columns(),
            "k_realized": len(components),
            "k_implemented": model.k_implemented(),
            **({"counting": counting} if (counting := model.counting()) else {}),
            "components": components,
            "clusters": [
                {"id": name, "weight": float(weight), "components": members}
                for name, weight, members in zip(clusters["ids"], clusters["weights"], clusters["components"])
            ],
            "log_score": {"prequential_mean": model.log_score()[0]},
        }

    @property
    def weights_(self) -> np.ndarray:
        """The components' shares of the rows; they add up to one."""
        return self._fitted().components()["weights"]

    @property
    def means_(self) -> np.ndarray:
        """The components' means, one row each."""
        return self._fitted().components()["means"]

    @property
    def covariances_(self) -> np.ndarray:
        """The components' covariances."""
        means = self.means_
        return self._fitted().components()["covariances"].reshape(*means.shape, -1)

    @property
    def component_ids_(self) -> list[str]:
        """The components' names, which they keep through births, deaths, merges and reordering."""
        return self._fitted().components()["ids"]

    @property
    def n_components_(self) -> int:
        """How many components were found."""
        return len(self._fitted().components()["weights"])

    @property
    def counting_columns_(self) -> list[str]:
        """Columns that go one way along the rows, as row numbers and times do: rows to come lie where none has been."""
        return self._fitted().counting()

    @property
    def clusters_(self) -> list[list[str]]:
        """The clusters by decreasing weight, each the names of its components, the oldest first: a cluster that is no Gaussian is
        described by several."""
        return self._fitted().clusters()["components"]

    @property
    def n_clusters_(self) -> int:
        """How many clusters the components make."""
        return len(self._fitted().clusters()["ids"])


class StreamingGMM(MixtureModel):
    """A mixture of Gaussians with full covariances that finds its number of components in one pass (online FAB).

    Parameters
    ----------
    kind : str
        Any kind of mixture: ``bayestream.kinds("mixture")`` lists them.
    settings : dict
        Settings of the engine, as ``--set`` of the command line takes them: ``bayestream.settings(kind)`` lists them.
    batch_size : int
        Rows learnt together.
    shard : int
        The number of this learner among those that are to be merged.
    random_state : int, generator or None
        Seed of every random choice; None is 0.
    memory_limit : str, int or None
        Memory that a new model may need, as in ``"8GB"``: more columns than fit are refused at once. None is 2 GB.

    Examples
    --------
    >>> import numpy as np
    >>> from bayestream import StreamingGMM
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-4, 1, (1000, 2)), rng.normal(4, 1, (1000, 2))])
    >>> rng.shuffle(X)
    >>> model = StreamingGMM()
    >>> for batch in np.split(X, 4):
    ...     model = model.partial_fit(batch)
    >>> model.n_components_, model.n_clusters_
    (2, 2)
    >>> model.predict([[-4.0, -4.0], [-3.5, -5.0], [4.0, np.nan]]).tolist() in ([0, 0, 1], [1, 1, 0])
    True
    """

    def __init__(self, kind="gmm/ofab", settings=None, batch_size=500, shard=0, random_state=None, memory_limit=None):
        self.kind = kind
        self.settings = settings
        self.batch_size = batch_size
        self.shard = shard
        self.random_state = random_state
        self.memory_limit = memory_limit


class StreamingMPPCA(MixtureModel):
    """A mixture of probabilistic PCA that finds its components, and the dimension of each, in one pass (online FAB).

    The parameters are those of :class:`StreamingGMM`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayestream import StreamingMPPCA
    >>> rng = np.random.default_rng(1)
    >>> plane = rng.normal(size=(3000, 2)) @ rng.normal(size=(2, 6)) + 0.05 * rng.normal(size=(3000, 6))
    >>> model = StreamingMPPCA().fit(plane)
    >>> model.latent_dims_[0]
    2
    """

    def __init__(self, kind="mppca/ofab", settings=None, batch_size=500, shard=0, random_state=None, memory_limit=None):
        self.kind = kind
        self.settings = settings
        self.batch_size = batch_size
        self.shard = shard
        self.random_state = random_state
        self.memory_limit = memory_limit

    @property
    def latent_dims_(self) -> list[int | None]:
        """The dimension of each component's subspace."""
        return self._fitted().components()["latent_dims"]


class StreamingDPMM(MixtureModel):
    """A Dirichlet-process mixture of Gaussians that merges, splits and learns its own prior, in one pass.

    The parameters are those of :class:`StreamingGMM`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayestream import StreamingDPMM
    >>> rng = np.random.default_rng(2)
    >>> X = rng.permutation(np.concatenate([rng.normal(m, 1, (800, 2)) for m in (-6, 0, 6)]))
    >>> StreamingDPMM().fit(X).n_components_
    3
    """

    def __init__(self, kind="gmm/dp", settings=None, batch_size=500, shard=0, random_state=None, memory_limit=None):
        self.kind = kind
        self.settings = settings
        self.batch_size = batch_size
        self.shard = shard
        self.random_state = random_state
        self.memory_limit = memory_limit
