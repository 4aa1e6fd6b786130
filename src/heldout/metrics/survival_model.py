"""What a survival model predicts: risks, and probabilities of survival until given times.

Models say survival in several ways: scikit-survival's array of step functions, an array with a column for each
time that the model knows, or a method that takes the times. Steps are right-continuous, and begin with 1 at time
0.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from heldout._types import Array, Floats
from heldout.errors import UnusablePredictionError

RISK_METHOD = "predict"
SURVIVAL_METHOD = "predict_survival_function"
_SCORES = {
    "sksurv": ("SurvivalAnalysisMixin.score", "IPCRidge.score"),
    "heldout": ("CoxModel.score",),
}
"""By package: methods ``score`` that are Harrell's concordance index."""
_TIMES_KNOWN = ("unique_times_", "event_times_")


def risks(model: Any, X: Any) -> Array:
    """What a survival model predicts of each row, greater = an earlier event.

    scikit-survival's models that predict times say so by ``_predict_risk_score``, and are turned round, as their
    own ``score`` does it.
    """
    predicted = np.asarray(getattr(model, RISK_METHOD)(X))
    return predicted if getattr(last_step(model), "_predict_risk_score", True) else -predicted


def scores_concordance(model: Any) -> bool:
    """Whether the ``score`` of a model (of a pipeline, its last step's) is known to be Harrell's index."""
    score = getattr(type(last_step(model)), "score", None)
    package = getattr(score, "__module__", "").partition(".")[0]
    return getattr(score, "__qualname__", "") in _SCORES.get(package, ())


def gives_survival(model: Any) -> bool:
    """Whether a model, or the last step of a pipeline, has a method for survival probabilities."""
    return hasattr(model, SURVIVAL_METHOD) or hasattr(last_step(model), SURVIVAL_METHOD)


def last_step(model: Any) -> Any:
    """The model itself: of a pipeline the last step."""
    while hasattr(model, "steps"):
        model = model.steps[-1][1]
    return model


def survival_method(model: Any) -> Callable[..., Any]:
    """The method for survival probabilities; of a pipeline that has none, its last step's on transformed rows."""
    method: Callable[..., Any] | None = getattr(model, SURVIVAL_METHOD, None)
    if method is not None:
        return method
    if not hasattr(model, "steps"):
        raise AttributeError(f"{type(model).__name__} has no {SURVIVAL_METHOD}, which gives survival probabilities")

    def of_transformed(X: Any, **asked: Any) -> Any:
        *before, (_, last) = model.steps
        for _, step in before:
            X = X if step is None or step == "passthrough" else step.transform(X)
        return survival_method(last)(X, **asked)

    return of_transformed


def survival(model: Any, X: Any, times: Sequence[float]) -> Floats:
    """Probabilities of no event until each of some times.

    Parameters
    ----------
    model : fitted estimator
        ``predict_survival_function(X)`` gives an array of step functions (with ``x`` and ``y``, or callable), or an
        array (n, k) with a column for each of ``unique_times_`` or ``event_times_``; or it takes ``times``.
    times : sequence of float

    Returns
    -------
    ndarray of shape (n, n_times)
        Right-continuous steps: the value at a time is that from the last step at or before it on, and 1 before the
        first step.

    Raises
    ------
    UnusablePredictionError
        When a time is later than the model knows, or the answer is none of these.

    Examples
    --------
    >>> class Half:
    ...     unique_times_ = np.array([2.0, 4.0])
    ...     def predict_survival_function(self, X):
    ...         return np.full((len(X), 2), [0.5, 0.25])
    >>> survival(Half(), [[0], [1]], (1, 2, 3)).tolist()
    [[1.0, 0.5, 0.5], [1.0, 0.5, 0.5]]
    """
    asked = np.asarray(times, dtype=np.float64)
    method, last = survival_method(model), last_step(model)
    if "times" in _parameters(getattr(last, SURVIVAL_METHOD, method)):
        return _checked(method(X, times=asked), asked)
    answer = method(X)
    curves = np.asarray(answer)
    if curves.dtype != object and curves.ndim == 2:
        grid = next((getattr(last, name) for name in _TIMES_KNOWN if hasattr(last, name)), None)
        if grid is None or len(grid) != curves.shape[1]:
            raise UnusablePredictionError(
                f"its survival probabilities have {curves.shape[1]} columns, and it does not say of which times: "
                f"they must be in {' or '.join(_TIMES_KNOWN)}"
            )
        return _steps(np.asarray(grid, dtype=np.float64), curves.astype(np.float64), asked)
    # Step functions may have a length of their own, which NumPy would take for rows.
    return np.stack([_of_curve(curve, asked) for curve in answer]) if len(answer) else np.empty((0, len(asked)))


def _parameters(method: Callable[..., Any]) -> Sequence[str]:
    try:
        return list(inspect.signature(method).parameters)
    except (TypeError, ValueError):
        return []


def _of_curve(curve: Any, asked: Floats) -> Floats:
    """One row's survival: of the steps where they are there, else of a call."""
    if hasattr(curve, "x") and hasattr(curve, "y"):
        heights = getattr(curve, "a", 1.0) * np.asarray(curve.y, dtype=np.float64) + getattr(curve, "b", 0.0)
        return _steps(np.asarray(curve.x, dtype=np.float64), heights[None, :], asked, _end_of(curve))[0]
    if not callable(curve):
        raise UnusablePredictionError(f"its survival functions are not functions of time, got {curve!r:.60}")
    try:
        return np.asarray(curve(asked), dtype=np.float64).reshape(len(asked))
    except ValueError as error:
        raise UnusablePredictionError(f"its survival function gives no value at times {asked}: {error}") from error


def _end_of(curve: Any) -> float | None:
    """The last time of which a step function says something; None where that is its last step."""
    domain = getattr(curve, "domain", None)
    return None if domain is None else float(domain[1])


def _steps(grid: Floats, heights: Floats, asked: Floats, end: float | None = None) -> Floats:
    """(n, n_times): the heights (n, k) from ``known`` on, at the times asked."""
    end = float(grid[-1]) if end is None else max(end, float(grid[-1]))
    if (asked > end).any():
        raise UnusablePredictionError(
            f"it gives no survival after time {end:g}, the last of its training rows, but a metric needs "
            f"{asked[asked > end][0]:g}; use earlier times"
        )
    place = np.searchsorted(grid, asked, side="right")
    return np.concatenate([np.ones((len(heights), 1)), heights], axis=1)[:, place]


def _checked(answer: Any, asked: Floats) -> Floats:
    numbers = np.asarray(answer, dtype=np.float64)
    if numbers.ndim != 2 or numbers.shape[1] != len(asked):
        raise UnusablePredictionError(
            f"it should give survival at {len(asked)} times, but gave an array of shape {numbers.shape}, not "
            "one column per time"
        )
    return numbers
