"""The examples run as a new user would run them, and find what they say."""

import os
import subprocess
import sys

import pytest

from conftest import ROOT

EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


def run(example, *arguments):
    # Warnings are errors: an example that warns is no example.
    command = [sys.executable, "-W", "error::UserWarning", str(example), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def named(name):
    return next(example for example in EXAMPLES if example.stem == name)


def test_there_are_four():
    assert len(EXAMPLES) == 4


def test_clusters_without_k():
    told = run(named("clusters_without_k"))
    assert "after 10,000 rows: 3 clusters of" in told and "after 20,000 rows: 4 clusters of" in told
    assert "far in x1" in told


@pytest.mark.parametrize("has_data", [False, True])
def test_anomalies_in_a_sensor_stream(has_data, tmp_path):
    folder = ROOT.parent / "shared" / "data" if has_data else tmp_path
    if has_data and not (folder / "skab").is_dir():
        pytest.skip("SKAB is not in ../shared/data: only the made-up stream is run")
    told = run(named("anomalies_in_a_sensor_stream"), folder)
    assert ("SKAB from" if has_data else "SKAB is not here") in told
    assert "expected" in told and " alarms, " in told


def test_topics_in_news():
    told = run(named("topics_in_news"))
    line = next(line for line in told.splitlines() if "eclipse" in line or "telescope" in line)
    assert 2900 <= int(line.split()[3]) <= 3500, line


@pytest.mark.parametrize("has_data", [False, True])
def test_text_classification(has_data, tmp_path):
    folder = ROOT.parent / "shared" / "data" if has_data else tmp_path
    if has_data and not (folder / "sms-spam").is_dir():
        pytest.skip("SMS spam is not in ../shared/data: only made-up messages are classified")
    told = run(named("text_classification"), folder)
    assert ("SMS spam from" if has_data else "SMS spam is not here") in told
    assert "is spam, because of" in told
    shares = [float(line.split(": ")[1].split("%")[0]) for line in told.splitlines() if "% of" in line]
    assert len(shares) == 2 and min(shares) > 94.0
