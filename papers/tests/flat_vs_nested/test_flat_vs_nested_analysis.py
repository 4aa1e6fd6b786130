"""Gains, thresholds, tests and ranks of Wainer & Cawley: by hand, against loops from equations, and identities."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pytest
from comparisons_one_by_one import Measured, Row, by_table, deviations, each, errors, ranks, signed_rank_below
from comparisons_one_by_one import averaged as slow_averaged
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from heldout.advice.flat_vs_nested import mean_interval
from heldout.errors import InputError
from heldout_papers.flat_vs_nested import FlatVsNestedStudy
from heldout_papers.flat_vs_nested.accuracies import Accuracies, mean_ranks, table_ranks
from heldout_papers.flat_vs_nested.analysis import (
    ANALYSES,
    FULL,
    TOP3,
    comparison_row,
    comparison_rows,
    gains,
    scenarios_of,
    signed_rank,
)

HERE = ("gbm", "rf", "svmRadial")
Frame = dict[str, list[object]]


def frame_of(measured: Measured, rows: dict[str, int] | None = None) -> Frame:
    return {
        "table": [key[0] for key in measured],
        "rows": [(rows or {}).get(key[0], 100) for key in measured],
        "repetition": [key[1] for key in measured],
        "algorithm": [key[2] for key in measured],
        **{what: [one[what] for one in measured.values()] for what in ("flat", "nested", "future")},
    }


def drawn(seed: int, tables: int, repetitions: int, algorithms: tuple[str, ...], steps: int = 40) -> Measured:
    """Accuracies in steps, so that some tie."""
    rng = np.random.default_rng(seed)
    return {
        (f"t{t:02}", r, a): {what: float(rng.integers(steps // 2, steps) / steps) for what in WHAT}
        for t in range(tables)
        for r in range(repetitions)
        for a in algorithms
    }


WHAT = ("flat", "nested", "future")
HAND: Measured = {
    # Repetition 0: flat chooses gbm, nested rf. Repetition 1: both choose rf (flat ties: rf is before svmRadial).
    ("iris", 0, "gbm"): {"flat": 0.90, "nested": 0.84, "future": 0.82},
    ("iris", 0, "rf"): {"flat": 0.88, "nested": 0.86, "future": 0.85},
    ("iris", 0, "svmRadial"): {"flat": 0.80, "nested": 0.78, "future": 0.80},
    ("iris", 1, "gbm"): {"flat": 0.80, "nested": 0.78, "future": 0.80},
    ("iris", 1, "rf"): {"flat": 0.90, "nested": 0.89, "future": 0.85},
    ("iris", 1, "svmRadial"): {"flat": 0.90, "nested": 0.88, "future": 0.87},
}


@pytest.mark.parametrize(
    ("analysis", "gain", "threshold", "same"),
    [
        # Gains .85 - .82 and 0; thresholds min(.01, .02) and .04.
        pytest.param("main", [0.015], [0.025], [0.5], id="main"),
        pytest.param("each_repetition", [0.03, 0.0], [0.01, 0.04], [0.0, 1.0], id="each repetition"),
        # Means: gbm .85 .81 .81, rf .89 .875 .85, svmRadial .85 .83 .835: both choose rf.
        pytest.param("averaged", [0.0], [0.015], [1.0], id="averaged"),
        pytest.param("averaged_errors", [0.0], [0.025], [1.0], id="averaged errors"),
        # Smallest deviation of gbm is .02/sqrt(2) (future), of rf 0 (future).
        pytest.param("smallest_deviation", [0.015], [0.0], [0.5], id="smallest deviation"),
        # rf against n = rf in both.
        pytest.param("forest_alone", [0.0], [0.025], [1.0], id="forest alone"),
    ],
)
def test_by_hand(analysis: str, gain: list[float], threshold: list[float], same: list[float]) -> None:
    seen = gains(Accuracies.from_frame(frame_of(HAND)), HERE, analysis)

    assert seen.gain == pytest.approx(gain)
    assert seen.threshold == pytest.approx(threshold)
    assert seen.same.tolist() == same
    assert set(seen.tables) == {"iris"}
    assert seen.left_out == {}


def test_an_outcome_by_hand() -> None:
    """Differences -.03, -.02, .01: positive ranks sum to 1, as they or less do in 2 of 8 signs."""
    measured = {}
    for table, nested_future, flat_future, error in (
        ("a", 0.8, 0.8, 0.03),
        ("b", 0.8, 0.78, 0.04),
        ("c", 0.8, 0.77, 0.02),
    ):
        measured[table, 0, "rf"] = {"flat": 0.7, "nested": nested_future + error, "future": nested_future}
        measured[table, 0, "gbm"] = {"flat": 0.9, "nested": 0.1, "future": flat_future}
    accuracies = Accuracies.from_frame(frame_of(measured))
    found = comparison_row("asked", "main", gains(accuracies, ("gbm", "rf"), "main"), 0)

    assert found.n_tables == 3
    assert found.same_choice == 0.0
    assert found.p_value == pytest.approx(2 / 8)
    assert found.mean == pytest.approx(-0.04 / 3)
    assert found.mean_gain == pytest.approx(0.05 / 3)
    assert found.low == pytest.approx(-0.03) and found.high == pytest.approx(0.01)
    assert found.reason == ""


def as_rows(analysis: str, accuracies: Accuracies, algorithms: tuple[str, ...]) -> list[Row]:
    seen = gains(accuracies, algorithms, analysis)
    return list(zip(seen.tables, seen.gain, seen.threshold, seen.same, strict=True))


@pytest.mark.parametrize(
    ("analysis", "slowly"),
    [
        pytest.param("main", lambda m: by_table(m, errors(m)), id="main"),
        pytest.param("each_repetition", each, id="each repetition"),
        pytest.param("averaged", lambda m: slow_averaged(m, "flat"), id="averaged"),
        pytest.param("averaged_errors", lambda m: slow_averaged(m, "future"), id="averaged errors"),
        pytest.param("smallest_deviation", lambda m: by_table(m, deviations(m)), id="smallest deviation"),
        pytest.param("forest_alone", lambda m: by_table(m, errors(m), "rf"), id="forest alone"),
    ],
)
@pytest.mark.parametrize("algorithms", [HERE, FULL], ids=["top3", "full"])
def test_the_same_as_loops_from_the_equations(
    analysis: str, slowly: Callable[[Measured], list[Row]], algorithms: tuple[str, ...]
) -> None:
    measured = drawn(5, 25, 6, algorithms)
    expected = slowly(measured)
    found = as_rows(analysis, Accuracies.from_frame(frame_of(measured)), algorithms)

    assert [row[0] for row in found] == [row[0] for row in expected]
    np.testing.assert_allclose([row[1:] for row in found], [row[1:] for row in expected], atol=1e-12)


def test_ranks_are_those_of_loops() -> None:
    measured = drawn(3, 8, 4, FULL, steps=20)
    accuracies = Accuracies.from_frame(frame_of(measured))

    for by in ("flat", "nested"):
        expected = ranks(measured, by)
        found = mean_ranks(accuracies, by)
        assert found == pytest.approx(expected)
        assert list(found.values()) == sorted(found.values())
        assert np.mean(list(found.values())) == pytest.approx(6.5)
        assert np.mean(list(mean_ranks(accuracies, by, "best").values())) < 6.4


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), tables=st.integers(1, 8), repetitions=st.integers(1, 6))
def test_where_flat_is_nested_nothing_is_gained(seed: int, tables: int, repetitions: int) -> None:
    measured = drawn(seed, tables, repetitions, HERE)
    for one in measured.values():
        one["flat"] = one["nested"]

    for found in comparison_rows(Accuracies.from_frame(frame_of(measured)), 0):
        if found.analysis != "forest_alone" and found.n_tables:
            assert found.same_choice == 1.0
            assert found.mean_gain == 0.0
            assert not found.p_value > 0.5


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), shift=st.integers(-5, 5))
def test_what_adds_to_all_accuracies_changes_nothing(seed: int, shift: int) -> None:
    measured = drawn(seed, 4, 3, HERE)
    shifted = {key: {what: value + shift / 40 for what, value in one.items()} for key, one in measured.items()}

    for name in ANALYSES:
        ours = as_rows(name, Accuracies.from_frame(frame_of(measured)), HERE)
        theirs = as_rows(name, Accuracies.from_frame(frame_of(shifted)), HERE)
        np.testing.assert_allclose([row[1:] for row in ours], [row[1:] for row in theirs], atol=1e-9)


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_neither_the_order_of_rows_nor_single_precision_changes_anything(seed: int) -> None:
    frame = frame_of(drawn(seed, 5, 3, HERE))
    order = np.random.default_rng(seed).permutation(len(frame["table"]))
    shuffled = {name: np.array(values)[order] for name, values in frame.items()}
    for what in WHAT:
        shuffled[what] = shuffled[what].astype(np.float32)

    for ours, theirs in zip(
        comparison_rows(Accuracies.from_frame(frame), 1),
        comparison_rows(Accuracies.from_frame(shuffled), 1),
        strict=True,
    ):
        assert ours.n_tables == theirs.n_tables
        for what in ("same_choice", "p_value", "mean", "low", "high", "mean_gain"):
            np.testing.assert_allclose(getattr(ours, what), getattr(theirs, what), atol=1e-6)


def test_who_failed_is_never_chosen_and_is_last_in_rankings() -> None:
    measured = {key: dict(one) for key, one in HAND.items()}
    measured["iris", 0, "gbm"]["future"] = float("nan")
    measured["iris", 1, "gbm"]["flat"] = float("nan")
    accuracies = Accuracies.from_frame(frame_of(measured))
    without = Accuracies.from_frame(frame_of({key: one for key, one in HAND.items() if key[2] != "gbm"}))

    for name in ANALYSES:
        assert as_rows(name, accuracies, HERE) == as_rows(name, without, ("rf", "svmRadial"))
    assert mean_ranks(accuracies, "flat") == pytest.approx({"rf": 1.25, "svmRadial": 1.75, "gbm": 3.0})


def test_who_failed_once_is_no_candidate_where_accuracies_are_averaged() -> None:
    measured = {key: one for key, one in HAND.items() if key != ("iris", 1, "rf")}
    seen = gains(Accuracies.from_frame(frame_of(measured)), HERE, "averaged")

    # gbm .85 .81 .81, svmRadial .85 .83 .835: flat ties and takes gbm, nested takes svmRadial.
    assert seen.gain == pytest.approx([0.025])
    assert seen.threshold == pytest.approx([0.02])


def test_a_table_with_too_few_repetitions_is_left_out_and_said() -> None:
    measured = drawn(1, 3, 6, HERE)
    measured = {key: one for key, one in measured.items() if key[0] != "t01" or key[1] < 2 or key[2] == "rf"}
    accuracies = Accuracies.from_frame(frame_of(measured))

    for name in set(ANALYSES) - {"large_tables"}:
        seen = gains(accuracies, HERE, name)
        assert set(seen.tables) == {"t00", "t02"}
        assert list(seen.left_out) == ["t01"]
        assert seen.left_out["t01"].startswith("2 of 6 repetitions can be compared, and at least 3 must be")


def test_large_tables_are_those_of_2000_rows_and_more() -> None:
    measured = drawn(2, 3, 2, HERE)
    accuracies = Accuracies.from_frame(frame_of(measured, {"t00": 1999, "t01": 2000, "t02": 50_000}))

    assert gains(accuracies, HERE, "large_tables").tables == ("t01", "t02")
    assert as_rows("large_tables", accuracies, HERE) == as_rows("main", accuracies, HERE)[1:]


def test_where_there_is_nothing_the_numbers_are_nan_with_a_reason() -> None:
    found = {one.analysis: one for one in comparison_rows(Accuracies.from_frame(frame_of(drawn(2, 1, 1, HERE))), 0)}

    assert found["large_tables"].reason == "no table is left"
    assert np.isnan(found["large_tables"].p_value)
    assert found["main"].reason == "an interval needs two tables"
    assert np.isnan(found["main"].low) and np.isfinite(found["main"].mean)
    assert found["smallest_deviation"].reason == "no table is left"  # of one repetition there is no deviation


def test_scenarios_are_the_article_s_or_what_was_asked_for() -> None:
    def named(algorithms: tuple[str, ...]) -> list[str]:
        return list(scenarios_of(Accuracies.from_frame(frame_of(drawn(0, 1, 1, algorithms)))))

    assert named(FULL) == ["top3", "full"]
    assert named(TOP3) == ["top3"]
    assert named(("rf", "knn")) == ["asked"]
    assert named((*TOP3, "knn")) == ["top3", "asked"]
    assert [
        one.analysis for one in comparison_rows(Accuracies.from_frame(frame_of(drawn(0, 3, 2, ("gbm", "knn")))), 0)
    ] == [name for name in ANALYSES if name != "forest_alone"]


@pytest.mark.parametrize("n", [1, 4, 12, 30])
def test_the_signed_rank_test_is_exact_for_few(n: int) -> None:
    differences = np.random.default_rng(n).normal(-0.01, 0.02, n)

    p_value, reason = signed_rank(differences)

    assert reason == ""
    assert p_value == pytest.approx(signed_rank_below(list(np.round(differences, 6))))


def test_with_a_zero_the_signed_rank_test_is_the_normal_approximation_as_in_r() -> None:
    """R 4: wilcox.test(c(-.01, -.02, -.03, .04, 0), alternative = "less"), which warns of the zero.

    Of the four others the rank sum of the positive one is 4, where 5 is expected with a variance of
    4 * 5 * 9 / 24 = 7.5; the correction for continuity adds a half.
    """
    p_value, reason = signed_rank(np.array([-0.01, -0.02, -0.03, 0.04, 1e-9]))

    assert reason == ""
    assert p_value == pytest.approx(norm.cdf((4 - 5 + 0.5) / np.sqrt(7.5)))
    assert signed_rank(np.array([-0.01, -0.02, -0.03, 0.04]))[0] == pytest.approx(7 / 16)


def test_the_signed_rank_test_with_ties_or_many_is_that_of_r() -> None:
    """R 4.2: wilcox.test(d, alternative = "less")$p.value."""
    tied = np.array([-0.03, -0.03, -0.02, 0.02, 0.01, -0.05, -0.04, 0.0])
    many = np.array([((7 * k) % 61 - 36) / 1000 for k in range(60)])

    assert signed_rank(tied)[0] == pytest.approx(R_TIED, rel=1e-6)
    assert signed_rank(many)[0] == pytest.approx(R_MANY, rel=1e-6)
    assert signed_rank(np.zeros(3))[1] == "no gain differs from its threshold"


R_TIED, R_MANY = 0.0449071719791477, 0.00536417301597108


def test_the_interval_is_the_same_for_a_seed_and_covers_as_it_should() -> None:
    """200 samples of 40 normals: 95 % intervals by percentiles cover some 93 %; under 88 % happens to 1 in 200."""
    rng = np.random.default_rng(0)
    values = rng.normal(-0.004, 0.01, 40)
    assert mean_interval(values, 5) == mean_interval(values, 5)
    assert mean_interval(values, 5) != mean_interval(values, 6)

    found = [mean_interval(rng.normal(0, 1, 40), 3) for _ in range(200)]
    assert sum(low <= 0 <= high for low, high in found) >= 176


def test_the_interval_is_the_125th_and_the_4875th_of_5000_means() -> None:
    """Of values 0 and 1 the number of ones drawn is binomial; the quantiles of Bi(2, 1/2) / 2 are 0 and 1."""
    assert mean_interval(np.array([0.0, 1.0]), 1) == (0.0, 1.0)
    low, high = mean_interval(np.repeat([0.0, 1.0], 50), 1)
    assert (low, high) == pytest.approx((0.40, 0.60), abs=0.011)


def test_tables_with_nothing_at_all_have_no_rank() -> None:
    measured = drawn(1, 2, 2, HERE)
    for key, one in measured.items():
        if key[0] == "t00":
            one["flat"] = float("nan")
    accuracies = Accuracies.from_frame(frame_of(measured))
    only = Accuracies.from_frame(frame_of({key: one for key, one in measured.items() if key[0] == "t01"}))

    assert np.isnan(table_ranks(accuracies, "nested")[0]).all()
    assert mean_ranks(accuracies, "nested") == mean_ranks(only, "nested")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        pytest.param(lambda f: f.pop("future"), "needs a column 'future'", id="a column"),
        pytest.param(
            lambda f: [f[name].append(f[name][0]) for name in f], "iris, 0 and gbm is there more often", id="twice"
        ),
    ],
)
def test_bad_frames_are_one_sentence(spoil: Callable[[Frame], object], sentence: str) -> None:
    frame = frame_of(HAND)
    spoil(frame)
    with pytest.raises(InputError, match=sentence):
        Accuracies.from_frame(frame)


def test_an_algorithm_that_was_not_measured_is_one_sentence() -> None:
    with pytest.raises(InputError, match="'knn' was not measured; gbm, rf, svmRadial were"):
        Accuracies.from_frame(frame_of(HAND)).only(["knn"])


def test_a_study_s_summary_is_that_of_its_accuracies() -> None:
    frame: dict[str, Any] = frame_of(drawn(4, 6, 2, HERE))
    n = len(frame["table"])
    others = {"columns": [4] * n, "n_configurations": [9] * n, "reason": [""] * n}
    times = {"flat_seconds": [1.0] * n, "nested_seconds": [5.0] * n}
    study = FlatVsNestedStudy.from_frame(pd.DataFrame(frame | others | times), entropy=3)
    expected = [asdict(one) for one in comparison_rows(Accuracies.from_frame(frame), 3)]

    pd.testing.assert_frame_equal(pd.DataFrame(study.rows()), pd.DataFrame(expected))
    assert len(study.by_table()) == 6 * 3
