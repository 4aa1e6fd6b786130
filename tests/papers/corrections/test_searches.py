"""Searches on samples of tables: what a search holds, that it is repeated to the bit, and which tables fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score

from heldout.errors import InputError
from heldout_papers.corrections.kept import all_searches, search_file, write_searches
from heldout_papers.corrections.of_tables import SEARCHED
from heldout_papers.corrections.searches import SearchSetting, do_batch, kept_searches, search_plan, search_tables
from heldout_papers.corrections.space import ALIKE, NAMED, classifiers, regressors
from heldout_papers.corrections.table_search import METRICS, SearchTable, search_on_sample, search_table
from heldout_papers.engine.batches import Batch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two classes, one of numbers, one of three classes, one that is too small."""
    place = tmp_path_factory.mktemp("tables")
    X, y = make_classification(420, 5, n_informative=3, random_state=0)
    frame = pd.DataFrame(X.round(3), columns=list("abcde"))
    frame.assign(target=np.where(y == 1, "yes", "no")).to_csv(place / "classes.csv", index=False)
    frame.assign(target=y + (X[:, 0] > 1)).astype({"target": str}).to_csv(place / "three.csv", index=False)
    frame[:60].assign(target=y[:60]).to_csv(place / "small.csv", index=False)
    X, y = make_regression(420, 4, noise=20, random_state=0)
    pd.DataFrame(X.round(3), columns=list("abcd")).assign(target=y.round(2)).to_csv(
        place / "numbers.csv", index=False
    )
    return place


@pytest.fixture(autouse=True)
def few_configurations(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ten that are alike only, except where the test is slow."""
    if request.node.get_closest_marker("slow") is None:
        for name, space in (("classifiers", classifiers), ("regressors", regressors)):
            monkeypatch.setitem(search_on_sample.__globals__, name, lambda X, space=space: space(X)[:1])


def table(folder: Path, name: str) -> SearchTable:
    found = search_table(folder / f"{name}.csv")
    assert isinstance(found, SearchTable)
    return found


def test_a_search_of_numbers_holds_what_its_models_predict(folder: Path) -> None:
    numbers = table(folder, "numbers")
    rows = pd.read_csv(folder / "numbers.csv")
    found = search_on_sample(numbers, 40, 0, 7)

    assert found.predictions.shape == (40, ALIKE)
    assert np.bincount(found.folds).tolist() == [8] * 5
    assert all(found.truths[metric].shape == (ALIKE,) for metric in METRICS["regression"])
    # The first configuration is a ridge regression on scaled columns with penalty 1e4: fitted again on a fold.
    place = [int(np.flatnonzero(rows["target"] == value)[0]) for value in found.y]
    X, y = rows.drop(columns="target").to_numpy()[place], found.y
    train = found.folds != 0
    scaled = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    model = Ridge(alpha=1e4).fit(scaled[train], y[train])
    assert found.predictions[~train, 0] == pytest.approx(model.predict(scaled[~train]), rel=1e-3)
    # Its true score is that of the model of all rows on all others.
    rest = rows.drop(index=place)
    scale = X.mean(axis=0), X.std(axis=0)
    whole = Ridge(alpha=1e4).fit((X - scale[0]) / scale[1], y)
    predicted = whole.predict((rest.drop(columns="target").to_numpy() - scale[0]) / scale[1])
    assert found.truths["r2"][0] == pytest.approx(r2_score(rest["target"], predicted), abs=1e-3)


def test_a_search_of_classes_is_repeated_to_the_bit_and_rounded_to_four_decimals(folder: Path) -> None:
    classes = table(folder, "classes")
    first, again = (search_on_sample(classes, 40, 2, 7) for _ in range(2))

    assert np.array_equal(first.predictions, again.predictions)
    assert np.array_equal(first.truths["log_loss"], again.truths["log_loss"])
    assert np.array_equal(first.predictions, np.round(first.predictions, 4))
    assert set(first.y) == {0.0, 1.0}
    assert first.y.sum() >= 5
    assert first.truths["roc_auc"].max() > 0.6
    assert first.truths_of_folds["accuracy"].shape == (ALIKE,)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_the_whole_space_is_searched(folder: Path, name: str) -> None:
    known = table(folder, name)

    found = search_on_sample(known, 40, 0, 7)

    assert found.predictions.shape == (40, SEARCHED[known.kind])
    assert np.isfinite(found.predictions).all()
    assert max(NAMED) < SEARCHED[known.kind]


def test_the_spaces_begin_with_ten_that_are_alike() -> None:
    X = np.zeros((5, 3))

    for space in (classifiers(X), regressors(X)):
        (grid,) = space[0][2].values()
        assert len(grid) == ALIKE


def test_a_batch_becomes_kept_searches_and_what_failed_is_left_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = SearchSetting("classification", 40, (table(folder, "classes"),))
    found = do_batch(Batch(setting, 0, 1), 7)
    (one,) = kept_searches([setting], [found])
    expected = search_on_sample(setting.tables[0], 40, 0, 7)

    assert (one.kind, one.rows, one.number, one.table) == ("classification", 40, 0, "classes")
    assert np.array_equal(one.search.predictions, expected.predictions, equal_nan=True)

    def fails(*arguments: object) -> None:
        raise InputError("no sample")

    monkeypatch.setitem(do_batch.__globals__, "search_on_sample", fails)
    nothing = do_batch(Batch(setting, 0, 2), 7)
    assert {name: len(values) for name, values in nothing.items()} == dict.fromkeys(found, 2)
    assert kept_searches([setting], [nothing]) == []


def test_tables_that_do_not_fit_are_left_out_with_the_reason(folder: Path) -> None:
    plan, left_out = search_plan(folder, None, None, 3, 0)

    assert [(setting.kind, setting.rows, [one.name for one in setting.tables]) for setting in plan.settings] == [
        ("classification", 40, ["classes"]),
        ("regression", 40, ["numbers"]),
    ]
    assert left_out == {"three": "its target is multiclass", "small": "it has 60 rows"}


def test_folders_and_names_that_do_not_fit(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r" is no folder; give one that holds tables, CSV or Parquet\.$"):
        search_tables(tmp_path / "none")
    with pytest.raises(InputError, match=r" holds no table 'nope'; it holds classes, numbers, small, three\.$"):
        search_tables(folder, ["nope"])
    with pytest.raises(InputError, match="large enough for samples of 40 rows; left out were three: its target is"):
        search_plan(folder, ["three"], None, 3, 0)


def test_what_was_searched_is_kept_in_a_file(folder: Path, tmp_path: Path) -> None:
    setting = SearchSetting("regression", 40, (table(folder, "numbers"),))
    path = write_searches(kept_searches([setting], [do_batch(Batch(setting, 0, 1), 7)]), tmp_path / "kept.parquet")

    (one,) = all_searches(path)

    assert np.array_equal(one.search.predictions, search_on_sample(setting.tables[0], 40, 0, 7).predictions)
    assert search_file(path).groups[0].kind == "regression"
