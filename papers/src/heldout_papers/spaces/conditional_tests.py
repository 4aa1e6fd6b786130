"""Tests of conditional independence: whether a column has information on the target that others lack.

Each test returns the logarithm of its p-value, because the p-values of strong columns are all 0 and would tie. A
column that is a linear combination of the others adds nothing by definition: p = 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq
from scipy.special import gammaln, log_ndtr, log_softmax

from heldout._types import Floats
from heldout.errors import InputError
from heldout.spaces.cox import PartialLikelihood

Columns = NDArray[np.intp]

LEAST_LEFT = 1e-10
"""A column is a linear combination of others if less than this part of its variance remains."""
LARGEST_CORRELATION = 1.0 - 1e-15
"""A limit that keeps Fisher's z finite if a column determines the target."""
ROWS_A_PARAMETER = 5
"""A rule of thumb: a model needs at least as many rows (events, for Cox models) per parameter."""
MOST_STEPS = 100
CLOSE_ENOUGH = 1e-10
"""Newton's method ends when a step raises the log-likelihood by less than this part."""
SLIGHT_PENALTY = 1e-5
"""A penalty on standardised columns: the value there is near the limit of a likelihood without a maximum."""


class Answers(NamedTuple):
    """Results for m columns, each given the same others."""

    log_p: Floats
    """(m,): natural logarithm of the p-value."""
    statistic: Floats
    """(m,): Fisher's z, or the likelihood ratio's chi-square."""


class ConditionalTest(Protocol):
    """A test of conditional independence from the target, of the columns of one table."""

    def tested(self, columns: Columns, given: tuple[int, ...]) -> Answers:
        """Test each of m columns, given some others."""

    def most_given(self) -> int:
        """The largest conditioning set that the rows allow, at least 0."""


def log_p_normal(z: Floats) -> Floats:
    """Two-sided, of standard normal values.

    Examples
    --------
    >>> np.exp(log_p_normal(np.array([0.0, 1.959964]))).round(6), log_p_normal(np.array([50.0])).round(2)
    (array([1.  , 0.05]), array([-1254.14]))
    """
    return np.asarray(np.minimum(np.log(2.0) + log_ndtr(-np.abs(z)), 0.0))


def log_p_chi_square(statistic: Floats, df: int) -> Floats:
    """The upper tail, by the recurrence over degrees of freedom: a finite sum of positive terms, however small.

    Examples
    --------
    >>> np.exp(log_p_chi_square(np.array([3.841459, 0.0]), 1)).round(6)
    array([0.05, 1.  ])
    >>> log_p_chi_square(np.array([4000.0]), 3).round(3)
    array([-1996.079])
    """
    half = np.asarray(statistic, dtype=np.float64) / 2.0
    shape = 0.5 if df % 2 else 1.0
    log_p = log_p_normal(np.sqrt(2.0 * half)) if df % 2 else -half
    with np.errstate(divide="ignore"):
        log_half = np.log(half)
    while shape < df / 2.0:
        log_p = np.logaddexp(log_p, shape * log_half - half - gammaln(shape + 1.0))
        shape += 1.0
    return np.asarray(np.minimum(log_p, 0.0))


def _centred_units(X: Floats) -> Floats:
    """Columns of mean 0 and length 1; constant ones are 0."""
    means = X.mean(axis=0)
    # Scaled by the largest first: squares of numbers beyond 1e154 are infinite.
    centred = X - means
    sizes = np.abs(centred).max(axis=0, initial=0.0)
    varying = sizes > 1e-13 * np.abs(means)
    centred = np.where(varying, centred / np.where(varying, sizes, 1.0), 0.0)
    return np.asarray(centred / np.where(varying, np.sqrt((centred**2).sum(axis=0)), 1.0))


def varying(X: Floats) -> NDArray[np.bool_]:
    """(p,): which columns are not constant, rounding aside."""
    return np.asarray(_centred_units(X).any(axis=0))


@dataclass(frozen=True, eq=False)
class FisherZ:
    """Fisher's z of partial correlations, for numbers: z = atanh(r) sqrt(n - k - 3), with k columns given.

    It is compared with the normal distribution (Fisher 1924). Partial correlations follow from correlations, so a
    test needs no pass over the rows.
    """

    units: Floats
    with_target: Floats
    _with: dict[int, Floats] = field(default_factory=dict, repr=False)
    """Column → its correlation with each column, (p,)."""

    @classmethod
    def of(cls, X: Floats, y: Floats) -> FisherZ:
        if len(X) < 4:
            raise InputError(f"Fisher's z needs at least 4 rows, got n_samples={len(X)}.")
        target = _centred_units(y[:, None])[:, 0]
        if not target.any():
            raise InputError(f"the target has the one value {y[0]:g}, so no column can be associated with it.")
        units = _centred_units(X)
        return cls(units, target @ units)

    def most_given(self) -> int:
        n_rows = len(self.units)
        return max(0, min(n_rows - 4, n_rows // ROWS_A_PARAMETER - 2))

    def tested(self, columns: Columns, given: tuple[int, ...]) -> Answers:
        others = list(given)
        target, left, of_target = self.with_target[columns], np.ones(len(columns)), 1.0
        if others:
            between = np.array([self._correlations(one) for one in others])
            among, across = between[:, others], between[:, columns]
            # Least squares, because columns in a conditioning set may depend on each other.
            weights = lstsq(among, np.column_stack([across, self.with_target[others]]), cond=LEAST_LEFT)[0]
            left = 1.0 - (across * weights[:, :-1]).sum(axis=0)
            of_target = 1.0 - float(self.with_target[others] @ weights[:, -1])
            target = target - across.T @ weights[:, -1]
        telling = (left > LEAST_LEFT) & (of_target > LEAST_LEFT)
        scale = np.sqrt(np.where(telling, left * of_target, 1.0))
        r = np.where(telling, target / scale, 0.0)
        r = np.clip(r, -LARGEST_CORRELATION, LARGEST_CORRELATION)
        z = np.arctanh(r) * np.sqrt(len(self.units) - len(others) - 3)
        return Answers(log_p_normal(z), z)

    def _correlations(self, column: int) -> Floats:
        if column not in self._with:
            self._with[column] = self.units[:, column] @ self.units
        return self._with[column]


class _Fitted(NamedTuple):
    log_likelihood: float
    rank: int


@dataclass(frozen=True, eq=False)
class LikelihoodRatio:
    """Twice the gain in log-likelihood of a model with the column over one without it (Wilks 1938).

    Models are kept by their columns: exchanging two columns, as in the search for equivalent ones, mostly needs
    models that were fitted before.
    """

    units: Floats
    log_likelihood: Callable[[Floats], float]
    """The log-likelihood of an orthonormal basis (n, r) of centred columns; with an intercept if needed."""
    df: int
    """Parameters per column."""
    n_informative: int
    """Rows, or events."""
    has_intercept: bool = True
    _fitted: dict[tuple[int, ...], _Fitted] = field(default_factory=dict, repr=False)

    @classmethod
    def logistic(cls, X: Floats, codes: NDArray[np.int32], n_classes: int) -> LikelihoodRatio:
        """The test by (multinomial) logistic regressions; ``codes`` are 0 .. n_classes - 1.

        The test of the latest table is kept with its fitted models: a search tries several settings of a selection
        on the same rows, which mostly need the same models.
        """
        rows = np.ascontiguousarray(X)
        key = hashlib.sha256(repr((rows.shape, n_classes)).encode() + rows.tobytes() + codes.tobytes()).digest()
        latest = _LATEST.get("logistic")
        if latest is None or latest[0] != key:
            indicators = np.eye(n_classes)[codes]
            made = cls(_centred_units(X), lambda basis: _multinomial(basis, indicators), n_classes - 1, len(X))
            latest = _LATEST["logistic"] = key, made
        return latest[1]

    @classmethod
    def cox(cls, X: Floats, target: NDArray[Any]) -> LikelihoodRatio:
        """The test by Cox regressions with Efron's ties; ``target`` as from ``survival_target``."""
        # Risk sets do not depend on the columns.
        bare = PartialLikelihood.of(np.zeros((len(X), 0)), target, np.ones(len(X)), "efron", 0.0)
        return cls(_centred_units(X), lambda basis: _partial(basis, bare), 1, int(target["event"].sum()), False)

    def most_given(self) -> int:
        # The tested column has parameters too.
        return max(0, self.n_informative // (ROWS_A_PARAMETER * self.df) - 1 - self.has_intercept)

    def tested(self, columns: Columns, given: tuple[int, ...]) -> Answers:
        without = self._model(given)
        statistic = np.zeros(len(columns))
        for place, column in enumerate(columns.tolist()):
            model = self._model((*given, column))
            if model.rank > without.rank:
                statistic[place] = max(0.0, 2.0 * (model.log_likelihood - without.log_likelihood))
        return Answers(log_p_chi_square(statistic, self.df), statistic)

    def _model(self, columns: tuple[int, ...]) -> _Fitted:
        key = tuple(sorted(columns))
        if key not in self._fitted:
            basis = _basis(self.units[:, list(key)])
            self._fitted[key] = _Fitted(self.log_likelihood(basis), basis.shape[1])
        return self._fitted[key]


_LATEST: dict[str, tuple[bytes, LikelihoodRatio]] = {}
"""The latest test of this process by kind, with the key of its rows."""


def _basis(units: Floats) -> Floats:
    """An orthonormal basis of columns of length 1, without those that depend on earlier ones."""
    if not units.shape[1]:
        return units
    q, r = np.linalg.qr(units)
    telling = np.diagonal(r) ** 2 > LEAST_LEFT
    return np.asarray(q if telling.all() else _basis(units[:, : len(telling)][:, telling]))


def _multinomial(basis: Floats, indicators: Floats) -> float:
    """The maximum log-likelihood of a multinomial regression by Newton's method; its limit under separation."""
    n, n_classes = indicators.shape
    design = np.column_stack([np.ones(n), basis * np.sqrt(n)])
    products = (design[:, :, None] * design[:, None, :]).reshape(n, -1)
    n_terms, n_logits = design.shape[1], n_classes - 1

    def at(coefficients: Floats) -> tuple[float, Floats]:
        logits = np.column_stack([np.zeros(n), design @ coefficients])
        log_p = log_softmax(logits, axis=1)
        return float((indicators * log_p).sum()), np.exp(log_p[:, 1:])

    shares = indicators.mean(axis=0)
    coefficients = np.zeros((n_terms, n_logits))
    coefficients[0] = np.log(shares[1:] / shares[0])
    value, p = at(coefficients)
    if n_terms == 1:
        return value
    for _ in range(MOST_STEPS):
        gradient = design.T @ (indicators[:, 1:] - p)
        weights = -p[:, :, None] * p[:, None, :]
        weights[:, np.arange(n_logits), np.arange(n_logits)] += p
        blocks = (products.T @ weights.reshape(n, -1)).reshape(n_terms, n_terms, n_logits, n_logits)
        information = blocks.transpose(0, 2, 1, 3).reshape(n_terms * n_logits, -1)
        # Under separation it tends to 0: a tiny part of its trace keeps the step finite.
        information += np.eye(len(information)) * (1e-12 * np.trace(information) + 1e-300)
        step = np.linalg.solve(information, gradient.ravel()).reshape(n_terms, n_logits)
        onward, p_onward = at(coefficients + step)
        while onward < value - 1e-12 * abs(value) and np.abs(step).max() > 1e-12:
            step = step / 2
            onward, p_onward = at(coefficients + step)
        gain, value, p, coefficients = onward - value, onward, p_onward, coefficients + step
        if gain <= CLOSE_ENOUGH * (abs(value) + 0.1):
            break
    return value


def _partial(basis: Floats, bare: PartialLikelihood) -> float:
    """The maximum log partial likelihood; near its limit if a column separates the events perfectly."""
    width = basis.shape[1]
    if not width:
        return bare.value(np.zeros(0))
    x = basis[bare.risk_sets.order] * np.sqrt(len(basis))
    likelihood = replace(bare, x=x, means=np.zeros(width), spreads=np.ones(width), penalty=np.zeros(width))
    names = [f"x{place}" for place in range(width)]
    # How slight a penalty makes the maximum finite in floating point depends on the processor's last bits.
    for penalty in (0.0, SLIGHT_PENALTY, 10 * SLIGHT_PENALTY):
        try:
            penalised = replace(likelihood, penalty=np.full(width, penalty))
            return penalised.maximised(names, MOST_STEPS).log_likelihood
        except InputError:
            continue
    penalised = replace(likelihood, penalty=np.full(width, 100 * SLIGHT_PENALTY))
    return penalised.maximised(names, MOST_STEPS).log_likelihood
