"""Parameters against score: which parameters a search set, and slices through one or two of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import combinations
from typing import Any

import numpy as np

from heldout._types import Floats, Indices
from heldout.errors import InputError
from heldout.report.configuration_parts import eighths_of, equal_groups, is_logarithmic
from heldout.report.configuration_scores import ConfigurationScores
from heldout.scales import plain
from heldout.selection.base import scalar

MOST_BINS = 5


@dataclass(frozen=True, eq=False)
class ParameterAxis:
    """The values of one parameter in those configurations that have it and a score."""

    name: str
    title: str
    """The name without the steps of a pipeline, unless another parameter has the same then."""
    configurations: Indices
    """(n,): their positions in the search."""
    values: Floats
    """(n,): the numbers, or the places of the ``levels``."""
    levels: tuple[str, ...]
    """The values as text, where some are no finite numbers; empty for numbers."""
    is_logarithmic: bool
    """Whether the numbers are positive and span several orders of magnitude."""

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number."""
        return not self.levels

    @property
    def value_of(self) -> dict[int, float]:
        """The value of each configuration."""
        return dict(zip(self.configurations.tolist(), self.values.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class ParameterSlice:
    """One parameter against the score."""

    scores: ConfigurationScores
    axis: ParameterAxis
    best: Indices
    """The best configuration at each value, or in each eighth of many numbers, in ascending order of the values."""
    in_eighths: bool


@dataclass(frozen=True, eq=False)
class ParameterPlane:
    """Two parameters against the score."""

    scores: ConfigurationScores
    across: ParameterAxis
    up: ParameterAxis
    """``across``, ``up``: of the same configurations."""
    best: Indices
    """The best configuration at each pair of values that was tried."""

    @property
    def is_grid(self) -> bool:
        """Whether the pairs tried share values and fill half of a grid, rather than being scattered."""
        columns, rows = (len(np.unique(axis.values)) for axis in (self.across, self.up))
        pairs = len(self.best)
        return pairs == columns * rows or (2 * pairs >= columns * rows and pairs > max(columns, rows))


def parameters_searched(scores: ConfigurationScores) -> tuple[str, ...]:
    """The parameters with several values among the configurations that have a score, most influential first.

    Influence is the share of the scores' variance between the values of a parameter; those of a parameter with
    many values are put in five groups of equal size.
    """
    axes = [parameter_axis(scores, name) for name in _names(scores)]
    varied = [axis for axis in axes if len(np.unique(axis.values)) > 1]
    return tuple(axis.name for axis in sorted(varied, key=lambda axis: -_influence(scores, axis)))


def paired_parameters(scores: ConfigurationScores) -> tuple[str, str] | None:
    """The two most influential parameters that vary in the same configurations; None without any."""
    for first, second in combinations(parameters_searched(scores), 2):
        axes = parameter_axis(scores, first), parameter_axis(scores, second)
        shared = np.intersect1d(axes[0].configurations, axes[1].configurations)
        if all(len(np.unique(_among(axis, shared).values)) > 1 for axis in axes):
            return first, second
    return None


def parameter_named(scores: ConfigurationScores, name: str) -> str:
    """The full name of a parameter of the search, from itself or from its last part where one parameter has it.

    Raises InputError for any other name.
    """
    known = _names(scores)
    if name in known:
        return name
    ending = [each for each in known if each.endswith(f"__{name}")]
    if len(ending) == 1:
        return ending[0]
    near = ending or get_close_matches(str(name), known, n=3, cutoff=0.5) or known
    several = f"{len(ending)} parameters of the search are named so" if ending else "the search did not set it"
    raise InputError(f"parameter {name!r}: {several}; name one of {', '.join(near)}.", argument="parameter")


def parameter_axis(scores: ConfigurationScores, name: str) -> ParameterAxis:
    """One parameter of the configurations that have it and a score."""
    every = scores.parameters
    having = [j for j, own in enumerate(every) if name in own and np.isfinite(scores.scores[j])]
    values = [every[j][name] for j in having]
    last = name.rsplit("__", 1)[-1]
    is_only = [each.rsplit("__", 1)[-1] for each in _names(scores)].count(last) == 1
    return axis_of(name, last if is_only else name, having, values)


def axis_of(name: str, title: str, configurations: Sequence[int], values: Sequence[Any]) -> ParameterAxis:
    """The axis of these values of these configurations."""
    places = np.array(configurations, dtype=np.intp)
    if values and all(scalar(value) and math.isfinite(value) for value in values):
        numbers = np.array([float(value) for value in values])
        return ParameterAxis(name, title, places, numbers, (), is_logarithmic(numbers))
    texts = [plain(value) for value in values]
    levels = tuple(sorted(set(texts), key=lambda text: _as_sorted(text, texts, values)))
    codes = np.array([levels.index(text) for text in texts], dtype=np.float64)
    return ParameterAxis(name, title, places, codes, levels, False)


def parameter_slice(scores: ConfigurationScores, name: str) -> ParameterSlice:
    """One parameter, by its name, against the score.

    Raises InputError for a name of none.
    """
    axis = parameter_axis(scores, parameter_named(scores, name))
    if not axis.configurations.size:
        raise InputError(f"no configuration with a score has the parameter {axis.name!r}.", argument="parameter")
    eighths = eighths_of(axis.values) if axis.is_numeric else None
    steps = axis.values if eighths is None else eighths.astype(np.float64)
    best = _best_of(scores, axis.configurations, steps[:, None])
    return ParameterSlice(scores, axis, best, in_eighths=eighths is not None)


def parameter_plane(scores: ConfigurationScores, names: Sequence[str]) -> ParameterPlane:
    """Two parameters, by their names, against the score.

    Raises InputError for a name of none, twice the same, or two that no configuration has together.
    """
    first, second = (parameter_named(scores, name) for name in names)
    if first == second:
        raise InputError(f"the two parameters must differ, got {first!r} twice.", argument="parameters")
    axes = parameter_axis(scores, first), parameter_axis(scores, second)
    shared = np.intersect1d(axes[0].configurations, axes[1].configurations)
    if not shared.size:
        raise InputError(
            f"no configuration with a score has both {first!r} and {second!r}, so they span no plane; name two "
            "parameters of one estimator.",
            argument="parameters",
        )
    across, up = (_among(axis, shared) for axis in axes)
    pairs = np.stack([across.values, up.values], axis=1)
    return ParameterPlane(scores, across, up, _best_of(scores, shared, pairs))


def _names(scores: ConfigurationScores) -> list[str]:
    """The parameters that the search set, in its order."""
    return list(dict.fromkeys(name for own in scores.parameters for name in own))


def _best_of(scores: ConfigurationScores, configurations: Indices, values: Floats) -> Indices:
    """The best candidate at each distinct row of values, the first of equal ones; dropped ones only without any."""
    distinct, groups = np.unique(values, axis=0, return_inverse=True)
    losses = scores.losses[configurations]
    is_out = ~scores.is_candidate[configurations]
    order = np.lexsort((configurations, losses, is_out))
    groups = groups.reshape(-1)
    return np.array(
        [configurations[order[np.flatnonzero(groups[order] == group)[0]]] for group in range(len(distinct))],
        dtype=np.intp,
    )


def _among(axis: ParameterAxis, configurations: Indices) -> ParameterAxis:
    kept = np.isin(axis.configurations, configurations)
    return replace(axis, configurations=axis.configurations[kept], values=axis.values[kept])


def _as_sorted(text: str, texts: Sequence[str], values: Sequence[Any]) -> tuple[int, float, str]:
    """Numbers among the values come first, by size; NaN is none of them."""
    value = values[texts.index(text)]
    return (0, float(value), text) if scalar(value) and not math.isnan(value) else (1, 0.0, text)


def _influence(scores: ConfigurationScores, axis: ParameterAxis) -> float:
    """The share of the variance of the scores that lies between values, or fifths of the values."""
    own = scores.scores[axis.configurations]
    total = float(((own - own.mean()) ** 2).sum())
    if not total:
        return 0.0
    groups = np.unique(axis.values, return_inverse=True)[1]
    if groups.max() >= MOST_BINS:
        groups = equal_groups(axis.values, MOST_BINS)
    parts = [own[groups == group] for group in np.unique(groups)]
    return float(sum(len(part) * (part.mean() - own.mean()) ** 2 for part in parts)) / total
