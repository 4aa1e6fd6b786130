"""The preset of boosted models: native categories, any labels, rounds that one fit serves."""

import pickle
from collections import Counter
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import heldout as ho
from heldout.configurations import make_configurations
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.execution.fit import seeded_model
from heldout.execution.sharing.groups import sharing_of
from heldout.spaces import boosted, preset
from heldout.spaces.presets import PACKAGES, ROUNDS

KINDS = [TaskKind.BINARY, TaskKind.MULTICLASS, TaskKind.REGRESSION]
N = 90
RNG = np.random.default_rng(3)
GROUP = RNG.integers(0, 12, N)
X = pd.DataFrame(
    {
        "amount [x]": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
        "text": np.where(RNG.random(N) < 0.2, None, RNG.choice(["u", "v", "w"], N)),
        "group": pd.Categorical([f"g{code}" for code in GROUP]),
        "flag": RNG.random(N) < 0.5,
    }
)
TARGETS = {
    TaskKind.BINARY: np.array(["no", "yes"])[GROUP % 2],
    TaskKind.MULTICLASS: np.array(["a", "b", "c"])[GROUP % 3],
    TaskKind.REGRESSION: GROUP % 2 + 0.1 * RNG.normal(size=N),
}
FEW = {"max_iter": [5, 10], "n_estimators": [5, 10], "iterations": [5, 10]}


def few_rounds(grid: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Two numbers of rounds, and one of the other parameters."""
    return {name: FEW.get(name.removeprefix("fit__"), values[-1:]) for name, values in grid.items()}


def test_the_families_are_those_whose_packages_are_installed() -> None:
    names = [name for name, _, _ in preset("boosted", X, TaskKind.BINARY)]
    assert names == ["hist boosting", *(name for name in PACKAGES if find_spec(name))]
    assert "lightgbm" in names


@pytest.mark.parametrize(
    ("kind", "rows"), [*((kind, X) for kind in KINDS), (TaskKind.BINARY, X[["amount [x]"]].to_numpy())]
)
def test_every_family_fits_tables_and_arrays(kind: TaskKind, rows: Any) -> None:
    y = TARGETS[kind]
    for name, estimator, grid in boosted(rows, y):
        first = {key: values[0] for key, values in grid.items()}
        model = clone(estimator).set_params(**first).fit(rows[:60], y[:60])
        again = pickle.loads(pickle.dumps(model)).predict(rows[60:])
        predicted = np.asarray(model.predict(rows[60:])).reshape(-1)
        np.testing.assert_array_equal(np.asarray(again).reshape(-1), predicted, err_msg=name)
        assert set(predicted) <= set(y) or kind is TaskKind.REGRESSION, name


def test_categories_stay_one_column_that_models_split_on() -> None:
    """The target is a function of the group, of which no order of the names is any help."""
    y = TARGETS[TaskKind.BINARY]
    for name, estimator, grid in boosted(X, y):
        last = {key: values[-1] for key, values in few_rounds(grid).items()}
        model = clone(estimator).set_params(**{**last, "fit__learning_rate": 0.3})
        if name == "lightgbm":  # its defaults keep categories of few rows together
            model.set_params(fit__min_data_per_group=1, fit__cat_smooth=0, fit__min_child_samples=2)
        if name == "hist boosting":
            model.set_params(fit__min_samples_leaf=2)
        model.fit(X, y)
        assert model[0].transform(X).shape == X.shape, "no indicators"
        assert np.mean(np.asarray(model.predict(X)).reshape(-1) == y) > 0.95, name


@pytest.mark.parametrize("kind", KINDS)
def test_one_fit_serves_all_rounds(kind: TaskKind) -> None:
    configurations = make_configurations(preset("boosted", X, kind))
    sharing = sharing_of(configurations, lambda each: seeded_model(each.fresh(), 1), "exact", {})

    assert sharing is not None
    units = sharing.units(range(len(configurations)))
    assert {len(unit) for unit in units} == {len(ROUNDS)}
    assert set(Counter(configurations[unit[0]].model for unit in units).values()) == {4}
    assert len({key for key, _ in configurations.identities()}) == len(configurations)


@pytest.mark.parametrize("kind", [TaskKind.MULTICLASS, TaskKind.REGRESSION])
def test_results_are_those_of_separate_fits(kind: TaskKind) -> None:
    y = TARGETS[kind]
    entries = [(name, estimator, few_rounds(grid)) for name, estimator, grid in boosted(X, y)]
    scoring = "r2" if kind is TaskKind.REGRESSION else "neg_log_loss"
    shared, separate = (
        ho.HeldOutSearchCV(
            entries, cv=2, scoring=scoring, refit=False, method=None, random_state=0, share=share
        ).fit(X, y)
        for share in ("exact", False)
    )
    assert shared.n_fits_shared_ > separate.n_fits_shared_ == 0
    np.testing.assert_array_equal(shared.cv_results_["mean_test_score"], separate.cv_results_["mean_test_score"])


def test_all_families_stop_early_on_an_inner_split() -> None:
    y = TARGETS[TaskKind.BINARY]
    entries = [
        (name, estimator, {key: values[-1:] for key, values in grid.items()})
        for name, estimator, grid in boosted(X, y)
    ]
    settings = {"scoring": "neg_log_loss", "early_stopping": ho.inner_split(0.2, rounds=2)}
    found = ho.HeldOutSearchCV(entries, cv=2, method=None, random_state=0, **settings).fit(X, y)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    assert found.n_fits_shared_ == 0


def test_times_to_an_event_are_refused() -> None:
    with pytest.raises(InputError, match="boosted has no models for times to an event; use quick or standard"):
        preset("boosted", X, TaskKind.SURVIVAL)


def test_xgboost_takes_any_labels_and_is_fitted_again() -> None:
    xgboost = pytest.importorskip("xgboost")
    from heldout.spaces.labelled_xgboost import LabelledXGBClassifier

    numbers, codes = X[["flag"]].to_numpy().astype(float), GROUP % 3
    theirs = xgboost.XGBClassifier(n_estimators=5, n_jobs=1).fit(numbers, codes)
    ours = LabelledXGBClassifier(n_estimators=5, n_jobs=1)
    for labels in (np.array(["a", "b", "c"]), np.array([10, 20, 30])):
        ours.fit(numbers, labels[codes])
        assert ours.classes_.tolist() == labels.tolist()
        np.testing.assert_array_equal(ours.predict_proba(numbers), theirs.predict_proba(numbers))
        np.testing.assert_array_equal(ours.predict(numbers), labels[theirs.predict(numbers)])
