"""What a row costs along a long stream and for models of different sizes."""

from pathlib import Path

from suite import report, rust


def run(_data: Path) -> None:
    """Writes bench/results/growth.md and growth.svg."""
    report.RESULTS.mkdir(exist_ok=True)
    answer = rust.call("growth", report.RESULTS / "growth.svg")
    step = answer["tenth_rows"]
    stream = [[f"{ix * step:,} to {(ix + 1) * step:,}", f"{ns:,.0f}"] for ix, ns in enumerate(answer["tenths_ns"])]
    start = f"first {answer['start_rows']:,} rows, ns a row"
    head = ["components", "columns", "found", "held", start, f"next {answer['settled_rows']:,} rows, ns a row", "ns a row, component held and column"]
    sizes = [
        [
            str(size["k"]),
            str(size["d"]),
            str(size["k_found"]),
            str(size["k_held"]),
            f"{size['start_ns']:,.0f}",
            f"{size['settled_ns']:,.0f}",
            f"{size['settled_ns'] / (size['k_held'] * size['d']):.1f}",
        ]
        for size in [*answer["by_components"], *answer["by_columns"]]
    ]
    report.publish(
        "growth",
        "Cost of a row",
        f"`gmm/ofab` with default settings, batches of {answer['batch']}, rows from memory, one thread, processor time, best of "
        f"{answer['repeats']}.",
        "![cost of a row along the stream, against components and against columns](growth.svg)",
        "## Along the stream: 10 components, 10 columns",
        report.table(["rows", "ns a row"], stream),
        "## Against the size of the model",
        report.table(head, sizes),
    )
