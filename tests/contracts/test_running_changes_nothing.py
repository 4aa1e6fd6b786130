"""Workers, a run file, an interruption and what is left to do change no bit of a result of any search."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import flipping
import joblib
import pytest
from hazard import Hazard, survival_data
from peers import cancer
from scipy.stats import randint
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from stored_cells import stored_seconds

import heldout as ho
from heldout.execution.store import SQLiteStore
from heldout.execution.store.sqlite import SQLiteRun
from heldout.protocols import NestedEstimate

pytestmark = pytest.mark.filterwarnings("ignore:The rows look ordered")  # a column of Flipping's numbers them

X, Y = cancer(120, 6)
LIFE, DEATHS = survival_data()
FOREST = [
    ("forest", RandomForestClassifier(5), {"max_depth": [1, 3]}),
    ("linear", make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 10.0]}),
]
STEPS = Pipeline([("scale", StandardScaler()), ("best", SelectKBest()), ("svc", SVC())])
KNN = {"n_neighbors": [3, 7, 15, 31]}
QUALITIES = [{"share": [0.05 + share], "seed": [seed]} for seed, share in enumerate([0.0, 0.1, 0.35, 0.45, 0.5])]
FAST: dict[str, Any] = {"n_bootstraps": 20, "random_state": 3}


def grid(model: Any, of: Any, X: Any = X, y: Any = Y, **settings: Any) -> Callable[..., Any]:
    return lambda **running: ho.HeldOutSearchCV(model, of, **FAST, **settings, **running).fit(X, y)


def drops(rule: str) -> Callable[..., Any]:
    return grid(flipping.Flipping(), QUALITIES, flipping.X, flipping.Y, cv=6, drop=rule)


def draws(**running: Any) -> Any:
    space = {"random_state": randint(0, 10**9)}
    model = RandomForestClassifier(2, max_depth=2)
    return ho.HeldOutRandomizedSearchCV(model, space, n_iter=3, cv=3, **FAST, **running).fit(X, Y)


def nested(**settings: Any) -> Callable[..., Any]:
    settings = {"cv": 3, "scoring": "roc_auc", "random_state": 5, **settings}
    return lambda **running: ho.nested_cv(FOREST, X, Y, **settings, **running)


METRICS = {"c": "concordance_index", "b": "integrated_brier_score(times=[0.2, 0.5, 1.0])"}
RUNS: dict[str, tuple[Callable[..., Any], int]] = {
    "several models": (grid(FOREST, None, scoring="roc_auc", cv=3, repeats=2), 7),
    "draws": (draws, 5),
    "shared steps": (grid(STEPS, {"best__k": [2, 4], "svc__C": [0.1, 1.0]}, scoring="roc_auc", cv=3), 5),
    "shared to rounding": (grid(Ridge(), {"alpha": [0.1, 1.0]}, X, X[:, 0] + Y, scoring="r2", cv=3), 4),
    "dropping": (drops("bootstrap"), 11),
    "dropping by two of each": (drops("bootstrap(against='double', threshold=0.9)"), 11),
    "dropping by the power": (drops("paired(pairs='all', looks='power_analysis')"), 11),
    "a width to stop at": (grid(KNeighborsClassifier(), KNN, cv=10, scoring="accuracy", stop_when_width=0.2), 8),
    "early stopping": (
        grid(
            HistGradientBoostingClassifier(max_iter=20, min_samples_leaf=5), {"max_depth": [1, 2]}, cv=3,
            early_stopping=ho.inner_split(0.2, rounds=5),
        ),
        3,
    ),
    "training size": (grid(KNeighborsClassifier(), KNN, cv=4, training_size_correction=True), 4 * 4 + 7),
    "survival": (grid(Hazard(), {"alpha": [1e-3, 100.0]}, LIFE, DEATHS, cv=4, scoring=METRICS, refit="c"), 5),
    "nested and dropping": (nested(drop="bootstrap"), 20),
}  # fmt: skip
"""A call of each, and the cell at which it is interrupted."""


def outcome(found: Any) -> list[Any]:
    """All that does not say how long it took, to the last bit."""
    if isinstance(found, NestedEstimate):
        return [found.to_dict(), found.model.predict_proba(X).tobytes()]
    tables = {name: repr(list(column)) for name, column in found.cv_results_.items() if "time" not in name}
    return [
        {name: array.tobytes() for name, array in found.predictions_.responses.items()},
        {name: repr(estimate.to_dict()) for name, estimate in found.estimates_.items()},
        tables,
        repr(found.evaluation_.barriers),
        (found.best_index_, found.n_fits_, found.n_fits_saved_),
    ]


@pytest.mark.parametrize("name", RUNS)
def test_workers_and_interruptions_change_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, stop = RUNS[name]
    whole, path = make(), tmp_path / "run.db"
    if "dropping" in name or "width" in name:
        assert (whole.n_fits_saved if isinstance(whole, NestedEstimate) else whole.n_fits_saved_) > 0
    with joblib.parallel_config("loky" if name == "several models" else "threading"):
        assert outcome(make(n_jobs=2)) == outcome(whole)

    record, recorded = SQLiteRun.record, list[Any]()

    def stops(run: Any, result: Any) -> None:
        recorded.append(result)
        if len(recorded) == stop:
            raise KeyboardInterrupt
        record(run, result)

    monkeypatch.setattr(SQLiteRun, "record", stops)
    with pytest.raises(KeyboardInterrupt):
        make(store=path)
    kept = len(stored_seconds(path))
    assert kept == stop - 1
    recorded[:] = [None] * stop
    resumed = make(store=path)
    assert outcome(resumed) == outcome(whole)
    assert len(recorded) - stop == len(stored_seconds(path)) - kept, "what was there is not done again"
    recorded[:] = [None] * stop
    assert outcome(make(store=str(path))) == outcome(whole)
    assert len(recorded) == stop, "nothing was left to do"
    if not isinstance(whole, NestedEstimate):
        assert ho.estimate(SQLiteStore(path)).to_dict() == whole.estimate_.to_dict()
