"""scikit-learn's callbacks are told of a search that drops: no task too many, none left open."""

import warnings
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.search import HeldOutSearchCV

pytestmark = pytest.mark.skipif(
    not hasattr(GridSearchCV, "set_callbacks"), reason="callbacks came with scikit-learn 1.9"
)
X, Y = make_classification(200, 6, n_informative=3, flip_y=0.05, random_state=0)


class Recorder:
    """What was told, and of how many tasks at most."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int, int | None]] = []
        self.ended: list[tuple[str, int]] = []

    def setup(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.begun.append((context.task_name, context.task_id, context.max_subtasks))

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        self.ended.append((context.task_name, context.task_id))

    def teardown(self, estimator: Any, context: Any) -> None: ...


def search(**more: Any) -> HeldOutSearchCV:
    grid = {"n_neighbors": [1, 3, 5, 9, 60, 100, 150]}
    return HeldOutSearchCV(
        KNeighborsClassifier(), grid, cv=5, drop="bootstrap", n_bootstraps=50, random_state=0, **more
    )


@pytest.mark.parametrize("refit", [True, False])
def test_the_search_announces_the_plan_and_ends_earlier(refit: bool) -> None:
    told = Recorder()
    made = search(refit=refit).set_callbacks(told).fit(X, Y)
    assert made.n_fits_saved_ > 0, "nobody was dropped, so this tests nothing"
    assert ("search", 0, 35) in told.begun
    cells = [number for name, number, _ in told.begun if name == "candidate-split-evaluation"]
    assert cells == list(range(made.n_fits_))
    assert sorted(told.ended) == sorted((name, number) for name, number, _ in told.begun)
    assert told.ended.index(("search", 0)) == made.n_fits_


def test_a_resumed_search_goes_on_counting(tmp_path: Any) -> None:
    class Stops(KNeighborsClassifier):
        left = 9

        def fit(self, X: Any, y: Any) -> Any:
            Stops.left -= 1
            if Stops.left < 0:
                raise KeyboardInterrupt
            return super().fit(X, y)

    def stoppable() -> HeldOutSearchCV:
        return search(store=tmp_path / "run.db").set_params(estimator=Stops())

    with pytest.raises(KeyboardInterrupt):
        stoppable().fit(X, Y)
    Stops.left = 1000
    told = Recorder()
    made = stoppable().set_callbacks(told).fit(X, Y)
    cells = [number for name, number, _ in told.begun if name == "candidate-split-evaluation"]
    assert 0 < len(cells) < made.n_fits_
    assert cells == list(range(made.n_fits_ - len(cells), made.n_fits_))
    assert max(cells) < 35


def test_scikit_learns_progress_bar_comes_to_its_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("COLUMNS", "80")  # a bar needs room
    from sklearn.callback import ProgressBar

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = search(refit=True).set_callbacks(ProgressBar()).fit(X, Y)
    assert made.n_fits_saved_ > 0
    last = [line for line in capsys.readouterr().out.splitlines() if "search" in line][-1]
    assert "100%" in last
    assert np.isfinite(made.corrected_score_)


@pytest.mark.parametrize("beside", [{"default": {"C": 7.0}}, {"feedback": ho.optuna.CrossFitting(n_trials=2)}])
def test_callbacks_are_told_of_the_search_alone(beside: dict[str, Any]) -> None:
    told = Recorder()
    space = {"C": FloatDistribution(0.01, 10)}
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    made = ho.HeldOutOptunaSearchCV(LogisticRegression(), space, n_trials=3, random_state=0, **beside)
    made.set_callbacks(told).fit(X, Y)
    names = [name for name, _, _ in told.begun]
    assert names.count("fit") == names.count("search") == 1
    assert names.count("candidate-split-evaluation") == 15
    assert sorted(told.ended) == sorted((name, number) for name, number, _ in told.begun)
