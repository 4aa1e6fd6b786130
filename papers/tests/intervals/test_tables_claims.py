"""What a study on real tables says of the article's claims, and its page: from bounds that are made up."""

from collections.abc import Mapping

import numpy as np
import pytest

from heldout_papers.engine.claims import Claim
from heldout_papers.engine.page import render_study
from heldout_papers.intervals.methods import METHODS, SELECTORS
from heldout_papers.intervals.published import TABLE_3, Cell
from heldout_papers.intervals.tables_claims import tables_claims
from heldout_papers.intervals.tables_page import tables_page
from heldout_papers.intervals.tables_result import IntervalsOnTables, TablePlace

Published = Mapping[tuple[str, int], Mapping[str, Cell | None]]
CELLS = TABLE_3.cells
GROUP_OF = {name: group for group, names in SELECTORS.items() for name in names} | {"naive_bootstrap": "all rows"}


def study(
    table: Published = CELLS, repetitions: int = 100, level: float = 0.95, **worth: float
) -> IntervalsOnTables:
    """With the inclusion and tightness of a table, and true performances of the groups."""
    places = tuple(TablePlace(*key) for key in table)
    columns = [_columns(row, repetitions, {**TABLE_3.performance, **worth}) for row in table.values()]
    return IntervalsOnTables(places, tuple(METHODS), tuple(columns), level, 1000, "light", 0)


def _columns(row: Mapping[str, Cell | None], repetitions: int, worth: Mapping[str, float]) -> dict[str, np.ndarray]:
    shape = (repetitions, len(METHODS))
    found = {name: np.full(shape, np.nan) for name in ("low", "value", "truth", "percentile")}
    found |= {"selected": np.full(shape, -1), "failure": np.full(shape, "too few rows", dtype="<U60")}
    for n, (name, cell) in enumerate(row.items()):
        if cell is None:
            continue
        held = round(cell.inclusion * repetitions)
        gaps = np.where(np.arange(repetitions) < held, 1.0, -1.0)
        # Shifted within what keeps their signs, so that their mean is the tightness.
        gaps = np.where(gaps > 0, cell.tightness + 0.4, cell.tightness - 0.4)
        gaps -= gaps.mean() - cell.tightness
        found["truth"][:, n] = worth[GROUP_OF[name]]
        found["low"][:, n] = worth[GROUP_OF[name]] - gaps
        found["selected"][:, n], found["failure"][:, n] = n, ""
    return found


def claim(found: tuple[Claim, ...], start: str) -> Claim:
    return next(one for one in found if one.text.startswith(start))


def test_the_published_table_says_what_the_article_says_of_it() -> None:
    found = tables_claims(study())

    assert claim(found, "BBC happens").ours == "0 of 11 tables"
    assert claim(found, "NB fails").ours == claim(found, "NB fails").published == "rejected on 10 of 10 tables"
    assert claim(found, "The other methods often").ours == claim(found, "The other methods often").published
    assert claim(found, "BBC-F is on par with BBC in inclusion").ours == "mean 0.941, BBC 0.960"
    assert claim(found, "BBC-F is on par with BBC in tightness").ours.startswith("0.98 times")
    assert claim(found, "BBC and BBC-F choose").ours == "0.8570, 0.8496, 0.8499"
    dominate = claim(found, "BBC and BBC-F dominate")
    assert dominate.holds and dominate.ours.endswith("(10 tables)")
    columns = [one for one in found if one.text.startswith("Table 3")]
    assert len(columns) == 10 and all(one.holds for one in columns)


def test_other_inclusions_differ_from_the_published_ones() -> None:
    table = {
        key: {name: Cell(0.6, 0.1) if name == "bbc" else cell for name, cell in row.items()}
        for key, row in CELLS.items()
    }
    found = tables_claims(study(table))

    assert not claim(found, "BBC happens").holds
    assert claim(found, "BBC happens").ours == "11 of 11 tables"
    column = claim(found, "Table 3, BBC:")
    assert (column.holds, column.difference) == (
        False,
        "Differs: inclusion within rounding and chance on 0 of 11 tables.",
    )
    assert not claim(found, "BBC-F is on par with BBC in inclusion").holds


def test_groups_that_choose_worse_fail_the_claim() -> None:
    found = claim(tables_claims(study(**{"all rows": 0.8})), "BBC and BBC-F choose")

    assert not found.holds
    assert found.ours == "0.8000, 0.8496, 0.8499"


@pytest.mark.parametrize(
    "other",
    [
        study(repetitions=9),
        study(level=0.9),
        study({("mine", 50): CELLS["credit-g", 50], **{key: CELLS[key] for key in list(CELLS)[:2]}}),
        study({(name, 80): row for (name, _), row in CELLS.items()}),
    ],
    ids=["few repetitions", "another level", "two tables", "other training sets"],
)
def test_settings_that_the_article_lacks_test_no_claim(other: IntervalsOnTables) -> None:
    assert tables_claims(other) == ()
    assert "No claim of the article can be tested" in tables_page(other).claims_sentence


def test_the_page_sets_table_3_beside_ours() -> None:
    page = tables_page(study(), command="heldout study intervals-on-tables tables")
    text = render_study(page)

    first = page.tables[0]
    assert first.head == ("", "BBC", "BBC-F", "DL", "HM", "BT")
    assert first.rows[0] == (
        "credit-g, N 50", "0.95 (0.24)", "0.95 (0.22)", "0.86 (0.23)*", "0.69 (0.07)*", "0.11 (-0.23)*",
    )  # fmt: skip
    assert first.rows[1] == (
        "published", "0.95 (0.24)", "0.95 (0.22)", "0.86 (0.23)", "0.69 (0.07)", "0.11 (-0.23)",
    )  # fmt: skip
    assert first.rows[-1] == ("published", "1.6", "1.8", "5.9", "5.3", "5.6")
    assert page.lead.startswith(
        "Over 11 tables with 100 training sets each, the 95% interval held too seldom: BBC on 0"
    )
    assert "166 measurements" in text and "Rink" in text and page.command in text
    assert "a mark for each of 11 tables" in page.pictures[0].caption


@pytest.mark.usefixtures("without_pictures")
def test_a_page_of_other_tables_has_no_published_rows() -> None:
    other = study({("mine", 60): CELLS["credit-g", 50], ("yours", 60): CELLS["musk", 50]}, repetitions=5)
    page = tables_page(other)

    assert not any(row[0] == "published" for table in page.tables for row in table.rows)
    assert not any("166 measurements" in sentence for sentence in page.method)
    assert "too few rows" in render_study(page)
