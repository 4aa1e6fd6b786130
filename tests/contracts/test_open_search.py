"""``open_search``: any optimiser hands in estimators, and the best is estimated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho
from heldout.execution.store.file_status import file_status
from heldout.search.open import changed_params

RNG = np.random.default_rng(0)
Y = np.tile([0, 1], 45)
X = np.column_stack([Y + RNG.normal(size=90), RNG.normal(size=90)])
SETTINGS: dict[str, Any] = {"cv": 3, "n_bootstraps": 50, "random_state": 0}


def climbed(search: ho.search.OpenSearch) -> list[float]:
    """Scores of a hill climber over the number of neighbours."""
    n, scores = 1, [search.evaluate(KNeighborsClassifier(1))]
    while n < 45:
        n += 12
        scores.append(search.evaluate(KNeighborsClassifier(n)))
    return scores


def test_scores_are_those_of_cross_validation_and_the_best_is_estimated() -> None:
    search = ho.open_search(X, Y, **SETTINGS)
    scores = climbed(search)
    expected = [cross_val_score(KNeighborsClassifier(1 + 12 * k), X, Y, cv=3).mean() for k in range(5)]
    assert scores == pytest.approx(expected, abs=1e-15)
    found = search.finish()
    assert found is search.finish()
    assert found.winner == int(np.argmax(expected))
    grid = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1 + 12 * k for k in range(5)]}, **SETTINGS)
    estimate = grid.fit(X, Y).estimate_
    assert (found.estimate.value, found.estimate.interval) == (estimate.value, estimate.interval)
    assert ho.Flag.ADAPTIVE_SEARCH in found.estimate.flags
    assert found.configurations.names[1] == "KNeighborsClassifier (n_neighbors=13)"
    assert np.array_equal(found.model.predict(X), KNeighborsClassifier(1 + 12 * found.winner).fit(X, Y).predict(X))


def test_a_score_is_in_the_aggregate_of_the_search() -> None:
    search = ho.open_search(X, Y, scoring="roc_auc", aggregate="within", **SETTINGS)
    score = search.evaluate(KNeighborsClassifier(9))
    assert score == search.finish().whole_scores("within")["score"][0]


def test_losses_are_negative_as_scorers_have_them() -> None:
    y = X @ [1.0, 2.0] + RNG.normal(size=90)
    with ho.open_search(X, y, scoring="neg_root_mean_squared_error", cv=3) as search:
        score = search.evaluate(Ridge(5))
        assert score == pytest.approx(
            cross_val_score(Ridge(5), X, y, cv=3, scoring="neg_root_mean_squared_error").mean(), abs=1e-12
        )


def test_it_finds_its_fits_in_the_store(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with ho.open_search(X, Y, store=path, **SETTINGS) as search:
        search.evaluate(KNeighborsClassifier(1))
        search.evaluate(KNeighborsClassifier(25))
    assert file_status(path).runs[0].n_done == 6
    again = ho.open_search(X, Y, store=path, **SETTINGS)
    scores = climbed(again)
    assert scores == climbed(ho.open_search(X, Y, **SETTINGS))
    again.finish()
    (status,) = file_status(path).runs
    assert status.n_done == 15
    assert status.best is not None and status.best.score == max(scores)


def test_groups_and_weights_reach_splits_and_fits() -> None:
    groups, weights = np.repeat(np.arange(9), 10), np.tile([1.0, 3.0, 0.5], 30)
    search = ho.open_search(X, Y, cv=GroupKFold(3), groups=groups, sample_weight=weights, scoring="neg_log_loss")
    score = search.evaluate(LogisticRegression())
    by_hand = []
    for train, test in GroupKFold(3).split(X, Y, groups):
        model = LogisticRegression().fit(X[train], Y[train], sample_weight=weights[train])
        chance = model.predict_proba(X[test])[np.arange(len(test)), Y[test]]
        by_hand.append(np.average(np.log(chance), weights=weights[test]))
    assert score == pytest.approx(np.mean(by_hand), rel=1e-12)


class Breaks(KNeighborsClassifier):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> Any:
        raise ValueError("no luck")


def test_a_failure_is_nan_and_no_candidate() -> None:
    search = ho.open_search(X, Y, **SETTINGS)
    assert np.isnan(search.evaluate(Breaks()))
    search.evaluate(KNeighborsClassifier(9))
    with pytest.warns(ho.HeldoutWarning, match="1 of 2 configurations failed"):
        assert search.finish().winner == 1


def test_an_estimator_that_changes_later_is_the_one_that_was_evaluated() -> None:
    search, model = ho.open_search(X, Y, **SETTINGS), KNeighborsClassifier(1)
    first = search.evaluate(model)
    assert search.evaluate(model.set_params(n_neighbors=25)) != first
    assert [each.fresh().n_neighbors for each in search.finish().configurations] == [1, 25]


def test_what_cannot_be_evaluated_is_refused_in_one_sentence() -> None:
    search, model = ho.open_search(X, Y, **SETTINGS), KNeighborsClassifier(3)
    params = "params must be a dict of what is shown, or None, got 3"
    refused = [(search, (KNeighborsClassifier,), "must be an estimator with fit and get_params")]
    refused += [(search, (model, 3), params)]
    refused += [(ho.open_search(X, Y, drop="sequential"), (model,), "`drop='sequential'` races all")]
    refused += [(ho.open_search(X, Y, cv="many"), (model,), "cv")]
    refused += [
        (ho.open_search(X, Y, deploy="bonded"), (model,), "deploy must be one of all, bounded, got 'bonded'")
    ]
    refused += [
        (ho.open_search(X, Y, keep_models="best"), (model,), "keep_models must be one of none, winner, all")
    ]
    refused += [(ho.open_search(X, None), (model,), "requires y")]
    for opened, given, sentence in refused:
        with pytest.raises(ho.InputError, match=sentence):
            opened.evaluate(*given)
    with pytest.raises(ho.InputError, match="no configuration was evaluated"):
        search.finish()
    search.evaluate(model)
    with pytest.raises(ho.InputError, match="a classifier and LinearRegression is a regressor"):
        search.evaluate(LinearRegression())
    search.finish()
    with pytest.raises(ho.InputError, match="open a new one"):
        search.evaluate(KNeighborsClassifier(5))


def test_a_name_shows_what_differs_from_the_defaults() -> None:
    columns = ColumnTransformer([("some", MinMaxScaler(clip=True), [0])])
    model = make_pipeline(columns, StandardScaler(with_mean=False), Ridge(alpha=2.0))
    assert changed_params(model) == {
        "columntransformer__some__clip": True,
        "standardscaler__with_mean": False,
        "ridge__alpha": 2.0,
    }


class Own(BaseEstimator):  # type: ignore[misc]
    def __init__(self, needed: int, limit: float = np.nan) -> None:
        self.needed, self.limit = needed, limit


def test_parameters_without_a_default_are_shown() -> None:
    assert changed_params(Own(3)) == {"needed": 3}
