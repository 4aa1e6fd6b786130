"""Arguments that scikit-learn, joblib or NumPy would answer with an error of their own are refused as input."""

import contextlib
import inspect
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils._param_validation import InvalidParameterError

import heldout as ho
from heldout._record import json_safe
from heldout._text import is_one_of
from heldout.configurations import canonical_form
from heldout.data.limits import effective_threads
from heldout.execution.executors.local import joblib_executor

X, Y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
TREE, GRID = DecisionTreeClassifier(max_depth=2, random_state=0), {"max_depth": [1, 2]}
SCORES = np.random.default_rng(1).random((20, 3))


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


@pytest.mark.parametrize(
    "metric", [accuracy_score, {"one": "accuracy", "two": accuracy_score}, lambda truth, labels: 1.0]
)
def test_a_function_of_two_arguments_is_no_scorer(metric: Any) -> None:
    with pytest.raises(ho.InputError, match=r"scoring must be .*|looks like it is a metric"):
        ho.HeldOutSearchCV(TREE, GRID, cv=2, scoring=metric, refit=False).fit(X, Y)


def test_a_finished_search_or_its_results_are_refused_with_the_call_for_them() -> None:
    finished = GridSearchCV(TREE, GRID, cv=2).fit(X, Y)
    with pytest.raises(ho.InputError, match=r"y_true must be .* got GridSearchCV; .* `ho.correct\(search\)`"):
        ho.estimate(finished)
    with pytest.raises(ho.InputError, match=r"got HeldOutSearchCV; .* one of heldout must be fitted first"):
        ho.compare_configurations(ho.HeldOutSearchCV(TREE, GRID))
    with pytest.raises(ho.InputError, match="these are the cv_results_ of a search; give the search itself"):
        ho.correct(finished.cv_results_)


def test_a_splitter_of_splits_is_quoted_shortly() -> None:
    splits = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
    with pytest.raises(ho.InputError, match=r"`repeats=2` needs a splitter that shuffles") as refused:
        ho.HeldOutSearchCV(TREE, GRID, cv=splits, repeats=2).fit(X, Y)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("labels", [Y, np.where(Y, "yes", "no"), Y + (np.arange(20) > 10)])
def test_a_column_of_names_among_predictions_is_named(labels: Any) -> None:
    table = pd.DataFrame({"a": Y / 2, "who": [f"row {i}" for i in range(20)], "b": Y / 3})
    for metric in ("accuracy", "log_loss"):
        with pytest.raises(ho.InputError, match="predictions hold text in 'who' and numbers in other columns"):
            ho.estimate(labels, table, metric=metric)


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
@pytest.mark.parametrize("shape", [(20, 4), (20, 4, 2)])
def test_one_score_for_each_row_does_not_score_three_classes(metric: str, shape: tuple[int, ...]) -> None:
    said = rf"predictions of shape {re.escape(str(shape))} .* such as 0\.\d+, which is no label; pass .* 3 classes"
    with pytest.raises(ho.InputError, match=said):
        ho.estimate(np.arange(20) % 3, np.random.default_rng(0).random(shape), metric=metric)


@pytest.mark.parametrize("odd", [{"a": Y}, 3, csr_matrix(np.eye(20))])
def test_what_is_no_array_of_predictions_is_quoted(odd: Any) -> None:
    with pytest.raises(ho.InputError, match=r"predictions must be an array or a table, .* got [^(]"):
        ho.estimate(Y, odd, metric="roc_auc")


def test_two_configurations_of_one_name_are_refused() -> None:
    scores = pd.DataFrame(np.random.default_rng(0).random((20, 3)), columns=["a", "b", "a"])
    with pytest.raises(ho.InputError, match="two configurations are named 'a'; name each once"):
        ho.estimate(Y, scores, metric="roc_auc")
    with pytest.raises(ho.InputError, match="two configurations are named 'a'; name each once"):
        ho.estimate_from_scores(scores[:5], method="bbc_f", greater_is_better=True)


def test_a_table_of_true_values_may_have_a_column_called_fit() -> None:
    scores = np.random.default_rng(0).random((20, 3))
    table = pd.DataFrame({"fit": Y})
    found, expected = (ho.estimate(y, scores, metric="roc_auc", random_state=0) for y in (table, Y))
    assert found.value == expected.value


def test_a_number_of_folds_is_no_label_of_rows() -> None:
    with pytest.raises(ho.InputError, match=r"folds must have shape .* got 5\."):
        ho.estimate(Y, SCORES, metric="roc_auc", folds=5)


def test_a_row_that_is_predicted_has_a_fold() -> None:
    folds = np.where(np.arange(20) < 3, np.nan, np.arange(20) % 5)
    with pytest.raises(
        ho.InputError, match=r"folds has a missing value in 3 rows with predictions \(the first is row 0"
    ):
        ho.estimate(Y, SCORES, metric="roc_auc", folds=folds)
    kept = np.where(np.isnan(folds)[:, None], np.nan, SCORES)
    assert ho.estimate(Y, kept, metric="roc_auc", folds=folds, n_bootstraps=10, random_state=0).n_rows_used == 17


def test_a_file_that_cannot_be_written_or_is_missing_is_refused(tmp_path: Path) -> None:
    nowhere = tmp_path / "missing" / "model.skops"
    with pytest.raises(ho.InputError, match=r"the model could not be written to .*no such file"):
        ho.save_model(TREE.fit(X, Y), nowhere)
    with pytest.raises(ho.InputError, match=r"there is no file .*model\.skops; give the path"):
        ho.load_model(nowhere)
    search = ho.HeldOutSearchCV(TREE, GRID, cv=2, n_bootstraps=10, random_state=0).fit(X, Y)
    with pytest.raises(
        ho.InputError, match=r"path must end in \.html, as the report is an HTML page, got '.*\.pdf'"
    ):
        search.report(tmp_path / "report.pdf")


# A parameter that takes a word takes any object: what is no word is refused with one line, and fits nothing.

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
        lambda **given: ho.estimate(Y, SCORES, **{"metric": "roc_auc", **FEW, **given}),
        ("metric", "method", "aggregate", "alternative", "selection", "response", "pos_label", "adaptive"),
    ),
    "from_scores": (
        lambda **given: ho.estimate_from_scores(
            SCORES[:5], **{"metric": "accuracy", "method": "bbc_f", **FEW, **given}
        ),
        ("metric", "method", "alternative", "selection"),
    ),
    "compare_configurations": (
        lambda **given: ho.compare_configurations(Y, SCORES, **{"metric": "roc_auc", **FEW, **given}),
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
    plain = ho.estimate(Y, SCORES, metric="roc_auc", aggregate="pooled", alternative="less", **FEW)
    words = {"metric": "roc_auc", "aggregate": "pooled", "alternative": "less"}
    found = ho.estimate(Y, SCORES, **{name: np.str_(word) for name, word in words.items()}, **FEW)
    assert found.value == plain.value


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
        ho.estimate(Y, SCORES, metric="roc_auc", selection=f"greedy_ensemble(rounds={rounds})", **FEW)


@pytest.mark.parametrize("given", [{"candidates": 10**400}, {"candidates": 10**301}])
def test_numbers_beyond_floating_point_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ho.InputError, match="candidates must be at most 1e300"):
        ho.rows_needed(0.1, **given)
    with pytest.raises(ho.InputError, match="rows must be at most 1e300"):
        ho.estimates.distance_to_best(10**400, candidates=5)
    assert ho.rows_needed(0.1, candidates=10**300) > ho.rows_needed(0.1, candidates=10**200)


HUGE = 10**400
TAKERS_OF_NUMBERS: dict[str, Callable[[Any], object]] = {
    "alpha": lambda value: ho.metrics.PinballLoss(value),
    "beta": lambda value: ho.metrics.FScore(beta=value),
    "tau": lambda value: ho.metrics.ConcordanceUno(tau=value),
    "tolerance": lambda value: ho.selection.Within(tolerance=value),
    "weights": lambda value: ho.selection.AverageRank(metrics=["roc_auc", "log_loss"], weights=[value, 1]),
    "complexity": lambda value: ho.selection.Within(tolerance=0.1, complexity=[value, 1]),
    "grid": lambda value: ho.selection.Threshold(grid=[value]),
    "width": lambda value: ho.rows_needed(0.1, candidates=5, width=value),
    "threshold": lambda value: ho.estimate(Y, SCORES, metric="accuracy", threshold=value, **FEW),
    "fit_timeout": lambda value: searched(fit_timeout=value),
    "range": lambda value: ho.metrics.custom(
        accuracy_score, greater_is_better=True, response="labels", range=(0, value)
    ),
    "times": lambda value: ho.metrics.custom(
        accuracy_score, greater_is_better=True, response="survival", times=[value]
    ),
}


@pytest.mark.parametrize("name", TAKERS_OF_NUMBERS)
def test_a_number_that_no_float_can_hold_is_refused(name: str) -> None:
    with pytest.raises(ho.InputError, match=f"^{name} (must|of average_rank must)"):
        TAKERS_OF_NUMBERS[name](HUGE)


@pytest.mark.parametrize("name", ["alpha", "beta", "tolerance", "threshold"])
def test_a_fraction_is_refused_as_formats_and_files_cannot_hold_it(name: str) -> None:
    with pytest.raises(ho.InputError, match=f"^{name} must"):
        TAKERS_OF_NUMBERS[name](Fraction(1, 2))


@pytest.mark.processes
def test_a_timeout_of_single_precision() -> None:
    assert searched(fit_timeout=np.float32(60)).n_fits_ == searched().n_fits_
