"""Any procedure that returns one fitted model, as an estimator: it tunes in whatever way it likes."""

import functools
import inspect
from typing import Any, Literal, Self, TypeAlias

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from heldout._text import is_one_of
from heldout.data.task import TaskKind, shortened, truth_of
from heldout.errors import InputError
from heldout.metrics.base import ESTIMATOR_METHODS
from heldout.metrics.survival_model import SURVIVAL_METHOD

ModelKind: TypeAlias = Literal["classifier", "regressor", "survival"]
KINDS = ("classifier", "regressor", "survival")
_SCORES = {"classifier": "accuracy", "regressor": "r2", "survival": "concordance_index"}
_FORWARDED = {*ESTIMATOR_METHODS.values(), SURVIVAL_METHOD, "_predict_risk_score"} - {"predict"}


class TuningProcedure(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Wrap a whole tuning procedure as one estimator (Tsamardinos et al. 2018, section 2.2).

    The procedure receives rows and returns one fitted model; it may select columns, tune hyper-parameters and
    choose among algorithms by any means. For a protocol it is one configuration: every outer fold and every
    bootstrap sample runs the whole procedure on its training rows, and scores the returned model.

    Parameters
    ----------
    source : callable or estimator
        ``source(X, y)`` returns a fitted model; if it takes ``random_state``, ``sample_weight`` or ``groups``, it
        receives them. Or an estimator, such as ``GridSearchCV``, which is cloned and fitted with its own ``cv``.
    kind : {"classifier", "regressor", "survival"}, optional
        The kind of model that a function returns, which determines stratification and the default metric. Not
        needed for an estimator.
    random_state : int, optional
        Passed to a function that takes it; if None, a protocol gives each fit its own seed.
    groups : array-like, optional
        Passed to a function that takes them. On a bootstrap sample a protocol passes the same number for all copies
        of a row, so that the function can keep them on one side of its own splits; otherwise it passes None.

    Attributes
    ----------
    model_ : fitted model
        The returned model. Its fitted attributes, such as ``classes_``, ``best_params_`` and ``alpha_``, are also
        attributes of the procedure.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> def tuned(X, y):
    ...     models = [LogisticRegression(C=C, solver="liblinear") for C in (0.01, 1.0)]
    ...     return max(models, key=lambda model: cross_val_score(model, X, y, cv=3).mean()).fit(X, y)
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> procedure = TuningProcedure(tuned, kind="classifier").fit(X, y)
    >>> procedure.model_.C, round(procedure.score(X, y), 2)
    (1.0, 0.96)
    """

    def __init__(
        self, source: Any, kind: ModelKind | None = None, random_state: Any = None, groups: Any = None
    ) -> None:
        self.source = source
        self.kind = kind
        self.random_state = random_state
        self.groups = groups

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Run the procedure.

        Raises InputError when it takes no weights and some are given, or returns no model that can predict.
        """
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if self._wraps_estimator:
            if given and not has_fit_parameter(self.source, "sample_weight"):
                raise InputError(f"{type(self.source).__name__}.fit takes no sample_weight; leave it out.")
            self.model_ = clone(self.source).fit(X, y, **given)
            return self
        self._check_function()
        takes = inspect.signature(self.source).parameters
        if given and "sample_weight" not in takes:
            raise InputError(f"{self._name} takes no sample_weight; leave it out, or add it to its arguments.")
        own = {"random_state": self.random_state, "groups": self.groups}
        given |= {name: value for name, value in own.items() if name in takes}
        model = self.source(X, y, **given)
        if not hasattr(model, "predict"):
            raise InputError(
                f"{self._name} must return one fitted model, which can predict, got {shortened(model)}."
            )
        self.model_ = model
        return self

    def predict(self, X: Any) -> Any:
        """The predictions of the model."""
        check_is_fitted(self, "model_")
        return self.model_.predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The model's own score: the accuracy of a classifier, the R² of a regressor."""
        check_is_fitted(self, "model_")
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.model_.score(X, y, **given)

    def __getattr__(self, name: str) -> Any:
        is_fitted_attribute = name.endswith("_") and not name.startswith("_") and name != "model_"
        if "model_" in self.__dict__ and (name in _FORWARDED or is_fitted_attribute):
            return getattr(self.model_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        if self._wraps_estimator:
            return get_tags(self.source)
        tags = super().__sklearn_tags__()
        # Its rows may be anything that the function takes.
        tags.input_tags.allow_nan, tags.input_tags.sparse = True, True
        if self.kind in ("classifier", "regressor"):
            tags.estimator_type = self.kind
        return tags

    def scored_as(self) -> tuple[Any, str | None]:
        """What ``score`` computes, known before the fit: an estimator, and a metric if it has one.

        For an estimator its own score; for a function the accuracy, R² or concordance index of its models.
        """
        if self._wraps_estimator:
            return self.source, None
        self._check_function()
        return self, _SCORES[str(self.kind)]

    @property
    def _wraps_estimator(self) -> bool:
        return hasattr(self.source, "fit") and not isinstance(self.source, type)

    @property
    def _name(self) -> str:
        function = self.source.func if isinstance(self.source, functools.partial) else self.source
        return str(getattr(function, "__name__", type(function).__name__))

    def _check_function(self) -> None:
        if not callable(self.source) or isinstance(self.source, type):
            raise InputError(
                "source must be a function of X and y that returns a fitted model, or an estimator, got "
                f"{shortened(self.source)}."
            )
        if not is_one_of(self.kind, KINDS):
            raise InputError(
                f"kind must be one of {', '.join(map(repr, KINDS))} for a function, got {self.kind!r}."
            )


def procedure_of(estimator: Any, y: Any) -> Any:
    """A function of X and y as an estimator, whose kind the target tells; anything else as it is.

    Numbers with fractions are a regression, and events with times survival; everything else is classes.
    """
    is_function = inspect.isroutine(estimator) or isinstance(estimator, functools.partial)
    return TuningProcedure(estimator, _kind_of(y)) if is_function else estimator


def _kind_of(y: Any) -> ModelKind:
    kind = truth_of(y).kind
    if kind is TaskKind.SURVIVAL:
        return "survival"
    return "regressor" if kind is TaskKind.REGRESSION else "classifier"
