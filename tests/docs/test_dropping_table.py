"""The table of the drop rules on ten tables: the documentation shows what the kept draws give."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from dropping import summary_lines
from heldout.dropping import RULES

ROOT = Path(__file__).parents[2]
DRAWS = ROOT / "papers" / "evidence" / "dropping.csv"


@pytest.mark.parametrize("page", ["dropping.md", "safer-halving.md"])
def test_the_page_shows_the_kept_draws(page: str) -> None:
    said = (ROOT / "papers" / "pages" / page).read_text()
    shown = said.split("<!-- dropping table -->\n")[1].split("<!-- end of dropping table -->")[0]
    assert shown.strip() == "\n".join(summary_lines(DRAWS))


def test_every_rule_is_on_ten_tables_by_grid_and_at_random() -> None:
    rows = DRAWS.read_text().splitlines()[1:]
    places = {tuple(row.split(",")[:3]) for row in rows}
    rules = {*RULES, "halving"}
    assert {rule for _, _, rule in places} == rules
    assert len(places) == 2 * 10 * len(rules)
