"""One model out of those fitted on H completions of the same rows.

Linear models are averaged where they are linear, so that the pooled model is the one with Rubin's mean
coefficients; any others are averaged in what they say.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metaestimators import available_if

from heldout._types import Array, Floats
from heldout.errors import InputError
from heldout.imputation.backward import Selection
from heldout.metrics.survival_model import gives_survival, risks, survival


def _all_have(method: str) -> Callable[[Any], bool]:
    return lambda self: all(hasattr(member, method) for member in self.members)


def _all_give_survival(self: Any) -> bool:
    return all(gives_survival(member) for member in self.members)


def _says_decisions(self: Any) -> bool:
    # A decision is a distance in the units of its own model, for its own classes.
    return _all_have("decision_function")(self) and self._same_classes()


class PooledModel(BaseEstimator):  # type: ignore[misc]
    """Average the predictions of fitted models; it has the methods that all of them have.

    Parameters
    ----------
    members : sequence of H fitted models
        Fitted on completions of the same rows.

    Attributes
    ----------
    classes_ : ndarray
        For classifiers: the labels that all members know; a class that one of them never saw is missing.
    selection_ : Selection or None
        Which terms a backward selection kept and removed; None without one.

    Raises
    ------
    InputError
        When there is no member, or classifiers and other models are mixed.

    Notes
    -----
    Logistic regressions: the mean of their linear predictors, turned into probabilities. Cox models (with ``coef_``
    and a cumulative baseline hazard): the mean of their linear predictors and of the logarithms of their hazards,
    which does not depend on the row of the baseline. Others: the mean of probabilities, values, risks and survival
    probabilities. Labels: the most probable by the averaged probabilities; without probabilities by the averaged
    decision, or the most frequent label among the members.

    References
    ----------
    Marshall et al. (2009), Combining estimates of interest in prognostic modelling studies after multiple
    imputation: survival probabilities are pooled on the scale of log hazards.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> members = [LogisticRegression().fit(X + shift, y) for shift in (0.0, 0.5)]
    >>> pooled = PooledModel(members)
    >>> intercept, slope = (np.mean([m.intercept_ for m in members]), np.mean([m.coef_ for m in members]))
    >>> bool(np.allclose(pooled.predict_proba(X)[:, 1], expit(intercept + slope * X[:, 0])))
    True
    """

    def __init__(self, members: Sequence[Any]) -> None:
        self.members = members
        self.selection_: Selection | None = None
        if not len(members):
            raise InputError("a pooled model needs at least one fitted model, got none.")
        classifies = [hasattr(member, "classes_") for member in members]
        if any(classifies):
            if not all(classifies):
                raise InputError("a pooled model takes classifiers only, or none; got both.")
            known = (np.asarray(member.classes_) for member in members)
            self.classes_ = reduce(lambda a, b: a[np.isin(a, b)], known)

    @property
    def feature_names_in_(self) -> Any:
        return self.members[0].feature_names_in_

    @property
    def n_features_in_(self) -> int:
        return int(self.members[0].n_features_in_)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return self.members[0].__sklearn_tags__()

    @available_if(_all_have("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Array:
        """Labels, or the mean of values or risks: shape (n,)."""
        if not hasattr(self, "classes_"):
            # Risks of survival models point the same way; of any other model they are what it predicts.
            return np.mean([risks(member, X) for member in self.members], axis=0)
        if _all_have("predict_proba")(self):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        if _says_decisions(self):
            decision = self.decision_function(X)
            codes = (decision > 0).astype(np.intp) if decision.ndim == 1 else decision.argmax(axis=1)
            return self.classes_[codes]
        votes = np.array([member.predict(X) for member in self.members])
        return self.classes_[(votes[:, :, None] == self.classes_).sum(axis=0).argmax(axis=1)]

    @available_if(_all_have("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """(n, n_classes), columns as ``classes_``."""
        if self._same_classes() and all(_is_logistic(member) for member in self.members):
            decision = self.decision_function(X)
            if decision.ndim == 1:
                second = expit(decision)
                return np.column_stack([1 - second, second])
            return softmax(decision, axis=1)
        return np.mean([self._aligned(member, member.predict_proba(X)) for member in self.members], axis=0)

    @available_if(_says_decisions)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The mean of the members' decisions: (n,) for two classes, else (n, n_classes)."""
        return np.mean([member.decision_function(X) for member in self.members], axis=0)

    @available_if(_all_give_survival)  # type: ignore[untyped-decorator]
    def predict_survival_function(self, X: Any, times: Any) -> Floats:
        """(n, n_times): probabilities of no event until each of some times."""
        if all(is_cox(last_step(member)) for member in self.members):
            hazards = [_log_baseline_hazard(member, X, times) for member in self.members]
            with np.errstate(over="ignore"):
                return np.exp(-np.exp(self.predict(X)[:, None] + np.mean(hazards, axis=0)))
        return np.mean([survival(member, X, times) for member in self.members], axis=0)

    def _same_classes(self) -> bool:
        return all(np.array_equal(member.classes_, self.classes_) for member in self.members)

    def _aligned(self, member: Any, probabilities: Floats) -> Floats:
        place = [list(member.classes_).index(label) for label in self.classes_]
        return np.asarray(probabilities)[:, place]


def last_step(model: Any) -> Any:
    """The model behind pipelines and searches."""
    while True:
        if hasattr(model, "steps"):
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            return model


def _is_logistic(model: Any) -> bool:
    """Whether its probabilities are the logistic function (softmax, of several classes) of its decisions."""
    last = last_step(model)
    if not isinstance(last, LogisticRegression):
        return False
    one_against_rest = last.solver == "liblinear" or getattr(last, "multi_class", "auto") == "ovr"
    return len(last.classes_) == 2 or not one_against_rest


def is_cox(last: Any) -> bool:
    """Whether a model is a Cox model, ours or another's, by what these call their baselines."""
    return hasattr(last, "coef_") and any(
        hasattr(last, name) for name in ("baseline_cumulative_hazard_", "cum_baseline_hazard_")
    )


def _log_baseline_hazard(model: Any, X: Any, times: Any) -> Floats:
    """(n_times,): log H(t) in S(t) = exp(-exp(risk) H(t)), read from the row that tells it best at each time.

    Models keep it in forms of their own. Near 1 and near 0 a probability has lost the digits of its logarithm.
    """
    surviving = survival(model, X, times)
    risk = np.asarray(risks(model, X), dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        cumulative = -np.log(surviving)
        row = np.nan_to_num(surviving * cumulative).argmax(axis=0)
        return np.log(cumulative[row, np.arange(len(row))]) - risk[row]
