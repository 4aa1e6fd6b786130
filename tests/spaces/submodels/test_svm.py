"""Machines by kernel matrices: the bits of separate fits, and what is fitted alone."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from provider_contract import Case, check_predictions, each_kind, grid_of
from sklearn.base import clone
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from heldout.kernels.dispatch import KERNELS
from heldout.spaces.submodels import SeparateFitsError, family_of, svm

needs_compiler = pytest.mark.skipif(KERNELS == "numpy", reason="this installation was built without a compiler")


def many(estimator: Any, values: list[dict[str, Any]], X: Any, y: Any, **fit_params: Any) -> Any:
    family = family_of(estimator)
    assert family is not None
    return family.fit_many(clone(estimator), values, X, y, **fit_params)


def data(n_rows: int = 60, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows + 20, 4))
    y = (X[:, 0] + random.normal(size=len(X)) > 0.4).astype(int)
    return X[:n_rows], y[:n_rows], X[n_rows:]


def cases() -> list[Case]:
    Cs = [{"C": C, "gamma": gamma} for C in (1, 0.1, 10) for gamma in ("scale", "auto", 0.5)]
    nus = [{"nu": nu, "gamma": gamma} for nu in (0.3, 0.1) for gamma in ("scale", 0.5)]
    powers = [{"degree": degree, "coef0": coef0} for degree in (0, 1, 2, 5) for coef0 in (-1, 0.3)]
    kinds = ["binary", "multiclass", "binary-heavy", "binary-integer", "multiclass-tied", "binary-float32"]
    pairs = SVC(decision_function_shape="ovo", class_weight="balanced", shrinking=False)
    refused = ["binary-sparse", "binary-weighted"]
    return [
        Case(SVC(), Cs, kinds),
        Case(SVC(break_ties=True), Cs, ["multiclass"], name="SVC, ties"),
        Case(pairs, Cs, ["multiclass", "binary-heavy"], name="SVC, pairs"),
        Case(SVC(kernel="poly"), powers, ["binary", "multiclass-tied"], name="SVC, powers"),
        Case(SVC(kernel="sigmoid"), [*Cs, {"C": 2, "coef0": 0.5}], ["binary", "multiclass"], name="SVC, sigmoid"),
        Case(SVC(kernel="linear", max_iter=30), grid_of("C", (1, 0.1, 5)), ["multiclass", "binary-wide"]),
        Case(SVC(), Cs, refused, separate=refused),
        Case(NuSVC(), nus, ["binary", "multiclass"]),
        Case(SVR(), [*Cs, {"C": 1, "epsilon": 0.3}], ["regression", "regression-heavy", "regression-tied"]),
        Case(NuSVR(), nus, ["regression", "regression-wide"]),
    ]


@needs_compiler
@pytest.mark.filterwarnings("ignore")
@each_kind(cases())
def test_one_matrix_predicts_as_separate_fits(case: Case, kind: str) -> None:
    check_predictions(case, kind)


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
@pytest.mark.parametrize("seed", range(120))
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


@needs_compiler
def test_other_bits_in_a_matrix_mean_separate_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, X_new = data()
    values = [{"C": C, "gamma": 0.1} for C in (1.0, 2.0, 5.0)]
    right = many(SVC(), values, X, y).predict_many(X_new, "decision_function")
    assert all(answer is not None for answer in right)
    with monkeypatch.context() as during_fit:
        during_fit.setattr(svm, "exponentials", lambda *given: np.exp(given[0] * given[1] * (1.0 + 1e-6)))
        found = many(SVC(), values, X, y)
    answers = found.predict_many(X_new, "decision_function")
    assert np.array_equal(answers[0], right[0])  # the first machine is fitted as usual
    assert answers[1:] == [None, None]


@needs_compiler
def test_other_bits_between_new_rows_and_training_rows_mean_separate_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, X_new = data()
    found = many(SVC(), [{"C": C, "gamma": 0.1} for C in (1.0, 2.0, 5.0)], X, y)
    assert found.machines
    monkeypatch.setattr(svm, "squared_distances", lambda new, rows: ((new[:, None] - rows) ** 2).sum(-1) + 1e-9)
    answers = found.predict_many(X_new, "decision_function")
    assert answers[0] is not None
    assert answers[1:] == [None, None]


@needs_compiler
def test_values_that_scikit_learn_refuses_are_fitted_alone() -> None:
    X, y, X_new = data()
    Cs = [{"C": C} for C in (1.0, -1.0, 0.0, 2.0, np.inf, "1", 3.0)]
    answers = many(SVC(), Cs, X, y).predict_many(X_new, "predict")
    assert [answer is not None for answer in answers] == [True, False, False, True, False, False, True]
    few = np.flatnonzero(y == 1)[:6]
    rows = np.concatenate([few, np.flatnonzero(y == 0)])
    nus = [{"nu": nu} for nu in (0.1, 0.15, 0.9, 1.5)]  # 0.9 is infeasible: one class is too small
    answers = many(NuSVC(), nus, X[rows], y[rows]).predict_many(X_new, "predict")
    assert [answer is not None for answer in answers] == [True, True, False, False]


@needs_compiler
def test_a_matrix_is_made_only_where_separate_fits_take_longer() -> None:
    X, y, X_new = data(900)
    apart = np.where(y[:, None] == 1, 9.0, 0.0) + X  # few rows are support vectors
    alone = many(SVC(), [{"C": 1.0}, {"C": 2.0}], apart, y)
    assert not alone.machines
    first, second = alone.predict_many(X_new, "predict")
    assert np.array_equal(first, SVC().fit(apart, y).predict(X_new))
    assert second is None
    assert many(SVC(), [{"C": C} for C in np.linspace(0.1, 2.0, 30)], X, y).machines


@needs_compiler
def test_no_warning_but_those_of_the_machines() -> None:
    pandas = pytest.importorskip("pandas")
    X, y, X_new = data()
    table, new = (pandas.DataFrame(rows, columns=list("abcd")) for rows in (X, X_new))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = many(SVC(), [{"C": 1.0}, {"C": 2.0}, {"C": 3.0}], table, y).predict_many(new, "predict")
    assert all(answer is not None for answer in answers)
    with pytest.warns(UserWarning, match="max_iter=3"):
        many(SVC(max_iter=3), [{"C": 1.0}, {"C": 2.0}, {"C": 3.0}], table, y)


def test_data_that_need_separate_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = data()
    values = [{"C": 1.0}, {"C": 2.0}]
    monkeypatch.setattr(svm, "KERNELS", "compiled")
    for weights in (np.arange(60.0), -np.ones(60)):
        with pytest.raises(SeparateFitsError):
            many(SVC(), values, X, y, sample_weight=weights)
    with pytest.raises(SeparateFitsError, match="one machine"):
        many(SVC(), [{"C": 1.0}, {"C": -1.0}], X, y)
    with pytest.raises(SeparateFitsError, match="too many rows"):
        many(SVC(), values, np.zeros((4001, 1)), np.zeros(4001))
    monkeypatch.setattr(svm, "KERNELS", "numpy")
    with pytest.raises(SeparateFitsError, match="compiled"):
        many(SVC(), values, X, y)
