"""Which fits are timed, in which order and until when; the range of a total estimated from some of its fits."""

import math
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import heldout as ho
from heldout.advice.costs import Family, TimedFit, family_time, problem_of, spread, timed_fits, total_time
from heldout.arguments.search import SearchArguments
from heldout.errors import InputError

X, Y = make_classification(40, 4, random_state=0)


class Clock:
    """A clock that only fits move, by the seconds they are given."""

    def __init__(self, seconds: float = 1.0) -> None:
        self.now, self.seconds = 0.0, seconds

    def __call__(self) -> float:
        return self.now


class TimedClassifier(ClassifierMixin, BaseEstimator):
    """Always predicts the same class, and takes a given time to fit; may fail."""

    clock = Clock()

    def __init__(self, seconds=1.0, fails=False):
        self.seconds = seconds
        self.fails = fails

    def fit(self, X, y):
        TimedClassifier.clock.now += self.seconds
        if self.fails:
            raise ValueError("no")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class TimedStep(TransformerMixin, BaseEstimator):
    """Takes 8 seconds to fit."""

    def fit(self, X, y=None):
        TimedClassifier.clock.now += 8.0
        return self

    def transform(self, X):
        return X


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(time, "perf_counter", TimedClassifier.clock)


def timed(entries, seconds, **settings):
    TimedClassifier.clock.now = 0.0
    search = SearchArguments(entries, cv=4, random_state=0, **settings).search_on(X, Y)
    problem = problem_of(search)
    return problem, timed_fits(search, problem.families, seconds)


def test_the_order_is_a_permutation_whose_first_members_are_spread():
    for n in (1, 2, 3, 8, 50, 977):
        assert sorted(spread(n)) == list(range(n))
    first = spread(64)[:8]
    assert np.diff(sorted(first)).max() <= 64 / 8 * 2
    # A grid whose last parameter has 2 or 4 values meets all of them early.
    assert {place % 2 for place in first} == {0, 1}
    assert {place % 4 for place in first} == {0, 1, 2, 3}


def test_one_of_each_family_comes_first_and_a_started_fit_runs_to_its_end():
    entries = [
        ("slow", TimedClassifier(), {"seconds": [3.0, 3.5, 4.0]}),
        ("fast", TimedClassifier(), {"seconds": [1.0, 1.5]}),
    ]

    problem, found = timed(entries, 7.0)
    assert [one.configurations for one in found] == [(0,), (3,), (1,)]
    assert [one.seconds for one in found] == [3.0, 1.0, 3.5]
    assert [one.tuned for one in problem.families] == [("seconds",), ("seconds",)]

    assert len(timed(entries, 100.0)[1]) == 5
    assert timed(entries, 0)[1] == []


def test_a_short_first_fit_is_timed_again_as_it_also_loads_code():
    timed([("fast", TimedClassifier(), {"seconds": [1.0, 2.0]})], 40.0)
    assert TimedClassifier.clock.now == 1 + 1 + 2

    timed([("slow", TimedClassifier(), {"seconds": [3.0, 4.0]})], 40.0)
    assert TimedClassifier.clock.now == 3 + 4


def test_failures_are_listed_and_their_time_is_not_counted():
    entries = [("some", TimedClassifier(), {"fails": [True, False], "seconds": [2.0]})]

    problem, found = timed(entries, 100.0)
    family = family_time(problem.families[0], found)
    assert [one.failures for one in found] == [{0: "ValueError: no"}, {}]
    assert (family.n_fitted, family.n_failed, family.seconds) == (1, 1, 2.0)
    assert family.n_hyperparameters == 1


def test_a_score_that_is_nan_is_a_failure():
    def scores_nothing(model, X, y):
        return math.nan

    _, (found,) = timed(DummyClassifier(), 1.0, scoring=scores_nothing)
    assert found.failures == {0: "its score is NaN"}


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf, "10", True, None], ids=repr)
def test_seconds_are_checked(seconds):
    with pytest.raises(InputError, match="seconds must be a"):
        ho.advise(X, Y, TimedClassifier(), seconds=seconds)


FAMILIES = (Family("a", ((0,), (1,), (2,), (3,)), ()), Family("b", ((4,), (5,)), ()))


def total_of(fits, families=FAMILIES):
    return total_time([family_time(family, fits) for family in families], fits)


def test_a_total_by_hand():
    """4 (1 + 2) / 2 = 6 of a and 2 · 5 = 10 of b; a's variance is 4² (1 - 2/4) (1/2) / 2 = 2, by one degree."""
    fits = [TimedFit((0,), 1.0), TimedFit((2,), 2.0), TimedFit((4,), 5.0), TimedFit((5,), 5.0)]
    total = total_of(fits)

    assert total.seconds == 16.0
    assert total.high == pytest.approx(16 + 12.7062 * math.sqrt(2), abs=1e-3)
    assert total.low == 13.0, "the time already measured"


def test_a_total_of_shared_fits_by_hand():
    """Two fits serve four configurations: 2 · 3 = 6. Alone the three that are timed take (3 + 9) / 3 = 4 each."""
    family = Family("a", ((0, 1, 2), (3,)), ())
    fits = [TimedFit((0, 1, 2), 3.0, seconds_saved=9.0)]
    times = family_time(family, fits)
    total = total_time([times], fits)

    assert (times.n_configurations, times.n_fitted, times.n_timed) == (4, 3, 1)
    assert (times.seconds, times.seconds_alone) == (1.5, 4.0)
    assert (total.seconds, total.alone) == (6.0, 16 / 6)


def test_configurations_that_one_fit_serves_are_timed_together():
    rounds = HistGradientBoostingClassifier(max_leaf_nodes=3)
    grid = {"learning_rate": [0.1, 1.0], "max_iter": [2, 5, 9]}
    problem, found = timed([("boosted", rounds, grid), ("bayes", GaussianNB(), {})], 1.0)
    assert [one.configurations for one in found] == [(0, 1, 2), (6,), (3, 4, 5)]
    assert not any(one.failures for one in found)
    assert [family_time(family, found).n_fitted for family in problem.families] == [6, 1]


def test_a_step_that_others_read_is_charged_in_part():
    """Each of four configurations fits for 1 s behind a step of 8 s: 3 s with its part of the step, 9 s alone."""
    pipeline = make_pipeline(TimedStep(), TimedClassifier())
    grid = {"timedclassifier__seconds": [1.0] * 4}
    problem, found = timed([("pipeline", pipeline, grid)], 1000.0)
    assert [one.seconds for one in found] == [3.0] * 4
    assert [one.seconds_saved for one in found] == [6.0] * 4
    total = total_of(found, problem.families)
    assert (total.seconds, total.alone) == (12.0, 3.0)


def test_an_unknown_number_is_nan():
    once = [TimedFit((0,), 1.0), TimedFit((4,), 5.0)]
    total = total_of(once)
    assert total.seconds == 14.0
    assert math.isnan(total.low) and math.isnan(total.high)

    assert math.isnan(total_of(once[:1]).seconds)
    assert math.isnan(total_of([TimedFit((0,), 1.0), TimedFit((4,), 5.0, {4: "no"})]).seconds)


@pytest.mark.parametrize(
    ("entries", "seconds", "reason"),
    [
        ([("a", TimedClassifier(), {"seconds": [1.0, 2.0, 3.0]})], 1.0, "only one configuration of a,"),
        ([("a", TimedClassifier(), {}), ("b", TimedClassifier(), {})], 1.0, "No configuration of b was fitted"),
        ([("a", TimedClassifier(fails=True), {})], 9.0, "No configuration of a was fitted without failure"),
    ],
    ids=["one fit", "none", "failed"],
)
def test_a_warning_says_why_a_time_is_unknown(entries, seconds, reason):
    found = ho.advise(X, Y, entries, cv=4, seconds=seconds, random_state=0)
    assert [reason in text for text in found.warnings].count(True) == 1


def test_the_range_is_a_point_when_all_are_timed():
    fits = [TimedFit((place,), float(place + 1)) for place in range(6)]
    total = total_of(fits)

    assert total.low == total.seconds == total.high == 21.0


def test_ranges_contain_the_true_total_as_often_as_they_promise():
    """300 random samples of a hundred configurations whose times differ by up to a factor of 4 within a family.

    Were the coverage .95, fewer than .91 of them would be right by chance in 1 of 500 runs.
    """
    rng = np.random.default_rng(1)
    seconds = np.concatenate([np.exp(rng.uniform(0, np.log(4), 60)), 10 * np.exp(rng.uniform(0, np.log(4), 40))])
    places = tuple((place,) for place in range(100))
    families = (Family("a", places[:60], ()), Family("b", places[60:], ()))
    right = 0
    for _ in range(300):
        chosen = [*rng.choice(60, 6, replace=False), *(60 + rng.choice(40, 6, replace=False))]
        fits = [TimedFit((int(place),), float(seconds[place])) for place in chosen]
        total = total_of(fits, families)
        right += total.low <= seconds.sum() <= total.high
    assert right / 300 >= 0.91
