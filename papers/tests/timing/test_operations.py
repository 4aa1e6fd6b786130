"""Operations by the article's formulas, and the lines and cells of the page that show them."""

import numpy as np
import pytest

from heldout_papers.timing.operations import LINEAR, SORTED, operations_of, predicted_growth
from heldout_papers.timing.page import timing_page
from heldout_papers.timing.problem import TimingSetting

from .test_timing_claims import published, study

SETTING = TimingSetting(1024, 5, 4, 200, ("bbc",))


def test_counts_by_hand() -> None:
    """B C N = 200 * 5 * 1024; log2 of 1024 is 10, and of the 256 rows of a fold 8."""
    assert LINEAR["bbc"].count(SETTING) == 1_024_000
    assert LINEAR["bbc_f"].count(SETTING) == 200 * 5 * 4 + 5 * 1024
    assert SORTED["bbc"].count(SETTING) == 10_240_000
    assert SORTED["bbc_f"].count(SETTING) == 4000 + 5 * 1024 * 8
    assert operations_of("plain_bbc") is SORTED["bbc"]


def test_bbc_grows_with_rows_and_not_with_folds_and_bbc_f_hardly_with_rows() -> None:
    more_folds = TimingSetting(1024, 5, 32, 200, ("bbc",))
    more_rows = TimingSetting(2048, 5, 4, 200, ("bbc",))
    assert predicted_growth("bbc", more_folds, SETTING) == 1
    assert predicted_growth("bbc", more_rows, SETTING) == pytest.approx(2 * 11 / 10)
    assert predicted_growth("bbc_f", more_folds, SETTING) == pytest.approx((32000 + 5120 * 5) / (4000 + 40960))


@pytest.mark.usefixtures("without_pictures")
def test_the_page_has_the_formulas_beside_the_times() -> None:
    timed = study(published, ("plain_bbc", "plain_bbc_f"))
    page = timing_page(timed)
    table = next(one for one in page.tables if one.title.startswith("Growth of the time"))

    assert table.title.endswith("from N = 500, C = 5, K = 3")
    assert table.head == ("", "BBC, plain, B C N log N", "BBC-F, plain, B C K + C N log(N/K)")
    row = dict(zip(table.head, next(one for one in table.rows if one[0] == "N = 500, C = 50, K = 3"), strict=True))
    # 50 configurations are ten times the operations of 5, and took 7.425 / 0.9305 times as long.
    assert row["BBC, plain, B C N log N"] == f"{7.4250 / 0.9305:.3g} (10)"
    first = timed.rows()[0]
    assert (first["rows"], first["way"]) == (50, "plain_bbc")
    assert first["operations"] == pytest.approx(200 * 5 * 50 * np.log2(50))
