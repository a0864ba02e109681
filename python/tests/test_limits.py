"""Memory that a model may take, and Ctrl-C while it fits."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from bayestream import LatentFeatures, StreamingDPMM, StreamingGMM, StreamingMPPCA, StreamingOutlierDetector


@pytest.mark.parametrize("estimator", [StreamingGMM, StreamingMPPCA, StreamingDPMM, StreamingOutlierDetector, LatentFeatures])
def test_columns_that_would_need_more_memory_are_refused_at_once(estimator):
    rows = np.zeros((2, 200_000))
    with pytest.raises(ValueError, match=r"200000 columns would need about .* enough for \d+ columns.*memory_limit"):
        estimator().fit(rows)
    small = np.random.default_rng(0).normal(size=(300, 3))
    with pytest.raises(ValueError, match="3 columns"):
        estimator(memory_limit="100").fit(small)
    with pytest.raises(ValueError, match="memory_limit=lots: expected a size"):
        estimator(memory_limit="lots").fit(small)
    # The limit leaves no trace.
    assert estimator(memory_limit="64GB").fit(small).to_bytes() == estimator(memory_limit=10**9).fit(small).to_bytes()


LONG_FITS = {
    "gmm/fab": "StreamingGMM(kind='gmm/fab', settings={'start-components': 200})",
    "lfm/ibp": "LatentFeatures(kind='lfm/ibp', settings={'sweeps': 100_000})",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as Unix does")
@pytest.mark.parametrize("fits", ["model.fit(rows)", "model.partial_fit(rows).score_samples(rows[:1])"])
@pytest.mark.parametrize("kind", LONG_FITS)
def test_an_interrupt_ends_a_long_fit(kind, fits):
    script = f"""
import numpy as np
from bayestream import LatentFeatures, StreamingGMM
rows = np.random.default_rng(0).normal(size=(200_000, 10)) + np.arange(10) * (np.arange(200_000)[:, None] % 5)
model = {LONG_FITS[kind]}
print("ready", flush=True)
try:
    {fits}
except KeyboardInterrupt:
    print("interrupted", model.n_seen_, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(2)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    # Generous, for busy machines: the fit would take a minute.
    assert time.monotonic() - asked < 5
    assert (said, process.returncode) == ("interrupted 200000\n", 0)


def test_few_rows_are_scored_by_every_kind():
    rows = np.random.default_rng(0).normal(size=(5, 30))
    for estimator in (StreamingGMM, StreamingMPPCA, StreamingDPMM):
        for some in (rows[:1], rows):
            assert np.isfinite(estimator().fit(some).score_samples(rows)).all()
    assert np.isfinite(StreamingOutlierDetector().fit(rows).judge(rows)["log_density"]).all()
