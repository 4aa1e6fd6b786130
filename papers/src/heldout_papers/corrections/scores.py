"""Score methods on matrices whose truth is known: the value, the ends of its intervals and the truth of its choice.

A method is called as ``ho.estimate`` calls it. The arrays of a matrix are read and checked once, and the evidence
is gathered once for each aggregate; every method then answers from it, with the same seed. The truth of an estimate
is that of the configuration that this estimate selected.
"""

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.data.checks import called
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.base import Method
from heldout.estimates.evidence import Candidates
from heldout.estimates.inputs import Inputs, read_inputs
from heldout.estimates.methods import METHODS, label_of, method_of
from heldout.estimates.methods.cv import CV
from heldout.estimates.question import Aggregate
from heldout.estimates.types import Alternative, Estimate
from heldout_papers.corrections.distribution import line_from_others
from heldout_papers.corrections.matrix import KnownMatrix, moderate

Columns: TypeAlias = dict[str, NDArray[Any]]
"""Arrays (matrices, methods) by name."""
FOUND = ("value", "truth", "scale", "seconds", "failure")
"""The columns besides those of intervals."""
WAITING = "waits for the other repetitions"
"""The failure of an oracle whose value is the observed score, until ``with_line``."""
ORACLE = "oracle"
"""The name of a method that knows the distribution of the true scores: what no method can do better than."""
LEVELS = (0.9, 0.95)
ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "greater")


@dataclass(frozen=True)
class Oracle:
    """Expects the true score of the winner from the observed scores and from what only a simulation knows."""

    name: str = ORACLE


@dataclass(frozen=True)
class BedScoring:
    """Which methods are scored, and how.

    Attributes
    ----------
    methods : tuple of (label, method)
    levels : tuple of float
    alternatives : tuple of str
        Of "two-sided" and "greater", which bounds how bad the performance can be.
    aggregate : str or None
        As in ``ho.estimate``.
    n_bootstraps : int
    """

    methods: tuple[tuple[str, Method | Oracle], ...]
    levels: tuple[float, ...] = LEVELS
    alternatives: tuple[Alternative, ...] = ALTERNATIVES
    aggregate: Aggregate | None = "pooled"
    n_bootstraps: int = 200

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for label, _ in self.methods)

    @property
    def ends(self) -> tuple[str, ...]:
        """The columns of intervals: "low_95" and "high_95" of a two-sided one, "bound_95" of a one-sided one."""
        return tuple(name for level in self.levels for side in self.alternatives for name in end_names(level, side))


def end_names(level: float, alternative: str) -> tuple[str, ...]:
    """The columns of an interval.

    Examples
    --------
    >>> end_names(0.95, "two-sided"), end_names(0.9, "greater")
    (('low_95', 'high_95'), ('bound_90',))
    """
    number = f"{100 * level:g}"
    return (f"low_{number}", f"high_{number}") if alternative == "two-sided" else (f"bound_{number}",)


def labelled(methods: Any) -> tuple[tuple[str, Method | Oracle], ...]:
    """Methods with a label each, from their names, from themselves, or from a mapping of labels.

    Examples
    --------
    >>> from heldout.estimates.methods.bbc import BBC
    >>> [label for label, _ in labelled(["cv", BBC(interval="calibrated"), "bbc(control=False)", "oracle"])]
    ['cv', "bbc(interval='calibrated')", 'bbc(control=False)', 'oracle']
    """
    if isinstance(methods, Mapping):
        found = [(str(label), _method(method)) for label, method in methods.items()]
    else:
        listed = list(methods) if isinstance(methods, list | tuple) else [methods]
        found = [
            (ORACLE if isinstance(method, Oracle) else label_of(method), method) for method in map(_method, listed)
        ]
    labels = [label for label, _ in found]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if not found or twice is not None:
        got = "none" if twice is None else f"{twice!r} twice"
        raise InputError(
            f"methods must be one or more different methods, got {got}; a mapping gives labels of your own.",
            argument="methods",
        )
    return tuple(found)


def _method(method: Any) -> Method | Oracle:
    if method == ORACLE or isinstance(method, Oracle):
        return Oracle()
    if isinstance(method, str) and method not in METHODS:
        written = called(method, METHODS, "methods")
        if written is not None:
            return method_of(written)
        raise InputError(
            f"methods must be some of {', '.join(METHODS)}, {ORACLE}, one with settings such as "
            f"\"bbc(interval='calibrated')\", or a method of your own, got {method!r}.",
            argument="methods",
        )
    return method_of(method)


def score_methods(
    matrices: Iterable[KnownMatrix],
    methods: Any,
    *,
    levels: Sequence[float] = LEVELS,
    alternatives: Sequence[Alternative] = ALTERNATIVES,
    aggregate: Aggregate | None = "pooled",
    n_bootstraps: int = 200,
) -> Columns:
    """Score methods on the matrices of a cell.

    Parameters
    ----------
    matrices : iterable of KnownMatrix
    methods : sequence or mapping
        Names of ``ho.estimates.METHODS``, configured methods, or "oracle"; a mapping of labels to these.
    levels, alternatives, aggregate, n_bootstraps
        As in ``ho.estimate``.

    Returns
    -------
    dict of str to ndarray of shape (matrices, methods)
        ``value``, ``truth`` (of the configuration that the method selected), ``scale``, ``seconds`` (of the method
        alone, its first call), ``failure`` (why there is no value), and for each level "low_95", "high_95" and
        "bound_95".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y, folds, truths = np.arange(60) % 2, np.arange(60) % 5, np.full(20, 0.7)
    >>> drawn = [y[:, None] ^ (rng.random((60, 20)) > truths) for _ in range(10)]
    >>> matrices = [KnownMatrix(y, one, truths, "accuracy", folds, 0, {"response": "labels"}) for one in drawn]
    >>> found = score_methods(matrices, ["cv", "bbc"])
    >>> (found["value"] - found["truth"]).mean(axis=0).round(2).tolist()
    [0.1, -0.01]
    """
    scoring = BedScoring(labelled(methods), tuple(levels), tuple(alternatives), aggregate, n_bootstraps)
    there = list(matrices)
    return with_line(there[0].metric if there else "", scored(there, scoring), scoring.labels)


def scored(matrices: Iterable[KnownMatrix], scoring: BedScoring) -> Columns:
    """The same, from the settings that were checked, and some of the matrices of a cell."""
    lines = [_lines(matrix, scoring) for matrix in matrices]
    shape = len(lines), len(scoring.methods)
    found: Columns = {}
    for name in (*FOUND, *scoring.ends):
        kind: Any = "<U80" if name == "failure" else np.float64
        values = [[line.get(name, "" if name == "failure" else np.nan) for line in each] for each in lines]
        found[name] = np.array(values, dtype=kind).reshape(shape)
    return found


def _lines(matrix: KnownMatrix, scoring: BedScoring) -> list[dict[str, Any]]:
    """What each method gives on a matrix."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldoutWarning)
        inputs = read_inputs(
            matrix.y,
            matrix.predictions,
            metric=matrix.metric,
            folds=matrix.folds,
            aggregate=scoring.aggregate,
            n_bootstraps=scoring.n_bootstraps,
            random_state=matrix.seed,
            **matrix.reading,
        )
        return [_line(method, matrix, inputs, scoring) for _, method in scoring.methods]


def _line(method: Method | Oracle, matrix: KnownMatrix, inputs: Inputs, scoring: BedScoring) -> dict[str, Any]:
    """What one method gives."""
    if isinstance(method, Oracle):
        return _line_of_oracle(matrix, inputs)
    line: dict[str, Any] = {"scale": matrix.scale}
    try:
        evidence, sides = inputs.evidence(method), _alternatives(method, scoring)
        reason = method.unfit(_asking(evidence, scoring.levels[0], sides[0]))
        if reason is not None:
            return {"scale": matrix.scale, "failure": reason}
        evidence.kept.clear()  # or the time of a method would depend on those before it
        for level, side in product(scoring.levels, sides):
            own = _asking(evidence, level, side)
            began = time.perf_counter()
            found = method.estimate(own)
            line.setdefault("seconds", time.perf_counter() - began)  # later calls may share its work
            line |= _ends(found, level, side, evidence)
    except InputError as error:
        return {"scale": matrix.scale, "failure": str(error)}
    return line | _of_choice(matrix, found.selected, found.value)


def _asking(evidence: Candidates, level: float, side: Alternative) -> Candidates:
    """The evidence with the question of an interval."""
    return replace(evidence, settings=replace(evidence.settings, confidence_level=level, alternative=side))


def _alternatives(method: Method, scoring: BedScoring) -> tuple[Alternative, ...]:
    """Those asked for that the method has; one that it has where it has none of them, for its value."""
    return tuple(side for side in scoring.alternatives if side in method.alternatives) or method.alternatives[:1]


def _ends(found: Estimate, level: float, side: str, evidence: Candidates) -> dict[str, float]:
    """The ends of an interval; of a one-sided one the end that bounds how bad the performance can be."""
    if found.interval is None or side == "less":
        return {}
    low, high = found.interval
    ends = (low, high) if side == "two-sided" else (low if evidence.metric.greater_is_better else high,)
    return dict(zip(end_names(level, side), ends, strict=True))


def with_line(metric: str, columns: Columns, labels: Sequence[str]) -> Columns:
    """The columns of a cell with the value of an oracle that all of its repetitions are needed for."""
    if ORACLE not in labels:
        return columns
    place = labels.index(ORACLE)
    waiting = columns["failure"][:, place] == WAITING
    if not waiting.any():
        return columns
    scale = columns["scale"][waiting, place]
    observed, truth = (moderate(metric, columns[name][waiting, place], scale) for name in ("value", "truth"))
    value, failure = columns["value"].copy(), columns["failure"].copy()
    value[waiting, place] = scale * line_from_others(observed, truth)
    failure[waiting, place] = np.where(np.isnan(value[waiting, place]), "too few repetitions for a line", "")
    return {**columns, "value": value, "failure": failure}


def _line_of_oracle(matrix: KnownMatrix, inputs: Inputs) -> dict[str, Any]:
    evidence = inputs.evidence(CV())
    line = {"scale": matrix.scale}
    if matrix.distribution is None:
        return line | _of_choice(matrix, evidence.winner, evidence.uncorrected) | {"failure": WAITING}
    return line | _of_choice(matrix, evidence.winner, matrix.distribution.expected(evidence))


def _of_choice(matrix: KnownMatrix, selected: int, value: float) -> dict[str, Any]:
    reason = "the method gave no number" if np.isnan(value) else ""
    return {"value": value, "truth": float(matrix.truths[selected]), "failure": reason}
