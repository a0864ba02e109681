"""Topics of 20 Newsgroups: one pass of ours beside other programs, all judged by one scorer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from suite import report, rust
from suite.topic_peers import ALPHA, ETA, FEW, GRID, SWEEPS, Bags, Learnt, Peer, Tunable, described, tuned_peers

NEEDED = ("20newsgroups/raw-train.ndjson.gz", "20newsgroups/raw-test.ndjson.gz", "20newsgroups/stopwords-smart.txt")
PACKAGES = ("numpy", "scikit-learn", "gensim", "tomotopy")
BAGS = rust.ROWS / "topics"
OURS, OURS_FEW = "bayestream", f"bayestream, at most {FEW} topics"


@dataclass(frozen=True)
class Judged:
    """What a program learnt, order by order."""

    passes: int
    each: list[dict[str, float]]
    twins: float
    cpu_seconds: list[float]

    def mean(self, measure: str) -> float:
        return fmean(run[measure] for run in self.each)


def run(data: Path) -> None:
    """Writes bench/results/topics.md."""
    missing = [name for name in NEEDED if not (data / name).is_file()]
    if missing:
        print(f"topics: left out, because {data} has no {', '.join(missing)}; point --data at the folder of the data sets.")
        return
    BAGS.mkdir(parents=True, exist_ok=True)
    corpus = rust.topics("bags", data, BAGS)
    orders = range(corpus["n_orders"])
    bags = [Bags(np.load(BAGS / f"train-{order}.npy"), corpus["n_words"]) for order in orders]
    tried: dict[str, dict[str, float]] = {}

    def best_of(name: str, learn: Tunable) -> dict[str, float]:
        scores = [judged(name, 1, [keep(learn(bags[0], 0, **setting), 0)]).mean("perplexity") for setting in GRID]
        tried[name] = {described(setting): score for setting, score in zip(GRID, scores, strict=True)}
        return GRID[int(np.argmin(scores))]

    programs: dict[str, Judged] = {}
    for name, most in ((OURS, []), (OURS_FEW, [FEW])):
        programs[name] = judged(name, 1, [ours(order, most) for order in orders])
    peers = tuned_peers(best_of)
    for peer in peers:
        programs[peer.name] = judged(peer.name, peer.passes, [keep(peer.run(bags[order], order), order) for order in orders])
    report.publish(
        "topics",
        "Topics",
        circumstances(corpus, peers),
        targets(programs, corpus),
        table(programs, corpus),
        each_order(programs),
        tuning(tried),
        packages=PACKAGES,
    )


def files(order: int) -> tuple[Path, Path]:
    return BAGS / f"topics-{order}.npy", BAGS / f"alpha-{order}.npy"


def ours(order: int, most: Sequence[int]) -> tuple[int, float]:
    return order, rust.topics("learn", BAGS, order, *files(order), *most)["cpu_seconds"]


def keep(learnt: Learnt, order: int) -> tuple[int, float]:
    """Writes what a program learnt for the scorer."""
    topics, alpha = files(order)
    np.save(topics, np.ascontiguousarray(learnt.topics, dtype=np.float64))
    np.save(alpha, np.asarray(learnt.alpha, dtype=np.float64)[np.newaxis])
    return order, learnt.cpu_seconds


def judged(name: str, passes: int, runs: Sequence[tuple[int, float]]) -> Judged:
    answer = rust.topics("score", BAGS, *(file for order, _ in runs for file in files(order)))
    result = Judged(passes, answer["each"], answer["twins"], [seconds for _, seconds in runs])
    print(f"topics: {name}: perplexity {result.mean('perplexity'):.0f}, {fmean(result.cpu_seconds):.1f} s", flush=True)
    return result


def circumstances(corpus: dict[str, Any], peers: Sequence[Peer]) -> str:
    settings = "\n".join(f"- {peer.name}: {peer.settings}." for peer in peers)
    return (
        f"20 Newsgroups without headers, signatures and quotes: {corpus['n_train']:,} documents to learn from, {corpus['n_tokens']:,} words, "
        f"of which the {corpus['n_words']:,} most frequent of the training documents are known. The library's text pipeline makes the bags of "
        f"words (plain letters, three at least, without stop words: SMART's list, shortened), and everyone gets the same bags in the same order, for "
        f"{corpus['n_orders']} random orders. Ours is `topics/mm-hdp` with default settings, one pass, number of topics unknown, and once "
        f"more with at most {FEW}. Its settings were chosen by the {corpus['n_test']:,} test documents and these orders; the "
        f"{corpus['n_fresh']:,} other test documents (`fresh`) had no part in that. Those that take priors start from {ALPHA} for each topic of a "
        f"document and {ETA} for each word of a topic. tomotopy is no streaming program: {SWEEPS} sweeps of Gibbs sampling over all documents.\n\n"
        "One scorer judges all (`bench_topics score`, the library's `metrics`): every program hands over its words of topics and its weights of "
        "topics in a document of which nothing is known. `perplexity` is of the second half of the words of each test document, given the "
        "first half, by 50 rounds of EM for the document's shares under those weights; `flat` the same with a weight of "
        f"{ALPHA} for every topic. A topic is live when it has more than 0.2 % of the words, given to topics by the same fold-in; NPMI is "
        "the coherence of the ten likeliest words of each live topic, counted in the training documents. Live in training documents is what "
        "the target means (a program that has K topics shows them all); live in test documents leaves out topics of single long posts, whose "
        "words always go together. `twins` is the share of live topics that overlap one of another order by more than 0.7 (Bhattacharyya "
        "coefficient); it does not rank programs, since topics that are all close to the frequencies of words are each other's twins, as gensim's "
        "are (NPMI tells), and topics without smoothing, as Gibbs sampling leaves them, overlap little. Processor time of learning, one thread, means over orders; handing over documents is not counted. Settings of the others:\n\n" + settings
    )


def targets(programs: dict[str, Judged], corpus: dict[str, Any]) -> str:
    own, few = programs[OURS], programs[OURS_FEW]

    def line(wanted: str, found: float, digits: int, reached: bool) -> list[str]:
        return [wanted, f"{found:,.{digits}f}", "yes" if reached else "**no**"]

    rate = corpus["n_train"] / fmean(own.cpu_seconds)
    rows = [
        line("perplexity at most 1,900, mean over orders", own.mean("perplexity"), 0, own.mean("perplexity") <= 1900),
        line("the same on fresh documents", own.mean("perplexity_fresh"), 0, own.mean("perplexity_fresh") <= 1900),
        line("NPMI at least 0.30, live in training documents", own.mean("npmi"), 3, own.mean("npmi") >= 0.3),
        line("the same, live in test documents", own.mean("npmi_tested"), 3, own.mean("npmi_tested") >= 0.3),
        line("10,000 documents per CPU second", rate, 0, rate >= 10_000),
        line(f"at most {FEW} topics, flat weights: perplexity at most 2,220", few.mean("perplexity_flat"), 0, few.mean("perplexity_flat") <= 2220),
    ]
    return "## Targets\n\n" + report.table(["wanted", "found", "reached"], rows)


# Head, name of the measure, digits, and whether the best is the largest (None: nothing to be best at).
MEASURES: tuple[tuple[str, str, int, bool | None], ...] = (
    ("perplexity", "perplexity", 0, False),
    ("flat", "perplexity_flat", 0, False),
    ("fresh", "perplexity_fresh", 0, False),
    ("NPMI", "npmi", 3, True),
    ("live", "n_live", 0, None),
    ("NPMI, live in test", "npmi_tested", 3, True),
    ("live in test", "n_live_tested", 0, None),
    ("topics", "n_topics", 0, None),
)


def table(programs: dict[str, Judged], corpus: dict[str, Any]) -> str:
    columns = [column([judged.mean(measure) for judged in programs.values()], digits, largest) for _, measure, digits, largest in MEASURES]
    columns.append(column([100 * judged.twins for judged in programs.values()], 0, None))
    columns.append(column([fmean(judged.cpu_seconds) for judged in programs.values()], 2, False))
    columns.append(column([corpus["n_train"] / fmean(judged.cpu_seconds) for judged in programs.values()], 0, True))
    rows = [
        [name, str(judged.passes), *(cells[at] for cells in columns)] for at, (name, judged) in enumerate(programs.items())
    ]
    rows.append(["word frequencies", "", f"{corpus['unigram']:,.0f}", "", f"{corpus['unigram_fresh']:,.0f}"] + [""] * 8)
    head = ["program", "passes", *(head for head, *_ in MEASURES), "twins, %", "CPU seconds", "documents per CPU second"]
    return "## All programs\n\nMeans over orders; the best of each column in bold.\n\n" + report.table(head, rows)


def column(values: Sequence[float], digits: int, largest: bool | None) -> list[str]:
    """Printed values, those equal to the best one as printed in bold."""
    printed = [f"{value:,.{digits}f}" for value in values]
    if largest is None:
        return printed
    best = printed[int(np.argmax(values) if largest else np.argmin(values))]
    return [f"**{cell}**" if cell == best else cell for cell in printed]


def each_order(programs: dict[str, Judged]) -> str:
    def cells(judged: Judged, measure: str, form: Callable[[float], str]) -> str:
        return " ".join(form(run[measure]) for run in judged.each)

    rows = [
        [
            name,
            cells(judged, "perplexity", "{:.0f}".format),
            cells(judged, "perplexity_flat", "{:.0f}".format),
            cells(judged, "perplexity_fresh", "{:.0f}".format),
            cells(judged, "npmi", "{:.3f}".format),
            cells(judged, "n_live", "{:.0f}".format),
            " ".join(f"{seconds:.2f}" for seconds in judged.cpu_seconds),
        ]
        for name, judged in programs.items()
    ]
    return "## Each order\n\n" + report.table(["program", "perplexity", "flat", "fresh", "NPMI", "live", "CPU seconds"], rows)


def tuning(tried: dict[str, dict[str, float]]) -> str:
    names = list(tried)
    rows = [[described(setting), *(f"{tried[name][described(setting)]:,.0f}" for name in names)] for setting in GRID]
    note = (
        f"Perplexity of the first order for the programs whose steps can be set, K = {FEW}. The best setting by this, the score itself, is the "
        "one above: they are given what ours has, settings chosen by the test documents."
    )
    return f"## Settings tried\n\n{note}\n\n" + report.table(["setting", *names], rows)
