"""What every method returns: a value with its interval, what it would have been uncorrected, and its flags."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout import _defaults
from heldout._notebook import Strong, line, notes, table
from heldout._registry import function_of
from heldout.errors import MissingExtraError
from heldout.flags import Flag
from heldout.methods_text import WithMethodsText

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True)
class Interval:
    """A confidence interval in the metric's own units.

    Attributes
    ----------
    low, high : float
    confidence_level : float
        For example .95.
    alternative : "two-sided", "greater" or "less"
        ``greater`` leaves the better side open at the metric's best possible value, ``less`` the worse one.
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

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe: what is not finite becomes null."""
        return {
            "low": json_number(self.low),
            "high": json_number(self.high),
            "confidence_level": self.confidence_level,
            "alternative": self.alternative,
        }

    def _repr_html_(self) -> str:
        return line(Strong(self))

    def __str__(self) -> str:
        side = "" if self.alternative == "two-sided" else f", {self.alternative}"
        return f"[{self.low:.4g}, {self.high:.4g}] ({100 * self.confidence_level:.4g}%{side})"


@dataclass(frozen=True)
class Coverage:
    """How often intervals like this one held the truth, where it is known.

    Attributes
    ----------
    share : float
        Of the intervals of the cell.
    standard_error : float
        Of the share, from the number of its intervals.
    cell : str
        What was measured, in words: how many searches or hold-outs, their rows and configurations, the metric.
    """

    share: float
    standard_error: float
    cell: str

    def __str__(self) -> str:
        share, error = (f"{100 * number:.1f} %" for number in (self.share, self.standard_error))
        return f"In {self.cell}, {share} of such intervals held the truth (± {error})."


@dataclass(frozen=True, eq=False)
class Estimate(WithMethodsText):
    """The performance of the selected configuration, corrected for having been selected.

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
        The bootstrapped scores behind value and interval; (B R,) if each of R repeats was drawn separately.
    selection_frequency : ndarray of shape (C,) or None
        Share of bootstraps that selected each configuration.
    flags : mapping of Flag to str
        What a reader must know, with its sentence. ``"uncorrected" in estimate.flags`` works too.
    provenance : mapping
        What was estimated and how: quantity, training rows, aggregate, rule, seeds, versions, sources.
    constant : float or None
        The score of the best constant model, which predicts the same for every row, chosen with sight of the same
        rows and scored as ``uncorrected`` is. None where a constant can be perfect (recall, calibration), where
        the metric is of the user's own, and where only scores were passed.
    coverage : Coverage or None
        How often such intervals held the truth in real searches or simulated hold-outs with the same metric and
        method, and within a factor of 2 as many rows, also of the rarer class (events of survival). None where
        nothing like it was measured: intervals other than two-sided ones of 95 % and lower bounds, groups, weights,
        rows in the order of time, adaptive searches, dropping, and selection rules other than "best".
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
    distribution: NDArray[np.float64] | None = None
    selection_frequency: NDArray[np.float64] | None = None
    flags: Mapping[Flag, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    constant: float | None = None
    coverage: Coverage | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: NaN and infinities become null, arrays lists."""
        return {
            "value": json_number(self.value),
            "interval": None if self.interval is None else self.interval.to_dict(),
            "coverage": None if self.coverage is None else asdict(self.coverage),
            "uncorrected": json_number(self.uncorrected),
            "optimism": json_number(self.optimism),
            "constant": None if self.constant is None else json_number(self.constant),
            "standard_error": None if self.standard_error is None else json_number(self.standard_error),
            "selected": self.selected,
            "selected_name": self.selected_name,
            "metric": self.metric,
            "method": self.method,
            "n_rows_used": self.n_rows_used,
            "distribution": _numbers(self.distribution),
            "selection_frequency": _numbers(self.selection_frequency),
            "flags": [{"flag": flag.value, "message": message} for flag, message in self.flags.items()],
            "provenance": json_safe(self.provenance),
        }

    def to_frame(self) -> Any:
        """One row as a pandas DataFrame (pandas comes with the extra ``app``)."""
        interval = self.interval
        return frame_of(
            [
                {
                    "metric": self.metric,
                    "method": self.method,
                    "value": self.value,
                    "low": np.nan if interval is None else interval.low,
                    "high": np.nan if interval is None else interval.high,
                    "coverage": np.nan if self.coverage is None else self.coverage.share,
                    "uncorrected": self.uncorrected,
                    "optimism": self.optimism,
                    "constant": np.nan if self.constant is None else self.constant,
                    "selected": self.selected,
                    "selected_name": self.selected_name,
                    "n_rows_used": self.n_rows_used,
                    "flags": ", ".join(self.flags),
                }
            ],
            "Estimate.to_frame",
        )

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw it beside the uncorrected score, with its bootstraps.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default.
        **kwargs : dict
            Of ``ho.plots.CorrectedScoreDisplay.plot``.

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

    def _repr_html_(self) -> str:
        rows = [
            ("value" if is_uncorrected(self) or was_named(self) else "corrected", Strong(f"{self.value:.4g}")),
            ("interval", "none" if self.interval is None else self.interval),
            ("uncorrected", f"{self.uncorrected:.4g}"),
            ("optimism", f"{optimism_beyond_rounding(self):.4g}"),
            *([] if self.constant is None else [("constant model", f"{self.constant:.4g}")]),
            ("selected", self.selected_name),
            ("rows", self.n_rows_used or "unknown"),
        ]
        measured = "" if self.coverage is None else line(str(self.coverage))
        return table(rows, caption=f"{self.metric} by {self.method}") + measured + notes(self.flags.values())


def is_uncorrected(estimate: Estimate) -> bool:
    """Whether its own flags say that it is optimistic for having been chosen."""
    return bool({Flag.UNCORRECTED, Flag.SELECTION_UNCORRECTED} & estimate.flags.keys())


def optimism_beyond_rounding(estimate: Estimate) -> float:
    """The optimism, 0 where it is only what rounding leaves of two equal scores."""
    size = max(abs(estimate.value), abs(estimate.uncorrected))
    return 0.0 if abs(estimate.optimism) < 1e-12 * size else estimate.optimism


def frame_of(rows: Any, asker: str) -> Any:
    """A pandas DataFrame of rows or columns."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError(asker, "app") from None
    return pd.DataFrame(rows)


def was_named(estimate: Estimate) -> bool:
    """Whether it is of a configuration that was named beforehand, in a two-part method without a first part."""
    return estimate.provenance.get("n_rows_choosing") == 0


def json_number(number: float) -> float | None:
    """A float that JSON can hold, else None."""
    return float(number) if math.isfinite(number) else None


def _numbers(array: NDArray[np.float64] | None) -> list[float | None] | None:
    return None if array is None else [json_number(number) for number in array.tolist()]


def json_safe(value: Any) -> Any:
    """``value`` in JSON's own types."""
    if isinstance(value, Mapping):
        return {str(key): json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    if isinstance(value, np.ndarray):
        return json_safe(value.tolist())
    if isinstance(value, float | np.floating):  # the item of a long double is itself
        return json_number(float(value))
    if isinstance(value, np.generic):
        return json_safe(value.item())
    return value if value is None or isinstance(value, bool | int | str) else str(value)
