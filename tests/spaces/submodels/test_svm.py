"""Machines by kernel matrices: the bits of separate fits, and what is fitted alone."""

import warnings
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
    kinds = ["binary-heavy", "multiclass-tied", "binary-float32"]
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
