"""The page of an unfinished run: progress, race, and the estimate so far. A script puts new parts in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from heldout.report import figures
from heldout.report.content import ReportContent
from heldout.report.filters import safe
from heldout.report.render import filled, in_both_widths

MOST_RANKED = 10


@dataclass(frozen=True)
class RunProgress:
    """How far a run is, in words.

    - ``state``: in two or three words; ``sentence``: what to know of it, empty if there is nothing.
    - ``done``, ``planned``: fits; 0 planned where it is not known.
    - ``lines``: fits and time left, of each run in the file.
    - ``rows``: labels and texts of each run.
    """

    state: str
    sentence: str
    done: int = 0
    planned: int = 0
    lines: tuple[str, ...] = ()
    rows: tuple[tuple[tuple[str, str | Sequence[str]], ...], ...] = ()


def live_html(name: str, progress: RunProgress, parts: Mapping[str, str], *, still: bool) -> str:
    """The page; ``parts`` are those that are known, by their names.

    ``still`` is for browsers without scripts: the page then loads itself again.
    """
    shown = {part: safe(parts[part]) if part in parts else "" for part in ("progress", "estimate", "run")}
    values = {"page_title": name, "name": name, "state": progress.state, "still": still}
    return filled("live.html.jinja", values | shown)


def progress_parts(progress: RunProgress) -> dict[str, str]:
    """The parts on progress: a bar, and what is known of the run."""
    rows = [
        [(label, [text] if isinstance(text, str) else text) for label, text in of_run] for of_run in progress.rows
    ]
    return {
        "progress": filled("live_progress.html.jinja", {"progress": progress}).strip(),
        "run": filled("live_run.html.jinja", {"runs": rows}).strip(),
    }


def estimate_html(content: ReportContent | None, why_not: str) -> str:
    """The part on the estimate so far, or the sentence that says why there is none."""
    race = None if content is None or content.race is None or not content.race.saved else content.race
    values = {
        "content": content,
        "why_not": why_not,
        "most": MOST_RANKED,
        "figures": in_both_widths("race", figures.race_svg, race),
    }
    return filled("live_estimate.html.jinja", values).strip()


def live_script() -> str:
    """The script that keeps the page up to date."""
    return (files("heldout.report") / "templates" / "live.js").read_text(encoding="utf-8")
