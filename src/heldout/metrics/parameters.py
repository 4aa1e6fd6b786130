"""Parameters of metrics: their names and checks, and the times at which survival probabilities are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.errors import InputError
from heldout.metrics.base import Metric


def name_with(stem: str, metric: Any, *parameters: str) -> str:
    """A metric's name with those of its parameters that differ from their default.

    Examples
    --------
    >>> from heldout.metrics.regression import PinballLoss
    >>> name_with("mean_pinball_loss", PinballLoss(0.9), "alpha"), name_with("pinball", PinballLoss(), "alpha")
    ('mean_pinball_loss(alpha=0.9)', 'pinball')
    """
    defaults = {field.name: field.default for field in fields(metric)}
    given = {name: getattr(metric, name) for name in parameters}
    listed = ", ".join(f"{name}={value!r}" for name, value in given.items() if value != defaults[name])
    return f"{stem}({listed})" if listed else stem


def check_among(parameter: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse a value that a metric's parameter cannot have."""
    if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
        raise InputError(
            f"{parameter} must be one of {', '.join(repr(one) for one in allowed)}, got {value!r}.",
            argument=parameter,
        )


def is_number(value: Any) -> bool:
    """Whether a parameter is a real number, and not NaN."""
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and not np.isnan(value)


def times_of(metric: Metric) -> tuple[float, ...]:
    """The times at which a metric reads survival probabilities; none of one that reads none, or any."""
    return () if metric.times is None else tuple(float(time) for time in metric.times)


def full_name(metric: Metric) -> str:
    """The name by which a metric is found again: with its times, where they are several and the name has none.

    Examples
    --------
    >>> from heldout.metrics.survival_brier import IntegratedBrier
    >>> full_name(IntegratedBrier(times=(1, 4)))
    'integrated_brier_score(times=[1.0, 4.0])'
    """
    times = times_of(metric)
    return f"{metric.name}(times={list(times)})" if len(times) > 1 and "(" not in metric.name else metric.name


def at_times_of(metric: Metric, array: NDArray[Any], times: Sequence[float]) -> NDArray[Any]:
    """Survival probabilities (..., n_times) at the times that a metric reads, of those at ``times``.

    Examples
    --------
    >>> from heldout.metrics.survival_brier import IntegratedBrier
    >>> at_times_of(IntegratedBrier(times=(1, 4)), np.array([[[0.9, 0.8, 0.7]]]), (1, 2, 4)).tolist()
    [[[0.9, 0.7]]]
    """
    read = times_of(metric)
    if not read or not times or read == tuple(times):
        return array
    place = {time: number for number, time in enumerate(times)}
    absent = [time for time in read if time not in place]
    if absent:
        raise InputError(
            f"{metric.name} reads survival probabilities at time {absent[0]:g}, but the predictions are of times "
            f"{', '.join(f'{time:g}' for time in times)}; predict them at its times too."
        )
    return array[..., [place[time] for time in read]]


def checked_probabilities(name: str, predictions: NDArray[Any]) -> Floats:
    """Predictions as float64; InputError, naming the metric, where they are beyond [0, 1]."""
    given: Floats = np.asarray(predictions, dtype=np.float64)
    if given.size and not (given.min() >= 0 and given.max() <= 1):
        raise InputError(
            f"metric '{name}' needs probabilities from 0 to 1, got values from {given.min():g} to "
            f"{given.max():g}; give probabilities, or use a metric that takes decision values.",
            argument="metric",
        )
    return given
