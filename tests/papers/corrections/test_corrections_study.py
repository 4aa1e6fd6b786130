"""The test bed as a study: the same for any number of processes, resumable, and stored whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from kept_examples import some_searches

from heldout.errors import InputError
from heldout_papers import CorrectionsStudy, corrections
from heldout_papers.corrections.independent import IndependentSource
from heldout_papers.corrections.kept import write_searches
from heldout_papers.corrections.scores import score_methods

SMALL: dict[str, Any] = {
    "rows": 40, "configurations": [1, 10], "beta": [(9, 6)], "methods": ["cv", "bbc", "oracle"], "repetitions": 23,
    "n_bootstraps": 40, "random_state": 3,
}  # fmt: skip


def numbers(study: CorrectionsStudy) -> pd.DataFrame:
    """All results but the seconds."""
    return study.to_frame(each=True).drop(columns="seconds")


@pytest.fixture(scope="module")
def small() -> CorrectionsStudy:
    return corrections(**SMALL, n_jobs=1)


def test_processes_change_nothing(small: CorrectionsStudy) -> None:
    pd.testing.assert_frame_equal(numbers(corrections(**SMALL, n_jobs=2)), numbers(small))


def test_an_interrupted_study_continues_with_what_is_missing(small: CorrectionsStudy, tmp_path: Path) -> None:
    done: list[int] = []

    def told(finished: int, total: int, seconds: float) -> None:
        done.append(finished)
        if len(done) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        corrections(**SMALL, n_jobs=1, folder=tmp_path, told=told)
    kept = len(list(tmp_path.glob("*.npz")))
    found = corrections(**SMALL, n_jobs=1, folder=tmp_path, told=lambda *said: done.append(said[0]))

    assert (kept, done) == (2, [1, 2, 3, 4])
    pd.testing.assert_frame_equal(numbers(found), numbers(small))


def test_a_longer_study_begins_with_a_shorter_one_and_methods_do_not_change_each_other(
    small: CorrectionsStudy,
) -> None:
    longer = corrections(**SMALL | {"repetitions": 30, "methods": ["bbc", "tt"]}, n_jobs=1)
    first = longer.columns[0]["value"][:23, 0]

    assert first.tolist() == small.columns[0]["value"][:, 1].tolist()


def test_a_study_gives_what_the_plain_function_gives(small: CorrectionsStudy) -> None:
    source = IndependentSource(40, 10, (9.0, 6.0), "accuracy")
    matrices = [source.matrices(3, r)[0] for r in range(23)]

    found = score_methods(matrices, ["cv", "bbc", "oracle"], n_bootstraps=40)

    for name in ("value", "truth", "low_95", "bound_90"):
        assert np.array_equal(found[name], small.columns[1][name], equal_nan=True)


def test_what_is_stored_gives_the_study_again(small: CorrectionsStudy, tmp_path: Path) -> None:
    path = tmp_path / "corrections.parquet"
    small.to_frame(each=True).to_parquet(path)

    again = CorrectionsStudy.from_frame(pd.read_parquet(path), n_bootstraps=40, entropy=3)

    assert (again.cells, again.methods, again.levels) == (small.cells, small.methods, small.levels)
    first, second = small.to_frame(), again.to_frame()
    pd.testing.assert_frame_equal(first, second, rtol=1e-4, atol=1e-6, check_dtype=False)
    assert pd.DataFrame(small.repetition_rows()).shape == small.to_frame(each=True).shape


def test_a_table_that_lacks_something_is_refused(small: CorrectionsStudy) -> None:
    frame = small.to_frame(each=True)

    with pytest.raises(InputError, match=r"^the table of a test bed needs a column 'truth'"):
        CorrectionsStudy.from_frame(frame.drop(columns="truth"))
    with pytest.raises(InputError, match=r"^cell independent .* lacks a method that others have\.$"):
        CorrectionsStudy.from_frame(frame.iloc[:-1])


def test_kept_searches_are_scored_by_metric_and_choice(tmp_path: Path) -> None:
    path = write_searches(some_searches(), tmp_path / "kept.parquet")
    found = corrections(
        "tables", searches=path, methods=["cv", "bbc"], n_bootstraps=30, levels=[0.95], random_state=0, n_jobs=1,
        metrics=["roc_auc", "r2"], candidates=["one", "varied"],
    )  # fmt: skip
    moved = write_searches(some_searches(), tmp_path / "moved.parquet")
    again = corrections(
        "tables", searches=moved, methods=["bbc"], n_bootstraps=30, levels=[0.95], random_state=0, n_jobs=1,
        metrics=["r2"], candidates=["varied"], repetitions=1,
    )  # fmt: skip

    assert [cell.title for cell in found.cells] == [
        "roc_auc, one, N = 40, C = 1",
        "roc_auc, varied, N = 40, C = 57",
        "r2, one, N = 40, C = 1",
        "r2, varied, N = 40, C = 58",
    ]
    assert found.columns[0]["failure"][2].tolist() == ["no matrix", "no matrix"]
    assert [row["repetitions"] for row in found.rows()] == [3] * 8
    assert again.columns[0]["value"][0, 0] == found.columns[3]["value"][0, 1]
    assert np.isfinite(found.columns[3]["of_folds"][0]).all()
    assert found.small_frames().keys() == {"cells"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"part": "some"}, "part must be some of independent, correlated, tables, got 'some'."),
        ({"variants": "ties"}, "variants is for part \"correlated\", got part 'independent'; leave it out."),
        (
            {"part": "tables"},
            'part "tables" takes searches, a file of kept searches, or tables, a folder of tables to search, got '
            "neither.",
        ),
        (
            {"part": "tables", "searches": "a", "names": ["b"]},
            "names is for tables; leave it out.",
        ),
        (
            {"methods": []},
            "methods must be one or more different methods, got none; a mapping gives labels of your own.",
        ),
        ({"reference": "tt"}, "reference must be some of cv, bbc, shrinkage, oracle, got 'tt'."),
        (
            {"levels": [0.9, 0.9]},
            "levels must be different numbers between 0 and 1, got [0.9, 0.9]; .9 and .95 are usual.",
        ),
        ({"levels": "a"}, "levels must be different numbers between 0 and 1, got 'a'; .9 and .95 are usual."),
        ({"alternatives": "less"}, "alternatives must be some of two-sided, greater, got 'less'."),
        ({"aggregate": "mean"}, "aggregate must be one of auto, folds, pooled, within, got 'mean'."),
        ({"repetitions": 0}, "repetitions must be a whole number from 1 on, got 0."),
        ({"n_bootstraps": 0}, "n_bootstraps must be a whole number from 1 on, got 0."),
    ],
)
def test_wrong_arguments_are_one_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        corrections.job(**arguments)

    assert str(refused.value) == sentence
