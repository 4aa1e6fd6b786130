"""What holds for every rule: the leader and its twins stay, order means nothing, strictness is monotone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standings import standing_of, standing_of_scores

from heldout.data.checks import call_text
from heldout.dropping import RULES, Bootstrap, HoeffdingRace, Paired, Wilcoxon, drop_rule_of
from heldout.dropping.base import behind_leader, drop_reason
from heldout.references import REFERENCES

OURS = [
    Bootstrap(n_bootstraps=60, threshold=0.9),
    HoeffdingRace(delta=0.5),
    Paired(alpha=0.3),
    Wilcoxon(p_threshold=0.2),
]
ALL = [
    *OURS,
    Bootstrap(n_bootstraps=60, threshold=0.9, against="best_of_each"),
    Bootstrap(n_bootstraps=60, threshold=0.9, against="double"),
    Paired(alpha=0.3, pairs="all"),
    Paired(alpha=0.3, pairs="all", looks="power_analysis"),
]
"""With the comparisons that a rule can be asked for besides its own."""
STRICTER = [
    (Bootstrap(n_bootstraps=60, threshold=0.9), Bootstrap(n_bootstraps=60, threshold=0.5)),
    (HoeffdingRace(delta=0.01), HoeffdingRace(delta=0.9)),
    (Paired(alpha=0.01), Paired(alpha=0.3)),
    (Wilcoxon(p_threshold=0.05), Wilcoxon(p_threshold=0.4)),
]


def name(rule) -> str:
    return rule.name


@st.composite
def races(draw):
    """Labels by configurations of any skill, some of them alike, in folds of ten rows."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n_folds, columns = draw(st.integers(1, 8)), draw(st.integers(1, 7))
    y = np.resize([0, 1], 10 * n_folds)
    skill = rng.choice([0.0, 0.3, 0.6, 0.9, 1.0], columns)
    labels = np.where(rng.random((len(y), columns)) < skill, y[:, None], 1 - y[:, None])
    if draw(st.booleans()):
        labels[:, rng.integers(columns)] = labels[:, 0]
    return y, labels, np.repeat(np.arange(n_folds), 10)


@pytest.mark.parametrize("rule", ALL, ids=call_text)
@given(race=races())
@settings(max_examples=25)
def test_the_leader_and_its_twins_stay_and_order_means_nothing(rule, race):
    y, labels, folds = race
    standing = standing_of(y, labels, folds=folds)
    verdict = rule.judge(standing)
    assert verdict.keep[standing.leader]
    assert np.isnan(verdict.statistic[standing.leader])
    twins = (labels == labels[:, [standing.leader]]).all(axis=0)
    assert verdict.keep[twins].all()
    if rule in OURS:
        assert (standing.score.observed()[~verdict.keep] < standing.score.observed()[standing.leader]).all()

    if getattr(rule, "against", "") == "double":
        return  # of those that are equal in a first bootstrap the first leads, as in every selection
    order = np.random.default_rng(1).permutation(labels.shape[1])
    led = int(np.flatnonzero(order == standing.leader)[0])
    moved = rule.judge(standing_of(y, labels[:, order], folds=folds, leader=led))
    np.testing.assert_array_equal(moved.keep, verdict.keep[order])
    np.testing.assert_array_equal(moved.statistic, verdict.statistic[order])


@pytest.mark.parametrize(("strict", "loose"), STRICTER, ids=[strict.name for strict, _ in STRICTER])
@given(race=races())
@settings(max_examples=15)
def test_whom_a_strict_rule_drops_a_loose_one_drops_too(strict, loose, race):
    y, labels, folds = race
    standing = standing_of(y, labels, folds=folds)
    assert not (loose.judge(standing).keep & ~strict.judge(standing).keep).any()


@pytest.mark.parametrize("rule", ALL, ids=call_text)
def test_each_drops_somebody_where_the_difference_is_plain(rule):
    y = np.resize([0, 1], 200)
    labels = np.column_stack([y, np.where(np.arange(200) % 8 < 1 + np.arange(200) // 50, 1 - y, y), 1 - y])
    found = rule.judge(standing_of(y, labels, folds=np.repeat(np.arange(8), 25)))
    assert found.keep[0]
    assert not found.keep[1]


@pytest.mark.parametrize("rule", ALL, ids=call_text)
def test_a_rule_is_written_as_text_and_read_again(rule):
    assert drop_rule_of(call_text(rule)) == rule


@pytest.mark.parametrize("rule", OURS, ids=name)
def test_a_rule_is_found_by_name_and_says_what_it_is(rule):
    assert drop_rule_of(rule.name) == type(rule)() == RULES[rule.name]()
    assert drop_rule_of(rule) is rule
    assert hash(rule) == hash(type(rule)(**vars(rule)))
    assert set(rule.sources) <= set(REFERENCES)
    assert rule.statistic_name[0].islower()


@pytest.mark.parametrize("rule", [Paired(), Wilcoxon()], ids=name)
def test_scores_at_the_ends_of_float64(rule):
    scores = np.array([[1.0, -1.0, 0.5]] * 6) * np.array([4, 5, 6, 7, 8, 6])[:, None] / 8
    expected = rule.judge(standing_of_scores(scores))
    assert expected.keep.tolist() == [True, False, False]
    for exponent in (1023, -1060):
        found = rule.judge(standing_of_scores(np.ldexp(scores, exponent)))
        np.testing.assert_array_equal(found.statistic, expected.statistic)


def test_differences_are_rounded_to_what_scores_can_tell():
    scores = np.array([[0.9, 0.8, np.nan], [0.8, 0.7, 0.1], [1e-9, 1e-9 - 1e-17, np.inf]])
    behind = behind_leader(scores, 0)
    assert behind[0, 1] == behind[1, 1] == pytest.approx(0.1 * 2**44)
    assert behind[2, 1] == 0.0
    assert np.isnan(behind[[0, 2], 2]).all()
    assert (behind[:, 0] == 0).all()


def test_the_reason_of_a_dropping_is_its_statistic_only_where_that_was_the_reason() -> None:
    name = Bootstrap.statistic_name
    assert drop_reason("bootstrap", 0.98, f"{name} is 0.98", name) == "worse in 0.980 of the bootstraps"
    assert drop_reason("bootstrap", 1.0, f"{name} is 1", name) == "worse in every bootstrap"
    for statistic, reason in ((0.98, "it failed"), (np.nan, f"{name} is nan")):
        assert drop_reason("bootstrap", statistic, reason, name) == reason
    assert drop_reason("mine", 0.98, "it failed", "") == "it failed"
