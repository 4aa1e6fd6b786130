"""The performance of a search's winner, pooled over imputations: the other reading of Rubin's rules.

A search with ``imputation=`` pools predictions, and scores the pooled ones: it estimates the performance of the
model that is deployed, which pools too. Here each imputation is scored on its own, and the scores are pooled: this
estimates the performance of a model of one imputation, with the variance that missing values add.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._random import RandomState, entropy_of
from heldout._text import argument
from heldout.errors import InputError
from heldout.estimates.estimate import estimate
from heldout.execution.fit import CellContext, Routing, Scoring
from heldout.execution.responses import coded_responses
from heldout.imputation.imputed_model import ImputedModel
from heldout.imputation.pooled_scores import PooledScore, pool_scores
from heldout.metrics.base import Metric, Response
from heldout.predictions import HeldOutPredictions
from heldout.result import Evaluation


def pooled_performance(
    search: Any,
    X: Any,
    y: Any,
    *,
    metric: str | None = None,
    n_bootstraps: int = 1000,
    confidence_level: float = 0.95,
    random_state: RandomState = None,
) -> PooledScore:
    """Score the winner of a search in each imputation, and pool the scores by Rubin's rules.

    Imputation h is a whole analysis: training rows completed for the h-th time, the model fitted on them, and test
    rows completed by the h-th imputer. Its cross-validated score is computed as that of the search (``aggregate``),
    and its standard error by a bootstrap of its held-out predictions (of groups, where rows have them). Both are
    carried to the scale of the metric (the logit of an AUC) and pooled: the variance is T = W + (1 + 1/H) V.

    Parameters
    ----------
    search : HeldOutSearchCV or HeldOutRandomizedSearchCV
        Fitted with ``imputation=``, ``keep_models="winner"`` (or "all") and ``keep_predictions=True``.
    X, y
        The rows that it was fitted on.
    metric : str, optional
        The name of one of the search's scorers; by default the one that selected.
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    random_state : int, RandomState, Generator or None
        Of the bootstrap.

    Returns
    -------
    PooledScore
        It is not corrected for the choice of the winner: with several configurations it is about as optimistic as
        ``search.best_score_``; ``search.estimate_`` corrects that.

    Raises
    ------
    InputError
        When the search has no models of the folds, did not impute, or was fitted on other rows.

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 3))
    >>> y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> search = ho.HeldOutSearchCV(
    ...     LogisticRegression(), {}, scoring="roc_auc", cv=4, imputation=3, keep_models="winner", random_state=0
    ... ).fit(X, y)
    >>> found = pooled_performance(search, X, y, n_bootstraps=200, random_state=0)
    >>> found.scale, len(found.scores), 0 < found.variance_from_missing < 1
    ('logit', 3, True)
    """
    evaluation = _evaluation(search, np.shape(X)[0] if hasattr(X, "shape") else len(X))
    name = evaluation.refit_metric if metric is None else metric
    opened = evaluation.metrics.get(name)
    if opened is None:
        known = ", ".join(each for each, one in evaluation.metrics.items() if one is not None) or "none"
        raise InputError(
            f"metric must be a scorer of the search that is a metric of heldout ({known}), got {name!r}.",
            argument="metric",
        )
    entropy = entropy_of(random_state)
    found = [
        estimate(
            y, predictions, metric=opened, method="naive_bootstrap", aggregate=search.aggregate,
            groups=evaluation.task.groups, sample_weight=evaluation.task.sample_weight, n_bootstraps=n_bootstraps,
            confidence_level=confidence_level, random_state=entropy,
        )
        for predictions in _of_imputations(evaluation, opened, X, y)
    ]  # fmt: skip
    return pool_scores(
        [each.uncorrected for each in found],
        [np.nan if each.standard_error is None else each.standard_error for each in found],
        metric=opened,
        n_rows=found[0].n_rows_used,
        confidence_level=confidence_level,
    )


def _evaluation(search: Any, n_rows: int) -> Evaluation:
    """The record of a search that has all that is needed."""
    evaluation = getattr(search, "evaluation_", None)
    if not isinstance(evaluation, Evaluation):
        raise InputError(
            "search must be a fitted HeldOutSearchCV or HeldOutRandomizedSearchCV with keep_predictions=True, got "
            f"{type(search).__name__}.",
            argument="search",
        )
    models = evaluation.fold_models
    if models is None or any(model is None for model in models.values()):
        raise InputError(
            "the search has no models of its folds, which say what each imputation predicts; search with "
            f"{argument('keep_models', 'winner')}.",
            argument="search",
        )
    if not all(isinstance(model, ImputedModel) for model in models.values()):
        raise InputError(
            "the search imputed nothing within its fits; search with imputation=5, for instance.", argument="search"
        )
    if n_rows != evaluation.task.n_rows:
        raise InputError(
            f"X must hold the {evaluation.task.n_rows} rows that the search was fitted on, got {n_rows}.",
            argument="X",
        )
    return evaluation


def _of_imputations(evaluation: Evaluation, metric: Metric, X: Any, y: Any) -> list[HeldOutPredictions]:
    """The winner's held-out predictions of each imputation."""
    task = replace(evaluation.task, X=X, y=y)
    context = CellContext.of_task(task, Scoring(_no_scores, {"score": metric}), Routing(), np.nan, False, None)
    models = evaluation.fold_models
    assert models is not None
    response = next(each for each in metric.responses if each in evaluation.predictions.responses)
    whole = evaluation.predictions.responses[response][:, [evaluation.winner]]
    n_imputations = len(next(iter(models.values())).pooled_.members)
    filled = [np.full_like(whole, -1 if response is Response.LABELS else np.nan) for _ in range(n_imputations)]
    for (repeat, _), model, rows in ((place, models[place], models.test_rows[place]) for place in models):
        for values, member in zip(filled, model.pooled_.members, strict=True):
            values[rows, 0, repeat] = _answer(context, member, response, _rows_of(X, rows))
    return [
        replace(evaluation.predictions, responses={response: values}, names=("winner",), failed={}, dropped={})
        for values in filled
    ]


def _no_scores(estimator: Any, X: Any, y: Any) -> dict[str, float]:
    """Predictions are scored later."""
    return {}


def _rows_of(X: Any, rows: NDArray[np.intp]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]


def _answer(context: CellContext, model: Any, response: Response, X: Any) -> NDArray[Any]:
    return coded_responses(context, model, X)[response]
