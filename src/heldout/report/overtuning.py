"""The overtuning of a finished search: gathered from its predictions, and drawn for its report."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from heldout._types import Floats
from heldout.configurations import Configuration
from heldout.errors import InputError
from heldout.estimates.bootstrap import is_unbiased
from heldout.estimates.from_matrix import gather
from heldout.estimates.paired.overtuning import DefaultComparison, Overtuning, overtuning
from heldout.estimates.paired.scores import paired_scores
from heldout.estimates.types import json_number
from heldout.execution.default import DefaultConfiguration, place_of
from heldout.metrics.named import in_sentence
from heldout.predictions import HeldOutPredictions
from heldout.report.numbers import Scale
from heldout.report.search_evidence import question_of_search, search_scale
from heldout.report.svg import BLUE, VERMILLION, Dash, altair, inline_svg, layered, line
from heldout.result import Evaluation

MOST_BOOTSTRAPS, LEAST_BOOTSTRAPS = 200, 50
MOST_WORK = 4e9
"""Rows times configurations times bootstraps."""
MOST_COMPARED = 2000
"""Configurations among which the estimator as it was passed is looked for."""
UNCORRECTED: Dash = (6, 3)


def overtuning_of(evaluation: Evaluation) -> Overtuning:
    """The overtuning of a search by the scorer that decides, in its order if that has a meaning.

    Configurations that failed or were dropped are no candidates and do not count.

    Raises InputError when the scorer cannot be opened, or no bootstrap can be drawn.
    """
    if "entropy" not in evaluation.provenance:
        raise InputError("this record of a search has no seed, from which its bootstraps would be drawn again.")
    predictions, question = evaluation.predictions, question_of_search(evaluation)
    asked = question
    default = evaluation.default or _estimator_as_passed(evaluation)
    is_extra = default is not None and default.position is None
    if is_extra:
        assert default is not None and default.predictions is not None
        predictions = _with_column(predictions, default.predictions)
        params = [*(question.params or []), dict(default.configuration.params)]
        question = replace(question, params=params)
    work = predictions.n_rows * predictions.n_configurations
    affordable = max(int(MOST_WORK / work), LEAST_BOOTSTRAPS)
    n_bootstraps = min(MOST_BOOTSTRAPS, question.settings.n_bootstraps, affordable)
    question = replace(question, settings=replace(question.settings, n_bootstraps=n_bootstraps))
    evidence = gather(evaluation.task.truth, predictions, question)
    if evidence.chooses_ensemble or evidence.thresholds is not None:
        raise InputError(
            f"overtuning compares single configurations, and the rule '{evidence.selection}' chooses otherwise."
        )
    scores, candidates = paired_scores(evidence), evidence.candidates
    if is_extra:  # what the rule chooses among the candidates alone, in the same draws
        asked = replace(asked, settings=question.settings)
        alone = paired_scores(gather(evaluation.task.truth, evaluation.predictions, asked))
        scores = replace(scores, chosen=alone.chosen, winner=alone.winner)
    column, position = None, -1
    if default is not None:
        position = predictions.n_configurations - 1 if default.position is None else default.position
        there = np.flatnonzero(candidates == position)
        column = int(there[0]) if len(there) else None  # it failed or was dropped
    assert evidence.matrix is not None, "a search has predictions"
    found = overtuning(
        scores,
        evidence.metric.name,
        greater_is_better=evidence.metric.greater_is_better,
        takes_control=not is_unbiased(evidence.matrix),
        default=column,
        name_of_default="" if default is None else default.configuration.name,
        n_tried=len(candidates) - (1 if is_extra and column is not None else 0),
        in_order=_has_order(evaluation),
    )
    if default is None or column is not None:
        return found
    reason = predictions.out.get(position, "").rstrip(".") or "it has no score"
    return replace(found, default=DefaultComparison.missing(default.configuration.name, reason))


def _has_order(evaluation: Evaluation) -> bool:
    """Whether the order of the configurations means something: that of a grid, or of a list of models, does not."""
    kind = evaluation.provenance.get("configurations_from")
    several = len({each.model for each in evaluation.configurations}) > 1
    return kind in ("optuna", "loop") or (kind == "random" and not several)


def _estimator_as_passed(evaluation: Evaluation) -> DefaultConfiguration | None:
    """The estimator without any parameters set, where it is among the configurations of one estimator."""
    members = evaluation.configurations.members[:MOST_COMPARED]
    first = members[0]
    if first.model or first.has_params or any(each.template is not first.template for each in members):
        return None
    place = place_of(Configuration(0, {}, first.template), members)
    return None if place is None else DefaultConfiguration(members[place], place)


def _with_column(predictions: HeldOutPredictions, other: HeldOutPredictions) -> HeldOutPredictions:
    """The predictions with one more configuration behind the others."""
    responses = {
        response: np.concatenate([array, other.responses[response]], axis=1)
        for response, array in predictions.responses.items()
        if response in other.responses
    }
    return replace(predictions, responses=responses, names=(*predictions.names, *other.names))


@dataclass(frozen=True)
class OvertuningCurve:
    """The overtuning of a search as it is shown."""

    scale: Scale
    n_configurations: tuple[int, ...]
    uncorrected: tuple[float | None, ...]
    corrected: tuple[float | None, ...]
    """(P,) both: by how much the best of so many is better than the first: on the rows that chose it, and on those
    left out. A second level beside the estimate of the search would answer no question of its own."""
    in_order: bool
    sentences: tuple[str, ...]
    """That further search bought nothing, and on the default configuration, where there is something to say."""


def overtuning_curve_of(evaluation: Evaluation) -> OvertuningCurve | None:
    """What the report shows; None where it is not known, and of fewer than two configurations."""
    try:
        found = evaluation.overtuning
    except InputError:
        return None
    if len(found.n_configurations) < 2:
        return None
    sign = 1 if found.greater_is_better else -1
    return OvertuningCurve(
        search_scale(evaluation, evaluation.refit_metric),
        tuple(found.n_configurations.tolist()),
        _gains(found.uncorrected, sign),
        _gains(found.corrected, sign),
        found.in_order,
        tuple(evaluation.overtuning_sentences),
    )


def _gains(scores: Floats, sign: int) -> tuple[float | None, ...]:
    """By how much each is better than the first."""
    return tuple(json_number(sign * (score - scores[0])) for score in scores.tolist())


def overtuning_svg(curve: OvertuningCurve, *, key: str, width: int) -> str:
    """Two lines over the number of configurations tried: the gain of the best so far, on two kinds of rows."""
    alt, scale = altair(), curve.scale
    values = [each for each in (*curve.uncorrected, *curve.corrected) if each is not None]
    low, high = min(values), max(values)
    pad = 0.08 * (high - low) or 0.01
    last = curve.n_configurations[-1]
    is_long = last > 60
    x_scale = alt.Scale(type="log", domain=[1, last]) if is_long else alt.Scale(domain=[1, last], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=alt.Axis(title="configurations tried", format="d", tickCount=5))
    y_scale = alt.Scale(domain=[low - pad, high + pad], zero=False, nice=False)
    y = alt.Y(
        "y:Q", scale=y_scale, axis=alt.Axis(title=f"gain in {in_sentence(scale.title)}", tickCount=5, grid=True)
    )
    layers = []
    for series, colour, dash in ((curve.uncorrected, VERMILLION, UNCORRECTED), (curve.corrected, BLUE, ())):
        points = [
            {"x": c, "y": each, "n": number}
            for number, (c, each) in enumerate(zip(curve.n_configurations, series, strict=True))
            if each is not None
        ]
        layers.append(line(points, x, y, colour, dash, 2, interpolate="step-after"))
    chart = layered(*layers, width=width, height=260)
    best, end = (
        "unknown" if series[-1] is None else f"{series[-1]:.4g}" for series in (curve.uncorrected, curve.corrected)
    )
    described = (
        f"By how much the {in_sentence(scale.title)} of the best configuration is better than that of the first: "
        f"{best} on the rows that chose it, {end} on rows left out."
    )
    return inline_svg(chart, key, "What further search bought", described)
