"""Arguments that scikit-learn, joblib or NumPy would answer with an error of their own are refused as input."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError

import heldout as ho
from heldout._record import json_safe
from heldout.configurations import canonical_form
from heldout.data.checks import effective_threads
from heldout.execution.executors.local import joblib_executor

X, Y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
TREE, GRID = DecisionTreeClassifier(), {"max_depth": [1, 2]}


@pytest.mark.parametrize("search", [ho.nested_cv, ho.bootstrap_search])
@pytest.mark.parametrize(
    "given, said",
    [
        ({"cv": 2.5}, "cv must be an integer of at least 2, 'auto', a splitter .*, got 2.5"),
        ({"n_jobs": "x"}, "n_jobs must be a number of processes, -1 for every core, or None, got 'x'"),
        ({"n_jobs": 10**12}, "n_jobs must be at most 10,000, got 1000000000000; -1 uses every core"),
        ({"scoring": []}, r"`scoring=\[\]` with `refit=False` cannot be used: .*Empty list was given"),
        ({"scoring": {}}, r"`scoring=\{\}` with `refit=False` cannot be used: An empty dict was passed"),
        ({"param_grid": {1: [2]}}, "the name of a grid parameter must be text, got 1"),
    ],
    ids=["cv", "jobs", "many jobs", "no scorers", "no scorer", "name"],
)
def test_odd_arguments_are_refused(search: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ho.InputError, match=said):
        search(TREE, X, Y, **{"param_grid": GRID, **given})


@pytest.mark.parametrize("n_jobs", [0, True, 1.5, "2"])
def test_no_number_of_jobs(n_jobs: Any) -> None:
    for use in (effective_threads, joblib_executor):
        with pytest.raises(ho.InputError, match="n_jobs must be a number of processes"):
            use(n_jobs)


def test_labels_of_several_types_are_refused() -> None:
    with pytest.raises(ho.InputError, match=r"of one type, got int and str|Give labels"):
        ho.nested_cv(TREE, X, np.array(["a", 1] * 10, dtype=object), GRID)


def test_a_long_double_is_a_number() -> None:
    third = np.longdouble(1) / 3
    assert json_safe({"threshold": third}) == {"threshold": 1 / 3}
    assert canonical_form(third) == canonical_form(np.longdouble(1) / 3) != canonical_form(1 / 3)


@pytest.mark.parametrize("refit", [lambda results: 99, lambda results: -3, lambda results: "first"])
def test_a_choice_that_is_no_configuration_is_refused(refit: Any) -> None:
    with pytest.raises(
        ho.InputError, match="the callable refit must return the number of a configuration, from 0 to 1"
    ):
        ho.HeldOutSearchCV(TREE, GRID, cv=2, refit=refit, n_bootstraps=10).fit(X, Y)


SCORES = np.random.default_rng(1).random((20, 3))
CALLS: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "estimate": (ho.estimate, (Y, SCORES), {"metric": "roc_auc"}),
    "compare_estimates": (ho.compare_estimates, (Y, SCORES), {"metric": "roc_auc", "methods": ["cv", "bbc"]}),
    "compare_configurations": (ho.compare_configurations, (Y, SCORES), {"metric": "roc_auc"}),
    "estimate_from_scores": (ho.estimate_from_scores, (SCORES,), {"greater_is_better": True, "method": "bbc_f"}),
    "search": (lambda **given: ho.HeldOutSearchCV(TREE, GRID, **given).fit(X, Y), (), {"cv": 2}),
}


@pytest.mark.parametrize(
    "odd", [np.array([]), np.array([1, 2]), {}, object()], ids=["empty", "array", "dict", "object"]
)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::heldout.HeldoutWarning")
def test_no_argument_is_answered_with_an_error_of_python(name: str, odd: Any) -> None:
    """Arrays among them, which are no condition and compare with words one by one."""
    call, rows, usual = CALLS[name]
    takes = ho.HeldOutSearchCV if name == "search" else call
    parameters = [
        each.name for each in inspect.signature(takes).parameters.values()
        if each.kind is each.KEYWORD_ONLY and each.name not in ("n_jobs", "store", "random_state")
    ]  # fmt: skip
    assert len(parameters) > 8
    for parameter in parameters:
        with contextlib.suppress(ho.InputError, InvalidParameterError):
            call(*rows, **{"n_bootstraps": 10, "random_state": 0, **usual, parameter: odd})
