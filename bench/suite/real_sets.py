"""Held-out densities on many real sets, in strange orders, and after few rows."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn import datasets

from suite import report
from suite.python import install
from suite.real_rows import (
    JITTER,
    MOST,
    ORDERS_OF_LARGE,
    ORDERS_OF_SMALL,
    RIDGE,
    SIZES,
    SMALL,
    Rows,
    best_mixture,
    comparable,
    gaussian,
    n_orders,
    parted,
    read,
    sets,
    shuffled,
)

BATCH = 100
KINDS = ("gmm", "mppca", "dpmm")
#: Nats a row that the best mixture may be ahead, with many rows a column and with fewer.
MANY, NEAR, LESS_NEAR = 50, 0.1, 0.3
#: No row of any order should have a density below this.
ABSURD = -1000.0
#: First rows after which the next are scored.
FIRST, NEXT = (3, 4, 8, 16, 32, 64), 20
FEW = ("iris", "wine", "pima", "digits, 20 axes")
#: Rows of the table with a counter, how many of them share a day, and the share of them that lies ahead.
COUNTED, A_DAY, AHEAD = 2_000, 5, 0.3


@dataclass(frozen=True)
class Held:
    """What was held out of one order of a set, by kind."""

    one: float
    best: float
    means: dict[str, float]
    worst: dict[str, float]


def scores(kind: str, train: Rows, test: Rows) -> Rows:
    """Log-densities by a kind of ours with its defaults, given rows in batches."""
    from bayestream import StreamingDPMM, StreamingGMM, StreamingMPPCA

    model = {"gmm": StreamingGMM, "mppca": StreamingMPPCA, "dpmm": StreamingDPMM}[kind]()
    for first in range(0, len(train), BATCH):
        model.partial_fit(train[first : first + BATCH])
    return model.score_samples(test)


def measured(train: Rows, test: Rows) -> Held:
    found = {kind: scores(kind, train, test) for kind in KINDS}
    one = float(gaussian(train, test).mean())
    means = {kind: float(values.mean()) for kind, values in found.items()}
    return Held(one, best_mixture(train, test)[0], means, {kind: float(values.min()) for kind, values in found.items()})


def sections(data: Path) -> list[str]:
    """Installs the package and measures."""
    install()
    return [many_sets(data), strange_orders(data), first_rows(data)]


def many_sets(data: Path) -> str:
    means, margins = [], []
    ahead = {kind: [0, 0] for kind in KINDS}
    n_all = 0
    for name, load in sets(data).items():
        start = time.monotonic()
        rows = load()
        parts = [parted(comparable(rows, order)) for order in range(n_orders(rows))]
        held = [measured(*part) for part in parts]
        n, d = parts[0][0].shape
        slack = NEAR if n >= MANY * d else LESS_NEAR
        n_all += len(held)
        for kind in KINDS:
            ahead[kind][0] += sum(h.means[kind] >= h.one for h in held)
            ahead[kind][1] += sum(h.means[kind] >= h.best - slack for h in held)
        size = f"{n:,} x {d}"
        middle = [np.mean([h.one for h in held]), np.mean([h.best for h in held])]
        means.append([name, size, *(f"{v:.2f}" for v in middle), *(f"{np.mean([h.means[k] for h in held]):.2f}" for k in KINDS)])
        over_one = [min(h.means[k] - h.one for h in held) for k in KINDS]
        over_best = [min(h.means[k] - h.best for h in held) for k in KINDS]
        worst = [min(h.worst[k] for h in held) for k in KINDS]
        line = [*(marked(v, 0.0, ".2f") for v in over_one), *(marked(v, -slack, ".2f") for v in over_best)]
        margins.append([name, str(len(held)), *line, *(marked(v, ABSURD, ",.0f") for v in worst)])
        print(f"real: {name}: {time.monotonic() - start:.0f} s: {', '.join(line)}", flush=True)
    totals = [[f"`{kind}`", *(f"{n} of {n_all}" for n in ahead[kind])] for kind in KINDS]
    kinds = [f"`{kind}`" for kind in KINDS]
    text = (
        f"Columns are divided by their standard deviations, and every cell gets noise of {JITTER}, so that densities of columns "
        f"with few values compare. A fifth of at most {MOST:,} rows is held out; {ORDERS_OF_SMALL} orders of sets below {SMALL:,} "
        f"rows, {ORDERS_OF_LARGE} of others. Ours have default settings and get rows in batches of {BATCH}. `one Gaussian` has the "
        f"covariance of Ledoit and Wolf; `best mixture` is scikit-learn's GaussianMixture, full, `reg_covar={RIDGE}`, with the best "
        f"of {', '.join(map(str, SIZES))} components, chosen **on the held-out rows**. `near` allows it to be {NEAR} nats ahead "
        f"where rows are {MANY} times the columns or more, and {LESS_NEAR} elsewhere."
    )
    of_margins = (
        "The worst order of each set: nats a row over one Gaussian and over the best mixture, and the log-density of the worst "
        "single row. Bold misses the targets: never below one Gaussian, near the best mixture, no row below "
        f"{ABSURD:,.0f}."
    )
    over = [f"over {rival}, {kind}" for rival in ("one", "best") for kind in kinds]
    return "\n\n".join(
        [
            f"## Many sets\n\n{text}",
            report.table(["kind", "orders not below one Gaussian", "orders near the best mixture"], totals),
            "Means over orders, nats a row:",
            report.table(["set", "rows x columns", "one Gaussian", "best mixture", *kinds], means),
            of_margins,
            report.table(["set", "orders", *over, *(f"worst row, {kind}" for kind in kinds)], margins),
        ]
    )


def marked(value: float, least: float, style: str) -> str:
    told = format(value, style)
    return told if value >= least else f"**{told}**"


def strange_orders(data: Path) -> str:
    lines = []
    for name, parts in strange(data).items():
        pairs = [parts(order) for order in range(ORDERS_OF_LARGE)]
        found = [[gaussian(*pair) for pair in pairs], *([scores(kind, *pair) for pair in pairs] for kind in KINDS)]
        told = [f"{np.mean([v.mean() for v in values]):,.1f} ({marked(min(v.min() for v in values), ABSURD, ',.0f')})" for values in found]
        lines.append([name, "{:,} x {}".format(*pairs[0][0].shape), *told])
        print(f"real: {', '.join(lines[-1])}", flush=True)
    text = (
        f"Values as they are, without noise; means over {ORDERS_OF_LARGE} orders, and in brackets the worst single row of all, bold "
        f"below {ABSURD:,.0f}. The counter numbers days, {A_DAY} rows each, beside two Gaussian columns; the last "
        f"{AHEAD:.0%} of {COUNTED:,} rows are held out, so that their days were never seen."
    )
    head = ["rows", "rows x columns", "one Gaussian", *(f"`{kind}`" for kind in KINDS)]
    return f"## Raw values, strange orders\n\n{text}\n\n" + report.table(head, lines)


def strange(data: Path) -> dict[str, Callable[[int], tuple[Rows, Rows]]]:
    """Rows to learn from and to test on, by order."""
    digits, labels = datasets.load_digits(return_X_y=True)

    def sorted_digits(order: int) -> tuple[Rows, Rows]:
        train, test = parted(np.random.default_rng(order).permutation(len(digits)))
        return digits[train[np.argsort(labels[train], kind="stable")]], digits[test]

    def unseen(order: int) -> tuple[Rows, Rows]:
        return shuffled(digits[labels != order], order), digits[labels == order]

    def counter(order: int) -> tuple[Rows, Rows]:
        normal = np.random.default_rng(order).normal(size=(COUNTED, 2))
        rows = np.column_stack([np.arange(COUNTED) // A_DAY, normal])
        n_train = round((1.0 - AHEAD) * COUNTED)
        return rows[:n_train], rows[n_train:]

    def raw(name: str) -> Callable[[int], tuple[Rows, Rows]]:
        rows = read(data / "anomaly" / "choosing" / f"{name}.csv.gz")
        return lambda order: parted(shuffled(rows, order))

    return {
        "digits": lambda order: parted(shuffled(digits, order)),
        "digits, sorted by class": sorted_digits,
        "digits, tested on a class not seen": unseen,
        "spambase": raw("spambase"),
        "musk": raw("musk"),
        "counter of days": counter,
    }


def first_rows(data: Path) -> str:
    known = sets(data)
    lines = []
    for name in FEW:
        rows = known[name]()
        for first in FIRST:
            halves = [np.split(comparable(rows, order)[: first + NEXT], [first]) for order in range(ORDERS_OF_SMALL)]
            one = [gaussian(*pair).mean() for pair in halves]
            ours = [[scores(kind, *pair).mean() for pair in halves] for kind in KINDS]
            margins = [marked(min(np.subtract(values, one)), 0.0, ",.2f") for values in ours]
            lines.append([name, str(first), f"{np.mean(one):,.1f}", *(f"{np.mean(values):.1f}" for values in ours), *margins])
        print(f"real: first rows of {name}", flush=True)
    text = (
        f"Nats a row of the next {NEXT} rows after so many, means over {ORDERS_OF_SMALL} orders, prepared as above; and the least "
        "margin over one Gaussian among the orders, bold where it is below."
    )
    kinds = [f"`{kind}`" for kind in KINDS]
    head = ["set", "rows", "one Gaussian", *kinds, *(f"least margin, {kind}" for kind in kinds)]
    return f"## First rows\n\n{text}\n\n" + report.table(head, lines)
