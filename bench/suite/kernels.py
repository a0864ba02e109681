"""The numeric kernels, as a share of the multiply-add rate of this machine."""

from pathlib import Path

from suite import report


def run(_data: Path) -> None:
    """Writes bench/results/kernels.md."""
    printed = report.answer("cargo", "bench", "--quiet", "-p", "bayestream", "--bench", "kernels")
    report.publish("kernels", "Kernels", "Least time of many repeats, one thread.", f"```text\n{printed}\n```")
