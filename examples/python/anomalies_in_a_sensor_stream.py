"""Anomalies in a sensor stream: every row is judged, then learnt, and an alarm says which sensor it is about.

    python examples/python/anomalies_in_a_sensor_stream.py [FOLDER]

FOLDER holds the data set SKAB as `skab/skab.csv.gz` (default: `../shared/data` beside the repository). Without it the
stream is made up.
"""

import csv
import gzip
import pathlib
import sys

import numpy as np

from bayestream import StreamingOutlierDetector

HERE = pathlib.Path(__file__).resolve()
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parents[3] / "shared" / "data")
SENSORS = "accelerometer1_rms accelerometer2_rms current pressure temperature thermocouple voltage volume_flow_rate_rms".split()


def skab(path):
    """The rows of the testbed in their order, and which of them are anomalous."""
    with gzip.open(path, "rt", newline="") as file:
        lines = list(csv.DictReader(file))
    rows = np.array([[float(line[sensor] or "nan") for sensor in SENSORS] for line in lines])
    return rows, np.array([line["anomaly"] in ("1", "1.0") for line in lines])


def made_up(n=20_000, seed=0):
    """Eight sensors of a plant with two ways of running; some rows in a thousand have one wrong reading."""
    rng = np.random.default_rng(seed)
    load = rng.random(n) < 0.5
    common = rng.normal(size=(n, 1))
    rows = 5.0 * load[:, None] + common + 0.5 * rng.normal(size=(n, 8))
    wrong = rng.random(n) < 0.003
    rows[wrong, rng.integers(8, size=n)[wrong]] += 8.0
    return rows, wrong


path = folder / "skab" / "skab.csv.gz"
if path.is_file():
    print(f"SKAB from {path.name}: a water-circulation testbed")
    rows, truth = skab(path)
else:
    print(f"SKAB is not here ({path.name} is not in the folder): the stream is made up")
    rows, truth = made_up()

model = StreamingOutlierDetector(alarm_rate=0.003)
alarms, n_named = [], 0
for first in range(0, len(rows), 500):
    batch = rows[first : first + 500]
    told = model.watch(batch)
    for at in np.flatnonzero(told["alarm"]):
        alarms.append(first + at)
        if n_named < 5:
            reason = model.reasons(batch[at : at + 1])[0][0]
            sensor = SENSORS[int(reason["column"][1:]) - 1]
            n_named += 1
            print(f"row {first + at + 1:>6,}: p-value {told['p_value'][at]:.1e}, {sensor} {reason['observed']:.2f},"
                  f" expected {reason['expected']:.2f}")  # fmt: skip

right = truth[alarms].sum()
print(f"{len(rows):,} rows, {truth.sum():,} of them anomalous; {len(alarms)} alarms, {right} of them on anomalous rows")
for drift in model.drift_alarms_[:3]:
    print(f"the stream changed at row {drift['row']:,}: {drift['what']}")
