"""Rules that choose the simplest configuration near the best, and what makes one simpler than another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from heldout._types import Booleans, Floats, Indices
from heldout.data.checks import check_number, is_number
from heldout.data.task import numbers_listed
from heldout.errors import InputError, NoExit
from heldout.selection.base import ScoreTable, SelectionFailedError, SelectionRule
from heldout.selection.best import best_score, first_greatest, not_below, tie_exactly

MEASURED = "measured"
"""The complexity that is counted in the fitted models of a search."""


def frozen_complexity(complexity: Any) -> Any:
    """As a rule holds it: numbers as a tuple, so that equal rules are equal and have a hash."""
    if complexity is None or isinstance(complexity, str) or callable(complexity):
        return complexity
    numbers = numbers_listed(complexity)
    if numbers.ndim != 1 or not numbers.size or np.isnan(numbers).any():
        raise InputError(
            "complexity must be the name of a parameter, a function of the parameters, a number for each "
            f"configuration (greater = more complex), or None for the order given; got {complexity!r}."
        )
    return tuple(numbers.tolist())


def complexities(complexity: Any, n_configurations: int, params: Sequence[Mapping[str, Any]]) -> Floats:
    """(C,): a number for each configuration, the least for the simplest.

    Examples
    --------
    >>> grid = [{"depth": 5}, {"depth": 1}]
    >>> complexities("depth", 2, grid).tolist(), complexities(lambda params: -params["depth"], 2, grid).tolist()
    ([5.0, 1.0], [-5.0, -1.0])
    >>> complexities(None, 2, grid).tolist()
    [0.0, 1.0]
    """
    if complexity is None:
        return np.arange(n_configurations, dtype=np.float64)
    if complexity == MEASURED:
        raise InputError(
            f"`complexity={MEASURED!r}` counts what fitted models have, and here are none; use it as the selection "
            "of a search, or give a number for each configuration.",
            argument="selection",
        )
    if not isinstance(complexity, str) and not callable(complexity):
        if len(complexity) != n_configurations:
            raise InputError(
                f"complexity must have a number for each of the {n_configurations} configurations, got "
                f"{len(complexity)}."
            )
        return np.asarray(complexity, dtype=np.float64)
    if not params or not any(params):
        raise InputError(
            "complexity reads the parameters of the configurations, which are known only in a search; give a "
            "number for each configuration, or None for the order given.",
            argument="complexity",
        )
    return np.array([_one(complexity, configuration) for configuration in params])


def _one(complexity: Any, params: Mapping[str, Any]) -> float:
    if isinstance(complexity, str):
        if complexity not in params:
            raise InputError(
                f"`complexity='{complexity}'` is not a parameter of the configuration {dict(params)}; name one "
                "that all "
                "have, or give a function of the parameters."
            )
        value, source = params[complexity], f"the parameter '{complexity}'"
    else:
        try:
            with NoExit():
                value, source = complexity(params), "the complexity function"
        except Exception as error:
            raise InputError(
                f"the complexity function failed on {dict(params)}: {type(error).__name__}: {error}."
            ) from error
    if not is_number(value):
        raise InputError(
            f"complexity must be a number, but {source} is {value!r} in {dict(params)}; give a function that makes "
            "it one."
        )
    return float(value)


def simplest_of(within: Booleans, scores: Floats, order: Floats) -> Indices:
    """(B,): the simplest of those ``within`` (B, C); of equally simple ones the best, then the first."""
    least = np.where(within, order, np.inf).min(axis=1, keepdims=True)
    return first_greatest(np.where(within & (order == least), tie_exactly(scores), np.nan))


class SimplestRule(SelectionRule):
    """A rule that chooses the simplest of several by their ``complexity``."""

    complexity: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "complexity", frozen_complexity(self.complexity))

    @property
    def reads_models(self) -> bool:
        """Whether the complexity is counted in fitted models."""
        return isinstance(self.complexity, str) and self.complexity == MEASURED

    def check(self, n_configurations: int, params: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> None:
        """Refuse a complexity that these configurations do not have."""
        if not self.reads_models:
            complexities(self.complexity, n_configurations, params)


@dataclass(frozen=True)
class Within(SimplestRule):
    """Choose the simplest configuration whose score is at most ``tolerance`` worse than the best.

    Among equally simple ones the best wins, then the first.

    Attributes
    ----------
    tolerance : float
        In the units of the metric that chooses.
    complexity : str, callable, sequence of float or None
        The name of a parameter, a function of the parameters, or a number for each configuration, greater = more
        complex; None for the order given, the first the simplest. "measured" counts in the fitted models of a
        search: support vectors, leaves, non-zero coefficients, weights or selected columns, mean over splits.

    Examples
    --------
    >>> table = ScoreTable(np.array([[[0.79], [0.82], [0.83]]]), ["accuracy"])
    >>> Within(0.01)(table).tolist(), Within(0.05)(table).tolist()
    ([1], [0])
    """

    tolerance: float
    complexity: Any = None
    name: ClassVar[str] = "within"
    words: ClassVar[str] = "the simplest configuration within a tolerance of the best score"

    def __post_init__(self) -> None:
        check_number("tolerance", self.tolerance, least=0)
        super().__post_init__()

    def __call__(self, table: ScoreTable) -> Indices:
        scores = table.values[:, :, 0]
        best = best_score(scores)
        bound = best - self.tolerance
        order = complexities(self.complexity, table.n_configurations, table.params)
        return simplest_of(not_below(scores, bound), scores, order)


@dataclass(frozen=True)
class OneStandardError(SimplestRule):
    """Choose the simplest configuration within one standard error of the best (Breiman et al. 1984, section 3.4.3).

    The standard error is that of the best configuration's mean over folds: the standard deviation of its n fold
    scores (with n - 1), divided by √n; folds without a score are left out. Among equally simple configurations the
    best wins, then the first. With fewer than two fold scores there is no standard error, and nothing is chosen.

    Attributes
    ----------
    complexity : str, callable, sequence of float or None
        The name of a parameter, a function of the parameters, or a number for each configuration, greater = more
        complex; None for the order given, the first the simplest. "measured" counts in the fitted models of a
        search: support vectors, leaves, non-zero coefficients, weights or selected columns, mean over splits.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.7, 0.7], [0.8, 0.8, 0.9]])  # two folds, the simplest configuration first
    >>> table = ScoreTable(scores.mean(axis=0)[None, :, None], ["accuracy"], fold_scores=scores[None, :, :, None])
    >>> OneStandardError()(table).tolist()
    [1]
    """

    complexity: Any = None
    name: ClassVar[str] = "one_standard_error"
    words: ClassVar[str] = "the simplest configuration within one standard error of the best score"
    sources: ClassVar[tuple[str, ...]] = ("breiman1984",)
    reads_fold_scores: ClassVar[bool] = True

    def __call__(self, table: ScoreTable) -> Indices:
        if table.fold_scores is None:
            raise SelectionFailedError("it needs the scores of single folds; give `folds=`, one label per row")
        scores = table.values[:, :, 0]
        best = first_greatest(scores)
        error = standard_errors(_of(table.fold_scores[:, :, :, 0], best))
        order = complexities(self.complexity, table.n_configurations, table.params)
        within = not_below(scores, best_score(scores) - error[:, None])
        return simplest_of(within, scores, order)


def _of(fold_scores: Floats, columns: Indices) -> Floats:
    """(B, splits): those of one column each."""
    chosen: Floats = np.take_along_axis(fold_scores, np.maximum(columns, 0)[:, None, None], axis=2)[:, :, 0]
    return chosen


def standard_errors(scores: Floats) -> Floats:
    """(B,): of the mean of the defined ones of scores (B, splits); NaN where fewer than two are defined.

    Examples
    --------
    >>> standard_errors(np.array([[1.0, 3.0, np.nan], [1.0, np.nan, np.nan]])).tolist()
    [1.0, nan]
    """
    defined = ~np.isnan(scores)
    n = defined.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.where(defined, scores, 0.0).sum(axis=1) / n
        squares = np.where(defined, (scores - mean[:, None]) ** 2, 0.0).sum(axis=1)
        error: Floats = np.sqrt(squares / (n - 1)) / np.sqrt(n)
    return np.where(n > 1, error, np.nan)
