"""Change points of SKAB: our drift alarms beside River's ADWIN and KSWIN on our log-scores."""

import csv
import subprocess
import tempfile
from pathlib import Path

from river import drift

from suite import report, rust

TOLERANCE = 60


def detections(detector: drift.ADWIN | drift.KSWIN, scores: list[float]) -> list[int]:
    """Rows, from one, at which a detector reports a change; rows without a score are left out."""
    rows = []
    for row, score in enumerate(scores, start=1):
        if score == score:
            detector.update(score)
            if detector.drift_detected:
                rows.append(row)
    return rows


def verdict(name: str, alarms: list[int], changes: list[int], starts: list[int]) -> list[str]:
    """Alarms soon after a change are right; those soon after the start of an experiment are left out."""

    def follows(alarm: int, points: list[int]) -> bool:
        return any(point <= alarm <= point + TOLERANCE for point in points)

    right = sum(follows(alarm, changes) for alarm in alarms)
    at_start = sum(follows(alarm, starts) and not follows(alarm, changes) for alarm in alarms)
    found = sum(any(change <= alarm <= change + TOLERANCE for alarm in alarms) for change in changes)
    counted = len(alarms) - at_start
    precision = f"{right / counted:.2f}" if counted else "n/a"
    return [name, str(len(alarms)), str(at_start), precision, f"{found / len(changes):.2f}"]


def run(data: Path) -> None:
    """Writes bench/results/skab.md."""
    with tempfile.TemporaryDirectory() as folder:
        command = [rust.command_line(), "reproduce", "outliers/skab", "--data", data, "--out", folder, "--quiet"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        with open(Path(folder) / "outliers-skab-scores.csv", newline="") as file:
            lines = list(csv.DictReader(file))
    scores = [float(line["log_density"]) for line in lines]
    marked = {name: [int(line["row"]) for line in lines if line[name] == "1"] for name in ("drift", "changepoint", "start")}
    changes, starts = marked["changepoint"], marked["start"]
    rows = [
        verdict("bayestream", marked["drift"], changes, starts),
        verdict("River ADWIN", detections(drift.ADWIN(), scores), changes, starts),
        verdict("River KSWIN", detections(drift.KSWIN(seed=1), scores), changes, starts),
    ]
    report.publish(
        "skab",
        "Change points of SKAB",
        f"{len(lines):,} rows of {len(starts) + 1} experiments as one stream, {len(changes)} changes (change points within "
        f"{TOLERANCE} rows of each other are one). An alarm is right within {TOLERANCE} rows after a change, and is left out "
        "when it comes as soon after the start of an experiment. River's detectors, with their defaults, see the log-score of "
        "each row under `gmm` before it is learnt; ours sees the rows.",
        report.table(["detector", "alarms", "at a start", "precision", "recall"], rows),
    )
