"""One kernel with few and with many hyper-parameters, as Cawley and Talbot (2010, section 5) compare them.

The machine with a length scale for each column can be all that the one with a single length scale is, so that it
cannot be worse if both are tuned perfectly. Tuned by a score, it has many more ways to fit that score by chance.
"""

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from heldout._streams import stream
from heldout._types import Floats
from heldout.errors import InputError
from heldout.spaces.preprocessing import MOST_CATEGORIES, column_kinds
from heldout.spaces.presets import Entry
from heldout_papers.spaces.least_squares_svm import LeastSquaresSVM

KERNELS = ("lssvm", "lssvmARD")
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Length scales as multiples of the square root of the number of columns."""
COSTS = (0.1, 1.0, 10.0)
SPREAD = 1.0
"""Standard deviation of the natural logarithm of the drawn length scales around a common width."""


def cawley_talbot2010(X: Any, y: Any = None, *, n_draws: int = 100) -> list[Entry]:
    """Least-squares support vector machines with one length scale (``lssvm``) and with one a column (``lssvmARD``).

    ``lssvm`` has five widths and three costs. ``lssvmARD`` has the same and, for each cost, ``n_draws`` vectors of
    length scales around these widths; they are the same whenever the table has as many columns. Gaps are filled
    with the median, each category has an indicator and all columns are standardised.

    Parameters
    ----------
    X : table or array of shape (N, p)
        Its categories, and its number of columns once these are encoded, set the size of the vectors.
    y : ignored
    n_draws : int, default=100
        Vectors of length scales.

    Returns
    -------
    list of (name, estimator, grid)
        The ``estimator`` of ``HeldOutSearchCV``.

    Raises
    ------
    InputError
        When ``n_draws`` is not an integer of at least 0, or ``X`` has columns of dates or nested values.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from heldout.configurations import make_configurations
    >>> space = cawley_talbot2010(*load_breast_cancer(return_X_y=True), n_draws=20)
    >>> [(name, len(make_configurations([(name, model, grid)]))) for name, model, grid in space]
    [('lssvm', 15), ('lssvmARD', 75)]
    """
    if not isinstance(n_draws, int | np.integer) or isinstance(n_draws, bool) or n_draws < 0:
        raise InputError(f"n_draws must be an integer of at least 0, got {n_draws!r}.", argument="n_draws")
    prepare = _preprocessing(X)
    p = prepare.fit_transform(X).shape[1]
    widths = [float(np.sqrt(p) * width) for width in WIDTHS]
    rng = np.random.Generator(np.random.Philox(key=stream(0, "ard length scales", p)))
    drawn = [tuple(_vector(widths[k % len(widths)], p, rng)) for k in range(n_draws)]
    scales: dict[str, list[Any]] = {"lssvm": list(widths), "lssvmARD": [*widths, *drawn]}
    return [
        (
            name,
            Pipeline([("prepare", prepare), ("fit", LeastSquaresSVM())]),
            {"fit__length_scales": scales[name], "fit__C": list(COSTS)},
        )
        for name in KERNELS
    ]


def _vector(width: float, p: int, rng: np.random.Generator) -> list[float]:
    scales: Floats = width * np.exp(SPREAD * rng.standard_normal(p))
    return [float(f"{scale:.4g}") for scale in scales]


def _preprocessing(X: Any) -> ColumnTransformer:
    """The same number of columns from any part of the rows, so that a length scale stays with its column."""
    kinds = column_kinds(X)
    known = _categories(X, kinds.categorical)
    numbers = Pipeline(
        [("fill", SimpleImputer(strategy="median", keep_empty_features=True)), ("scale", StandardScaler())]
    )
    categories = Pipeline(
        [
            ("text", FunctionTransformer(as_text)),
            ("encode", OneHotEncoder(categories=known, handle_unknown="ignore", sparse_output=False)),
            ("scale", StandardScaler()),
        ]
    )
    parts = [("numbers", numbers, kinds.numeric), ("categories", categories, kinds.categorical)]
    return ColumnTransformer([part for part in parts if part[2]], verbose_feature_names_out=False)


def as_text(columns: Any) -> Any:
    """Values as text; a missing one is the category 'nan' or 'None'."""
    return np.asarray(columns, dtype=object).astype(str)


def _categories(X: Any, names: list[Any]) -> list[list[str]]:
    """The most frequent categories of each column, sorted; a row of another has no indicator."""
    found = []
    for name in names:
        values, counts = np.unique(as_text(X[name]), return_counts=True)
        most = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
        found.append(sorted(values[most].tolist()))
    return found
