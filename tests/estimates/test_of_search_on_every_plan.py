"""Every method on every plan of folds: a number of its own kind, or a refusal before anything is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from known_truth import Column

import heldout as ho
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates import METHODS

PLANS = {
    "folds": ho.protocols.k_folds(5),
    "repeated": ho.protocols.repeated(5, 2),
    "hold_out": ho.protocols.hold_out(0.4),
    "repeated_hold_out": ho.protocols.repeated_hold_out(4, 0.4),
    "paired_hold_out": ho.protocols.paired_hold_out(4, 0.3, 2),
    "leave_one_out": ho.protocols.leave_one_out(),
}
ANY = {"cv", "bbc", "shrinkage", "naive_bootstrap", "wald_cv", "locally_simultaneous", "zoom"}
TWO_PART = {"tilting", "mabt"}
COUNTS = {"wilson", "clopper_pearson"}
NORMAL = {"delong", "hanley_mcneil"}
FITTING = {
    ("folds", "accuracy"): ANY | TWO_PART | COUNTS | {"tt", "bbc_f", "corrected_t"},
    ("hold_out", "accuracy"): ANY | TWO_PART | COUNTS | {"hoeffding"},
    ("repeated_hold_out", "accuracy"): ANY | {"tt", "corrected_t"},
    ("paired_hold_out", "accuracy"): ANY | {"tt", "corrected_t", "conservative_z"},
    ("leave_one_out", "accuracy"): ANY | TWO_PART | COUNTS | {"tt", "bbc_f", "corrected_t"},
    ("repeated", "roc_auc"): ANY | TWO_PART | NORMAL | {"tt", "bbc_f", "corrected_t"},
    ("leave_one_out", "roc_auc"): ANY | TWO_PART | NORMAL,
}


RNG = np.random.default_rng(0)
Y = np.arange(100) % 2
X = 0.6 * Y[:, None] - 0.3 + RNG.normal(size=(100, 3))


def search(plan: str, metric: str, method: Any, aggregate: Any = "pooled") -> ho.HeldOutSearchCV:
    alternative: Any = "greater" if method in TWO_PART else "two-sided"
    return ho.HeldOutSearchCV(
        Column(), {"column": [0, 1]}, scoring=metric, cv=PLANS[plan], method=method, aggregate=aggregate,
        n_bootstraps=10, alternative=alternative, refit=False, random_state=0,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")  # as GridSearchCV has it
@pytest.mark.parametrize(("plan", "metric"), FITTING, ids=[f"{plan}-{metric}" for plan, metric in FITTING])
def test_it_gives_a_number_or_refuses_before_fitting(plan: str, metric: str) -> None:
    fitting = set()
    rows = slice(20 if plan == "leave_one_out" else None)
    for method in METHODS:
        Column.fits = []
        try:
            found = search(plan, metric, method).fit(X[rows], Y[rows])
        except InputError as error:
            assert f"method '{method}'" in str(error)
            assert not Column.fits
            continue
        if np.isnan(found.estimate_.value):
            continue
        fitting.add(method)
        assert 0 < found.estimate_.value <= 1
        assert (found.estimate_.interval is None) == (method in ("cv", "tt"))
    assert fitting == FITTING[plan, metric]


def test_a_hold_out_rests_on_its_test_part_and_is_flagged() -> None:
    found = search("hold_out", "accuracy", "bbc").fit(X, Y).estimate_
    assert found.n_rows_used == 40
    assert ho.Flag.INCOMPLETE_PREDICTIONS in found.flags


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning", "ignore:One or more of the test")
def test_single_rows_have_no_area_of_their_own() -> None:
    Column.fits = []
    said = "no estimate: roc_auc needs a row of every class, which 100 of 100 test parts lack"
    with pytest.warns(HeldoutWarning, match=said):
        fitted = search("leave_one_out", "roc_auc", "bbc", "folds").fit(X, Y)
    assert np.isnan(fitted.estimate_.value) and np.isnan(fitted.best_score_)


def test_a_refusal_names_the_methods_that_fit() -> None:
    with pytest.raises(InputError, match="in a single fold they are the same; methods that do: cv, bbc"):
        search("hold_out", "accuracy", "tt").fit(X, Y)


def test_a_configuration_that_was_named_beforehand_is_known_by_its_name_before_fitting() -> None:
    Column.fits = []
    method = ho.estimates.Wilson(evaluation_share=1.0, configuration="Column (column=1)")
    assert search("hold_out", "accuracy", method).fit(X, Y).estimate_.selected_name == "Column (column=1)"
    Column.fits = []
    unknown = ho.estimates.Wilson(evaluation_share=1.0, configuration="nearest")
    with pytest.raises(InputError, match="'nearest'` is none of the 2 candidates"):
        search("hold_out", "accuracy", unknown).fit(X, Y)
    assert not Column.fits
