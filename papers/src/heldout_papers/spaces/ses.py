"""Statistically equivalent signatures: small sets of columns with all information on the target, and replacements.

Max-Min Parents and Children (Tsamardinos, Brown and Aliferis 2006) grows a set of columns. Columns that are
independent of the target given some of the set are removed; of the others, the one enters whose least association
with the target, over all conditioning sets, is largest. SES also tests whether a removed column is equivalent to
one of its conditioning set (Tsamardinos, Lagani and Pappas 2012; Lagani et al. 2017, algorithm 1).
"""

from dataclasses import dataclass, field
from itertools import combinations, islice, product
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from heldout._types import Floats
from heldout.data.checks import check_count, is_number
from heldout.data.task import TaskKind, guess_kind, has_fields, survival_target, truth_of
from heldout.errors import InputError
from heldout.metrics.base import check_among
from heldout_papers.spaces.conditional_tests import Columns, ConditionalTest, FisherZ, LikelihoodRatio, varying

MOST_SIGNATURES = 1000
"""Signatures that are listed: ten columns with one equivalent each have 1024."""

SAME = 1e-8
"""Logarithms of p-values that differ by less than this part are equal."""

MOST_CLASSES_GUESSED = 20
"""With more distinct whole numbers it is not guessed whether they are labels."""

TEST_OF: dict[TaskKind, Literal["fisher", "logistic", "cox"]] = {
    TaskKind.REGRESSION: "fisher",
    TaskKind.BINARY: "logistic",
    TaskKind.MULTICLASS: "logistic",
    TaskKind.SURVIVAL: "cox",
}


class SES(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select columns by SES: each depends on the target given any few others; equivalent ones are reported.

    Parameters
    ----------
    alpha : float, default=0.05
        A column is independent of the target given others if the p-value is above this.
    max_k : int, default=3
        The largest conditioning set. 0 selects every column that is associated with the target.
    test : {"auto", "fisher", "logistic", "cox"}, default="auto"
        ``fisher``: fisher's z of the partial correlation, for numbers. ``logistic``: the likelihood ratio of nested
        logistic regressions (multinomial for several classes). ``cox``: the likelihood ratio of nested Cox
        regressions, for survival. ``auto`` decides by the target: numbers with a fractional part are a regression,
        other columns are classes, a structured array is survival. More than 20 distinct whole numbers are refused.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Numbers of the columns, in the order in which they entered.
    support_ : ndarray of shape (p,)
        Whether each column is selected.
    equivalent_ : dict of int to tuple of int
        For each selected column those that can replace it, in the order of detection.
    signatures_ : ndarray of shape (n_signatures, n_selected)
        A selected or equivalent column in each position; the first row is ``selected_``. At most the first 1000.
    n_signatures_ : int
        Their number: the product of one plus the numbers of equivalents.
    p_values_, log_p_values_ : ndarray of shape (p,)
        The largest p-value of each column over all conditioning sets, and its natural logarithm, which is finite
        even if the p-value is too small for a float. 1 for a constant column.
    statistics_ : ndarray of shape (p,)
        The statistic of that test: z, or chi-square.
    n_tests_ : int
        Number of tests of single columns given others.
    test_ : str
        The test used.
    max_k_ : int
        The largest conditioning set used: ``max_k``, or fewer so that the larger model has at least 5 rows (events,
        for survival) per parameter.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Notes
    -----
    The articles leave some choices open. Here, when a column has entered, the selected ones are tested again, the
    weakest first, then the others, each given the new column and up to ``max_k`` - 1 more, smaller sets first; the
    first set that makes it independent removes it. Selected columns are tested after every entry, so in the final
    set each column depends on the target given any ``max_k`` of the others: MXM's separate backward phase has
    nothing left to remove. A column that can replace several counts as equivalent to the one with the largest
    p-value given it. Of columns with equal p-values (up to rounding) the first in the table enters.

    With many columns, about ``alpha`` of those that are unrelated to the target pass the first test; each must then
    also pass given every set of selected ones. So the p-values are not evidence after selection.

    If no column is associated with the target the selection is empty, and ``transform`` warns.

    Missing values and sparse tables are refused. Text must be coded first; indicators of a category are tested one
    by one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 4))
    >>> x[:, 3] = 2 * x[:, 0]  # the same in another unit
    >>> ses = SES().fit(x, x[:, 0] - x[:, 1] + rng.normal(size=200))
    >>> ses.selected_, ses.equivalent_
    (array([1, 0]), {1: (), 0: (3,)})
    >>> ses.signatures_
    array([[1, 0],
           [1, 3]])
    """

    sources = ("tsamardinos2012", "lagani2017", "tsamardinos2006")

    def __init__(
        self, alpha: float = 0.05, max_k: int = 3, test: Literal["auto", "fisher", "logistic", "cox"] = "auto"
    ) -> None:
        self.alpha = alpha
        self.max_k = max_k
        self.test = test

    def fit(self, X: Any, y: Any) -> Self:
        """Select.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
            Numbers or labels; for survival the event first and the time second, as ``CoxRegression`` takes them.

        Raises
        ------
        InputError
            When a parameter is invalid, the target has one value, or ``auto`` cannot decide.
        """
        check_among("test", self.test, ("auto", "fisher", "logistic", "cox"))
        if not (is_number(self.alpha) and 0 < self.alpha < 1):
            raise InputError(
                f"alpha must be a number between 0 and 1, got {self.alpha!r}; 0.05 is usual.", argument="alpha"
            )
        check_count("max_k", self.max_k, 0, "3 is usual")
        X, test = self._checked(X, y)
        self.max_k_ = min(int(self.max_k), test.most_given())
        found = _SignatureSearch(test, float(np.log(self.alpha)), self.max_k_, X.shape[1])
        found.run(np.flatnonzero(varying(X)))
        self.selected_ = np.array(found.selected, dtype=np.intp)
        self.support_ = np.isin(np.arange(X.shape[1]), self.selected_)
        queues = [found.queues[column] for column in found.selected]
        self.equivalent_ = {queue[0]: tuple(queue[1:]) for queue in queues}
        # An empty selection is one signature, the empty one.
        listed = list(islice(product(*queues), MOST_SIGNATURES))
        self.signatures_ = np.array(listed, dtype=np.intp).reshape(len(listed), len(queues))
        self.n_signatures_ = int(np.prod([len(queue) for queue in queues], dtype=object))
        self.log_p_values_, self.p_values_ = found.log_p, np.exp(found.log_p)
        self.statistics_, self.n_tests_ = found.statistic, found.n_tests
        return self

    def _checked(self, X: Any, y: Any) -> tuple[Floats, ConditionalTest]:
        survival = self.test == "cox" or (self.test == "auto" and has_fields(y))
        if survival:
            X = validate_data(self, X, dtype=np.float64)
            target = survival_target(y)
            if len(target) != len(X):
                raise InputError(f"X and y must have as many rows as each other, got {len(X)} and {len(target)}.")
            self.test_ = "cox"
            return X, LikelihoodRatio.cox(X, target)
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.test_ = _guessed(y) if self.test == "auto" else self.test
        if self.test_ == "fisher":
            return X, FisherZ.of(X, truth_of(y, TaskKind.REGRESSION).values)
        check_classification_targets(y)
        truth = truth_of(y)
        return X, LikelihoodRatio.logistic(X, truth.values, truth.n_classes)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _guessed(y: NDArray[Any]) -> Literal["fisher", "logistic", "cox"]:
    test = TEST_OF[guess_kind(y)]
    if test == "logistic" and y.dtype.kind in "iuf" and len(np.unique(y)) > MOST_CLASSES_GUESSED:
        raise InputError(
            f"the target holds {len(np.unique(y))} different whole numbers, which may be labels or amounts; give "
            "test='fisher' for amounts, test='logistic' for labels."
        )
    return test


@dataclass(eq=False)
class _SignatureSearch:
    """The state of one search, which ``run`` changes."""

    test: ConditionalTest
    log_alpha: float
    max_k: int
    n_columns: int
    selected: list[int] = field(default_factory=list)
    queues: dict[int, list[int]] = field(default_factory=dict)
    """Column → itself and its equivalents; a column that was removed has none."""
    n_tests: int = 0
    log_p: Floats = field(init=False)
    """(p,): the largest so far."""
    statistic: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.log_p, self.statistic = np.full(self.n_columns, -np.inf), np.zeros(self.n_columns)

    def run(self, candidates: Columns) -> None:
        self.queues = {column: [column] for column in candidates.tolist()}
        self.log_p[np.setdiff1d(np.arange(self.n_columns), candidates)] = 0.0
        remaining = candidates[~self._independent(candidates, ())]
        while remaining.size:
            newest = self._strongest(remaining)
            self._test_selected(newest)
            self.selected.append(newest)
            remaining = self._test_remaining(remaining[remaining != newest], newest)

    def _strongest(self, columns: Columns) -> int:
        log_p = self.log_p[columns]
        return int(columns[(log_p <= _beyond(float(log_p.min()))).argmax()])

    def _test_selected(self, newest: int) -> None:
        """Remove selected columns that are independent given the newest one, the weakest first."""
        for column in sorted(self.selected, key=lambda one: (-self.log_p[one], one)):
            others = [one for one in self.selected if one != column]
            for given in self._sets(others, newest):
                if self._independent(np.array([column]), given)[0]:
                    self.selected = others
                    self._replace(column, given)
                    break

    def _test_remaining(self, remaining: Columns, newest: int) -> Columns:
        for given in self._sets(self.selected[:-1], newest):
            if not remaining.size:
                break
            independent = self._independent(remaining, given)
            for column in remaining[independent].tolist():
                self._replace(column, given)
            remaining = remaining[~independent]
        return remaining

    def _sets(self, others: list[int], newest: int) -> list[tuple[int, ...]]:
        """The new conditioning sets: the newest column and up to ``max_k`` - 1 others, smaller sets first."""
        return [(newest, *more) for size in range(self.max_k) for more in combinations(others, size)]

    def _independent(self, columns: Columns, given: tuple[int, ...]) -> NDArray[np.bool_]:
        found = self.test.tested(columns, given)
        self.n_tests += len(columns)
        larger = found.log_p > self.log_p[columns]
        self.log_p[columns[larger]] = found.log_p[larger]
        self.statistic[columns[larger]] = found.statistic[larger]
        return np.asarray(found.log_p > self.log_alpha)

    def _replace(self, column: int, given: tuple[int, ...]) -> None:
        """Remove a column independent of the target given others; an equivalent one is independent given it."""
        best, largest = None, self.log_alpha
        for one in given:
            instead = (*(other for other in given if other != one), column)
            log_p = float(self.test.tested(np.array([one]), instead).log_p[0])
            self.n_tests += 1
            if log_p > (largest if best is None else _beyond(largest)):
                best, largest = one, log_p
        queue = self.queues.pop(column)
        if best is not None:
            self.queues[best] += queue


def _beyond(log_p: float) -> float:
    """A bound for equality up to rounding, such as that of a column and its copy in another unit."""
    return log_p + SAME * max(1.0, abs(log_p))
