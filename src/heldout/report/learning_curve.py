"""Learning curves as a figure, and as a page of their own."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from heldout.estimates.base import quantity_sentence
from heldout.metrics.named import direction_sentence
from heldout.protocols.learning.curve import LearningCurve
from heldout.protocols.words import QUANTITY_IPL, method_words
from heldout.references import REFERENCES
from heldout.report.displays.base import embedded
from heldout.report.displays.pages import LearningCurveDisplay
from heldout.report.filters import safe
from heldout.report.render import filled, written
from heldout.scales import Scale, scale_of


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
