"""``ho.estimates.leaderboard``: corrected scores of all configurations, and what the rows tell apart."""

import json

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.errors import InputError
from heldout.estimates import leaderboard
from heldout.estimates.paired.compare import ConfigurationComparison

RNG = np.random.default_rng(5)
SCORES = (RNG.random((120, 8)) < np.linspace(0.5, 0.7, 8)).astype(float)


def compared(scores: np.ndarray = SCORES, **more: object) -> ConfigurationComparison:
    return ho.compare_configurations(scores, metric="mean_score", random_state=0, **more)


@pytest.fixture(scope="module")
def usual() -> ConfigurationComparison:
    return compared()


def test_the_first_has_the_estimate_of_the_winner_in_bits(usual: ConfigurationComparison) -> None:
    board = leaderboard(usual)
    found = ho.estimate(SCORES, metric="mean_score", random_state=0)
    first = board.rows[0]
    assert (first.name, first.value, first.interval) == (found.selected_name, found.value, found.interval)
    assert first.uncorrected == found.uncorrected
    assert first.difference is None


def test_each_place_has_the_estimate_of_the_rule_that_chooses_it(usual: ConfigurationComparison) -> None:
    third = ho.estimate(
        SCORES,
        metric="mean_score",
        random_state=0,
        selection=lambda scores: np.argsort(-scores, axis=1, kind="stable")[:, 2],
    )
    standing = leaderboard(usual).rows[2]
    assert (standing.name, standing.value, standing.interval) == (third.selected_name, third.value, third.interval)


def test_the_winner_of_another_rule_is_first_and_others_keep_their_places(usual: ConfigurationComparison) -> None:
    in_order = leaderboard(usual).rows
    board = leaderboard(compared(selection=lambda scores: np.argsort(-scores, axis=1, kind="stable")[:, 2]))
    assert [row.name for row in board.rows] == [in_order[place].name for place in (2, 0, 1, 3, 4, 5, 6, 7)]
    for place, row in ((1, in_order[0]), (2, in_order[1]), (3, in_order[3])):
        assert (board.rows[place].value, board.rows[place].interval) == (row.value, row.interval)


def test_a_rule_that_chooses_none_says_so() -> None:
    with pytest.raises(InputError, match=r"'one_standard_error' chose no configuration .* give `folds=`"):
        compared(selection="one_standard_error")


def test_the_ranking_is_uncorrected_and_the_correction_shrinks_the_ends(usual: ConfigurationComparison) -> None:
    rows = leaderboard(usual).rows
    uncorrected = [each.uncorrected for each in rows]
    assert uncorrected == sorted(uncorrected, reverse=True)
    assert rows[0].value < rows[0].uncorrected
    assert rows[-1].value > rows[-1].uncorrected


def test_tiers_begin_with_the_confidence_set() -> None:
    scores = SCORES.copy()
    scores[:, 0] = 1.0
    scores[:, 1] = 0.0
    board = leaderboard(compared(scores))
    assert [each.name for each in board.rows if each.tier == 1] == ["configuration 0"]
    assert board.rows[-1].name == "configuration 1"
    assert board.rows[-1].tier == max(each.tier for each in board.rows) > 2


def test_differences_are_from_a_baseline_that_is_fixed(usual: ConfigurationComparison) -> None:
    board = leaderboard(usual, baseline=3)
    assert board.reference == "configuration 3"
    for each in board.rows:
        if each.name == "configuration 3":
            assert each.difference is None
        else:
            own = usual.difference(each.name, 3, fixed=[3])
            assert each.difference is not None
            assert (each.difference.value, each.difference.interval) == (own.value, own.interval)


def test_the_baseline_is_listed_below_the_best(usual: ConfigurationComparison) -> None:
    worst = int(SCORES.mean(axis=0).argmin())
    board = leaderboard(usual, baseline=worst, most=3)
    assert len(board.rows) == 4
    assert board.rows[-1].name == f"configuration {worst}"
    assert board.n_configurations == 8


def test_a_baseline_has_its_own_score_and_the_rows_that_tell_it_apart(usual: ConfigurationComparison) -> None:
    board = leaderboard(usual, baseline=3)
    (row,) = [each for each in board.rows if each.name == "configuration 3"]
    alone = ho.estimate(SCORES[:, [3]], metric="mean_score", random_state=0)
    assert row.value == row.uncorrected == alone.value
    assert row.interval is not None and alone.interval is not None
    assert row.interval.low == pytest.approx(alone.interval.low, abs=0.01)
    assert row.interval.high == pytest.approx(alone.interval.high, abs=0.01)
    needed, ahead = board.rows_needed_for_reference, board.rows[0].difference
    assert needed is not None and ahead is not None
    both = SCORES[:, [int(board.rows[0].name[-1]), 3]]
    spread = np.std(both[:, 0] - both[:, 1])
    assert needed == pytest.approx((spread / ahead.value * (1.959964 + 0.841621)) ** 2, rel=0.15)
    assert any(
        f"configuration 3 by the corrected {ahead.value:.3g}, about {needed:,}" in each for each in board.sentences
    )
    assert leaderboard(usual).rows_needed_for_reference is None


def test_the_baseline_is_shown_however_many_are_better() -> None:
    rng = np.random.default_rng(1)
    scores = (rng.random((60, 40)) < np.r_[0.1, np.full(39, 0.6)]).astype(float)
    text = leaderboard(compared(scores), baseline=0).text()
    assert "\n configuration 0 " in text
    assert "19 more are not shown here" in text
    assert "a higher one further down is no better choice" in " ".join(text.split())


def test_the_rows_that_tell_the_two_best_apart() -> None:
    # Differences of 1 on one row in ten and 0 on the others: a mean of .1 and a standard deviation of .3.
    first, second = np.ones(200), np.ones(200)
    second[::10] = 0.0
    board = leaderboard(compared(np.column_stack([first, second])))
    expected = 0.09 / 0.01 * (1.959964 + 0.841621) ** 2
    assert board.rows_needed == pytest.approx(expected, rel=0.1)
    assert any(f"about {board.rows_needed:,} rows would tell the two apart" in each for each in board.sentences)


def test_two_equal_ones_are_told_apart_by_no_number_of_rows() -> None:
    board = leaderboard(compared(np.repeat(SCORES[:, :1], 2, axis=1)))
    assert board.rows_needed is None
    assert all("would tell" not in each for each in board.sentences)


@pytest.mark.parametrize(("spread_of_rows", "share"), [(0.0, 1.0), (1.0, 0.0)])
def test_variance_is_between_repeats_or_between_rows(spread_of_rows: float, share: float) -> None:
    rows, noise = RNG.random((4000, 1, 1)), RNG.random((4000, 1, 4))
    scores = spread_of_rows * rows + (1 - spread_of_rows) * noise
    board = leaderboard(compared(np.repeat(scores, 2, axis=1)))
    assert board.share_of_repeats == pytest.approx(share, abs=0.1)
    help_ = "would not help" if share == 0 else "would help"
    assert help_ in board.sentences[-1]


def test_it_is_a_frame_a_document_and_a_table(usual: ConfigurationComparison) -> None:
    board = leaderboard(usual, baseline=0)
    assert list(board.to_frame().columns[:4]) == ["configuration", "corrected", "low", "high"]
    assert json.loads(json.dumps(board.to_dict(), allow_nan=False))["reference"] == "configuration 0"
    assert "tier" in board.text()
    assert "<table" in board._repr_html_()


def test_an_unknown_baseline_is_refused(usual: ConfigurationComparison) -> None:
    with pytest.raises(InputError, match="configuration 9"):
        leaderboard(usual, baseline="configuration 9")


def test_a_leaderboard_of_many_counts_all_that_are_alike_and_takes_any_name() -> None:
    rng = np.random.default_rng(0)
    scores = pd.DataFrame((rng.random((40, 60)) < 0.5).astype(float), columns=["winner", *map(str, range(59))])
    board = ho.estimates.leaderboard(ho.compare_configurations(scores, metric="mean_score", random_state=0))
    assert len(board.rows) == 50 and board.n_alike > 50
    with pytest.raises(ho.InputError, match="does not replay"):
        ho.estimates.leaderboard(
            ho.compare_configurations(scores, metric="mean_score", random_state=0), method="hoeffding"
        )
