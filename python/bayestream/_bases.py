"""What scikit-learn gives an estimator, or small stand-ins where it is not installed.

The estimators inherit from scikit-learn's own bases when it can be imported, so that pipelines, searches, ``clone`` and
``set_output`` treat them as their own. Without it everything here still works, but for what only scikit-learn has.
"""

from __future__ import annotations

import inspect

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin, OutlierMixin, RegressorMixin, TransformerMixin
    from sklearn.exceptions import DataConversionWarning, NotFittedError
    from sklearn.utils.multiclass import check_classification_targets

    HAS_SKLEARN = True
except ImportError:
    HAS_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):
        """The model was asked before it has learnt anything."""

    class DataConversionWarning(UserWarning):
        """Data were taken in another form than they came in."""

    class BaseEstimator:
        """Parameters by the signature of ``__init__``, as in scikit-learn."""

        @classmethod
        def _names(cls):
            signature = inspect.signature(cls.__init__)
            return [name for name in signature.parameters if name != "self"]

        def get_params(self, deep=True):
            """The parameters by name."""
            return {name: getattr(self, name) for name in self._names()}

        def set_params(self, **params):
            """Sets parameters by name."""
            for name, value in params.items():
                if name not in self._names():
                    raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {self._names()}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            defaults = inspect.signature(type(self).__init__).parameters
            told = [f"{name}={value!r}" for name, value in self.get_params().items() if defaults[name].default != value]
            return f"{type(self).__name__}({', '.join(told)})"

    class ClassifierMixin:
        """A classifier's score."""

        def score(self, X, y, sample_weight=None):
            """The share of labels that are right."""
            import numpy as np

            right = np.asarray(self.predict(X)) == np.asarray(y)
            return float(np.average(right if right.ndim == 1 else right.all(axis=1), weights=sample_weight))

    class RegressorMixin:
        """A regressor's score."""

        def score(self, X, y, sample_weight=None):
            """The share of the variance that is explained."""
            import numpy as np

            y = np.asarray(y, dtype=float)
            mean = np.average(y, weights=sample_weight)
            left = np.average((y - self.predict(X)) ** 2, weights=sample_weight)
            return float(1.0 - left / np.average((y - mean) ** 2, weights=sample_weight))

    class TransformerMixin:
        """Fits, then transforms."""

        def fit_transform(self, X, y=None, **params):
            """``fit`` and ``transform`` of the same rows."""
            return self.fit(X, y, **params).transform(X)

    class DensityMixin:
        """A model of a density."""

    class OutlierMixin:
        """A judge of outliers."""

        def fit_predict(self, X, y=None):
            """``fit`` and ``predict`` of the same rows."""
            return self.fit(X).predict(X)

    def check_classification_targets(y):
        """Labels are not fractions."""
        import numpy as np

        y = np.asarray(y)
        if y.dtype.kind == "f" and np.any(y != np.floor(y)):
            raise ValueError("Unknown label type: continuous. Labels are whole numbers or texts")


__all__ = [
    "HAS_SKLEARN",
    "BaseEstimator",
    "ClassifierMixin",
    "DataConversionWarning",
    "DensityMixin",
    "NotFittedError",
    "OutlierMixin",
    "RegressorMixin",
    "TransformerMixin",
    "check_classification_targets",
]
