"""The package itself: small, typed, and without need of scikit-learn."""

import importlib.metadata
import pathlib
import subprocess
import sys

import pytest

import bayestream

PACKAGE = pathlib.Path(bayestream.__file__).parent

WITHOUT = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("sklearn", "scipy", "pandas", "polars", "river", "matplotlib", "joblib"):
            raise ImportError(f"{name} is not here")

sys.meta_path.insert(0, Refuse())
import copy
import numpy as np
import bayestream

rows = np.random.default_rng(0).normal(size=(600, 2))
model = bayestream.StreamingGMM(random_state=3).fit(rows)
assert model.n_components_ == 1, model.n_components_
assert repr(model) == "StreamingGMM(random_state=3)", repr(model)
assert copy.deepcopy(model).to_bytes() == model.to_bytes()
assert bayestream.StreamingGMM(**model.get_params()).set_params(batch_size=7).batch_size == 7
assert bayestream.StreamingOutlierDetector().fit_predict(rows).shape == (600,)
labels = np.where(rows[:, 0] > 0, "up", "down")
assert bayestream.StreamingLinearClassifier().fit(rows, labels).score(rows, labels) > 0.9
assert bayestream.StreamingLinearRegressor().fit(rows, rows @ [1.0, 2.0]).score(rows, rows @ [1.0, 2.0]) > 0.9
assert bayestream.LatentFeatures().fit_transform(rows).shape[0] == 600
try:
    bayestream.StreamingGMM().predict(rows)
except ValueError as error:
    assert isinstance(error, AttributeError) and "not fitted yet" in str(error)
print("whole")
"""


def test_it_works_with_numpy_alone():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.stdout == "whole\n", done.stderr


def test_the_requirements_are_few():
    needed = [text for text in importlib.metadata.requires("bayestream") if "extra ==" not in text]
    assert len(needed) == 1 and needed[0].startswith("numpy")


def test_it_is_typed():
    assert (PACKAGE / "py.typed").is_file()
    stub = (PACKAGE / "_bayestream.pyi").read_text()
    from bayestream import _bayestream

    for name in ("Mixture", "Features", "Documents", "Linear"):
        assert f"class {name}:" in stub
        for method in vars(getattr(_bayestream, name)):
            if not method.startswith("_"):
                assert f"def {method}(" in stub, f"{name}.{method} is not in the stub"
    for name in ("kinds", "settings_of", "sort_of", "header", "columns_of_stream"):
        assert f"def {name}(" in stub


@pytest.mark.parametrize("name", bayestream.__all__)
def test_everything_public_is_documented(name):
    thing = getattr(bayestream, name)
    assert thing.__doc__ and ">>>" in thing.__doc__ or name == "load"
    for method, found in vars(thing).items() if isinstance(thing, type) else ():
        if not method.startswith("_") and (callable(found) or isinstance(found, property)):
            assert found.__doc__, f"{name}.{method}"
