"""Intervals of a corrected score, from bootstraps that show how far it varies, not how far the apparent one does.

Noma, Shinozaki, Iba, Teramukai & Furukawa (2021) give two for any correction. One shifts the bootstrap interval of
the apparent score by the size of the correction; it needs no further fits. The other repeats the whole correction
in every bootstrap sample, by samples of the sample (``double``): it also includes how much the correction itself
varies, and costs a fit for each sample of each sample.
"""

import math
from collections.abc import Mapping
from typing import Literal, TypeAlias, cast

import numpy as np

from heldout._types import Floats
from heldout.data.checks import VALIDATION_INTERVALS, check_choice
from heldout.errors import InputError
from heldout.estimates.intervals import (
    Reached,
    bootstrap_interval,
    flag_of_few_bootstraps,
    has_no_width,
    no_interval,
    order_statistic,
    within_range,
)
from heldout.estimates.question import Settings
from heldout.estimates.types import Alternative
from heldout.flags import Flag
from heldout.protocols.validation.replicates import ReplicateScores

IntervalKind: TypeAlias = Literal["location_shifted", "double", "percentile"]

SOURCES_OF_INTERVAL: Mapping[IntervalKind, tuple[str, ...]] = {
    "location_shifted": ("noma2021",),
    "double": ("noma2021",),
    "percentile": ("efron1979",),
}
HARDLY_VARIES = 0.1
"""The least ratio of two central ranges: of scores on the own samples, and of the same models on all rows.

Scores on own samples vary with the sample and the model, scores on all rows with the model alone. So the first
range is the larger one, unless fitting fixes the score (the calibration slope of an unpenalised model on its own
sample is 1, up to the tolerance of its solver) or the model memorises its rows.
"""


def interval_kind(interval: str | None, method: str) -> IntervalKind | None:
    """The kind of interval for a word of the user and a correction; None for none.

    ``method``: the name of the correction.

    Raises InputError for another word, and for percentiles of a score that has no distribution; before any fit.

    Examples
    --------
    >>> interval_kind("auto", "optimism"), interval_kind("auto", "oob"), interval_kind(None, "632")
    ('location_shifted', 'percentile', None)
    """
    if interval is None:
        return None
    check_choice("interval", interval, ("auto", *VALIDATION_INTERVALS), ", or None")
    if interval == "auto":
        return "percentile" if method == "oob" else "location_shifted"
    kind = cast("IntervalKind", interval)
    if kind == "percentile" and method != "oob":
        raise InputError(
            "`interval='percentile'` is for the scores of the rows left out, which `method='oob'` averages, but "
            f"`method={method!r}` is corrected once and has no distribution; use `interval='location_shifted'`, or "
            "`interval='double'`, which corrects it anew in every bootstrap."
        )
    return kind


def interval_of(
    kind: IntervalKind | None,
    scores: ReplicateScores,
    corrected: float,
    confidence_level: float,
    alternative: Alternative,
    *,
    doubles: Floats | None = None,
    is_fixed: bool = False,
) -> Reached:
    """The interval of a corrected score.

    - ``kind``: as returned by ``interval_kind``.
    - ``corrected``: the corrected score, in the metric's own direction and units.
    - ``doubles`` (B,): with "double": the corrected score of each bootstrap sample; NaN if it has none.
    - ``is_fixed``: whether fitting fixes the score of every model on its own sample, up to noise such as that of
      imputations.

    Returns: without an interval if the corrected score is NaN, or the distribution cannot show its spread, or the
    interval would not hold the corrected score. An interval ends at the limits of the metric, within which
    ``corrected`` lies.

    Examples
    --------
    An apparent area of .9, corrected to .8, and the areas of 40 models on their own samples:

    >>> from heldout.metrics import metric_named
    >>> found = np.linspace(0.81, 1.0, 40)
    >>> scores = ReplicateScores(metric_named("roc_auc"), 0.9, found, found - 0.1, found - 0.2)
    >>> print(interval_of("location_shifted", scores, 0.8, 0.9, "two-sided").interval)
    [0.7149, 0.8903] (90%)
    """
    if kind is None:
        return Reached(None, {})
    if math.isnan(corrected):
        return no_interval("there is no corrected score")
    if kind == "double" and doubles is None:
        raise InputError("`interval='double'` needs the corrected scores of the bootstrap samples (doubles=).")
    metric, distribution = scores.metric, np.empty(0) if doubles is None else doubles
    if kind == "percentile":
        distribution = scores.out_of_bag[scores.successful]
    elif kind == "location_shifted":
        own = scores.in_bootstrap[scores.successful]
        distribution = own - (scores.apparent - corrected)
        if is_fixed or hardly_varies(own, scores.on_original[scores.successful]):
            flag = Flag.CONSTANT_APPARENT
            return Reached(None, {flag: flag.filled(metric=metric.name)})
    interval, flags = _percentiles(scores, distribution, confidence_level, alternative)
    if interval is None:
        return Reached(None, flags)
    if corrected not in interval:
        # On copies a model looks better than on distinct rows: the optimism shifts the percentiles off the centre.
        instead = "; `interval='double'` corrects the score anew in every bootstrap"
        flag, instead = Flag.INTERVAL_OFF_CENTRE, "" if kind == "double" else instead
        return Reached(None, {flag: flag.filled(metric=metric.name, instead=instead)})
    if kind == "percentile":
        flags = {**flags, **Flag.OUT_OF_BAG_PERCENTILES.of()}
    return Reached(within_range(interval, metric), flags)


def hardly_varies(in_bootstrap: Floats, on_original: Floats) -> bool:
    """Whether all models score nearly the same on their own samples.

    It compares the central 95 % of both scores, so that a few failed fits do not hide it.

    Examples
    --------
    >>> slopes = np.array([1.0, 1.0000004, 0.9999998, 1.0]), np.array([0.7, 0.9, 1.1, 0.8])
    >>> hardly_varies(*slopes), hardly_varies(*slopes[::-1])
    (True, False)
    """
    if in_bootstrap.size < 2:
        return False
    return _central_range(in_bootstrap) <= HARDLY_VARIES * _central_range(on_original)


def _central_range(values: Floats) -> float:
    ordered = np.sort(values)
    return order_statistic(ordered, 0.975) - order_statistic(ordered, 0.025)


def _percentiles(
    scores: ReplicateScores, distribution: Floats, confidence_level: float, alternative: Alternative
) -> Reached:
    undefined = int(np.isnan(distribution).sum())
    settings = Settings(confidence_level=confidence_level, alternative=alternative)
    interval = bootstrap_interval(distribution, scores.metric, settings)
    if interval is None:
        return no_interval(f"no bootstrap gave a score of {scores.metric.name}")
    if has_no_width(interval):
        return no_interval(f"all bootstraps gave the same {scores.metric.name}, which shows no spread")
    flags: dict[Flag, str] = {}
    if undefined:
        flags |= Flag.UNDEFINED_BOOTSTRAPS.of(undefined=undefined, total=len(distribution), why="")
    return Reached(interval, flags | flag_of_few_bootstraps(len(distribution) - undefined, settings))
