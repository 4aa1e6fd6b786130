"""The 610 configurations: how many of what, all different, and each fits an untidy table."""

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

import heldout as ho
from heldout.configurations import Configurations, make_configurations
from heldout.errors import InputError
from heldout.spaces import ConstantWithoutColumns, SquareRootForest, tsamardinos2018


def untidy(n_rows: int = 40) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers with gaps, text with gaps, booleans; the first number tells the classes."""
    rng = np.random.default_rng(5)
    y = rng.choice(["ill", "well"], n_rows)
    X = pd.DataFrame(
        {
            "tells": np.where(rng.random(n_rows) < 0.1, np.nan, 2.0 * (y == "ill") + rng.normal(size=n_rows)),
            "number": rng.normal(size=n_rows),
            "text": np.where(rng.random(n_rows) < 0.2, None, rng.choice(["u", "v", "w"], n_rows)),
            "flag": rng.random(n_rows) < 0.5,
        }
    )
    return X, y


def thin(entries: list[Any]) -> list[Any]:
    """Of each grid the first and the last candidate."""
    ends = []
    for name, model, grid in entries:
        candidates = list(ParameterGrid(grid))
        ends += [(f"{name} {end}", clone(model).set_params(**candidates[end]), {}) for end in (0, -1)]
    return ends


def test_there_are_as_many_of_each_as_in_the_article() -> None:
    entries = tsamardinos2018(*untidy())
    numbers = {name: len(list(ParameterGrid(grid))) for name, _, grid in entries}

    learners = {"forest": 12, "linear svm": 5, "polynomial svm": 50, "gaussian svm": 25, "elastic net": 30}
    assert numbers == {**learners, **{f"ses {name}": 4 * number for name, number in learners.items()}}
    assert sum(numbers.values()) == 610


def test_all_differ_by_id_and_by_name_and_leave_their_seeds_to_the_search() -> None:
    configurations: Configurations = make_configurations(tsamardinos2018(*untidy()))

    assert len({text for _, text in configurations.identities()}) == 610  # the JSON, before ordinals
    assert len(set(configurations.names)) == 610
    for configuration in (configurations[0], configurations[12], configurations[-1]):
        params = configuration.fresh().get_params()
        assert all(value is None for name, value in params.items() if name.endswith("random_state"))


def test_every_learner_follows_every_selection() -> None:
    selections: dict[Any, Counter[tuple[Any, ...]]] = {}
    for configuration in make_configurations(tsamardinos2018(*untidy(), n_trees=7)):
        model = configuration.fresh()
        assert isinstance(model, Pipeline)
        select = model.named_steps.get("select")
        last = model.named_steps["fit"]
        last = last.estimator if isinstance(last, ConstantWithoutColumns) else last
        key = None if select is None else (select.alpha, select.max_k)
        settings = tuple(sorted(last.get_params().items(), key=lambda item: item[0]))
        selections.setdefault(key, Counter())[(type(last).__name__, *map(str, settings))] += 1
        assert not isinstance(last, SquareRootForest) or last.n_trees == 7

    assert set(selections) == {None, (0.05, 2), (0.05, 3), (0.01, 2), (0.01, 3)}
    first = selections[None]
    assert len(first) == 122 and set(first.values()) == {1}
    assert all(found == first for found in selections.values())


@pytest.mark.filterwarnings("ignore:Solver terminated early")
def test_a_search_of_both_ends_of_each_grid_on_an_untidy_table() -> None:
    X, y = untidy()
    search = ho.HeldOutSearchCV(
        thin(tsamardinos2018(X, y, n_trees=5)), scoring="roc_auc", cv=2, random_state=0, n_bootstraps=50
    ).fit(X, y)

    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 20 and np.isfinite(scores).all()
    assert search.best_score_ > 0.7


def test_where_nothing_is_selected_the_class_frequencies_are_predicted() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [9, 3])
    # Each value of the columns is as frequent in both classes.
    X = np.column_stack([np.tile([0.0, 1.0, 2.0], 4), rng.permutation(12) * 0 + np.tile([1.0, 2.0, 3.0], 4)])
    entries = [entry for entry in tsamardinos2018(X, y, n_trees=5) if entry[0].startswith("ses ")]
    for name, model, grid in entries:
        fitted = clone(model).set_params(**next(iter(ParameterGrid(grid)))).fit(X, y)
        assert not fitted["select"].support_.any(), name
        assert fitted["fit"].estimator_ is None
        assert (fitted.predict(X) == 0).all()
        if hasattr(fitted, "predict_proba"):
            np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], 0.25)
        else:
            np.testing.assert_allclose(fitted.decision_function(X), -np.log(3))


def test_the_number_of_columns_tried_is_of_those_selected() -> None:
    X, y = untidy()
    (entry,) = [entry for entry in tsamardinos2018(X, y, n_trees=3) if entry[0] == "ses forest"]
    model = clone(entry[1]).set_params(fit__estimator__roots=2.0, fit__estimator__min_leaf=5).fit(X, y)

    n_selected = int(model["select"].support_.sum())
    forest = model["fit"].estimator_
    assert isinstance(forest, RandomForestClassifier) and forest.min_samples_leaf == 5
    assert 1 <= n_selected < 4
    assert forest.max_features == min(n_selected, round(2 * n_selected**0.5))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (load_iris().target, "for a target of two classes, got 3 classes"),
        (np.linspace(0.1, 1.3, 150), "for a target of two classes, got a regression target"),
        (np.array([(True, 1.5)] * 150, dtype=[("event", bool), ("time", float)]), "got a survival target"),
    ],
    ids=["three classes", "numbers", "survival"],
)
def test_other_targets_are_refused(target: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tsamardinos2018(load_iris().data, target)


def test_no_trees_are_refused() -> None:
    with pytest.raises(InputError, match="n_trees must be an integer of at least 1, got 0"):
        tsamardinos2018(*untidy(), n_trees=0)
