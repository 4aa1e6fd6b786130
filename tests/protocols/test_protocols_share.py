"""Protocols fit equal steps once on a split, and models that one fit serves once, with equal results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import LassoCV, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from heldout.errors import InputError, StoreError
from heldout.execution.cells import CellKey
from heldout.execution.store.sqlite import SQLiteStore
from heldout.imputation.settings import Imputation
from heldout.protocols.validation.arguments import ValidationArguments
from heldout.protocols.validation.estimate import Validation

CANCER, DIABETES = load_breast_cancer(), load_diabetes()
X, Y = CANCER.data[:90, :6], CANCER.target[:90]
NUMBERS, TARGET = DIABETES.data[:80], DIABETES.target[:80]
N_BOOTSTRAPS = 2


class CountedScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Counts how often it is fitted."""

    fits: ClassVar[list[int]] = []

    def fit(self, X: Any, y: Any = None) -> CountedScaler:
        self.fits.append(len(X))
        self.mean_ = np.mean(X, axis=0)
        return self

    def transform(self, X: Any) -> Any:
        return X - self.mean_


class Picky(CountedScaler):
    """Cannot be fitted on some samples."""

    def fit(self, X: Any, y: Any = None) -> Picky:
        if len(np.unique(X[:, 0])) < len(X) and X[0, 0] == X[1, 0]:
            raise ValueError("the first row is here twice")
        super().fit(X)
        return self


@pytest.fixture(autouse=True)
def no_fits_yet() -> Iterator[None]:
    CountedScaler.fits.clear()
    yield


MODEL = make_pipeline(CountedScaler(), DecisionTreeClassifier(max_features=2))
GRID = {"decisiontreeclassifier__max_depth": [1, 2, 3, 4]}
SEARCH: dict[str, Any] = {"cv": 3, "random_state": 0}


@pytest.mark.parametrize(
    "share, n_fits, as_object",
    [("exact", 3 * 3 + 3 + 1, False), ("exact", 3 * 3 + 3 + 1, True), (False, 4 * 3 * 3 + 3 + 1, True)],
)
def test_nested_cross_validation(share: Any, n_fits: int, as_object: bool) -> None:
    if as_object:
        ho.nested_cv(ho.HeldOutSearchCV(MODEL, GRID, share=share, **SEARCH), X, Y)
    else:
        ho.nested_cv(MODEL, X, Y, GRID, share=share, **SEARCH)

    assert len(CountedScaler.fits) == n_fits


def bootstrapped(scheme: Any, share: Any) -> Any:
    cv = {} if scheme == "models" else SEARCH
    return ho.bootstrap_search(
        MODEL, X, Y, GRID, scheme=scheme, share=share, n_bootstraps=N_BOOTSTRAPS, **{"random_state": 0, **cv}
    )


@pytest.mark.parametrize(
    "scheme, n_shared, n_separate",
    [
        ("cvt", N_BOOTSTRAPS * (3 + 1) + 3 + 1, N_BOOTSTRAPS * (4 * 3 + 1) + 4 * 3 + 1),
        ("models", N_BOOTSTRAPS + 1, 4 * N_BOOTSTRAPS + 1),
    ],
)
def test_the_bootstrap_of_a_search_is_the_same_to_the_last_bit(scheme: str, n_shared: int, n_separate: int) -> None:
    shared = bootstrapped(scheme, "exact")
    assert len(CountedScaler.fits) == n_shared
    separate = bootstrapped(scheme, False)
    assert len(CountedScaler.fits) == n_shared + n_separate

    one, other = ((each.value, each.interval, each.selected) for each in (shared, separate))
    assert one == other
    assert shared.distribution.tolist() == separate.distribution.tolist()


def test_learning_curve() -> None:
    ho.protocols.learning_curve(MODEL, X, Y, GRID, training_sizes=[30, 50, 70], n_subsamples=2, random_state=0)

    assert len(CountedScaler.fits) == 2 * 3 + 1


PIPELINES = [
    (f"{name} of {k}", make_pipeline(CountedScaler(), SelectKBest(k=k), model))
    for k in (2, 4)
    for name, model in (
        ("tree", DecisionTreeClassifier(max_features=1)),
        ("neighbours", KNeighborsClassifier()),
        ("logistic", LogisticRegression()),
    )
]
INNER_FOLDS = [
    (name, make_pipeline(StandardScaler(), SelectFromModel(LassoCV(alphas=[1.0, 10.0], cv=3)), model))
    for name, model in (("tree", DecisionTreeRegressor(max_features=1)), ("neighbours", KNeighborsRegressor()))
]
SCALED = [  # of classes that a process beside this one can import
    (f"neighbours of {k}", make_pipeline(StandardScaler(), SelectKBest(k=k), KNeighborsClassifier()))
    for k in (2, 4)
]
FORESTS = [(f"{n} trees", RandomForestClassifier(n)) for n in (3, 6, 9)]
RIDGES = [(f"alpha {alpha}", Ridge(alpha)) for alpha in (0.1, 1.0, 10.0)]


def validated(models: Any, x: Any = X, y: Any = Y, **settings: Any) -> Validation:
    wanted = {"n_bootstraps": N_BOOTSTRAPS, "random_state": 0, **settings}
    return ho.bootstrap_validate(models, x, y, **wanted)


def test_later_stages_of_a_validation_are_of_one_model() -> None:
    validated(PIPELINES, metric="accuracy", method="two_stage")
    assert len(CountedScaler.fits) == 1 + 2 * N_BOOTSTRAPS + 1
    CountedScaler.fits.clear()

    validated(PIPELINES, metric="accuracy", interval="double", n_inner_bootstraps=2)
    assert len(CountedScaler.fits) == 1 + 3 * N_BOOTSTRAPS + 1


def numbers_of(found: Validation) -> str:
    """Everything that a validation computed, to the last digit."""
    scores = [
        (row.apparent, row.in_bootstrap, row.on_original, row.out_of_bag, row.corrected, row.interval)
        for candidate in found.candidates
        for row in candidate.rows.values()
    ]
    predictions = [values.tolist() for values in found.replicates.on_original.values()]
    return repr([found.selected, found.n_fits, dict(found.failures), scores, predictions])


SAME: dict[str, Callable[[Any], Validation]] = {
    "groups": lambda share: validated(PIPELINES, metric="accuracy", groups=np.arange(90) // 2, share=share),
    "weights": lambda share: validated(
        FORESTS, sample_weight=np.random.default_rng(0).uniform(0.5, 2, 90), share=share
    ),
    "folds inside a step": lambda share: validated(INNER_FOLDS, NUMBERS, TARGET, share=share),
    "two stages": lambda share: validated(FORESTS, method="two_stage", share=share),
    "two processes": lambda share: validated(FORESTS + SCALED, metric="accuracy", n_jobs=2, share=share),
}


@pytest.mark.parametrize("name", SAME)
def test_a_validation_is_the_same_to_the_last_bit(name: str) -> None:
    assert numbers_of(SAME[name]("exact")) == numbers_of(SAME[name](False))


def test_several_models_share_the_steps_of_a_sample() -> None:
    shared = validated(PIPELINES, metric="accuracy")
    assert len(CountedScaler.fits) == 1 + N_BOOTSTRAPS + 1
    CountedScaler.fits.clear()
    separate = validated(PIPELINES, metric="accuracy", share=False)
    assert len(CountedScaler.fits) == 6 * (1 + N_BOOTSTRAPS) + 1
    assert numbers_of(shared) == numbers_of(separate)


def fits_of(kind: type, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The list in which its fits are counted."""
    counted: list[int] = []
    fit = kind.fit  # type: ignore[attr-defined]

    def counting(self: Any, *args: Any, **params: Any) -> Any:
        counted.append(1)
        return fit(self, *args, **params)

    monkeypatch.setattr(kind, "fit", counting)
    return counted


def test_one_forest_serves_the_smaller_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = fits_of(RandomForestClassifier, monkeypatch)
    validated(FORESTS)

    assert len(fits) == 1 + N_BOOTSTRAPS + 1


def test_one_decomposition_serves_all_penalties_of_weighted_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = fits_of(Ridge, monkeypatch)
    shared = validated(RIDGES, NUMBERS, TARGET)
    assert len(fits) <= 1 + N_BOOTSTRAPS + 1
    fits.clear()
    separate = validated(RIDGES, NUMBERS, TARGET, share=False)
    assert len(fits) == 3 * (1 + N_BOOTSTRAPS) + 1

    (ours,), (theirs,) = shared.replicates.on_original.values(), separate.replicates.on_original.values()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())
    for name, row in separate.rows.items():
        assert shared.rows[name].corrected == pytest.approx(row.corrected, rel=1e-9)


def test_a_step_that_fails_fails_the_models_behind_it() -> None:
    models = [
        ("picky tree", make_pipeline(Picky(), DecisionTreeClassifier())),
        ("picky neighbours", make_pipeline(Picky(), KNeighborsClassifier())),
        ("neighbours", KNeighborsClassifier()),
    ]
    shared, separate = (
        validated(models, metric="accuracy", n_bootstraps=6, share=share) for share in ("exact", False)
    )

    tree, behind, other = (dict(candidate.failures) for candidate in shared.candidates)
    assert tree == behind and set(tree.values()) == {"ValueError: the first row is here twice"}
    assert 0 < len(tree) < 6 and not other
    assert [dict(one.failures) for one in separate.candidates] == [tree, behind, other]


HOLES = np.where(np.random.default_rng(0).random((90, 6)) < 0.1, np.nan, X)


@pytest.mark.parametrize("order, n_completed", [("boot_mi", 2 + N_BOOTSTRAPS), ("mi_boot", 2), ("naive", 1)])
def test_a_sample_is_completed_once_for_all_models(
    order: Any, n_completed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    completed, original = [], Imputation.completed

    def counting(self: Imputation, *args: Any) -> list[Any]:
        completed.append(1)
        return original(self, *args)

    monkeypatch.setattr(Imputation, "completed", counting)
    validated(FORESTS, HOLES, imputation=Imputation(2, order=order))

    assert len(completed) == n_completed


@pytest.mark.parametrize("share, n_tasks", [("exact", 1), (False, 3)])
def test_models_of_a_completed_sample_go_to_one_worker(share: Any, n_tasks: int) -> None:
    arguments = ValidationArguments(FORESTS, imputation=2, n_bootstraps=9, random_state=0, share=share)
    work = arguments.plan(HOLES, Y).work
    cells = [(j, split.repeat, split.fold) for split in work.folds.splits for j in range(3)]

    tasks = work.tasks([CellKey(*cell) for cell in cells], 2)
    assert len(tasks) == n_tasks * 10


CALLS: dict[str, Callable[..., Any]] = {
    "nested_cv": lambda **own: ho.nested_cv(MODEL, X, Y, GRID, **SEARCH, **own),
    "bootstrap_search": lambda **own: ho.bootstrap_search(MODEL, X, Y, GRID, n_bootstraps=2, **SEARCH, **own),
    "bootstrap_validate": lambda **own: validated(PIPELINES, metric="accuracy", **own),
}


@pytest.mark.parametrize("name", CALLS)
def test_another_value_is_refused_in_a_sentence(name: str) -> None:
    with pytest.raises(InputError, match=r"^share must be exact, tolerance or False, got .*[.]$"):
        CALLS[name](share=np.array(["exact", "exact"]))
    assert not CountedScaler.fits


@pytest.mark.parametrize("name", CALLS)
def test_a_stored_run_is_continued_in_its_share_mode_only(name: str, tmp_path: Path) -> None:
    store = str(tmp_path / "run.db")
    CALLS[name](store=store)
    CountedScaler.fits.clear()
    CALLS[name](store=store)
    assert len(CountedScaler.fits) == 1  # the model to deploy

    with pytest.raises(StoreError, match="share"):
        CALLS[name](store=SQLiteStore(store, one_run=True), share=False)
