"""Rows in whatever holds them give the same model; what is wrong with them is told as scikit-learn's users expect."""

import sys
import threading
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import bayestream
from bayestream import LatentFeatures, StreamingGMM, StreamingLinearClassifier, StreamingOutlierDetector, StreamingTopics


def fitted(rows):
    return StreamingGMM().fit(rows).to_bytes()


def strided(rows):
    wide = np.empty((rows.shape[0] * 2, rows.shape[1] * 3))
    wide[::2, ::3] = rows
    return wide[::2, ::3]


def read_only(rows):
    rows = rows.copy()
    rows.flags.writeable = False
    return rows


def between_steps(rows):
    """A field of a structured array: its steps are no whole cells."""
    records = np.zeros(len(rows), dtype=[("flag", "i1"), ("row", "f8", 3)])
    records["row"] = rows
    return records["row"]


FORMS = {
    "F order": np.asfortranarray,
    "strided": strided,
    "reversed": lambda rows: rows[::-1].copy()[::-1],
    "transposed": lambda rows: rows.T.copy().T,
    "read-only": read_only,
    "between steps": between_steps,
    "other byte order": lambda rows: rows.astype(">f8"),
    "lists": lambda rows: rows.tolist(),
    "csr": scipy.sparse.csr_matrix,
    "csc array": scipy.sparse.csc_array,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_layout_gives_the_same_bytes(form, clusters):
    assert fitted(FORMS[form](clusters[0])) == fitted(clusters[0])


def test_single_precision_is_taken_as_it_is(clusters):
    single = clusters[0].astype(np.float32)
    assert fitted(single) == fitted(single.astype(np.float64)) != fitted(clusters[0])
    assert fitted(np.asfortranarray(single)) == fitted(single)
    # A whole number has one zero, a float two.
    whole = np.rint(clusters[0]) + 0.0
    assert fitted(whole.astype(np.int32)) == fitted(whole)


def test_no_copy_of_the_whole_is_made():
    rows = np.random.default_rng(0).normal(size=(200_000, 4)).astype(np.float32)
    model = StreamingGMM().fit(rows[:1000])
    # numpy tells tracemalloc of its arrays.
    tracemalloc.start()
    model.partial_fit(np.asfortranarray(rows)[:, ::-1][:, ::-1])
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    model.partial_fit(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - before < rows.nbytes / 100


TABLES = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda cells: pd.DataFrame(cells).convert_dtypes(),
    "polars": pl.DataFrame,
    "arrow": lambda cells: Streamed(pl.DataFrame(cells)),
}


class Streamed:
    """Something that speaks Arrow and nothing else."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self.frame.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("form", TABLES)
def test_tables_keep_their_names(form, clusters):
    rows = clusters[0].copy()
    rows[5, 1] = np.nan
    names = ["flow", "pressure", "level"]
    frame = TABLES[form]({name: rows[:, at] for at, name in enumerate(names)})
    model = StreamingGMM().fit(frame)
    assert model.feature_names_in_.tolist() == names == model.snapshot()["columns"]
    np.testing.assert_array_equal(model.means_, StreamingGMM().fit(rows).means_)
    other = TABLES[form]({name: rows[:, at] for at, name in enumerate(["flow", "level", "pressure"])})
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(other)
    with pytest.raises(ValueError, match="unseen at fit time:\n- temperature"):
        model.partial_fit(TABLES[form]({"flow": rows[:, 0], "pressure": rows[:, 1], "temperature": rows[:, 2]}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(rows)


def test_whole_numbers_and_missing_values_come_through_arrow():
    frame = pl.DataFrame({"a": [1, None, 3], "b": [True, False, None], "c": [0.5, 1.5, None]})
    cells = bayestream._tables.table(frame).cells
    np.testing.assert_array_equal(cells, [[1, 1, 0.5], [np.nan, 0, 1.5], [3, np.nan, np.nan]])
    with pytest.raises(TypeError, match="column `d` holds .*not numbers"):
        StreamingGMM().fit(pl.DataFrame({"d": ["x", "y"]}))


def test_missing_cells_are_marginalised(clusters):
    model = StreamingGMM().fit(clusters[0])
    rows = clusters[0][:10].copy()
    whole = model.score_samples(rows)
    rows[:, 2] = np.nan
    assert np.isfinite(model.score_samples(rows)).all() and (model.score_samples(rows) != whole).all()
    np.testing.assert_allclose(model.score_samples(np.full((1, 3), np.nan)), [0.0], atol=1e-12)


@pytest.mark.parametrize("sort", [StreamingGMM, LatentFeatures, StreamingOutlierDetector])
def test_wrong_rows_are_value_errors_and_leave_the_model_as_it_was(sort, clusters):
    rows = clusters[0][:600]
    model = sort().fit(rows)
    before = model.to_bytes()
    bad = rows.copy()
    bad[300, 1] = np.inf
    with pytest.raises(ValueError, match="row 301 of the batch, column 2: inf is not finite"):
        model.partial_fit(bad)
    with pytest.raises(ValueError, match="X has 2 features, but .* is expecting 3 features"):
        model.partial_fit(rows[:, :2])
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.partial_fit(rows[0])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        model.partial_fit(rows[:0])
    with pytest.raises(ValueError, match="could not convert"):
        model.partial_fit([["a", "b", "c"]])
    with pytest.raises(ValueError, match="Complex"):
        model.partial_fit(rows * 1j)
    assert model.to_bytes() == before


def test_unfitted_models_say_so(clusters):
    for ask in (lambda m: m.predict(clusters[0]), lambda m: m.weights_, lambda m: m.to_bytes(), lambda m: m.sample()):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            ask(StreamingGMM())
    assert not hasattr(StreamingGMM(), "means_")


def test_wrong_parameters_are_told_when_fitting(clusters):
    rows = clusters[0]
    for wrong, message in [
        ({"kind": "gmm/ofba"}, "did you mean `gmm/ofab`"),
        ({"kind": "topics/mm-hdp"}, "of another sort"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"random_state": -1}, "random_state=-1"),
        ({"settings": {"delta": 3}}, "delta=3: expected a share"),
    ]:
        with pytest.raises(ValueError, match=message):
            StreamingGMM(**wrong).fit(rows)
    with pytest.raises(TypeError, match="settings is a dictionary"):
        StreamingGMM(settings="delta=3").fit(rows)
    with pytest.raises(ValueError, match="sample_weight has the shape"):
        StreamingGMM().partial_fit(rows, sample_weight=[1.0])
    with pytest.raises(ValueError, match="weight -1 must be finite and not negative"):
        StreamingGMM().partial_fit(rows, sample_weight=-np.ones(len(rows)))


def test_wrong_documents_and_labels():
    with pytest.raises(ValueError, match="X is one text"):
        StreamingTopics().fit("one text")
    with pytest.raises(ValueError, match="Found 0 documents"):
        StreamingTopics().fit([])
    with pytest.raises(ValueError, match="Negative values"):
        StreamingTopics().fit([[1, -2], [3, 4]])
    with pytest.raises(TypeError, match="a text or a list of tokens, not int"):
        StreamingTopics().fit(np.array(["a text", 3], dtype=object))
    with pytest.warns(UserWarning, match="they are rounded"):
        StreamingTopics().fit([[1.5, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        StreamingLinearClassifier().fit([[1.0], [2.0]], ["a"])
    with pytest.raises(ValueError, match="requires y to be passed"):
        StreamingLinearClassifier().fit([[1.0], [2.0]], None)
    with pytest.raises(ValueError, match="topics/mm-hdp finds topics and tells no labels"):
        bayestream.TopicClassifier(kind="topics").fit(["a text", "of words"], ["a", "b"])
    model = StreamingTopics().fit(["a text of words"])
    with pytest.raises(ValueError, match="fitted with texts or tokens"):
        model.transform([[1, 2]])


def test_texts_tokens_and_counts_give_the_same_topics(messages):
    texts, _ = messages
    tokens = [text.split() for text in texts]
    assert StreamingTopics().fit(tokens).to_bytes() == StreamingTopics().fit(texts).to_bytes()
    words = sorted({word for document in tokens for word in document})
    counts = np.array([[document.count(word) for word in words] for document in tokens])
    dense = StreamingTopics(vocabulary=words).fit(counts)
    sparse = StreamingTopics(vocabulary=words).fit(scipy.sparse.csr_matrix(counts))
    named = StreamingTopics().fit(pd.DataFrame(counts, columns=words))
    listed = StreamingTopics(vocabulary=words).fit(texts)
    assert dense.to_bytes() == sparse.to_bytes() == named.to_bytes() == listed.to_bytes()
    assert list(dense.vocabulary_) == words and dense.components_.shape == (dense.n_components_, len(words))
    for column in (pd.Series(texts), pl.Series(texts), pd.DataFrame({"text": texts}), np.array(texts)):
        assert StreamingTopics().fit(column).to_bytes() == StreamingTopics().fit(texts).to_bytes()


def test_other_threads_run_while_a_model_learns():
    rows = np.random.default_rng(0).normal(size=(100_000, 8))
    begins, ticks = threading.Event(), [0]

    def count():
        begins.wait()
        while ticks[0] < 1000:
            ticks[0] += 1

    # Nobody who does not let go of the interpreter loses it: only while it learns can the other thread count.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    counter = threading.Thread(target=count)
    try:
        counter.start()
        begins.set()
        StreamingGMM().fit(rows)
        seen = ticks[0]
    finally:
        sys.setswitchinterval(interval)
        counter.join()
    assert seen == 1000


def test_models_may_be_asked_by_several_threads(clusters):
    rows = clusters[0]
    model = StreamingGMM().fit(rows)
    expected, wrong = model.score_samples(rows), []

    def ask():
        for _ in range(20):
            if not np.array_equal(model.score_samples(rows), expected):
                wrong.append(True)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong
