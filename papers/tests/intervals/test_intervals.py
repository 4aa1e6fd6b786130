"""The simulated study: what is drawn, what it depends on, and that what is found is so."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from heldout.errors import InputError
from heldout_papers import IntervalSetting, IntervalStudy, intervals
from heldout_papers.intervals.methods import BoundSettings
from heldout_papers.intervals.setting import IntervalMatrix
from heldout_papers.simulation import scores_of_class_aucs

SMALL: dict[str, Any] = {"rows": 60, "configurations": 20, "prevalence": 0.4, "beta": [(9, 6)], "n_bootstraps": 40}


def setting(rows: int, prevalence: float | None, task: Any = "binary", folds: int = 10) -> IntervalSetting:
    return IntervalSetting(rows, 5, prevalence, (9.0, 6.0), folds, BoundSettings(task))


@pytest.mark.parametrize(
    ("asked", "counts", "folds"),
    [
        (setting(50, 0.1), [45, 5], 5),
        (setting(50, 0.5), [25, 25], 10),
        (setting(500, 0.1), [450, 50], 10),
        (setting(45, 0.1, folds=3), [40, 5], 3),
        (setting(50, 0.2, "multiclass"), [10] * 5, 10),
        (setting(50, 0.1, "multiclass"), [5, 11, 12, 11, 11], 5),
    ],
    ids=["unbalanced", "balanced", "large", "half up", "five of a size", "one rare"],
)
def test_classes_and_folds(asked: IntervalSetting, counts: list[int], folds: int) -> None:
    matrix = IntervalMatrix.drawn(asked, 0, 0)
    assert np.bincount(matrix.y).tolist() == counts
    assert asked.folds == folds and np.all(np.diff(matrix.y) >= 0)
    # Each class is dealt to the folds as evenly as it goes.
    for code in range(len(counts)):
        dealt = np.bincount(matrix.folds[matrix.y == code], minlength=folds)
        assert dealt.max() - dealt.min() <= 1 and dealt.sum() == counts[code]


def test_true_performances_are_true() -> None:
    """20 000 rows, 40 configurations: no observed area or R² is four standard errors from its truth."""
    found = IntervalMatrix.drawn(IntervalSetting(20_000, 40, 0.3, (9.0, 6.0), 10, BoundSettings()), 1, 0)
    positive, negative = found.scores[found.y == 1], found.scores[found.y == 0]
    n1, n0 = len(positive), len(negative)
    order = np.argsort(np.argsort(found.scores, axis=0), axis=0) + 1
    area = (order[found.y == 1].sum(axis=0) - n1 * (n1 + 1) / 2) / (n1 * n0)
    assert abs(area - found.truth).max() < 4 * np.sqrt(0.25 / min(n0, n1))

    asked = IntervalSetting(20_000, 40, None, (9.0, 6.0), 10, BoundSettings("regression"))
    numbers = IntervalMatrix.drawn(asked, 1, 0)
    rest = ((numbers.y[:, None] - numbers.scores) ** 2).sum(axis=0) / ((numbers.y - numbers.y.mean()) ** 2).sum()
    assert abs(1 - rest - numbers.truth).max() < 0.03


def test_areas_of_pairs_of_classes_are_true() -> None:
    rng, y = np.random.default_rng(0), np.repeat([0, 1, 2], 4000)
    areas = np.array([[[0.5, 0.9, 0.6], [0.7, 0.5, 0.8], [0.3, 0.95, 0.5]]])
    scores = scores_of_class_aucs(rng, y, areas)
    for one in range(3):
        for other in {0, 1, 2} - {one}:
            mine, theirs = scores[y == one, 0, one], np.sort(scores[y == other, 0, one])
            area = np.searchsorted(theirs, mine).mean() / len(theirs)
            assert area == pytest.approx(areas[0, one, other], abs=0.03)


def test_the_truth_is_that_of_what_a_method_chose() -> None:
    study = intervals(**SMALL, repetitions=3, random_state=5)
    for repetition in range(3):
        matrix = IntervalMatrix.drawn(study.settings[0], 5, repetition)
        for name in study.methods:
            truth = study.columns[0][f"{name}.truth"][repetition]
            assert np.isnan(truth) or truth in matrix.truth


def test_it_depends_on_the_seed_and_nothing_else(tmp_path: Path) -> None:
    study = intervals(**SMALL, repetitions=11, random_state=5)
    both = intervals(**SMALL, repetitions=11, random_state=5, n_jobs=2, folder=tmp_path)
    again = intervals(**SMALL, repetitions=11, random_state=5, folder=tmp_path)
    fewer = intervals(**SMALL, repetitions=4, methods=["bbc_f", "tilting"], random_state=5)
    other = intervals(**SMALL, repetitions=4, methods=["bbc"], random_state=6)

    for name, column in study.columns[0].items():
        assert np.array_equal(column, both.columns[0][name], equal_nan=column.dtype.kind == "f")
        assert np.array_equal(column, again.columns[0][name], equal_nan=column.dtype.kind == "f")
    for name, column in fewer.columns[0].items():
        assert np.array_equal(column, study.columns[0][name][:4], equal_nan=column.dtype.kind == "f")
    assert not np.array_equal(study.columns[0]["bbc.low"][:4], other.columns[0]["bbc.low"])
    assert len(list(tmp_path.glob("*.npz"))) == 2


def test_what_is_kept_in_a_table_is_the_study_again(tmp_path: Path) -> None:
    study = intervals(
        [40, 60], 12, [0.1, 0.4], [(9, 6)], repetitions=6, n_bootstraps=20, folds=4, confidence_level=0.9,
        methods=["bbc", "delong", "mabt"], random_state=2**63,
    )  # fmt: skip
    study.to_frame(each=True).to_parquet(tmp_path / "each.parquet", index=False)
    again = IntervalStudy.from_frame(pd.read_parquet(tmp_path / "each.parquet"))

    assert again.settings == study.settings
    assert (again.entropy, again.repetitions) == (2**63, 6)
    pd.testing.assert_frame_equal(again.to_frame(), study.to_frame(), rtol=1e-5, atol=1e-6)
    assert "too few rows" in again.rows()[1]["failures"]


@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_other_tasks_have_what_applies_to_them(task: str) -> None:
    study = intervals(60, 10, beta=[(24, 6)], task=task, repetitions=4, n_bootstraps=30, random_state=0)
    frame = study.to_frame()
    assert study.methods == ("bbc", "bbc_f", "naive_bootstrap")
    assert len(frame) == 3 * (2 if task == "multiclass" else 1)
    assert frame["tightness"].notna().all() and (frame["failed"] == 0).all()
    again = IntervalStudy.from_frame(study.to_frame(each=True))
    assert again.settings == study.settings
    assert again.true_performance.keys() == {"all rows"}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "task": ({"task": "times"}, "task must be one of binary, multiclass, regression, survival, got 'times'"),
    "rows": ({"rows": 3}, "rows must be a whole number from 4 on"),
    "no rare rows": ({"rows": 20, "prevalence": 0.05}, "with `rows=20` and `prevalence=0.05` the rarest has 1"),
    "prevalence": ({"prevalence": 0.6}, r"prevalence must be above 0 and up to 0.5, got 0.6"),
    "of five": ({"task": "multiclass", "prevalence": 0.3}, "up to 0.2, got 0.3"),
    "of numbers": ({"task": "regression", "prevalence": 0.3}, "a regression task has none; got 0.3"),
    "word": ({"prevalence": "half"}, "prevalence must be above 0"),
    "beta": ({"beta": [(0, 6)]}, "beta must be pairs of numbers above 0"),
    "level": ({"confidence_level": 1.0}, "confidence_level must be above .5 and below 1, got 1.0"),
    "methods": ({"methods": "wilson"}, "methods of a binary task must be some of bbc, bbc_f, delong"),
    "folds": ({"folds": 1}, "folds must be a whole number from 2 on"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused(name: str) -> None:
    asked, reason = REFUSED[name]
    with pytest.raises(InputError, match=reason):
        intervals.job(**asked)


def test_the_articles_settings_are_sixteen() -> None:
    plan = intervals.job(random_state=0).plan
    assert len(plan.settings) == len(set(plan.settings)) == 16
    assert plan.repetitions == 200
    assert len(intervals.job(task="multiclass").plan.settings) == 16
    assert len(intervals.job(task="regression").plan.settings) == 8


def _inclusion(repetitions: int) -> dict[str, dict[str, Any]]:
    study = intervals(
        120, 60, 0.5, [(24, 6)], repetitions=repetitions, n_bootstraps=200,
        methods=["bbc", "bbc_f", "naive_bootstrap"], random_state=11,
    )  # fmt: skip
    return {row["method"]: row for row in study.rows()}


def test_bbc_holds_the_truth_and_the_naive_bootstrap_does_not() -> None:
    """Of 60: BBC holds some 99 %, so that fewer than 54 would come in 1 of 10 000 studies; NB far below 95 %."""
    found = _inclusion(60)
    assert found["bbc"]["inclusion"] >= 54 / 60 > binom.ppf(1e-4, 60, 0.99) / 60 - 0.05
    assert found["naive_bootstrap"]["rejected"] and found["naive_bootstrap"]["inclusion"] < 0.85
    assert found["naive_bootstrap"]["tightness"] < found["bbc"]["tightness"]
    assert found["naive_bootstrap"]["uniformity"] < 1e-4


@pytest.mark.slow
def test_bbc_and_bbc_f_keep_their_level() -> None:
    """1000 repetitions: not rejected at 95 %, where a method of just that level would be once in 20."""
    found = _inclusion(1000)
    assert not found["bbc"]["rejected"] and not found["bbc_f"]["rejected"]
    assert found["bbc"]["inclusion"] > 0.97


def test_a_table_of_something_else_is_refused() -> None:
    study = intervals([20, 30], 4, 0.5, [(9, 6)], repetitions=2, n_bootstraps=20, methods=["bbc"], random_state=0)
    frame = study.to_frame(each=True)

    with pytest.raises(InputError, match="needs a column 'low', got"):
        IntervalStudy.from_frame(frame.drop(columns="low"))
    with pytest.raises(InputError, match="needs rows, and has none"):
        IntervalStudy.from_frame(frame.iloc[:0])
    with pytest.raises(InputError, match="repeated equally often"):
        IntervalStudy.from_frame(frame.iloc[:-1])
