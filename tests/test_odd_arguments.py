"""Arguments that scikit-learn, joblib or NumPy would answer with an error of their own are refused as input."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout._record import json_safe
from heldout.configurations import canonical_form
from heldout.data.limits import effective_threads
from heldout.execution.executors.local import joblib_executor

X, Y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
TREE, GRID = DecisionTreeClassifier(), {"max_depth": [1, 2]}
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
