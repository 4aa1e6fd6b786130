"""BBC: bootstrap the held-out matrix, replay the selection on the drawn rows, score it on the others."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from heldout._text import is_one_of
from heldout._types import Floats
from heldout.data.checks import check_choice
from heldout.errors import InputError
from heldout.estimates import intervals
from heldout.estimates.base import OVER_TRAINING_SETS, MethodWords, conclude, no_value
from heldout.estimates.bootstrap import Resamples, RowBootstrap, Ties, bootstrap, failures_of, flags_of_draws
from heldout.estimates.control import control_of, flags_of_control, is_unbiased, provenance_of_control
from heldout.estimates.data_flags import flags_of_choice, flags_of_dependence
from heldout.estimates.evidence import TIES, TIES_SHARED, Candidates, RowTable
from heldout.estimates.least_width import with_least_width
from heldout.estimates.selection_optimism import SelectionOptimism, optimism_of
from heldout.estimates.types import Estimate, Interval
from heldout.flags import Flag
from heldout.metrics.base import needed_codes
from heldout.selection.base import SelectionFailedError

INTERVALS = ("percentile", "calibrated", "sampling")


QUANTITY = (
    f"{OVER_TRAINING_SETS} of the whole search: tuning on about 63 % distinct rows and then predicting rows that "
    "took no part in the choice"
)


@dataclass(frozen=True)
class BBC(RowBootstrap):
    """Bootstrap bias corrected cross-validation (Tsamardinos et al. 2018, algorithm 5, sections 4.1 and 4.2).

    For b = 1 .. B draw N rows with replacement, choose a configuration on them by the rule that chose the winner,
    and score that configuration on the rows that were not drawn. The value is the mean of the B scores and the
    interval their percentiles. A drawn row brings its predictions of all repeats; groups are drawn whole.

    Symbols: ``distribution`` holds the article's L_b (minus the control, if there is one), ``selected`` is its i*,
    and the replayed rule its css.

    The estimate is for models trained on the training part of a fold, chosen on about .632 N distinct rows, and so
    is somewhat pessimistic. The B scores are not the sampling distribution of the value: for means over rows they
    spread about 1.31 times as widely, so that the interval covers more often than its level. The calibrated
    interval corrects for that (papers/pages/intervals.md).

    Attributes
    ----------
    interval : "percentile", "calibrated" or "sampling"
        "percentile": the published interval. "sampling": that of ``Shrinkage``, extended to contain this value.
        "calibrated": a narrower one, with both ends drawn in towards the value by the factor by which out-of-bag
        scores spread wider than scores, and the better end then moved out by a third of the optimism, the most by
        which the value is pessimistic. In simulations with independent rows a percentile interval of 95 % covers
        about 98 % and this one about 95 %; with real K-fold fits, whose rows depend on each other through shared
        training rows, 91 to 99 % and 82 to 95 % (flag ``folds_dependent``). With fewer than about 50 rows and
        losses as skewed as squared errors, or fewer than about 10 rows of a class that the metric needs, keep the
        percentile interval, which covers at most its level there. Either interval is widened if rows are all alike,
        or nearly (flags ``no_spread``, ``little_spread``).
    control : "auto", True or False
        Whether to subtract from every score the bias of the metric on few rows: a root, a ratio or an area of the
        few rows that a bootstrap leaves out (of a fold) differs in expectation from that of all rows. The bias is
        measured on configurations that were not chosen for these rows. "auto" does so wherever this difference is
        not 0 in expectation: it is 0 for means of one loss per row (accuracy, squared error) and for areas and
        balanced accuracy over all rows together, as long as rows weigh the same. False is the published form. The
        interval is cut at the metric's range.
    stratify : bool
        Whether to draw rows within classes. The interval then ignores the sampling of the class shares, which is
        wrong for accuracy and the like: flagged.
    ties : "first" or "average"
        Which of several candidates with the best score on the drawn rows are scored on the others: the first, as in
        a search, or all, with their scores averaged, so that the value does not depend on the order of the
        candidates. For ``selection="best"``.

    Examples
    --------
    Among 50 columns of coin flips on 20 rows, many tie:

    >>> import heldout as ho
    >>> generator = np.random.default_rng(0)
    >>> y, columns = generator.integers(0, 2, 20), generator.integers(0, 2, (20, 50))
    >>> for ties in ("first", "average"):
    ...     ask = {"metric": "accuracy", "method": ho.estimates.BBC(ties=ties), "random_state": 0}
    ...     print(ties, *(f"{ho.estimate(y, p, **ask).value:.3f}" for p in (columns, columns[:, ::-1])))
    first 0.516 0.471
    average 0.488 0.488
    """

    stratify: bool = False
    interval: Literal["percentile", "calibrated", "sampling"] = "percentile"
    control: Literal["auto"] | bool = "auto"
    ties: Ties = "first"
    name = "bbc"
    sources = ("tsamardinos2018", "salmon2011")
    words = MethodWords(
        "Bootstrap bias correction",
        "bootstrap bias-corrected cross-validation",
        (
            "The selection was repeated on {bootstraps} bootstrap samples of the held-out predictions, each "
            "selected configuration was scored on the predictions outside its sample, and the estimate was the "
            "mean of these scores."
        ),
    )
    scores_out_of_bag = replays_dropping = True

    def __post_init__(self) -> None:
        check_choice("interval", self.interval, INTERVALS)
        super().__post_init__()
        if not is_one_of(self.control, ("auto",)) and not isinstance(self.control, bool | np.bool_):
            raise InputError(
                f"control must be 'auto', True or False, got {self.control!r}; 'auto' is usual, False as published."
            )
        check_choice("ties", self.ties, ("first", "average"))

    def unfit(self, evidence: RowTable) -> str | None:
        """Averages of ties are for a rule that chooses the best score."""
        if self.ties == "average" and not evidence.chooses_best_score:
            return (
                "`ties='average'` averages candidates of the same best score, and the rule "
                f"{evidence.rule.name} chooses by more than that; use `selection='best'`"
            )
        return super().unfit(evidence)

    def estimate(self, evidence: Candidates) -> Estimate:
        """Bootstrap the rows.

        Raises
        ------
        InputError
            When a bootstrap cannot be drawn on which the metric is defined.
        """
        takes_control = self._takes_control(evidence)
        try:
            drawn = bootstrap(evidence, stratify=self.stratify, keep=takes_control, ties=self.ties)
            optimism = optimism_of(evidence, stratify=self.stratify) if self.interval == "sampling" else None
        except SelectionFailedError as error:
            return no_value(evidence, self, str(error), flag=Flag.SELECTION_NOT_REPLAYABLE)
        scores, shares = drawn.scores, drawn.chosen.shares(len(evidence.candidates))
        control = control_of(evidence, drawn, stratify=self.stratify) if takes_control else None
        if control is not None and np.isfinite(control.size):
            scores = scores - control.size
        # An infinite loss is the worst there is, not an undefined one: to leave it out would reward it.
        defined = scores[~np.isnan(scores)]
        with np.errstate(over="ignore"):  # losses near the end of float64: the mean is infinite, and flagged
            value = float(defined.mean()) if defined.size else float("nan")
        flags = self._flags(evidence, drawn, len(scores) - len(defined))
        calibration = self._calibration(evidence)
        if optimism is None:
            interval = self._interval(evidence, defined, value, calibration)
        else:
            interval = _sampling_interval(evidence, optimism, value)
        reached = with_least_width(interval, evidence)
        least, greatest = evidence.metric.range  # beyond which a control may carry the value (flagged)
        return conclude(
            evidence,
            self,
            min(max(value, least), greatest),
            interval=reached.interval,
            distribution=scores,
            flags=flags | flags_of_control(evidence, control, value) | reached.flags,
            selection_frequency=evidence.of_configurations(shares),
            provenance={
                "quantity": QUANTITY,
                "n_bootstraps": evidence.settings.n_bootstraps,
                "stratified": self.stratify,
                "interval": self.interval,
                "shrinkage": None if calibration is None else calibration.shrinkage,
                "ties": TIES if self.ties == "first" else TIES_SHARED,
                "control": self.control,
                **provenance_of_control(control),
                "redrawn": drawn.redraws,
            },
        )

    def _takes_control(self, evidence: Candidates) -> bool:
        return bool(self.control) and not (self.control == "auto" and is_unbiased(evidence, stratify=self.stratify))

    def _interval(
        self, evidence: Candidates, defined: Floats, value: float, calibration: intervals.Calibration | None
    ) -> Interval | None:
        if calibration is None:
            interval = intervals.bootstrap_interval(defined, evidence.metric, evidence.settings)
            return None if interval is None else intervals.within_range(interval, evidence.metric)
        if not np.isfinite(value):
            return None  # nothing to draw in towards; the value is flagged
        drawn_in = intervals.calibrated_interval(
            defined,
            evidence.metric,
            evidence.settings,
            value=value,
            uncorrected=evidence.uncorrected,
            calibration=calibration,
        )
        return intervals.within_range(drawn_in, evidence.metric)

    def _calibration(self, evidence: Candidates) -> intervals.Calibration | None:
        if self.interval != "calibrated":
            return None
        weighed = evidence.scores.rows_of_weight
        truth = evidence.truth.rows(weighed)
        codes = range(truth.n_classes) if self.stratify else needed_codes(evidence.metric, truth)
        return intervals.calibration_of(
            evidence.independent_units[weighed],
            None if evidence.sample_weight is None else evidence.sample_weight[weighed],
            [truth.values == code for code in codes],
            stratified=self.stratify,
        )

    def _flags(self, evidence: Candidates, drawn: Resamples, undefined: int) -> dict[Flag, str]:
        flags = flags_of_choice(evidence)
        if self.interval == "calibrated":
            flags |= flags_of_dependence(evidence)
        if self.stratify:
            flags |= Flag.STRATIFIED.of()
        flags |= flags_of_draws(
            evidence,
            total=len(drawn.scores),
            undefined=undefined,
            why=failures_of(evidence),
            redraws=drawn.redraws,
        )
        undefined_share = 1 - drawn.defined_share
        if undefined_share > 0.5:
            flags |= Flag.MOSTLY_UNDEFINED_FOLDS.of(metric=evidence.metric.name, share=undefined_share)
        return flags


def _sampling_interval(evidence: Candidates, optimism: SelectionOptimism, value: float) -> Interval | None:
    """That of ``Shrinkage``, as far as the value."""
    if optimism.chosen is None or not np.isfinite(value):
        return None
    sign = 1 if evidence.metric.greater_is_better else -1
    center = evidence.uncorrected - sign * optimism.size
    return intervals.holding(value, optimism.interval(center, evidence.metric, evidence.settings), evidence.metric)


CALIBRATED_INTERVAL = (
    "Rows that were not drawn are fewer than all rows, so their scores spread wider. The interval was therefore "
    "narrowed towards the estimate (by a factor of {shrinkage:.2f}, less where rows are few). Its better end was "
    "then moved out by a third of the optimism, which is the most by which such an estimate is pessimistic."
)
