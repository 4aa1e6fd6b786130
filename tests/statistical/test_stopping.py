"""How often the interval of a search that stopped early covers the truth: papers/pages/stopping.md."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import binom
from stopping_simulation import METHODS, searches, table

REPETITIONS = 400
DOCS = Path(__file__).parents[2] / "papers" / "pages" / "stopping.md"


@pytest.mark.parametrize("method", METHODS)
def test_the_interval_that_ended_a_search_in_short(method):
    """Of 30 searches at most 6 miss, which 95 % intervals do in less than 1 of 1000 runs; and they did stop."""
    found = searches(30, 500, 20, 0.15, method)
    assert binom.sf(6, 30, 0.05) < 1e-3
    assert (1 - found[:, 1]).sum() <= 6
    assert found[:, 0].mean() < 8
    assert abs(found[:, 2].mean()) < 0.03


@pytest.mark.slow
def test_the_table_of_the_docs():
    assert "\n".join(table(REPETITIONS)) in DOCS.read_text(encoding="utf-8")
