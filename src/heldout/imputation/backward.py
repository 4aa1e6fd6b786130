"""Backward selection on pooled coefficients: one set of terms for all imputations.

A term is a column of the table, with all the coefficients that a pipeline makes of it (the indicators of a
category). The model is fitted on every completion, the coefficients are pooled, the term with the greatest p-value
is removed from all completions, and so on until every term that is left is below the limit. Selecting in each
completion alone would leave different sets, which cannot be pooled.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.stats import chi2, f
from scipy.stats import t as student
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from heldout._record import Record
from heldout._types import Array, Floats
from heldout.data.checks import check_choice, check_p_remove
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.imputation.coefficients import (
    INTERCEPT,
    Coefficients,
    PooledCoefficients,
    coefficients_of,
    pool_coefficients,
)
from heldout.imputation.tables import columns_named, is_frame

PooledTest = Literal["D1", "median_p"]


class RemovedTerm(NamedTuple):
    """A term, and the p-value with which it was removed."""

    name: str
    p_value: float


@dataclass(frozen=True)
class Selection(Record):
    """The result of a backward selection.

    Attributes
    ----------
    kept : tuple of str
        In the order of the table.
    removed : tuple of RemovedTerm
        In the order of their removal.
    """

    kept: tuple[str, ...]
    removed: tuple[RemovedTerm, ...]

    @property
    def kept_or_not(self) -> dict[str, float]:
        """1 for each term that was kept, 0 for each that was removed."""
        return {**dict.fromkeys(self.kept, 1.0), **{term.name: 0.0 for term in self.removed}}

    def __str__(self) -> str:
        kept = ", ".join(self.kept) or "no column"
        removed = ", ".join(f"{term.name} (p = {term.p_value:.2g})" for term in self.removed)
        return f"Backward selection kept {kept}" + (f"; removed {removed}." if removed else " and removed none.")


@dataclass(frozen=True)
class BackwardSelection:
    """Backward selection: remove terms one by one, by p-values pooled over the imputations.

    Parameters
    ----------
    p_remove : float, default=0.05
        Terms with at most this p-value stay; .157 corresponds to Akaike's criterion for a single coefficient.
    test : {'D1', 'median_p'}, default='D1'
        "D1": the Wald test of a term's pooled coefficients. For one coefficient it is Rubin's t test with the
        degrees of freedom of Barnard and Rubin (1999), for several the F test of Li, Raghunathan and Rubin (1991).
        "median_p": the median over the imputations of the p-values of their separate Wald tests.
    keep : sequence of str, default=()
        Terms that are never removed, by column name.

    Raises
    ------
    InputError
        When a setting is not allowed, or the model has no coefficients with a covariance.

    References
    ----------
    Wood, White and Royston (2008), How should variable selection be performed with multiply imputed data?

    Examples
    --------
    >>> from heldout.protocols import Imputation
    >>> Imputation(n_imputations=5, selection=BackwardSelection(p_remove=0.157, keep=("age",))).selection.test
    'D1'
    """

    p_remove: float = 0.05
    test: PooledTest = "D1"
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_p_remove(self.p_remove)
        check_choice("test", self.test, get_args(PooledTest))
        keep: Any = self.keep
        if not isinstance(keep, list | tuple):
            raise InputError(f"keep must be a list of names of columns, got {shortened(keep)}.")
        object.__setattr__(self, "keep", tuple(str(name) for name in keep))

    def fitted(
        self,
        models: Sequence[Any],
        tables: Sequence[Any],
        y: Any,
        params: Mapping[str, Any],
        weights: Floats | None = None,
    ) -> tuple[list[Any], Selection]:
        """The models fitted on the selected terms, and the selection.

        - ``models``: one unfitted model per completion.
        - ``tables``: the completions.
        - ``params``: arguments of ``fit``.
        - ``weights`` (N,): importance weights, for the covariance of the coefficients.
        """
        found = [model.fit(table, y, **params) for model, table in zip(map(clone, models), tables, strict=True)]
        each, pooled = _pooled(found, tables, y, weights)
        terms = terms_of(pooled.names, [str(name) for name in _names(tables[0])])
        self._check_keep(terms)
        places = {name: place for place, name in enumerate(n for n in pooled.names if n != INTERCEPT)}
        removed: list[RemovedTerm] = []
        while terms:
            p_values = {
                term: self._p_value(each, pooled, names) for term, names in terms.items() if term not in self.keep
            }
            worst = max(p_values, key=lambda term: p_values[term], default=None)
            # A survival model without a column has no likelihood to fit.
            is_last = len(terms) == 1 and not (is_classifier(models[0]) or is_regressor(models[0]))
            if worst is None or p_values[worst] <= self.p_remove or is_last:
                break
            removed.append(RemovedTerm(worst, p_values[worst]))
            del terms[worst]
            kept = sorted(places[name] for names in terms.values() for name in names)
            found = [
                _of_columns(model, table, y, params, kept) for model, table in zip(models, tables, strict=True)
            ]
            if terms:
                each, pooled = _pooled(found, tables, y, weights)
        return found, Selection(tuple(terms), tuple(removed))

    def _check_keep(self, terms: Mapping[str, Any]) -> None:
        unknown = next((name for name in self.keep if name not in terms), None)
        if unknown is not None:
            raise InputError(
                f"keep names {unknown!r}, which is no term of the model; its terms are {', '.join(terms)}.",
                argument="keep",
            )

    def _p_value(self, each: Sequence[Coefficients], pooled: PooledCoefficients, names: Sequence[str]) -> float:
        places = [pooled.names.index(name) for name in names]
        if self.test == "median_p":
            return float(np.median([_wald(one.values, one.covariance, places) for one in each]))
        return pooled_p_value(pooled, places)


def pooled_p_value(pooled: PooledCoefficients, places: Sequence[int]) -> float:
    """The p-value of the hypothesis that some pooled coefficients are all 0.

    With k coefficients Q, W and V (k, k) of ``pooled``, and H imputations: r = (1 + 1/H) tr(V W⁻¹)/k and
    D1 = Q'W⁻¹Q / (k (1 + r)), an F of k and ν degrees of freedom. With t = k(H - 1), ν is
    4 + (t - 4)(1 + (1 - 2/t)/r)² if t is above 4, else t (1 + 1/k)(1 + 1/r)²/2. One coefficient: Student's t.

    Examples
    --------
    One of 2 with a standard error of 1, without variance between the imputations, from many rows:

    >>> each = [Coefficients(("x",), np.array([2.0]), np.array([[1.0]]))] * 3
    >>> round(pooled_p_value(pool_coefficients(each, 10**6), [0]), 4)
    0.0455
    """
    k, H = len(places), pooled.n_imputations
    if k == 1:
        (j,) = places
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = abs(pooled.values[j]) / pooled.standard_errors[j]
        return float(2 * student.sf(ratio, pooled.df[j]))
    block = np.ix_(places, places)
    values, inverse = pooled.values[list(places)], np.linalg.inv(pooled.within[block])
    r = float((1 + 1 / H) * np.trace(pooled.between[block] @ inverse) / k)
    statistic = float(values @ inverse @ values / (k * (1 + r)))
    # Without any difference between imputations there is nothing to correct for.
    if r <= 0:
        return float(chi2.sf(k * statistic, k))
    t = k * (H - 1)
    # Li, Raghunathan and Rubin's degrees of freedom, with a simpler form for few imputations.
    df = 4 + (t - 4) * (1 + (1 - 2 / t) / r) ** 2 if t > 4 else t * (1 + 1 / k) * (1 + 1 / r) ** 2 / 2
    return float(f.sf(statistic, k, df)) if isfinite(df) else float(chi2.sf(k * statistic, k))


def _wald(values: Floats, covariance: Floats, places: Sequence[int]) -> float:
    of_term = values[list(places)]
    return float(chi2.sf(of_term @ np.linalg.solve(covariance[np.ix_(places, places)], of_term), len(places)))


def terms_of(names: Sequence[str], columns: Sequence[str]) -> dict[str, list[str]]:
    """The coefficients of each column of the table, by its name; a coefficient of no column is a term of its own.

    Examples
    --------
    >>> terms_of(["intercept", "age", "stage_II", "stage_III", "pca0"], ["age", "stage"])
    {'age': ['age'], 'stage': ['stage_II', 'stage_III'], 'pca0': ['pca0']}
    """
    terms: dict[str, list[str]] = {}
    for name in names:
        if name == INTERCEPT:
            continue
        plain = name.rpartition("__")[2]  # a ColumnTransformer may put the name of the step in front
        # "age" and "age_group" are both columns: the longest name that fits is the column.
        of = [each for each in columns if plain == each or plain.startswith(f"{each}_")]
        terms.setdefault(max(of, key=len) if of else name, []).append(name)
    return terms


class KeptColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Passes some columns on; a column of zeros if there are none.

    Parameters
    ----------
    places : list of int
    """

    def __init__(self, places: Sequence[int]) -> None:
        self.places = places

    def fit(self, X: Any, y: Any = None) -> KeptColumns:
        """Read the names of the columns."""
        names = [str(name) for name in _names(X)]
        self.names_ = [names[place] for place in self.places] or ["nothing"]
        return self

    def transform(self, X: Any) -> Any:
        """The columns, in the table's own type."""
        if not len(self.places):
            # A model without columns has its intercept only; solvers need a column all the same.
            return np.zeros((X.shape[0], 1))
        return X.iloc[:, list(self.places)] if is_frame(X) else X[:, list(self.places)]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Of the columns that are passed on."""
        names = self.names_ if input_features is None else [str(input_features[place]) for place in self.places]
        return np.array(names or ["nothing"], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "names_")


def _names(X: Any) -> list[Any]:
    return columns_named(X) if is_frame(X) else [f"x{j}" for j in range(X.shape[1])]


def _of_columns(model: Any, table: Any, y: Any, params: Mapping[str, Any], kept: Sequence[int]) -> Any:
    """The model fitted on some of the columns that its last step receives."""
    selecting = ("selected", KeptColumns(list(kept)))
    if isinstance(model, Pipeline):
        # Before the last step, where columns have the names that coefficients have.
        restricted = Pipeline([*clone(model).steps[:-1], selecting, clone(model).steps[-1]])
        given = dict(params)
    else:
        restricted = Pipeline([selecting, ("model", clone(model))])
        given = {f"model__{name}": value for name, value in params.items()}
    with warnings.catch_warnings():
        if not kept:  # a solver may find a column of zeros odd
            warnings.simplefilter("ignore")
        return restricted.fit(table, y, **given)


def _pooled(
    models: Sequence[Any], tables: Sequence[Any], y: Any, weights: Floats | None
) -> tuple[list[Coefficients], PooledCoefficients]:
    each = [coefficients_of(model, table, y, weights) for model, table in zip(models, tables, strict=True)]
    known = [one for one in each if one is not None]
    pooled = pool_coefficients(each, np.shape(tables[0])[0])
    if pooled is None:
        raise InputError(
            "backward selection needs coefficients with standard errors that are the same ones in all imputations, "
            "and fewer of them than rows; use LogisticRegression(C=inf) of two classes, LinearRegression or "
            "CoxRegression without a penalty, with columns that do not determine each other."
        )
    return known, pooled
