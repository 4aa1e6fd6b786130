"""Finished searches and results of ``cross_validate`` are corrected from what they kept."""

from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

X, Y = make_classification(120, 8, n_informative=3, flip_y=0.2, random_state=0)
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 5]}
ASKED: dict[str, Any] = {"n_bootstraps": 60, "random_state": 3}


@cache
def searched(*scoring: str, cv: int = 5) -> GridSearchCV:
    """A finished search, selected by its own score, or by the first of several; tests only read it."""
    several = {"scoring": [*scoring], "refit": scoring[0]} if scoring else {}
    return GridSearchCV(TREE, GRID, cv=cv, **several).fit(X, Y)


def test_a_grid_search_is_corrected_as_ours_is() -> None:
    theirs = GridSearchCV(TREE, GRID, cv=StratifiedKFold(5), scoring="roc_auc").fit(X, Y)
    ours = ho.HeldOutSearchCV(
        TREE, GRID, cv=StratifiedKFold(5), scoring="roc_auc", method="bbc_f", n_bootstraps=60, random_state=3
    ).fit(X, Y)
    found = ho.correct(theirs, n_bootstraps=60, random_state=ours.estimate_.provenance["entropy"])
    assert found.value == pytest.approx(ours.estimate_.value, abs=1e-12)
    assert found.selected == theirs.best_index_
    assert found.uncorrected == pytest.approx(theirs.best_score_, abs=1e-12)
    assert found.selected_name == ours.estimate_.selected_name
    assert found.metric == "roc_auc"
    again = ho.correct(ours, n_bootstraps=60, random_state=ours.estimate_.provenance["entropy"])
    assert (again.value, *again.interval) == pytest.approx((found.value, *found.interval), abs=1e-12)
    one_sided = ho.correct(theirs, alternative="greater", **ASKED)
    assert one_sided.interval is not None and one_sided.interval.high == 1  # the range of the scorer is known


def test_repeats_are_read_from_the_splitter() -> None:
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    found = ho.correct(RandomizedSearchCV(TREE, GRID, n_iter=5, cv=cv, random_state=0).fit(X, Y), **ASKED)
    assert found.provenance["n_repeats"] == 3
    assert ho.Flag.SELECTION_DIFFERS in found.flags


def test_the_last_rung_of_a_halving_is_replayed_and_flagged() -> None:
    search = HalvingGridSearchCV(TREE, GRID, cv=4, factor=2, min_resources=40, random_state=0).fit(X, Y)
    found = ho.correct(search, method="tt")
    last = search.cv_results_["iter"] == search.n_iterations_ - 1
    assert found.provenance["n_configurations"] == last.sum() < len(last)
    assert found.uncorrected == pytest.approx(search.best_score_, abs=1e-12)
    assert f"among {last.sum()} configurations" in found.flags[ho.Flag.ADAPTIVE_SEARCH]


class AsksOptuna(GridSearchCV):
    """A search whose configurations came from a study, as those of OptunaSearchCV do."""

    study_ = None


def test_searches_that_keep_a_study_are_flagged_and_a_user_may_know_better() -> None:
    fixed = searched()
    asks = AsksOptuna(TREE, GRID, cv=5).fit(X, Y)
    flag = ho.Flag.ADAPTIVE_SEARCH
    assert flag not in ho.correct(fixed, method="tt").flags
    assert flag in ho.correct(asks, method="tt").flags
    assert flag in ho.correct(fixed, method="tt", adaptive=True).flags
    assert flag not in ho.correct(asks, method="tt", adaptive=False).flags
    with pytest.raises(ho.InputError, match="adaptive must be True or False, got 'no'"):
        ho.correct(fixed, adaptive="no")


def test_a_callable_refit_is_replayed() -> None:
    def simplest(results: dict[str, Any]) -> int:
        good = results["mean_test_score"] >= results["mean_test_score"].max() - 0.02
        return int(np.flatnonzero(good)[0])

    search = GridSearchCV(TREE, GRID, cv=5, refit=simplest).fit(X, Y)
    found = ho.correct(search, **ASKED)
    assert found.selected == search.best_index_
    assert found.provenance["selection"] == "refit callable simplest"


def test_another_metric_is_of_the_configuration_that_the_first_chose() -> None:
    search = searched("roc_auc", "accuracy")
    found = ho.correct(search, metric="accuracy", **ASKED)
    assert found.selected == search.best_index_
    expected = search.cv_results_["mean_test_accuracy"][search.best_index_]
    assert found.uncorrected == pytest.approx(expected, abs=1e-12)
    with pytest.raises(
        ho.InputError, match="metric must be one of the search's scores, 'roc_auc', 'accuracy', got 'r2'"
    ):
        ho.correct(search, metric="r2")


def test_a_search_that_selected_by_none_of_several_scores_is_asked_for_one() -> None:
    search = GridSearchCV(TREE, GRID, cv=5, scoring=["roc_auc", "accuracy"], refit=False).fit(X, Y)
    with pytest.raises(ho.InputError, match="selected by none of several scores, 'roc_auc', 'accuracy'; name"):
        ho.correct(search)
    found = ho.correct(search, metric="accuracy", **ASKED)
    assert found.selected == search.cv_results_["mean_test_accuracy"].argmax()
    single = ho.correct(searched(), **ASKED)
    assert (found.value, found.interval) == (single.value, single.interval)


def test_repeated_subsampling_has_its_own_methods() -> None:
    search = GridSearchCV(TREE, GRID, cv=ShuffleSplit(20, test_size=0.25, random_state=0)).fit(X, Y)
    found = ho.correct(search, method="wmc", test_share=0.25, random_state=0)
    assert found.value < found.uncorrected == pytest.approx(search.best_score_, abs=1e-12)
    with pytest.raises(ho.InputError, match="as ShuffleSplit's do, are a repeat each"):
        ho.correct(search)


def test_rows_in_the_order_of_time_are_flagged() -> None:
    search = GridSearchCV(TREE, GRID, cv=TimeSeriesSplit(4)).fit(X, Y)
    assert ho.Flag.NOT_EXCHANGEABLE in ho.correct(search, **ASKED).flags


# --- studies ----------------------------------------------------------------------------------------------


class State(Enum):
    COMPLETE = 1
    PRUNED = 2


class Direction(Enum):
    MINIMIZE = 1
    MAXIMIZE = 2


@dataclass
class Trial:
    number: int
    params: dict[str, Any]
    intermediate_values: dict[int, float] = field(default_factory=dict)
    user_attrs: dict[str, Any] = field(default_factory=dict)
    state: State = State.COMPLETE

    @property
    def value(self) -> float | None:
        """The mean of the scores, as the objective returned it."""
        scores = [*self.user_attrs.values(), *self.intermediate_values.values()]
        return float(np.mean(scores)) if scores else None


@dataclass
class Study:
    trials: list[Trial]
    direction: Direction = Direction.MINIMIZE


LOSSES = np.random.default_rng(0).uniform(0.2, 0.4, (8, 6))


@pytest.mark.parametrize("kept", ["reported", "attributes"])
def test_a_study_is_corrected_by_what_its_trials_kept(kept) -> None:
    trials = [Trial(j, {"C": 10.0**-j}) for j in range(6)]
    for trial, losses in zip(trials, LOSSES.T, strict=True):
        if kept == "reported":
            trial.intermediate_values = dict(enumerate(losses))
        else:
            trial.user_attrs = {f"split{i}_test_score": loss for i, loss in enumerate(losses)}
    trials.append(Trial(6, {"C": 1.0}, {0: 0.0}, state=State.PRUNED))
    found = ho.correct(Study(trials), **ASKED)
    plain = ho.estimate_from_scores(LOSSES, greater_is_better=False, method="bbc_f", **ASKED)
    assert (found.value, found.interval, found.optimism) == (plain.value, plain.interval, plain.optimism)
    assert found.selected_name == f"trial {plain.selected} (C={10.0**-plain.selected:.4g})"
    assert "among 6 configurations" in found.flags[ho.Flag.ADAPTIVE_SEARCH]


def test_a_search_without_results_is_corrected_by_its_study() -> None:
    study = Study([Trial(n, {}, {0: 0.5 + n / 10, 1: 0.6, 2: 0.4}) for n in range(3)])
    search = SimpleNamespace(study_=study, best_index_=0)
    assert ho.correct(search, **ASKED).value == ho.correct(study, **ASKED).value


def study_of(returned, reported):
    """A real study of 4 trials, whose objective reports and returns what these functions make of 5 losses."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        losses = LOSSES[:5, trial.suggest_int("column", 0, 5)]
        for step, each in enumerate(reported(losses)):
            trial.report(each, step)
        return float(returned(losses))

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=4)
    return study


def itself(losses):
    return losses


STEPS = {
    "epochs": (lambda losses: losses[-1], itself),
    "best epoch": (np.min, itself),
    "running means": (np.mean, lambda losses: np.cumsum(losses) / np.arange(1, 6)),
    "another sign": (lambda losses: -losses.mean(), itself),
    "median": (np.median, itself),
    "less half an SD": (lambda losses: losses.mean() - losses.std() / 2, itself),
    "percent": (np.mean, lambda losses: 100 * losses),
    "one fold missing": (np.mean, lambda losses: losses[:4]),
    "weighted by fold": (lambda losses: np.average(losses, weights=[1, 1, 1, 1, 2]), itself),
}


@pytest.mark.parametrize("kind", STEPS)
def test_steps_whose_mean_is_not_the_value_are_refused(kind: str) -> None:
    with pytest.raises(
        ho.InputError, match=r"trial 0 has the value .* Call trial\.report.*ho\.estimate_from_scores"
    ):
        ho.correct(study_of(*STEPS[kind]), **ASKED)


def test_one_trial_of_many_whose_steps_are_no_folds_is_refused() -> None:
    trials = [Trial(n, {}, dict(enumerate(LOSSES[:, n]))) for n in range(4)]
    silent = Trial(4, {}, user_attrs={"note": 0.1})
    with pytest.raises(ho.InputError, match=r"but trial 4 has the value 0\.1 and the mean nan"):
        ho.correct(Study([*trials, silent]), **ASKED)


def test_scores_of_folds_also_in_float32_and_around_zero_are_corrected() -> None:
    study = study_of(np.mean, itself)
    assert ho.correct(study, **ASKED).uncorrected == pytest.approx(study.best_value, abs=1e-12)
    found = ho.correct(study_of(np.mean, lambda losses: losses.astype(np.float32)), **ASKED)
    assert found.uncorrected == pytest.approx(LOSSES[:5].mean(axis=0).min(), abs=0.1)
    centred = study_of(lambda losses: (losses - losses.mean()).mean(), lambda losses: losses - losses.mean())
    assert ho.correct(centred, **ASKED).uncorrected == pytest.approx(0, abs=1e-12)


def test_a_study_of_several_objectives_is_refused_with_the_call_that_works() -> None:
    optuna = pytest.importorskip("optuna")
    study = optuna.create_study(directions=["minimize", "maximize"])
    study.optimize(lambda trial: (trial.suggest_float("a", 0, 1), 1.0), n_trials=2)
    with pytest.raises(ho.InputError, match=r"several objectives.*ho\.estimate_from_scores"):
        ho.correct(study)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss"])
@pytest.mark.filterwarnings("ignore")  # of Optuna about itself
def test_a_real_search_of_optuna_integration_is_corrected_by_its_study(scoring: str) -> None:
    integration = pytest.importorskip("optuna_integration")
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = {"max_depth": optuna.distributions.IntDistribution(1, 4)}
    search = integration.OptunaSearchCV(TREE, space, n_trials=6, cv=4, scoring=scoring, random_state=0).fit(X, Y)
    found = ho.correct(search, **ASKED)
    assert found.uncorrected == pytest.approx(search.best_score_) and found.metric == scoring
    assert found.provenance["n_configurations"] == 6 and ho.Flag.ADAPTIVE_SEARCH in found.flags
    unfitted = integration.OptunaSearchCV(TREE, space)
    with pytest.raises(ho.InputError, match="fit it first"):
        ho.correct(unfitted)


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (GridSearchCV, "a finished search is needed, got the class GridSearchCV"),
        (GridSearchCV(TREE, GRID), "a finished search or study is needed, got GridSearchCV; fit it first"),
        (3, "got int; it has neither cv_results_ nor trials"),
        (Study([]), "the study has no completed trial"),
        (Study([Trial(0, {})]), "trials keep no scores of splits; report each"),
    ],
    ids=["class", "unfitted", "number", "empty", "silent"],
)
def test_a_search_that_cannot_be_corrected_is_refused(search, message) -> None:
    with pytest.raises(ho.InputError, match=message):
        ho.correct(search)


def test_a_winner_by_the_last_bit_is_tied_with_the_first_of_equal_ones() -> None:
    splits = {"split0_test_score": [0.3, 0.1], "split1_test_score": [0.2, 0.2], "split2_test_score": [0.1, 0.3]}
    assert 0.1 + 0.2 + 0.3 > 0.3 + 0.2 + 0.1
    results = {"params": [{"max_depth": 1}, {"max_depth": 2}], **splits}
    found = ho.correct(SimpleNamespace(cv_results_=results, best_index_=1, refit=True, estimator=TREE), **ASKED)
    assert found.selected == 0
    assert "takes DecisionTreeClassifier (max_depth=2)" in found.flags[ho.Flag.TIED_WINNER]


def test_a_choice_that_the_scores_do_not_explain_is_refused() -> None:
    search = copy(searched())
    search.best_index_ = int(np.argmin(search.cv_results_["mean_test_score"]))
    with pytest.raises(ho.InputError, match="so its choice cannot be replayed"):
        ho.correct(search)


def hits(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X) == y))


@pytest.mark.parametrize(
    "scoring, title", [(None, "accuracy"), ("roc_auc", "roc_auc"), (hits, "hits"), (lambda *given: 0.5, "score")]
)
@pytest.mark.filterwarnings("ignore:No bound")
def test_the_estimate_is_named_after_the_metric(scoring: Any, title: str) -> None:
    finished = GridSearchCV(TREE, {"max_depth": [1, 3]}, scoring=scoring, cv=5).fit(X, Y)
    assert ho.correct(finished, **ASKED).metric == title


@pytest.mark.parametrize("names, title", [(None, "objective"), (["balanced accuracy"], "balanced accuracy")])
def test_an_estimate_of_a_study_is_of_its_objective(names: list[str] | None, title: str) -> None:
    study = Study([Trial(n, {}, {0: 0.5 + n / 10, 1: 0.6, 2: 0.4}) for n in range(3)])
    study.metric_names = names
    assert ho.correct(study, **ASKED).metric == title


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"params": None}, "must hold 'params', a list of the parameters of each configuration"),
        ({"params": []}, "must hold 'params', a list of the parameters"),
        ({"params": [{"max_depth": 1}]}, "must hold a number for each of 1 configurations, got array"),
        (
            {"split0_test_score": ["0.5"] * 8},
            r"'split0_test_score'\] must hold a number for each of 8 configurations",
        ),
        ({"split0_test_score": {"a": 1}}, r"'split0_test_score'\] must hold a number .* got \{'a': 1\}"),
        ({"iter": [0]}, r"'iter'\] must hold a number for each of 8 configurations, got \[0\]"),
    ],
)
def test_results_that_are_none_are_refused(changed: dict[str, Any], said: str) -> None:
    finished = copy(searched())
    finished.cv_results_ = {**finished.cv_results_, **changed}
    with pytest.raises(ho.InputError, match=said):
        ho.correct(finished, **ASKED)


def test_a_winner_that_is_not_among_the_candidates_is_refused() -> None:
    finished = copy(searched())
    finished.best_index_ = 99
    with pytest.raises(ho.InputError, match="best_index_ must be one of the 8 compared rows, got 99"):
        ho.correct(finished, **ASKED)


MODELS = {f"depth {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 2, 3, 5)}


def results(cv: Any = StratifiedKFold(5), **settings: Any) -> dict[str, Any]:  # noqa: B008 - it keeps no state
    return {name: cross_validate(model, X, Y, cv=cv, **settings) for name, model in MODELS.items()}


def test_it_is_the_estimate_of_a_search_over_these_models() -> None:
    searched = ho.HeldOutSearchCV(
        [(name, model, {}) for name, model in MODELS.items()],
        cv=StratifiedKFold(5),
        method="bbc_f",
        **ASKED,
    ).fit(X, Y)
    found, theirs = ho.correct(results(), **ASKED), searched.estimate_
    assert (found.value, found.interval, found.selected) == (theirs.value, theirs.interval, theirs.selected)
    assert found.uncorrected == theirs.uncorrected and found.selected_name == list(MODELS)[found.selected]
    assert ho.correct(results(), method="tt").uncorrected == theirs.uncorrected


def test_the_metric_selects_where_there_are_several() -> None:
    several = results(scoring=["accuracy", "roc_auc"])
    by_auc = ho.correct(several, metric="roc_auc", **ASKED)
    means = {name: result["test_roc_auc"].mean() for name, result in several.items()}
    assert by_auc.metric == "roc_auc" and by_auc.selected_name == max(means, key=lambda name: means[name])
    with pytest.raises(ho.InputError, match="several scores, 'accuracy', 'roc_auc'; name the one that selects"):
        ho.correct(several)
    with pytest.raises(ho.InputError, match="metric must be one of the search's scores"):
        ho.correct(several, metric="f1")


def test_indices_tell_repeats_and_models_on_other_rows() -> None:
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    told = results(repeated, return_indices=True)
    assert ho.correct(told, **ASKED).provenance["n_repeats"] == 2
    assert ho.correct(results(repeated), **ASKED).provenance["n_repeats"] == 1
    small = ShuffleSplit(8, test_size=10, random_state=0)  # of which some overlap, and others not
    searched = GridSearchCV(TREE, GRID, cv=small).fit(X, Y)
    for split_anew in (searched, results(small, return_indices=True)):
        assert ho.correct(split_anew, method="tt").provenance["n_repeats"] == 8
        with pytest.raises(ho.InputError, match="as ShuffleSplit's do, are a repeat each"):
            ho.correct(split_anew, **ASKED)
    shuffled = cross_validate(
        MODELS["depth 1"], X, Y, cv=KFold(6, shuffle=True, random_state=1), return_indices=True
    )
    with pytest.raises(
        ho.InputError, match=r"other was tested on other rows than depth 1; give every model the same"
    ):
        ho.correct({**told, "other": shuffled})


def test_a_halving_by_random_draws_is_corrected_by_its_last_rung() -> None:
    search = HalvingRandomSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4, 5, 6]}, cv=4, factor=2, n_candidates=6,
        min_resources=40, random_state=0,
    ).fit(X, Y)  # fmt: skip
    found = ho.correct(search, method="tt")
    assert found.uncorrected == pytest.approx(search.best_score_) and ho.Flag.ADAPTIVE_SEARCH in found.flags
    assert found.provenance["n_configurations"] == int(
        (search.cv_results_["iter"] == search.n_iterations_ - 1).sum()
    )


ONE = {"test_score": np.array([0.5, 0.6])}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ONE,
            r"the results of one model, which was not selected among others; give .* as \{'name': cross_validate\(",
        ),
        ({}, "a mapping of several names is needed, got"),
        ({"a": 5}, "the results of a are 5; give"),
        ({"a": {"fit_time": [1.0]}}, r"the results of a hold no test_\* scores"),
        ({"a": {"test_score": ["x", "y"]}}, "test_score of a must hold a number for each split"),
        (
            {"a": ONE, "b": {"test_score": [0.5, 0.6, 0.7]}},
            "b has 3 splits and a has 2; give every model the same cv",
        ),
        ({"a": ONE, "b": {"test_f1": [0.5, 0.6]}}, "the models have no score in common"),
        ({"a": {**ONE, "indices": 3}}, "the indices of a must be those of return_indices=True, got 3"),
        ({1: ONE, "1": ONE}, "a mapping of several names is needed"),
    ],
)
def test_what_cannot_be_compared_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ho.InputError, match=message):
        ho.correct(given)


def test_splits_that_are_not_known_to_be_the_same_are_flagged() -> None:
    unseeded = ho.correct(results(KFold(5, shuffle=True)), **ASKED)
    assert "the results came without indices" in unseeded.flags[ho.Flag.SPLITS_UNKNOWN]
    known = results(return_indices=True)
    assert ho.Flag.SPLITS_UNKNOWN not in ho.correct(known, **ASKED).flags
    known["depth 2"].pop("indices")
    assert "those of 'depth 2' came without indices" in ho.correct(known, **ASKED).flags[ho.Flag.SPLITS_UNKNOWN]
    with pytest.raises(ho.InputError, match="tested on other rows"):
        ho.correct(results(KFold(5, shuffle=True), return_indices=True), **ASKED)
