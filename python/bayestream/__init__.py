"""Models that keep learning while data streams by, and find their own size.

>>> import numpy as np
>>> import bayestream
>>> X = np.random.default_rng(0).normal(size=(1000, 3))
>>> model = bayestream.StreamingGMM().fit(X)
>>> model.n_components_
1
"""

from .features import LatentFeatures
from .files import kinds, load, merge, settings
from .linear import StreamingLinearClassifier, StreamingLinearRegressor
from .mixtures import StreamingDPMM, StreamingGMM, StreamingMPPCA
from .outliers import StreamingOutlierDetector
from .topics import StreamingTopics, TopicClassifier

__all__ = [
    "LatentFeatures",
    "StreamingDPMM",
    "StreamingGMM",
    "StreamingLinearClassifier",
    "StreamingLinearRegressor",
    "StreamingMPPCA",
    "StreamingOutlierDetector",
    "StreamingTopics",
    "TopicClassifier",
    "kinds",
    "load",
    "merge",
    "settings",
]
