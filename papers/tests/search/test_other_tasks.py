"""Searches of tables of several classes, of numbers and of censored times, and by other metrics."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.spaces import CoxRegression, TuningProcedure
from heldout_papers import SearchStudy, search
from heldout_papers.censored import censored_times
from heldout_papers.search.result import RepeatedProtocol, SearchPlace
from heldout_papers.search.subsamples import DividedTable
from heldout_papers.tables import tables_in

CV, BBC = RepeatedProtocol("cv"), RepeatedProtocol("bbc")
CLASSIFIERS: list[Any] = [
    ("logistic", LogisticRegression(max_iter=2000), {"C": [0.01, 1.0]}),
    ("knn", KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
]
REGRESSORS: list[Any] = [
    ("ridge", Ridge(), {"alpha": [0.01, 1.0]}), ("knn", KNeighborsRegressor(), {"n_neighbors": [1, 5]})
]  # fmt: skip
COX: list[Any] = [("cox", CoxRegression(), {"alpha": [0.0, 10.0]})]
HOW: dict[str, Any] = {
    "subsamples": 2, "folds": 3, "repeats": 2, "n_bootstraps": 30, "random_state": 1, "n_jobs": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    load_iris(as_frame=True).frame.to_parquet(place / "iris.parquet")
    load_diabetes(as_frame=True).frame.to_parquet(place / "sugar.parquet")
    rng = np.random.default_rng(0)
    target, risk = censored_times(rng, 300, 0.6)
    columns = {"a": risk + rng.normal(size=300), "b": rng.normal(size=300)}
    frame = pd.DataFrame(columns).assign(target=target["time"], died=target["event"].astype(int))
    frame.to_parquet(place / "times.parquet")
    return place


def winner(study: SearchStudy) -> int:
    return int(study.of("winner", CV, study.places[0])[0])


def test_several_classes_by_accuracy_and_by_log_loss(folder: Path) -> None:
    table = tables_in(folder, names=["iris"], kinds=frozenset({TaskKind.MULTICLASS})).tables[0]
    divided = DividedTable.of(table, 1)
    rows = divided.drawn(40, table.digest, 0, entropy=1)
    X, y, rest = divided.X, divided.y, divided.rest
    assert np.bincount(y[divided.pool]).tolist() == [15, 15, 15]
    for metric, by_hand in ((None, accuracy_score), ("log_loss", log_loss)):
        study = search(folder, names=["iris"], rows=40, task="multiclass", metric=metric, space=CLASSIFIERS, **HOW)
        model = [
            LogisticRegression(C=0.01, max_iter=2000), LogisticRegression(C=1.0, max_iter=2000),
            KNeighborsClassifier(1), KNeighborsClassifier(5),
        ][winner(study)].fit(X[rows], y[rows])  # fmt: skip
        predicted = model.predict(X[rest]) if metric is None else model.predict_proba(X[rest])
        assert study.of("truth", CV, study.places[0])[0] == pytest.approx(by_hand(y[rest], predicted))
        assert study.to_frame().subsamples.eq(2).all()
        row = next(one for one in study.rows() if one["protocol"] == "cv")
        assert row["bias"] == pytest.approx(study.sign * (row["estimate"] - row["truth"]))
        assert study.sign == (1 if metric is None else -1)


def test_numbers_by_r2_and_the_protocols_of_the_library(folder: Path) -> None:
    study = search(folder, names=["sugar"], rows=40, task="regression", space=REGRESSORS, **HOW)
    table = study.tables[0]
    assert (study.metric, table.classes, table.minority) == ("r2", 0, 1.0)
    found = tables_in(folder, names=["sugar"], kinds=frozenset({TaskKind.REGRESSION}), task="regression")
    divided = DividedTable.of(found.tables[0], 1)
    rows = divided.drawn(40, found.tables[0].digest, 0, entropy=1)
    X, y = divided.X, divided.y
    place = SearchPlace("sugar", 40)
    number = winner(study)
    model = [Ridge(0.01), Ridge(1.0), KNeighborsRegressor(1), KNeighborsRegressor(5)][number].fit(X[rows], y[rows])
    assert study.of("truth", CV, place)[0] == pytest.approx(
        r2_score(y[divided.rest], model.predict(X[divided.rest]))
    )
    errors = search(
        folder, names=["sugar"], rows=40, task="regression", metric="mean_squared_error", space=REGRESSORS, **HOW
    )
    number = winner(errors)
    model = [Ridge(0.01), Ridge(1.0), KNeighborsRegressor(1), KNeighborsRegressor(5)][number].fit(X[rows], y[rows])
    by_hand = mean_squared_error(y[divided.rest], model.predict(X[divided.rest]))
    assert errors.of("truth", CV, place)[0] == pytest.approx(by_hand)
    # Pooled over rows the winner of the least error has the greatest R².
    assert winner(study) == winner(errors)


def test_tables_of_another_kind_are_left_out(folder: Path) -> None:
    job = search.job(folder, rows=40, task="regression", space=REGRESSORS)
    assert {setting.table.name for setting in job.plan.settings} == {"sugar", "times"}
    assert job.left_out["iris"] == "its target is multiclass"
    named = search.job(folder, rows=40, task="regression", space=REGRESSORS, names=["iris"])
    assert named.plan.settings[0].table.n_classes == 0


@pytest.mark.usefixtures("without_pictures")
def test_censored_times_by_concordance(folder: Path) -> None:
    study = search(folder, names=["times"], rows=60, task="survival", event="died", space=COX, **HOW)
    each = study.to_frame(each=True)

    assert study.metric == "concordance_index"
    assert each.estimate.between(0.4, 1).all() and each.truth.between(0.55, 0.85).all()
    assert study.tables[0].minority == pytest.approx(0.6, abs=0.08)
    page = study.page()
    assert page.claims == () and page.settings["metric"] == "concordance_index"
    table = next(one for one in page.tables if one.title == "The tables (table 1)")
    assert table.head == ("", "rows", "columns", "events", "pool", "hold-out")
    assert "AUC" not in page.lead
    again = SearchStudy.from_frame(each, folds=3, n_bootstraps=30, metric="concordance_index")
    pd.testing.assert_frame_equal(again.to_frame(), study.to_frame())


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"task": "classes"}, "task must be one of binary, multiclass, regression, survival, got 'classes'"),
        (
            {"task": "multiclass"},
            "the space tsamardinos2018 is of two classes, got `task='multiclass'`; take another",
        ),
        (
            {"task": "regression", "metric": "accuracy"},
            "metric must be a metric of a regression task, got 'accuracy'",
        ),
        ({"task": "survival"}, "`task='survival'` needs the column of events; name it with `event=`"),
        (
            {"task": "binary", "event": "died"},
            "`event='died'` is for `task='survival'`, got `task='binary'`; leave one of them out",
        ),
        ({"task": "regression", "space": REGRESSORS, "names": ["iris"], "target": "nothing"}, "cannot be used"),
    ],
    ids=["task", "space", "metric", "no event", "an event", "column"],
)
def test_what_does_not_go_together_is_refused(folder: Path, how: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        search.job(folder, **{"rows": 40, **how})


def tuned(X: Any, y: Any) -> Any:
    """Chooses among neighbourhoods by an inner search of its own, and returns one model."""
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, cv=2).fit(X, y)


def test_any_procedure_that_returns_one_model_is_a_space(folder: Path) -> None:
    """Of one configuration all protocols estimate the procedure: NCV is its score in the outer folds."""
    whole: list[Any] = [("tuned", TuningProcedure(tuned, kind="classifier"), {})]
    study = search(folder, names=["iris"], rows=40, task="multiclass", space=whole, **HOW)
    table = tables_in(folder, names=["iris"], kinds=frozenset({TaskKind.MULTICLASS})).tables[0]
    divided = DividedTable.of(table, 1)
    rows = divided.drawn(40, table.digest, 0, entropy=1)
    model = tuned(divided.X[rows], divided.y[rows])

    place = study.places[0]
    truth = study.of("truth", RepeatedProtocol("nested_cv"), place)[0]
    assert truth == pytest.approx(model.score(divided.X[divided.rest], divided.y[divided.rest]))
    nested, cv = (study.of("estimate", RepeatedProtocol(name), place) for name in ("nested_cv", "cv"))
    # The mean over folds of 14, 13 and 13 rows, and the share of all rows.
    np.testing.assert_allclose(nested, cv, atol=0.02)
    assert study.configurations == (1, 1)
