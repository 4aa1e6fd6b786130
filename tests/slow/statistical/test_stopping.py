"""How often the interval of a search that stopped early covers the truth: papers/pages/stopping.md."""

from pathlib import Path

from stopping_simulation import table

REPETITIONS = 400
DOCS = Path(__file__).parents[3] / "papers" / "pages" / "stopping.md"


def test_the_table_of_the_docs():
    assert "\n".join(table(REPETITIONS)) in DOCS.read_text(encoding="utf-8")
