"""The result of comparing algorithms: their scores, the selections, the differences, the costs, the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.special import stdtr

from heldout._notebook import Strong, line, notes, record, table
from heldout._text import counted, number_text
from heldout._types import Floats
from heldout.estimates.spread import interval_around, nadeau_bengio
from heldout.estimates.types import Estimate, Interval, frame_of, is_uncorrected, json_number, json_safe
from heldout.methods_text import WithMethodsText
from heldout.metrics.custom import OpaqueMetric
from heldout.result import Evaluation

_DIFFERENCE = OpaqueMetric("difference of nested scores")
"""Greater is better, and without bounds."""

ARTICLE, GIVEN = "article", "given"


@dataclass(frozen=True)
class AlgorithmDifference:
    """How much better the nested score of one algorithm is than that of another.

    Attributes
    ----------
    first, second : str
    value : float
        Positive where ``first`` is better, for scores and losses alike: the difference of the nested scores.
    interval : Interval
        By the corrected t of Nadeau and Bengio (2003), which widens the variance because outer folds share training
        rows. Of this pair alone.
    p_value : float
        Two-sided, of the same t: that the two are equally good. Of this pair alone.
    adjusted_interval, adjusted_p_value : Interval, float
        The same by Bonferroni for all pairs together.
    is_relevant : bool or None
        Whether the difference is greater than the threshold of relevance; None without a difference or threshold.
    """

    first: str
    second: str
    value: float
    interval: Interval
    p_value: float
    adjusted_interval: Interval
    adjusted_p_value: float
    is_relevant: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "value": json_number(self.value),
            "interval": self.interval.to_dict(),
            "p_value": json_number(self.p_value),
            "adjusted_interval": self.adjusted_interval.to_dict(),
            "adjusted_p_value": json_number(self.adjusted_p_value),
            "is_relevant": self.is_relevant,
        }

    def __str__(self) -> str:
        words = {None: "", True: "; above the threshold", False: "; within the threshold"}[self.is_relevant]
        is_only = self.interval.confidence_level == self.adjusted_interval.confidence_level
        together = "" if is_only else f", for all pairs together {self.adjusted_interval}"
        return f"{self.first} against {self.second}: {self.words} {self.interval}{together}{words}"

    def _repr_html_(self) -> str:
        return line(str(self))

    @property
    def words(self) -> str:
        """How ``first`` compares, by the absolute difference: "0.0106 better", "0.26 worse" or "as good"."""
        if self.value == 0:
            return "as good"
        side = "" if np.isnan(self.value) else " better" if self.value > 0 else " worse"
        return f"{_number(abs(self.value))}{side}"


@dataclass(frozen=True)
class Relevance:
    """What the nested selection gains over the flat one, and the threshold from which a difference is relevant.

    Attributes
    ----------
    gain : float
        Nested score of the algorithm that nested scores select, minus that of the one that flat scores select; 0
        where they are the same, never negative.
    threshold : float
        Absolute differences above it are relevant.
    source : {"article", "given"}
        The rule of Wainer and Cawley, or a number of the user's own.
    is_relevant : bool or None
        None without a gain or a threshold.
    """

    gain: float
    threshold: float
    source: str
    is_relevant: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "gain": json_number(self.gain),
            "threshold": json_number(self.threshold),
            "source": self.source,
            "is_relevant": self.is_relevant,
        }

    def _repr_html_(self) -> str:
        return line(str(self))

    def __str__(self) -> str:
        if self.is_relevant is None:
            return "Whether the nested selection gains anything is unknown, because a score is missing."
        verdict = "is relevant" if self.is_relevant else "is not relevant"
        return (
            f"The nested selection gains {_number(self.gain)} over the flat one; the threshold is "
            f"{_number(self.threshold)}, so this {verdict}."
        )


def relevance_of(
    flat: Floats, nested: Floats, by_flat: int | None, by_nested: int | None, threshold: float | None
) -> Relevance:
    """The gain of the nested selection, against a threshold.

    Wainer and Cawley (2021, section 2.1, equations 11 and 12) take, for each of the two algorithms selected, the
    error of the nested score against the score on future rows, and the smaller of the two errors. There are no
    future rows here. Appendix A (first alternative analysis) has a form without them, |nested - flat|, which
    is the default.

    - ``flat``, ``nested`` (A,): oriented, greater = better.
    - ``by_flat``, ``by_nested``: the algorithms that they select.
    - ``threshold``: the user's own; None for that of the article.

    Examples
    --------
    >>> relevance_of(np.array([0.90, 0.89]), np.array([0.80, 0.85]), 0, 1, None)  # the smaller of .10 and .04
    Relevance(gain=0.05, threshold=0.04, source='article', is_relevant=True)
    """
    source = ARTICLE if threshold is None else GIVEN
    if by_flat is None or by_nested is None:
        return Relevance(float("nan"), float("nan") if threshold is None else threshold, source, None)
    gain = _rounded(nested[by_nested] - nested[by_flat])
    if threshold is None:
        # The smaller of the two errors, as the article has it; a missing score leaves no threshold.
        errors = [abs(nested[each] - flat[each]) for each in (by_flat, by_nested)]
        threshold = _rounded(min(errors)) if not np.isnan(errors).any() else float("nan")
    return Relevance(gain, threshold, source, _exceeds(gain, threshold))


def _rounded(value: float) -> float:
    """Without the last bits, in which equal means can differ."""
    return float(np.round(value, 14))


def _exceeds(value: float, threshold: float) -> bool | None:
    return None if np.isnan(value) or np.isnan(threshold) else bool(abs(value) > threshold)


def differences_of(
    names: Sequence[str],
    outer: Floats,
    test_share: float,
    threshold: float,
    confidence_level: float,
    nested: Floats | None = None,
) -> tuple[AlgorithmDifference, ...]:
    """The difference of every pair of algorithms.

    - ``outer`` (splits, A): nested scores, oriented; a fold without the score of one of the two is left out.
    - ``test_share``: test rows over training rows.
    - ``nested`` (A,): nested scores of all rows together, oriented, whose differences are in the middle of the
      intervals; by default the mean over folds is.
    """
    pairs = list(combinations(range(len(names)), 2))
    # Bonferroni: all intervals hold together if each holds at a share of the error.
    level = 1 - (1 - confidence_level) / max(len(pairs), 1)
    found = []
    for first, second in pairs:
        # Rounded, so that equal algorithms differ by exactly 0 and their spread is none.
        of_folds = np.round(outer[:, first] - outer[:, second], 14)
        center = None if nested is None else float(np.round(nested[first] - nested[second], 14))
        spread = nadeau_bengio(of_folds, test_share, center)
        t = abs(spread.center) / spread.standard_error
        p_value = float(2 * stdtr(spread.degrees_of_freedom, -t)) if np.isfinite(t) else float("nan")
        found.append(
            AlgorithmDifference(
                names[first],
                names[second],
                spread.center,
                interval_around(spread, _DIFFERENCE, confidence_level, "two-sided"),
                p_value,
                interval_around(spread, _DIFFERENCE, level, "two-sided"),
                # A p-value times the number of pairs is no probability above 1; NaN stays NaN.
                min(1.0, len(pairs) * p_value) if p_value == p_value else p_value,
                _exceeds(spread.center, threshold),
            )
        )
    return tuple(found)


@dataclass(frozen=True)
class FitCosts:
    """What the scores of an algorithm cost.

    Attributes
    ----------
    flat_fits : int
        One a configuration and fold. The corrected score needs no others.
    flat_seconds : float
        Of fitting and scoring, added up over all processes.
    nested_fits : int
        The further fits of the nested score: those inside the outer folds. The winner of an outer fold is not
        fitted again: the flat score has its fit already, unless it was dropped there.
    nested_seconds : float
    """

    flat_fits: int
    flat_seconds: float
    nested_fits: int
    nested_seconds: float

    def _repr_html_(self) -> str:
        return record(vars(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**json_safe(vars(self))}


@dataclass(frozen=True, eq=False)
class ComparedAlgorithm:
    """One algorithm: an estimator with its grid. Scores are in the metric's own direction.

    Attributes
    ----------
    name : str
    n_configurations : int
    flat : float
        The best mean over the folds, as ``GridSearchCV`` has it: optimistic, because it is the best.
    flat_name : str
        The configuration that has it; empty if none has a score.
    flat_params : dict
    corrected : Estimate or None
        The flat score, corrected for the choice among the configurations of this algorithm; None without a flat
        score.
    nested : float
        The mean of ``outer_scores``.
    nested_interval : Interval or None
        Of Nadeau and Bengio; None without a nested score.
    outer_scores : tuple of float
        One an outer fold: of the configuration chosen without it.
    outer_names : tuple of str
        The configurations chosen there; empty if none could be chosen.
    costs : FitCosts
    reason : str
        Why a score is missing; empty if none is.
    """

    name: str
    n_configurations: int
    flat: float
    flat_name: str
    flat_params: dict[str, Any]
    corrected: Estimate | None
    nested: float
    nested_interval: Interval | None
    outer_scores: tuple[float, ...]
    outer_names: tuple[str, ...]
    costs: FitCosts
    reason: str = ""

    @property
    def corrected_value(self) -> float:
        """The corrected score; NaN if there is none."""
        return float("nan") if self.corrected is None else self.corrected.value

    @property
    def corrected_interval(self) -> Interval | None:
        """The interval of the corrected score."""
        return None if self.corrected is None else self.corrected.interval

    def _repr_html_(self) -> str:
        rows = [
            ("flat", f"{self.flat:.4g}", "none"),
            ("corrected", f"{self.corrected_value:.4g}", self.corrected_interval or "none"),
            ("nested", Strong(f"{self.nested:.4g}"), self.nested_interval or "none"),
        ]
        said = notes([self.reason] if self.reason else [])
        return table(rows, head=("score", "value", "interval"), caption=self.name) + said

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found: dict[str, Any] = json_safe(
            {
                "name": self.name,
                "n_configurations": self.n_configurations,
                "flat": self.flat,
                "flat_name": self.flat_name,
                "flat_params": self.flat_params,
                "corrected": self.corrected_value,
                "corrected_interval": _interval_dict(self.corrected_interval),
                "nested": self.nested,
                "nested_interval": _interval_dict(self.nested_interval),
                "outer_scores": list(self.outer_scores),
                "outer_names": list(self.outer_names),
                "costs": self.costs.to_dict(),
                "reason": self.reason,
            }
        )
        return found


def _interval_dict(interval: Interval | None) -> dict[str, Any] | None:
    return None if interval is None else interval.to_dict()


@dataclass(frozen=True)
class AlgorithmSelections:
    """Which algorithm each score selects; None where no algorithm has that score.

    Attributes
    ----------
    flat, corrected, nested : str or None
    """

    flat: str | None
    corrected: str | None
    nested: str | None

    def _repr_html_(self) -> str:
        return line(self.sentence)

    @property
    def agree(self) -> bool:
        """Whether all three select the same."""
        return self.flat is not None and self.flat == self.corrected == self.nested

    @property
    def sentence(self) -> str:
        """What they select, and whether it is the same."""
        if self.agree:
            return f"Flat, corrected and nested scores select the same algorithm: {self.flat}."
        texts = (f"{name} selects {value or 'none'}" for name, value in vars(self).items())
        return f"The scores disagree: {', '.join(texts)}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**vars(self), "agree": self.agree}


@dataclass(frozen=True, eq=False, repr=False)
class AlgorithmComparison(WithMethodsText):
    """Algorithms compared on the same folds.

    Attributes
    ----------
    metric : str
    greater_is_better : bool
    method : str
        Of the corrected scores.
    algorithms : tuple of ComparedAlgorithm
        In the order in which they were given.
    selections : AlgorithmSelections
    differences : tuple of AlgorithmDifference
        One a pair of algorithms: of their nested scores, fold by fold.
    relevance : Relevance
        What the nested selection gains over the flat one, and whether that is relevant.
    overall : Estimate
        The score of the model to deploy, corrected for the choice among all configurations of all algorithms: the
        number to report. With ``drop`` for the choice among those that are left.
    deployed : str
        The algorithm of ``model``.
    deployed_name : str
        Its configuration: the flat winner among those of the algorithm.
    model : estimator or None
        The model to deploy: that configuration fitted on all rows; None with ``refit=False``.
    evaluation : Evaluation
        The record of the search over all configurations on all rows.
    n_folds : int
        Of outer folds, over all repeats.
    n_fits_saved : int
        Fits that dropping saved.
    notes : tuple of str
        What a reader must know.
    """

    metric: str
    greater_is_better: bool
    method: str
    algorithms: tuple[ComparedAlgorithm, ...]
    selections: AlgorithmSelections
    differences: tuple[AlgorithmDifference, ...]
    relevance: Relevance
    overall: Estimate
    deployed: str
    deployed_name: str
    model: Any
    evaluation: Evaluation
    n_folds: int
    n_fits_saved: int = 0
    notes: tuple[str, ...] = ()
    sources: ClassVar[tuple[str, ...]] = ("wainer2021", "nadeau2003", "varma2006")
    """Keys of ``heldout.references``."""

    def __getitem__(self, name: str) -> ComparedAlgorithm:
        """The algorithm of this name."""
        return next(each for each in self.algorithms if each.name == name)

    @property
    def n_fits(self) -> int:
        """All fits, that of the deployed model included."""
        costs = [each.costs for each in self.algorithms]
        return sum(each.flat_fits + each.nested_fits for each in costs) + (self.model is not None)

    def to_frame(self) -> Any:
        """A row an algorithm, as a pandas DataFrame (pandas comes with the extra ``app``)."""
        rows = []
        for each in self.algorithms:
            rows.append(
                {
                    "algorithm": each.name,
                    "configurations": each.n_configurations,
                    "flat": each.flat,
                    "corrected": each.corrected_value,
                    **_ends("corrected", each.corrected_interval),
                    "nested": each.nested,
                    **_ends("nested", each.nested_interval),
                    **vars(each.costs),
                    "configuration": each.flat_name,
                }
            )
        return frame_of(rows, "AlgorithmComparison.to_frame")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "metric": self.metric,
            "greater_is_better": self.greater_is_better,
            "method": self.method,
            "algorithms": [each.to_dict() for each in self.algorithms],
            "selections": self.selections.to_dict(),
            "differences": [each.to_dict() for each in self.differences],
            "relevance": self.relevance.to_dict(),
            "overall": self.overall.to_dict(),
            "deployed": self.deployed,
            "deployed_name": self.deployed_name,
            "n_folds": self.n_folds,
            "n_fits": self.n_fits,
            "n_fits_saved": self.n_fits_saved,
            "notes": list(self.notes),
            "sources": list(self.sources),
        }

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self.algorithms)
        return f"AlgorithmComparison({self.metric} of {names}; deployed: {self.deployed_name})"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        shown = []
        for each in self.algorithms:
            cells = [
                each.name, _number(each.flat), _number(each.corrected_value), each.corrected_interval or "none",
                _number(each.nested), each.nested_interval or "none",
            ]  # fmt: skip
            shown.append([Strong(cell) if each.name == self.deployed else cell for cell in cells])
        head = ("algorithm", "flat", "corrected", "interval", "nested", "interval")
        said = [text.strip() for text in [self.headline, *self.lines()[2 + len(self.algorithms) :]]]
        caption = f"{self.deployed_name}: {self.metric} {self.overall.value:.4g} {self.overall.interval or ''}"
        return table(shown, head=head, caption=caption.rstrip()) + notes(said)

    @property
    def headline(self) -> str:
        """The model to deploy and the one number of it."""
        deploy = f"Deploy {self.deployed_name}{'' if self.model is not None else ' (not fitted)'}"
        if math.isnan(self.overall.value):
            return f"{deploy}."
        all_of_them = counted(len(self.evaluation.configurations), "configuration")
        before = f" (uncorrected {_number(self.overall.uncorrected)})"
        return (
            f"{deploy}: {self.metric} {_number(self.overall.value)}{_after(self.overall.interval)}, "
            f"{'corrected' if self.is_corrected else 'not corrected'} for the choice among all {all_of_them} of "
            f"{counted(len(self.algorithms), 'algorithm')}{before if self.is_corrected else ''}."
        )

    @property
    def is_corrected(self) -> bool:
        """Whether ``overall`` is corrected for the choice among all algorithms."""
        return not (math.isnan(self.overall.value) or is_uncorrected(self.overall))

    @property
    def flattery(self) -> str:
        """By how much the best nested score flatters; empty where that is not known, or nothing."""
        name = self.selections.nested
        if name is None or not self.is_corrected:
            return ""
        nested, value = self[name].nested, self.overall.value
        excess = nested - value if self.greater_is_better else value - nested
        if excess <= 0 or _number(nested) == _number(value):
            return ""
        return (
            f"The best nested score, {_number(nested)} of {name}, is the best of {len(self.algorithms)} and "
            f"flatters by about {_number(excess)}: the model to deploy is expected at {_number(value)}."
        )

    def lines(self) -> list[str]:
        """The result in plain words, line by line, without times."""
        folds = counted(self.n_folds, "outer fold")
        algorithms = counted(len(self.algorithms), "algorithm")
        found = [self.headline, f"{self.metric} of {algorithms}, each by itself, on the same {folds}:"]
        for each in self.algorithms:
            found.append(
                f"  {each.name}: flat {_number(each.flat)}, corrected {_number(each.corrected_value)}"
                f"{_after(each.corrected_interval)}, nested {_number(each.nested)}{_after(each.nested_interval)}; "
                f"{counted(each.costs.flat_fits, 'fit')} and {each.costs.nested_fits} more for nested"
            )
        found += [self.selections.sentence, str(self.relevance)]
        found += [f"  {each}" for each in self.differences]
        if self.flattery:
            found.append(self.flattery)
        if self.n_fits_saved:
            found.append(f"Dropping saved {counted(self.n_fits_saved, 'fit')}.")
        return found + [f"Note: {note}" for note in self.notes]


def _number(value: float) -> str:
    return number_text(json_number(value), 4)


def _after(interval: Interval | None) -> str:
    return "" if interval is None else f" {interval}"


def _ends(name: str, interval: Interval | None) -> dict[str, float]:
    nowhere = float("nan")
    ends = (nowhere, nowhere) if interval is None else (interval.low, interval.high)
    return {f"{name}_low": ends[0], f"{name}_high": ends[1]}
