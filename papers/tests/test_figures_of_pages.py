"""Figures on intervals in the documentation are those of kept runs, and no coverage is stated without its run."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from heldout.estimates import selection_optimism as optimism
from heldout_papers.corrections.advice_evidence import cell_files

ROOT = Path(__file__).parents[2]
DOCS, RECORDS = ROOT / "docs", ROOT / "papers" / "pages"
EVIDENCE = ROOT / "papers" / "evidence"
PRINTED = {"interval_tables.md", "interval_tables_kfold.md", "control_table.md", "claims.md"}
"""Pages that scripts print whole."""
PAGES = [
    ROOT / "README.md",
    *(page for folder in (DOCS, RECORDS) for page in sorted(folder.rglob("*.md")) if page.name not in PRINTED),
]
COVERAGE = re.compile(r"\bcover(s|ed|age|ages|ing)?\b", flags=re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.])(1\.00?0?|0?\.\d{2,3}|\d{1,2}(\.\d)? ?%|100 ?%)(?![\w%])")
SOURCE = re.compile(
    r"tests/slow/statistical/\w+\.py|benchmarks/\w+\.py|interval_tables(_kfold)?\.md|\.parquet|evidence/|papers/pages/|evidence\.md|"
    r"intervals\.md|nested\.md|study-[\w-]+\.md"
)
"""What a section names as the source of its numbers."""

pytestmark = pytest.mark.pages


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return runpy.run_path(str(EVIDENCE / "write_intervals.py"))


def runs_are_kept() -> bool:
    return all((EVIDENCE / f"corrections-{part}.parquet").exists() for part in ("tables", "hold-out"))


@pytest.mark.skipif(not runs_are_kept(), reason="the runs of the test bed are not there")
def test_pages_say_what_the_runs_give(written: dict[str, Any]) -> None:
    for page in written["PAGES"]:
        text = page.read_text(encoding="utf-8")
        assert text == written["filled"](text), page.name


def test_every_figure_has_its_place(written: dict[str, Any]) -> None:
    texts = [page.read_text(encoding="utf-8") for page in written["PAGES"]]
    placed = [name for text in texts for _, name, _ in written["MARKED"].findall(text)]

    assert sorted(placed) == sorted(written["FIGURES"])
    assert sum(text.count("<!-- figures:") + text.count("<!-- end of figures") for text in texts) == 2 * len(placed)


def sections(page: Path) -> list[tuple[str, str]]:
    """The headings of a page, and the text below each."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    parts = re.split(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return list(zip(["", *parts[1::2]], parts[0::2], strict=True))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_coverage_is_stated_without_its_run(page: Path) -> None:
    without = []
    for heading, text in sections(page):
        if SOURCE.search(text) or "<!-- figures:" in text:
            continue
        stated = [part for part in text.split("\n\n") if COVERAGE.search(part) and NUMBER.search(part)]
        without += [f"{heading}: {' '.join(part.split())[:120]}" for part in stated]
    assert not without


def test_the_constants_of_the_interval_are_those_of_the_code() -> None:
    text = (RECORDS / "intervals.md").read_text(encoding="utf-8")

    assert f"({optimism.DEPENDENCE:g} · σ)²" in text
    assert f"{optimism.OF_HALVES:g} for two folds" in text
    assert f"({optimism.UNSURE:g} · optimism)²".replace("(0.", "(.") in text


def test_every_run_is_listed_with_its_command() -> None:
    listed = (RECORDS / "README.md").read_text(encoding="utf-8")

    assert all(f"`{path.name}`" in listed for path in cell_files(EVIDENCE))


def test_spans_and_shares(written: dict[str, Any]) -> None:
    assert written["share"](0.9504) == ".950"
    assert written["share"](1.0, 2) == "1.00"
    assert written["share"](float("nan")) == "–"
    assert written["span"]([0.9, 0.97, float("nan")], 2) == ".90 to .97"
    assert written["span"]([0.95], 2) == ".95"
    assert written["signed"](-0.0041) == "−.004"
    assert written["signed"](0.0002) == ".000"
    assert written["listed"]([40, 100, 300]) == "40, 100 and 300"


def test_the_biases_of_the_first_page(written: dict[str, Any]) -> None:
    page = (DOCS / "start.md").read_text(encoding="utf-8")
    section = " ".join(page.split("## 5. Was it right?")[1].split("\n## ")[0].split())
    place = {"part": "tables", "kind": "varied", "metric": "accuracy", "design": "b100"}
    uncorrected, corrected = (written["cells"](method, **place) for method in ("cv", "shrinkage"))
    n = f"{int(uncorrected['repetitions'].item())} searches of {int(uncorrected['configurations'].item())}"

    assert f"{n} configurations on 100 rows" in section
    too_high = [f"{one['bias'].item():.3f}".removeprefix("0") for one in (uncorrected, corrected)]
    assert f"uncorrected accuracy was {too_high[0]} too high" in section
    assert f"the corrected one {too_high[1]} " in section


def test_the_coverages_of_the_page_on_intervals(written: dict[str, Any]) -> None:
    page = (DOCS / "understand" / "intervals.md").read_text(encoding="utf-8")
    section = page.split("## How often they hold in real searches")[1]
    rows = re.findall(r"^\| `(\w+)`[^|]*\| (\.\d+) \| (\.\d+) \|$", section, flags=re.MULTILINE)

    assert len(rows) == 4
    for method, *shares in rows:
        found = written["cells"](method, part="tables")
        means = [
            found[found["metric"].isin(metrics)]["coverage_95"].mean()
            for metrics in (["accuracy", "roc_auc", "log_loss"], ["r2", "root_mean_squared_error"])
        ]
        assert shares == [f"{mean:.3f}".removeprefix("0") for mean in means], method
