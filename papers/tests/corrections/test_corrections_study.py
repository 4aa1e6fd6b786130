"""The test bed as a study: the same for any number of processes, resumable, and stored whole."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.errors import InputError
from heldout_papers import CorrectionsStudy, corrections
from heldout_papers.corrections.independent import IndependentSource
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


def test_every_repetition_has_a_row(small: CorrectionsStudy) -> None:
    frame = small.to_frame(each=True)

    assert len(frame) == 2 * 23 * 3
    assert pd.DataFrame(small.repetition_rows()).shape == frame.shape
    assert small.small_frames().keys() == {"cells"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"part": "some"}, "part must be some of independent, correlated, tables, got 'some'."),
        ({"variants": "ties"}, "variants is for part \"correlated\", got part 'independent'; leave it out."),
        (
            {"part": "tables"},
            'part "tables" needs `searches`, the folder in which searches are kept, got none; `tables` is the '
            "folder of the tables to search.",
        ),
        (
            {"part": "tables", "searches": "a", "levels": [0.9]},
            'levels is for part "independent" and "correlated", got part \'tables\'; leave it out.',
        ),
        (
            {"part": "tables", "searches": "none", "designs": ["b40", "r40"]},
            "designs must have searches in none or tables, got b40: its judging half has no kept search, and no "
            "table with enough rows; r40: its judging half has no kept search, and no table with enough rows.",
        ),
        (
            {"part": "tables", "searches": "none", "designs": "s100", "metrics": "r2"},
            "designs must have searches in none or tables, got s100: it has no metric of r2.",
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
