"""Protocols repeat an estimator that selects, an adaptive search among them, whole in every fit."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import randint
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - needed by the halving searches
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.arguments.search import SearchArguments, repeatable
from heldout.errors import InputError
from heldout.execution.copies import with_copies_together
from heldout.protocols.drawn_rows import drawn_rows
from heldout.protocols.learning_curve import subsampled_folds, training_counts

CANCER = load_breast_cancer()
X, Y = CANCER.data[:90, [1, 4, 8]], CANCER.target[:90]
DRAWS = {"n_neighbors": randint(1, 8), "weights": ["uniform", "distance"]}
NEIGHBOURS = KNeighborsClassifier()
SELECTING = {
    "random": make_pipeline(
        StandardScaler(), RandomizedSearchCV(NEIGHBOURS, DRAWS, n_iter=3, cv=2, random_state=0, scoring="roc_auc")
    ),
    "halving": HalvingGridSearchCV(NEIGHBOURS, {"n_neighbors": [1, 2, 3]}, cv=2, min_resources=20, random_state=0),
    "random halving": HalvingRandomSearchCV(
        NEIGHBOURS, DRAWS, n_candidates=4, cv=3, min_resources=30, random_state=0
    ),
    "ours": make_pipeline(
        StandardScaler(), ho.HeldOutRandomizedSearchCV(NEIGHBOURS, DRAWS, n_iter=3, cv=3, random_state=0)
    ),
}


@pytest.fixture
def model(request: pytest.FixtureRequest) -> Any:
    if request.param != "optuna":
        return SELECTING[request.param]
    pytest.importorskip("optuna")
    return ho.HeldOutOptunaSearchCV(NEIGHBOURS, DRAWS, n_trials=4, cv=3, random_state=0)


def area(model: Any, rows: Any) -> float:
    return float(roc_auc_score(Y[rows], model.predict_proba(X[rows])[:, 1]))


@pytest.mark.parametrize("model", ["random halving", "ours", "optuna"], indirect=True)
def test_nested_cross_validation_repeats_it_in_every_fold(model: Any) -> None:
    found = ho.nested_cv(model, X, Y, scoring="roc_auc", cv=3)
    expected = cross_val_score(model, X, Y, scoring="roc_auc", cv=3)
    np.testing.assert_allclose([fold.score for fold in found.outer_folds], expected, rtol=0, atol=1e-12)
    assert found.n_fits == 4
    assert found.model is not None and found.value == found.uncorrected


@pytest.mark.parametrize("model", ["ours", "optuna"], indirect=True)
def test_the_bootstrap_repeats_it_in_every_sample_with_copies_together(model: Any) -> None:
    found = ho.bootstrap_search(model, X, Y, scoring="roc_auc", cv=3, n_bootstraps=2, random_state=0)
    for each in found.bootstraps:
        own = with_copies_together(clone(model), each.drawn).fit(X[each.drawn], Y[each.drawn])
        assert each.out_of_bag_score == pytest.approx(area(own, each.left_out), abs=1e-12)
        assert np.isnan(each.in_bag_score)
    assert found.n_fits == 2 + 3 + 1
    assert found.uncorrected == pytest.approx(
        cross_val_score(model, X, Y, scoring="roc_auc", cv=3).mean(), abs=1e-12
    )


@pytest.mark.parametrize("model", ["random halving"], indirect=True)
def test_a_validation_repeats_it_in_every_sample_with_copies_together(model: Any) -> None:
    found = ho.bootstrap_validate(model, X, Y, metric="roc_auc", n_bootstraps=2, interval=None, random_state=0)
    optimism = []
    for counts in found.replicates.counts:
        drawn = drawn_rows(counts)
        own = with_copies_together(clone(model), drawn).fit(X[drawn], Y[drawn])
        optimism.append(area(own, drawn) - area(own, np.arange(90)))
    apparent = area(clone(model).fit(X, Y), np.arange(90))
    assert found.value == pytest.approx(apparent - np.mean(optimism), abs=1e-12)


@pytest.mark.parametrize("model", ["halving"], indirect=True)
def test_a_learning_curve_repeats_it_at_every_size(model: Any) -> None:
    sizes = (0.6, 0.8)
    found = ho.protocols.learning_curve(
        model, X, Y, scoring="roc_auc", training_sizes=sizes, n_subsamples=2, random_state=0
    )
    search = SearchArguments(model, scoring="roc_auc", cv=2, random_state=0).search_on(X, Y)
    folds = subsampled_folds(search.task, training_counts(sizes, 90), 2, search.entropy)
    expected = [area(clone(model).fit(X[each.train], Y[each.train]), each.test) for each in folds.splits]
    np.testing.assert_allclose(found.scores.ravel(), expected, rtol=0, atol=1e-12)
    assert found.n_fits == 4 + 1


def test_a_study_of_optuna_is_refused_and_a_store_is_left_alone(tmp_path: Path) -> None:
    optuna = pytest.importorskip("optuna")
    search = ho.HeldOutOptunaSearchCV(
        NEIGHBOURS, DRAWS, n_trials=2, cv=2, store=tmp_path / "run.db", random_state=0
    )
    found = ho.nested_cv(search, X, Y, cv=3, scoring="roc_auc")
    assert found.n_fits == 4 and not list(tmp_path.iterdir())
    assert found.model.store is None and found.model.method is None and found.model.n_trials == 2
    in_memory = optuna.create_study(direction="maximize")
    with pytest.raises(InputError, match="HeldOutOptunaSearchCV has a study, and every fit would continue it"):
        ho.nested_cv(clone(search, safe=False).set_params(study=in_memory), X, Y)


def test_an_adaptive_search_in_a_pipeline_is_scored_by_what_it_selects_by() -> None:
    by_area = make_pipeline(StandardScaler(), clone(SELECTING["halving"]).set_params(scoring="roc_auc"))
    assert ho.nested_cv(by_area, X, Y, cv=2, interval=None).metric == "roc_auc"


class KeepsGroups(KNeighborsClassifier):
    """Says whether a group was ever on both sides; the first column is the group."""

    def fit(self, X: Any, y: Any) -> KeepsGroups:
        self.groups_ = {*X[:, 0]}
        return super().fit(X, y)

    def score(self, X: Any, y: Any) -> float:
        return 0.0 if self.groups_ & {*X[:, 0]} else 1.0


@pytest.mark.parametrize("cv", [GroupKFold(2), ho.protocols.k_folds(2, random_state=0)], ids=["splitter", "plan"])
def test_groups_reach_a_search_whose_folds_need_them(cv: Any) -> None:
    groups = np.arange(90) // 3
    x = np.column_stack([groups, X])
    grid = {"n_neighbors": [1, 2]}
    halving = HalvingGridSearchCV(KeepsGroups(), grid, cv=GroupKFold(2), min_resources=40, random_state=0)
    ours = ("ours", ho.HeldOutSearchCV(KeepsGroups(), grid, cv=cv, method=None), {})
    listed = [("halving", halving, {}), ours] if isinstance(cv, GroupKFold) else [ours]
    found = ho.nested_cv(listed, x, Y, groups=groups, cv=3, interval=None, random_state=0)
    assert not found.evaluation.failures and found.model.best_score_ == 1.0
    found = ho.bootstrap_search([ours], x, Y, groups=groups, cv=3, n_bootstraps=2, random_state=0)
    assert not found.evaluation.failures and found.model.best_score_ == 1.0
    assert not np.isnan([each.out_of_bag_score for each in found.bootstraps]).any()


@pytest.mark.parametrize("others", [[], [("logistic", LogisticRegression(max_iter=5000))]], ids=["alone", "beside"])
def test_groups_reach_a_search_that_is_validated(others: list[Any]) -> None:
    groups = np.arange(90) // 3
    search = GridSearchCV(KeepsGroups(), {"n_neighbors": [1, 3]}, cv=GroupKFold(2))
    found = ho.bootstrap_validate(
        [("search", search), *others] if others else search, np.column_stack([groups, X]), Y, metric="accuracy",
        groups=groups, n_bootstraps=3, method="oob", interval=None,
    )  # fmt: skip
    assert not found.failures and (others or found.model.best_score_ == 1.0)


def test_a_random_search_equals_a_loop_over_the_outer_folds() -> None:
    """With an integer seed it draws the same in every fold, so all folds try what the search on all rows tries."""
    search = RandomizedSearchCV(
        NEIGHBOURS, DRAWS, n_iter=4, cv=StratifiedKFold(3), scoring="roc_auc", random_state=1
    )
    found = ho.nested_cv(search, X, Y, inner=StratifiedKFold(2))
    for fold, (train, test) in zip(found.outer_folds, StratifiedKFold(3).split(X, Y), strict=True):
        own = clone(search).set_params(cv=StratifiedKFold(2)).fit(X[train], Y[train])
        assert fold.score == pytest.approx(own.score(X[test], Y[test]), abs=1e-12)
        assert fold.inner_score == pytest.approx(own.best_score_, abs=1e-12)
        assert fold.selected == own.best_index_
    assert found.n_fits == 2 * 4 + 3 * (2 * 4 + 1) + 1


class Climber(ClassifierMixin, BaseEstimator):
    """Climbs to the weights of the columns with the best accuracy over 5 folds: adaptive, and good at noise."""

    def fit(self, X: Any, y: Any) -> Climber:
        self.classes_, codes = np.unique(y, return_inverse=True)
        rng, self.best_score_ = np.random.default_rng(len(X)), -1.0
        fold = np.arange(len(X)) % 5
        trained = len(X) - np.bincount(fold)
        for _ in range(200):
            proposed = rng.normal(size=X.shape[1])
            if self.best_score_ >= 0:
                proposed = self.weights_ + 0.3 * proposed
            side = X @ proposed
            cuts = (side.sum() - np.bincount(fold, side)) / trained
            score = float(((side > cuts[fold]) == codes).mean())
            if score > self.best_score_:
                self.best_score_, self.weights_, self.cut_ = score, proposed, side.mean()
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(X @ self.weights_ > self.cut_).astype(int)]


def test_an_adaptive_search_on_noise_is_worth_nothing() -> None:
    """Right are 16 times 60 rows of noise, each with probability .5: the standard error of the mean is .016.

    We allow four of them, .065, which is exceeded once in 16 000 by chance. The search's own score is .18 too high.
    """
    values, own = [], []
    for table in range(16):
        rng = np.random.default_rng(table)
        x, y = rng.normal(size=(60, 20)), rng.integers(0, 2, 60)
        found = ho.nested_cv(Climber(), x, y, scoring="accuracy", cv=5, interval=None, random_state=0)
        values.append(found.value)
        own.append(found.model.best_score_)
    assert np.mean(values) == pytest.approx(0.5, abs=0.065)
    assert np.mean(own) > 0.65


def test_a_search_of_ours_inside_has_no_store_and_no_estimate(tmp_path: Path) -> None:
    inside = ho.HeldOutSearchCV(
        NEIGHBOURS, {"n_neighbors": [1, 3]}, cv=2, store=tmp_path / "own.db", random_state=0
    )
    model = make_pipeline(StandardScaler(), inside)
    for protocol in (
        lambda: ho.nested_cv(model, X, Y, cv=3, random_state=0),
        lambda: ho.bootstrap_validate(
            [("a", inside), ("b", NEIGHBOURS)], X, Y, metric="accuracy", n_bootstraps=2, interval=None
        ),
        lambda: ho.nested_cv([("a", model, {}), ("b", NEIGHBOURS, {})], X, Y, cv=3, random_state=0),
    ):
        found = protocol()
        assert not found.failures if hasattr(found, "failures") else not np.isnan(found.value)
    assert not list(tmp_path.iterdir())
    assert inside.store == tmp_path / "own.db" and inside.method == "shrinkage"
    bare = repeatable(model).steps[-1][1]
    assert bare.store is None and bare.method is None and bare.random_state == 0


class AsksAStudy(KNeighborsClassifier):
    """As OptunaSearchCV has it: a study to continue, and a sampler."""

    def __init__(self, study: Any = None, n_neighbors: int = 5) -> None:
        super().__init__(n_neighbors=n_neighbors)
        self.study = study


STUDY = SimpleNamespace(trials=[])


@pytest.mark.parametrize(
    "protocol",
    [
        lambda model: ho.nested_cv(model, X, Y),
        lambda model: ho.bootstrap_search(model, X, Y),
        lambda model: ho.bootstrap_validate(model, X, Y),
        lambda model: ho.protocols.learning_curve(model, X, Y),
        lambda model: ho.advise(X, Y, model),
        lambda model: ho.nested_cv([("a", model, {}), ("b", NEIGHBOURS, {})], X, Y),
    ],
    ids=["nested", "bootstrap", "validation", "curve", "advice", "list"],
)
def test_a_study_that_every_fit_would_continue_is_refused(protocol: Any) -> None:
    with pytest.raises(InputError, match="AsksAStudy has a study, and every fit would continue it"):
        protocol(make_pipeline(StandardScaler(), AsksAStudy(STUDY)))
    assert repeatable(AsksAStudy()).study is None


def test_one_configuration_needs_no_folds_to_divide_anew() -> None:
    plain = ho.nested_cv(NEIGHBOURS, X, Y, cv=2, interval=None)
    anew = ho.nested_cv(NEIGHBOURS, X, Y, cv=2, interval=None, inner=5, across="all")
    assert plain.n_fits == anew.n_fits == 3
    assert plain.value == anew.value == pytest.approx(cross_val_score(NEIGHBOURS, X, Y, cv=2).mean(), abs=1e-12)
    assert ho.Flag.SELECTION_UNCORRECTED not in anew.flags


def test_the_interval_of_bates_of_one_configuration_fits_the_pairs_alone() -> None:
    found = ho.nested_cv(NEIGHBOURS, X, Y, cv=4, interval="bates_hastie_tibshirani", random_state=0)
    assert found.n_fits == 4 + 6 + 1 and found.interval is not None
    with pytest.raises(InputError, match="needs at least 3 outer folds, got 2; use `cv=5`, or `interval="):
        ho.nested_cv(NEIGHBOURS, X, Y, cv=2, interval="bates_hastie_tibshirani")
