"""The settings of imputation in a validation: how often, by which imputer, when, and with the outcome or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import clone

from heldout._streams import numpy_seed
from heldout._types import Booleans, Floats
from heldout.data.checks import check_choice, checked_flag
from heldout.data.task import TaskKind, Truth, shortened
from heldout.errors import InputError
from heldout.imputation.backward import BackwardSelection
from heldout.imputation.chained import ChainedImputer
from heldout.imputation.pooled import PooledModel
from heldout.imputation.tables import (
    Holes,
    column_at,
    columns_named,
    filled,
    holes_of,
    is_frame,
    with_columns,
    writable,
)

Order = Literal["boot_mi", "mi_boot", "naive"]

SOURCES_OF_ORDER: dict[Order, tuple[str, ...]] = {
    "boot_mi": ("bartlett2020", "schomaker2018"),
    "mi_boot": ("schomaker2018",),
    "naive": (),
}


@dataclass(frozen=True)
class Imputation:
    """Multiple imputation: every model is fitted on H completions of its rows, and pooled.

    Parameters
    ----------
    n_imputations : int, default=5
        H, at least 2: a single completion does not show how uncertain the imputed values are.
    imputer : transformer, optional
        By default ``ChainedImputer()``. Any scikit-learn transformer that draws at random: it has a
        ``random_state``, which is replaced for each completion, keeps the columns, and does not change observed
        values.
    order : {"boot_mi", "mi_boot", "naive"}, default="boot_mi"
        "boot_mi" draws rows and imputes each sample anew; "mi_boot" imputes once and draws rows of each completion
        with their imputed values; "naive" imputes once, before everything, and treats the completions as data.
    outcome_in_evaluation : bool, default=False
        Whether evaluated rows are imputed with their outcome too, like training rows. This is optimistic: the
        outcome of a new patient is unknown.
    selection : BackwardSelection, optional
        Selects terms by pooled p-values, anew in every sample or training part; by default all stay. Not with
        "naive", whose models are not pooled.

    Raises
    ------
    InputError
        When a parameter is not allowed, or the imputer cannot draw.

    References
    ----------
    Bartlett and Hughes (2020) for the order; ``papers/pages/imputation.md``.

    Examples
    --------
    >>> imputation = Imputation(n_imputations=2)
    >>> first, second = imputation.completed([[1.0, 2.0], [2.0, None], [3.0, 6.0], [4.0, 8.0]], None, 0)
    >>> first[:, 0].tolist(), bool(first[1, 1] != second[1, 1])
    ([1.0, 2.0, 3.0, 4.0], True)
    """

    n_imputations: int = 5
    imputer: Any = None
    order: Order = "boot_mi"
    outcome_in_evaluation: bool = False
    selection: BackwardSelection | None = None

    def __post_init__(self) -> None:
        h = self.n_imputations
        if not isinstance(h, int) or isinstance(h, bool) or not 2 <= h <= 1000:
            raise InputError(f"n_imputations must be a whole number from 2 to 1000, got {shortened(h)}.")
        check_choice("order", self.order, get_args(Order))
        checked_flag("outcome_in_evaluation", self.outcome_in_evaluation)
        if self.imputer is not None:
            _check_draws(self.imputer)
        self._check_selects()

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of ``heldout.references`` for bootstraps that impute."""
        return (*SOURCES_OF_ORDER[self.order], *self.sources_of_fits)

    @property
    def sources_of_fits(self) -> tuple[str, ...]:
        """Keys of ``heldout.references`` for fits that impute their rows, in any splits."""
        chained = ("buuren2011",) if self.imputer is None else ()
        selects = () if self.selection is None else ("wood2008", "li1991")
        return (*chained, "rubin1987", "barnard1999", "white2009", *selects)

    def _check_selects(self) -> None:
        if self.selection is None:
            return
        if not isinstance(self.selection, BackwardSelection):
            raise InputError(
                f"selection must be ho.protocols.BackwardSelection(...) or None, got {shortened(self.selection)}."
            )
        if self.order == "naive":
            raise InputError(
                "selection pools the coefficients of the completions, and `order='naive'` pools nothing; use "
                "`order='boot_mi'`.",
                argument="selection",
            )

    def fitted(
        self,
        models: Sequence[Any],
        tables: Sequence[Any],
        y: Any,
        params: Mapping[str, Any],
        weights: Floats | None = None,
    ) -> PooledModel:
        """The pooled model: one model fitted on the selected terms of each completion.

        - ``models``: one unfitted model per completion.
        - ``tables``: the completions.
        - ``params``: arguments of ``fit``.
        - ``weights`` (N,): importance weights, for the covariance of coefficients that select.
        """
        if self.selection is None:
            pairs = zip(models, tables, strict=True)
            return PooledModel(tuple(model.fit(table, y, **params) for model, table in pairs))
        found, selected = self.selection.fitted(models, tables, y, params, weights)
        pooled = PooledModel(tuple(found))
        pooled.selection_ = selected
        return pooled

    def completed(self, X: Any, truth: Truth | None, entropy: int, *place: int | str) -> list[Any]:
        """Impute X: return H complete tables of its type.

        Parameters
        ----------
        X : array or pandas table of N rows
        truth : Truth of N rows or None
            For training rows, whose outcome informs the imputation; None for evaluated rows.
        entropy : int
        *place : int or str
            The place of this piece of work; each place has its own draws.

        Returns
        -------
        list of H tables
            ``X`` itself H times if nothing is missing.

        Raises
        ------
        InputError
            When a column has no value at all, or the imputer changes the columns or what was observed.
        """
        holes = holes_of(X)
        if not holes.any():
            return [X] * self.n_imputations
        table = writable(X)
        _refuse_empty(table, holes)
        inputs = table if truth is None else with_columns(table, outcome_columns(truth))
        return [self._once(table, holes, inputs, entropy, h, place) for h in range(self.n_imputations)]

    def imputers(self, X: Any, entropy: int, *place: int | str) -> list[Any]:
        """Fit H imputers on the rows without their outcome, to complete other rows.

        Parameters
        ----------
        X : array or pandas table of N rows
        entropy : int
        *place : int or str
            As in ``completed``.

        Raises
        ------
        InputError
            When a column has no value at all, or the imputer cannot complete other rows.
        """
        if self.imputer is not None and not hasattr(self.imputer, "transform"):
            raise InputError(
                f"the imputer {type(self.imputer).__name__} has no transform, so it cannot complete rows that are "
                "predicted; use one that has, such as ChainedImputer().",
                argument="imputation",
            )
        table = X if hasattr(X, "tocsr") else writable(X)
        if not hasattr(X, "tocsr"):
            _refuse_empty(table, holes_of(X))
        made = [self._seeded(entropy, h, place) for h in range(self.n_imputations)]
        # A sparse table has no gaps, and no imputer reads it.
        return made if hasattr(X, "tocsr") else [imputer.fit(table) for imputer in made]

    def _seeded(self, entropy: int, h: int, place: tuple[int | str, ...]) -> Any:
        imputer = ChainedImputer() if self.imputer is None else clone(self.imputer)
        seeds = {
            name: numpy_seed(entropy, "imputation", h, *place, *([] if name == "random_state" else [name]))
            for name in _seed_names(imputer)
        }
        return imputer.set_params(**seeds)

    def _once(
        self, table: Any, holes: Holes, inputs: Any, entropy: int, h: int, place: tuple[int | str, ...]
    ) -> Any:
        imputer = self._seeded(entropy, h, place)
        answer = imputer.fit_transform(inputs)
        _check_answer(inputs, answer, type(imputer).__name__)
        return filled(table, holes, answer, imputer)


def imputation_of(wanted: Any) -> Imputation | None:
    """An imputation from a number of imputations, or from itself; None for none.

    Raises InputError for anything else.

    Examples
    --------
    >>> imputation_of(3).n_imputations, imputation_of(None)
    (3, None)
    """
    if wanted is None or isinstance(wanted, Imputation):
        return wanted
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
        return Imputation(int(wanted))
    raise InputError(
        "imputation must be a number of imputations, ho.protocols.Imputation(...) or None, got "
        f"{shortened(wanted)}."
    )


def _seed_names(imputer: Any) -> list[str]:
    return [name for name in imputer.get_params() if name.split("__")[-1] == "random_state"]


def _check_draws(imputer: Any) -> None:
    """Refuse an imputer that returns the same completion each time.

    Identical or best-guess completions have no spread between them, so pooled standard errors would treat imputed
    values as observed.
    """
    name = type(imputer).__name__
    if isinstance(imputer, type) or not all(
        hasattr(imputer, method) for method in ("fit_transform", "get_params", "set_params")
    ):
        raise InputError(
            f"imputer must be a scikit-learn transformer such as ChainedImputer(), got {shortened(imputer)}."
        )
    if not _seed_names(imputer):
        raise InputError(
            f"the imputer {name} has no random_state, so all completions would be the same and imputed values "
            "would count as observed ones; use one that draws, such as ChainedImputer() or "
            "IterativeImputer(sample_posterior=True)."
        )
    for part in (imputer, *imputer.get_params().values()):
        if getattr(part, "sample_posterior", True) is False:
            raise InputError(
                f"{type(part).__name__}(sample_posterior=False) imputes the best guess instead of a draw, so "
                "imputed values would count as observed ones; set sample_posterior=True."
            )


def _refuse_empty(table: Any, holes: Holes) -> None:
    empty = np.flatnonzero(np.all(holes, axis=0))
    if empty.size:
        raise InputError(
            f"column {columns_named(table)[empty[0]]!r} has no value at all in these {len(holes)} rows, so "
            "there is nothing to impute from; leave it out."
        )


def _check_answer(inputs: Any, answer: Any, name: str) -> None:
    shape = getattr(answer, "shape", None)
    if hasattr(answer, "tocsr") or shape is None or len(shape) != 2 or shape[0] != inputs.shape[0]:
        raise InputError(f"the imputer {name} must give a table of as many rows, got {shortened(answer)}.")
    if shape[1] != inputs.shape[1]:
        raise InputError(
            f"the imputer {name} made {shape[1]} columns of {inputs.shape[1]}; it must neither add any (such as "
            "indicators) nor drop any."
        )
    if is_frame(answer) and is_frame(inputs) and list(answer.columns) != list(inputs.columns):
        raise InputError(f"the imputer {name} gave columns of other names or in another order; it must keep them.")
    holes = holes_of(inputs)
    for j, column in enumerate(columns_named(inputs)):
        observed = ~holes[:, j]
        before, after = column_at(inputs, j)[observed], column_at(answer, j)[observed]
        if not bool(np.all(before == after)):
            raise InputError(
                f"the imputer {name} changed observed values of column {column!r}; it may only fill gaps."
            )


def outcome_columns(truth: Truth) -> Floats:
    """The target as numbers.

    Returns (N, k): binary: 1 for the second class. Several classes: a column of 0 and 1 for each but the first.
    Regression: the numbers. Survival: whether the event was seen, and the Nelson-Aalen cumulative hazard at the
    row's time.

    References
    ----------
    White and Royston (2009), Imputing missing covariate values for the Cox model, section 3.3: the cumulative
    hazard at the time carries what the time says of a covariate, to first order.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> outcome_columns(truth_of(["a", "b", "c"])).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    if truth.kind is TaskKind.REGRESSION:
        return truth.values.astype(np.float64)[:, None]
    if truth.kind is TaskKind.SURVIVAL:
        event, time = truth.values["event"], truth.values["time"]
        return np.column_stack([event.astype(np.float64), nelson_aalen(event, time)])
    # All classes together would add up to 1 in every row, which the intercept says already.
    return (truth.values[:, None] == np.arange(1, truth.n_classes)).astype(np.float64)


def nelson_aalen(event: Booleans, time: Floats) -> Floats:
    """(N,): the cumulative hazard at each row's own time, the sum of d/n over event times up to it.

    Examples
    --------
    >>> event, time = np.array([True, True, False]), np.array([1.0, 2.0, 3.0])
    >>> [round(value, 3) for value in nelson_aalen(event, time).tolist()]
    [0.333, 0.833, 0.833]
    """
    times, place = np.unique(time, return_inverse=True)
    events = np.bincount(place, weights=event, minlength=len(times))
    leaving = np.bincount(place, minlength=len(times))
    at_risk = len(time) - np.concatenate([[0], np.cumsum(leaving)[:-1]])
    return np.cumsum(events / at_risk)[place]
