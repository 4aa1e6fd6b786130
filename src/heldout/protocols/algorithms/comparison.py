"""The result of comparing algorithms: their scores, the selections, the differences, the costs, the model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from heldout._notebook import Strong, line, notes, record, table
from heldout._text import counted, number_text
from heldout.estimates.types import Estimate, Interval, frame_of, is_uncorrected, json_number, json_safe
from heldout.methods_text import WithMethodsText
from heldout.protocols.algorithms.differences import AlgorithmDifference, Relevance
from heldout.result import Evaluation


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
