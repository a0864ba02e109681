"""One file for Python and the command line, and pickles and copies through the same bytes."""

import copy
import json
import pickle

import joblib
import numpy as np
import pytest

import bayestream
from bayestream import LatentFeatures, StreamingGMM, StreamingOutlierDetector, StreamingTopics, TopicClassifier


@pytest.fixture
def table(tmp_path, clusters):
    rows = clusters[0]
    path = tmp_path / "rows.csv"
    lines = [",".join(map(repr, map(float, row))) for row in rows]
    # Without a header: both sides call the columns x1, x2, x3.
    path.write_text("\n".join(lines) + "\n")
    return path, rows


@pytest.mark.parametrize("kind", ["gmm/ofab", "mppca/ofab", "gmm/dp", "gmm/svb", "lfm/online-fab"])
def test_python_and_the_command_line_learn_the_same_bytes(kind, table, tmp_path, command_line):
    path, rows = table
    command_line("fit", path, "-m", kind, "-o", tmp_path / "cli.bay", "--seed", 9, "--batch", 250)
    sort = LatentFeatures if kind.startswith("lfm") else StreamingGMM
    model = sort(kind=kind, random_state=9, batch_size=250).fit(rows)
    assert model.to_bytes() == (tmp_path / "cli.bay").read_bytes()


def test_the_command_line_goes_on_with_a_model_from_python(table, tmp_path, command_line):
    path, rows = table
    StreamingGMM().fit(rows[:1500]).save(tmp_path / "half.bay")
    command_line("fit", path, "--resume", tmp_path / "half.bay", "--skip-seen", "-o", tmp_path / "whole.bay")
    whole = bayestream.load(tmp_path / "whole.bay")
    assert whole.to_bytes() == StreamingGMM().fit(rows).to_bytes()
    told = json.loads(command_line("inspect", tmp_path / "whole.bay", "--json"))
    ours = whole.snapshot()
    assert told["k_realized"] == ours["k_realized"] == 3
    assert [part["mean"] for part in told["components"]] == [part["mean"] for part in ours["components"]]
    assert told["clusters"] == ours["clusters"]
    assert [part["cluster"] for part in told["components"]] == [part["cluster"] for part in ours["components"]]


def test_python_goes_on_with_a_model_from_the_command_line(table, tmp_path, command_line):
    path, rows = table
    command_line("fit", path, "-o", tmp_path / "model.bay", "--set", "delta=0.01")
    model = bayestream.load(tmp_path / "model.bay")
    assert isinstance(model, StreamingGMM) and model.n_seen_ == 3000
    model.partial_fit(rows[:500])
    assert model.n_seen_ == 3500 and model.settings["delta"] == "0.01"


def test_documents_are_the_same_bytes_too(messages, tmp_path, command_line):
    texts, themes = messages
    lines = [json.dumps({"text": text, "theme": theme}) for text, theme in zip(texts, themes)]
    (tmp_path / "news.ndjson").write_text("\n".join(lines))
    command_line("fit", tmp_path / "news.ndjson", "-m", "topics", "-o", tmp_path / "topics.bay", "--batch", 100)
    assert StreamingTopics(batch_size=100).fit(texts).to_bytes() == (tmp_path / "topics.bay").read_bytes()
    arguments = ["-m", "classify", "--label-column", "theme", "-o", tmp_path / "labels.bay"]
    command_line("fit", tmp_path / "news.ndjson", *arguments)
    assert TopicClassifier().fit(texts, themes).to_bytes() == (tmp_path / "labels.bay").read_bytes()
    model = bayestream.load(tmp_path / "labels.bay")
    assert isinstance(model, TopicClassifier) and model.score(texts, themes) > 0.9


MAKERS = {
    "gmm": lambda rows, texts, themes: (StreamingGMM().fit(rows), rows),
    "outliers": lambda rows, texts, themes: (StreamingOutlierDetector().fit(rows), rows),
    "features": lambda rows, texts, themes: (LatentFeatures().fit(rows[:600]), rows),
    "topics": lambda rows, texts, themes: (StreamingTopics().fit(texts), texts),
    "classifier": lambda rows, texts, themes: (TopicClassifier().fit(texts, themes), texts),
    "linear": lambda rows, texts, themes: (bayestream.StreamingLinearClassifier().fit(texts, themes), texts),
}


def answers(model, data):
    method = next(name for name in ("score_samples", "decision_function") if hasattr(model, name))
    return getattr(model, method)(data[:50])


@pytest.mark.parametrize("name", MAKERS)
def test_pickles_and_copies_answer_alike_and_go_on_alike(name, clusters, messages, tmp_path):
    model, data = MAKERS[name](clusters[0], *messages)
    joblib.dump(model, tmp_path / "model.joblib")
    model.save(tmp_path / "model.bay")
    others = [
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        joblib.load(tmp_path / "model.joblib"),
        type(model).load(tmp_path / "model.bay"),
    ]
    for other in others:
        assert other.to_bytes() == model.to_bytes()
        np.testing.assert_array_equal(answers(other, data), answers(model, data))
    assert not list(tmp_path.glob(".bayestream-*"))
    with pytest.raises(FileNotFoundError, match="the folder does not exist"):
        model.save(tmp_path / "nowhere" / "model.bay")


def test_a_loaded_model_of_counts_takes_counts(messages, tmp_path):
    texts, themes = messages
    words = sorted({word for text in texts for word in text.split()})
    counts = np.array([[text.split().count(word) for word in words] for text in texts])
    for vocabulary in (words, None):
        model = TopicClassifier(vocabulary=vocabulary).fit(counts, themes)
        model.save(tmp_path / "counts.bay")
        loaded = bayestream.load(tmp_path / "counts.bay")
        np.testing.assert_array_equal(loaded.predict(counts), model.predict(counts))
        assert loaded.vocabulary == vocabulary and loaded.n_features_in_ == len(words)
        with pytest.raises(ValueError, match="X has 2 features"):
            loaded.predict(counts[:, :2])
    loaded.fit(texts, themes).save(tmp_path / "texts.bay")
    with pytest.raises(ValueError, match="fitted with texts or tokens"):
        bayestream.load(tmp_path / "texts.bay").predict(counts)


def test_shards_merge_in_any_order(clusters):
    rows = clusters[0]
    parts = [StreamingGMM(shard=shard).fit(rows[shard::3]) for shard in range(3)]
    merged = bayestream.merge(parts)
    assert merged.n_seen_ == 3000 and merged.n_components_ == 3
    assert bayestream.merge(parts[::-1]).to_bytes() == merged.to_bytes()
    with pytest.raises(ValueError, match="the models differ in"):
        bayestream.merge([parts[0], StreamingGMM(settings={"delta": 0.1}).fit(rows)])
    with pytest.raises(ValueError, match="cannot be merged"):
        bayestream.merge([LatentFeatures().fit(rows[:600]), LatentFeatures().fit(rows[600:1200])])


def test_events_tell_what_happened(clusters):
    events = StreamingGMM().fit(clusters[0]).events_
    assert {"born"} <= {event["what"] for event in events} <= {"born", "merged", "split", "died", "drift"}
    assert all(event["row"] <= 3000 and event["component"].startswith("0-") for event in events)


def test_damaged_and_foreign_bytes_are_refused(clusters, messages):
    data = StreamingGMM().fit(clusters[0]).to_bytes()
    for cut in (b"", b"nonsense", data[:100], data[:-1]):
        with pytest.raises(ValueError):
            StreamingGMM.from_bytes(cut)
    spoilt = bytearray(data)
    spoilt[len(data) // 2] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        StreamingGMM.from_bytes(bytes(spoilt))
    with pytest.raises(ValueError, match="of another sort"):
        LatentFeatures.from_bytes(data)
