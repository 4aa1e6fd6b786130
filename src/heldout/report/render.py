"""A result as one self-contained HTML file, and as Markdown."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from heldout.errors import InputError, unwritable
from heldout.estimates.base import quantity_sentence
from heldout.metrics.named import direction_sentence
from heldout.protocols.learning_curve import LearningCurve
from heldout.protocols.words import QUANTITY_IPL, method_words
from heldout.references import REFERENCES
from heldout.report.displays import pages
from heldout.report.displays.base import Display, embedded
from heldout.report.displays.corrected_score import CorrectedScoreDisplay
from heldout.report.displays.curves import (
    CalibrationDisplay,
    DecisionCurveDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
)
from heldout.report.displays.ranking import LeaderboardDisplay
from heldout.report.entries import Facts
from heldout.report.exploration import explore
from heldout.report.facts import facts
from heldout.report.templating import filled, safe, source
from heldout.scales import Scale, scale_of


def write_report(result: Any, path: str | os.PathLike[str]) -> Path:
    """Write a report as one HTML file.

    Parameters
    ----------
    result : Evaluation, AlgorithmComparison, Validation, or the facts of one of them
    path : path
        An existing file is overwritten; the folder must exist.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InputError
        When the file cannot be written.
    MissingExtraError
        Without the packages of the extra ``app``.
    """
    return written(render_html(result if isinstance(result, Facts) else facts(result)), path, "the report")


OTHER_FORMATS = (".pdf", ".docx", ".doc", ".odt", ".md", ".txt", ".json", ".png", ".svg")
"""Endings of files in which nobody looks for an HTML page."""


def written(page: str, path: str | os.PathLike[str], what: str) -> Path:
    """Write a page to a file, and return the path; an error names the reason."""
    target = Path(path)
    if target.suffix.lower() in OTHER_FORMATS:
        raise InputError(f"path must end in .html, as {what} is an HTML page, got '{target}'.")
    try:
        target.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise unwritable(what, target, error) from error
    return target


def render_html(content: Facts) -> str:
    """The page as text; the same facts give the same text."""
    scripts = [source("copy.js").strip()]
    values = {
        "content": content,
        "page_title": f"{content.title or 'heldout report'}: {content.headline.metric.title}",
    }
    if content.kind == "validation":
        values |= {"figures": _validation_figures(content), "scripts": scripts}
        return filled("validation.html.jinja", values)
    explored = explore(content.ranking, content.headline.metric)
    if explored.data:
        scripts.insert(0, source("explore.js").strip())
    values |= {"figures": _figures(content), "explored": explored, "scripts": scripts}
    return filled("report.html.jinja", values)


def _figures(content: Facts) -> dict[str, Any]:
    """The figures by name; empty text where there is nothing to draw."""
    of = content.diagnostics or Facts(roc=(), calibration=None, residuals=None)
    race = content.race if content.race and content.race.saved else None
    distribution = f"Distribution of the bootstrapped {content.headline.metric.title}"
    number_of = partial(CorrectedScoreDisplay.of_facts, content.headline)
    table: tuple[tuple[str, str, Any, Callable[[Any], Display]], ...] = (
        ("distribution", distribution, content.distribution, number_of),
        ("leaderboard", "Leaderboard", content.leaderboard, LeaderboardDisplay.of_facts),
        ("race", "Configurations by split", race, pages.SplitsDisplay),
        ("overtuning", "What further search bought", content.overtuning, pages.GainsDisplay),
        ("precision", "Precision and recall", content.precision_recall, PrecisionRecallDisplay.of_points),
        ("roc", "ROC curve", of.roc, RocCurveDisplay.of_points),
        ("calibration", "Calibration", of.calibration, CalibrationDisplay.of_groups),
        ("fitted", "Truth over prediction", of.residuals, pages.FittedDisplay),
        ("residuals", "Residuals", of.residuals, pages.ResidualsDisplay),
    )
    figures = {}
    for name, title, part, display_of in table:
        figures[name] = ""
        if part:
            display = display_of(part)
            description = ""
            if name == "race":
                counts = ", ".join(f"{count:,}" for count in part.alive)
                description = (
                    f"Bars, one per split: {counts} configurations were fitted on {len(part.alive)} splits."
                )
            size = {"width": 640, "height": round(72 * display._size[1])} if name == "leaderboard" else {}
            figures[name] = safe(embedded(display, name, title, description, **size))
    return figures


def _validation_figures(content: Facts) -> dict[str, Any]:
    """The figures by kind; those of curves are lists with one per class."""
    optimism = [] if content.optimism is None else [{"facts": content.optimism}]
    table: tuple[tuple[str, str, type[Display], Any], ...] = (
        ("calibration", "Calibration, corrected for optimism", CalibrationDisplay, content.calibration),
        ("roc", "ROC curve, corrected for optimism", RocCurveDisplay, content.roc),
        ("decision", "Net benefit, corrected for optimism", DecisionCurveDisplay, content.decision),
        ("optimism", "Optimism of the bootstraps", pages.OptimismDisplay, optimism),
    )
    return {
        kind: [safe(embedded(display(**entry), f"{kind}-{n}", title)) for n, entry in enumerate(entries)]
        for kind, title, display, entries in table
    }


def write_learning_curve(curve: LearningCurve, path: str | os.PathLike[str], *, title: str = "") -> Path:
    """Write learning curves as one self-contained HTML file: the figure, the estimate and a table.

    Parameters
    ----------
    curve : LearningCurve
    path : path
        An existing file is overwritten; the folder must exist.
    title : str
        The name of the data, for the head of the page.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        When the file cannot be written.
    MissingExtraError
        Without the packages of the extra ``app``.
    """
    return written(render_learning_curve(curve, title=title), path, "the learning curves")


def render_learning_curve(curve: LearningCurve, *, title: str = "") -> str:
    """The page as text; the same curves give the same text."""
    scale, estimate = _scale(curve), curve.estimate
    display = pages.LearningCurveDisplay(curve, scale)
    sources = [REFERENCES[key] for key in estimate.provenance.get("sources", ())]
    values = {
        "title": title,
        "scale": scale,
        "curve": curve,
        "estimate": estimate,
        "value": scale.shown(estimate.value),
        "uncorrected": scale.shown(estimate.uncorrected),
        "at_all": [scale.shown(score) for score in curve.at(curve.n_rows).tolist()],
        "means": [[scale.shown(score) for score in row] for row in curve.mean.T.tolist()],
        "drawn": display.drawn,
        "figure": safe(embedded(display, "curve", "Learning curves", height=460)),
        "direction": direction_sentence(scale.greater_is_better, scale.ideal),
        "method": (method_words("ipl").sentence(None), quantity_sentence(QUANTITY_IPL, None)),
        "sources": sources,
    }
    return filled("learning_curve.html.jinja", values)


def _scale(curve: LearningCurve) -> Scale:
    """The scale, with as many decimals as the winner's standard error allows: others may vary more."""
    mean, error = curve.mean[-1, curve.winner], np.nan_to_num(curve.standard_error[-1, curve.winner])
    best, scores = curve.best_possible, (mean - error, mean + error)
    possible = (-np.inf, best) if curve.greater_is_better else (best, np.inf)
    return scale_of(curve.metric, curve.greater_is_better, curve.estimate, scores, possible=possible)


def report_card(search: Any, *, title: str | None = None) -> str:
    """A result as Markdown: the score with its interval, what a reader must know, the data, and how to repeat it.

    It is meant for the README of a repository or a model card, and needs no file beside it.

    Parameters
    ----------
    search : fitted search, Evaluation, Estimate, NestedEstimate, Validation or AlgorithmComparison
    title : str, optional
        The heading; "Performance" by default.

    Returns
    -------
    str
        Markdown, as GitHub reads it. Its headings begin at the second level.

    Raises
    ------
    InputError
        When the search is not fitted, or kept no held-out predictions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import heldout as ho
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, random_state=0).fit(X, y)
    >>> print("\\n".join(ho.report_card(search).splitlines()[:3]))  # doctest: +ELLIPSIS
    ## Performance
    <BLANKLINE>
    **Accuracy on new data: 0.9664** (95 % confidence interval 0.9222 to 0.9999), corrected for the...
    """
    return card_of(facts(search), title=title)


def card_of(content: Facts, *, title: str | None = None) -> str:
    """The card of a result's facts."""
    return filled("card.md.jinja", {"content": content, "title": title}, "markdown").strip() + "\n"
