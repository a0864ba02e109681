"""Pictures, where matplotlib is installed."""

import matplotlib
import pytest

import bayestream

matplotlib.use("Agg")


def test_a_mixture_becomes_ellipses_and_names(clusters):
    model = bayestream.StreamingGMM().fit(clusters[0])
    axes = model.plot(clusters[0], columns=("x3", 0))
    # The rows, and one ellipse a component.
    assert len(axes.lines) == 4 and (axes.get_xlabel(), axes.get_ylabel()) == ("x3", "x1")
    assert sorted(text.get_text() for text in axes.texts) == sorted(model.component_ids_)
    with pytest.raises(ValueError, match="there is no column 'x9'"):
        model.plot(columns=("x9", "x1"))


def test_topics_and_features_have_pictures_and_linear_models_none(clusters, messages):
    topics = bayestream.StreamingTopics().fit(messages[0])
    assert len(topics.plot().lines) == topics.n_components_
    assert bayestream.LatentFeatures().fit(clusters[0][:600]).plot().images
    with pytest.raises(ValueError, match="there is no picture"):
        bayestream.StreamingLinearClassifier().fit(*clusters).plot()
