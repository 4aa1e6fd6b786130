"""Models saved by skops: only reviewed types are loaded, and types that the user trusts by their full name.

Reading such a file runs none of its code, but using a model calls what it holds: a transformer calls its function,
a neighbours model its metric. So everything that a file names must be on a list, and the list is in this module, or
in heldout-papers where that is installed: anybody who can write a model file can also write the files beside it.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from heldout._papers import of_papers
from heldout.errors import InputError, MissingExtraError, no_file, reason_of, unwritable
from heldout.readers.columns import damage_refused

CACHE = "joblib.memory.Memory"
"""The cache of a pipeline with ``memory="folder"``, which unpickles that folder's files when it is fitted."""


# The types and functions that a saved model may hold: each was reviewed, and each only computes. These are what
# heldout's estimators and those of scikit-learn need beyond what skops itself trusts (scikit-learn's estimators,
# containers, arrays, and the ufuncs of NumPy and SciPy). A function is listed by its own name, never by its module.
# Types that call other code are left out on purpose: functools.partial, operator, bound methods, PyFuncDistance.
_TYPES: Mapping[str, str] = {
    "builtins": "object",
    "numpy": "dtype",
    "scipy.interpolate._bsplines": "BSpline",
    "scipy.sparse._csc": "csc_array csc_matrix",
    "scipy.sparse._csr": "csr_array csr_matrix",
    "heldout.imputation.backward": "BackwardSelection KeptColumns RemovedTerm Selection",
    "heldout.imputation.chained": "CategoryColumn CategoryEquation ChainedImputer LinearEquation NumberColumn",
    "heldout.imputation.imputed_model": "Completion ImputedModel",
    "heldout.imputation.pooled": "PooledModel",
    "heldout.imputation.coefficients": "PooledCoefficients",
    "heldout.imputation.settings": "Imputation",
    "heldout.spaces.cox": "CoxRegression StatsmodelsCox",
    "heldout.spaces.preprocessing": "NativeCategories",
    "heldout.spaces.procedure": "TuningProcedure",
    "sklearn._loss.link": "HalfLogitLink IdentityLink Interval LogLink LogitLink MultinomialLogit",
    "sklearn._loss.loss": "AbsoluteError ExponentialLoss HalfBinomialLoss HalfGammaLoss HalfMultinomialLoss "
    "HalfPoissonLoss HalfSquaredError HalfTweedieLoss HalfTweedieLossIdentity HuberLoss PinballLoss",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling",
    "sklearn.cluster._bisect_k_means": "_BisectingTree",
    "sklearn.compose._column_transformer": "_RemainderColsList make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.binning": "_BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "sklearn.gaussian_process._gpc": "_BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels": "CompoundKernel ConstantKernel DotProduct ExpSineSquared Exponentiation "
    "Matern PairwiseKernel Product RBF RationalQuadratic Sum WhiteKernel",
    "sklearn.impute._iterative": "IterativeImputer _ImputerTriplet",
    "sklearn.metrics._scorer": "_CurveScorer _PassthroughScorer _Scorer",
    "sklearn.model_selection._search_successive_halving": "HalvingGridSearchCV HalvingRandomSearchCV",
    "sklearn.model_selection._split": "GroupKFold GroupShuffleSplit KFold LeaveOneGroupOut LeaveOneOut "
    "LeavePGroupsOut LeavePOut PredefinedSplit RepeatedKFold RepeatedStratifiedKFold ShuffleSplit "
    "StratifiedGroupKFold StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit",
    "sklearn.multiclass": "_ConstantPredictor",
    "sklearn.neighbors._ball_tree": "BallTree",
    "sklearn.neighbors._kd_tree": "KDTree",
    "sklearn.neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "sklearn.tree._tree": "Tree",
    "sklearn.utils._bunch": "Bunch",
    "sklearn.utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
}

_DISTANCES = (
    "BrayCurtis Canberra Chebyshev Dice Euclidean Hamming Haversine Jaccard Mahalanobis Manhattan Minkowski "
    "RogersTanimoto RussellRao SEuclidean SokalSneath"
)

_FUNCTIONS: Mapping[str, str] = {
    "numpy": "max mean median min",
    "scipy._lib.array_api_compat.numpy._aliases": "asarray",
    "sklearn.cluster._kmeans": "_kmeans_single_elkan _kmeans_single_lloyd",
    "sklearn.feature_selection._mutual_info": "mutual_info_classif mutual_info_regression",
    "sklearn.feature_selection._univariate_selection": "chi2 f_classif f_regression r_regression",
    "sklearn.metrics._classification": "accuracy_score balanced_accuracy_score brier_score_loss cohen_kappa_score "
    "d2_brier_score d2_log_loss_score f1_score fbeta_score hinge_loss jaccard_score log_loss matthews_corrcoef "
    "precision_score recall_score zero_one_loss",
    "sklearn.metrics._ranking": "average_precision_score roc_auc_score top_k_accuracy_score",
    "sklearn.metrics._regression": "d2_absolute_error_score d2_pinball_score d2_tweedie_score "
    "explained_variance_score max_error mean_absolute_error mean_absolute_percentage_error mean_gamma_deviance "
    "mean_pinball_loss mean_poisson_deviance mean_squared_error mean_squared_log_error mean_tweedie_deviance "
    "median_absolute_error r2_score root_mean_squared_error root_mean_squared_log_error",
    "sklearn.metrics._scorer": "negative_likelihood_ratio positive_likelihood_ratio",
}


def _names() -> Iterator[str]:
    for listed in (_TYPES, _FUNCTIONS):
        for module, names in listed.items():
            yield from (f"{module}.{name}" for name in names.split())
    for name in _DISTANCES.split():
        yield from (f"sklearn.metrics._dist_metrics.{name}Distance{bits}" for bits in (32, 64))


REVIEWED_TYPES = frozenset(_names())
"""Full names, as skops writes them."""


def load_model(path: str | Path, trust: Iterable[str] = ()) -> Any:
    """Load a model saved by ``heldout tune`` or ``heldout validate``, or any other in a skops file.

    Using a model runs its code, so the file may contain reviewed types only: those of heldout and scikit-learn that
    only compute. Each function in it must be reviewed by name.

    Parameters
    ----------
    path : str or Path
        A ``.skops`` file.
    trust : sequence of str, default=()
        Full names of further types and functions that you have reviewed, such as ``"mypackage.models.MyModel"``.

    Returns
    -------
    estimator
        The model, as it was saved.

    Raises
    ------
    InputError
        When there is no such file, it is damaged, or it holds types that are neither reviewed nor trusted.
    MissingExtraError
        Without skops, which is in the extra ``app``.

    Notes
    -----
    Only code is checked. Numbers are not: a crafted file can still predict nonsense or crash the process, as
    scikit-learn does not check the nodes of a tree. Load models of people you trust.

    Examples
    --------
    >>> import tempfile, skops.io
    >>> from sklearn.linear_model import LogisticRegression
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> skops.io.dump(LogisticRegression(C=3.0).fit([[0.0], [1.0]], ["no", "yes"]), path)
    >>> load_model(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    trusted = _trusted(trust)
    _check_path(path)
    if not Path(path).exists():
        raise no_file(path, "the path of a saved model", argument="path")
    with damage_refused(path, "a model"):
        data = Path(path).read_bytes()
        types = _skops().get_untrusted_types(data=data)
    _refuse({*types} - reviewed(types) - trusted, path)
    with damage_refused(path, "a model"):
        model = _skops().loads(data, trusted=types)
    if CACHE not in trusted and names_a_cache(model):
        _refuse({CACHE}, path)
    return model


def save_model(model: Any, path: str | Path) -> list[str]:
    """Save a model in a skops file, which contains no code, for ``load_model``.

    Parameters
    ----------
    model : estimator or fitted search
        For a search, its ``best_estimator_`` is saved.
    path : str or Path
        A file with the ending ``.skops``, which is replaced if it is there.

    Returns
    -------
    list of str
        Types in it that heldout has not reviewed: to load it, review each and pass them as ``trust``.

    Raises
    ------
    InputError
        When ``path`` is not a path, or skops cannot save the model.
    MissingExtraError
        Without skops, which is in the extra ``app``.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.linear_model import LogisticRegression
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> save_model(LogisticRegression(C=3.0).fit([[0.0], [1.0]], ["no", "yes"]), path)
    []
    >>> load_model(path).C
    3.0
    """
    _check_path(path)
    try:
        data, types = packed(getattr(model, "best_estimator_", model))
    except (MissingExtraError, InputError):
        raise
    except Exception as error:
        reason = reason_of(error)
        raise InputError(
            f"{type(model).__name__} cannot be saved in a skops file ({type(error).__name__}: {reason}); save it "
            "by joblib.dump, which runs code when it is loaded.",
            argument="model",
        ) from error
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise unwritable("the model", path, error) from error
    return not_reviewed(model, types)


def _check_path(path: Any) -> None:
    if not isinstance(path, str | PathLike):
        raise InputError(f"path must be the path of a .skops file, got {path!r:.200}.")


def packed(model: Any, note: Mapping[str, Any] | None = None) -> tuple[bytes, list[str]]:
    """A model as the bytes of a skops file, and the types and functions in it that skops does not trust.

    ``note``: what ``note_of`` reads from the file, of the table on which the model was fitted.
    """
    data = _skops().dumps(model)
    types = sorted(_skops().get_untrusted_types(data=data))
    if note is not None:
        stream = io.BytesIO(data)
        with zipfile.ZipFile(stream, "a") as archive:  # skops reads its own members only
            archive.writestr(zipfile.ZipInfo(_NOTE), json.dumps(note))
        data = stream.getvalue()
    return data, types


_NOTE = "heldout.json"
"""Its place in the archive that a skops file is."""


def note_of(path: str | Path) -> dict[str, Any]:
    """What a model file says of the table on which the model was fitted; empty of files without a note."""
    with damage_refused(path, "a model"), zipfile.ZipFile(path) as archive:
        return dict(json.loads(archive.read(_NOTE))) if _NOTE in archive.namelist() else {}


def reviewed(types: Iterable[str]) -> set[str]:
    names = {*types}
    if names <= REVIEWED_TYPES:
        return names
    of_articles = [module.REVIEWED_TYPES for module in of_papers("heldout.spaces").values()]
    return names & REVIEWED_TYPES.union(*of_articles)


def not_reviewed(model: Any, types: Iterable[str]) -> list[str]:
    strangers = sorted({*types} - reviewed(types))
    return [*strangers, CACHE] if names_a_cache(model) else strangers


def names_a_cache(model: Any) -> bool:
    """Whether some ``memory`` in the model, or in the grid of a search, is anything but None or a number.

    This examines the loaded model rather than the file, since two nodes of a file may share one value.
    """
    return any(
        _is_memory(name) and not isinstance(value, int | float | None)
        for part in parts_of(model)
        for name, value in _named(part).items()
    )


def parts_of(model: Any) -> Iterator[Any]:
    """A model and everything in it, each once: attributes, and elements of containers."""
    done, left = set(), [model]
    while left:
        part = left.pop()
        if id(part) in done:
            continue
        done.add(id(part))
        yield part
        left += _named(part).values()
        if isinstance(part, list | tuple | set):
            left += part
        elif isinstance(part, np.ndarray) and part.dtype == object:
            left += part.ravel().tolist()


def _named(part: Any) -> Any:
    return part if isinstance(part, dict) else getattr(part, "__dict__", {})


def _is_memory(name: Any) -> bool:
    return isinstance(name, str) and name.rpartition("__")[2] == "memory"


def _refuse(strangers: set[str], path: str | Path) -> None:
    if strangers:
        names = sorted(strangers)
        raise InputError(
            f"{path} holds types that are not reviewed: {', '.join(names)}; review them, and if you trust each, "
            f"load it with ho.load_model(path, trust={names}), or with --trust {' --trust '.join(names)}."
        )


def _trusted(trust: Iterable[str]) -> set[str]:
    names = [trust] if isinstance(trust, str) else list(trust)
    if isinstance(trust, str) or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"trust must be a list of full names of types, such as ['mypackage.MyModel'], got {trust!r:.200}."
        )
    return set(names)


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise MissingExtraError("Loading or saving a model", "app") from None
    return skops.io
