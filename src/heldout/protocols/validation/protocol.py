"""Validation of a model by resampling, as users call it."""

from __future__ import annotations

from typing import Any

from heldout import _defaults
from heldout.data.checks import effective_threads
from heldout.estimates.question import Settings
from heldout.estimates.types import Alternative
from heldout.execution.listeners import progress_listeners
from heldout.execution.run import RunSettings, open_run
from heldout.execution.sharing.groups import Share
from heldout.execution.store import MemoryStore, store_of
from heldout.imputation.tables import missing_counts
from heldout.protocols.validation.arguments import ValidationArguments
from heldout.protocols.validation.conclusion import ValidationConclusion
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.validation.plan import Fits, ValidationPlan, check_memory


def bootstrap_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    metric: Any = None,
    method: Any = "auto",
    n_bootstraps: int = _defaults.VALIDATION_BOOTSTRAPS,
    imputation: Any = None,
    interval: Any = "auto",
    n_inner_bootstraps: int = _defaults.INNER_BOOTSTRAPS,
    n_second_bootstraps: int | None = None,
    adjust_optimism: bool = False,
    confidence_level: float = _defaults.LEVEL,
    alternative: Alternative = _defaults.ALTERNATIVE,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    n_jobs: int | None = None,
    fit_timeout: float | None = None,
    share: Share = _defaults.SHARE,
    store: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> Validation:
    """Validate a model by fitting it on bootstrap samples of its rows.

    For b = 1..B draw N rows with replacement, fit the model on them, and score it on its own sample, on all rows,
    and on the rows that were not drawn. Its score on its own sample minus its score on all rows is its *optimism*.
    The mean optimism is subtracted from the apparent score, that of the model fitted on all rows. Nothing is held
    out, so the estimate is for a model fitted on all N rows.

    Parameters
    ----------
    estimator : estimator, or list of (name, estimator)
        Any estimator of scikit-learn, or a whole search, which every bootstrap then repeats (with the copies of a
        row in one inner fold); for survival any estimator with scikit-survival's methods, or
        ``ho.spaces.CoxRegression``. With several models, the best by the corrected first metric is reported.
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
        Labels, numbers, or scikit-survival's structured array of events and times.
    metric : str, metric, or list of these, optional
        The metrics to report; the first chooses among models. By default the usual ones of the task. ``"rms"``
        stands for the metrics of R's ``rms::validate``: Dxy, R2, intercept, slope, Emax, D, U, Q, B, g and gp.
    method : {"auto", "optimism", "632", "632+", "oob", "two_stage"} or correction, default="auto"
        "auto": "optimism", but for a model that memorises its rows "632+", or "oob" for metrics without a
        no-information rate; each row of the result names its method, and a flag says why. A model memorises if its
        error (1 - ROC AUC or concordance, or squared) on its own sample is below a tenth of that on the rows left
        out in more than half of the samples, or if the relative overfitting of "632+" exceeds .9. "optimism":
        apparent - mean(in bootstrap - on original) (Efron; Harrell), without an interval for a model that
        memorises. "oob": the mean score on the rows that each sample left out. "632": .368 apparent + .632 oob.
        "632+": the more the model overfits, the more weight oob has (Efron & Tibshirani 1997). "two_stage": choose
        among several models by the optimism bootstrap, then estimate the chosen one on new samples (Klamer 2022).
    n_bootstraps : int, default=200
        B; with "two_stage" the samples that choose the model (J).
    imputation : int or Imputation, optional
        How many times missing values are imputed, or how; every model is then fitted on each completion and pooled.
        By default the model receives X unchanged.
    interval : {"auto", "location_shifted", "double", "percentile"} or None, default="auto"
        "location_shifted": percentiles of the scores in the bootstrap, minus the optimism. "double": percentiles of
        the corrected score, which each bootstrap computes anew by bootstraps of its own sample (Noma et al. 2021);
        it takes ``n_inner_bootstraps`` times the fits. "percentile", for "oob" only: percentiles of the out-of-bag
        scores. "auto" is "percentile" for "oob", else "location_shifted"; None gives no interval.
    n_inner_bootstraps : int, default=50
        Bootstraps of each bootstrap, with ``interval="double"`` or ``adjust_optimism=True``.
    n_second_bootstraps : int, optional
        With "two_stage" the samples of the second stage (K), which estimate the chosen model; ``n_bootstraps`` by
        default. With "auto" it adds a second stage, and both stages use the method of each model.
    adjust_optimism : bool, default=False
        Whether to adjust the optimism by the double bootstrap, with "optimism" and "two_stage": each bootstrap
        estimates its own optimism by bootstraps of its sample, and the mean error of these estimates is subtracted.
        It takes ``n_inner_bootstraps`` times the fits.
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    groups : array-like of shape (N,), optional
        The group of each row; bootstraps draw groups whole.
    sample_weight : array-like of shape (N,), optional
        Importance weights: fits receive them unchanged; for scores only their ratios matter.
    pos_label : label, optional
        The positive class of a binary task, to which scores, curves, coefficients and odds ratios refer; by default
        the last in sorted order. ``model`` itself is fitted on the unchanged labels.
    n_jobs, fit_timeout, share, store, random_state, verbose
        As in ``ho.HeldOutSearchCV``. Bootstrap b is the same for any B; an interrupted run with a ``store``
        continues where it stopped.

    Returns
    -------
    Validation
        ``.estimates`` by metric, ``.value`` for a single one, ``.to_frame()`` for the table, ``.model`` fitted on
        all rows, ``.coefficients`` of a regression, ``.calibration_curve()`` and ``.roc_curve()``; ``print`` shows
        the tables and caveats. A bootstrap that fails is left out and counted, with its message in ``.failures``;
        more than 5 % are flagged.

    Raises
    ------
    InputError
        When settings do not go together, a metric does not fit, or no model could be fitted on all rows.

    References
    ----------
    Efron (1983); Harrell, Lee and Mark (1996); Efron and Tibshirani (1997); Klamer (2022); Noma et al. (2021).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = X[:80, [1, 4, 8, 9]]
    >>> found = bootstrap_validate(
    ...     LogisticRegression(C=1e6, solver="newton-cholesky"), X, y[:80], metric=["roc_auc", "brier_score"],
    ...     n_bootstraps=50, random_state=0,
    ... )
    >>> for row in found.rows.values():
    ...     print(f"{row.metric}: apparent {row.apparent:.2f}, corrected {row.corrected:.2f}")
    roc_auc: apparent 0.87, corrected 0.83
    brier_score: apparent 0.13, corrected 0.15
    """
    arguments = ValidationArguments(
        estimator, metric, method, n_bootstraps, n_inner_bootstraps, imputation, interval, confidence_level,
        alternative, store, random_state, share, n_second_bootstraps, adjust_optimism,
    )  # fmt: skip
    running = RunSettings(
        store_of(store), True, n_jobs, fit_timeout=fit_timeout, listeners=progress_listeners(verbose)
    )
    return validated(arguments, arguments.plan(X, y, groups, sample_weight, pos_label), running)


def validated(arguments: ValidationArguments, plan: ValidationPlan, running: RunSettings) -> Validation:
    """Run a plan and return its validation.

    Raises InputError when it would not fit in memory, or no model could be fitted on all rows.
    """
    check_memory(plan, keeps_fits=isinstance(running.store, MemoryStore))
    settings = Settings(
        plan.n_bootstraps,
        arguments.confidence_level,
        arguments.alternative,
        plan.fits.entropy,
        effective_threads(running.n_jobs),
    )
    concluding = ValidationConclusion(
        plan,
        arguments.interval,
        settings,
        arguments.record() | {"missing": missing_counts(plan.task.X)},
    )
    with open_run(plan.work, running, n_cells=plan.n_cells, is_validation=True) as run:
        return concluding(Fits(plan, run))
