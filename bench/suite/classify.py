"""Labels of documents: ours and other programs on 20 Newsgroups, Wikipedia pages and Reuters articles, all from the same bags of words."""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from suite import classify_data, report, rust
from suite.classify_data import Documents, Part
from suite.classify_peers import SEVERAL, SINGLE, Given, Peer, Setting

NEEDED = (
    "20newsgroups/bow-train.ndjson.gz",
    "20newsgroups/bow-test.ndjson.gz",
    "20newsgroups/vocab.txt",
    "20newsgroups/stopwords-smart.txt",
    "reuters21578/reuters21578.ndjson.gz",
    "wiki-lshtc/wiki-test.ndjson.gz",
)
PACKAGES = ("numpy", "scikit-learn", "river", "vowpalwabbit")
N_FOLDS = 5
MEASURES = {"accuracy": "accuracy", "micro-F1": "micro_f1"}
# One document in so many is set apart to choose settings by.
APART = 5


@dataclass(frozen=True)
class Judged:
    """What one run of a program is worth. Measures that a program was not asked for are missing."""

    accuracy: float | None
    micro_f1: float | None
    macro_f1: float | None
    train_rate: float
    score_rate: float
    megabytes: float | None


@dataclass(frozen=True)
class Entry:
    """A program in a table: its name, how often it reads the training documents, its settings, and its runs."""

    name: str
    passes: str
    settings: str
    runs: list[Judged]


@dataclass(frozen=True)
class Ours:
    """One of our kinds, from words as text or from their numbers."""

    name: str
    kind: str
    form: str = "numbers"
    settings: tuple[str, ...] = ()


KEPT = "keep=20000"
OURS_SINGLE = (
    Ours("**bayestream classify**", "classify"),
    Ours("**bayestream classify**, words as text", "classify", "text"),
    Ours("bayestream classify, labels learnt anew from 20,000 kept documents", "classify", settings=(KEPT,)),
    Ours("bayestream topics/medlda-ave", "topics/medlda-ave"),
    Ours("bayestream topics/medhdp-gibbs", "topics/medhdp-gibbs"),
    Ours("bayestream classify/bayespa-gibbs", "classify/bayespa-gibbs", settings=("idf=on",)),
    Ours("bayestream classify/pa", "classify/pa", settings=("idf=on",)),
)
OURS_SEVERAL = (
    Ours("**bayestream classify**", "classify"),
    Ours("bayestream classify, labels learnt anew from 20,000 kept documents", "classify", settings=(KEPT,)),
    Ours("bayestream topics/medlda-ave", "topics/medlda-ave"),
    Ours("bayestream classify/bayespa-gibbs", "classify/bayespa-gibbs", settings=("idf=on",)),
)


def run(data: Path) -> None:
    """Writes bench/results/classify.md."""
    missing = [name for name in NEEDED if not (data / name).is_file()]
    if missing:
        print(f"classify: left out, because {data} has no {', '.join(missing)}; point --data at the folder of the data sets.")
        return
    written = classify_data.write(data)
    orders, corpora = range(written["n_orders"]), written["corpora"]
    news = entries(data, OURS_SINGLE, SINGLE, [Part("news", order) for order in orders])
    two = entries(data, OURS_SINGLE, SINGLE, [Part("two", order) for order in orders])
    reuters = entries(data, OURS_SEVERAL, SEVERAL, [Part("reuters", 0)])
    wiki = entries(data, OURS_SEVERAL, SEVERAL, [Part(f"wiki-{fold}", 0) for fold in range(N_FOLDS)])
    report.publish(
        "classify",
        "Labels of documents",
        circumstances(len(orders)),
        section("20 Newsgroups", about(corpora["news"], "one label each; without SMART's stop words"), news, "accuracy"),
        section("Two newsgroups", about(corpora["two"], "alt.atheism and talk.religion.misc of the same bags"), two, "accuracy"),
        section("Reuters", about(corpora["reuters"], "the split ModApte, the ten largest topics; an article has none of them, one or several"), reuters, "micro-F1"),
        section("Wikipedia", about(corpora["wiki-0"], "the first of five folds; one to seven labels each; means over folds"), wiki, "micro-F1"),
        settings_of([*SINGLE, *SEVERAL], {"20 Newsgroups": news, "two newsgroups": two, "Reuters": reuters, "Wikipedia": wiki}),
        packages=PACKAGES,
    )


def entries(data: Path, ours: Sequence[Ours], peers: Sequence[Peer], parts: Sequence[Part]) -> list[Entry]:
    """All programs of a table, each by its runs on these parts of a corpus: part by part through all programs, since a machine is not always equally fast."""
    chosen = {peer.name: in_process(chosen_setting, peer.name, parts[0]) for peer in peers}
    runs: dict[str, list[Judged]] = {program.name: [] for program in (*ours, *peers)}
    for at, part in enumerate(parts):
        for kind in ours:
            runs[kind.name].append(own_run(data, kind, part))
        for peer in peers:
            if at == 0 or peer.repeats:
                runs[peer.name].append(in_process(measured, peer.name, chosen[peer.name][0], part))
        print(f"classify: {part.corpus}: {at + 1} of {len(parts)}", flush=True)
    return [
        *(Entry(kind.name, "1", " ".join(kind.settings) or "defaults", runs[kind.name]) for kind in ours),
        *(Entry(peer.name, peer.passes, described(setting) + hindsight, runs[peer.name]) for peer in peers for setting, hindsight in [chosen[peer.name]]),
    ]


def own_run(data: Path, kind: Ours, part: Part) -> Judged:
    train, test = part.read()
    told = classify_data.BAGS / "told.npy"
    answer = rust.classify("learn", data, part.corpus, part.order, told, kind.form, kind.kind, *kind.settings)
    labels = np.zeros(test.labels.shape, bool)
    document, label = np.load(told).astype(int).T
    labels[document, label] = True
    given = Given(labels, answer["train_seconds"], answer["score_seconds"], answer["n_scored"])
    return judged(test, given, len(train), None)


def in_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Works in a process of its own, so that memory is not that of other programs."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def peer_of(name: str) -> Peer:
    return next(peer for peer in (*SINGLE, *SEVERAL) if peer.name == name)


def described(setting: Setting) -> str:
    return ", ".join(f"{name} {value}" for name, value in setting.items())


def chosen_setting(name: str, part: Part) -> tuple[Setting, str]:
    """The setting with the best micro-F1 on training documents set apart, and a word on another that is better in hindsight."""
    peer = peer_of(name)
    if len(peer.settings) == 1:
        return peer.settings[0], ""
    train, test = part.read()
    last = np.arange(len(train)) >= len(train) - len(train) // APART
    learnt, apart = train.chosen(~last), train.chosen(last)

    def worth(train: Documents, test: Documents) -> list[float]:
        return [judged(test, peer.run(train, test, **setting), len(train), None).micro_f1 or 0.0 for setting in peer.settings]

    chosen, scores = int(np.argmax(worth(learnt, apart))), worth(train, test)
    best = int(np.argmax(scores))
    hindsight = f" (in hindsight {described(peer.settings[best])}: {scores[best]:.4f})" if scores[best] > scores[chosen] else ""
    return peer.settings[chosen], hindsight


def measured(name: str, setting: Setting, part: Part) -> Judged:
    train, test = part.read()
    # The documents in every form, so that no program pays for it.
    _ = (train.pairs, test.pairs, train.single, test.single)
    before = reset_peak()
    given = peer_of(name).run(train, test, **setting)
    return judged(test, given, len(train), peak() - before if before is not None else None)


def reset_peak() -> float | None:
    """Makes the largest resident size the present one, in megabytes; None where the system does not do so."""
    if not sys.platform.startswith("linux"):
        return None
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> float:
    """The largest resident size since it was reset, in megabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def judged(test: Documents, given: Given, n_train: int, megabytes: float | None) -> Judged:
    """The one judge of all programs. A label that no document has and none was given does not count."""
    rates = n_train / given.train_seconds, given.n_scored / max(given.score_seconds, 1e-9)
    if given.n_scored < len(test):
        return Judged(None, None, None, *rates, megabytes)
    occurs = (test.labels | given.labels).any(axis=0)
    truth, told = test.labels[:, occurs], given.labels[:, occurs]
    scores = [float(f1_score(truth, told, average=average, zero_division=0)) for average in ("micro", "macro")]
    return Judged(float((truth == told).all(axis=1).mean()), *scores, *rates, megabytes)


def values(runs: Sequence[Judged], measure: str) -> list[float]:
    return [value for judged in runs if (value := getattr(judged, measure)) is not None]


def spread(runs: Sequence[Judged], measure: str) -> str:
    """The mean over orders or folds, and the standard deviation where it is not of one run."""
    found = values(runs, measure)
    if not found:
        return ""
    return f"{fmean(found):.4f}" + (f" ± {stdev(found):.4f}" if len(found) > 1 else "")


def best(runs: Sequence[Judged], measure: str) -> str:
    """The best run: others are slower through other work on the machine."""
    found = values(runs, measure)
    return f"{max(found):,.0f}" if found else ""


def section(title: str, text: str, table: Sequence[Entry], first: str) -> str:
    """A table; `first` is the measure beside macro-F1."""
    head = ["program", "passes", first, "macro-F1", "trained documents per CPU second", "scored per CPU second", "MB"]
    rows = [
        [
            entry.name,
            entry.passes,
            *(spread(entry.runs, measure) for measure in (MEASURES[first], "macro_f1")),
            *(best(entry.runs, measure) for measure in ("train_rate", "score_rate", "megabytes")),
        ]
        for entry in table
    ]
    return f"## {title}\n\n{text}\n\n" + report.table(head, rows)


def about(corpus: dict[str, Any], what: str) -> str:
    return (
        f"{corpus['n_train']:,} documents to learn from, {corpus['n_test']:,} to be judged by, {corpus['n_words']:,} words, "
        f"{corpus['n_tokens']:,} words of text to learn from, {len(corpus['labels'])} labels: {what}."
    )


def circumstances(n_orders: int) -> str:
    return (
        "Everyone starts from the same bags of words (`bench_classify bags`). With one label each, the training documents come in "
        f"{n_orders} random orders, the same for everyone; means and standard deviations are over orders (River, which is slow and does not "
        "depend on the order, learns one of them). Micro-F1 is then the accuracy. With several labels a document is given those whose score is positive, "
        "and micro-F1 counts labels of all documents together, macro-F1 is the mean over labels. One judge for all (`classify.judged`).\n\n"
        "Processor time of one process, one thread for everyone, the best of the runs; order by order, or fold by fold, through all programs, since the machine is not always equally fast. Every run, ours too, is a process of its own that begins without memory. Not counted is what brings the bags into the form that a program reads: a sparse "
        "matrix of counts by word numbers for scikit-learn, for hashing lists of (word, count) with the words as text, dictionaries for River, "
        "lines of text for Vowpal Wabbit. Counted is all that follows: weights of words, hashing, parsing of those lines. So `hashing + PA` is "
        "the yardstick of speed for a stream of words as text; the others with matrices have had their words numbered before. `MB` is how far the resident size of the "
        "process grew while learning and scoring, beyond the bags.\n\n"
        f"Settings are the best of a few by micro-F1 on one in {APART} training documents set apart; they are then used on all. The test documents of 20 Newsgroups are later "
        "than the training documents, and had no part in that choice; River's settings were not tried but set to what did best for scikit-learn's of the same name, and the values to try were set down after a look at test documents. Where another setting would have been better on the test documents, the table at the "
        "end says which, with its micro-F1 there (first order or fold)."
    )


def settings_of(peers: Sequence[Peer], tables: dict[str, Sequence[Entry]]) -> str:
    def chosen(peer: Peer, table: Sequence[Entry]) -> str:
        return next((entry.settings for entry in table if entry.name == peer.name), "")

    rows = [[peer.name, *(chosen(peer, table) for table in tables.values()), peer.about] for peer in peers]
    return "## Settings\n\n" + report.table(["program", *tables, "what it is"], rows)
