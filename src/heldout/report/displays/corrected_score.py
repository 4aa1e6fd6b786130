"""The corrected score beside the uncorrected one, with the bootstrap distribution."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from heldout._registry import registered
from heldout.errors import InputError
from heldout.estimates.types import Estimate
from heldout.protocols.validation.estimate import Validation
from heldout.report.configuration_scores import search_scale
from heldout.report.displays.base import ScoredDisplay, Style, TitledDisplay, checked_result, score_axis, styled
from heldout.report.displays.ranking import RankingDisplay
from heldout.report.entries import Facts
from heldout.report.headline import distribution_label, distribution_of, number_facts
from heldout.result import Evaluation
from heldout.scales import BAND, BLUE, SKY, VERMILLION, Scale, scale_of_estimate, scale_of_metric


@dataclass(eq=False, repr=False)
class CorrectedScoreDisplay(TitledDisplay, ScoredDisplay):
    """The corrected score and its interval beside the uncorrected score, and what the bootstraps found.

    Made by ``from_search``, ``from_estimate`` or ``from_validation``. All numbers are as they are shown: in the
    metric's own units, and ``neg_`` losses positive.

    Parameters
    ----------
    metric : Scale
        Title, direction and decimals of the metric.
    value, uncorrected : float
        The estimate, and the winner's uncorrected score.
    low, high : float or None
        The ends of the interval; None without one, and on the side where a one-sided interval is open.
    interval_label : str
        Its level and sides; empty without one.
    name : str
        Of the winner.
    label, uncorrected_label : str
        What ``value`` and ``uncorrected`` are: "corrected" and "uncorrected", of a validation "apparent".
    distribution : Facts or None
        The bootstrapped scores as a histogram; None for methods without one.
    bar_label : str
        What the bootstrapped scores are.
    knows_direction : bool
        Whether it is known which way is better.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_, band_, value_line_, uncorrected_line_ : matplotlib artists
        None for what there is not: ``bars_`` without a distribution, ``band_`` without an interval.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> found = ho.estimate(y, rng.random((200, 50)), metric="roc_auc", random_state=0)
    >>> display = ho.plots.CorrectedScoreDisplay.from_estimate(found)
    >>> display.value == found.value, display.ax_.get_xlabel()
    (True, 'ROC AUC (higher is better)')
    """

    metric: Scale
    value: float
    uncorrected: float
    low: float | None = None
    high: float | None = None
    interval_label: str = ""
    name: str = ""
    bar_label: str = ""
    label: str = "corrected"
    uncorrected_label: str = "uncorrected"
    distribution: Facts | None = None
    knows_direction: bool = True

    @classmethod
    def from_search(cls, search: Any, *, scorer: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        was_not_kept = getattr(search, "evaluation_", search) is None
        if scorer is None and was_not_kept and getattr(search, "estimate_", None) is not None:
            return cls.from_estimate(search.estimate_, ax=ax, **kwargs)
        return super().from_search(search, scorer=scorer, ax=ax, **kwargs)

    @classmethod
    def _of_search(cls, evaluation: Evaluation, scorer: str) -> Self:
        if scorer not in evaluation.estimates:
            raise InputError(
                f"the search has no estimate of {scorer}, because it has `method=None`; name a method, or draw "
                "ho.plots.RankingDisplay."
            )
        return cls._of(evaluation.estimates[scorer], search_scale(evaluation, scorer))

    @classmethod
    def from_estimate(cls, estimate: Estimate, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw an estimate, of ``ho.estimate`` or any other function.

        Parameters
        ----------
        estimate : Estimate
        ax : matplotlib Axes, optional
        **kwargs : dict
            Of ``plot``.
        """
        checked_result(estimate, Estimate, "estimate", "ho.estimate or another function of heldout")
        scale, knows_direction = scale_of_estimate(estimate)
        return cls._of(estimate, scale, knows_direction=knows_direction).plot(ax, **kwargs)

    @classmethod
    def from_validation(
        cls, validation: Validation, *, metric: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw one metric of a validated model: apparent and corrected for optimism.

        Parameters
        ----------
        validation : Validation
        metric : str, optional
            Of several; the first one by default.
        ax : matplotlib Axes, optional
        **kwargs : dict
            Of ``plot``.
        """
        checked_result(validation, Validation, "validation", "ho.bootstrap_validate")
        name = next(iter(validation.estimates)) if metric is None else metric
        if not isinstance(name, str) or name not in validation.estimates:
            raise InputError(
                f"metric must be one of the validation's ({', '.join(validation.estimates)}), got {metric!r}."
            )
        estimate = validation.estimates[name]
        scale = scale_of_metric(validation.metrics[name], estimate)
        bars = distribution_label(validation.n_bootstraps, "bbc")  # scores on rows left out there too
        return cls._of(estimate, scale, uncorrected_label="apparent", bar_label=bars).plot(ax, **kwargs)

    @classmethod
    def _of(cls, estimate: Estimate, scale: Scale, **more: Any) -> Self:
        if not np.isfinite(estimate.value):
            reasons = " ".join(estimate.flags.values()) or "its value is not finite."
            raise InputError(f"there is no estimate of {estimate.metric} to draw: {reasons}")
        low, high = scale.closed_ends(estimate.interval)
        numbers = Facts(
            number_facts(estimate, scale), low=low, high=high, uncorrected=scale.sign * estimate.uncorrected
        )
        return cls.of_facts(numbers, distribution_of(estimate, scale), name=estimate.selected_name, **more)

    @classmethod
    def of_facts(cls, numbers: Facts, distribution: Facts | None, **more: Any) -> Self:
        """The display of a page's number."""
        bars = "" if distribution is None else distribution_label(distribution.bootstraps, numbers.method)
        fields = {name: numbers[name] for name in ("metric", "value", "uncorrected", "low", "high", "label")}
        fields |= {"interval_label": numbers.interval_label, "distribution": distribution, "bar_label": bars}
        return cls(**fields | more)

    def _draw(self, ax: Any, line_kw: Style | None) -> None:
        text = f"{self.label} {self.metric.text(self.value)}"
        style = styled({"color": BLUE, "linewidth": 2.2, "label": text}, line_kw)
        self.value_line_ = ax.axvline(self.value, **style)
        self.band_ = self.bars_ = self.uncorrected_line_ = None
        if self.label != self.uncorrected_label:
            text = f"{self.uncorrected_label} {self.metric.text(self.uncorrected)}"
            style = {"color": VERMILLION, "linewidth": 2.2, "linestyle": (0, (5, 2)), "label": text}
            self.uncorrected_line_ = ax.axvline(self.uncorrected, **style)
        if self.low is not None or self.high is not None:
            text = self.metric.interval_text(self.interval_label, self.low, self.high)
            self.band_ = ax.axvspan(*self._ends_in_view(), color=BAND, label=text, zorder=0)
        if self.distribution is None:
            ax.set_yticks([])
            first, last = self._reach()
            margin = 0.08 * (last - first) or 0.08 * abs(first) or 1.0
            ax.set_xlim(first - margin, last + margin)
        else:
            style = {"fill": True, "color": SKY, "label": self.bar_label, "zorder": 1}
            self.bars_ = ax.stairs(self.distribution.counts, self.distribution.edges, **style)
            ax.set_ylabel("bootstraps")
            ax.set_ylim(bottom=0)
            ax.locator_params(axis="y", integer=True)
        score_axis(ax, "x", self.metric, knows_direction=self.knows_direction)

    def _ends_in_view(self) -> tuple[float, float]:
        """The ends of the interval, an open one where the other numbers end."""
        first, last = self._reach()
        return first if self.low is None else self.low, last if self.high is None else self.high

    def _reach(self) -> tuple[float, float]:
        """The least and the greatest number drawn."""
        numbers = [self.value, self.uncorrected, self.low, self.high]
        numbers += [] if self.distribution is None else [self.distribution.edges[0], self.distribution.edges[-1]]
        known = [number for number in numbers if number is not None and np.isfinite(number)]
        return min(known), max(known)


@registered("plot")
def most_useful_plot(result: Any, ax: Any = None, **kwargs: Any) -> CorrectedScoreDisplay | RankingDisplay:
    """The corrected score of an estimate, a search or its evaluation; without an estimate the configurations."""
    drawn: CorrectedScoreDisplay | RankingDisplay
    if isinstance(result, Estimate):
        drawn = CorrectedScoreDisplay.from_estimate(result, ax=ax, **kwargs)
    else:
        estimate = result.estimate_ if hasattr(result, "estimate_") else result.estimate
        display = RankingDisplay if estimate is None else CorrectedScoreDisplay
        drawn = display.from_search(result, ax=ax, **kwargs)
    return drawn
