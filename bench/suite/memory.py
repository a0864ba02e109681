"""Memory of `bayestream fit` on a long stream from a pipe, and where its time goes when rows are read from CSV."""

import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from suite import report, rust

COMPONENTS = 10
COLUMNS = 10
N_ROWS = 10_000_000
EARLY = 100_000
LOOKS = (EARLY, 1_000_000, 2_000_000, 5_000_000, N_ROWS)
MOST_GROWTH_MB = 20.0
CSV_ROWS = 1_000_000
BATCH = 500
SEED = 1000
PORTION = 1 << 18


@dataclass
class Stream:
    """Rows given to the program, and its resident megabytes at that moment."""

    looks: list[tuple[int, float]] = field(default_factory=list)
    most: float = 0.0
    cpu_seconds: float = 0.0


def run(_data: Path) -> None:
    """Writes bench/results/memory.md."""
    program = rust.command_line()
    if subprocess.run([program, "generate", "--help"], capture_output=True).returncode != 0:
        print("memory: left out, because this build of the command-line tool has no `generate`.")
        return
    with tempfile.TemporaryDirectory() as folder:
        stream = fit_from_pipe(program, Path(folder))
        share = share_of_learning(program, Path(folder))
    early, end = stream.looks[0][1], stream.looks[-1][1]
    verdict = "within" if end - early <= MOST_GROWTH_MB else "NOT within"
    looks = [[f"{n:,}", f"{resident:.1f}"] for n, resident in stream.looks]
    report.publish(
        "memory",
        "Memory",
        f"`bayestream generate ofab -n {N_ROWS} --k {COMPONENTS} --d {COLUMNS} --to csv | bayestream fit - --format csv -o MODEL`: "
        "resident size of `fit` when so many rows have been written to its pipe.",
        report.table(["rows", "resident MB"], looks),
        f"From {EARLY:,} rows to the end it grew by {end - early:.1f} MB, {verdict} the {MOST_GROWTH_MB:.0f} MB allowed; the most it "
        f"ever had was {stream.most:.1f} MB. It took {stream.cpu_seconds:.1f} s of processor time, "
        f"{N_ROWS / stream.cpu_seconds:,.0f} rows per CPU second.",
        "## Where the time goes",
        share,
    )


def generate(program: Path, n: int) -> list[str]:
    size = ["--k", str(COMPONENTS), "--d", str(COLUMNS), "-n", str(n), "--seed", str(SEED)]
    return [str(program), "generate", "ofab", *size, "--to", "csv"]


def fit_from_pipe(program: Path, folder: Path) -> Stream:
    """Stands between the two programs, so as to know how many rows have passed."""
    quiet = {"stderr": subprocess.DEVNULL}
    source = subprocess.Popen(generate(program, N_ROWS), stdout=subprocess.PIPE, **quiet)
    fit = [str(program), "fit", "-", "--format", "csv", "-o", str(folder / "model")]
    sink = subprocess.Popen(fit, stdin=subprocess.PIPE, **quiet)
    stream = Stream()
    n_lines = 0
    wanted = list(LOOKS)
    while portion := source.stdout.read(PORTION):
        sink.stdin.write(portion)
        n_lines += portion.count(b"\n")
        # The header is a line, too.
        while wanted and n_lines > wanted[0]:
            stream.looks.append((wanted.pop(0), megabytes(sink.pid, "VmRSS")))
            stream.most = megabytes(sink.pid, "VmHWM")
    sink.stdin.close()
    _, status, usage = os.wait4(sink.pid, 0)
    sink.returncode = os.waitstatus_to_exitcode(status)
    if source.wait() != 0 or sink.returncode != 0 or wanted:
        raise RuntimeError("generate or fit failed; run them by hand to see why")
    stream.cpu_seconds = usage.ru_utime + usage.ru_stime
    return stream


def megabytes(pid: int, what: str) -> float:
    """A figure of a living process. (What `wait4` says of a dead one includes the program that started it.)"""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


def share_of_learning(program: Path, folder: Path) -> str:
    """Compares `fit` on a CSV file with the library on the same rows in memory."""
    csv, train, test = folder / "rows.csv", folder / "rows.npy", folder / "test.npy"
    subprocess.run([*generate(program, CSV_ROWS), "-o", str(csv)], check=True, stderr=subprocess.DEVNULL)
    rows = np.loadtxt(csv, delimiter=",", skiprows=1)
    np.save(train, rows)
    np.save(test, rows[:BATCH])
    whole, learning = float("inf"), float("inf")
    for _ in range(3):
        whole = min(whole, cpu_seconds_of_fit(program, csv, folder))
        learning = min(learning, rust.call("fit", train, test, BATCH)["cpu_seconds"])
    size = csv.stat().st_size / 1e6
    rest = max(whole - learning, 1e-9)
    return (
        f"`bayestream fit` on a CSV file of {CSV_ROWS:,} rows and {COLUMNS} columns ({size:.0f} MB), batches of {BATCH}, best of "
        f"three: {whole:.2f} s of processor time. The library alone, on the same rows in memory: {learning:.2f} s, "
        f"{100 * learning / whole:.0f} % of it. The rest, reading, parsing and writing the model, is {rest:.2f} s: "
        f"{size / rest:,.0f} MB a second."
    )


def cpu_seconds_of_fit(program: Path, csv: Path, folder: Path) -> float:
    fit = [str(program), "fit", str(csv), "--batch", str(BATCH), "-o", str(folder / "model")]
    process = subprocess.Popen(fit, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError("fit failed on a CSV file; run it by hand to see why")
    return usage.ru_utime + usage.ru_stime
