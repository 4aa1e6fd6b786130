"""Machines of any kind by kernel matrices have the bits of separate fits."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from test_svm import many, needs_compiler

from heldout.spaces.submodels import SeparateFitsError, family_of, svm


def attributes(machine: Any) -> list[Any]:
    names = ("support_", "_n_support", "_dual_coef_", "_intercept_", "_num_iter", "fit_status_")
    return [np.asarray(getattr(machine, name)) for name in names]


def draw(random: np.random.Generator) -> tuple[Any, list[dict[str, Any]], Any, Any, Any, Mapping[str, Any]]:
    """A machine, values, training rows with a target, rows to predict, parameters of fit."""
    n, n_columns = int(random.integers(8, 70)), int(random.integers(1, 101))
    X = random.normal(size=(n + 7, n_columns))
    X = {
        "plain": X,
        "copies": X[random.integers(0, n // 3 + 1, size=len(X))],
        "scales": X * 10.0 ** random.uniform(-6, 6, size=n_columns),
        "integers": np.round(X),
        "far": X * 1e5 + 1e6,
        "Fortran": np.asfortranarray(X),
        "float32": X.astype(np.float32),
    }[random.choice(["plain", "copies", "scales", "integers", "far", "Fortran", "float32"])]
    machine = [SVC, NuSVC, SVR, NuSVR][random.integers(4)](
        kernel=random.choice(["rbf", "rbf", "linear", "poly", "sigmoid"]),
        tol=10.0 ** random.uniform(-5, -2),
        shrinking=bool(random.integers(2)),
        max_iter=int(random.choice([40, 5000])),
    )
    y = random.normal(size=n)
    if isinstance(machine, SVC | NuSVC):
        y = random.integers(0, random.integers(2, 4), size=n) + (y > 0)
        machine.set_params(decision_function_shape=random.choice(["ovo", "ovr"]))
        machine.set_params(class_weight=[None, "balanced"][random.integers(2)])
    family = family_of(machine)
    assert family is not None
    offered = {
        "C": list(10.0 ** random.uniform(-3, 6, size=3)),
        "nu": list(random.uniform(0.05, 0.8, size=3)),
        "epsilon": [0.0, 0.3],
        "gamma": ["scale", "auto", 10.0 ** random.uniform(-5, 2)],
        "degree": [1, 3, 4],
        "coef0": [0.0, float(random.normal())],
    }
    values = [{name: random.choice(offered[name]) for name in family.parameters} for _ in range(4)]
    values = [value | {"gamma": offered["gamma"][random.integers(3)]} for value in values]
    weights = {"sample_weight": random.uniform(0.1, 3.0, size=n)} if random.integers(2) else {}
    return machine, values, X[:n], y, X[n:], weights


@needs_compiler
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(200))
def test_every_machine_has_the_bits_of_a_separate_fit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svm, "_is_worth_a_matrix", lambda *_: True)
    machine, values, X, y, X_new, weights = draw(np.random.default_rng(seed))
    try:
        found = many(machine, values, X, y, **weights)
    except (SeparateFitsError, ValueError):  # a kernel overflows, or libsvm refuses the first value
        return
    by_number = {number: one for machines in found.machines.values() for number, one in machines.items()}
    responses = ["predict", "decision_function"] if isinstance(machine, SVC | NuSVC) else ["predict"]
    predictions = {response: found.predict_many(X_new, response) for response in responses}
    for number, value in enumerate(values):
        try:
            alone = clone(machine).set_params(**value).fit(X, y, **weights)
        except ValueError:
            assert number not in by_number
            continue
        for ours, theirs in zip(attributes(by_number[number]), attributes(alone), strict=True):
            assert np.array_equal(ours, theirs)
        for response in responses:
            assert np.array_equal(predictions[response][number], getattr(alone, response)(X_new))
