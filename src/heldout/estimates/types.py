"""What every method returns: a value with its interval, what it would have been uncorrected, and its flags."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from heldout import _defaults
from heldout._record import Record, TextTable, fields_table, interval_text
from heldout._registry import function_of
from heldout._types import Floats
from heldout.flags import Flag
from heldout.methods_text import WithMethodsText

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
Kind = TypeVar("Kind", bound="Estimate")


@dataclass(frozen=True)
class Interval(Record):
    """A confidence interval in the metric's own units.

    Attributes
    ----------
    low, high : float
    confidence_level : float
        The probability with which such intervals contain the truth, for example .95.
    alternative : "two-sided", "greater" or "less"
        "greater" bounds how bad the performance can be: the better side is open and ends at the metric's best
        possible value. "less" bounds how good it can be.
    """

    low: float
    high: float
    confidence_level: float
    alternative: Alternative = _defaults.ALTERNATIVE

    def __iter__(self) -> Iterator[float]:
        """So that ``low, high = interval``."""
        return iter((self.low, self.high))

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def tail(self) -> float:
        """The probability beyond a bound: half of one minus the level where there are two."""
        return (1 - self.confidence_level) / (2 if self.alternative == "two-sided" else 1)

    def ends_text(self, decimals: int | None = None) -> str:
        return interval_text(self.low, self.high, decimals)

    @property
    def level_text(self) -> str:
        side = "" if self.alternative == "two-sided" else f", {self.alternative}"
        return f"{100 * self.confidence_level:.4g}%{side}"

    def __str__(self) -> str:
        return f"[{self.low:.4g}, {self.high:.4g}] ({self.level_text})"


@dataclass(frozen=True)
class Coverage:
    """How often intervals like this one contained the truth, in simulations where it is known.

    Attributes
    ----------
    share : float
        The share of the intervals that contained the truth.
    standard_error : float
        The standard error of the share.
    cell : str
        What was simulated, in words: how many searches or hold-outs, their rows and configurations, the metric.
    """

    share: float
    standard_error: float
    cell: str

    def __str__(self) -> str:
        share, error = (f"{100 * number:.1f} %" for number in (self.share, self.standard_error))
        return f"In {self.cell}, {share} of such intervals held the truth (± {error})."


@dataclass(frozen=True, eq=False)
class Estimate(Record, WithMethodsText):
    """The performance of the selected configuration, corrected for its selection.

    Attributes
    ----------
    value : float
        The estimate, in the metric's own direction and units; NaN with a flag if there is none.
    interval : Interval or None
        None if the method has none.
    uncorrected : float
        The winner's cross-validated score.
    optimism : float
        Uncorrected minus corrected for a score, corrected minus uncorrected for a loss: positive if the
        uncorrected score is too good.
    standard_error : float or None
        None if the method has none.
    selected : int
        Index of the winner.
    selected_name : str
    metric, method : str
    n_rows_used : int
        0 if only scores were passed.
    distribution : ndarray of shape (B,) or None
        The bootstrapped scores behind value and interval; (B · R,) if each of R repeats was drawn separately.
    selection_frequency : ndarray of shape (C,) or None
        Share of bootstraps that selected each configuration.
    flags : mapping of Flag to str
        What a reader must know: each flag with its sentence. ``"uncorrected" in estimate.flags`` works too.
    provenance : mapping
        What was estimated and how: quantity, training rows, aggregate, rule, seeds, versions, sources.
    constant : float or None
        The score of the best constant model, which predicts the same for every row. It is chosen on the same rows
        and scored like ``uncorrected``. None if a constant can be perfect (recall, calibration), for a user's own
        metric, and if only scores were passed.
    coverage : Coverage or None
        How often such intervals contained the truth in real searches or simulated hold-outs with the same metric
        and method, and a number of rows, in total and of the rarer class (events of survival), within a factor of
        2. None if nothing similar was simulated: intervals other than two-sided ones of 95 % and lower bounds,
        groups, weights, rows in the order of time, adaptive searches, dropping, and selection rules other than
        "best".
    """

    value: float
    interval: Interval | None
    uncorrected: float
    optimism: float
    standard_error: float | None
    selected: int
    selected_name: str
    metric: str
    method: str
    n_rows_used: int
    distribution: Floats | None = None
    selection_frequency: Floats | None = None
    flags: Mapping[Flag, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    constant: float | None = None
    coverage: Coverage | None = None

    def extended(self, kind: type[Kind], **more: Any) -> Kind:
        """This estimate as a ``kind`` with further fields."""
        return kind(**{member.name: getattr(self, member.name) for member in fields(Estimate)} | more)

    _columns = (
        "metric method value interval coverage=coverage.share uncorrected optimism constant selected selected_name"
        " n_rows_used flags"
    )

    def tables(self) -> list[TextTable]:
        result = (
            "uncorrected" if self.method == "cv" else f"{value_label(self)}=value interval uncorrected optimism"
        )
        winner = "configuration" if was_named(self) else "winner"
        rows = " rows=n_rows_used" if self.n_rows_used else ""
        constant = "" if self.constant is None else " constant_model=constant"
        shown = fields_table(
            replace(self, optimism=optimism_beyond_rounding(self)),
            f"{result}{constant} {winner}=selected_name{rows}",
            f"{self.metric} by {self.method}",
            decimals=decimals_of(self),
            notes=[*([str(self.coverage)] if self.coverage else []), *self.flags.values()],
        )
        return [shown]

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the corrected score next to the uncorrected one, with its bootstraps.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default.
        **kwargs : dict
            Arguments of ``ho.plots.CorrectedScoreDisplay.plot``.

        Returns
        -------
        CorrectedScoreDisplay

        Raises
        ------
        MissingExtraError
            When matplotlib (extra ``plot``) is missing.
        """
        return function_of("plot")(self, ax, **kwargs)

    def __repr__(self) -> str:
        return f"Estimate({self})"

    def __str__(self) -> str:
        interval = "" if self.interval is None else f" {self.interval}"
        flags = f"; {', '.join(self.flags)}" if self.flags else ""
        return (
            f"{self.metric} {self.value:.4g}{interval} by {self.method} "
            f"(uncorrected {self.uncorrected:.4g}, {self.selected_name}){flags}"
        )


def is_uncorrected(estimate: Estimate) -> bool:
    """Whether its own flags say that it is optimistic for having been chosen."""
    return bool({Flag.UNCORRECTED, Flag.SELECTION_UNCORRECTED} & estimate.flags.keys())


def optimism_beyond_rounding(estimate: Estimate) -> float:
    """The optimism, 0 where it is only what rounding leaves of two equal scores."""
    size = max(abs(estimate.value), abs(estimate.uncorrected))
    return 0.0 if abs(estimate.optimism) < 1e-12 * size else estimate.optimism


def was_named(estimate: Estimate) -> bool:
    """Whether it is of a configuration that was named beforehand, in a two-part method without a first part."""
    return estimate.provenance.get("n_rows_choosing") == 0


def value_label(estimate: Estimate) -> str:
    """The label of the value: corrected, or value where it is uncorrected or needs no correction."""
    return "value" if is_uncorrected(estimate) or was_named(estimate) else "corrected"


def decimals_of(estimate: Estimate | None, scores: Iterable[float] = ()) -> int:
    """Decimals that the uncertainty of an estimate, or else of its fold scores, allows."""
    decimals = decimals_for(_uncertainty(estimate, list(scores)))
    # One more, so that a small optimism does not vanish in rounding.
    return decimals + (estimate is not None and decimals_for(abs(estimate.optimism)) > decimals)


def _uncertainty(estimate: Estimate | None, scores: list[float]) -> float:
    """A width that shows which digits of a score are meaningful."""
    if estimate is not None and estimate.interval is not None:
        width = estimate.interval.high - estimate.interval.low
        if math.isfinite(width) and width > 0:
            return width
    finite = [score for score in scores if math.isfinite(score)]
    spread = float(np.std(finite)) if len(finite) > 1 else 0.0
    if spread:
        return 4 * spread
    sizes = [abs(value) for value in (finite if estimate is None else [estimate.value, estimate.uncorrected])]
    return max((value for value in sizes if math.isfinite(value) and value), default=1.0) / 10


def decimals_for(width: float) -> int:
    """Decimals that show two significant digits of a width; 0 without one.

    Examples
    --------
    >>> [decimals_for(width) for width in (0.001, 0.03, 0.4, 3.1, 250.0)]
    [4, 3, 2, 1, 0]
    """
    if not (math.isfinite(width) and width > 0):
        return 0
    return min(max(1 - math.floor(math.log10(width)), 0), 6)
