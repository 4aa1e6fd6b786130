"""What each method says of a matrix: just what ``heldout.estimate`` says, or why it says nothing."""

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

import heldout as ho
from heldout.estimates.methods.two_part.template import TwoPart
from heldout_papers.intervals.methods import (
    METHODS,
    SELECTORS,
    TILTING_TIMES,
    BoundSettings,
    NoBound,
    bounds,
    checked_methods,
)
from heldout_papers.simulation import predictions_of_r2, scores_of_auc

THREE = ("bbc", "bbc_f", "naive_bootstrap")
IntervalMatrix = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.intp]]


def binary(n: int = 120, rare: int = 40, columns: int = 25, seed: int = 0, folds: int = 8) -> IntervalMatrix:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n - rare, rare])
    return y, scores_of_auc(rng, y, rng.beta(9, 6, columns)), np.arange(n) % folds


@pytest.mark.parametrize("name", METHODS)
def test_a_bound_is_that_of_the_library(name: str) -> None:
    y, scores, folds = binary()
    method = METHODS[name]
    times = TILTING_TIMES if isinstance(method, TwoPart) and method.draws else 1
    found = bounds(y, scores, folds, BoundSettings(n_bootstraps=100), seed=7)[name]
    expected = ho.estimate(
        y, scores, metric="roc_auc", folds=folds, method=method, alternative="greater", n_bootstraps=100 * times,
        response="decision", random_state=7,
    )  # fmt: skip

    assert expected.interval is not None
    assert (found.low, found.value, found.selected) == (
        expected.interval.low, expected.value, expected.selected,
    )  # fmt: skip
    assert found.failure is None and np.isfinite(found.low)


def test_other_levels_and_few_methods_change_nothing_else() -> None:
    y, scores, folds = binary()
    both = bounds(y, scores, folds, BoundSettings(methods=("bbc", "mabt"), n_bootstraps=50), seed=3)
    every = bounds(y, scores, folds, BoundSettings(n_bootstraps=50), seed=3)
    narrow = bounds(y, scores, folds, BoundSettings(n_bootstraps=50, confidence_level=0.8), seed=3)

    assert list(both) == ["bbc", "mabt"]
    assert all(both[name].low == every[name].low for name in both)
    assert all(narrow[name].low >= every[name].low for name in METHODS)
    assert list(every) == list(METHODS)


def test_methods_of_a_group_choose_the_same_configuration() -> None:
    for seed in range(5):
        found = bounds(*binary(seed=seed), BoundSettings(n_bootstraps=20), seed=seed)
        for group in ("best of 75 %", "best tenth of 75 %"):
            assert len({found[name].selected for name in SELECTORS[group]}) == 1
        assert found["naive_bootstrap"].selected == found["bbc_f"].selected


def test_two_parts_are_not_tried_with_few_of_a_class() -> None:
    y, scores, folds = binary(rare=10)  # 7.5 rows for 8 folds
    found = bounds(y, scores, folds, BoundSettings(n_bootstraps=20), seed=0)
    enough = bounds(y, scores, folds % 7, BoundSettings(n_bootstraps=20), seed=0)

    assert {name for name in METHODS if found[name].failure is NoBound.TOO_FEW_ROWS} == {
        name for name, method in METHODS.items() if isinstance(method, TwoPart)
    }
    assert found["mabt"].why == "75% of 10 rows of the rarer class are fewer than the 8 folds"
    assert np.isnan(found["mabt"].low) and found["mabt"].selected == -1
    assert np.isfinite(found["bbc"].low)
    assert enough["delong"].failure is not NoBound.TOO_FEW_ROWS


def test_a_perfect_area_has_no_bound_in_two_parts() -> None:
    y, scores, folds = binary()
    scores[:, 4] = y
    found = bounds(y, scores, folds, BoundSettings(n_bootstraps=50), seed=0)

    for group in ("best of 75 %", "best tenth of 75 %"):
        for name in SELECTORS[group]:
            assert found[name].failure is NoBound.PERFECT
            assert found[name].value == 1 and found[name].selected == 4
            assert np.isnan(found[name].low) and found[name].why
            assert np.isnan(found[name].percentile(0.9))
    assert 0.8 < found["bbc"].low < 1  # as published it would be 1, an interval without width


def test_one_row_of_a_class_in_the_second_part_is_told() -> None:
    y, scores, folds = binary(n=60, rare=4, folds=3)
    whys = {
        bounds(y, scores, folds, BoundSettings(n_bootstraps=20), seed=seed)["delong"].failure for seed in range(12)
    }

    assert NoBound.FEW_OF_A_CLASS in whys
    assert whys <= {NoBound.FEW_OF_A_CLASS, NoBound.PERFECT, None}


def test_a_matrix_that_cannot_be_read_fails_every_method() -> None:
    y, scores, folds = binary()
    found = bounds(np.zeros_like(y), scores, folds, BoundSettings(n_bootstraps=20), seed=0)

    assert {each.failure for each in found.values()} == {NoBound.REFUSED}
    assert len({each.why for each in found.values()}) == 1


def test_percentiles_by_hand() -> None:
    y, scores, folds = binary()
    found = bounds(y, scores, folds, BoundSettings(n_bootstraps=100), seed=1)
    estimate = found["bbc"].estimate
    assert estimate is not None and estimate.distribution is not None
    delong, tenth = found["delong"], found["delong_10p"]
    assert delong.estimate is not None and tenth.estimate is not None
    error = tenth.estimate.standard_error
    finalists = tenth.estimate.provenance["n_finalists"]
    one_by_one = norm.cdf((0.7 - tenth.value) / error)

    assert found["bbc"].percentile(0.7) == np.mean(estimate.distribution <= 0.7)
    assert found["bbc"].percentile(-1) == 0 and found["bbc"].percentile(1) == 1
    assert delong.percentile(delong.value) == pytest.approx(0.5)
    # At its own lower bound the percentile is one less the level, whatever the number of finalists.
    assert delong.percentile(delong.low) == pytest.approx(0.05)
    assert tenth.percentile(tenth.low) == pytest.approx(0.05)
    assert finalists >= 3 and tenth.percentile(0.7) == pytest.approx(1 - (1 - one_by_one) ** finalists)
    assert np.isnan(found["tilting"].percentile(0.7)) and np.isnan(found["mabt"].percentile(0.7))


def test_numbers_and_several_classes_are_those_of_the_library() -> None:
    rng = np.random.default_rng(0)
    target = rng.standard_normal(80)
    predicted = predictions_of_r2(rng, target, rng.beta(9, 6, 10))
    folds = np.arange(80) % 5
    found = bounds(target, predicted, folds, BoundSettings("regression", THREE, 50), seed=2)
    published = ho.estimates.BBC(control=False)
    expected = ho.estimate(
        target, predicted, metric="r2", folds=folds, alternative="greater", n_bootstraps=50, random_state=2,
        method=published,
    )  # fmt: skip
    assert expected.interval is not None
    assert (found["bbc"].low, found["bbc"].selected) == (expected.interval.low, expected.selected)

    y = np.repeat([0, 1, 2], 30)
    chances = rng.dirichlet(np.ones(3), size=(90, 6))
    several = bounds(y, chances, np.arange(90) % 5, BoundSettings("multiclass", THREE, 50), seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = ho.estimate(
            y, chances[:, :, None, :], metric="roc_auc_ovo", folds=np.arange(90) % 5, alternative="greater",
            n_bootstraps=50, random_state=2, method=published,
        )  # fmt: skip
    assert same.interval is not None
    assert (several["bbc"].low, several["bbc"].selected) == (same.interval.low, same.selected)
    # Ranks within a class are all that is read.
    scores = np.log(chances) * 3 - 1
    again = bounds(y, scores, np.arange(90) % 5, BoundSettings("multiclass", THREE, 50), seed=2)
    assert [each.low for each in again.values()] == [each.low for each in several.values()]


def test_names_are_checked() -> None:
    assert checked_methods(None, "binary") == tuple(METHODS)
    assert checked_methods(["mabt", "bbc", "mabt"], "binary") == ("bbc", "mabt")
    with pytest.raises(ho.InputError, match="methods of a regression task must be some of bbc, bbc_f, naive"):
        checked_methods("delong", "regression")
    with pytest.raises(ho.InputError, match="got \\[\\]"):
        checked_methods([], "binary")
