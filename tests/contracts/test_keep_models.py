"""``keep_models``: the models of the splits are those that made the held-out predictions."""

from __future__ import annotations

import pickle
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import heldout as ho
from heldout.arguments.search import SearchArguments
from heldout.configurations import make_configurations
from heldout.data.limits import Memory
from heldout.data.task import Task, truth_of
from heldout.errors import HeldoutWarning, InputError
from heldout.evaluate import evaluate
from heldout.execution import collect, fold_models
from heldout.execution.cells import CellKey, CellResult, FittedModel
from heldout.execution.executors import WorkersLostError
from heldout.execution.executors.local import Here
from heldout.execution.fit import Work, make_scoring
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.folds.splits import make_folds
from heldout.metrics.base import Response

X, Y = (part[:90] for part in load_breast_cancer(return_X_y=True))
X = X[:, :6]
X_OF_NUMBERS, NUMBERS = (part[:40] for part in load_diabetes(return_X_y=True))

FOREST = RandomForestClassifier(), {"n_estimators": [2, 4], "max_depth": [1, 3]}
SCALED = (
    make_pipeline(
        StandardScaler(),
        ColumnTransformer([("few", MinMaxScaler(), [0, 1]), ("rest", PCA(2), [2, 3, 4, 5])]),
        LogisticRegression(),
    ),
    {"logisticregression__C": [0.1, 1.0]},
)
ROUNDS = HistGradientBoostingClassifier(max_leaf_nodes=3), {"max_iter": [2, 4]}
SEEDED_BY_ITSELF = RandomForestClassifier(random_state=3), {"n_estimators": [2, 4]}
CASES = {
    "forests": (*FOREST, {"random_state": 0}),
    "forests without a seed": (*FOREST, {}),
    "forests with a seed of their own": (*SEEDED_BY_ITSELF, {}),
    "shared steps": (*SCALED, {"random_state": 0}),
    "rounds": (*ROUNDS, {"random_state": 0}),
    "early stopping": (
        HistGradientBoostingClassifier(max_leaf_nodes=3, max_iter=20),
        {"learning_rate": [0.1, 1.0]},
        {"random_state": 0, "early_stopping": ho.inner_split(0.2, rounds=3)},
    ),
    "repeats": (*FOREST, {"random_state": 0, "repeats": 2}),
    "dropping": (*FOREST, {"random_state": 0, "drop": "bootstrap"}),
    "nothing shared": (*ROUNDS, {"random_state": 0, "share": False}),
    "a scorer that asks the model": (
        *SCALED,
        {"random_state": 0, "method": None, "scoring": lambda model, X, y: float(model.score(X, y))},
    ),
}


def searched(estimator: Any, grid: Any, keep_models: str, **settings: Any) -> ho.HeldOutSearchCV:
    settings = {"scoring": "roc_auc", "cv": 2, "n_bootstraps": 20, **settings}
    return ho.HeldOutSearchCV(estimator, grid, keep_models=keep_models, **settings).fit(X, Y)


def gaps(search: ho.HeldOutSearchCV, configuration: int) -> Iterator[float]:
    """How far predictions of the models of a configuration are from its held-out predictions."""
    (response, held_out), *_ = search.predictions_.responses.items()
    repeats = search.evaluation_.folds.columns
    for (repeat, fold), model in search.fold_models_.of(configuration).items():
        rows = search.fold_models_.test_rows[repeat, fold]
        match response:
            case Response.LABELS:
                predicted = np.searchsorted(model.classes_, model.predict(X[rows]))
            case Response.PROBABILITIES:
                predicted = model.predict_proba(X[rows])[:, 1]
            case _:
                predicted = model.decision_function(X[rows])
        yield float(np.abs(predicted - held_out[rows, configuration, repeats[repeat]]).max())


@pytest.mark.parametrize(
    ("case", "keep_models"),
    [pytest.param(case, ("winner", "all")[j % 2], id=name) for j, (name, case) in enumerate(CASES.items())],
)
def test_models_are_those_of_the_held_out_predictions(case: tuple[Any, ...], keep_models: str) -> None:
    estimator, grid, settings = case
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "these settings", HeldoutWarning)
        search = searched(estimator, grid, keep_models, **settings)
    models = search.fold_models_
    wanted = range(len(search.cv_results_["params"])) if keep_models == "all" else [search.best_index_]
    assert list(models.by_configuration) == list(wanted)
    assert models.configuration == search.best_index_
    assert len(models) == search.n_splits_
    for j in wanted:
        assert all(gap == 0 for gap in gaps(search, j))
        params = {name: search.cv_results_["params"][j][name] for name in grid}
        assert all(model.get_params() | params == model.get_params() for model in models.of(j).values())
    assert models.difference == 0
    assert models.n_fits == (0 if keep_models == "all" else search.n_splits_)
    assert sum(map(len, models.by_configuration.values())) == (
        search.n_fits_ if keep_models == "all" else search.n_splits_
    )


@pytest.mark.parametrize("keep_models", ["winner", "all"])
def test_models_come_back_from_workers(keep_models: str) -> None:
    here, there = (searched(*FOREST, keep_models, random_state=0, n_jobs=n) for n in (1, 2))
    assert np.array_equal(
        here.predictions_.responses[Response.PROBABILITIES], there.predictions_.responses[Response.PROBABILITIES]
    )
    assert all(gap == 0 for gap in gaps(there, there.best_index_))


def test_nothing_else_changes() -> None:
    estimator, grid, settings = CASES["dropping"]
    plain, winner, every = (searched(estimator, grid, keep, **settings) for keep in ("none", "winner", "all"))
    assert plain.fold_models_ is None
    for search in (winner, every):
        for response, array in plain.predictions_.responses.items():
            np.testing.assert_array_equal(search.predictions_.responses[response], array)
        assert str(search.estimate_) == str(plain.estimate_)
        assert (search.n_fits_, search.best_index_) == (plain.n_fits_, plain.best_index_)
    assert winner.n_fits_shared_ == plain.n_fits_shared_
    assert every.n_fits_shared_ == 0


@pytest.mark.parametrize(
    ("cv", "keep_models"), [(3, "winner"), (LeaveOneOut(), "all")], ids=["one fit for all", "by formula"]
)
def test_fits_that_are_shared_to_rounding_are_made_again(cv: Any, keep_models: str) -> None:
    search = ho.HeldOutSearchCV(
        Ridge(), {"alpha": [0.1, 1.0, 9.0]}, scoring="neg_mean_squared_error", cv=cv, n_bootstraps=20,
        keep_models=keep_models,
    ).fit(X_OF_NUMBERS, NUMBERS)  # fmt: skip
    models = search.fold_models_
    held_out = search.predictions_.responses[Response.VALUES][:, search.best_index_, 0]
    for model, rows in models.held_out():
        np.testing.assert_allclose(model.predict(X_OF_NUMBERS[rows]), held_out[rows], rtol=1e-12)
    assert search.n_fits_shared_ == search.n_fits_ == 3 * search.n_splits_
    assert models.n_fits == search.n_splits_ * (3 if keep_models == "all" else 1)
    assert 0 < models.difference <= 1e-12


def test_models_of_other_tolerances_are_announced() -> None:
    with pytest.warns(HeldoutWarning, match=r"separate fits stand for .* differ from the held-out predictions by"):
        search = searched(
            make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]},
            "winner", share="tolerance",
        )  # fmt: skip
    assert all(0 < gap < 0.01 for gap in gaps(search, search.best_index_))
    assert 1e-12 < search.fold_models_.difference < 0.01


def test_a_model_has_its_own_methods() -> None:
    for keep_models in ("winner", "all"):
        for model in searched(*SCALED, keep_models).fold_models_.values():
            assert not {"predict", "decision_function", "score", "predict_proba"} & set(vars(model))
            assert model.memory is None
            assert type(model[1].transformers_[1][1]) is PCA
            assert clone(model).get_params().keys() == model.get_params().keys()


def test_models_of_an_earlier_session_are_fitted_again(tmp_path: Path) -> None:
    plain = searched(*FOREST, "none", random_state=0, store=tmp_path / "run.db")
    for keep_models, n_fits in (("winner", 2), ("all", 8)):
        search = searched(*FOREST, keep_models, random_state=0, store=tmp_path / "run.db")
        assert search.fold_models_.n_fits == n_fits
        assert search.n_fits_ == plain.n_fits_ == 8
        assert all(gap == 0 for gap in gaps(search, search.best_index_))


def test_draws_that_are_gone_are_announced_and_those_that_were_kept_are_repeated(
    tmp_path: Path,
) -> None:
    searched(*FOREST, "none", store=tmp_path / "run.db")
    with pytest.warns(HeldoutWarning, match=r"2 of 2 fold models cannot be kept and are None.*other predictions"):
        search = searched(*FOREST, "winner", store=tmp_path / "run.db")
    assert list(search.fold_models_.values()) == [None] * 2
    assert list(search.fold_models_.held_out()) == []
    searched(*FOREST, "winner", store=tmp_path / "other.db")
    search = searched(*FOREST, "winner", store=tmp_path / "other.db")
    assert all(gap == 0 for gap in gaps(search, search.best_index_))


class Counts(ClassifierMixin, BaseEstimator):
    """Draws from nothing that a seed decides."""

    made = 0

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, X: Any, y: Any) -> Counts:
        Counts.made += 1
        self.classes_, self.number_ = np.unique(y), Counts.made
        return self

    def predict_proba(self, X: Any) -> Any:
        one = np.mod(X[:, 0] * self.number_, 1.0)
        return np.column_stack([1 - one, one])

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


def test_only_models_that_are_kept_at_once_are_those_of_a_fit_that_cannot_be_repeated() -> None:
    with pytest.warns(HeldoutWarning, match="2 of 2 fold models cannot be kept"):
        search = searched(Counts(), {"shift": [0.0, 1.0]}, "winner", random_state=0)
    assert set(search.fold_models_.values()) == {None}
    every = searched(Counts(), {"shift": [0.0, 1.0]}, "all", random_state=0)
    assert all(gap == 0 for j in (0, 1) for gap in gaps(every, j))


class Locked(DummyClassifier):
    """Cannot be pickled after its fit."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Locked:
        self.lock_ = threading.Lock()
        return super().fit(X, y)


def test_a_model_that_cannot_be_sent() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # worker processes cannot import this file
    with pytest.warns(
        HeldoutWarning, match=r"2 of 2 .*cannot be sent between processes \(TypeError.*use `n_jobs=1`"
    ):
        search = searched(Locked(), {"strategy": ["prior"]}, "winner", scoring="accuracy", n_jobs=2)
    assert set(search.fold_models_.values()) == {None}
    here = searched(Locked(), {"strategy": ["prior"]}, "all", scoring="accuracy")
    assert all(isinstance(model, Locked) for model in here.fold_models_.values())


@pytest.mark.parametrize("n_models, is_kept", [(4, True), (1, False)], ids=["those of the winner", "none"])
def test_models_that_fill_the_memory(monkeypatch: pytest.MonkeyPatch, n_models: int, is_kept: bool) -> None:
    one = FittedModel(DummyClassifier(strategy="prior", constant=0).fit(X, Y)).n_bytes
    for module in (collect, fold_models):
        monkeypatch.setattr(module, "memory_there", lambda: Memory(2 * n_models * one, "the memory of a test"))
    grid = {"constant": [0, 1, 2]}
    with pytest.warns(HeldoutWarning, match="need more than half of the memory of a test") as raised:
        search = searched(DummyClassifier(strategy="prior"), grid, "all")
    assert ("none are kept" in str(raised[-1].message)) == (not is_kept)
    assert list(search.fold_models_.by_configuration) == [search.best_index_]
    assert all((model is not None) == is_kept for model in search.fold_models_.values())


def test_a_configuration_that_fails_has_no_models() -> None:
    with pytest.warns(UserWarning) as raised:
        search = searched(KNeighborsClassifier(), {"n_neighbors": [3, 80]}, "all", share=False)
    assert not any("fold models" in str(warning.message) for warning in raised)
    assert list(search.fold_models_.of(1).values()) == [None] * 2
    assert all(gap == 0 for gap in gaps(search, 0))


def test_weights_reach_the_models() -> None:
    weights = np.linspace(0.1, 3.0, len(Y))
    settings = {"scoring": "roc_auc", "cv": 3, "n_bootstraps": 20, "random_state": 0, "keep_models": "winner"}
    search = ho.HeldOutSearchCV(*FOREST, **settings).fit(X, Y, sample_weight=weights)
    assert all(gap == 0 for gap in gaps(search, search.best_index_))


@pytest.mark.parametrize(("keep_models", "drop"), [("winner", "bootstrap"), ("all", None)])
@pytest.mark.filterwarnings("ignore:these settings")
def test_optuna_searches_keep_models_too(keep_models: str, drop: Any) -> None:
    pytest.importorskip("optuna")
    search = ho.HeldOutOptunaSearchCV(
        *FOREST, n_trials=5, scoring="roc_auc", cv=3, drop=drop, n_bootstraps=20, random_state=0,
        keep_models=keep_models,
    ).fit(X, Y)  # fmt: skip
    assert len(search.fold_models_.by_configuration) == (5 if keep_models == "all" else 1)
    assert all(gap == 0 for j in search.fold_models_.by_configuration for gap in gaps(search, j))


def test_loops_of_users_keep_models_too() -> None:
    run = ho.open_search(X, Y, scoring="roc_auc", cv=3, n_bootstraps=20, keep_models="winner")
    for depth in (1, 2):
        run.evaluate(RandomForestClassifier(3, max_depth=depth))
    found = run.finish()
    models, held_out = found.fold_models, found.predictions.responses[Response.PROBABILITIES]
    assert models is not None
    assert list(models.by_configuration) == [found.winner]
    for j in models.by_configuration:
        for model, rows in models.of(j).held_out():
            assert np.array_equal(model.predict_proba(X[rows])[:, 1], held_out[rows, j, 0])


class Loses:
    """An executor that loses its workers when it fits a fold again."""

    def __init__(self, lost: int) -> None:
        self._lost, self._n_done, self._here = lost, 0, Here()

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        for result in self._here.run(work, cells):
            if self._n_done >= 6 and result.key.fold == self._lost:
                raise WorkersLostError([], "killed by a test")
            self._n_done += 1
            yield result

    def __enter__(self) -> Loses:
        return self

    def __exit__(self, *error: object) -> None: ...


def test_a_worker_that_is_lost_takes_no_other_model_with_it() -> None:
    task = Task(X, truth_of(Y))
    scoring, configurations = (
        make_scoring(task.truth, get_scorer("roc_auc")),
        make_configurations(*SEEDED_BY_ITSELF),
    )
    search = Search(task, configurations, make_folds(task, 3), scoring, n_bootstraps=20, keep_models="winner")
    with pytest.warns(HeldoutWarning, match=r"1 of 3 fold models .* its worker was lost \(killed by a test\)"):
        evaluation = evaluate(search, RunSettings(executor=Loses(1)))
    assert evaluation.fold_models is not None
    assert [model is None for model in evaluation.fold_models.values()] == [False, True, False]


def test_threads_and_limits_of_time_change_no_model() -> None:
    with parallel_config("threading"):
        search = searched(*FOREST, "winner", random_state=0, n_jobs=2)
    assert all(gap == 0 for gap in gaps(search, search.best_index_))
    search = searched(*SEEDED_BY_ITSELF, "all", fit_timeout=100.0)
    assert all(gap == 0 for gap in gaps(search, search.best_index_))


def test_pickling_and_cloning() -> None:
    search = searched(*FOREST, "winner", random_state=0, keep_predictions=False)
    assert search.evaluation_ is None
    again = pickle.loads(pickle.dumps(search))
    for place, model in search.fold_models_.items():
        assert np.array_equal(model.predict_proba(X), again.fold_models_[place].predict_proba(X))
    assert clone(search).keep_models == "winner"
    assert not hasattr(clone(search), "fold_models_")
    assert repr(again.fold_models_) == f"FoldModels(2 of configuration {search.best_index_})"
    with pytest.raises(KeyError, match=r"kept of configuration \d.*, got 99"):
        again.fold_models_.of(99)


def test_protocols_do_not_keep_models() -> None:
    search = ho.HeldOutSearchCV(*FOREST, keep_models="all", cv=3)
    assert SearchArguments(search).with_search().keep_models == "none"


def test_bad_values_are_refused() -> None:
    with pytest.raises((InputError, ValueError), match=r"'keep_models' parameter .* Got 'best' instead"):
        searched(*FOREST, "best")
    with pytest.raises(
        InputError, match="`keep_models='all'` needs a winner, and with several scorers `refit=False`"
    ):
        searched(*FOREST, "all", scoring=["roc_auc", "accuracy"], refit=False)
