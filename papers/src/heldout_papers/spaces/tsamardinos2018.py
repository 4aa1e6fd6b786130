"""The 610 configurations of Tsamardinos, Greasidou and Borboudakis (2018), section 6.2.

Five ways to select columns, each followed by the same 122 learners. The article leaves some choices open. Here the
polynomial kernel has no constant term and ``gamma`` is not scaled, as in libsvm; the forest's number of columns is
rounded; the penalties of the elastic net are those of the training rows' own path, as in glmnet; a support vector
machine that has not converged after ``MOST_STEPS_OF_SVM`` steps stops there; and if SES selects nothing, the class
frequencies are predicted.
"""

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from heldout.data.checks import check_count
from heldout.data.task import TaskKind, truth_of
from heldout.errors import InputError
from heldout.spaces.preprocessing import default_preprocessing
from heldout.spaces.presets import Entry
from heldout_papers.spaces.constant_without_columns import ConstantWithoutColumns, QuietSES
from heldout_papers.spaces.elastic_net_logistic import ElasticNetLogistic
from heldout_papers.spaces.square_root_forest import SquareRootForest

MOST_STEPS_OF_SVM = 100_000
"""A steep polynomial (``gamma=100``) of a few columns that do not separate the classes takes libsvm millions of
steps. The unconverged model ranks rows erratically, and still does after thirty times as many steps."""

_COSTS = [0.01, 0.1, 1.0, 10.0, 100.0]
_GAMMAS = [0.01, 0.1, 1.0, 10.0, 100.0]


def tsamardinos2018(X: Any, y: Any, *, n_trees: int = 1000) -> list[Entry]:
    """The article's 610 configurations, for a table and a target of two classes.

    Numbers are imputed and standardised and categories turned into indicators, as in the presets. Then come all
    columns, or those that SES selects with ``alpha`` of 0.05 or 0.01 and ``max_k`` of 2 or 3 (five selections).
    Then comes a random forest (least leaf 1, 3, 5; 0.5, 1, 1.5, 2 times sqrt(p) columns tried: 12), a support
    vector machine with a linear (5 costs), polynomial (degree 2 and 3, 5 gammas, 5 costs: 50) or Gaussian kernel
    (5 gammas, 5 costs: 25), or an elastic net (``l1_ratio`` 0.001, 0.5, 1; 10 penalties: 30).

    Parameters
    ----------
    X : table or array of shape (N, p)
        Numbers, booleans and text, with gaps. Only its column names and types are used.
    y : array-like of shape (N,)
        Two classes with any labels.
    n_trees : int, default=1000
        Trees of each forest, which take nearly all the time.

    Returns
    -------
    list of (name, estimator, grid)
        The ``estimator`` of ``HeldOutSearchCV``. ``random_state`` is None, so the search sets it.

    Raises
    ------
    InputError
        When the target does not have two classes, or a column holds dates or nested values.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import ParameterGrid
    >>> entries = tsamardinos2018(*load_breast_cancer(return_X_y=True))
    >>> sum(len(ParameterGrid(grid)) for _, _, grid in entries)
    610
    >>> [name for name, _, _ in entries][:5]
    ['forest', 'ses forest', 'linear svm', 'ses linear svm', 'polynomial svm']
    """
    check_count("n_trees", n_trees)
    _check_two_classes(y)
    entries: list[Entry] = []
    for name, model, grid in _learners(n_trees):
        prepare = default_preprocessing(X)
        plain = Pipeline([("prepare", prepare), ("fit", model)])
        entries.append((name, plain, {f"fit__{key}": values for key, values in grid.items()}))
        # The wrapped model has the same name everywhere, and the settings of SES change fastest, so equal
        # selections give equal fits one after another.
        selected = Pipeline([("prepare", prepare), ("select", QuietSES()), ("fit", ConstantWithoutColumns(model))])
        wide: dict[str, list[Any]] = {f"fit__estimator__{key}": values for key, values in grid.items()}
        entries.append((f"ses {name}", selected, {**wide, "select__alpha": [0.05, 0.01], "select__max_k": [2, 3]}))
    return entries


def _learners(n_trees: int) -> list[Entry]:
    """The 122 learners."""
    limited = {"max_iter": MOST_STEPS_OF_SVM}
    return [
        ("forest", SquareRootForest(n_trees), {"min_leaf": [1, 3, 5], "roots": [0.5, 1.0, 1.5, 2.0]}),
        ("linear svm", SVC(kernel="linear", **limited), {"C": _COSTS}),
        (
            "polynomial svm",
            SVC(kernel="poly", **limited),
            {"C": _COSTS, "degree": [2, 3], "gamma": _GAMMAS},
        ),
        ("gaussian svm", SVC(kernel="rbf", **limited), {"C": _COSTS, "gamma": _GAMMAS}),
        (
            "elastic net",
            ElasticNetLogistic(),
            {"l1_ratio": [0.001, 0.5, 1.0], "lambda_index": list(range(10))},
        ),
    ]


def _check_two_classes(y: Any) -> None:
    truth = truth_of(y)
    if truth.kind is TaskKind.BINARY:
        return
    found = f"{truth.n_classes} classes" if truth.classes is not None else f"a {truth.kind} target"
    raise InputError(
        f"the space tsamardinos2018 is for a target of two classes, got {found}; use spaces.standard(X, y) for "
        "others."
    )
