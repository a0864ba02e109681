"""What all estimators have in common: a model that learns, its columns, its file, its events."""

from __future__ import annotations

import os
import tempfile
import warnings
from typing import Any

import numpy as np

from . import _bayestream
from ._bases import BaseEstimator, NotFittedError
from ._tables import Table


def settings_of(settings: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Settings as the library takes them: names may have ``_`` for ``-``, and values are what the command line takes."""

    def told(value: Any) -> str:
        if isinstance(value, (bool, np.bool_)):
            return "on" if value else "off"
        if isinstance(value, (list, tuple)):
            return ",".join(map(str, value))
        return str(value)

    if settings is None:
        return []
    if not isinstance(settings, dict):
        raise TypeError(f"settings is a dictionary of names and values, not {type(settings).__name__}")
    return [(name.replace("_", "-"), told(value)) for name, value in settings.items()]


def seed_of(random_state: Any) -> int:
    """The seed: that given, a draw from a generator, or 0, so that the same rows always give the same model."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ValueError(f"random_state={random_state}: expected a whole number of at least 0")
        return int(random_state)
    if hasattr(random_state, "integers"):
        return int(random_state.integers(2**31))
    if hasattr(random_state, "randint"):
        return int(random_state.randint(2**31))
    raise ValueError(f"random_state={random_state!r}: expected a whole number, a generator, or None")


def limit_of(memory_limit: Any) -> str | None:
    """A size as the library takes it: that of the command line, or a number of bytes."""
    return None if memory_limit is None else str(memory_limit)


def unnamed(n_columns: int) -> list[str]:
    """What columns without names are called: as the command line calls those of a file without a header."""
    return [f"x{at}" for at in range(1, n_columns + 1)]


class StreamingModel(BaseEstimator):
    """The base of all estimators. They differ in the sort of model they hold, and in what it can be asked."""

    #: The sort of model: kinds of other sorts are refused.
    _sort = ""
    #: The class that holds it.
    _holder: Any = None

    # What a subclass fills in: a model of these rows that has seen nothing.
    def _new_model(self, columns: list[str]) -> Any:
        settings, seed = settings_of(self.settings), seed_of(self.random_state)
        limits = {"memory_limit": limit_of(self.memory_limit)} if hasattr(self, "memory_limit") else {}
        return self._holder(self._kind(), columns, settings, seed, self.shard, **limits)

    def _kind(self) -> str:
        name, sort = _bayestream.sort_of(self.kind)
        if sort != self._sort:
            others = ", ".join(kind for kind, _, of, _, _ in _bayestream.kinds() if of == self._sort)
            raise ValueError(f"{type(self).__name__} takes one of these kinds: {others}; {name} is of another sort")
        return name

    def _batch_rows(self) -> int:
        if not isinstance(self.batch_size, (int, np.integer)) or self.batch_size < 1:
            raise ValueError(f"batch_size={self.batch_size!r}: expected a whole number of at least 1")
        return int(self.batch_size)

    # Columns.
    def _begin(self, rows: Table) -> None:
        n_columns = rows.shape[1]
        names = rows.names if rows.names is not None else unnamed(n_columns)
        self._model = self._new_model(names)
        self.n_features_in_ = n_columns
        if rows.names is not None:
            self.feature_names_in_ = np.asarray(rows.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _check_columns(self, rows: Table) -> None:
        known = getattr(self, "feature_names_in_", None)
        name = type(self).__name__
        if known is not None and rows.names is not None:
            if rows.names != list(known):
                raise ValueError(_how_names_differ(list(known), rows.names))
        elif known is not None and rows.names is None:
            warnings.warn(
                f"X does not have valid feature names, but {name} was fitted with feature names", UserWarning, stacklevel=4
            )
        elif known is None and rows.names is not None:
            warnings.warn(
                f"X has feature names, but {name} was fitted without feature names", UserWarning, stacklevel=4
            )
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {name} is expecting {self.n_features_in_} features as input."
            )

    # State.
    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _fitted(self) -> Any:
        model = self.__dict__.get("_model")
        if model is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' or 'partial_fit' with some rows before"
                " using this estimator."
            )
        return model

    def to_bytes(self) -> bytes:
        """The bytes of a model file, as ``bayestream fit`` writes it."""
        return self._fitted().save()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, whole or not at all, which the command line reads too."""
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{os.fspath(path)}: the folder does not exist; create it first")
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".bayestream-", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(self.to_bytes())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise

    @classmethod
    def from_bytes(cls, data: bytes):
        """The model in the bytes of a file, of whatever kind this class takes."""
        header = _bayestream.header(data)
        estimator = cls(kind=header["kind"])
        estimator._kind()
        model = cls._holder.load(data)
        estimator.set_params(**estimator._params_of(header, model))
        estimator._adopt(model)
        return estimator

    @classmethod
    def load(cls, path: str | os.PathLike[str]):
        """Reads a model file, whether Python or the command line wrote it."""
        with open(path, "rb") as file:
            return cls.from_bytes(file.read())

    def _params_of(self, header: dict[str, Any], model: Any) -> dict[str, Any]:
        return {"settings": header["settings"], "random_state": header["seed"], "shard": model.shard()}

    def _adopt(self, model: Any) -> None:
        """Takes over a model that was learnt elsewhere."""
        self._model = model
        columns = model.columns()
        self.n_features_in_ = len(columns)
        if columns != unnamed(len(columns)):
            self.feature_names_in_ = np.asarray(columns, dtype=object)

    def merge(self, *others: "StreamingModel"):
        """A new estimator that has learnt what these have, each from rows of its own; the order does not matter.

        Give each a ``shard`` of its own, so that their components have names of their own.
        """
        models = [self._fitted(), *(other._fitted() for other in others)]
        if any(type(model) is not type(models[0]) for model in models):
            raise ValueError("only models of one sort can be merged")
        return type(self).from_bytes(self._holder.merge(models).save())

    @property
    def n_seen_(self) -> int:
        """Rows (or documents) learnt so far."""
        return self._fitted().n_seen()

    @property
    def events_(self) -> list[dict[str, Any]]:
        """What happened to the components, oldest first: ``row``, ``what`` (born, merged, split, died, drift),
        ``component`` and ``other``. The latest thousand are kept."""
        return self._fitted().events()

    def plot(self, *args: Any, **kwargs: Any):
        """Draws the model; needs matplotlib. See :mod:`bayestream.plotting`."""
        from . import plotting

        return plotting.plot(self, *args, **kwargs)


def _umask() -> int:
    # There is no other way to ask for it.
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _how_names_differ(known: list[str], given: list[str]) -> str:
    def listed(names: list[str]) -> str:
        shown = "".join(f"- {name}\n" for name in names[:5])
        return shown + ("- ...\n" if len(names) > 5 else "")

    unseen, missing = sorted(set(given) - set(known)), sorted(set(known) - set(given))
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message
