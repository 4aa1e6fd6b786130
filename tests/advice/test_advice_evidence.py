"""What to expect of nested cross-validation, from tables like the user's."""

import math

import numpy as np
import pytest

from heldout.advice.flat_vs_nested import N_NEAREST, TableEvidence, expected_change


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
