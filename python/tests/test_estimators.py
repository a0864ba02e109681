"""scikit-learn's own checks, on every estimator, and what its users do with estimators."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayestream
from conftest import news

ESTIMATORS = [
    bayestream.StreamingGMM(),
    bayestream.StreamingMPPCA(),
    bayestream.StreamingDPMM(),
    bayestream.StreamingOutlierDetector(),
    bayestream.StreamingTopics(),
    bayestream.TopicClassifier(),
    bayestream.LatentFeatures(),
    bayestream.StreamingLinearClassifier(),
    bayestream.StreamingLinearClassifier(kind="classify/pa"),
    bayestream.StreamingLinearRegressor(),
]

TAKES_IT_FOR_A_CLASSIFIER = (
    "the check asks every estimator that has predict_proba and takes sparse rows for its number of classes; a mixture has"
    " components, not classes"
)


def expected_failures(estimator):
    """Checks that cannot pass, each with its reason; one that passes after all is an error."""
    if isinstance(estimator, bayestream.mixtures.MixtureModel):
        names = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
        return {name: TAKES_IT_FOR_A_CLASSIFIER for name in names}
    return {}


# The checks' matrices are no counts.
@pytest.mark.filterwarnings("ignore:X has fractions")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures, xfail_strict=True)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_a_mixture_finds_the_components_and_tells_them_as_scikit_learn_does(clusters):
    rows, which = clusters
    model = bayestream.StreamingGMM().fit(rows)
    assert model.n_components_ == 3
    assert model.means_.shape == (3, 3) and model.covariances_.shape == (3, 3, 3)
    assert model.weights_.sum() == pytest.approx(1.0) and (np.diff(model.weights_) <= 0.0).all()
    told = model.predict(rows)
    pairs = {(a, b) for a, b in zip(told, which)}
    assert len(pairs) <= 4 and len({a for a, _ in pairs}) == 3
    share = model.predict_proba(rows)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    np.testing.assert_array_equal(share.argmax(axis=1), model.predict_component(rows))
    assert model.score(rows) == pytest.approx(model.score_samples(rows).mean())


def test_heavy_tails_are_one_cluster_each_however_many_components_they_take():
    rng = np.random.default_rng(8)
    which = rng.integers(3, size=4000)
    rows = 30.0 * np.eye(3)[which] + rng.normal(size=(4000, 3)) / np.sqrt(rng.chisquare(3, size=(4000, 1)) / 3)
    model = bayestream.StreamingGMM().fit(rows)
    assert model.n_components_ > model.n_clusters_ == 3
    assert sorted(name for cluster in model.clusters_ for name in cluster) == sorted(model.component_ids_)
    told = model.predict(rows)
    assert set(told) == {0, 1, 2} and (np.bincount(told) / 4000 > 0.25).all()
    # By decreasing weight, and few rows lie so far out that they are given to another.
    weights = [cluster["weight"] for cluster in model.snapshot()["clusters"]]
    assert weights == sorted(weights, reverse=True) and sum(weights) == pytest.approx(1.0)
    assert sum(np.bincount(told[which == k]).max() for k in range(3)) > 0.97 * 4000
    assert len(set(model.predict_component(rows))) > 3


def test_what_is_drawn_scores_like_what_was_learnt(clusters):
    model = bayestream.StreamingGMM().fit(clusters[0])
    drawn, which = model.sample(4000, random_state=5)
    assert drawn.shape == (4000, 3) and set(which) == {0, 1, 2}
    spread = model.score_samples(clusters[0]).std() / np.sqrt(3000)
    assert abs(model.score(drawn) - model.score(clusters[0])) < 6.0 * spread
    np.testing.assert_array_equal(drawn, model.sample(4000, random_state=5)[0])


@pytest.mark.parametrize("kind", list(bayestream.kinds("mixture")))
def test_every_kind_of_mixture_is_reachable(kind, clusters):
    model = bayestream.StreamingGMM(kind=kind).fit(clusters[0][:600])
    assert np.isfinite(model.score(clusters[0][:600]))


@pytest.mark.parametrize("kind", list(bayestream.kinds("documents")))
def test_every_kind_of_documents_is_reachable(kind, messages):
    texts, themes = messages
    if "/med" in kind:
        model = bayestream.TopicClassifier(kind=kind).fit(texts[:200], themes[:200])
        assert model.score(texts[:200], themes[:200]) > 0.8
        return
    model = bayestream.StreamingTopics(kind=kind).fit(texts[:200])
    assert np.isfinite(model.score(texts[:200]))


@pytest.mark.parametrize("kind", ["topics/svi-lda", "topics/splda", "topics/tfhdp"])
def test_labels_may_be_told_by_a_machine_on_top_of_topics(kind, messages):
    model = bayestream.TopicClassifier(kind=kind).fit(*messages)
    assert model.score(*messages) > 0.8


@pytest.mark.parametrize("kind", list(bayestream.kinds("features")))
def test_every_kind_of_features_is_reachable(kind, clusters):
    rows = clusters[0][:120]
    model = bayestream.LatentFeatures(kind=kind, settings={"max-features": 4}).fit(rows)
    assert model.transform(rows).shape == (120, model.n_components_)


@pytest.mark.parametrize("kind", list(bayestream.kinds("linear")))
def test_every_linear_kind_is_reachable(kind, clusters):
    rows, which = clusters
    model = bayestream.StreamingLinearClassifier(kind=kind).fit(rows, which)
    assert model.score(rows, which) > 0.9
    model = bayestream.StreamingLinearRegressor(kind=kind).fit(rows, rows @ [1.0, -2.0, 0.5])
    assert model.score(rows, rows @ [1.0, -2.0, 0.5]) > 0.9


def test_settings_reach_the_engine(clusters):
    given = {"max_components": 2, "drift": "off"}
    model = bayestream.StreamingGMM(settings=given).fit(clusters[0])
    assert model.n_components_ <= 2
    with pytest.raises(ValueError, match="did you mean `max-components`"):
        bayestream.StreamingGMM(settings={"max-componets": 2}).fit(clusters[0])


def test_pipelines_searches_and_clones(clusters):
    rows, which = clusters
    scaled = make_pipeline(StandardScaler(), bayestream.StreamingGMM(random_state=4)).fit(rows)
    assert scaled[-1].n_components_ == 3
    copy = clone(scaled[-1])
    assert copy.random_state == 4 and not hasattr(copy, "n_features_in_")
    search = GridSearchCV(bayestream.StreamingGMM(), {"kind": ["gmm/ofab", "gmm/dp"]}, cv=2).fit(rows)
    assert search.best_params_["kind"] in ("gmm/ofab", "gmm/dp")
    assert cross_val_score(bayestream.StreamingLinearClassifier(), rows, which, cv=3).min() > 0.9


def test_text_classification_in_a_pipeline(messages):
    texts, themes = messages
    counted = make_pipeline(CountVectorizer(), bayestream.TopicClassifier())
    assert cross_val_score(counted, texts, themes, cv=3).min() > 0.9
    texts, themes = news(3000)
    reduced = make_pipeline(bayestream.StreamingTopics(), bayestream.StreamingLinearClassifier())
    assert reduced.fit(texts, themes).score(texts, themes) > 0.9


def test_partial_fit_of_parts_is_fit_of_the_whole(clusters):
    rows = clusters[0]
    whole = bayestream.StreamingGMM(batch_size=250).fit(rows)
    parts = bayestream.StreamingGMM(batch_size=250)
    for first in range(0, len(rows), 750):
        parts.partial_fit(rows[first : first + 750])
    assert parts.to_bytes() == whole.to_bytes()


def test_weights_count_as_rows(clusters):
    rows = clusters[0]
    weights = np.ones(len(rows))
    weights[2000:] = 0.0
    weighted = bayestream.StreamingGMM().partial_fit(rows, sample_weight=weights)
    assert weighted.n_seen_ == 2000
    assert weighted.to_bytes() == bayestream.StreamingGMM().partial_fit(rows[:2000]).to_bytes()


def test_outliers_are_found_and_explained(clusters):
    rows = clusters[0].copy()
    model = bayestream.StreamingOutlierDetector(alarm_rate=0.002)
    model.partial_fit(rows[:2000])
    rows[2500, 1] = 60.0
    told = model.watch(rows[2000:])
    assert told["alarm"][500] and told["p_value"][500] == told["p_value"].min()
    assert told["alarm"].sum() < 12
    blamed = model.reasons(rows[2500:2501])[0][0]
    assert blamed["column"] == "x2" and blamed["blamed"] and abs(blamed["expected"]) < 12.0
    assert model.predict(rows[2500:2501])[0] == -1


def test_features_fill_missing_cells():
    rng = np.random.default_rng(8)
    has = rng.random((1500, 3)) < [0.5, 0.3, 0.4]
    weights = np.array([[4.0, 4, 0, 0, 0, 1], [0, 0, 5, 5, 0, 0], [0, -3, 0, 0, 3, 3]])
    rows = has @ weights + 0.2 * rng.normal(size=(1500, 6))
    model = bayestream.LatentFeatures().fit(rows)
    assert model.n_components_ == 3
    holes = rows[:200].copy()
    holes[:, 0] = np.nan
    filled, deviations = model.impute(holes, return_std=True)
    assert np.isnan(deviations[:, 1:]).all() and (deviations[:, 0] > 0.0).all()
    assert np.abs(filled[:, 0] - rows[:200, 0]).mean() < 0.4
    np.testing.assert_array_equal(filled[:, 1:], rows[:200, 1:])
    again = model.inverse_transform(model.transform(rows[:50]))
    assert np.abs(again - rows[:50]).mean() < 0.4


def test_several_labels_in_either_form(messages):
    texts, themes = messages
    lists = [[theme, "loud"] if theme != "garden" else [theme] for theme in themes]
    model = bayestream.TopicClassifier().fit(texts, lists)
    assert model.classes_.tolist() == ["football", "garden", "loud", "music"]
    right = [sorted(told) == sorted(given) for told, given in zip(model.predict(texts), lists)]
    assert np.mean(right) > 0.9
    matrix = np.array([[label in row for label in model.classes_] for row in lists], dtype=int)
    told = bayestream.TopicClassifier().fit(texts, matrix).predict(texts)
    assert told.shape == matrix.shape and (told == matrix).mean() > 0.95


def test_labels_may_come_midway_unless_all_were_named(messages):
    texts, themes = messages
    first = themes != "music"
    model = bayestream.TopicClassifier()
    model.partial_fit([t for t, k in zip(texts, first) if k], themes[first])
    assert model.classes_.tolist() == ["football", "garden"]
    model.partial_fit(texts, themes)
    assert model.classes_.tolist() == ["football", "garden", "music"]
    assert model.score(texts, themes) > 0.9
    model = bayestream.TopicClassifier().partial_fit(texts[:50], themes[:50], classes=["football", "garden", "music"])
    with pytest.raises(ValueError, match="not among the classes given"):
        model.partial_fit(texts[:2], ["news", "garden"])


def test_words_that_speak_for_a_label(messages):
    texts, themes = messages
    model = bayestream.TopicClassifier().fit(texts, themes)
    words = model.speaking_words("the rose and the weed said", "garden")
    assert {word for word, _ in words} >= {"rose", "weed"} and words[0][1] > 0.0
    with pytest.raises(ValueError, match="there is no label"):
        model.speaking_words("a rose", "cooking")


@pytest.mark.parametrize("kind", ["topics/splda", "topics/svi-lda", "topics/tfhdp"])
def test_svm_on_topics_that_know_no_labels(kind):
    texts, themes = news(n=2000)
    settings = {"n_topics": 6}
    piped = make_pipeline(bayestream.StreamingTopics(kind=kind, settings=settings), LinearSVC())
    piped.fit(texts[:1500], themes[:1500])
    assert piped.score(texts[1500:], themes[1500:]) > 0.9
    # The linear machines of the library, on the same topics.
    own = bayestream.TopicClassifier(kind=kind, settings=settings).fit(texts[:1500], themes[:1500])
    assert (own.predict(texts[1500:]) == piped.predict(texts[1500:])).mean() > 0.95
