"""The flow: who wins, what is warned of, and what the record holds."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from heldout.configurations import make_configurations
from heldout.data.limits import Memory
from heldout.data.row_part import RowPart
from heldout.data.task import Task, truth_of
from heldout.errors import HeldoutWarning, InputError
from heldout.evaluate import evaluate
from heldout.execution.collect import mean_over_splits
from heldout.execution.events import CellFinished, RunClosed, SearchFinished, SearchStarted, StageStarted
from heldout.execution.fit import make_scoring
from heldout.execution.plan import BYTES_A_CELL, bytes_needed, check_memory
from heldout.execution.run import RunSettings
from heldout.execution.search import Search, too_few_to_draw
from heldout.folds.splits import make_folds
from heldout.metrics.base import Response
from heldout.predictions import ranks
from heldout.result import Evaluation


def run_search(task: Task, grid: Any, folds: Any, scoring: Any, **settings: Any) -> Evaluation:
    """``evaluate`` with the settings of the estimation and of the run in one dict."""
    parts = {}
    for kind in (Search, RunSettings):
        names = {field.name for field in fields(kind)} & settings.keys()
        parts[kind] = {name: settings.pop(name) for name in names}
    search = Search(task, grid, folds, scoring, **parts[Search])
    return evaluate(search, RunSettings(**parts[RunSettings]), **settings)


class Scripted(RegressorMixin, BaseEstimator):
    """Predicts what column ``column`` of X says."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> Scripted:
        self.rows_ = len(X)
        return self

    def predict(self, X: Any) -> Any:
        return X[:, self.column]


class ScriptedClassifier(ClassifierMixin, BaseEstimator):
    """Its decision is column ``column`` of X."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> ScriptedClassifier:
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return X[:, self.column]

    def predict(self, X: Any) -> Any:
        return self.classes_[(X[:, self.column] > 0).astype(int)]


def regression(X: Any, y: Any, columns: list[int], cv: Any = 3, **settings: Any) -> Evaluation:
    task = Task(np.asarray(X, dtype=float), truth_of(np.asarray(y, dtype=float), "regression"))
    scoring = make_scoring(task.truth, get_scorer("neg_mean_squared_error"))
    grid = make_configurations(Scripted(), {"column": columns})
    return run_search(task, grid, make_folds(task, cv), scoring, **({"n_bootstraps": 50, "entropy": 3} | settings))


# Column 0 is off by 1 everywhere; column 1 is right but for one row; column 2 equals column 0.
TARGET = np.arange(9.0)
COLUMNS = np.stack([TARGET + 1, TARGET + 4 * (np.arange(9) == 8), TARGET + 1], axis=1)


def test_winner_by_folds_and_pooled_by_hand() -> None:
    # Losses by fold: (1, 1, 1) and (0, 0, 16/3); means 1 and 16/9.
    found = regression(COLUMNS, TARGET, [0, 1, 2])
    np.testing.assert_allclose(found.fold_scores["score"].values, [[-1, 0, -1], [-1, 0, -1], [-1, -16 / 3, -1]])
    assert found.winner == 0  # the tie with column 2 goes to the first
    np.testing.assert_allclose(found.pooled_scores["score"], [-1, -16 / 9, -1])
    assert found.estimate is not None and found.estimate.uncorrected == pytest.approx(-1)


def test_aggregate_changes_the_winner_where_folds_differ_in_size() -> None:
    # Folds of 2 and 8 rows: column 0 errs in the small one, column 1 less in the large one.
    X = np.zeros((10, 2))
    X[:2, 0] = 2.0  # loss 4 in the small fold: mean over folds 2, pooled .8
    X[2:, 1] = 1.5  # loss 2.25 in the large fold: mean over folds 1.125, pooled 1.8
    splits = [(np.arange(2, 10), np.arange(2)), (np.arange(2), np.arange(2, 10))]
    by_folds = regression(X, np.zeros(10), [0, 1], splits)
    pooled = regression(X, np.zeros(10), [0, 1], splits, aggregate="pooled")
    assert (by_folds.winner, pooled.winner) == (1, 0)
    assert by_folds.estimate is not None and by_folds.estimate.uncorrected == pytest.approx(-1.125)
    assert pooled.estimate is not None and pooled.estimate.uncorrected == pytest.approx(-0.8)


def test_predictions_are_from_models_that_never_saw_the_rows() -> None:
    found = regression(COLUMNS, TARGET, [1, 0])
    values = found.predictions.responses[Response.VALUES]
    assert values.shape == (9, 2, 1)
    np.testing.assert_array_equal(values[:, :, 0], COLUMNS[:, [1, 0]])
    assert found.predictions.training_rows == 6
    np.testing.assert_array_equal(found.predictions.folds[:, 0], np.repeat([0, 1, 2], 3))
    assert found.model.rows_ == 9


def test_the_record_is_whole() -> None:
    events: list[Any] = []
    found = regression(COLUMNS, TARGET, [0, 1], listeners=[events.append])
    names = ("Scripted (column=0)", "Scripted (column=1)")
    assert events[0] == SearchStarted(
        n_cells=6, n_resumed=0, n_configurations=2, n_splits=3, names=names, title="neg_mean_squared_error"
    )
    assert [type(event) for event in events[1:7]] == [CellFinished] * 6
    assert events[7:10] == [RunClosed(), StageStarted("estimate"), StageStarted("refit")]
    assert isinstance(events[10], SearchFinished) and events[10].seconds > 0
    assert found.n_fits == 6 and found.n_fits_saved == 0 and not found.failures
    assert [cell.key for cell in found.cells] == [(j, 0, k) for j in range(2) for k in range(3)]
    assert all(not cell.predictions for cell in found.cells)
    assert set(found.seconds) == {"search", "estimate", "refit"}
    assert found.provenance["entropy"] == 3 and found.provenance["n_columns"] == 3
    assert found.provenance["fingerprint_of_rows"] == found.task.fingerprint()


def test_choice_can_be_made_by_somebody_else() -> None:
    found = regression(COLUMNS, TARGET, [0, 1], choose=lambda collected, configurations: 1)
    assert found.winner == 1 and found.estimate is not None and found.estimate.selected == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"aggregate": "median"}, "aggregate must be one of auto, folds, pooled, within, got 'median'"),
        ({"selection": "worst"}, "selection must be one of best"),
        ({"method": "magic"}, "magic"),
    ],
)
def test_settings_are_checked_before_anything_is_fitted(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        regression(COLUMNS, TARGET, [99], **settings)  # fitting would fail: there is no column 99


def auc_search(y: Any, X: Any, cv: Any, groups: Any = None, **settings: Any) -> Evaluation:
    task = Task(np.asarray(X, dtype=float), truth_of(y), groups)
    scoring = make_scoring(task.truth, get_scorer("roc_auc"))
    grid = make_configurations(ScriptedClassifier(), {"column": list(range(task.X.shape[1]))})
    return run_search(task, grid, make_folds(task, cv), scoring, **({"n_bootstraps": 50, "entropy": 3} | settings))


@pytest.mark.filterwarnings("ignore:Only one class is present")
def test_a_fold_of_one_class_is_left_out_for_everybody() -> None:
    rng = np.random.default_rng(0)
    y = np.array([0, 1] * 12 + [0] * 6)
    X = np.stack([rng.normal(size=30), y + rng.normal(size=30) / 2], axis=1)
    splits = [(np.setdiff1d(np.arange(30), test), test) for test in np.split(np.arange(30), [12, 24])]
    found = auc_search(y, X, splits)
    assert np.isnan(found.fold_scores["score"].values[2]).all() and not found.failures
    by_hand = [np.mean([roc_auc_score(y[t], X[t, j]) for _, t in splits[:2]]) for j in range(2)]
    assert found.winner == int(np.argmax(by_hand))
    assert found.estimate is not None
    assert found.estimate.uncorrected == pytest.approx(max(by_hand), abs=1e-12)
    assert "undefined_folds" in found.estimate.flags


@pytest.mark.filterwarnings("ignore:Only one class is present")
def test_a_metric_that_no_split_defines_selects_nothing() -> None:
    y = np.repeat([0, 1], 10)
    splits = [(np.arange(2, 18), np.arange(2)), (np.arange(2, 18), np.arange(18, 20))]
    with pytest.warns(HeldoutWarning, match="roc_auc needs a row of every class, which 2 of 2 test parts lack"):
        found = auc_search(y, np.random.default_rng(0).normal(size=(20, 2)), splits)
    assert found.winner == 0 and np.isnan(found.estimate.value)


def test_a_class_of_one_row_warns_before_fitting_and_fails_what_trains_without_it() -> None:
    y = np.array([0] * 19 + [1])
    X = np.random.default_rng(0).normal(size=(20, 2))
    splits = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(
            InputError, match=r"class 1 is missing from its training rows.*1 of 2 training parts lack"
        ):
            auc_search(y, X, splits)
    ours = [str(warning.message) for warning in caught if issubclass(warning.category, HeldoutWarning)]
    assert ours == [
        "the search will have no estimate: class 1 has 1 row, and a bootstrap needs at least 2, one to draw and "
        "one to leave out; gather more rows of it.",
    ]


def test_a_configuration_that_cannot_be_fitted_without_a_class_has_no_score() -> None:
    """GridSearchCV has a mean of NaN too; a tree, which learns one class as well, is scored on all splits."""
    y = np.array([0] * 12 + [1] * 4)
    X = np.random.default_rng(0).normal(size=(16, 3))
    task, everything = Task(X, truth_of(y)), np.arange(16)
    folds = make_folds(task, [(np.setdiff1d(everything, test), test) for test in np.split(everything, [6, 12])])
    scoring = make_scoring(task.truth, get_scorer("accuracy"))
    logistic = make_configurations(LogisticRegression(), {"C": [0.1, 1.0]})
    with pytest.raises(InputError, match=r"at least 2 classes.*1 of 3 training parts lack a row of every class"):
        run_search(task, logistic, folds, scoring, n_bootstraps=20, entropy=0)
    both = make_configurations([("logistic", LogisticRegression(), {}), ("tree", DecisionTreeClassifier(), {})])
    with pytest.warns(HeldoutWarning, match="1 of 2 configurations failed.*at least 2 classes"):
        found = run_search(task, both, folds, scoring, n_bootstraps=20, entropy=0)
    assert found.winner == 1 and list(found.failures) == [0]
    assert found.estimate is not None and found.estimate.n_rows_used == 16


def test_a_class_in_one_group_cannot_be_drawn() -> None:
    y = np.array([0, 0, 1, 1, 0, 0])
    task = Task(np.zeros((6, 1)), truth_of(y), np.array([1, 1, 2, 2, 3, 3]))
    reads_every_class = make_scoring(task.truth, get_scorer("roc_auc"))
    for scoring in (reads_every_class, make_scoring(task.truth, get_scorer("accuracy"))):
        assert too_few_to_draw(task, scoring) == (
            "class 1 has 1 group, and a bootstrap needs at least 2, one to draw and one to leave out; gather more "
            "groups of it."
        )
    assert too_few_to_draw(Task(task.X, task.truth), reads_every_class) is None
    alone = Task(task.X, task.truth, np.zeros(6))
    assert "at least 2 groups are needed" in str(too_few_to_draw(alone, reads_every_class))


def test_more_than_half_of_the_memory_is_refused_before_fitting(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task(COLUMNS, truth_of(TARGET, "regression"))
    scoring, folds = make_scoring(task.truth, get_scorer("r2")), make_folds(task, 3)
    # 9 rows x 2 configurations x 8 bytes, once as they come and once gathered.
    assert bytes_needed(task.truth, 2, folds, scoring) == 2 * 9 * 2 * 8
    needed = 2 * 9 * 2 * 8 + 6 * BYTES_A_CELL
    for memory, refused in ((2 * needed - 1, True), (2 * needed, False), (None, False)):
        there = memory and Memory(memory, "this machine's few bytes")
        monkeypatch.setattr("heldout.data.limits.memory_there", lambda there=there: there)
        if refused:
            with pytest.raises(InputError, match=r"need 0.0 GiB, more than half .* use a store"):
                regression(COLUMNS, TARGET, [0, 99], method=None)
        else:
            check_memory(task.truth, 2, folds, scoring)


def test_memory_counts_classes_and_responses() -> None:
    task = Task(np.zeros((9, 1)), truth_of([0, 1, 2] * 3))
    folds = make_folds(task, 3)
    labels = make_scoring(task.truth, get_scorer("accuracy"))
    both = make_scoring(task.truth, get_scorer("accuracy"), keep=(Response.PROBABILITIES,))
    assert bytes_needed(task.truth, 1, folds, labels) == 2 * 9 * 4
    assert bytes_needed(task.truth, 1, folds, both) == 2 * 9 * (4 + 3 * 8)
    # Results of a part of the rows are gathered as they come, and the first rows are there too.
    assert bytes_needed(task.truth, 1, folds, labels, RowPart(np.arange(2), 9, 2 / 9)) == 9 * 4


def test_ranks_and_means_of_undefined_scores() -> None:
    assert ranks(np.array([np.nan, np.nan])).tolist() == [1, 1]
    scores = np.random.default_rng(0).uniform(size=(5, 7))
    np.testing.assert_array_equal(mean_over_splits(scores), np.average(scores.T.copy(), axis=1))
