"""papers/pages/estimates.md says of each method what the code says."""

import re
import unicodedata
from pathlib import Path

import pytest

from heldout.estimates import METHODS
from heldout.references import PACKAGE, REFERENCES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "papers" / "pages" / "estimates.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, flags=re.MULTILINE))


def plain(text):
    """Without accents, as sources are spelt in either way."""
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def test_the_page_has_every_method_and_no_other():
    assert set(SECTIONS) == set(METHODS) == set(ROWS)


@pytest.mark.parametrize("name", list(METHODS))
def test_each_section_cites_the_sources_of_its_method(name):
    for source in set(METHODS[name]().sources) - {PACKAGE}:  # its own methods are described on the page itself
        reference = REFERENCES[source]
        surname = plain(reference.authors.split(",")[0])
        section = plain(SECTIONS[name])
        assert re.search(rf"{surname}[^;]*\({reference.year}\)", section), (surname, reference.year)


@pytest.mark.parametrize("name", list(METHODS))
def test_what_a_method_needs_is_what_it_reads(name):
    needs = ROWS[name].split("|")[1]
    reads = METHODS[name]().reads
    if "predictions" in reads:
        assert "predictions" in needs or "the same" in needs
    else:
        assert re.search("fold scores|errors|the same", needs) and "predictions" not in needs


def test_every_name_of_a_setting_exists():
    for name, setting in [
        ("bbc", "interval"),
        ("bbc", "stratify"),
        ("naive_bootstrap", "unit"),
        ("wmcs", "average"),
        ("delong", "candidates"),
        ("mabt", "evaluation_share"),
    ]:
        assert f"{setting}=" in PAGE or f"`{setting}`" in PAGE
        assert hasattr(METHODS[name](), setting)
