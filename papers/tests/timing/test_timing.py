"""The study of times: what is timed, in which order, and what is kept; no test asks how long anything took."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.errors import InputError
from heldout_papers import TimingStudy, timing
from heldout_papers.engine.batches import Batch
from heldout_papers.timing.problem import WAYS, TimingProblem, TimingSetting
from heldout_papers.timing.study import do_batch

SMALL: dict[str, Any] = {"rows": [30, 60], "configurations": [3], "folds": [3, 5], "centre": (30, 3, 3)}


class Counting:
    """A clock whose n-th interval between two looks takes n seconds."""

    def __init__(self) -> None:
        self.looks, self.now = 0, 0.0

    def __call__(self) -> float:
        if self.looks % 2:
            self.now += self.looks // 2 + 1
        self.looks += 1
        return self.now


def test_another_way_comes_first_in_each_repetition() -> None:
    """Two repetitions of four ways are eight intervals: 1 to 4 from the first way on, 5 to 8 from the second."""
    setting = TimingSetting(30, 3, 3, 10, tuple(WAYS))
    found = do_batch(Batch(setting, 0, 2), 0, clock=Counting())

    assert {name: found[f"{name}.seconds"].tolist() for name in WAYS} == {
        "bbc": [1, 8],
        "bbc_f": [2, 5],
        "plain_bbc": [3, 6],
        "plain_bbc_f": [4, 7],
    }


def test_one_number_is_varied_at_a_time_and_no_setting_is_timed_twice() -> None:
    study = timing.job([50, 500], [5, 10], [3, 5]).plan

    assert [(s.rows, s.configurations, s.folds) for s in study.settings] == [
        (50, 5, 3),
        (500, 5, 3),
        (500, 10, 3),
        (500, 5, 5),
    ]


def test_the_articles_settings_are_the_default() -> None:
    study = timing.job().plan

    assert len(study.settings) == 17
    assert (study.repetitions, study.settings[0].n_bootstraps) == (100, 200)


def test_a_problem_has_half_of_each_class_and_both_in_every_fold() -> None:
    problem = TimingProblem.drawn(TimingSetting(30, 3, 5, 10, ("bbc",)), 7, 2)

    assert problem.scores.shape == (30, 3)
    assert np.bincount(problem.y).tolist() == [15, 15]
    assert all(np.bincount(problem.y[problem.folds == fold]).tolist() == [3, 3] for fold in range(5))


def test_problems_and_bounds_are_the_same_for_any_clock() -> None:
    first = timing(**SMALL, repetitions=3, n_bootstraps=20, random_state=4, clock=Counting())
    again = timing(**SMALL, repetitions=3, n_bootstraps=20, random_state=4)

    for one, other in zip(first.columns, again.columns, strict=True):
        for name in WAYS:
            assert one[f"{name}.bound"].tolist() == other[f"{name}.bound"].tolist()


def test_rows_are_medians_with_quartiles() -> None:
    seconds = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    study = TimingStudy(
        (TimingSetting(50, 5, 3, 10, ("bbc",)),),
        (50, 5, 3),
        5,
        ({"bbc.seconds": seconds, "bbc.bound": np.full(5, 0.75)},),
        0,
    )

    (row,) = study.rows()
    assert (row["seconds"], row["lower_quartile"], row["upper_quartile"], row["bound"]) == (3.0, 2.0, 4.0, 0.75)


def test_what_is_kept_keeps_its_times(tmp_path: Path) -> None:
    first = timing(**SMALL, repetitions=2, n_bootstraps=20, random_state=4, folder=tmp_path, clock=Counting())
    again = timing(**SMALL, repetitions=2, n_bootstraps=20, random_state=4, folder=tmp_path)

    assert again.rows() == first.rows()


def test_a_study_is_made_again_from_its_table(tmp_path: Path) -> None:
    study = timing(**SMALL, repetitions=2, n_bootstraps=20, random_state=4, clock=Counting())
    path = tmp_path / "timing.parquet"
    study.to_frame(each=True).to_parquet(path, index=False)
    again = TimingStudy.from_frame(pd.read_parquet(path), n_bootstraps=20, centre=(30, 3, 3), entropy=4)

    assert again.parameters() == study.parameters()
    pd.testing.assert_frame_equal(again.to_frame(), study.to_frame(), rtol=1e-6)
    assert again.varied("rows") == study.varied("rows") == [0, 1]


def test_a_table_of_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="needs a column 'configurations'"):
        TimingStudy.from_frame(pd.DataFrame({"rows": [1]}))
    frame = timing(30, 3, 3, centre=(30, 3, 3), repetitions=2, n_bootstraps=5, random_state=0).to_frame(each=True)
    with pytest.raises(InputError, match="timed equally often in each way, got"):
        TimingStudy.from_frame(frame.iloc[1:])


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"rows": 3}, "rows must be a whole number from 4 on, got 3."),
        (
            {"rows": 20, "folds": 11, "centre": (20, 5, 3)},
            "folds must be at most half of rows, got `folds=11` and `rows=",
        ),
        ({"centre": (500, 5)}, "centre must be three numbers: rows, configurations and folds, got"),
        ({"centre": (500, 0, 3)}, "the configurations of centre must be a whole number from 1 on, got 0."),
        ({"ways": ["bbc", "ncv"]}, "ways must be some of bbc, bbc_f, plain_bbc, plain_bbc_f, got"),
        ({"repetitions": 0}, "repetitions must be a whole number from 1 on, got 0."),
    ],
    ids=["rows", "folds", "centre", "number of centre", "ways", "repetitions"],
)
def test_bad_input_is_one_sentence(asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence.replace("(", r"\(")):
        timing(**asked)
