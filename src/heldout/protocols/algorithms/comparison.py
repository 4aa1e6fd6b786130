"""The result of comparing algorithms: their scores, the selections, the differences, the costs, the model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.special import stdtr

from heldout._record import Record, TextTable, rows_table
from heldout._text import counted
from heldout._types import Floats
from heldout.estimates.intervals import interval_around
from heldout.estimates.methods.corrected_t import nadeau_bengio
from heldout.estimates.types import Estimate, Interval, is_uncorrected
from heldout.methods_text import WithMethodsText
from heldout.metrics.custom import OpaqueMetric
from heldout.protocols.algorithms.relevance import Relevance, exceeds, score_text
from heldout.result import Evaluation

_DIFFERENCE = OpaqueMetric("difference of nested scores")
"""Greater is better, and without bounds."""


@dataclass(frozen=True)
class AlgorithmDifference(Record):
    """How much better one algorithm is than another, by their nested scores.

    Attributes
    ----------
    first, second : str
    value : float
        Positive where ``first`` is better, for scores and losses alike: the difference of the nested scores.
    interval : Interval
        By the corrected t of Nadeau and Bengio (2003), which widens the variance because outer folds share training
        rows. For this pair alone.
    p_value : float
        Two-sided, from the same t, for the hypothesis that the two are equally good. For this pair alone.
    adjusted_interval, adjusted_p_value : Interval, float
        The same for all pairs together, by Bonferroni.
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

    def __str__(self) -> str:
        words = {None: "", True: "; above the threshold", False: "; within the threshold"}[self.is_relevant]
        is_only = self.interval.confidence_level == self.adjusted_interval.confidence_level
        together = "" if is_only else f", for all pairs together {self.adjusted_interval}"
        return f"{self.first} against {self.second}: {self.words} {self.interval}{together}{words}"

    @property
    def words(self) -> str:
        """How ``first`` compares, by the absolute difference: "0.0106 better", "0.26 worse" or "as good"."""
        if self.value == 0:
            return "as good"
        side = "" if np.isnan(self.value) else " better" if self.value > 0 else " worse"
        return f"{score_text(abs(self.value))}{side}"


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
                exceeds(spread.center, threshold),
            )
        )
    return tuple(found)


@dataclass(frozen=True)
class FitCosts(Record):
    """The fits and seconds that the scores of an algorithm took.

    Attributes
    ----------
    flat_fits : int
        One per configuration and fold. The corrected score needs no others.
    flat_seconds : float
        Time of fitting and scoring, summed over all processes.
    nested_fits : int
        The further fits of the nested score: those inside the outer folds. The winner of an outer fold is not
        fitted again: the flat score has its fit already, unless it was dropped there.
    nested_seconds : float
    """

    flat_fits: int
    flat_seconds: float
    nested_fits: int
    nested_seconds: float


@dataclass(frozen=True, eq=False)
class ComparedAlgorithm(Record):
    """The scores of one algorithm, an estimator with its grid, in the metric's own direction.

    Attributes
    ----------
    name : str
    n_configurations : int
    flat : float
        The best mean over the folds, as ``best_score_`` of ``GridSearchCV``: optimistic, because it is the best.
    flat_name : str
        The configuration that has it; empty if none has a score.
    flat_params : dict
    corrected : Estimate or None
        The flat score, corrected for the choice among the configurations of this algorithm; None without a flat
        score.
    nested : float
        The mean of ``outer_scores``.
    nested_interval : Interval or None
        By Nadeau and Bengio's corrected t; None without a nested score.
    outer_scores : tuple of float
        One per outer fold, of the configuration chosen without it.
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

    _more = "corrected=corrected_value corrected_interval"
    _shown = (
        "nested nested_interval corrected=corrected_value corrected_interval flat configuration=flat_name"
        " configurations=n_configurations reason"
    )

    @property
    def _title(self) -> str:
        return self.name


@dataclass(frozen=True)
class AlgorithmSelections(Record):
    """Which algorithm each score selects; None where no algorithm has that score.

    Attributes
    ----------
    flat, corrected, nested : str or None
    """

    flat: str | None
    corrected: str | None
    nested: str | None

    _more = "agree"

    def __str__(self) -> str:
        return self.sentence

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


@dataclass(frozen=True, eq=False, repr=False)
class AlgorithmComparison(Record, WithMethodsText):
    """Algorithms compared on the same folds.

    Attributes
    ----------
    metric : str
    greater_is_better : bool
    method : str
        The method of the corrected scores.
    algorithms : tuple of ComparedAlgorithm
        In the order in which they were given.
    selections : AlgorithmSelections
    differences : tuple of AlgorithmDifference
        One per pair of algorithms, from their nested scores, fold by fold.
    relevance : Relevance
        What the nested selection gains over the flat one, and whether that is relevant.
    overall : Estimate
        The score of the model to deploy, corrected for the choice among all configurations of all algorithms: the
        number to report. With ``drop``, for the choice among the remaining ones.
    deployed : str
        The algorithm of ``model``.
    deployed_name : str
        Its configuration: the flat winner among those of the algorithm.
    model : estimator or None
        The model to deploy: that configuration fitted on all rows; None with ``refit=False``.
    evaluation : Evaluation
        The record of the search over all configurations on all rows.
    n_folds : int
        The number of outer folds, over all repeats.
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
        """All fits, including that of the deployed model."""
        costs = [each.costs for each in self.algorithms]
        return sum(each.flat_fits + each.nested_fits for each in costs) + (self.model is not None)

    _without = "model evaluation"
    _more = "n_fits sources"
    _columns = (
        "algorithm=name configurations=n_configurations flat corrected=corrected_value corrected_interval nested"
        " nested_interval flat_fits=costs.flat_fits flat_seconds=costs.flat_seconds nested_fits=costs.nested_fits"
        " nested_seconds=costs.nested_seconds configuration=flat_name"
    )

    @property
    def _rows(self) -> tuple[ComparedAlgorithm, ...]:
        return self.algorithms

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self.algorithms)
        return f"AlgorithmComparison({self.metric} of {names}; deployed: {self.deployed_name})"

    def __str__(self) -> str:
        return self.text()

    def tables(self) -> list[TextTable]:
        """The model to deploy, and the separate scores of each algorithm on the same outer folds."""
        shown = (
            "algorithm=name corrected=corrected_value interval=corrected_interval nested"
            " interval_of_nested=nested_interval flat"
        )
        sentences = [
            self.selections.sentence,
            *map(str, [self.relevance, *self.differences]),
            self.flattery,
            self._fits,
        ]
        if self.n_fits_saved:
            sentences.append(f"Dropping saved {counted(self.n_fits_saved, 'fit')}.")
        notes = [*filter(None, sentences), *(f"Note: {note}" for note in self.notes)]
        algorithms, folds = counted(len(self.algorithms), "algorithm"), counted(self.n_folds, "outer fold")
        title = f"{self.metric} of {algorithms}, each by itself, on the same {folds}"
        main = [one.name for one in self.algorithms].index(self.deployed)
        return [TextTable(self.headline), rows_table(self.algorithms, shown, title, notes, main=main)]

    @property
    def _fits(self) -> str:
        of_each = (
            f"{one.costs.flat_fits:,} of {one.name} and {one.costs.nested_fits:,} more" for one in self.algorithms
        )
        return f"Fits of flat and corrected scores, and more for nested ones: {', '.join(of_each)}."

    @property
    def headline(self) -> str:
        """The model to deploy and its estimate, in one sentence."""
        deploy = f"Deploy {self.deployed_name}{'' if self.model is not None else ' (not fitted)'}"
        if math.isnan(self.overall.value):
            return f"{deploy}."
        all_of_them = counted(len(self.evaluation.configurations), "configuration")
        before = f" (uncorrected {score_text(self.overall.uncorrected)})"
        interval = "" if self.overall.interval is None else f" {self.overall.interval}"
        return (
            f"{deploy}: {self.metric} {score_text(self.overall.value)}{interval}, "
            f"{'corrected' if self.is_corrected else 'not corrected'} for the choice among all {all_of_them} of "
            f"{counted(len(self.algorithms), 'algorithm')}{before if self.is_corrected else ''}."
        )

    @property
    def is_corrected(self) -> bool:
        """Whether ``overall`` is corrected for the choice among all algorithms."""
        return not (math.isnan(self.overall.value) or is_uncorrected(self.overall))

    @property
    def flattery(self) -> str:
        """How optimistic the best nested score is, as a sentence; empty if that is not known, or it is not."""
        name = self.selections.nested
        if name is None or not self.is_corrected:
            return ""
        nested, value = self[name].nested, self.overall.value
        excess = nested - value if self.greater_is_better else value - nested
        if excess <= 0 or score_text(nested) == score_text(value):
            return ""
        return (
            f"The best nested score, {score_text(nested)} of {name}, is the best of {len(self.algorithms)} and "
            f"flatters by about {score_text(excess)}: the model to deploy is expected at {score_text(value)}."
        )
