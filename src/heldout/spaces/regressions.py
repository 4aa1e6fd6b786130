"""The regressions of clinical prediction for tables: logistic, linear and Cox, unpenalised.

Columns keep their units and names, so coefficients read as in a paper; text becomes one indicator per category
except the first. A category that is missing in a sample of the rows counts as the first one.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from heldout._text import is_one_of
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.spaces.cox import CoxRegression
from heldout.spaces.preprocessing import MOST_CATEGORIES, column_kinds

NO_PENALTY = 1e300 if sklearn.__version__.startswith("1.8.") else np.inf
"""``C`` of a logistic regression without a penalty. scikit-learn 1.8 asks for inf, and warns at every fit."""


def _logistic() -> LogisticRegression:
    # Newton's method needs a handful of steps and no scaling, and one more for coefficients as exact as those of R;
    # several classes are fitted jointly.
    return LogisticRegression(C=NO_PENALTY, solver="newton-cholesky", max_iter=200, tol=1e-8)


MODELS: Mapping[str, tuple[frozenset[TaskKind], Callable[[], Any]]] = MappingProxyType(
    {
        "logistic": (frozenset({TaskKind.BINARY, TaskKind.MULTICLASS}), _logistic),
        "linear": (frozenset({TaskKind.REGRESSION}), LinearRegression),
        "cox": (frozenset({TaskKind.SURVIVAL}), CoxRegression),
    }
)
"""Name → the kinds of task that the model is for, and its constructor."""


def usual_model(kind: TaskKind) -> str:
    """The name of the regression for a kind of task.

    Examples
    --------
    >>> usual_model(TaskKind.SURVIVAL)
    'cox'
    """
    return next(name for name, (kinds, _) in MODELS.items() if kind in kinds)


def regression(name: str, X: Any, kind: TaskKind, *, fill: bool = True) -> Pipeline:
    """A regression of all columns of a table.

    Parameters
    ----------
    name : {"logistic", "linear", "cox"}
    X : table or array of shape (N, p)
        Only its column names and types are used.
    kind : TaskKind
    fill : bool, default=True
        Whether to fill in missing values (the median of the training rows; a category of their own). Not needed
        after an imputation.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 0.0]])
    >>> regression("linear", X, TaskKind.REGRESSION).fit(X, [1.0, 2.0, 3.0, 4.0])[-1].coef_.round(6).tolist()
    [1.0, 0.0]
    """
    if not is_one_of(name, MODELS):
        raise InputError(f"model must be one of {', '.join(MODELS)}, or a file that defines one, got {name!r}.")
    kinds, make = MODELS[name]
    if kind not in kinds:
        raise InputError(f"`model={name!r}` does not fit a {kind.value} target; use {usual_model(kind)}.")
    columns = column_kinds(X)
    numbers = SimpleImputer(strategy="median", keep_empty_features=True) if fill else "passthrough"
    categories = OneHotEncoder(
        drop="first", handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
    )
    parts = [("numbers", numbers, columns.numeric), ("categories", categories, columns.categorical)]
    prepare = ColumnTransformer([part for part in parts if part[2]], verbose_feature_names_out=False)
    if name != "cox":
        return Pipeline([("prepare", prepare), (name, make())])
    # Its likelihood has no maximum if a column is constant in a sample of the rows.
    model = Pipeline([("prepare", prepare), ("vary", VarianceThreshold()), (name, make())])
    # CoxRegression names the columns that it cannot fit; passing names on takes a few milliseconds.
    return model.set_output(transform="pandas") if hasattr(X, "iloc") else model
