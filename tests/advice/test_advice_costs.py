"""The fits that are made are counted, times agree with a sum by hand, changes come from tables like the user's."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import HalvingGridSearchCV, RandomizedSearchCV, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.advice import Advice
from heldout.advice.costs import GROWTH, TotalTime
from heldout.advice.flat_vs_nested import N_NEAREST, TableEvidence, expected_change

X, Y = make_classification(120, 4, n_informative=3, n_redundant=0, random_state=3)
NEIGHBOURS = (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})
SEVERAL = [("knn", KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}), ("nb", GaussianNB(), {})]


def advised(configurations, *, rows=120, **settings) -> Advice:
    return ho.advise(X[:rows], Y[:rows], configurations, seconds=0, random_state=0, **settings)


def fits(configurations, **settings) -> dict[str, tuple[int, int]]:
    return {one.protocol: (one.fewest, one.most) for one in advised(configurations, **settings).costs}


@pytest.mark.parametrize("cv", [3, 5])
def test_the_search_makes_the_counted_fits_and_one_for_the_final_model(cv):
    search = ho.HeldOutSearchCV(*NEIGHBOURS, cv=cv, method=None).fit(X, Y)

    counted = fits(NEIGHBOURS, cv=cv)
    assert counted["cv"] == counted["bbc"] == (search.n_fits_ + 1,) * 2


def test_repeats_make_the_counted_fits():
    search = ho.HeldOutSearchCV(*NEIGHBOURS, cv=5, repeats=4, method=None, random_state=0).fit(X, Y)

    assert fits(NEIGHBOURS)["bbc_repeats"] == (search.n_fits_ + 1,) * 2


@pytest.mark.parametrize(("cv", "inner"), [(5, None), (4, "remaining"), (4, "holdout"), (3, 3)], ids=str)
def test_nested_cross_validation_makes_the_counted_fits(cv, inner):
    found = ho.nested_cv(
        NEIGHBOURS[0], X, Y, NEIGHBOURS[1], cv=cv, inner="remaining" if inner is None else inner, random_state=0
    )

    assert fits(NEIGHBOURS, cv=cv, inner=inner)["nested_cv"] == (found.n_fits,) * 2


def test_each_family_nested_by_itself_makes_the_counted_fits():
    each = [ho.nested_cv([entry], X, Y, cv=4, random_state=0).n_fits for entry in SEVERAL]
    together = ho.nested_cv(SEVERAL, X, Y, cv=4, random_state=0).n_fits

    counted = fits(SEVERAL, cv=4)
    assert counted["nested_cv_families"] == (sum(each),) * 2
    assert counted["nested_cv"] == (together,) * 2
    assert "nested_cv_families" not in fits(NEIGHBOURS, cv=4)


SELECTING = [
    GaussianNB(),
    HalvingGridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 2, 3]}, cv=3, random_state=0),
    make_pipeline(StandardScaler(), RandomizedSearchCV(KNeighborsClassifier(), NEIGHBOURS[1], n_iter=2, cv=3)),
]


@pytest.mark.parametrize("model", SELECTING, ids=["plain", "halving", "pipeline"])
@pytest.mark.parametrize("inner", ["remaining", 3], ids=str)
def test_one_configuration_whatever_it_selects_makes_the_counted_outer_fits(model, inner):
    found = ho.nested_cv(model, X, Y, cv=4, inner=inner, random_state=0)

    counted = fits(model, cv=4, inner=inner)
    assert counted["nested_cv"] == counted["cv"] == (found.n_fits,) * 2 == (5, 5)


@pytest.mark.parametrize("rows", [40, 120], ids=["none can be dropped", "some are dropped"])
def test_dropping_makes_a_number_of_fits_within_the_counted_range(rows):
    grid = {"C": np.logspace(-6, 2, 8)}
    search = ho.HeldOutSearchCV(
        LogisticRegression(), grid, cv=5, drop="bootstrap", method=None, random_state=0
    ).fit(X[:rows], Y[:rows])

    fewest, most = fits((LogisticRegression(), grid), rows=rows)["bced"]
    assert fewest <= search.n_fits_ + 1 <= most == 41
    # 24 rows per fold of 120: the rule is first applied after the third of 5 folds, and could leave one.
    assert fewest == (41 if rows == 40 else 3 * 8 + 2 + 1)
    assert (search.n_fits_saved_ > 0) == (rows == 120)


def test_protocols_that_do_not_apply_are_not_counted():
    subsampled = advised(NEIGHBOURS, cv=ShuffleSplit(3, random_state=0))

    assert [one.protocol for one in subsampled.costs] == ["cv", "bbc", "bced"]
    assert any("not counted" in text and "test every row once" in text for text in subsampled.warnings)
    assert [*fits(NEIGHBOURS, scoring=lambda model, X, y: 0.5)] == ["cv", "nested_cv"]
    assert "bbc_repeats" not in fits(NEIGHBOURS, cv=ho.protocols.leave_one_out(), rows=30)
    assert [*fits(KNeighborsClassifier())] == ["cv", "bbc", "bbc_repeats", "nested_cv"]


@pytest.fixture
def two_seconds(monkeypatch):
    """The configurations took 2 s, between 1 and 3."""
    monkeypatch.setattr("heldout.advice.costs.total_time", lambda *_: TotalTime(2.0, 1.0, 3.0))


@pytest.mark.usefixtures("two_seconds")
def test_time_by_hand():
    """3 configurations took 2 s on the 96 rows that a fifth of 120 leaves, between 1 and 3."""
    costs = {one.protocol: one for one in advised(NEIGHBOURS).costs}

    # 5 times all of them, and one of the three on 120 rows, 1.25 times as many.
    assert costs["cv"].seconds == pytest.approx(2 * (5 + 1.25 / 3))
    assert costs["cv"].low == pytest.approx(1 * (5 + 1 / 3))
    assert costs["cv"].high == pytest.approx(3 * (5 + 1.25**2 / 3))
    # Nested: also 5 times 4 inner folds of 72 rows, a winner on 96 rows each.
    assert costs["nested_cv"].seconds == pytest.approx(2 * (5 + 20 * 0.75 + (5 + 1.25) / 3))
    assert costs["nested_cv"].low == pytest.approx(1 * (5 + 20 * 0.75**2 + (5 + 1.25**2) / 3))
    assert costs["nested_cv"].high == pytest.approx(3 * (25 + 6 / 3))
    # How many are dropped is unknown: between the fewest fits possible and all.
    assert math.isnan(costs["bced"].seconds)
    assert costs["bced"].low == pytest.approx(costs["bbc"].low * costs["bced"].fewest / costs["bced"].most)
    assert costs["bced"].high == costs["bbc"].high
    assert GROWTH == (0, 1, 2)


@pytest.mark.usefixtures("two_seconds")
def test_processes_divide_the_time():
    for alone, two in zip(advised(NEIGHBOURS).costs, advised(NEIGHBOURS, n_jobs=2).costs, strict=True):
        assert two.high == pytest.approx(alone.high / 2)
        assert two.most == alone.most


def lines(n=40, scenario="top3"):
    """Tables of 20, 40, ... rows; below 400 rows both choose the same in half of the cases, else always."""
    return [
        TableEvidence(
            f"t{k:02}", 20 * k, 5, scenario, 3, 6, 0.5 if k < 20 else 1.0, 0.01 * (-1) ** k, 0.02 + k / 1e4
        )
        for k in range(1, n + 1)
    ]


def test_the_nearest_tables_in_rows_count():
    (found,) = expected_change(lines(), 103)

    assert (found.tables, found.algorithms) == (N_NEAREST, 3)
    assert found.least_rows < 103 < found.most_rows
    nearest = sorted(lines(), key=lambda line: abs(math.log(line.rows / 206)))[:N_NEAREST]
    assert found.same_choice == np.mean([line.same_choice for line in nearest])
    assert found.gain == pytest.approx(0.01), "the mean of absolute gains"
    assert found.difference == pytest.approx(found.gain - found.threshold)
    assert found.difference_range[0] < found.difference < found.difference_range[1]
    assert (found.published.tables, found.published.same_choice, found.published_rows) == (115, 0.71, 0)


def test_tables_as_near_as_the_last_count_too():
    alike = [TableEvidence(f"t{k}", 400, 5, "full", 12, 6, k % 2, 0.0, 0.01) for k in range(40)]
    smaller = [TableEvidence("small", 100, 5, "full", 12, 6, 1.0, 0.0, 0.01)]

    (found,) = expected_change([*smaller, *alike], 1000)
    assert (found.tables, found.least_rows, found.most_rows, found.same_choice) == (40, 200, 200, 0.5)


def test_where_all_tables_agree_there_is_no_interval():
    (found,) = expected_change(lines(), 10)

    assert found.same_choice == 0.5
    assert all(map(math.isnan, found.same_choice_range))
    assert not any(map(math.isnan, found.difference_range))

    (found,) = expected_change(lines(4), 10)
    assert all(map(math.isnan, found.difference_range)), "of 4 tables"


def test_large_tables_are_compared_with_the_published_large_tables():
    found = {one.scenario: one for one in expected_change([*lines(), *lines(scenario="full")], 1000)}

    assert [(one.published.tables, one.published_rows) for one in found.values()] == [(32, 2000)] * 2
    assert found["full"].published.same_choice == 0.71
    assert expected_change((), 100) == ()
