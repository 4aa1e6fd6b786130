"""Write the tables of docs/understand/adaptive-searches.md from the kept run.

``python docs/evidence/write_adaptive.py`` is the command.

A test compares the page with its output, so that no figure in the tables is typed by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from heldout_papers import AdaptiveStudy
from heldout_papers.adaptive.page import centre_tables, markdown_lines, varied_tables

HERE = Path(__file__).parent
PAGE = HERE.parent / "understand" / "adaptive-searches.md"
MARKED = re.compile(r"(<!-- figures: (\w+) -->\n).*?(\n?<!-- end of figures -->)", flags=re.DOTALL)


def kept() -> AdaptiveStudy:
    """The study of the kept run."""
    return AdaptiveStudy.from_frame(pd.read_parquet(HERE / "adaptive.parquet"))


def page(text: str) -> str:
    """The page with its tables renewed."""
    study = kept()
    tables = {"centre": centre_tables(study), "varied": varied_tables(study)}
    return MARKED.sub(lambda found: f"{found[1]}{chr(10).join(markdown_lines(tables[found[2]]))}{found[3]}", text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
