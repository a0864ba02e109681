"""Tables in Markdown, with what one needs to know to believe them."""

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from suite.rust import REPOSITORY

RESULTS = REPOSITORY / "bench" / "results"
PACKAGES = ("numpy", "scikit-learn", "river")


def answer(*command: str) -> str:
    """What a program prints."""
    return subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def source() -> str:
    """The commit that is measured, and whether the sources differ from it."""
    changed = answer("git", "status", "--porcelain", "--untracked-files=no", "--", "crates")
    return answer("git", "rev-parse", "--short", "HEAD") + (" with changes" if changed else "")


# Asked at the start: the working tree may move on while a long benchmark runs.
SOURCE = source()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are aligned to the right."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def publish(name: str, title: str, *parts: str, packages: Sequence[str] = PACKAGES) -> None:
    """Prints a report and writes it to bench/results."""
    text = "\n\n".join([f"# {title}", f"`bench/run {name}`. {circumstances(packages)}", *parts]) + "\n"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text)
    print(text)


def circumstances(names: Sequence[str]) -> str:
    """The machine, the versions, and how busy the machine was."""
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    rustc = answer("rustc", "--version").split(" (")[0]
    load = os.getloadavg()[0]
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, commit {SOURCE}; {processor()}, {os.cpu_count()} processors, {platform.system()}; "
        f"{rustc}, Python {platform.python_version()}, {packages}. Load of the machine at the end: {load:.1f}."
    )


def processor() -> str:
    """The processor's name where the system tells it."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
