"""The same models in River's manner: one row at a time, as dictionaries, with features that come and go.

**Columns.** A model has the columns that are named with ``columns``, or else all features of the first ``settle`` rows, in
the order of the alphabet. These rows are kept until then: a feature that is new among them makes the model begin anew with
it, and learn them again. A feature that appears later is left alone, with a warning the first time. A feature that a row
does not have, or that is None, is missing.

**Batches.** Rows are gathered, and learnt ``mini_batch`` at a time; looking at the model learns those that wait first.

>>> from bayestream import river
>>> model = river.GMM(columns=("x", "y"))
>>> for at in range(300):
...     model.learn_one({"x": at % 2 * 9.0 + at % 7 / 7, "y": at % 5 / 5})
>>> model.predict_one({"x": 0.5}) != model.predict_one({"x": 9.5})
True
"""

from ._documents import TopicClassifier, Topics
from ._linear import LinearClassifier, LinearRegressor
from ._unlabelled import GMM, LatentFeatures, OutlierDetector

__all__ = [
    "GMM",
    "LatentFeatures",
    "LinearClassifier",
    "LinearRegressor",
    "OutlierDetector",
    "TopicClassifier",
    "Topics",
]
