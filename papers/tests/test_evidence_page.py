"""papers/pages/claims.md says what the runs that are kept give, and every run that is kept is said."""

import re
import runpy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

PAGES = Path(__file__).parents[1] / "pages"
EVIDENCE = Path(__file__).parents[1] / "evidence"

pytestmark = pytest.mark.pages


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    """Scripts run each other: each is run once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runpy, "run_path", cache(runpy.run_path))
        yield


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    names = runpy.run_path(str(EVIDENCE / "write.py"))
    names["Run"].read_claims = cache(names["Run"].read_claims)  # so are the claims of a run
    return names


def test_the_page_is_what_the_runs_give(written: dict[str, Any]) -> None:
    assert (PAGES / "claims.md").read_text(encoding="utf-8") == written["page"]()


def test_every_run_that_is_kept_is_small_and_listed_with_its_command(written: dict[str, Any]) -> None:
    kept = {path.name for path in EVIDENCE.glob("*.parquet")}
    listed = (PAGES / "README.md").read_text(encoding="utf-8")

    assert {run.file for article in written["ARTICLES"] for run in article.runs} <= kept
    assert all(f"`{name}`" in listed for name in kept)
    assert all((EVIDENCE / name).stat().st_size < 2**20 for name in kept)
    for article in written["ARTICLES"]:
        for run in article.runs:
            (line,) = [line for line in listed.splitlines() if line.startswith(f"| `{run.file}` ")]
            assert f"`{run.command}" in line


def test_enough_claims_are_tested(written: dict[str, Any]) -> None:
    for article in written["ARTICLES"]:
        claims = [claim for run in article.runs if run.is_counted for claim in run.read_claims()]
        assert len(claims) >= 20
        assert len({(claim.text, claim.ours) for claim in claims}) == len(claims)


def test_what_the_page_counts_is_what_its_tables_say(written: dict[str, Any]) -> None:
    text = written["page"]()
    for answer, name in (("yes", "hold"), ("**no**", "do not"), ("open", "are left"), ("not tested", "is not")):
        counted = sum(
            written["_section"](run, run.read_claims()).count(f"| {answer} |\n")
            for article in written["ARTICLES"]
            for run in article.runs
            if run.is_counted
        )
        said = " ".join(text.split())
        assert f"{counted} {name}" in said or (
            answer == "not tested" and counted == 0 and "not tested." not in said
        )


def test_each_claim_that_does_not_hold_has_a_reason_and_no_other_claim_has(written: dict[str, Any]) -> None:
    failing: dict[str, list[str]] = {}
    for article in written["ARTICLES"]:
        for run in article.runs:
            texts = [claim.text for claim in run.read_claims() if claim.holds is False]
            failing.setdefault(run.file, []).extend(texts)
    kinds = ("Scale: ", "Definition: ", "Article: ", "Unexplained: ")
    for file, texts in failing.items():
        reasons = written["REASONS"].get(file, {})
        assert sorted(reasons) == sorted(texts), file
        assert all(reason.startswith(kinds) for reason in reasons.values())
        assert not any("nan" in reason.split() for reason in reasons.values())


def test_the_pages_of_studies_have_what_the_kept_runs_give() -> None:
    studies = runpy.run_path(str(EVIDENCE / "write_studies.py"))
    texts = [page.read_text(encoding="utf-8") for page in studies["PAGES"]]
    assert sorted(name for text in texts for _, name, _ in studies["MARKED"].findall(text)) == sorted(
        studies["FIGURES"]
    )
    for text in texts:
        assert text == studies["filled"](text)


def test_the_summary_is_what_the_runs_give(written: dict[str, Any]) -> None:
    summary = runpy.run_path(str(EVIDENCE / "write_summary.py"))
    text = summary["PAGE"].read_text(encoding="utf-8")

    assert text == summary["page"]()
    assert set(re.findall(r"\]\(pictures/(.*?)\)", text)) == {
        path.name for path in summary["PICTURES"].glob("*.png")
    }
