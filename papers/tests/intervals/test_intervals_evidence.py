"""What is kept of studies of intervals in papers/evidence: the study makes it, and it says what the page says."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout_papers import IntervalStudy, intervals
from heldout_papers.intervals.claims import intervals_claims
from heldout_papers.intervals.page import intervals_page

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.pages
ONE: dict[str, dict[str, Any]] = {
    "intervals": {"prevalence": 0.5, "methods": ["bbc", "delong", "mabt", "naive_bootstrap"]},
    "intervals-multiclass": {"task": "multiclass", "prevalence": 0.1},
    "intervals-regression": {"task": "regression"},
}


def kept(name: str) -> IntervalStudy:
    return IntervalStudy.from_frame(pd.read_parquet(ROOT / "papers" / "evidence" / f"{name}.parquet"))


@pytest.mark.parametrize("name", ONE)
def test_the_study_makes_it(name: str) -> None:
    """Some repetitions of one setting, to the digits of float32 (which other processors may round otherwise)."""
    whole = kept(name)
    again = intervals(50, 100, beta=[(9, 6)], repetitions=5, random_state=whole.entropy, **ONE[name])
    mine = again.settings[0]
    place = next(
        k
        for k, setting in enumerate(whole.settings)
        if (setting.rows, setting.configurations, setting.beta, setting.prevalence)
        == (mine.rows, mine.configurations, mine.beta, mine.prevalence)
    )

    for column, values in again.columns[0].items():
        expected = whole.columns[place][column][:5]
        if column.endswith("failure"):
            assert values.tolist() == expected.tolist()
        else:
            np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-6)


def test_the_page_s_tables_are_of_it() -> None:
    page = (ROOT / "papers" / "pages" / "study-intervals.md").read_text(encoding="utf-8")
    for table in intervals_page(kept("intervals")).tables[:3]:
        for row in (table.head, *table.rows):
            line = f"| {' | '.join(row)} |".replace("*", "\\*").replace("(-", "(−")
            assert f"{line}\n" in page


@pytest.mark.parametrize("name", ["intervals-multiclass", "intervals-regression"])
def test_the_tables_of_other_tasks_are_of_it(name: str) -> None:
    page = (ROOT / "papers" / "pages" / "study-intervals.md").read_text(encoding="utf-8")
    for row in intervals_page(kept(name)).tables[0].rows:
        assert f"| {' | '.join(row)} |".replace("*", "\\*").replace("(-", "(−") in page


def test_what_holds() -> None:
    claims = intervals_claims(kept("intervals"))

    assert len(claims) == 23
    assert [claim.text for claim in claims if not claim.holds] == [
        "BBC and BBC-F produce accurate intervals.",
        "True performance of what DL, HM, BT choose.",
        "Table 2, HM: inclusion (tightness).",
        "Table 2, HM10p: inclusion (tightness).",
    ]
