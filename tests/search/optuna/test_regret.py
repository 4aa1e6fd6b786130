"""Stopping when further search is useless: the estimate by hand, in spaces of every kind, and in searches."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from sklearn.datasets import make_classification
from sklearn.svm import SVC

import heldout as ho
from heldout.errors import HeldoutWarning, InputError
from heldout.search.optuna.regret import (
    DELTA,
    FEWEST_TRIALS,
    UselessSearch,
    axes_of,
    fitted_process,
    random_points,
    regret_of,
    scored_trials,
    unit_point,
)

SPACE = {"C": FloatDistribution(1e-2, 1e2, log=True), "gamma": FloatDistribution(1e-4, 10, log=True)}
X, Y = make_classification(120, n_informative=3, flip_y=0.1, random_state=2)


def trial_of(value: float, params: dict[str, Any], space: dict[str, Any], folds: tuple[float, ...] = ()) -> Any:
    folds = folds or (value - 0.1, value, value + 0.1)
    return optuna.trial.create_trial(
        params=params, distributions={name: space[name] for name in params}, value=value,
        intermediate_values=dict(enumerate(folds)),
    )  # fmt: skip


def on_a_line(n: int, height: float = 0.0) -> list[Any]:
    """Scores of a smooth curve in one parameter."""
    space = {"x": FloatDistribution(0, 1)}
    return [trial_of(0.8 - height * (x - 0.3) ** 2, {"x": x}, space) for x in np.linspace(0, 1, n)]


def test_the_standard_error_is_that_of_nadeau_and_bengio() -> None:
    """Folds .7, .8, .9: s² = .01; with K = 3 the variance is .01 (1/3 + 1/2)."""
    assert regret_of(on_a_line(25, 1.0), 0.5, 0).standard_error == pytest.approx(math.sqrt(0.01 * (1 / 3 + 1 / 2)))


def test_the_bound_is_the_reach_of_a_process_by_hand() -> None:
    """The posterior of a Gaussian process written out: k' (K + noise)⁻¹ y, with the fitted kernel."""
    trials = on_a_line(21, 1.0)
    kept = sorted(trials, key=lambda each: -each.value)[:FEWEST_TRIALS]
    points = np.array([[each.params["x"]] for each in kept])
    scores = np.array([each.value for each in kept]) + np.random.default_rng(0).normal(0, 0.05, len(kept))
    process = fitted_process(points, scores)
    anywhere = np.linspace(0, 1, 50)[:, None]
    kernel, noise = process.kernel_, process.alpha
    scaled = (scores - scores.mean()) / scores.std()
    inverse = np.linalg.inv(kernel(points) + noise * np.eye(len(points)))
    cross = kernel(anywhere, points)
    mean = scores.mean() + scores.std() * (cross @ inverse @ scaled)
    variance = np.diag(kernel(anywhere)) - np.einsum("ij,jk,ik->i", cross, inverse, cross)
    found = process.predict(anywhere, return_std=True)
    np.testing.assert_allclose(found[0], mean, atol=1e-6)
    np.testing.assert_allclose(found[1], scores.std() * np.sqrt(np.maximum(variance, 0)), atol=1e-4)


def test_more_trials_of_a_smooth_curve_leave_less_regret() -> None:
    few, many = (regret_of(on_a_line(n, 1.0), 0.5, 0) for n in (21, 101))
    assert 0 <= many.bound <= few.bound + 1e-9
    assert many.is_useless
    below, at = (replace(many, bound=bound, standard_error=0.02) for bound in (0.019, 0.02))
    assert below.is_useless and not at.is_useless
    assert DELTA == 0.1


def test_equal_scores_leave_none_and_folds_that_are_alike_never_stop() -> None:
    assert regret_of(on_a_line(25), 0.5, 0).bound == 0
    space = {"x": FloatDistribution(0, 1)}
    alike = [trial_of(0.5, {"x": x}, space, (0.5, 0.5, 0.5)) for x in np.linspace(0, 1, 25)]
    found = regret_of(alike, 0.5, 0)
    assert np.isnan(found.standard_error)
    assert not found.is_useless


def test_every_kind_of_parameter_has_its_place() -> None:
    space = {
        "C": FloatDistribution(0.01, 100, log=True),
        "depth": IntDistribution(1, 9),
        "kernel": CategoricalDistribution(["rbf", "poly", None]),
        "degree": IntDistribution(2, 4),
    }
    trials = [
        trial_of(0.5, {"C": 1.0, "depth": 5, "kernel": "poly", "degree": 4}, space),
        trial_of(0.6, {"C": 100.0, "depth": 1, "kernel": None}, space),
    ]
    axes = axes_of(trials)
    assert [axis.name for axis in axes] == ["C", "depth", "kernel", "kernel", "kernel", "degree", "degree"]
    assert unit_point(trials[0], axes) == pytest.approx([0.5, 0.5, 0, 1, 0, 1, 1])
    assert unit_point(trials[1], axes) == pytest.approx([1, 0, 0, 0, 1, 0, 0.5])
    drawn = random_points(np.random.default_rng(0), axes)
    assert (drawn[:, 2:5].sum(axis=1) == 1).all()
    assert (drawn[drawn[:, 5] == 0, 6] == 0.5).all()
    assert ((drawn >= 0) & (drawn <= 1)).all()


def test_failed_and_pruned_trials_do_not_count() -> None:
    study = optuna.create_study(direction="maximize")
    study.add_trials(on_a_line(19))
    study.add_trial(optuna.trial.create_trial(state=optuna.trial.TrialState.FAIL))
    study.add_trial(optuna.trial.create_trial(state=optuna.trial.TrialState.PRUNED))
    assert len(scored_trials(study)) == 19
    useless = UselessSearch(0.5, 0)
    assert not useless.is_reached(study, range(99))
    assert useless.found is None
    study.add_trial(on_a_line(2)[0])
    assert useless.is_reached(study, range(99))
    assert useless.sentence(21, 100).startswith(
        "The search stopped after 21 of 100 trials: the estimated regret, 0,"
    )


def search(**settings: Any) -> ho.HeldOutOptunaSearchCV:
    settings = {"n_trials": 60, "scoring": "accuracy", "random_state": 1, "cv": 2, "n_bootstraps": 20} | settings
    return ho.HeldOutOptunaSearchCV(SVC(), SPACE, **{"stop_when_useless": True, **settings})


def test_a_search_stops_and_says_so(tmp_path: Path) -> None:
    found = search().fit(X, Y)
    n = len(found.study_.trials)
    assert 20 <= n < 60
    assert f"stopped after {n} of 60 trials" in found.stop_reason_
    assert found.evaluation_.provenance["stop_reason"] == found.stop_reason_
    assert found.stop_reason_ in found.estimate_.flags["stopped_when_useless"]
    assert len(found.cv_results_["params"]) == n
    kept = search(store=tmp_path / "run.db", n_trials=15).fit(X, Y)
    assert kept.stop_reason_ == ""
    assert kept.cv_results_["params"] == found.cv_results_["params"][:15]
    kept = search(store=tmp_path / "run.db").fit(X, Y)
    assert kept.stop_reason_ == found.stop_reason_
    assert kept.estimate_.value == found.estimate_.value


def test_trials_of_an_earlier_search_in_the_study_do_not_count() -> None:
    """The winner is of this search's own trials, of which there must be enough."""
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    search(study=study, stop_when_useless=False, n_trials=20).fit(X, Y)
    with pytest.warns(HeldoutWarning, match="20 trials of before"):
        found = search(study=study).fit(X, Y)
    assert len(found.cv_results_["params"]) >= 20
    assert found.stop_reason_.startswith(f"The search stopped after {len(found.cv_results_['params'])} of 60")


def test_one_split_has_no_standard_error() -> None:
    with pytest.raises(InputError, match="`stop_when_useless=True` needs at least 2 splits"):
        search(cv=ho.protocols.hold_out()).fit(X, Y)


def test_it_is_checked_between_batches_and_for_any_number_of_workers() -> None:
    one, two = search(batch_size=4).fit(X, Y), search(batch_size=4, n_jobs=2).fit(X, Y)
    assert len(one.study_.trials) % 4 == 0
    assert one.stop_reason_ == two.stop_reason_ != ""
