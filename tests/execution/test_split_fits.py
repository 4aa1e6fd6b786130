"""The fits on one split: in which order they come, where their seeds come from, and whether they are scored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from one_cell import fit_cell
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.configurations import Configurations, make_configurations
from heldout.data.task import Task, truth_of
from heldout.execution.cells import CellState
from heldout.execution.fit import Routing, Work, make_scoring, seeded_model
from heldout.execution.split_fits import SplitFits
from heldout.folds.splits import Split

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
SPLIT = Split(0, 3, np.arange(40), np.arange(40, 60))
TASK = Task(X, truth_of(Y))
WORK = Work(TASK, make_scoring(TASK.truth, get_scorer("roc_auc")), seeds=7)
PIPELINE = Pipeline([("select", SelectKBest()), ("fit", DecisionTreeClassifier(max_features=1))])
GRID = {"fit__max_depth": [1, 2], "select__k": [2, 4]}


def shared(work: Work) -> Work:
    return replace(work, sharing=work.shared("exact"))


@pytest.mark.parametrize(
    "share_memory, units",
    [(None, [0, 1, 2, 3]), (10_000_000, [0, 1, 2, 3]), (1000, [0, 2, 1, 3])],
)
def test_equal_steps_follow_each_other_where_not_all_can_be_kept(
    share_memory: int | None, units: list[int]
) -> None:
    configurations = make_configurations(PIPELINE, GRID)
    work = shared(replace(WORK, configurations=configurations, share_memory=share_memory))
    fits = SplitFits(work, SPLIT, (0, 1, 2, 3))

    assert fits.units == [(position,) for position in units]


@pytest.mark.parametrize("model", [RandomForestClassifier(5), DecisionTreeClassifier(max_features=1)])
def test_seeds_come_from_the_named_place(model: Any) -> None:
    (configuration,) = make_configurations(model)
    fits = SplitFits(
        replace(WORK, configurations=Configurations((configuration,))), SPLIT, (0,), seed_place=("pair", 1, 2)
    )
    (result,) = fits.results((0,))
    (found,) = result.predictions.values()
    theirs = seeded_model(configuration.fresh(), 7, "pair", 1, 2).fit(X[:40], Y[:40]).predict_proba(X[40:])[:, 1]
    (by_place,) = fit_cell(WORK, configuration, SPLIT).predictions.values()

    assert result.key.place == SPLIT.place
    assert np.array_equal(found, theirs)
    assert not np.array_equal(found, by_place)


@pytest.mark.parametrize(("one_class", "train_scores"), [(False, True), (True, False)])
def test_predictions_alone_need_no_scorer(
    one_class: bool, train_scores: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was scored")

    monkeypatch.setattr("heldout.execution.split_fits.scores_by_scorer", never)
    monkeypatch.setattr("heldout.execution.split_fits.fold_scores", never)
    split = replace(SPLIT, test=SPLIT.test[Y[40:] == 1]) if one_class else SPLIT
    configurations = make_configurations(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]})
    work = shared(replace(WORK, configurations=configurations, return_train_score=train_scores))
    fits = SplitFits(work, split, (0, 1, 2), is_scored=False)
    results = fits.scored([result for unit in fits.units for result in fits.results(unit)])

    assert fits.units == [(0, 1, 2)]
    for result, configuration in zip(results, configurations, strict=True):
        (found,) = result.predictions.values()
        theirs = configuration.fresh().fit(X[:40], Y[:40]).predict_proba(X[split.test])[:, 1]
        assert result.state is CellState.DONE and result.shared and not result.test_scores
        assert np.array_equal(found, theirs)


@pytest.mark.parametrize("to_fit", ["sample_weight", "fit__sample_weight"])
def test_a_pipeline_without_any_steps_takes_what_it_takes_alone(to_fit: str) -> None:
    pipeline = Pipeline([("scale", "passthrough"), ("fit", RandomForestClassifier())])
    configurations = make_configurations(pipeline, {"fit__n_estimators": [2, 4]})
    work = replace(WORK, configurations=configurations, routed=Routing(fit={to_fit: np.arange(60.0)}))
    work = shared(work)
    fits = SplitFits(work, SPLIT, (0, 1))
    together, alone = fits.results((0, 1)), [fit_cell(work, each, SPLIT) for each in configurations]

    for ours, theirs in zip(together, alone, strict=True):
        assert (ours.state, ours.message) == (theirs.state, theirs.message)
        assert bool(ours.shared) == (to_fit == "fit__sample_weight")
        for response, values in theirs.predictions.items():
            assert np.array_equal(ours.predictions[response], values)


class Spoiling(GaussianNB):
    """Changes the rows that it is fitted on."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Spoiling:
        super().fit(X, y, sample_weight)
        X[:] = 0
        return self


@pytest.mark.parametrize("estimator", [GaussianNB(), Spoiling()])
def test_rows_are_copied_for_estimators_that_may_change_them(
    estimator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=90)
    X, before = y[:, None] + rng.normal(size=(90, 3)), None
    for large in (10**9, 0):
        monkeypatch.setattr("heldout.execution.split_fits.LARGE", large)
        search = ho.HeldOutSearchCV(estimator, {"var_smoothing": [1e-9, 0.1]}, method=None, random_state=0)
        scores = search.fit(X.copy(), y).cv_results_["mean_test_score"].tolist()
        assert before in (None, scores)
        before = scores
