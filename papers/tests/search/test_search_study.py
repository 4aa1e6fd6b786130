"""The study of searches on tables: sub-samples, truths, what is left out, and the same numbers any way."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from small_spaces import of_table

from heldout.configurations import make_configurations
from heldout.errors import InputError
from heldout_papers import SearchStudy, search
from heldout_papers.search.protocols import NO_WINNER
from heldout_papers.search.result import RepeatedProtocol, SearchPlace
from heldout_papers.search.space import space_of, thinned
from heldout_papers.search.study import small_tables
from heldout_papers.search.subsamples import LEAST_OF_CLASS, DividedTable
from heldout_papers.tables import tables_in

SETTINGS: dict[str, Any] = {
    "rows": [30, 40], "subsamples": 2, "space": of_table, "folds": 3, "repeats": 2, "n_bootstraps": 40,
    "random_state": 7,
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tables: Path) -> SearchStudy:
    return search(tables, **SETTINGS, n_jobs=1)


def test_every_protocol_runs_on_every_sub_sample(study: SearchStudy) -> None:
    assert study.places == tuple(SearchPlace(name, n) for name in ("first", "second") for n in (30, 40))
    assert study.left_out == {"three": "its target is multiclass"}
    table = study.to_frame()
    assert table.groupby(["table", "rows"]).protocol.agg(list).iloc[0] == [
        "cv", "tt", "nested_cv", "bced", "bced_late", "bbc", "bbc", "bced", "bced_late",
    ]  # fmt: skip
    assert (table.subsamples == 2).all()
    assert set(table[table.protocol == "cv"].models) == {3 * 5 + 1}
    assert set(table[table.protocol == "nested_cv"].models) == {9 * 5 + 3 + 1}
    once = table[table.repeats == 1]
    assert (once.speed_up[once.protocol == "bced"] >= 1).all()
    assert table.coverage.notna().equals(table.protocol.isin(["bbc", "bced", "bced_late"]))
    # With so few rows nobody is dropped after 50 predictions: late dropping is none.
    late, bbc = once[once.protocol == "bced_late"], once[once.protocol == "bbc"]
    columns = ["bias", "estimate", "truth", "models", "coverage", "width"]
    assert np.array_equal(late[columns], bbc[columns])


def test_truths_are_of_rows_that_no_search_saw(tables: Path, study: SearchStudy) -> None:
    """Worked again without the study: the winner of cv on the first sub-sample, scored on the 70 %."""
    table = tables_in(tables, names=["first"]).tables[0]
    divided = DividedTable.of(table, study.entropy)
    rows = divided.drawn(30, table.digest, 0, entropy=study.entropy)
    winner = int(study.of("winner", RepeatedProtocol("cv"), SearchPlace("first", 30))[0])
    model = (
        make_configurations(of_table(divided.X, divided.y))[winner].fresh().fit(divided.X[rows], divided.y[rows])
    )
    scores = model.predict_proba(divided.X[divided.rest])[:, 1]

    truth = study.of("truth", RepeatedProtocol("cv"), SearchPlace("first", 30))[0]
    assert truth == pytest.approx(roc_auc_score(divided.y[divided.rest], scores), rel=1e-12)
    assert not set(divided.pool) & set(divided.rest)
    assert set(rows) <= set(divided.pool)
    assert len(divided.pool) == 90 and len(divided.rest) == 210
    assert divided.y[divided.pool].mean() == pytest.approx(divided.y.mean(), abs=0.01)


@pytest.mark.usefixtures("without_pictures")
def test_the_characteristics_of_the_tables(study: SearchStudy) -> None:
    """As table 1: 300 rows, of which 30 % are the pool."""
    first = study.tables[0]
    assert (first.table, first.rows, first.columns, first.classes) == ("first", 300, 8, 2)
    assert first.parts == (("pool", 90), ("hold-out", 210))
    table = next(one for one in study.page().tables if one.title == "The tables (table 1)")
    assert table.head == ("", "rows", "columns", "classes", "positives / negatives", "pool", "hold-out")
    positives = 300 * first.minority
    assert table.rows[0] == ("first", "300", "8", "2", f"{positives / (300 - positives):.3g}", "90", "210")


def test_sub_samples_have_rows_of_each_class(tables: Path) -> None:
    table = tables_in(tables, names=["first"]).tables[0]
    divided = DividedTable.of(table, 0)
    for number in range(200):
        assert np.bincount(divided.y[divided.drawn(12, number, entropy=0)]).min() >= LEAST_OF_CLASS
    with pytest.raises(InputError, match="no 4 rows of 90 could be drawn with 3 of each class, in 1000 attempts"):
        divided.drawn(4, entropy=0)


def test_the_same_numbers_for_other_processes_and_after_an_interruption(
    tables: Path, study: SearchStudy, tmp_path: Path
) -> None:
    shorter = SETTINGS | {"subsamples": 1, "rows": 40}
    search(tables, **shorter, names=["first"], n_jobs=1, folder=tmp_path)
    done: list[tuple[int, int]] = []
    again = search(
        tables,
        **SETTINGS,
        names=["first"],
        n_jobs=2,
        folder=tmp_path,
        told=lambda finished, total, _: done.append((finished, total)),
    )

    assert done[0] == (2, 4)
    found = study.to_frame(each=True).drop(columns="seconds")
    pd.testing.assert_frame_equal(again.to_frame(each=True).drop(columns="seconds"), found[found.table == "first"])


def test_a_study_is_made_again_from_its_table(study: SearchStudy, tmp_path: Path) -> None:
    path = tmp_path / "search.parquet"
    study.to_frame(each=True).to_parquet(path)
    again = SearchStudy.from_frame(pd.read_parquet(path), folds=3, n_bootstraps=40, space="of_table", entropy=7)

    pd.testing.assert_frame_equal(again.to_frame(), study.to_frame())
    known = {name: value for name, value in study.parameters().items() if name != "characteristics"}
    assert again.parameters() == known | {"left_out": {}}
    with pytest.raises(InputError, match="this is not a table of a study of searches"):
        SearchStudy.from_frame(study.to_frame())


def test_what_cannot_be_estimated_is_nan_with_the_reason(tables: Path) -> None:
    class_less = [("hopeless", LogisticRegression(C=-1.0), {"tol": [1e-3, 1e-4]})]
    found = search(
        tables, **SETTINGS | {"space": class_less, "rows": 30, "subsamples": 1}, names=["first"], n_jobs=1
    )
    each = found.to_frame(each=True)

    assert each.estimate.isna().all() and each.truth.isna().all()
    assert (each.winner == NO_WINNER).all()
    assert each.reason.str.startswith("cv: all 2 configurations failed").all()
    assert set(found.to_frame().subsamples) == {0}


def test_sizes_that_a_table_cannot_give_are_left_out(tables: Path) -> None:
    job = search.job(tables, **SETTINGS | {"rows": [10, 30, 95]})

    assert [(one.table.name, one.rows) for one in job.plan.settings] == [("first", 30), ("second", 30)]
    assert job.left_out["first with 95 rows"] == "its pool has 90 rows"
    assert job.left_out["first with 10 rows"].startswith("a sub-sample would have 3.")


def test_the_small_tables_of_a_folder(tables: Path) -> None:
    assert small_tables(tables, 1, rows=[30, 40]) == ["first"]
    assert small_tables(tables, 5, rows=40) == ["first", "second"]
    with pytest.raises(InputError, match="holds no table that fits"):
        small_tables(tables, 5, rows=100)


def test_the_spaces_that_there_are(tables: Path) -> None:
    plan = search.job(tables, **SETTINGS | {"space": "tsamardinos2018", "configurations": 6}).plan
    divided = DividedTable.of(plan.settings[0].table, 0)
    found = plan.settings[0].space.configurations(divided.X, divided.y)

    assert [member.position for member in found] == list(range(6))
    assert len({member.model for member in found}) > 3
    assert len(thinned(make_configurations(of_table(divided.X, None)), 9)) == 5


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        pytest.param(
            {"space": "qick"}, "space must be one of tsamardinos2018, quick, standard, got 'qick'", id="name"
        ),
        pytest.param({"space": []}, "the list of estimators is empty", id="empty"),
        pytest.param({"configurations": 1}, "configurations must be a whole number from 2 on", id="one"),
        pytest.param(
            {"rows": 5}, "rows must be at least twice the folds.* got `rows=5` and `folds=3`", id="few rows"
        ),
        pytest.param(
            {"rows": 100}, "no table of .* is large enough .* first with 100 rows: its pool", id="many rows"
        ),
        pytest.param({"folds": 2}, "folds must be a whole number from 3 on, got 2", id="folds"),
        pytest.param({"subsamples": 0}, "subsamples must be a whole number from 1 on, got 0", id="subsamples"),
        pytest.param({"names": ["none"]}, "holds no table 'none'; it holds first, second, three", id="table"),
        pytest.param({"names": ["three"]}, "table three cannot be used: its target is multiclass", id="classes"),
    ],
)
def test_what_cannot_be_studied_is_one_sentence(tables: Path, changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        search.job(tables, **SETTINGS | changed)


def test_a_space_is_recognised_by_what_it_is_made_of() -> None:
    one = [("lr", LogisticRegression(), {"C": [1.0, 2.0]})]
    other = [("lr", LogisticRegression(), {"C": [1.0, 3.0]})]

    assert space_of(one, None) == space_of(list(one), None)
    assert space_of(one, None) != space_of(other, None)
    assert repr(space_of(of_table, 3)).startswith("Space(name='of_table', digest='")
