"""ROC, precision-recall, calibration and decision curves of one configuration's predictions.

From a search they are of the winner's held-out predictions, uncorrected for its choice. From a validation they are
apparent and corrected for optimism.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from heldout._record import json_number
from heldout._text import number_text
from heldout._types import Floats
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.estimates.inputs import read_inputs
from heldout.estimates.paired.compare import index_of_name
from heldout.estimates.question import AGGREGATE_WORDS
from heldout.estimates.types import Estimate, decimals_for
from heldout.flags import Flag
from heldout.kernels.reference_curves import net_benefit, precision_recall_points
from heldout.metrics.base import Response, positive_of
from heldout.metrics.named import in_sentence, metric_words
from heldout.predictions import HeldOutPredictions
from heldout.protocols.validation.curves import calibration_curve, checked_thresholds, decision_curve, roc_curve
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.validation.replicates import Replicates
from heldout.report import diagnostics
from heldout.report.diagnostics import PredictedRows
from heldout.report.displays import base
from heldout.report.entries import Facts
from heldout.report.headline import is_ensemble
from heldout.result import Evaluation
from heldout.scales import BAND, BLUE, MORE_SERIES, MUTED, SERIES, SKY, VERMILLION

CorrectedCurve: TypeAlias = tuple[Any, Floats, tuple[str, str], dict[str, Any]]
"""The curve of a validation, its x, the label of the apparent line, the end of the other label, and more fields."""
UNCORRECTED = "held-out, uncorrected"
"""What a curve of the winner of a search is."""


LINE: Mapping[str, Any] = {
    "label": "", "x": (), "y": (), "low": (), "high": (), "is_corrected": False, "as_points": False,
}  # fmt: skip
"""What a line has; coordinates are tuples of numbers, None where one is unknown.

``low``, ``high``: the ends of its band, or with ``as_points``, where its points are groups of rows, of the bar of
each point; empty without one.
"""


def looks(lines: Sequence[Facts]) -> list[dict[str, Any]]:
    """Colour and dashes of each line: no two kinds differ by colour alone."""
    series = SERIES + MORE_SERIES
    styles = [series[place % len(series)] for place in range(len(lines))]
    more: dict[str, Any] = {}
    if any(line.is_corrected for line in lines):
        styles = [(BLUE, ()) if line.is_corrected else (VERMILLION, (5, 2)) for line in lines]
    elif all(line.label.startswith("_") for line in lines[1:]):  # repeats, of which the first has a label
        styles, more = [series[0]] * len(lines), {"alpha": 1.0 if len(lines) == 1 else 0.55}
    return [
        {"color": colour, "linestyle": (0, dash) if dash else "-", "marker": "o" * line.as_points, **more}
        for (colour, dash), line in zip(styles, lines, strict=True)
    ]


def curve_lines(curves: Sequence[Facts], measure: str, of_search: str = "") -> tuple[Facts, ...]:
    """The lines of curves: one a class, or one a repeat, of which the first has the mean area."""
    lines = []
    for curve in curves:
        if curve.name:
            label = f"{base.class_text(curve.name)}: {measure} {curve.area:.3f}"
        elif curve.repeat:
            label = f"_repeat {curve.repeat}"  # which a legend leaves out
        else:
            what = f"mean {measure} of {len(curves)} repeats" if len(curves) > 1 else measure
            label = f"{UNCORRECTED}: {what} {np.mean([each.area for each in curves]):.3f}{of_search}"
        lines.append(Facts(LINE, label=label, x=curve.x, y=curve.y))
    return tuple(lines)


def probability_axes(ax: Any, x: str, y: str) -> None:
    """Two axes from 0 to 1 of the same scale."""
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", xlabel=x, ylabel=y)


def reference_line(ax: Any, x: Sequence[float], y: Sequence[float], label: str) -> None:
    """What a curve is compared with, dotted."""
    ax.plot(x, y, color=MUTED, linestyle=":", linewidth=1.4, label=label, zorder=1)


def text_of_search(rows: PredictedRows, metric: str) -> str:
    """The search's own numbers of a metric, to stand after that of all rows together; empty without any."""
    estimate = rows.estimates.get(metric)
    if estimate is None or not np.isfinite(estimate.value):
        return ""
    provenance = estimate.provenance
    how = AGGREGATE_WORDS.get(str(provenance.get("scale_of_value", provenance.get("aggregate"))), "")
    title = in_sentence(metric_words(metric)[0])
    numbers = f"{estimate.uncorrected:.3f} uncorrected, {estimate.value:.3f} corrected"
    return f"\n(the search's {title}{f', {how}' if how else ''}:\n{numbers})"


@dataclass(eq=False, repr=False)
class CurvesDisplay(base.TitledDisplay):
    """Lines over one x.

    A subclass says which lines rows have (``_from_rows``) and which a validation has (``_corrected_curve``), and
    draws what surrounds them (``_frame``).
    """

    lines: tuple[Facts, ...]
    name: str = ""
    note: str = ""
    caption: str = ""
    """What a page says below the curves of a validation."""
    _size = 5.4, 5.8
    _tasks: ClassVar[frozenset[TaskKind]] = frozenset({TaskKind.BINARY})
    _needed: ClassVar[str] = "probabilities (which 'neg_log_loss' and 'neg_brier_score' read)"
    _responses: ClassVar[frozenset[Response]] = frozenset({Response.PROBABILITIES})
    _read_as: ClassVar[str] = "log_loss"
    """A metric that reads these responses, by which a user's arrays are checked."""

    @classmethod
    def from_search(
        cls, search: Any, *, configuration: str | int | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the held-out predictions of a search's winner, or of another configuration.

        Parameters
        ----------
        search : fitted search or Evaluation
        configuration : str or int, optional
            Its name or index; the winner by default.
        ax : matplotlib Axes, optional
        **kwargs : dict
            Of ``plot``.

        Raises
        ------
        InputError
            When the search cannot be used, or kept no predictions of the kind that is needed.
        MissingExtraError
            When matplotlib is missing.
        """
        evaluation = base.evaluation_of(search)
        chosen = evaluation.winner if configuration is None else configuration
        index = configuration_index(evaluation.predictions.names, chosen)
        truth, predictions, weights = evaluation.shown_rows
        estimates = {} if index != evaluation.winner else _estimates_of_positive(evaluation, index)
        rows = PredictedRows(truth, predictions, index, weights, estimates)
        return cls._of(rows, "; search with a metric that reads them, beside your own").plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        configuration: str | int | None = None,
        classes: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw predictions that anyone made.

        Parameters
        ----------
        y_true : array-like of shape (N,)
        predictions : array-like, table or HeldOutPredictions
            As in ``ho.estimate``, of rows that the models had not seen.
        configuration : str or int, optional
            Of several: its name or index.
        classes, pos_label, sample_weight
            As in ``ho.estimate``.
        ax : matplotlib Axes, optional
        **kwargs : dict
            Of ``plot``.

        Raises
        ------
        InputError
            When the input cannot be used as it is.
        MissingExtraError
            When matplotlib is missing.
        """
        base.pyplot()
        if isinstance(predictions, HeldOutPredictions):  # drawn whatever their search estimated
            predictions = replace(predictions, question=None)
        inputs = read_inputs(
            y_true, base.in_columns(predictions), metric=cls._read_as, classes=classes, pos_label=pos_label,
            sample_weight=sample_weight,
        )  # fmt: skip
        names = inputs.predictions.names
        if configuration is None and len(names) > 1:
            raise InputError(
                f"there are {len(names)} configurations, and the plot is of one; name it, such as "
                f"`configuration={names[0]!r}`.",
                argument="configuration",
            )
        index = 0 if configuration is None else configuration_index(names, configuration)
        rows = PredictedRows(inputs.truth, inputs.predictions, index, inputs.question.sample_weight)
        return cls._of(rows).plot(ax, **kwargs)

    @classmethod
    def from_estimate(cls, estimate: Estimate, y_true: Any, predictions: Any, **kwargs: Any) -> Self:
        """Draw the configuration that an estimate selected, from the predictions that it was made of.

        Parameters
        ----------
        estimate : Estimate
        y_true, predictions, **kwargs
            As in ``from_predictions``.
        """
        base.checked_result(estimate, Estimate, "estimate", "ho.estimate or another function of heldout")
        if is_ensemble(estimate):
            raise InputError(
                f"the estimate is of an {estimate.selected_name}, and the plot is of one; draw one by "
                f"{cls.__name__}.from_predictions(..., configuration=0)."
            )
        return cls.from_predictions(y_true, predictions, configuration=estimate.selected, **kwargs)

    @classmethod
    def from_validation(
        cls, validation: Validation, *, of_class: Any = None, ax: Any = None, **settings: Any
    ) -> Self:
        """Draw a validated model: apparent, and corrected for optimism with its band.

        Parameters
        ----------
        validation : Validation
        of_class : label, optional
            Of a task of several classes: the one that is compared with the others.
        ax : matplotlib Axes, optional
        **settings : dict
            Of ``plot``; others are those of the validation's own curve, such as ``time`` of a survival task.

        Raises
        ------
        InputError
            When no such predictions were recorded.
        MissingExtraError
            When matplotlib is missing.
        """
        base.checked_result(validation, Validation, "validation", "ho.bootstrap_validate")
        styles = {name: settings.pop(name) for name in ("name", "line_kw") if name in settings}
        display = cls.of_replicates(validation.replicates, of_class=of_class, **settings)
        event = f", {display.name}" if display.name.startswith("event") else ""
        display.name = f"{validation.selected_name}{event}"
        return display.plot(ax, **styles)

    @classmethod
    def of_replicates(cls, replicates: Replicates, **settings: Any) -> Self:
        """The display of a validation's replicates, by the name of its class or time."""
        curve, x, labels, around = cls._corrected_curve(replicates, **settings)
        low, high, apparent, values = (
            tuple(map(json_number, getattr(curve, name).tolist()))
            for name in ("low", "high", "apparent", "corrected")
        )
        corrected = f"corrected for optimism, with {base.percent(curve.confidence_level)} band{labels[1]}"
        places = tuple(x.tolist())
        lines = (
            Facts(LINE, label=labels[0], x=places, y=apparent),
            Facts(label=corrected, x=places, y=values, low=low, high=high, is_corrected=True, as_points=False),
        )
        name = base.class_text(curve.name) if replicates.truth.kind.is_classification else curve.name
        caption = f"{around.pop('caption', '')} {curve.flags.get(Flag.CURVE_BEYOND_RANGE, '')}".strip()
        return cls(lines, name, caption=caption, **around)

    def _draw(self, ax: Any, line_kw: base.Style | None) -> None:
        self.lines_: list[Any] = []
        for line, look in zip(self.lines, looks(self.lines), strict=True):
            y, low, high = (np.array(values, dtype=float) for values in (line.y, line.low, line.high))
            if line.low and not line.as_points:
                ax.fill_between(line.x, low, high, color=BAND, zorder=0)
            style = base.styled({**look, "label": base.plain_text(line.label), "linewidth": 2}, line_kw)
            self.lines_ += ax.plot(line.x, y, **style)
            if line.low and line.as_points:
                ends = np.clip([y - low, high - y], 0, None)
                ax.errorbar(line.x, y, yerr=ends, fmt="none", ecolor=look["color"], elinewidth=1.4)
        self._frame(ax)

    @classmethod
    def _of(cls, rows: PredictedRows, advice: str = "") -> Self:
        """The display of rows; refused where they have no line, with the advice."""
        if rows.truth.kind not in cls._tasks:
            fitting = " and ".join(sorted(cls._tasks))
            raise InputError(f"{cls.__name__} is for {fitting} tasks, and this one is {rows.truth.kind}.")
        display = cls._from_rows(rows)
        if not display.lines:
            held = rows.responses
            if cls._responses.isdisjoint(held):
                has = f"{', '.join(held)} only{advice}" if held else "no predictions"
                raise InputError(f"{cls.__name__} needs {cls._needed}, and {rows.name} has {has}.")
            raise InputError(f"{cls.__name__} needs predicted rows of every class, and there are none of some.")
        return display

    def named(self, rows: PredictedRows, least: str = "") -> Self:
        """The display with the configuration and what it is of: the class of two, or several against the others.

        ``least`` is by which some of many classes were chosen.
        """
        self.name = rows.name
        repeats, n, n_drawn = rows.predictions.n_repeats, rows.truth.n_classes, len(self.lines)
        if rows.is_binary:
            self.note = f"{base.class_text(str(rows.truth.pos_label))} is positive"
        else:
            first = f", first of {repeats} repeats" if repeats > 1 else ""
            some = f"\nthe {n_drawn} of {n} classes with the smallest {least}" if n_drawn < n else ""
            self.note = f"each against the other classes, {UNCORRECTED}{first}{some}"
        return self

    @classmethod
    def _from_rows(cls, rows: PredictedRows) -> Self:
        raise NotImplementedError

    @classmethod
    def _corrected_curve(cls, replicates: Replicates, **settings: Any) -> CorrectedCurve:
        raise NotImplementedError

    def _frame(self, ax: Any) -> None:
        raise NotImplementedError


def _estimates_of_positive(evaluation: Evaluation, index: int) -> dict[str, Estimate]:
    """The search's estimates of a configuration by metric, without metrics that call another class positive."""
    truth, found = evaluation.task.truth, dict[str, Estimate]()
    for scorer, estimate in evaluation.estimates.items():
        metric = evaluation.metrics[scorer]
        if metric is not None and estimate.selected == index and positive_of(metric, truth) == truth.positive:
            found[estimate.metric] = estimate
    return found


def configuration_index(names: Sequence[str], configuration: Any) -> int:
    """The place of a configuration, from its name or its place.

    Raises InputError when there is none.
    """
    if isinstance(configuration, str):
        return index_of_name(configuration, names)
    is_place = isinstance(configuration, int | np.integer) and not isinstance(configuration, bool)
    if not is_place or not 0 <= configuration < len(names):
        raise InputError(
            f"configuration must be the name of a configuration or its index from 0 to {len(names) - 1}, got "
            f"{configuration!r}."
        )
    return int(configuration)


class RankCurvesDisplay(CurvesDisplay):
    """Curves of how rows are ranked, of two classes or of each against the others."""

    _tasks: ClassVar = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    _responses: ClassVar = frozenset({Response.DECISION, Response.PROBABILITIES})
    _read_as: ClassVar = "average_precision"
    _needed: ClassVar = "decisions or probabilities (which 'roc_auc' and 'neg_log_loss' read)"
    _metric: ClassVar[str]  # whose value is the area below a curve
    _measure: ClassVar[str]  # which a legend calls so
    _points: ClassVar[Any]

    @classmethod
    def of_points(cls, curves: Sequence[Facts], of_search: str = "") -> Self:
        """The display of these curves; ``of_search``: the search's own numbers."""
        return cls(curve_lines(curves, cls._measure, of_search))

    @classmethod
    def _from_rows(cls, rows: PredictedRows) -> Self:
        curves = diagnostics.class_curves(rows, cls._points)
        return cls.of_points(curves, text_of_search(rows, cls._metric)).named(rows, f"{cls._measure}s")


@dataclass(eq=False, repr=False)
class RocCurveDisplay(RankCurvesDisplay):
    """The ROC curve: sensitivity over false positive rate.

    Made by ``from_search``, ``from_estimate``, ``from_predictions`` or ``from_validation``. Of a binary task there
    is a curve for each repeat, of several classes one for each class against the others. The curves of a search are
    uncorrected; if it scored ROC AUC, the legend has the corrected area too.

    Parameters
    ----------
    lines : tuple of Facts
    name : str
        Of the configuration.
    note : str
        Below the title: which class is positive, or what the curves of several classes have in common.
    caption : str
        What a page says below the curves of a validation.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib artists

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> scores = np.array([0.1, 0.4, 0.35, 0.8])
    >>> display = ho.plots.RocCurveDisplay.from_predictions([0, 0, 1, 1], scores)
    >>> display.lines[0].label
    'held-out, uncorrected: area 0.750'
    """

    _metric: ClassVar = "roc_auc"
    _measure: ClassVar = "area"
    _points: ClassVar = staticmethod(diagnostics.thinned_roc_points)

    @classmethod
    def _corrected_curve(cls, replicates: Replicates, **settings: Any) -> CorrectedCurve:
        curve = roc_curve(replicates, **settings)
        areas = f"apparent: area {curve.area_apparent:.3f}", f": area {curve.area_corrected:.3f}"
        return curve, curve.false_positive_rate, areas, {}

    def _frame(self, ax: Any) -> None:
        reference_line(ax, (0, 1), (0, 1), "guessing")
        probability_axes(ax, "false positive rate (lower is better)", "sensitivity (higher is better)")


@dataclass(eq=False, repr=False)
class PrecisionRecallDisplay(RankCurvesDisplay):
    """Precision over recall, and the precision of guessing.

    Made by ``from_search``, ``from_estimate`` or ``from_predictions``. Of a binary task there is a curve for each
    repeat, of several classes one for each class against the others. The curves are uncorrected; if a search scored
    average precision, the legend has the corrected one too.

    Parameters
    ----------
    lines : tuple of Facts
    name : str
        Of the configuration.
    note : str
        Below the title: which class is positive, or what the curves of several classes have in common.
    caption : str
        What a page says below the curves of a validation.
    prevalence : float or None
        Share of the positive rows, the precision of guessing; None for several classes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib artists

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> scores = np.array([0.1, 0.4, 0.35, 0.8])
    >>> display = ho.plots.PrecisionRecallDisplay.from_predictions([0, 0, 1, 1], scores)
    >>> display.lines[0].label, display.prevalence
    ('held-out, uncorrected: average precision 0.833', 0.5)
    """

    prevalence: float | None = None
    _metric: ClassVar = "average_precision"
    _measure: ClassVar = "average precision"
    _points: ClassVar = staticmethod(precision_recall_points)

    @classmethod
    def of_points(cls, curves: Sequence[Facts], of_search: str = "") -> Self:
        display = super().of_points(curves, of_search)
        display.prevalence = curves[0].prevalence if curves and not curves[0].name else None
        return display

    @classmethod
    def from_validation(cls, validation: Validation, **settings: Any) -> Self:
        """Not offered: a validation corrects ROC, calibration and decision curves.

        Raises
        ------
        InputError
            Always, with what to draw in its place.
        """
        raise InputError(
            "a validation does not correct precision against recall for optimism; draw ho.plots.RocCurveDisplay, "
            "or average_precision in ho.plots.CorrectedScoreDisplay."
        )

    def _frame(self, ax: Any) -> None:
        for line in self.lines_:
            line.set_drawstyle("steps-pre")
        if self.prevalence is not None:
            reference_line(ax, (0, 1), (self.prevalence,) * 2, f"guessing: {self.prevalence:.3f} are positive")
        probability_axes(ax, "recall (higher is better)", "precision (higher is better)")


BARS = 0.12
"""Height of the highest bar of the histogram, of the height of the plot."""


@dataclass(eq=False, repr=False)
class CalibrationDisplay(CurvesDisplay):
    """Observed share over predicted probability, with how often each probability is predicted along the bottom.

    Made by ``from_search``, ``from_estimate``, ``from_predictions`` or ``from_validation``. Of a search and of
    predictions these are groups of rows with Wilson's 95 % intervals, uncorrected; of a validation the smoothed
    curve, apparent and corrected for optimism.

    Parameters
    ----------
    lines : tuple of Facts
    name : str
        Of the configuration.
    note : str
        Below the title: which class is positive.
    caption : str
        What a page says below the curves of a validation.
    histogram : tuple of float
        Rows by prediction, in equal steps of ``ends``; empty without.
    ends : (float, float)
        The range of both axes.
    is_probability : bool
        Whether probabilities are predicted, rather than the values of a regression.
    groups : tuple of (float, float)
        Of a validation: groups of rows as (predicted, observed), uncorrected.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib artists

    Examples
    --------
    Of ten rows with .2, two are positive, and of ten with .8 eight.

    >>> import numpy as np, heldout as ho
    >>> y = np.array([1, 1, *[0] * 8, *[1] * 8, 0, 0])
    >>> display = ho.plots.CalibrationDisplay.from_predictions(y, np.repeat([0.2, 0.8], 10))
    >>> np.round(display.lines[0].x, 3).tolist(), np.round(display.lines[0].y, 3).tolist()
    ([0.2, 0.8], [0.2, 0.8])
    """

    histogram: tuple[float, ...] = ()
    ends: tuple[float, float] = (0.0, 1.0)
    is_probability: bool = True
    groups: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of_groups(cls, calibration: Facts) -> Self:
        """The display of these groups of rows."""
        names = {"x": "predicted", "y": "observed", "low": "low", "high": "high"}
        columns = {side: tuple(group[name] for group in calibration.groups) for side, name in names.items()}
        label = f"groups of rows with 95 % intervals,\n{UNCORRECTED}"
        line = Facts(label=label, **columns, is_corrected=False, as_points=True)
        return cls((line,), histogram=calibration.histogram)

    @classmethod
    def _from_rows(cls, rows: PredictedRows) -> Self:
        calibration = diagnostics.calibration_of(rows)
        return cls((), rows.name) if calibration is None else cls.of_groups(calibration).named(rows)

    @classmethod
    def _corrected_curve(cls, replicates: Replicates, **settings: Any) -> CorrectedCurve:
        curve = calibration_curve(replicates, **settings)
        is_probability = replicates.truth.kind is not TaskKind.REGRESSION
        groups = tuple((group.predicted, group.observed) for group in curve.groups)
        ends = (0.0, 1.0)
        if not is_probability:
            shown = np.concatenate([curve.of_rows, curve.apparent, curve.corrected, np.ravel(groups)])
            ends = float(np.nanmin(shown)), float(np.nanmax(shown))
        counts = np.histogram(curve.of_rows, bins=20, range=ends)[0]
        decimals = decimals_for(curve.mean_absolute_error)
        mean, most = (number_text(value, decimals) for value in (curve.mean_absolute_error, curve.quantile_90))
        caption = (
            f"The distance of predictions from the corrected line is {mean} on average, and less than {most} for "
            "nine in ten."
        )
        bars = tuple(counts.astype(float).tolist())
        around: dict[str, Any] = {"histogram": bars, "ends": ends, "groups": groups, "caption": caption}
        around["is_probability"] = is_probability
        return curve, curve.predicted, ("apparent", ""), around

    def _frame(self, ax: Any) -> None:
        low, high = self.ends
        reference_line(ax, self.ends, self.ends, "perfect")
        if self.groups:
            style = {"color": MUTED, "markersize": 5, "zorder": 1, "label": "groups of rows, uncorrected"}
            ax.plot(*zip(*self.groups, strict=True), "o", **style)
        if self.is_probability:
            probability_axes(ax, "predicted probability", "observed share")
        else:
            ax.set_xlabel("predicted value")
            ax.set_ylabel("observed value")
        if self.histogram:
            step = (high - low) / len(self.histogram)
            heights = BARS * np.array(self.histogram) / max(self.histogram)
            left = low + step * np.arange(len(self.histogram))
            ax.bar(
                left, heights, width=0.9 * step, align="edge", color=SKY, zorder=0.6,
                transform=ax.get_xaxis_transform(), label="rows by prediction",
            )  # fmt: skip


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(CurvesDisplay):
    """Net benefit over the threshold probability from which one acts, beside acting on all rows and on none.

    Made by ``from_search``, ``from_estimate``, ``from_predictions`` or ``from_validation``. Of a search and of
    predictions it is uncorrected, of a validation apparent and corrected for optimism (Vickers and Elkin 2006).

    Parameters
    ----------
    lines : tuple of Facts
    name : str
        Of the configuration.
    act_on_all : tuple of float
        Net benefit of acting on every row, at the thresholds of the first line.
    outcome : str
        The class, or event, that one would act on.
    note : str
        A sentence under the title.
    caption : str
        What a page says below the curves of a validation.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib artists

    Examples
    --------
    Acting above .5 reaches both positive rows and one other: (2 - 1) / 4.

    >>> import numpy as np, heldout as ho
    >>> display = ho.plots.DecisionCurveDisplay.from_predictions([0, 0, 1, 1], np.array([0.1, 0.6, 0.7, 0.8]))
    >>> display.lines[0].x[49], display.lines[0].y[49]
    (0.5, 0.25)
    """

    act_on_all: tuple[float, ...] = ()
    outcome: str = ""

    @classmethod
    def _from_rows(cls, rows: PredictedRows) -> Self:
        points, probabilities = checked_thresholds(None), rows.responses.get(Response.PROBABILITIES)
        observed, weights = rows.positive.astype(np.float64), rows.weights
        benefits, shares = [], []
        for predicted in () if probabilities is None else probabilities.T:
            present = ~np.isnan(predicted) & (weights > 0)
            if present.any():
                benefits.append(net_benefit(observed[present], predicted[present], weights[present], points))
                shares.append(float(np.average(observed[present], weights=weights[present])))
        if not benefits:
            return cls((), rows.name)
        share, repeats = float(np.mean(shares)), rows.predictions.n_repeats
        of_all = share - (1 - share) * points / (1 - points)
        mean = f", mean of {repeats} repeats" if repeats > 1 else ""
        label = f"acting on predictions, {UNCORRECTED}{mean}"
        line = Facts(LINE, label=label, x=tuple(points.tolist()), y=tuple(np.mean(benefits, axis=0).tolist()))
        return cls((line,), rows.name, act_on_all=tuple(of_all.tolist()), outcome=str(rows.truth.pos_label))

    @classmethod
    def _corrected_curve(cls, replicates: Replicates, **settings: Any) -> CorrectedCurve:
        curve = decision_curve(replicates, **settings)
        around = {"act_on_all": tuple(curve.act_on_all.tolist()), "outcome": curve.name}
        return curve, curve.threshold, ("acting on predictions, apparent", ""), around

    def _frame(self, ax: Any) -> None:
        x = self.lines[0].x
        ax.plot(x, self.act_on_all, color="black", linestyle="--", linewidth=1.2, label="acting on all rows")
        reference_line(ax, (0, 1), (0, 0), "acting on none")
        top = max(np.nanmax(np.array(line.y, dtype=float)) for line in self.lines)
        ax.set_ylim(-0.25 * top if top > 0 else None, max(1.15 * top, self.act_on_all[0]) if top > 0 else None)
        ax.set_xlim(0, 1)
        ax.set_xlabel("probability from which one acts")
        of = f" on {base.class_text(self.outcome)}" if self.outcome else ""
        ax.set_ylabel(base.plain_text(f"net benefit of acting{of},\ntrue positives a row (higher is better)"))
