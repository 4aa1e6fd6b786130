"""Two-part methods: choose on a first part of the rows, bound the chosen one on the others.

The bound is honest since its rows took no part in the choice; the price is that they took none. Where the first
part sends several finalists on, the second one chooses among them, and the bound corrects for that choice: by a
smaller tail for each (Šidák), or as the method itself knows.

All bounds are of a share between 0 and 1 of which more is better: the area under the ROC curve of two classes, or
accuracy (``heldout.metrics.ranking.reading_of``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import ndtri

from heldout._streams import stream
from heldout._types import Array, Booleans, Counts, Floats, Indices, Weightings
from heldout.data.checks import check_number, checked_flag
from heldout.data.task import TaskKind, Truth, labels_text
from heldout.errors import InputError
from heldout.estimates.base import PREDICTIONS, Method, conclude, no_value
from heldout.estimates.data_flags import flags_of_dependence
from heldout.estimates.evidence import Candidates, RowTable, needs_independent_rows, needs_one_configuration
from heldout.estimates.question import Settings
from heldout.estimates.types import Estimate, Interval
from heldout.flags import Flag
from heldout.metrics.base import Metric, Statistic, is_pair_based, oriented
from heldout.metrics.ranking import Reading, Share, reading_of
from heldout.selection.base import NONE_CHOSEN, SelectionFailedError
from heldout.selection.best import tie_exactly

MOST_ATTEMPTS = 1000

Rows = Indices


class Parts(NamedTuple):
    """Row numbers of the part that chooses and of the part that is scored."""

    first: Rows
    second: Rows


def split(truth: Truth, evaluation_share: float, entropy: int) -> Parts:
    """Draw the second part: of a classification, the share of each class, rounded (half up).

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> parts = split(truth_of([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, entropy=0)
    >>> len(parts.first), parts.second.size, np.union1d(*parts).size
    (6, 2, 8)
    """
    everyone = np.arange(truth.n_rows)
    if evaluation_share == 1:
        return Parts(everyone[:0], everyone)
    generator = np.random.Generator(np.random.Philox(stream(entropy, "splits")))
    return _parts(everyone, [generator.permutation(rows) for rows in _classes(truth)], evaluation_share)


def split_at_random(truth: Truth, evaluation_share: float, entropy: int, folds: Sequence[Rows]) -> Parts | None:
    """Draw the second part from all rows, again until both parts hold each class and the first each one of a fold.

    As Paraschakis et al. (2024) drew it. None where a thousand draws did not.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> parts = split_at_random(truth_of([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, 0, [])
    >>> len(parts.first), len(parts.second)
    (6, 2)
    >>> split_at_random(truth_of([0, 0, 0, 0, 0, 0, 0, 1]), 0.25, 0, []) is None
    True
    """
    everyone = np.arange(truth.n_rows)
    if evaluation_share == 1:
        return Parts(everyone[:0], everyone)
    generator = np.random.Generator(np.random.Philox(stream(entropy, "splits at random")))
    classes = _classes(truth)
    kept = [both for fold in folds for rows in classes if (both := np.intersect1d(fold, rows)).size]
    for _ in range(MOST_ATTEMPTS):
        parts = _parts(everyone, [generator.permutation(everyone)], evaluation_share)
        first = np.isin(everyone, parts.first)
        in_both = all(first[rows].any() and not first[rows].all() for rows in classes)
        if in_both and all(first[rows].any() for rows in kept):
            return parts
    return None


def _classes(truth: Truth) -> list[Rows]:
    return [np.flatnonzero(truth.values == code) for code in range(truth.n_classes)] or [np.arange(truth.n_rows)]


def _parts(everyone: Rows, shuffled: Sequence[Rows], share: float) -> Parts:
    evaluated = np.sort(np.concatenate([rows[: math.floor(share * len(rows) + 0.5)] for rows in shuffled]))
    return Parts(np.setdiff1d(everyone, evaluated), evaluated)


FEW_OF_A_CLASS = 10


@dataclass(frozen=True, eq=False)
class SecondPart:
    """The finalists on the rows that the bound is computed from."""

    reading: Reading
    truth: Truth  # of n rows
    predictions: Array  # (n, m, R): of the m finalists
    statistics: tuple[Statistic, ...]  # the reported metric bound to them, one a repeat
    settings: Settings
    final: int = field(default=-1)  # the finalist whose bound is wanted; by default the first best of them

    @property
    def n_rows(self) -> int:
        return self.truth.n_rows

    @property
    def n_finalists(self) -> int:
        return int(self.predictions.shape[1])

    @property
    def n_repeats(self) -> int:
        return int(self.predictions.shape[2])

    @cached_property
    def positive(self) -> Booleans:
        """(n,): rows of the positive class."""
        return np.asarray(self.truth.values == self.truth.positive)

    @cached_property
    def right(self) -> Floats:
        """(n, m): how often, over the repeats, the label is right."""
        return np.asarray((self.predictions == self.truth.values[:, None, None]).mean(axis=2))

    @property
    def correct(self) -> Floats:
        """(n,): how often the final's label is right."""
        return self.right[:, self.final]

    @property
    def n_right(self) -> int:
        """How many rows the final's label is right in (in any repeat)."""
        return int(np.count_nonzero(self.correct))

    @property
    def counted(self) -> bool:
        """Whether shares are of rows that are right or wrong once: a bootstrap's is a binomial."""
        return self.reading.share is Share.ACCURACY and bool(np.isin(self.right, (0.0, 1.0)).all())

    @cached_property
    def observed(self) -> Floats:
        """(m,): the finalists' shares on all rows of the part."""
        return self.shares(np.ones((1, self.n_rows), dtype=np.uint8))[0]

    @property
    def value(self) -> float:
        """The final's share."""
        return float(self.observed[self.final])

    def shares(self, counts: Weightings) -> Floats:
        """(L, m): the mean over repeats of the finalists' shares under L weightings."""
        values = [self.reading.share_of(statistic.all(counts)) for statistic in self.statistics]
        return values[0] if len(values) == 1 else np.mean(values, axis=0)

    def lacks(self) -> str | None:
        """Why no method can compute a bound from these rows; None where one can."""
        if self.reading.share is Share.ACCURACY:
            return None if self.n_rows > 1 else f"the second part has {self.n_rows} row, and a bound needs 2"
        counts = np.bincount(self.positive, minlength=2)
        if counts.min() > 1:
            return None
        return f"the second part has {self._rarest(counts)}, and a bound needs 2"

    def few_of_a_class(self) -> dict[Flag, str]:
        """A flag where a class is too small for a normal approximation."""
        counts = np.bincount(self.positive, minlength=2)
        if counts.min() >= FEW_OF_A_CLASS:
            return {}
        return Flag.SMALL_SECOND_PART.of(rows=self._rarest(counts))

    def _rarest(self, counts: Indices) -> str:
        classes, code = self.truth.classes, self.truth.positive
        assert classes is not None and code is not None, "an area is of two classes"
        rare = int(counts.argmin())
        label = labels_text(classes[[code if rare else 1 - code]])
        return f"{counts[rare]} row{'' if counts[rare] == 1 else 's'} of class {label}"


def second_part(evidence: Candidates, reading: Reading, rows: Indices, columns: Indices) -> SecondPart:
    """The candidates in ``columns`` on the matrix's ``rows``."""
    truth = evidence.truth.rows(rows)
    predictions = evidence.predictions[np.ix_(rows, columns)]
    statistics = tuple(
        evidence.metric.statistic(truth, predictions[:, :, repeat]) for repeat in range(predictions.shape[2])
    )
    return SecondPart(reading, truth, predictions, statistics, evidence.settings)


class Tails(NamedTuple):
    """The chance that the truth lies below the interval, and above it; None where that end is open."""

    below: float | None
    above: float | None


class Bound(NamedTuple):
    """An interval for the final's share, within [0, 1].

    ``flags`` hold ``NO_BOUND`` where the ends are NaN.
    """

    low: float
    high: float
    standard_error: float | None = None
    flags: dict[Flag, str] = {}  # noqa: RUF012 (never changed)


def no_bound(reason: str) -> Bound:
    """Where the final has a score and no bound."""
    return Bound(float("nan"), float("nan"), flags=Flag.NO_BOUND.of(reason=reason))


def normal_bound(second: SecondPart, standard_error: float, tails: Tails) -> Bound:
    """The value ∓ z · standard error, within [0, 1]; flagged where a class has few rows."""
    low = 0.0 if tails.below is None else second.value + float(ndtri(tails.below)) * standard_error
    high = 1.0 if tails.above is None else second.value - float(ndtri(tails.above)) * standard_error
    return Bound(max(low, 0.0), min(high, 1.0), standard_error, second.few_of_a_class())


def indicator(rows: Rows, n_rows: int) -> Counts:
    """(1, n): once each of the rows."""
    counts = np.zeros((1, n_rows), dtype=np.uint8)
    counts[0, rows] = 1
    return counts


QUANTITY_TWO_PART = (
    "the performance on new rows, given these training sets, of the configuration that was chosen without the rows "
    "it is scored on"
)
QUANTITY_FINALISTS = (
    "the performance on new rows, given these training sets, of the best of several finalists that were chosen "
    "without the rows they are scored on"
)
QUANTITY_NAMED = (
    "the performance on new rows, given these training sets, of the configuration that was named beforehand"
)


class Chosen(NamedTuple):
    """The finalists (columns of candidates) with their second part, and which of them is the final one."""

    columns: Indices
    second: SecondPart

    @property
    def column(self) -> int:
        return int(self.columns[self.second.final])


class FirstPart(NamedTuple):
    """What the first part sent on: ``chosen`` is a sentence, with its flag, where nothing was."""

    parts: Parts | None
    chosen: Chosen | str
    flag: Flag = Flag.UNDEFINED


@dataclass(frozen=True)
class TwoPart(Method):
    """Choose on one part of the rows and bound on the other (Paraschakis et al. 2024, sections 3 and 4).

    Attributes
    ----------
    candidates : "best" or float
        The finalists, which the second part scores. "best": the configuration that the rule selects on the first
        part. A number: this share of all candidates, the best on the first part (at least one, and all that tie
        with the last). Of several finalists, the best on the second part is the final one, and the bound corrects
        for that choice.
    evaluation_share : float
        The share of rows in the second part. 1.0 takes all rows to bound a configuration that was named beforehand.
    configuration : str or int, optional
        With ``evaluation_share=1.0``, the configuration that was named before its predictions were seen, by name or
        index. A single one need not be named.
    within_classes : bool
        Whether to draw the second part within each class, which keeps the class shares. False draws it from all
        rows together, and again until both parts contain every class and the first part contains, in each fold,
        every class of that fold.
    """

    candidates: Literal["best"] | float = "best"
    evaluation_share: float = 0.25
    configuration: str | int | None = None
    within_classes: bool = True
    name = "two_part"
    reads = PREDICTIONS
    scored = "folds if known"

    shares = frozenset(Share)
    """What it can bound."""
    takes_repeats = True

    def __post_init__(self) -> None:
        best = isinstance(self.candidates, str) and self.candidates == "best"
        if not best:
            usual = "0.1 sends the best tenth to the second part, 'best' the best one"
            check_number("candidates", self.candidates, above=0, most=1, usual=usual)
        check_number("evaluation_share", self.evaluation_share, above=0, most=1, usual="0.25 is usual")
        checked_flag("within_classes", self.within_classes)
        named = self.configuration
        if isinstance(named, bool) or not isinstance(named, str | int | np.integer | None):
            raise InputError(f"configuration must be a name or an index, got {named!r}.")
        if named is not None and self.evaluation_share != 1:
            raise InputError(
                f"`configuration={named!r}` names the configuration to bound, so no rows are needed to select it; "
                f"use `evaluation_share=1.0` with it (got {self.evaluation_share!r})."
            )

    def unfit(self, evidence: RowTable) -> str | None:
        """Why it is not for this metric, task, matrix or question."""
        refused = self.unfit_metric(evidence.metric, evidence.truth.kind)
        if refused:
            return refused
        if evidence.settings.alternative not in self.alternatives:
            return (
                "it gives a lower bound only, so it needs `alternative='greater'` (got "
                f"'{evidence.settings.alternative}')"
            )
        if evidence.aggregate == "within" and is_pair_based(evidence.metric):
            return (
                "it bounds the score of all rows of the second part together, and `aggregate='within'` counts "
                "pairs of rows of one fold only; use `aggregate='pooled'`, or method 'bbc'"
            )
        return (
            unfit_rows(evidence, self.takes_repeats)
            or needs_one_configuration(evidence)
            or self._unfit_choice(evidence)
        )

    def unfit_metric(self, metric: Metric, kind: TaskKind = TaskKind.BINARY) -> str | None:
        """Why it is not for this metric (by default of two classes); None where it is."""
        reading = reading_of(metric, kind)
        if reading is None or reading.share not in self.shares:
            return f"it bounds {_listed(self.shares)}, and this is {metric.name}"
        return None

    def _unfit_choice(self, evidence: RowTable) -> str | None:
        if self.evaluation_share < 1:
            if self.candidates != "best" and not evidence.chooses_best_score:
                return (
                    f"`candidates={self.candidates!r}` ranks configurations by their score, which is not how "
                    f"'{evidence.rule.name}' chooses; use `candidates='best'`"
                )
            return None
        if self.configuration is None:
            if evidence.n_candidates == 1:
                return None
            return (
                f"with `evaluation_share=1.0` no rows are left to choose among {evidence.n_candidates} "
                "configurations; name one beforehand (`configuration=`, its name or index), or take a share below 1"
            )
        if self._named(evidence) in evidence.candidates:
            return None
        return (
            f"`configuration={self.configuration!r}` is none of the {evidence.n_candidates} candidates: "
            f"{_some([evidence.names[j] for j in evidence.candidates])}"
        )

    def estimate(self, evidence: Candidates) -> Estimate:
        """Choose on the first part, bound on the second; NaN with a flag where either cannot be done."""
        return self.bounded(evidence, self.first_part(evidence))

    def first_part(self, evidence: Candidates) -> FirstPart:
        """What the first part sends on: the same for all methods of one split and one ``candidates``."""
        reading = reading_of(evidence.metric, evidence.truth.kind)
        assert reading is not None, "unfit says so"
        parts = self._parts(evidence)
        if parts is None:
            rows = f"{evidence.truth.n_rows} rows"
            return FirstPart(
                None, f"no draw of {rows} left each class in both parts, and in each fold of the first"
            )
        try:
            return FirstPart(parts, self._chosen(evidence, reading, parts))
        except SelectionFailedError as error:
            return FirstPart(parts, str(error), Flag.SELECTION_NOT_REPLAYABLE)

    def bounded(self, evidence: Candidates, first: FirstPart) -> Estimate:
        """The estimate of what was chosen; NaN with a flag where nothing was, or there is no bound."""
        if isinstance(first.chosen, str):
            return no_value(evidence, self, first.chosen, flag=first.flag)
        assert first.parts is not None, "something was chosen"
        return self._concluded(evidence, first.parts, first.chosen)

    def _parts(self, evidence: Candidates) -> Parts | None:
        entropy = evidence.settings.entropy
        if self.within_classes:
            return split(evidence.truth, self.evaluation_share, entropy)
        folds = () if evidence.by_fold is None else evidence.by_fold.segments
        return split_at_random(evidence.truth, self.evaluation_share, entropy, [segment.rows for segment in folds])

    def _concluded(self, evidence: Candidates, parts: Parts, chosen: Chosen) -> Estimate:
        second, settings = chosen.second, evidence.settings
        level = settings.level
        tail = self._tail(1 - level, second.n_finalists)
        lacking = second.lacks()
        half = tail / 2
        tails = {"two-sided": Tails(half, half), "greater": Tails(tail, None), "less": Tails(None, tail)}
        bound = no_bound(lacking) if lacking else self._bound(second, tails[settings.alternative])
        reading = second.reading
        ends = sorted([reading.reported(bound.low), reading.reported(bound.high)])  # NaN keeps its place
        selected = int(evidence.candidates[chosen.column])
        value = reading.reported(second.value)
        flags = {**self._flags(evidence, parts, second, selected), **bound.flags}
        if np.isnan(value):
            flags = Flag.UNDEFINED.of(reason=lacking)
        quantity = QUANTITY_TWO_PART if second.n_finalists == 1 else QUANTITY_FINALISTS
        return conclude(
            evidence,
            self,
            value,
            # Where nothing was chosen nothing is corrected, and no difference of aggregates is called optimism.
            uncorrected=float(evidence.scores.observed()[chosen.column]) if len(parts.first) else value,
            interval=None if np.isnan(value) else Interval(ends[0], ends[1], level, settings.alternative),
            standard_error=bound.standard_error,
            selected=selected,
            flags=flags,
            provenance={
                "quantity": quantity if len(parts.first) else QUANTITY_NAMED,
                "evaluation_share": self.evaluation_share,
                "stratified": self.within_classes,
                "candidates": self.candidates if len(parts.first) else None,
                "n_rows_choosing": len(parts.first),
                "n_rows_evaluated": len(parts.second),
                "n_finalists": second.n_finalists,
                "level_for_each": 1 - tail,
                "aggregate_of_value": "pooled",
            },
        )

    def _flags(self, evidence: Candidates, parts: Parts, second: SecondPart, selected: int) -> dict[Flag, str]:
        flags = flags_of_dependence(evidence)
        total = len(parts.first) + len(parts.second)
        if evidence.n_candidates == 1 and len(parts.first):
            flags |= Flag.UNUSED_ROWS.of(unused=len(parts.first), total=total)
        if second.n_finalists > 1:
            flags |= Flag.BEST_OF_FINALISTS.of(finalists=second.n_finalists)
        if selected != evidence.winner:
            flags |= Flag.OTHER_CONFIGURATION.of(
                selected=evidence.names[selected],
                how=f"chosen by {len(parts.first)} of {total} rows" if len(parts.first) else "named beforehand",
                winner=evidence.names[evidence.winner],
            )
        return flags

    def _chosen(self, evidence: Candidates, reading: Reading, parts: Parts) -> Chosen | str:
        """The finalists and the final one, or why there is none."""
        if not len(parts.second):
            return f"{evidence.truth.n_rows} rows are too few to set {self.evaluation_share:.0%} aside"
        if not len(parts.first):
            columns = np.flatnonzero(evidence.candidates == self._named(evidence))
        else:
            columns = self._finalists(evidence, indicator(parts.first, evidence.truth.n_rows))
        if not columns.size:
            return (
                f"no configuration has a defined score on the {len(parts.first)} rows that choose (a metric or its "
                f"folds need {evidence.metric.needs})"
            )
        second = second_part(evidence, reading, parts.second, columns)
        return Chosen(columns, replace(second, final=_best_of_second(evidence, second, parts.second, columns)))

    def _named(self, evidence: RowTable) -> int:
        """The index of the configuration named, -1 where there is none of that name."""
        named = self.configuration
        if named is None:
            return int(evidence.candidates[0])
        if isinstance(named, str):
            return list(evidence.names).index(named) if named in evidence.names else -1
        return int(named)

    def _finalists(self, evidence: Candidates, counts: Counts) -> Indices:
        if self.candidates == "best":
            column = int(evidence.replay.choose(counts)[0])
            return np.array([] if column == NONE_CHOSEN else [column], dtype=np.intp)
        score = evidence.replay.scores[0]
        values = tie_exactly(oriented(score.metric, score.all(counts))[0])
        scores = np.sort(values[~np.isnan(values)])[::-1]
        if not scores.size:
            return np.array([], dtype=np.intp)
        wanted = max(math.ceil(float(self.candidates) * len(values) - 1e-9), 1)
        return np.flatnonzero(values >= scores[min(wanted, len(scores)) - 1])

    def _tail(self, tail: float, n_finalists: int) -> float:
        """The tail of each of m simultaneous intervals: 1 - (1 - tail)^(1/m) (Šidák 1967)."""
        return float(-np.expm1(np.log1p(-tail) / n_finalists))

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        """The interval of the final's share; at least two rows (of each class, for an area) are there."""
        raise NotImplementedError


def unfit_rows(evidence: RowTable, takes_repeats: bool) -> str | None:
    """Why the rows are none that a closed form holds for: groups, weights, repeats."""
    if dependent := needs_independent_rows(evidence):
        return dependent
    n_repeats = evidence.in_play.shape[1]
    if n_repeats > 1 and not takes_repeats:
        return f"it counts each row as right or wrong once, but here each has {n_repeats} predictions (repeats)"
    if not evidence.in_play.all():
        return "it needs every row predicted in every repeat"
    return None


def _best_of_second(evidence: Candidates, second: SecondPart, rows: Rows, columns: Indices) -> int:
    """The finalist with the best score on the second part, in the metric that chooses; the first of equal ones."""
    chooses = evidence.replay.scores[0]
    if chooses is evidence.scores:
        values = second.observed  # all rows together, as they are bounded
    else:
        counts = indicator(rows, evidence.truth.n_rows)
        values = oriented(chooses.metric, chooses.all(counts))[0, columns]
    return int(np.argmax(np.where(np.isnan(values), -np.inf, tie_exactly(values))))


def _listed(shares: frozenset[Share]) -> str:
    words = {Share.AUC: "roc_auc of two classes", Share.ACCURACY: "accuracy (or zero_one_loss)"}
    return " or ".join(words[share] for share in Share if share in shares)


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
