"""River's own checks, and the rule of columns that come and go."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import checks, compose, datasets, preprocessing

import bayestream
from bayestream import river

ADAPTERS = [
    river.GMM(),
    river.OutlierDetector(),
    # A short warm-up: until it ends, every look fits all rows anew.
    river.LatentFeatures(settings={"warm-up": 20}),
    river.LinearClassifier(),
    river.LinearRegressor(),
    river.Topics(),
    river.TopicClassifier(),
]


class MadeUpCreditCard:
    """Takes the place of River's data set, which would be downloaded: some rows in a hundred lie elsewhere."""

    def take(self, n):
        rng = np.random.default_rng(11)
        for _ in range(n):
            is_fraud = rng.random() < 0.03
            cells = rng.normal(size=8) + 4.0 * is_fraud * rng.normal(size=8)
            yield {f"V{at}": float(cell) for at, cell in enumerate(cells)}, int(is_fraud)


datasets.CreditCard = MadeUpCreditCard


def each_check():
    for model in ADAPTERS:
        for number, check in enumerate(checks.yield_checks(model)):
            yield pytest.param(model, check, id=f"{type(model).__name__}-{check.__name__}-{number}")


@pytest.mark.filterwarnings("ignore:.* leaves others alone")
@pytest.mark.parametrize("model, check", list(each_check()))
def test_river_accepts_it(model, check):
    check(model.clone())


def records(rows):
    return [dict(zip(("a", "b", "c"), map(float, row))) for row in rows]


def test_rows_one_by_one_are_batches(clusters):
    rows = clusters[0]
    model = river.GMM(columns=("a", "b", "c"), mini_batch=250)
    for row in records(rows):
        model.learn_one(row)
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    assert model.to_bytes() == bayestream.StreamingGMM(batch_size=250).fit(frame).to_bytes()
    for table in (frame, pl.DataFrame(frame.to_dict("list"))):
        many = river.GMM(columns=("a", "b", "c"), mini_batch=250)
        many.learn_many(table)
        assert many.to_bytes() == model.to_bytes()
    assert len({model.predict_one(row) for row in records(rows[:100])}) == 3
    assert model.score_one({"a": -6.0, "b": 0.0, "c": 2.0}) > model.score_one({"a": 40.0})


def test_columns_are_settled_by_the_first_rows():
    model = river.GMM(settle=10)
    for at in range(9):
        model.learn_one({"b": float(at), "a": 1.0})
        assert model.predict_one({"a": 1.0}) is not None
    model.learn_one({"c": 2.0, "a": 1.0})
    # The model began anew with the column that came last, and all rows.
    assert model._model.columns() == ["a", "b", "c"] and model._model.n_seen() == 10
    with pytest.warns(UserWarning, match="leaves others alone: d"):
        model.learn_one({"a": 1.0, "d": 5.0})
    model.learn_one({"a": None, "e": 5.0})
    assert model._model.n_seen() == 12


def test_wrong_values_are_refused_at_once():
    model = river.GMM(columns=("a", "b"))
    model.learn_one({"a": 1.0, "b": 2.0})
    with pytest.raises(ValueError, match="not finite"):
        model.learn_one({"a": float("inf"), "b": 2.0})
    with pytest.raises(TypeError, match="column `b`: 'red' is not a number"):
        model.learn_one({"a": 1.0, "b": "red"})
    assert model._model.n_seen() == 1


def test_outliers_stand_out(clusters):
    model = river.OutlierDetector()
    rows = records(clusters[0])
    for row in rows[:2000]:
        model.learn_one(row)
    usual = np.median([model.score_one(row) for row in rows[2000:2050]])
    assert model.score_one({"a": -6.0, "b": 30.0, "c": 2.0}) > 0.99 > 0.9 > usual


def test_copies_go_on_alike(clusters):
    model = river.GMM()
    for row in records(clusters[0][:333]):
        model.learn_one(row)
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for row in records(clusters[0][333:900]):
        for one in (model, *others):
            one.learn_one(row)
    assert all(other.to_bytes() == model.to_bytes() for other in others)


def test_pipelines_of_river(clusters):
    rows, which = clusters
    model = compose.Pipeline(preprocessing.StandardScaler(), river.LinearClassifier())
    right = 0
    for row, label in zip(records(rows), which):
        right += model.predict_one(row) == label
        model.learn_one(row, label)
    assert right / len(rows) > 0.9


def test_texts_of_river(messages):
    model = river.TopicClassifier(mini_batch=50)
    for text, theme in zip(*messages):
        model.learn_one(text, theme)
    assert np.mean([model.predict_one(text) == theme for text, theme in zip(*messages)]) > 0.9
    assert model.predict_one({"goal": 2, "match": 1}) == "football"
