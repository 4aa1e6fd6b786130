"""A parameter that takes a word takes any object: what is no word is refused with one line, and fits nothing."""

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError

import heldout as ho
from heldout._text import is_one_of

N = 40
RNG = np.random.default_rng(0)
X, Y, P = RNG.normal(size=(N, 2)), np.arange(N) % 2, RNG.random((N, 3))
TREE, GRID = DecisionTreeClassifier(max_depth=2, random_state=0), {"max_depth": [1, 2]}
FEW: dict[str, Any] = {"n_bootstraps": 10, "random_state": 0}
ODD = {
    "array": np.array(["folds", "pooled"]), "one": np.array(["folds"]), "numbers": np.zeros((20, 2)),
    "list": ["folds"], "bytes": b"folds", "text": np.str_("nothing"), "dict": {"a": 1}, "set": {1, 2},
    "series": pd.Series(["a", "b"]), "frame": pd.DataFrame({"a": [1]}), "object": object(), "NA": pd.NA,
    "NaN": float("nan"), "slice": slice(1),
}  # fmt: skip


def searched(**given: Any) -> Any:
    return ho.HeldOutSearchCV(TREE, GRID, **{"cv": 3, **FEW, **given}).fit(X, Y)


CALLS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "estimate": (
        lambda **given: ho.estimate(Y, P, **{"metric": "roc_auc", **FEW, **given}),
        ("metric", "method", "aggregate", "alternative", "selection", "response", "pos_label", "adaptive"),
    ),
    "from_scores": (
        lambda **given: ho.estimate_from_scores(
            RNG.random((5, 3)), **{"metric": "accuracy", "method": "bbc_f", **FEW, **given}
        ),
        ("metric", "method", "alternative", "selection"),
    ),
    "compare_configurations": (
        lambda **given: ho.compare_configurations(Y, P, **{"metric": "roc_auc", **FEW, **given}),
        ("metric", "aggregate", "alternative"),
    ),
    "search": (searched, ("method", "aggregate", "alternative", "selection", "drop", "share", "deploy")),
    "nested_cv": (
        lambda **given: ho.nested_cv(TREE, X, Y, GRID, **{"cv": 3, "random_state": 0, **given}),
        ("cv", "inner", "across", "interval", "aggregate", "alternative", "selection", "share"),
    ),
    "bootstrap_search": (
        lambda **given: ho.bootstrap_search(TREE, X, Y, GRID, **{"cv": 3, **FEW, **given}),
        ("cv", "scheme", "aggregate", "alternative"),
    ),
    "bootstrap_validate": (
        lambda **given: ho.bootstrap_validate(LogisticRegression(), X, Y, **{**FEW, **given}),
        ("method", "interval", "alternative", "adjust_optimism"),
    ),
    "recommendation": (
        lambda **given: ho.estimates.recommendation(
            **{"metric": "roc_auc", "n_rows": 100, "n_configurations": 3, **given}
        ),
        ("metric", "n_rows", "n_configurations", "folds", "demand"),
    ),
    "BBC": (ho.estimates.BBC, ("interval", "control", "ties", "stratify")),
    "Blocks": (ho.estimates.Blocks, ("length",)),
    "Best": (ho.selection.Best, ("over_repeats",)),
    "AverageRank": (ho.selection.AverageRank, ("metrics",)),
    "Sequential": (ho.dropping.Sequential, ("stopping_level",)),
    "BackwardSelection": (ho.protocols.BackwardSelection, ("test",)),
    "Imputation": (lambda **given: ho.protocols.Imputation(2, **given), ("order", "outcome_in_evaluation")),
    "load_model": (ho.load_model, ("path",)),
}
TAKEN = {("AverageRank", "metrics", "list")}
"""What is a value of the parameter after all."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "parameter"),
    [(name, parameter) for name, (_, parameters) in CALLS.items() for parameter in parameters],
)
def test_what_is_no_word_is_refused_in_one_line(name: str, parameter: str) -> None:
    call, _ = CALLS[name]
    for odd, value in ODD.items():
        try:
            call(**{parameter: value})
        except ho.HeldoutError as error:
            assert "\n" not in str(error) and len(str(error)) < 1200
        except ValueError as error:  # of scikit-learn, which refuses a word itself
            assert "InvalidParameterError" in type(error).__name__
        else:
            assert (name, parameter, odd) in TAKEN, f"{parameter}={value!r} was taken"


@pytest.mark.parametrize("odd", ["array", "numbers", "dict", "object"])
@pytest.mark.parametrize("name", ["estimate", "compare_configurations", "from_scores", "search"])
@pytest.mark.filterwarnings("ignore::heldout.HeldoutWarning")
def test_no_argument_is_answered_with_an_error_of_python(name: str, odd: str) -> None:
    """Arrays among them, which are no condition and compare with words one by one."""
    functions = {"search": ho.HeldOutSearchCV, "from_scores": ho.estimate_from_scores}
    parameters = [
        each.name for each in inspect.signature(functions.get(name) or getattr(ho, name)).parameters.values()
        if each.kind is each.KEYWORD_ONLY and each.name not in ("n_jobs", "store", "random_state", "n_bootstraps")
    ]  # fmt: skip
    assert len(parameters) > 6
    for parameter in parameters:
        with contextlib.suppress(ho.InputError, InvalidParameterError):
            CALLS[name][0](**{parameter: ODD[odd]})


def test_words_of_numpy_are_words() -> None:
    plain = ho.estimate(Y, P, metric="roc_auc", aggregate="pooled", alternative="less", **FEW)
    words = {"metric": "roc_auc", "aggregate": "pooled", "alternative": "less"}
    assert ho.estimate(Y, P, **{name: np.str_(word) for name, word in words.items()}, **FEW).value == plain.value


def test_a_value_is_one_of_some_words() -> None:
    assert (
        is_one_of(np.str_("a"), ("a", "b")) and is_one_of(None, ("a", None)) and is_one_of(np.True_, (True, False))
    )
    assert not any(is_one_of(value, ("folds", "pooled")) for value in ODD.values())


@pytest.mark.parametrize("rounds", [10**9, 10_001])
def test_too_many_rounds_are_refused_at_once(rounds: int) -> None:
    with pytest.raises(ho.InputError, match="rounds of greedy_ensemble must be at most 10,000"):
        ho.selection.GreedyEnsemble(rounds=rounds)
    with pytest.raises(ho.InputError, match="rounds of greedy_ensemble must be"):
        ho.estimate(Y, P, metric="roc_auc", selection=f"greedy_ensemble(rounds={rounds})", **FEW)


@pytest.mark.parametrize("given", [{"candidates": 10**400}, {"candidates": 10**301}])
def test_numbers_beyond_floating_point_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ho.InputError, match="candidates must be at most 1e300"):
        ho.rows_needed(0.1, **given)
    with pytest.raises(ho.InputError, match="rows must be at most 1e300"):
        ho.estimates.distance_to_best(10**400, candidates=5)
    assert ho.rows_needed(0.1, candidates=10**300) > ho.rows_needed(0.1, candidates=10**200)


@pytest.mark.processes
def test_a_timeout_of_single_precision() -> None:
    assert searched(fit_timeout=np.float32(60)).n_fits_ == searched().n_fits_
