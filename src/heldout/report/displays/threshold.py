"""The choice of a decision threshold, with what bootstraps choose."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from heldout import _defaults
from heldout._streams import RandomState
from heldout._types import Booleans, Floats
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.estimates.bootstrap import draws_of, map_draws
from heldout.estimates.inputs import Inputs, read_inputs
from heldout.estimates.intervals import middle_of_columns
from heldout.estimates.methods import answer, method_of
from heldout.estimates.types import Estimate
from heldout.metrics.base import Response
from heldout.report.diagnostics import PredictedRows
from heldout.report.displays import base
from heldout.report.headline import interval_label
from heldout.scales import BAND, BLUE, ORANGE, VERMILLION, Scale, scale_of_metric
from heldout.selection.base import NONE_CHOSEN
from heldout.selection.threshold import Threshold

BINS = 40
BARS = 0.3
"""Height of the highest bar of the histogram, of the height of the plot."""
_CUT = {Response.DECISION: "decision function", Response.PROBABILITIES: "predicted probability"}


@dataclass(eq=False, repr=False)
class ThresholdChoiceDisplay(base.TitledDisplay):
    """The score at each decision threshold, the one chosen, and those that bootstraps choose.

    Made by ``from_search`` or ``from_predictions``, which tune the threshold together with the configuration. The
    curve is uncorrected; the legend has the score corrected for the choice of both.

    Parameters
    ----------
    metric : Scale
    estimate : Estimate
        Of the winner at its threshold, corrected for the choice of both.
    name : str
        Of the winner.
    response : Response
        What is cut: decisions or probabilities of the positive class.
    threshold : float
        The one that was chosen.
    positive : str
        The class of scores strictly above it.
    thresholds, scores, low, high : ndarray of shape (T,)
        Ascending: the winner's score at each threshold tried, and the percentiles of it on bootstrapped rows, for
        each threshold by itself. Uncorrected.
    confidence_level : float
    chosen : ndarray of shape (B,)
        The threshold that each bootstrap chose, of the winner or of another configuration; NaN for none.
    chose_winner : ndarray of shape (B,)
        Whether it was of the winner: thresholds of different models need not be on one scale.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    line_, band_, bars_, threshold_line_ : matplotlib artists
        ``bars_`` is None where no bootstrap chose the winner.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(300) < 0.2).astype(int)
    >>> scores = rng.normal(size=(300, 5)) + 1.5 * y[:, None]
    >>> display = ho.plots.ThresholdChoiceDisplay.from_predictions(y, scores, metric="f1", random_state=0)
    >>> bool(0.5 < display.threshold < 1.5), len(display.chosen)
    (True, 1000)
    """

    metric: Scale
    estimate: Estimate
    name: str
    response: Response
    threshold: float
    positive: str
    thresholds: Floats
    scores: Floats
    low: Floats
    high: Floats
    confidence_level: float
    chosen: Floats
    chose_winner: Booleans

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        metric: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Tune the threshold on the held-out predictions of a search, and draw the self.

        Parameters
        ----------
        search : fitted search or Evaluation
        metric : str or Metric, optional
            Of labels, to tune for; the metric that chose the winner by default.
        ax : matplotlib Axes, optional
        **kwargs : dict
            Of ``plot``.

        Raises
        ------
        InputError
            When the metric reads no labels, or the search kept no decisions or probabilities.
        MissingExtraError
            When matplotlib is missing.
        """
        evaluation = base.evaluation_of(search)
        task, found = evaluation.task, evaluation.predictions
        if found.part is not None:
            raise InputError("thresholds need the predictions of all rows; search with `keep_predictions=True`.")
        tuned = evaluation.metrics[evaluation.refit_metric] if metric is None else metric
        if task.truth.kind is not TaskKind.BINARY:
            raise InputError(f"{cls.__name__} is for binary tasks, and this one is {task.truth.kind}.")
        if not {Response.DECISION, Response.PROBABILITIES} & found.responses.keys():
            raise InputError(
                f"a threshold cuts decisions or probabilities, and the search kept {', '.join(found.responses)} "
                "only; search with a metric that reads them too, such as 'roc_auc' or 'neg_log_loss'."
            )
        inputs = read_inputs(task.truth.labels(), found, metric=tuned, selection="threshold")
        return cls.of_inputs(inputs).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        metric: Any,
        selection: Any = "threshold",
        random_state: RandomState = None,
        ax: Any = None,
        **settings: Any,
    ) -> Self:
        """Tune the threshold on predictions that anyone made, and draw the self.

        Parameters
        ----------
        y_true, predictions, metric, selection, random_state
            As in ``ho.estimate``; predictions of one configuration may be of shape (N,).
        ax : matplotlib Axes, optional
        **settings : dict
            Others of ``ho.estimate``: ``folds``, ``groups``, ``n_bootstraps`` and so on.

        Raises
        ------
        InputError
            When the input cannot be used as it is.
        MissingExtraError
            When matplotlib is missing.
        """
        base.pyplot()
        inputs = read_inputs(
            y_true, base.in_columns(predictions), metric=metric, selection=selection, random_state=random_state,
            **settings,
        )  # fmt: skip
        return cls.of_inputs(inputs).plot(ax)

    @classmethod
    def of_inputs(cls, inputs: Inputs, method: Any = _defaults.METHOD) -> Self:
        """The choice of configuration and threshold, replayed on bootstrapped rows.

        Raises InputError when the rule tunes no threshold, or the method does not fit.
        """
        if not isinstance(inputs.question.rule, Threshold):
            raise InputError(
                f"selection must tune a threshold, got '{inputs.question.rule.name}'; use 'threshold' or "
                "ho.selection.Threshold(...)."
            )
        chosen_method = method_of(method)
        evidence = inputs.evidence(chosen_method)
        estimate = answer(chosen_method, evidence)
        thresholds, winner = evidence.thresholds, evidence.winner
        assert thresholds is not None, "a threshold is tuned on predictions"
        own = np.flatnonzero(evidence.candidates == winner)
        own = own[np.argsort(thresholds[own], kind="stable")]
        draws = draws_of(evidence)

        def block(first: int, last: int) -> tuple[Floats, Floats]:
            counts, _ = draws.block(first, last)
            return evidence.scores.all(counts)[:, own], evidence.replay.choose(counts).astype(np.float64)

        scores, columns = (np.concatenate(parts) for parts in zip(*map_draws(block, evidence), strict=True))
        columns = columns.astype(np.intp)
        none = columns == NONE_CHOSEN
        scale = scale_of_metric(evidence.metric, estimate)
        responses = PredictedRows(inputs.truth, inputs.predictions, winner).responses
        low, high = middle_of_columns(scale.sign * scores, evidence.settings.level)
        return cls(
            metric=scale,
            estimate=estimate,
            name=str(evidence.names[winner]),
            response=Response.DECISION if Response.DECISION in responses else Response.PROBABILITIES,
            threshold=float(thresholds[evidence.winner_column]),
            positive=str(inputs.truth.pos_label),
            thresholds=thresholds[own],
            scores=scale.sign * evidence.scores.observed()[own],
            low=low,
            high=high,
            confidence_level=evidence.settings.confidence_level,
            chosen=np.where(none, np.nan, thresholds[columns]),
            chose_winner=~none & (evidence.candidates[columns] == winner),
        )

    def _draw(self, ax: Any, line_kw: base.Style | None) -> None:
        scale = self.metric
        # Thresholds lie midway between scores of rows, at which the score of the configuration steps.
        style = {
            "color": BLUE, "linewidth": 2, "drawstyle": "steps-mid",
            "label": "score at each threshold, uncorrected",
        }  # fmt: skip
        (self.line_,) = ax.plot(self.thresholds, self.scores, **base.styled(style, line_kw))
        label = f"{base.percent(self.confidence_level)} bootstrap interval at each"
        style = {"color": BAND, "label": label, "zorder": 0, "step": "mid"}
        self.band_ = ax.fill_between(self.thresholds, self.low, self.high, **style)
        low, high = scale.closed_ends(self.estimate.interval)
        interval = scale.interval_text(interval_label(self.estimate), low, high)
        value = scale.text(scale.sign * self.estimate.value)
        text = (
            f"chosen: {self.threshold:.4g}, corrected score {value}{f'{chr(10)}({interval})' if interval else ''}"
        )
        style = {"color": VERMILLION, "linestyle": (0, (5, 2)), "linewidth": 2, "label": text}
        self.threshold_line_ = ax.axvline(self.threshold, **style)
        self._draw_chosen(ax)
        above = f"above it {base.class_text(self.positive)} is predicted"
        ax.set_xlabel(base.plain_text(f"threshold of the {_CUT[self.response]} ({above})"))
        base.score_axis(ax, "y", scale)

    def _draw_chosen(self, ax: Any) -> None:
        """The thresholds that bootstraps chose with the same configuration, along the bottom."""
        chosen = self.chosen[self.chose_winner]
        self.bars_ = None
        if not chosen.size:
            return
        counts, edges = np.histogram(chosen, bins=BINS, range=(self.thresholds[0], self.thresholds[-1]))
        share = base.percent(round(float(self.chose_winner.mean()), 2))
        of = f"{len(self.chosen):,} bootstraps ({share} with this configuration)"
        style = {"fill": True, "color": ORANGE, "alpha": 0.75, "zorder": 0.5, "label": f"chosen in {of}"}
        self.bars_ = ax.stairs(BARS * counts / counts.max(), edges, transform=ax.get_xaxis_transform(), **style)
