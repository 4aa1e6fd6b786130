"""A user of ``OptunaSearchCV`` changes the class: the same calls, and what they give; theirs if it is installed."""

import inspect
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.study import MaxTrialsCallback
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.search.optuna.sampler import quiet

pytestmark = [
    pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning"),
    pytest.mark.filterwarnings("ignore:.optuna.terminator:FutureWarning"),  # theirs uses it
]

X, Y = load_iris(return_X_y=True)
X, Y = X[::2, :2], Y[::2]
TREE = DecisionTreeClassifier(random_state=0)
SPACE = {"max_depth": IntDistribution(1, 8), "ccp_alpha": FloatDistribution(1e-4, 0.1, log=True)}
GRID = {"max_depth": [1, 2, 3, 4]}
CALLS: dict[str, Any] = {
    "ours": lambda *args, **more: ho.HeldOutOptunaSearchCV(*args, **{"n_bootstraps": 20, **more}),
}
if find_spec("optuna_integration"):
    from optuna_integration.sklearn import OptunaSearchCV

    CALLS["theirs"] = OptunaSearchCV
with_theirs = pytest.mark.skipif("theirs" not in CALLS, reason="optuna-integration is not installed")


def grid_study() -> Any:
    """A study that proposes every configuration once, in an order that its seed decides."""
    with quiet():
        return optuna.create_study(direction="maximize", sampler=optuna.samplers.GridSampler(GRID, seed=1))


def searched(make: Any, *args: Any, fit: dict[str, Any] | None = None, **more: Any) -> Any:
    """A search that was fitted without what Optuna says."""
    with quiet():
        settings = {"cv": 3, "random_state": 0, "n_trials": 4, **more}
        args = args or (TREE, {"max_depth": IntDistribution(1, 4)})
        return make(*args, **settings).fit(X, Y, **fit or {})


def both(*args: Any, fit: dict[str, Any] | None = None, **more: Any) -> tuple[Any, Any]:
    """Theirs and ours of the same call; a study is made for each."""
    theirs, ours = (
        searched(CALLS[name], *args, fit=fit, **{k: v() if k == "study" else v for k, v in more.items()})
        for name in ("theirs", "ours")
    )
    return theirs, ours


@with_theirs
def test_every_argument_of_theirs_is_one_of_ours() -> None:
    theirs = inspect.signature(OptunaSearchCV.__init__).parameters
    ours = inspect.signature(ho.HeldOutOptunaSearchCV.__init__).parameters
    assert set(theirs) <= set(ours)
    positional = [name for name, one in theirs.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert positional == ["self", "estimator", "param_distributions"]
    assert list(ours)[:3] == ["self", "estimator", "space"]  # another name, the same place
    other = {name for name, one in theirs.items() if name in ours and repr(ours[name].default) != repr(one.default)}
    assert other == {"param_distributions", "n_trials"}


@with_theirs
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"scoring": "neg_log_loss", "cv": KFold(4, shuffle=True, random_state=1), "timeout": 600.0},
        {"cv": list(KFold(3).split(X[:60])), "n_jobs": 2},
        {"scoring": get_scorer("balanced_accuracy"), "cv": GroupKFold(3), "fit": {"groups": np.arange(75) % 15}},
        {"cv": None, "n_trials": None, "error_score": "raise", "max_iter": 5, "enable_pruning": False},
    ],
)
def test_the_same_proposals_give_the_same_winner(more: dict[str, Any]) -> None:
    theirs, ours = both(study=grid_study, **more)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert ours.n_splits_ == theirs.n_splits_
    assert ours.n_trials_ == theirs.n_trials_
    of_ours = {trial.params["max_depth"]: trial.value for trial in ours.trials_}
    assert of_ours == pytest.approx({trial.params["max_depth"]: trial.value for trial in theirs.trials_})
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, Y) == theirs.score(X, Y)
    assert ours.scorer_(ours, X, Y) == theirs.scorer_(theirs, X, Y)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)


def test_the_space_has_either_name() -> None:
    by_place, by_name = (
        searched(CALLS["ours"], *args, **more)
        for args, more in (((TREE, SPACE), {}), ((TREE,), {"param_distributions": SPACE}))
    )
    assert [trial.params for trial in by_place.trials_] == [trial.params for trial in by_name.trials_]
    assert {searched(make, TREE, param_distributions=SPACE).n_trials_ for make in CALLS.values()} == {4}
    assert clone(by_name).get_params()["param_distributions"] == SPACE
    more = searched(CALLS["ours"], TREE, param_distributions={"max_depth": [1, 2]})
    assert set(more.cv_results_["param_max_depth"]) <= {1, 2}
    with pytest.raises(ho.InputError, match="leave one out"):
        searched(CALLS["ours"], TREE, SPACE, param_distributions=SPACE)


@with_theirs
@pytest.mark.parametrize("return_train_score", [False, True])
def test_attributes_have_the_types_and_columns_of_theirs(return_train_score: bool) -> None:
    theirs, ours = both(return_train_score=return_train_score)
    frames = theirs.trials_dataframe(), ours.trials_dataframe()
    columns = [{name for name in frame.columns if not name.startswith("system_attrs")} for frame in frames]
    assert columns[1] - columns[0] == {"user_attrs_configuration"}
    assert columns[0] <= columns[1]
    assert set(theirs.cv_results_) <= set(ours.cv_results_)
    names = ("best_index_", "best_params_", "best_score_", "best_trial_", "n_splits_", "n_trials_", "refit_time_")
    for name in (*names, "sample_indices_", "study_", "trials_", "user_attrs_", "best_estimator_", "classes_"):
        kinds = type(getattr(theirs, name)), type(getattr(ours, name))
        assert issubclass(kinds[1], kinds[0]) or {*kinds} <= {int, np.int64, np.intp}, name


def test_attributes_say_the_same() -> None:
    for make in CALLS.values():
        search = searched(make)
        assert list(search.trials_dataframe(("number", "state")).columns) == ["number", "state"]
        np.testing.assert_array_equal(search.sample_indices_, np.arange(75))
        assert search.best_index_ == search.best_trial_.number
        assert search.best_trial_.params == search.best_params_
        assert search.best_trial_.value == pytest.approx(search.best_score_)
        assert search.best_trial_.value == pytest.approx(search.best_trial_.user_attrs["mean_test_score"])
        search.set_user_attr("who", "me")
        assert search.user_attrs_ == search.study_.user_attrs == {"who": "me"}


def test_before_the_fit_and_without_a_refit_attributes_lack() -> None:
    for make in CALLS.values():
        with quiet():
            search = make(TREE, SPACE)
        for name in ("trials_", "n_trials_", "user_attrs_", "trials_dataframe", "set_user_attr"):
            with pytest.raises(NotFittedError):
                getattr(search, name)
        fitted = searched(make, refit=False)
        assert not hasattr(fitted, "best_estimator_")
        assert fitted.best_params_ == fitted.best_trial_.params


def test_callbacks_see_every_trial_and_may_stop_the_search() -> None:
    calls: dict[Any, list[tuple[Any, ...]]] = {}
    for name, make in CALLS.items():

        def note(study: Any, trial: Any, name: str = name) -> None:
            finished = len(study.get_trials(states=[optuna.trial.TrialState.COMPLETE]))
            calls.setdefault(name, []).append((trial.number, trial.state.name, type(trial), finished))

        search = searched(make, n_trials=6, callbacks=[note, MaxTrialsCallback(3)])
        assert search.n_trials_ == 3
        assert "stop" not in vars(search.study_)
        endless = searched(make, n_trials=None, callbacks=[lambda study, trial: study.stop()])
        assert endless.n_trials_ == 1
    assert calls["ours"] == [(n, "COMPLETE", optuna.trial.FrozenTrial, n + 1) for n in range(3)]
    assert all(each == calls["ours"] for each in calls.values())


def test_an_error_of_a_callback_ends_the_search() -> None:
    def fail(study: Any, trial: Any) -> None:
        raise KeyError("mine")

    for make in CALLS.values():
        with pytest.raises(KeyError, match="mine"):
            searched(make, callbacks=[fail])


class Fragile(DecisionTreeClassifier):  # type: ignore[misc]
    """A tree that cannot be deep."""

    def fit(self, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        if self.max_depth > 2:
            raise MemoryError("too deep")
        return super().fit(X, y, *args, **kwargs)


@pytest.mark.parametrize("batch_size", [1, 4])
def test_exceptions_to_catch_fail_their_trial_alone(batch_size: int) -> None:
    states = []
    for name, make in CALLS.items():
        settings: dict[str, Any] = {"error_score": "raise", "study": grid_study()}
        more = {"batch_size": batch_size} if name == "ours" else {}
        args = (Fragile(random_state=0), {"max_depth": IntDistribution(1, 4)})
        with pytest.raises(MemoryError):
            searched(make, *args, catch=KeyError, **settings, **more)
        settings["study"] = grid_study()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "One or more|.*configurations failed")
            search = searched(make, *args, catch=(MemoryError, KeyError), **settings, **more)
        states.append({trial.params["max_depth"]: trial.state.name for trial in search.trials_})
    assert all(each == {1: "COMPLETE", 2: "COMPLETE", 3: "FAIL", 4: "FAIL"} for each in states)


@pytest.mark.parametrize("subsample", [0.4, 30, 500])
def test_a_search_on_a_sample_of_rows_fits_the_winner_on_all(subsample: float) -> None:
    searches = {name: searched(make, subsample=subsample) for name, make in CALLS.items()}
    ours = searches["ours"]
    for search in searches.values():
        rows = search.sample_indices_
        assert len(rows) == (75 if subsample == 500 else 30)
        assert (np.diff(rows) > 0).all()
        assert search.best_estimator_.tree_.n_node_samples[0] == 75
    assert ours.estimate_.n_rows_used == len(ours.sample_indices_)
    assert (ho.Flag("incomplete_predictions") in ours.estimate_.flags) == (len(ours.sample_indices_) < 75)
    part = clone(ours).set_params(subsample=1.0, random_state=0)
    part.fit(X[ours.sample_indices_], Y[ours.sample_indices_])
    np.testing.assert_array_equal(part.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"])
    assert part.estimate_.value == ours.estimate_.value
    assert ho.estimate(Y, ours.predictions_).value == ours.estimate_.value


def test_a_sample_of_rows_has_whole_groups() -> None:
    groups = np.arange(75) % 15
    search = searched(CALLS["ours"], subsample=0.7, cv=GroupKFold(3), fit={"groups": groups})
    rows = search.sample_indices_
    assert len(rows) == 50  # of 52: ten groups of five rows
    assert len(np.unique(groups[rows])) == 10
    assert search.estimate_.n_rows_used == 50
    assert np.isfinite(search.estimate_.value)


@pytest.mark.parametrize("more", [{"feedback": ho.optuna.CrossFitting(5)}, {"repeats": 2, "method": "corrected_t"}])
def test_a_sample_of_rows_changes_no_method(more: dict[str, Any]) -> None:
    search = searched(CALLS["ours"], subsample=45, **more)
    rows = search.sample_indices_
    part = clone(search).set_params(subsample=1.0).fit(X[rows], Y[rows])
    assert search.estimate_.value == pytest.approx(part.estimate_.value)
    assert search.estimate_.n_rows_used == part.estimate_.n_rows_used == 45
    assert search.predictions_.test_share is part.predictions_.test_share is None


@pytest.mark.parametrize(
    ("args", "more"),
    [
        ((TREE, [1, 2]), {}),
        ((TREE, {"max_depth": "deep"}), {}),
        ((TREE, SPACE), {"max_iter": 0}),
        ((TREE, SPACE), {"enable_pruning": True}),
        ((TREE, SPACE), {"study": lambda: optuna.create_study(direction="minimize")}),
        ((TREE,), {}),
        ((TREE, SPACE), {"callbacks": [3]}),
    ],
)
def test_bad_arguments_raise_errors_of_their_type(args: Any, more: dict[str, Any]) -> None:
    kinds = []
    for make in CALLS.values():
        with pytest.raises((TypeError, ValueError)) as caught:
            with quiet():
                study = {"study": more["study"]()} if "study" in more else {}
            searched(make, *args, **{**more, **study})
        kinds.append(caught.type)
    assert all(issubclass(kinds[0], kind) for kind in kinds)  # ours comes first


@pytest.mark.parametrize("catch", ["MemoryError", [int], 3])
def test_what_is_no_exception_is_not_caught(catch: Any) -> None:
    with pytest.raises(TypeError, match="catch must be types of exceptions"):
        searched(CALLS["ours"], catch=catch)


def test_pruning_within_fits_is_refused_with_what_to_use() -> None:
    model = SGDClassifier(random_state=0)
    space = {"alpha": FloatDistribution(1e-4, 1e-1, log=True)}
    with pytest.raises(ho.InputError, match="drop='bootstrap'") as caught:
        searched(CALLS["ours"], model, space, enable_pruning=True, max_iter=3)
    assert caught.value.argument == "enable_pruning"


@pytest.mark.parametrize(
    "more",
    [
        {"return_train_score": True, "scoring": ["accuracy", "f1_macro"], "refit": "accuracy"},
        {"drop": "bootstrap"},
    ],
)
def test_trials_have_the_columns_of_their_row(more: dict[str, Any]) -> None:
    search = searched(CALLS["ours"], TREE, SPACE, cv=5, n_trials=8, **more)
    for trial in search.trials_:
        row, columns = trial.user_attrs["configuration"], trial.user_attrs.keys() & search.cv_results_.keys()
        assert {"mean_fit_time", "std_score_time"} <= columns
        assert any(name.startswith("split0_test_") for name in columns)
        for name in columns:
            assert trial.user_attrs[name] == pytest.approx(search.cv_results_[name][row]), name
