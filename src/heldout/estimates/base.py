"""Methods: evidence in, estimate out; the words that each has, and the estimates that they conclude with.

The spread of scores of splits is no standard error, because splits share training rows. Nadeau and Bengio widen the
variance according to the sizes of the parts.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heldout import _defaults
from heldout._types import Floats
from heldout.estimates.evidence import Evidence
from heldout.estimates.intervals import Spread, holding, interval_around
from heldout.estimates.question import Scored
from heldout.estimates.types import Alternative, Estimate, Interval, is_uncorrected
from heldout.flags import Flag
from heldout.metrics.base import Metric, is_reversed, sign_of, unsigned
from heldout.metrics.named import in_sentence, metric_words

OVER_TRAINING_SETS = "the expected performance, over training sets of the size of a fold's training part,"
GIVEN_ONE_TRAINING_SET = "the performance on new rows, given the one training part that all models were fitted on,"
TRAINED_AS_THESE = "the performance on new rows, with models trained as those behind these predictions,"


ALONE = (
    "With a single candidate there was no selection to correct, and the confidence interval came from {bootstraps} "
    "bootstrap samples of its held-out predictions."
)


@dataclass(frozen=True)
class MethodWords:
    """The names of a method, and a sentence on how it works.

    Attributes
    ----------
    title : str
        The heading of a row or section.
    name : str
        Its name within a sentence.
    how : str
        How the method arrives at its number, as a sentence of a methods section, with ``{bootstraps}`` for their
        number if it draws any; empty for a user's own method.
    """

    title: str
    name: str
    how: str

    def sentence(self, bootstraps: int | None, *, alone: bool = False) -> str:
        """How it arrived at its number; ``alone``: of one candidate, so that nothing was selected."""
        how = ALONE if alone and "{bootstraps}" in self.how else self.how
        return how.format(bootstraps=f"{bootstraps or 0:,}")


def quantity_given(quantity: str, n_splits: int | None, *, trained: bool = True) -> str:
    """The quantity, by how many splits made the predictions (None: not known), and whether rows trained anything.

    With a single one, as in a hold-out, there is no expectation over training sets.
    """
    if not trained:
        return quantity.replace(OVER_TRAINING_SETS, "the performance on new rows of the same kind,")
    if n_splits is None:
        return quantity.replace(OVER_TRAINING_SETS, TRAINED_AS_THESE)
    return quantity.replace(OVER_TRAINING_SETS, GIVEN_ONE_TRAINING_SET) if n_splits == 1 else quantity


def quantity_sentence(quantity: str, training_rows: float | None) -> str:
    """What a number estimates, from the noun phrase in its provenance."""
    size = "" if training_rows is None else f" Its models were trained on {training_rows:,.0f} rows."
    return f"It estimates {quantity}.{size}"


class Method:
    """Base class of estimate methods: an estimate from held-out predictions or fold scores.

    Attributes
    ----------
    name : str
        The name that results print.
    reads : frozenset of str
        "predictions", "fold scores" or both: any one of them is enough.
    sources : tuple of str
        Keys of ``heldout.references``.
    scored : "as asked", "as chosen", "folds" or "folds if known"
        The aggregate of the value: that of the user ("as asked"); that of the selection ("as chosen"), for a method
        that assumes that the winner has the best score; the mean over folds, always or if the folds are known.
    alternatives : tuple of str
        The intervals that it can give.
    has_interval : bool
        Whether it has an interval.
    draws : bool
        Whether it draws bootstraps, and so needs at least two rows of each class.
    draws_rows : bool
        Whether it draws rows of the predictions, or blocks of rows in the order of time.
    scores_out_of_bag : bool
        Whether it scores out-of-bag rows.
    replays_dropping : bool
        Whether it can repeat the dropping of a search in every bootstrap.
    needs_test_share : bool
        Whether it needs splits of repeated subsampling, and the share of rows that they test.
    takes_test_share : bool
        Whether it uses that share if it is known, but does not need it.
    needs_halves : bool
        Whether it needs the winner's scores in halves of the rows.
    needs_one_split : bool
        Whether it applies to a single hold-out only.
    words : MethodWords
        Its title, name and description.
    """

    name: str
    reads: frozenset[str]
    sources: tuple[str, ...] = ()
    scored: Scored = "as asked"
    alternatives: tuple[Alternative, ...] = ("two-sided", "greater", "less")
    has_interval: bool = True
    draws: bool = False
    draws_rows: bool = False
    scores_out_of_bag: bool = False
    replays_dropping: bool = False
    needs_test_share: bool = False
    takes_test_share: bool = False
    needs_halves: bool = False
    needs_one_split: bool = False

    @property
    def words(self) -> MethodWords:
        return MethodWords(self.name, self.name.replace("_", " "), "")

    def unfit_metric(self, metric: Metric) -> str | None:
        """Why the method does not apply to this metric, known before any fit; None if it does."""
        return None

    def unfit(self, evidence: Any) -> str | None:
        """Why the method does not apply to this evidence, as half a sentence; None if it does.

        A method that reads predictions alone receives a ``RowTable`` (before the first fit of a search too), and
        ``Candidates`` below; others ``Evidence``.
        """
        raise NotImplementedError(f"{type(self).__name__} has no unfit")

    def estimate(self, evidence: Any) -> Estimate:
        """The estimate for the winner."""
        raise NotImplementedError(f"{type(self).__name__} has no estimate")


@dataclass(frozen=True)
class Procedure(Method):
    """A procedure that makes fits of its own, as the estimate that it concludes with names it."""

    name: str
    sources: tuple[str, ...] = ()


PREDICTIONS, FOLD_SCORES = frozenset({"predictions"}), frozenset({"fold scores"})
"""What a method reads."""


def conclude(
    evidence: Evidence,
    method: Method,
    value: float,
    *,
    uncorrected: float | None = None,
    interval: Interval | None = None,
    standard_error: float | None = None,
    selected: int | None = None,
    distribution: Floats | None = None,
    selection_frequency: Floats | None = None,
    flags: Mapping[Flag, str] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Estimate:
    """Make the estimate of a method, with winner, flags and provenance from the evidence.

    Parameters
    ----------
    evidence : Evidence
    method : Method
        The method itself; its name and sources go into the estimate.
    value : float
        The corrected score, in the units and direction of the metric.
    uncorrected : float, optional
        By default the uncorrected score of the evidence.
    interval : Interval, optional
    standard_error : float, optional
    selected : int, optional
        The configuration, if the method chooses one itself; by default the winner of the evidence.
    distribution : array of shape (B,), optional
        The bootstrapped scores behind the interval.
    selection_frequency : array of shape (C,), optional
        How often each configuration was chosen.
    flags : mapping of Flag to str, optional
        What the reader must know, with its sentence; added to the flags of the evidence.
    provenance : mapping, optional
        Further entries of the estimate's ``provenance``.

    Returns
    -------
    Estimate
        Its ``optimism`` is positive if the uncorrected score is too good.
    """
    of_evidence = selected is None
    selected = evidence.winner if selected is None else selected
    said = {**evidence.flags, **(flags or {})}
    about, more = dict(evidence.provenance), dict(provenance or {})
    if not method.scores_out_of_bag:  # of rows that this method never scored
        said.pop(Flag.OUT_OF_BAG_POOLED, None)
        about.pop("aggregate_out_of_bag", None)
    if Flag.ROW_BLOCKS in said:  # a method that draws no rows takes them as independent
        said.pop(Flag.NOT_EXCHANGEABLE if method.draws_rows else Flag.ROW_BLOCKS, None)
    of_blocks = about.pop("block_sources", ())
    if not method.draws_rows:
        of_blocks = ()
        for name in ("block_kind", "block_length", "block_length_source"):
            about.pop(name, None)
    cited = [*method.sources, *of_blocks, *about.get("sources", ()), *evidence.metric.sources]
    if "quantity" in more:
        more["quantity"] = quantity_given(more["quantity"], evidence.n_splits, trained=evidence.metric.reads_truth)
    estimate = final_estimate(
        evidence.metric,
        method.name,
        value,
        # Methods on fold means, and those that may choose another configuration, have an uncorrected score of their
        # own.
        uncorrected=evidence.uncorrected if uncorrected is None else uncorrected,
        interval=interval,
        standard_error=standard_error,
        selected=selected,
        selected_name=evidence.winner_name if of_evidence else evidence.names[selected],
        n_rows_used=evidence.n_rows_used,
        distribution=distribution,
        selection_frequency=selection_frequency,
        flags=said,
        provenance={
            **about,
            **(evidence.choice_provenance if of_evidence else {}),
            "sources": list(dict.fromkeys(cited)),
            **more,
        },
        constant=evidence.constant,
    )
    little = _flag_of_little_to_correct(estimate) if evidence.was_selected else {}
    return replace(estimate, flags={**estimate.flags, **little})


MANY_ROWS = _defaults.ROWS_OF_BOOTSTRAP
LITTLE = 0.1
"""Of half the interval: an optimism that is less changes nothing that one would report."""


def _flag_of_little_to_correct(estimate: Estimate) -> dict[Flag, str]:
    """The flag of so many rows that the correction is small beside the noise; not of what was not corrected."""
    interval, optimism = estimate.interval, estimate.optimism
    if estimate.n_rows_used < MANY_ROWS or interval is None or is_uncorrected(estimate):
        return {}
    if not abs(optimism) < LITTLE * (interval.high - interval.low) / 2 < np.inf:
        return {}
    return Flag.LITTLE_TO_CORRECT.of(total=estimate.n_rows_used, optimism=optimism)


def final_estimate(
    metric: Metric,
    method: str,
    value: float,
    *,
    uncorrected: float,
    interval: Interval | None,
    flags: Mapping[Flag, str],
    constant: float | None,
    **named: Any,
) -> Estimate:
    """The estimate of a value: every method and protocol ends here, with the other fields by their names."""
    # One infinite loss makes a mean infinite; an infinite value would pass for a number in tables and JSON.
    if np.isinf(value):
        flags = {**flags, **Flag.UNDEFINED.of(reason=f"the {metric.name} is beyond what float64 holds")}
        value = float("nan")
    # After the value is final: an interval must hold it, and a value of NaN has none.
    interval = holding(value, interval, metric)
    return Estimate(
        value=value,
        interval=interval,
        uncorrected=uncorrected,
        optimism=uncorrected - value if metric.greater_is_better else value - uncorrected,
        metric=metric.name,
        method=method,
        flags={**flags, **flags_of_score(metric, value, interval, constant)},
        constant=constant,
        **named,
    )


def flags_of_score(
    metric: Metric, value: float, interval: Interval | None, constant: float | None
) -> dict[Flag, str]:
    """The flag of a scorer of the wrong sign, or of an estimate not clearly better than the best constant."""
    if is_reversed(metric):
        better = "lower" if metric.name == unsigned(metric).name else "higher"
        return Flag.REVERSED_SCORER.of(metric=unsigned(metric).name, better=better)
    if constant is None or np.isnan(value):
        return {}
    worst, what = value, "the value is"
    # The end that is worse decides: a value may beat the constant by chance where its interval does not.
    if interval is not None and interval.alternative != "less":  # that one is open on the worse side
        worst, what = interval.low if metric.greater_is_better else interval.high, "the interval reaches to"
    # Strictly better: an interval that ends exactly at the constant does not exclude it.
    if np.isnan(worst) or (worst > constant if metric.greater_is_better else worst < constant):
        return {}
    # A loss in its own direction and by its title, as report and card show it.
    sign = sign_of(metric)
    return Flag.NOT_BETTER_THAN_GUESSING.of(
        metric=in_sentence(metric_words(metric.name)[0]),
        constant=f"{sign * constant:.4g}",
        what=f"{what} {sign * worst:.4g}",
    )


def no_value(
    evidence: Evidence,
    method: Method,
    reason: str,
    *,
    flag: Flag = Flag.UNDEFINED,
    uncorrected: float | None = None,
) -> Estimate:
    """An estimate of NaN, with the flag that says why there is none."""
    return conclude(evidence, method, float("nan"), uncorrected=uncorrected, flags=flag.of(reason=reason))


QUANTITY_ALONE = (
    f"{OVER_TRAINING_SETS} of the winner as if it had been chosen beforehand; the interval is of this score and "
    "does not include the choice"
)


def flags_of_winner_alone(evidence: Evidence) -> dict[Flag, str]:
    """What to know of a winner that was selected, where neither value nor interval pays for it."""
    if not evidence.was_selected:
        return {}
    return {
        **Flag.UNCORRECTED.of(chosen_from=evidence.chosen_from),
        **Flag.SELECTION_IGNORED.of(),
    }


def estimate_around(
    evidence: Evidence,
    method: Method,
    spread: Spread,
    *,
    flags: Mapping[Flag, str] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Estimate:
    """The estimate of a winner alone: its score, and the interval around it.

    Where there is no standard error, the ends are NaN, and a flag gives the reason of ``spread``.
    """
    metric, settings = evidence.metric, evidence.settings
    if math.isnan(spread.center):
        return no_value(evidence, method, f"{metric.name} has no value", uncorrected=spread.center)
    said = flags_of_winner_alone(evidence) | dict(flags or {})
    has_error = math.isfinite(spread.standard_error)
    if not has_error:
        reason = spread.reason or f"the {metric.name} of the winner has no finite standard error"
        said |= Flag.NO_BOUND.of(reason=reason)
        spread = spread._replace(standard_error=math.nan)
    return conclude(
        evidence,
        method,
        spread.center,
        uncorrected=spread.center,
        interval=interval_around(spread, metric, settings.confidence_level, settings.alternative),
        standard_error=spread.standard_error if has_error else None,
        flags=said,
        provenance={"quantity": QUANTITY_ALONE, **(provenance or {})},
    )
