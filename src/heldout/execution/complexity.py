"""The complexity of a fitted model: how many of what it has, support vectors, leaves or coefficients.

A selection rule can weigh the complexity of the models that a configuration produces against their scores
(Tsamardinos, Greasidou & Borboudakis 2018, section 4.1). Numbers are compared in one unit only: the first of
``UNITS`` that the models of all configurations have.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from heldout._sklearn import n_leaves_of_rounds
from heldout._types import Floats
from heldout.data.checks import is_number
from heldout.errors import InputError
from heldout.execution.cells import CellState, CellTable
from heldout.folds.splits import Place

OWN, VECTORS, LEAVES, COEFFICIENTS, WEIGHTS, COLUMNS = UNITS = (
    "own complexity", "support vectors", "leaves", "non-zero coefficients", "weights", "selected columns",
)  # fmt: skip
_INNER = ("best_estimator_", "regressor_", "estimator_")
"""Where searches, transformed targets and the like keep the model that they fitted."""


def measured(model: Any) -> dict[str, float]:
    """How many of each unit a fitted model has.

    Of a pipeline its last step counts, and the columns that its last selector of columns keeps. An estimator of
    one's own gives its number as the attribute ``complexity_``.

    Raises InputError for a model without any of ``UNITS``.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> measured(Lasso(alpha=0.1).fit(X, [0.0, 1.0, 2.0]))
    {'non-zero coefficients': 1.0}
    """
    # A number of each unit, as each imputation has a model of its own.
    if members := getattr(getattr(model, "pooled_", None), "members", ()):  # a model for each imputation
        each = [measured(member) for member in members]
        return {unit: sum(one[unit] for one in each) / len(each) for unit in _common(each)}
    found = _of_selectors(model)
    last = model
    # A search around a pipeline around a model: what predicts lies at the end.
    while (inner := _inside(last)) is not None:
        last = inner
        found = _of_selectors(last) or found
    for unit, number in ((unit, count(last)) for unit, count in _COUNTS.items()):
        if number is not None:
            found[unit] = _checked(number, last)
    if not found:
        raise InputError(
            f"`complexity='measured'` counts {', '.join(UNITS[1:])} of fitted models, and {type(last).__name__} "
            "has none of them; give the model an attribute complexity_, or use the name of a parameter as "
            "complexity, or a function of the parameters.",
            argument="selection",
        )
    return found


def _checked(number: Any, model: Any) -> float:
    if not is_number(number) or not np.isfinite(number):
        raise InputError(
            f"complexity_ of {type(model).__name__} must be a finite number, got {number!r}.", argument="selection"
        )
    return float(number)


def _inside(model: Any) -> Any:
    if hasattr(model, "steps") and hasattr(model, "named_steps"):
        return model.steps[-1][1]
    # A support vector machine has ``support_`` too, but no model within.
    if hasattr(model, "support_") and not hasattr(model, "n_support_"):
        return getattr(model, "estimator_", None)  # recursive elimination: the model on the kept columns
    if hasattr(model, "estimators_"):
        return None  # an ensemble, whose estimator_ is not fitted
    return next((getattr(model, name) for name in _INNER if hasattr(model, name)), None)


def _of_selectors(model: Any) -> dict[str, float]:
    """The columns that the last selector of a pipeline, or the model itself, keeps."""
    steps = [step for _, step in getattr(model, "steps", [])] or [model]
    kept = [step.get_support() for step in steps if hasattr(step, "get_support")]
    return {COLUMNS: float(np.count_nonzero(kept[-1]))} if kept else {}


def _leaves(model: Any) -> float | None:
    """Of a tree, or of all trees of an ensemble, those of LightGBM, XGBoost and CatBoost included."""
    if hasattr(model, "tree_"):
        return float(model.tree_.n_leaves)
    if (n_leaves := n_leaves_of_rounds(model)) is not None:
        return float(n_leaves)
    if hasattr(model, "booster_"):
        return float(sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"]))
    if hasattr(model, "get_booster"):
        return float(sum(tree.count("leaf=") for tree in model.get_booster().get_dump()))
    if hasattr(model, "get_tree_leaf_counts"):
        return float(np.sum(model.get_tree_leaf_counts()))
    trees = np.ravel(np.asarray(getattr(model, "estimators_", ()), dtype=object)).tolist()
    leaves = [_leaves(tree) for tree in trees]
    counted = [each for each in leaves if each is not None]
    # A sum over some of the trees would make an ensemble look simpler than it is.
    return sum(counted) if leaves and len(counted) == len(leaves) else None


def _coefficients(model: Any) -> float | None:
    coefficients = getattr(model, "coef_", None)
    if coefficients is None:
        return None
    if hasattr(model, "alphas_") and np.ndim(coefficients) == 2 and np.shape(coefficients)[1] == len(model.alphas_):
        coefficients = coefficients[:, -1]  # of a path of penalties the last, by which it predicts
    return float(coefficients.count_nonzero() if hasattr(coefficients, "nnz") else np.count_nonzero(coefficients))


_COUNTS: Mapping[str, Callable[[Any], Any]] = {
    OWN: lambda model: getattr(model, "complexity_", None),
    VECTORS: lambda model: float(np.sum(model.n_support_)) if hasattr(model, "n_support_") else None,
    LEAVES: _leaves,
    COEFFICIENTS: _coefficients,
    WEIGHTS: lambda model: float(sum(np.size(one) for one in model.coefs_)) if hasattr(model, "coefs_") else None,
}


def mean_complexities(
    cells: CellTable, names: Sequence[str], out: Collection[int] = (), places: Collection[Place] | None = None
) -> Floats:
    """(C,): of each configuration the mean over its models, in a unit that all have; infinite without a model.

    - ``out``: configurations that are no candidates.
    - ``places``: of the splits whose models count; all by default.

    Raises InputError where no unit is common to all candidates.
    """
    done = cells.is_in(CellState.DONE)
    # What cannot win must not decide in which unit the others are compared.
    done[list(out)] = False
    if places is not None:
        done &= np.array([place in places for place in cells.places])
    numbers = cells.columns["complexity"]
    with_models = np.flatnonzero(done.any(axis=1)).tolist()
    units = {j: _common(numbers[j, done[j]]) for j in with_models}
    common = _common(units.values())
    if with_models and not common:
        first: dict[str, str] = {}
        for j in with_models:
            first.setdefault(" and ".join(units[j]), names[j])
        listed = "; ".join(f"{name} has {kinds}" for kinds, name in list(first.items())[:3])
        raise InputError(
            f"`complexity='measured'` needs one unit that the models of all configurations have, but {listed}; use "
            "a function of the parameters as complexity, or search these models apart.",
            argument="selection",
        )
    means = np.full(len(done), np.inf)
    for j in with_models:
        means[j] = np.mean([each[common[0]] for each in numbers[j, done[j]]])
    return means


def _common(counted: Iterable[Mapping[str, float] | tuple[str, ...]]) -> tuple[str, ...]:
    """The units that all have, in the order of ``UNITS``."""
    each = [set(units) for units in counted]
    return tuple(unit for unit in UNITS if each and all(unit in units for units in each))
