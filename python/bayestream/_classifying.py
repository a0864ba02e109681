"""What all classifiers have in common: labels, and margins that tell them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._labels import Labels, names_of


class TellsLabels:
    """Labels by margins. ``classes_`` are sorted; a model learns new labels midway unless ``classes`` were given."""

    #: What a model's own labels are; a subclass says how margins are asked for.
    def _margins(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def _begin_labels(self, classes: Any, form: str) -> None:
        self._form = form
        self._are_given = classes is not None
        if classes is None:
            self.__dict__.pop("classes_", None)
        else:
            self.classes_ = np.unique(np.asarray(classes))

    def _take_labels(self, labels: Labels) -> None:
        if labels.form != self._form:
            raise ValueError(f"y has labels as {labels.form}, and the model began with labels as {self._form}")
        known = self.__dict__.get("classes_")
        if known is None:
            self.classes_ = labels.classes
            return
        new = np.setdiff1d(labels.classes, known)
        if len(new) and self._form == "indicator":
            raise ValueError(f"y has {labels.classes.max() + 1} columns, and the model began with {len(known)}")
        if len(new) and self._are_given:
            raise ValueError(f"y has labels {new.tolist()} that are not among the classes given: {known.tolist()}")
        if len(new):
            self.classes_ = np.union1d(known, labels.classes)

    def _adopt_labels(self, names: list[str], several: bool) -> None:
        """Takes over the labels of a model that was learnt elsewhere: whole numbers if all are such, else texts."""
        try:
            self.classes_ = np.unique(np.asarray([int(name) for name in names]))
            if sorted(names) != sorted(names_of(self.classes_)):
                raise ValueError
        except ValueError:
            self.classes_ = np.unique(np.asarray(names, dtype=str))
        self._form = "lists" if several else "one"
        self._are_given = False

    def _in_order(self, margins: np.ndarray, names: list[str]) -> np.ndarray:
        """Margins by ``classes_``; a label that the model has not met lies far away."""
        place = {name: at for at, name in enumerate(names)}
        ordered = np.full((len(margins), len(self.classes_)), -np.inf)
        for at, name in enumerate(names_of(self.classes_)):
            if name in place:
                ordered[:, at] = margins[:, place[name]]
        lowest = margins.min() if margins.size else 0.0
        return np.where(np.isneginf(ordered), min(lowest, 0.0) - 1.0, ordered)

    def decision_function(self, X: Any) -> np.ndarray:
        """How far each row lies on the side of each label; of two labels, of the second alone."""
        margins = self._margins(X)
        if self._form == "one" and len(self.classes_) == 2:
            return (margins[:, 1] - margins[:, 0]) / 2.0
        return margins

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row; where rows have several, a matrix of zeros and ones, or lists, as ``y`` was."""
        margins = self._margins(X)
        if self._form == "one":
            return self.classes_[margins.argmax(axis=1)]
        has = margins > 0.0
        if self._form == "indicator":
            return has.astype(int)
        told = np.empty(len(has), dtype=object)
        told[:] = [self.classes_[row].tolist() for row in has]
        return told
