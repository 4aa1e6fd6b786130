"""The coefficients of a model fitted on all rows, with Wald intervals where theory gives them.

An interval needs the covariance of a maximum of likelihood: the inverse of the information matrix. A penalised
coefficient is shrunk, and a model that a search selected is one of many, so that these have values and a sentence
that says why there is no interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy
from scipy.stats import chi2
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from heldout._record import value_text
from heldout._types import Floats
from heldout.data.task import TaskKind
from heldout.imputation import coefficients
from heldout.imputation.pooled import is_cox
from heldout.imputation.tables import missing_counts
from heldout.metrics.base import Response
from heldout.metrics.survival_model import last_step
from heldout.protocols.validation.replicates import Replicates
from heldout.spaces.cox import CoxModel, CoxRegression


class LikelihoodTest(NamedTuple):
    """The likelihood-ratio test of all coefficients but the intercept."""

    statistic: float
    df: int
    p_value: float


@dataclass(frozen=True, eq=False)
class FittedCoefficients(coefficients.LinearCoefficients):
    """The p coefficients of a fitted linear model, with covariance and tests.

    Attributes
    ----------
    names : tuple of str
        The columns that the model receives, ``intercept`` first; a level of a text column is ``column_level``.
    values : ndarray of shape (p,)
    covariance : ndarray of shape (p, p) or None
        The inverse of the information; with importance weights the robust (sandwich) estimate; None with a
        ``reason``.
    df : float
        Degrees of freedom of Student's t: n - p for least squares, otherwise infinite (the normal distribution).
    ratio : str
        What exp(value) is: ``odds ratio``, ``hazard ratio``, or empty.
    of : str
        The class whose odds they are; empty for other models.
    reason : str
        Why there are no intervals; empty where there are some.
    references : mapping of str to str
        For each text column, the level with which the others are compared.
    rescaled_by : tuple of str
        Steps that change the units of the columns.
    caveats : tuple of str
        Sentences on what the intervals assume.
    likelihood_ratio : LikelihoodTest or None
        The test that R's ``lrm``, ``ols`` and ``cph`` print; None if there are no intervals, and with importance
        weights.
    """

    names: tuple[str, ...]
    values: Floats
    covariance: Floats | None = None
    df: float = float("inf")
    ratio: str = ""
    of: str = ""
    reason: str = ""
    references: Mapping[str, str] = field(default_factory=dict)
    rescaled_by: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    likelihood_ratio: LikelihoodTest | None = None

    _without = "covariance"
    _more = "standard_errors p_values"
    _columns = "p_value=p_values"

    @property
    def _title(self) -> str:
        log_odds = f" (log-odds of {self.of})" if self.of else " (log hazards)" if self.ratio else ""
        return f"Coefficients of the model of all rows{log_odds}"

    @property
    def _notes(self) -> tuple[str, ...]:
        """Below its table: what the numbers are of, the test of all, and why there are no intervals."""
        notes = []
        if self.references:
            listed = ", ".join(f"{level} ({column})" for column, level in self.references.items())
            notes.append(f"Levels of text are compared with {listed}.")
        if self.rescaled_by:
            makes = "makes" if len(self.rescaled_by) == 1 else "make"
            steps = " and ".join(self.rescaled_by)
            notes.append(f"They are in the units that {steps} {makes}, not in those of the table.")
        if (test := self.likelihood_ratio) is not None:
            p = value_text(test.p_value, "p_value")
            p = p if p.startswith("<") else f"= {p}"
            notes.append(f"Likelihood ratio χ² = {test.statistic:.2f}, {test.df} degrees of freedom, p {p}.")
        if self.covariance is not None:
            notes += self.caveats
        if self.reason:
            notes.append(f"No intervals: {self.reason[0].lower()}{self.reason[1:]}.")
        return tuple(notes)


FILLED_IN = "Missing values were filled in once, and the intervals take them for measured ones."
SELECTED = "The model was selected on these rows, and intervals that ignore the selection are too narrow"
_PENALTIES = ("C", "alpha", "l1_ratio", "shrinkage")


def fitted_coefficients(
    model: Any, X: Any, y: Any, sample_weight: Any = None
) -> FittedCoefficients | coefficients.PooledCoefficients | str | None:
    """The coefficients of a fitted model; None of one that is not linear, the reason where they cannot be shown.

    - ``model``: any fitted estimator, a pipeline or a search around one.
    - ``X`` (n, columns), ``y`` (n,), ``sample_weight`` (n,): what it was fitted on.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 2.0, 1.0, 3.0])
    >>> found = fitted_coefficients(LinearRegression().fit(X, y), X, y)
    >>> found.names, found.values.round(2).tolist(), found.intervals()[1].round(2).tolist()
    (('intercept', 'x0'), [0.3, 0.8], [-1.03, 2.63])
    """
    if isinstance(pooled := getattr(model, "coefficients_", None), coefficients.PooledCoefficients):
        return pooled
    opened = _opened(model, X)
    coef = getattr(opened.last, "coef_", None)
    if not isinstance(coef, np.ndarray) or coef.dtype.kind not in "fi":
        return None
    if coef.size != np.shape(coef)[-1]:
        return f"it has {len(coef)} linear predictors, one for each class or target."
    values = _values_of(opened.last)
    intercept = (coefficients.INTERCEPT,) if len(values) == len(opened.names) + 1 else ()
    if len(values) != len(opened.names) + len(intercept):
        return f"it has {len(values)} coefficients for {len(opened.names)} columns."
    last = opened.last
    found = None if opened.is_searched else coefficients.coefficients_of(last, opened.X, y, sample_weight)
    classes = getattr(last, "classes_", None)
    is_logistic = isinstance(last, LogisticRegression)
    squares = isinstance(last, LinearRegression)
    return FittedCoefficients(
        names=(*intercept, *opened.names),
        values=values,
        covariance=None if found is None else found.covariance,
        df=float(len(y) - len(values)) if squares else float("inf"),
        ratio=coefficients.ODDS_RATIO if is_logistic else coefficients.HAZARD_RATIO if is_cox(last) else "",
        of=str(classes[1]) if is_logistic and classes is not None else "",
        reason="" if found is not None else _reason(opened, sample_weight),
        references=dict(pair for step in opened.before for pair in _references_of(step)),
        rescaled_by=tuple(dict.fromkeys(name for step in opened.before for name in _rescaling(step))),
        caveats=(FILLED_IN,) if (missing_counts(X) or {}).get("values") else (),
        likelihood_ratio=None if found is None or sample_weight is not None else _likelihood_test(opened, y),
    )


def why_not_pooled(pairs: Sequence[tuple[Any, Any]], y: Any, sample_weight: Any = None) -> str | None:
    """Why models of several completions have no pooled coefficients; None of models that are not linear.

    - ``pairs``: each model with the rows that it was fitted on.
    """
    for model, X in pairs:
        found = fitted_coefficients(model, X, y, sample_weight)
        if not isinstance(found, FittedCoefficients):
            return found if isinstance(found, str) else None
        if found.reason:
            return f"{found.reason[0].lower()}{found.reason[1:]}."
    return "the imputations have different columns, or there are no more rows than coefficients."


class _Opened(NamedTuple):
    """What is inside pipelines and searches."""

    last: Any
    X: Any  # as the last step receives it
    names: tuple[str, ...]
    before: tuple[Any, ...]
    is_searched: bool


def _opened(model: Any, X: Any) -> _Opened:
    before: list[Any] = []
    names = getattr(X, "columns", None)
    is_searched = False
    while True:
        if hasattr(model, "best_estimator_"):
            is_searched, model = True, model.best_estimator_
        elif isinstance(model, Pipeline):
            if len(model.steps) > 1:
                X, names = model[:-1].transform(X), _names_out(model[:-1])
            before += [step for _, step in model.steps[:-1]]
            model = model.steps[-1][1]
        else:
            break
    width = np.shape(X)[1] if np.ndim(X) == 2 else 0
    if names is None or len(names) != width:
        names = [f"x{j}" for j in range(width)]
    return _Opened(model, X, tuple(map(str, names)), tuple(before), is_searched)


def _names_out(steps: Pipeline) -> Any:
    try:
        return steps.get_feature_names_out()
    except (AttributeError, ValueError, TypeError):
        return None


def _values_of(last: Any) -> Floats:
    """Intercept, if there is one, and coefficients of one linear predictor."""
    intercept = np.ravel(getattr(last, "intercept_", []))
    if not getattr(last, "fit_intercept", True) or len(intercept) > 1:
        intercept = np.empty(0)
    return np.concatenate([intercept, np.ravel(last.coef_)]).astype(np.float64)


def _reason(opened: _Opened, sample_weight: Any) -> str:
    """Why there are no intervals."""
    last = opened.last
    if opened.is_searched:
        return SELECTED
    if penalties := _penalties_of(last):
        shown = ", ".join(f"{name}={value}" for name, value in penalties.items())
        return f"The penalty ({shown}) shrinks them by design, and no information matrix says how sure they are"
    if getattr(last, "class_weight", None) is not None:
        return "With class weights the likelihood is not that of the rows"
    if isinstance(last, CoxModel) and sample_weight is not None:
        return "Importance weights do not say how many rows there are"
    if isinstance(last, LogisticRegression | LinearRegression | CoxModel):
        return "The columns depend on each other, or there are no more rows than coefficients"
    return f"No covariance of the coefficients of {type(last).__name__} is known"


def _penalties_of(last: Any) -> dict[str, Any]:
    """The settings that penalise a model, by their names."""
    settings = last.get_params(deep=False) if hasattr(last, "get_params") else {}
    unpenalised = settings.get("penalty", "l2") is None or coefficients.is_unpenalised(settings.get("C"))
    if isinstance(last, LogisticRegression) and unpenalised:
        return {}
    chosen = {"C": float(np.ravel(last.C_)[0])} if hasattr(last, "C_") else {}
    return chosen | {name: settings[name] for name in _PENALTIES if settings.get(name) not in (None, 0)}


def calibrates_itself(model: Any) -> bool:
    """Whether fitting makes calibration slope 1 and intercept 0 on the model's own rows.

    So it is where an unpenalised likelihood (or least squares) has its maximum.

    Examples
    --------
    >>> [calibrates_itself(model) for model in (LinearRegression(), LogisticRegression(C=1.0), CoxRegression())]
    [True, False, True]
    """
    last = last_step(model)
    if not isinstance(last, LogisticRegression | LinearRegression | CoxModel):
        return False
    is_plain = getattr(last, "class_weight", None) is None and getattr(last, "fit_intercept", True)
    return bool(is_plain and not _penalties_of(last))


def _likelihood_test(opened: _Opened, y: Any) -> LikelihoodTest | None:
    """2 (l - l₀), l₀ being the likelihood of the intercept or of equal hazards; None where it has none."""
    last, target = opened.last, np.asarray(y)
    if isinstance(last, CoxRegression):
        statistic = 2 * (last.log_likelihood_[1] - last.log_likelihood_[0])
    elif not isinstance(last, LinearRegression | LogisticRegression) or not last.fit_intercept:
        return None
    elif isinstance(last, LinearRegression):
        residual = target - last.predict(opened.X)
        statistic = len(target) * np.log(np.var(target) / np.mean(residual**2))
    else:
        positive = target == last.classes_[1]
        log_odds, share = last.decision_function(opened.X), positive.mean()
        reached = -np.logaddexp(0.0, np.where(positive, -log_odds, log_odds)).sum()
        statistic = 2 * (reached - len(target) * (xlogy(share, share) + xlogy(1 - share, 1 - share)))
    df = len(opened.names)
    return LikelihoodTest(float(statistic), df, float(chi2.sf(statistic, df)))


def _references_of(step: Any) -> Iterator[tuple[str, str]]:
    """Columns of text and the level that a step leaves out."""
    if isinstance(step, ColumnTransformer):
        for _, part, _ in step.transformers_:
            yield from _references_of(part)
    elif isinstance(step, Pipeline):
        for _, part in step.steps:
            yield from _references_of(part)
    elif isinstance(step, OneHotEncoder) and getattr(step, "drop_idx_", None) is not None:
        names = getattr(step, "feature_names_in_", [f"x{j}" for j in range(len(step.categories_))])
        rare = getattr(step, "infrequent_categories_", None) or [None] * len(names)
        for name, levels, left_out, few in zip(names, step.categories_, step.drop_idx_, rare, strict=True):
            if left_out is not None:
                level = levels[left_out]
                is_rare = few is not None and level in few
                yield str(name), "the rarest levels" if is_rare else str(level)


def _rescaling(step: Any) -> Iterator[str]:
    """The names of steps that change units."""
    if isinstance(step, ColumnTransformer):
        for _, part, columns in step.transformers_:
            if len(columns):
                yield from _rescaling(part)
    elif isinstance(step, Pipeline):
        for _, part in step.steps:
            yield from _rescaling(part)
    elif step is not None and not isinstance(step, str | OneHotEncoder | SimpleImputer | VarianceThreshold):
        yield type(step).__name__


SEPARATED = (
    "The model tells the classes of its own rows apart without an error; then the likelihood has no highest point, "
    "and coefficients and probabilities depend on where the fit stopped: use fewer columns, or a penalised model."
)


def separation_notes(replicates: Replicates) -> list[str]:
    """A note where the model of all rows separates the classes without an error."""
    truth, probabilities = replicates.truth, replicates.apparent.get(Response.PROBABILITIES)
    if not truth.kind.is_classification or probabilities is None:
        return []
    if truth.kind is TaskKind.BINARY:
        positive = truth.values == truth.positive
        separated = (probabilities[positive].min(axis=0) > probabilities[~positive].max(axis=0)).all()
    else:
        separated = (probabilities.argmax(axis=-1) == truth.values[:, None]).all()
    return [SEPARATED] if separated else []
