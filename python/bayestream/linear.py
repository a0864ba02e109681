"""Linear classifiers and regressors in one pass: passive-aggressive, and Bayesian passive-aggressive."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._bases import ClassifierMixin, RegressorMixin
from ._bayestream import Linear
from ._classifying import TellsLabels
from ._documents import Documents, documents
from ._labels import labels_of, numbers_of
from ._model import StreamingModel, seed_of, settings_of
from ._tables import Table, table


class LinearBase(StreamingModel):
    """Rows of numbers, or texts and lists of tokens, with what they are told. A missing cell (NaN) says nothing."""

    _sort = "linear"
    _holder = Linear
    #: What the rows are told, as the setting ``target`` has it.
    _target = "label"

    def _taken(self, X: Any) -> Table | Documents:
        return documents(X) if _has_words(X) else table(X)

    def _begin_with(self, given: Table | Documents, target: str) -> None:
        self._target = target
        if isinstance(given, Table):
            self._begin(given)
            return
        settings = [("features", "words"), ("target", target), *settings_of(self.settings)]
        self._model = Linear(self._kind(), [], settings, seed_of(self.random_state), self.shard)
        self.__dict__.pop("n_features_in_", None)
        self.__dict__.pop("feature_names_in_", None)

    def _new_model(self, columns: list[str]) -> Any:
        settings = [("target", self._target), *settings_of(self.settings)]
        return Linear(self._kind(), columns, settings, seed_of(self.random_state), self.shard)

    def _check_given(self, given: Table | Documents) -> None:
        reads_words = "n_features_in_" not in self.__dict__
        if reads_words != isinstance(given, Documents):
            raise ValueError(f"{type(self).__name__} was fitted with {'texts' if reads_words else 'rows of numbers'}")
        if not reads_words:
            self._check_columns(given)

    def _learn(self, given: Table | Documents, told: Any, cut: Any) -> None:
        if isinstance(given, Documents):
            self._model.learn_documents(given.given, self._batch_rows(), told)
            return
        first = 0
        for cells in given.portions(self._batch_rows()):
            self._model.learn_rows(cells, cut(told, first, first + len(cells)))
            first += len(cells)

    def _ask(self, X: Any, part: str) -> np.ndarray:
        model = self._fitted()
        given = self._taken(X)
        self._check_given(given)
        if isinstance(given, Documents):
            return model.score_documents(given.given)[part]
        return np.concatenate([model.score_rows(cells)[part] for cells in given.portions(self._batch_rows())])

    def _adopt(self, model: Any) -> None:
        if model.reads_documents():
            self._model = model
        else:
            super()._adopt(model)

    @property
    def events_(self) -> list[dict[str, Any]]:
        """None: nothing is born or dies in a linear model."""
        self._fitted()
        return []

    def snapshot(self) -> dict[str, Any]:
        """What was learnt: labels (or a number) and their weights."""
        model = self._fitted()
        told = model.weights()
        weights = zip(told["labels"], told["intercepts"], told["coefficients"])
        return {
            "kind": self._kind(),
            "n_seen": model.n_seen(),
            "columns": model.columns(),
            "labels": [
                {"label": name, "intercept": float(constant), "weights": row.tolist()} for name, constant, row in weights
            ],
        }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class StreamingLinearClassifier(ClassifierMixin, TellsLabels, LinearBase):
    """A linear classifier of rows or texts in one pass, one label or several a row.

    Parameters
    ----------
    kind : str
        ``classify/pa``, ``classify/bayespa-ave`` or ``classify/bayespa-gibbs``.
    settings, batch_size, shard, random_state
        As in :class:`StreamingGMM`; rows are learnt one by one, whatever ``batch_size`` is.

    Examples
    --------
    >>> import numpy as np
    >>> from bayestream import StreamingLinearClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    >>> model = StreamingLinearClassifier().fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(self, kind="classify/bayespa-gibbs", settings=None, batch_size=500, shard=0, random_state=None):
        self.kind = kind
        self.settings = settings
        self.batch_size = batch_size
        self.shard = shard
        self.random_state = random_state

    def fit(self, X: Any, y: Any):
        """Begins anew and learns the rows and their labels in their order, once."""
        given = self._taken(X)
        labels = labels_of(y, given.shape[0], type(self).__name__)
        self._begin_with(given, "label" if labels.form == "one" else "labels")
        self._begin_labels(None, labels.form)
        return self._learn_labels(given, labels)

    def partial_fit(self, X: Any, y: Any, classes: Any = None):
        """Goes on learning. New labels may come at any time, unless ``classes`` were given at first."""
        given = self._taken(X)
        labels = labels_of(y, given.shape[0], type(self).__name__)
        if "_model" in self.__dict__:
            self._check_given(given)
        else:
            self._begin_with(given, "label" if labels.form == "one" else "labels")
            self._begin_labels(classes, labels.form)
        return self._learn_labels(given, labels)

    def _learn_labels(self, given: Table | Documents, labels: Any):
        self._take_labels(labels)
        starts, places, names = labels.for_model()
        self._learn(given, (starts, places, names), lambda told, a, b: (told[0][a : b + 1], told[1], told[2]))
        return self

    def _adopt(self, model: Any) -> None:
        super()._adopt(model)
        self._adopt_labels(model.labels(), dict(self.settings or {}).get("target") == "labels")

    def _margins(self, X: Any) -> np.ndarray:
        return self._in_order(self._ask(X, "scores"), self._model.labels())

    @property
    def coef_(self) -> np.ndarray:
        """The weight of each feature for each label, on the features' own scales as the model keeps them."""
        return self._fitted().weights()["coefficients"]

    @property
    def intercept_(self) -> np.ndarray:
        """Each label's constant."""
        return self._fitted().weights()["intercepts"]

    @property
    def accuracy_before_learning_(self) -> float:
        """The share of rows whose labels were told exactly before they were learnt."""
        n, right, _ = self._fitted().foretold()
        return right / n if n else float("nan")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class StreamingLinearRegressor(RegressorMixin, LinearBase):
    """A linear regressor of rows or texts in one pass. The parameters are those of :class:`StreamingLinearClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayestream import StreamingLinearRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> model = StreamingLinearRegressor().fit(X, 2.0 * X[:, 0] - X[:, 2] + 5.0)
    >>> bool(abs(model.predict([[1.0, 0.0, 1.0]])[0] - 6.0) < 0.3)
    True
    """

    _target = "number"

    def __init__(self, kind="classify/bayespa-gibbs", settings=None, batch_size=500, shard=0, random_state=None):
        self.kind = kind
        self.settings = settings
        self.batch_size = batch_size
        self.shard = shard
        self.random_state = random_state

    def fit(self, X: Any, y: Any):
        """Begins anew and learns the rows and their numbers in their order, once."""
        given = self._taken(X)
        numbers = numbers_of(y, given.shape[0], type(self).__name__)
        self._begin_with(given, "number")
        self._learn(given, numbers, lambda told, a, b: told[a:b])
        return self

    def partial_fit(self, X: Any, y: Any):
        """Goes on learning."""
        given = self._taken(X)
        numbers = numbers_of(y, given.shape[0], type(self).__name__)
        if "_model" in self.__dict__:
            self._check_given(given)
        else:
            self._begin_with(given, "number")
        self._learn(given, numbers, lambda told, a, b: told[a:b])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The number of each row."""
        return self._ask(X, "numbers")

    @property
    def coef_(self) -> np.ndarray:
        """The weight of each feature, as the model keeps it."""
        return self._fitted().weights()["coefficients"][0]


def _has_words(X: Any) -> bool:
    """True for texts and lists of tokens."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "UO" and len(X) > 0 and isinstance(X[0], (str, list))
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and all(
            isinstance(row, str) or (isinstance(row, list) and row and all(isinstance(token, str) for token in row))
            for row in X
        )
    return hasattr(X, "to_list") and not hasattr(X, "columns") and len(X) > 0 and isinstance(X.to_list()[0], str)
