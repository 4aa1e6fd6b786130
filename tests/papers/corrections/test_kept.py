"""Kept searches: the file gives back what was scored, and the matrices of each choice of candidates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kept_examples import some_searches

from heldout.errors import InputError
from heldout_papers.corrections.kept import (
    KINDS,
    KeptSearch,
    all_searches,
    as_codes,
    as_probabilities,
    search_file,
    searches_in,
    write_searches,
)
from heldout_papers.corrections.kept_source import kept_sources
from heldout_papers.corrections.of_tables import columns_of, deviation, matrix_of
from heldout_papers.corrections.space import NAMED
from heldout_papers.corrections.table_search import METRICS


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_searches(some_searches(), tmp_path_factory.mktemp("kept") / "searches.parquet")


def test_the_file_gives_the_very_predictions_back(kept: Path) -> None:
    before = {(one.kind, one.rows, one.number): one for one in some_searches()}

    after = all_searches(kept)

    assert len(after) == len(before)
    for one in after:
        other = before[one.kind, one.rows, one.number]
        assert one.table == other.table
        assert np.array_equal(one.search.predictions, other.search.predictions, equal_nan=True)
        assert np.array_equal(one.search.y, other.search.y)
        assert np.array_equal(one.search.folds, other.search.folds)
        for metric in METRICS[one.kind]:
            assert one.search.truths[metric] == pytest.approx(other.search.truths[metric], rel=1e-5, nan_ok=True)


def test_every_code_is_a_probability_of_four_decimals() -> None:
    codes = np.arange(10_001, dtype=np.uint16)

    assert as_codes(as_probabilities(codes)).tolist() == codes.tolist()
    assert as_probabilities(codes).tolist() == [round(k / 10_000, 4) for k in range(10_001)]


def test_what_a_file_holds_is_known_without_reading_it_all(kept: Path) -> None:
    file = search_file(kept)

    assert [(group.kind, group.rows, group.repetitions, group.tables) for group in file.groups] == [
        ("classification", 40, 4, 2),
        ("regression", 40, 4, 2),
    ]
    assert str(kept) not in repr(file)
    assert sorted(searches_in(file, "regression", 40)) == [0, 1, 3]


def test_a_file_that_is_none(tmp_path: Path) -> None:
    odd = tmp_path / "odd.parquet"
    odd.write_text("no table")

    with pytest.raises(InputError, match=r"^searches must be a file of kept searches, and .* is none\.$"):
        search_file(tmp_path / "none.parquet")
    with pytest.raises(InputError, match=r"is no file of kept searches \(.*\); give one that this study wrote\.$"):
        search_file(odd)
    with pytest.raises(InputError, match="there is no search to keep"):
        write_searches([], tmp_path / "empty.parquet")


def test_candidates_are_those_that_could_be_fitted() -> None:
    search = some_searches()[0].search
    failed = search.predictions.copy()
    failed[0, NAMED[1]] = np.nan
    failed[3, 2] = np.nan
    broken = type(search)(search.y, search.folds, failed, search.truths, search.truths_of_folds)

    assert columns_of(search, "accuracy", "one", 1).tolist() == [NAMED[1]]
    assert columns_of(broken, "accuracy", "one", 1).tolist() == [NAMED[2]]
    assert columns_of(broken, "accuracy", "alike", 0).tolist() == [0, 1, 3, 4, 5, 6, 7, 8, 9]
    assert len(columns_of(broken, "accuracy", "varied", 0)) == 55


def test_a_choice_of_one_that_is_left_is_none() -> None:
    search = some_searches()[0].search
    truths = {metric: np.full(57, np.nan) for metric in METRICS["classification"]}
    truths["accuracy"][0] = 0.7
    broken = type(search)(search.y, search.folds, search.predictions, truths, truths)

    assert matrix_of(broken, "classification", "accuracy", "varied", 0, 0) is None
    assert matrix_of(broken, "classification", "roc_auc", "one", 0, 0) is None


def test_errors_are_in_units_of_the_target_on_the_rest() -> None:
    search = next(one.search for one in some_searches() if one.kind == "regression")
    matrix = matrix_of(search, "regression", "root_mean_squared_error", "alike", 0, 0)

    assert matrix is not None
    assert deviation(search) == pytest.approx(3.0)
    assert matrix.scale == pytest.approx(3.0)


def test_a_source_has_a_matrix_for_each_cell_and_none_for_a_search_that_is_not_there(kept: Path) -> None:
    source = kept_sources(search_file(kept), None, ["varied", "one"], ["r2", "accuracy"])[1]

    there, lacking = source.matrices(0, 1), source.matrices(0, 2)

    assert [cell.title for cell in source.cells] == ["r2, one, N = 40, C = 1", "r2, varied, N = 40, C = 58"]
    assert [None if one is None else one.truths.shape for one in there] == [(1,), (58,)]
    assert lacking == (None, None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((100, None, None), "rows must be some of 40, which the searches have, got 100."),
        ((None, "some", None), "candidates must be some of one, alike, varied, got 'some'."),
        ((None, None, "f1"), 'metrics of part "tables" must be some of accuracy'),
    ],
)
def test_settings_that_are_refused(kept: Path, arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(InputError, match=f"^{words}"):
        kept_sources(search_file(kept), *arguments)


def test_metrics_that_the_file_lacks(tmp_path: Path) -> None:
    only = [one for one in some_searches() if one.kind == KINDS[0]]
    file = search_file(write_searches(only, tmp_path / "only.parquet"))

    with pytest.raises(InputError, match=r"^the searches have none of the metrics r2\.$"):
        kept_sources(file, None, None, "r2")
    assert all(isinstance(one, KeptSearch) for one in only)
