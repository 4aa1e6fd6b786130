"""From content to one self-contained HTML file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from heldout._text import number_text
from heldout.dropping.words import remaining_caption, remaining_summary
from heldout.errors import InputError, MissingExtraError
from heldout.estimates.base import quantity_sentence
from heldout.estimates.types import decimals_for
from heldout.metrics.named import direction_sentence
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.protocols.learning.curve import LearningCurve
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.words import QUANTITY_IPL, method_words
from heldout.references import REFERENCES
from heldout.report.content import ReportContent
from heldout.report.diagnostics import Diagnostics
from heldout.report.displays.base import Display, embedded
from heldout.report.displays.corrected_score import corrected_score
from heldout.report.displays.pages import (
    FittedDisplay,
    GainsDisplay,
    LearningCurveDisplay,
    ResidualsDisplay,
    SplitsDisplay,
)
from heldout.report.displays.winner_curves import CalibrationDisplay, PrecisionRecallDisplay, RocCurveDisplay
from heldout.report.exploration import explore
from heldout.report.filters import FILTERS, finalized, safe
from heldout.report.from_search import comparison_content, report_content
from heldout.report.from_validation import validation_content
from heldout.report.validation_content import ValidationContent
from heldout.report.words import (
    CALIBRATION_CAPTION,
    CONFUSION_CAPTION,
    CONFUSION_REPEATS,
    FITTED_CAPTION,
    PRECISION_BY_CLASS_CAPTION,
    PRECISION_CAPTION,
    RESIDUAL_CAPTION,
    ROC_BY_CLASS_CAPTION,
    ROC_CAPTION,
    SHARED_SENTENCE,
    distribution_caption,
    held_out_sentence,
    residual_sentence,
)
from heldout.result import Evaluation
from heldout.scales import Scale, scale_of


def write_report(
    report: Evaluation | AlgorithmComparison | ReportContent | Validation | ValidationContent,
    path: str | os.PathLike[str],
) -> Path:
    """Write a report as one HTML file.

    Parameters
    ----------
    report : Evaluation, AlgorithmComparison, Validation, or the content of one of them
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
    if isinstance(report, Evaluation):
        report = report_content(report)
    elif isinstance(report, AlgorithmComparison):
        report = comparison_content(report)
    elif isinstance(report, Validation):
        report = validation_content(report)
    return written(render_html(report), path, "the report")


def written(page: str, path: str | os.PathLike[str], what: str) -> Path:
    """Write a page to a file, and return the path; an error names the reason."""
    target = Path(path)
    try:
        target.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(
            f"{what} could not be written to '{target}': {reason}; give a path in an existing folder that can be "
            "written to and has room."
        ) from error
    return target


def render_html(content: ReportContent | ValidationContent) -> str:
    """The page as text; the same content gives the same text."""
    title = f"{content.title or 'heldout report'}: {content.headline.metric.title}"
    if isinstance(content, ValidationContent):
        return filled(
            "validation.html.jinja",
            {
                "content": content,
                "page_title": title,
                "figures": _validation_figures(content),
                "scripts": _scripts(content),
            },
        )
    explored = explore(content.ranking, content.headline.metric)
    return filled(
        "report.html.jinja",
        {
            "content": content,
            "page_title": title,
            "figures": _figures(content),
            "captions": _captions(content),
            "explored": explored,
            "scripts": _scripts(content, explored.script),
        },
    )


def filled(template: str | Path, values: Mapping[str, Any]) -> str:
    """A template, of the package by its name or of another file, filled with values, in the style of all pages."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise MissingExtraError("the report", "app") from None
    environment = _environment()
    if isinstance(template, Path):
        read = environment.from_string(template.read_text(encoding="utf-8"))
    else:
        read = environment.get_template(template)
    page: str = read.render(css=safe(_source("report.css").strip()), **values)
    return page


@cache
def _environment() -> Any:
    """The templates, each read once."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(_source),
    )
    environment.filters.update(FILTERS)
    return environment


def _source(name: str) -> str:
    return (files("heldout.report") / "templates" / name).read_text(encoding="utf-8")


def _scripts(content: ReportContent | ValidationContent, *others: str) -> tuple[str, ...]:
    """The scripts of a page: what it needs of the others, and one that copies the methods text."""
    copy = _source("copy.js").strip() if content.methods_text else ""
    return tuple(script for script in (*others, copy) if script)


def _figures(content: ReportContent) -> dict[str, Any]:
    """The figures by name; empty text where there is nothing to draw."""
    race, curve, of = content.race, content.overtuning, content.diagnostics or Diagnostics("", 0, 0)
    residuals, points = of.residuals, content.precision_recall
    score = None if content.distribution is None else corrected_score(content.headline, content.distribution)
    summary = "" if race is None else remaining_summary(race.alive, len(race.alive))
    splits = SplitsDisplay(race) if race is not None and race.saved else None
    displays: dict[str, tuple[Display | None, str, str]] = {
        "distribution": (score, "Distribution of the bootstrapped " + content.headline.metric.title, ""),
        "race": (splits, "Configurations by split", summary),
        "overtuning": (None if curve is None else GainsDisplay(curve), "What further search bought", ""),
        "roc": (RocCurveDisplay.of_points(of.roc) if of.roc else None, "ROC curve", ""),
        "precision": (PrecisionRecallDisplay.of_points(points) if points else None, "Precision and recall", ""),
        "calibration": (
            None if of.calibration is None else CalibrationDisplay.of_groups(of.calibration), "Calibration", "",
        ),
        "fitted": (None if residuals is None else FittedDisplay(residuals), "Truth over prediction", ""),
        "residuals": (None if residuals is None else ResidualsDisplay(residuals), "Residuals", ""),
    }  # fmt: skip
    return {
        name: "" if display is None else safe(embedded(display, name, title, described))
        for name, (display, title, described) in displays.items()
    }


def _validation_figures(content: ValidationContent) -> dict[str, Any]:
    """The figures by kind; those of curves are lists with one per class."""
    curves: dict[str, tuple[str, Sequence[Display]]] = {
        "calibration": ("Calibration, corrected for optimism", content.calibration),
        "roc": ("ROC curve, corrected for optimism", content.roc),
        "decision": ("Net benefit, corrected for optimism", content.decision),
        "optimism": ("Optimism of the bootstraps", () if content.optimism is None else (content.optimism,)),
    }
    return {
        kind: [safe(embedded(display, f"{kind}-{n}", title)) for n, display in enumerate(displays)]
        for kind, (title, displays) in curves.items()
    }


def _captions(content: ReportContent) -> dict[str, str]:
    captions = {
        "distribution": "" if content.distribution is None
        else distribution_caption(content.distribution.bootstraps, content.headline.method),
        "race": "" if content.race is None
        else remaining_caption(content.race.saved, content.race.saved + content.race.fits),
        "roc": ROC_CAPTION,
        "precision": PRECISION_CAPTION,
        "calibration": CALIBRATION_CAPTION,
        "fitted": FITTED_CAPTION,
        "residuals": RESIDUAL_CAPTION,
        "confusion": CONFUSION_CAPTION,
        "shared": SHARED_SENTENCE,
        "held_out": "",
        "residual_summary": "",
    }  # fmt: skip
    diagnostics = content.diagnostics
    if diagnostics is None:
        return captions
    captions["held_out"] = held_out_sentence(
        diagnostics.name, diagnostics.repeats, diagnostics.drawn, diagnostics.rows
    )
    by_class = any(curve.name for curve in diagnostics.roc)
    if by_class:
        captions["roc"] = ROC_BY_CLASS_CAPTION
        captions["precision"] = PRECISION_BY_CLASS_CAPTION
    if diagnostics.repeats > 1:
        captions["confusion"] += " " + CONFUSION_REPEATS
    if diagnostics.residuals is not None:
        decimals = decimals_for(diagnostics.residuals.half) + 1
        half, most = (
            number_text(value, decimals) for value in (diagnostics.residuals.half, diagnostics.residuals.most)
        )
        captions["residual_summary"] = residual_sentence(half, most)
    return captions


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
    display = LearningCurveDisplay(curve, scale)
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
        "caption": _caption(curve.scores.shape[1], len(display.drawn), len(curve.names)),
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


def _caption(n_subsamples: int, n_drawn: int, n_configurations: int) -> str:
    """The caption of the picture."""
    which = "" if n_drawn == n_configurations else f" The best {n_drawn} of {n_configurations} are drawn."
    return (
        f"Dots are mean scores of {n_subsamples} subsamples of each size, with bars of one standard error; lines "
        f"are power laws through them, carried on to all rows (dotted), where the diamond is the estimate.{which}"
    )
