"""Bootstrap of the whole search: repeat it on resampled rows, and score it on the rows that were left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from sklearn.base import is_classifier

from heldout import _defaults
from heldout.arguments.search import SearchArguments
from heldout.configurations import checked_entries
from heldout.data.checks import SCHEMES, check_choice, check_interval_settings
from heldout.dropping import strategy_of
from heldout.errors import InputError
from heldout.estimates.question import AnyAggregate
from heldout.estimates.types import Alternative
from heldout.execution.sharing.groups import Share
from heldout.folds.splits import listed_splits
from heldout.protocols.search_bootstrap.estimate import SearchBootstrapEstimate
from heldout.protocols.search_bootstrap.schemes import BootstrapPlan, divides_anew
from heldout.spaces.procedure import procedure_of


def bootstrap_search(
    estimator: Any,
    X: Any,
    y: Any,
    param_grid: Any = None,
    *,
    scheme: Literal["cvt", "models"] = _defaults.SCHEME,
    scoring: Any = None,
    pos_label: Any = None,
    cv: Any = None,
    n_bootstraps: int = _defaults.SEARCH_BOOTSTRAPS,
    aggregate: AnyAggregate = _defaults.AGGREGATE,
    selection: Any = _defaults.SELECTION,
    drop: Any = None,
    confidence_level: float = _defaults.LEVEL,
    alternative: Alternative = _defaults.ALTERNATIVE,
    groups: Any = None,
    sample_weight: Any = None,
    refit: Any = True,
    n_jobs: int | None = None,
    fit_timeout: float | None = None,
    share: Share = _defaults.SHARE,
    store: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> SearchBootstrapEstimate:
    """Repeat a search on bootstrap samples of the rows, and score each on the rows that its sample left out.

    ``scheme="cvt"`` is the direct bootstrap (Paraschakis et al. 2024, section 2). For b = 1..B draw N rows with
    replacement, run the whole search on them (K folds; the copies of a row lie in one fold), fit its winner on the
    drawn rows with their copies, and score that model on the rows that were not drawn. Those rows selected nothing,
    so each score S_b is a score of the whole procedure. Value: the mean of S_1..S_B; interval: their percentiles.
    With C configurations this takes B (K C + 1) fits, and K C + 1 more for the search on all rows, whose winner is
    ``model``; with one configuration, such as a halving search, B + K + 1.

    ``scheme="models"`` (Tsamardinos et al. 2018, section 4) fits all C configurations on each sample, and predicts
    the rows left out: B C fits, and one more for ``model``, the configuration with the best mean score out of bag.
    The paper reports this best mean. It is optimistic, because the same rows select and score, and is
    ``uncorrected`` here. The value is the mean of B scores. For sample b, the models of the *other* samples predict
    the rows that b drew, the configuration with the best score on them is selected, and its model of sample b is
    scored on the rows that b left out. So the rows that score selected nothing, and no model saw them. But they
    trained models that took part in the selection, as with ``method="bbc"``: if models memorise rows, some optimism
    remains, which a flag reports (papers/pages/protocols.md has figures).

    The models of samples have seen about 63 % of the rows, so both values are pessimistic for a model trained on
    all rows, and the percentiles of scores on about 37 % of the rows are wider than the uncertainty of the value.

    Parameters
    ----------
    estimator : estimator, list of (name, estimator, grid), search, or function
        As in ``ho.HeldOutSearchCV``, or a search (of ``ho``, ``GridSearchCV`` or ``RandomizedSearchCV``), fitted or
        not; a random search draws once. The settings of a search apply to every argument left at its default here,
        except ``n_bootstraps``; an argument with another value than the search's is refused. Any other estimator
        that selects is one configuration, and every fit repeats its selection, as does any function of X and y
        that returns one fitted model (``ho.spaces.TuningProcedure``).
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    param_grid : dict or list of dict, optional
    scheme : {"cvt", "models"}, default="cvt"
        What is repeated on each sample: the whole search, or one fit per configuration.
    scoring, pos_label, cv, aggregate, selection, drop, refit, n_jobs, fit_timeout, \
share, verbose
        As in ``ho.HeldOutSearchCV``. ``cv`` makes the folds inside each sample: a splitter or an integer divides
        its distinct rows, and a list of splits is reduced to them. ``scheme="models"`` has no folds, and accepts
        neither ``cv`` nor ``drop``.
    store : str, path or Store, optional
        A file that keeps every finished fit; the same call continues where it stopped.
    n_bootstraps : int, default=100
        B, the number of samples.
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    groups : array-like of shape (N,), optional
        Drawn whole, and kept whole by the folds inside.
    sample_weight : array-like of shape (N,), optional
        Importance weights, for fits and scores.
    random_state : int, RandomState or Generator, optional
        Seeds the samples; bootstrap b is the same for any B.

    Returns
    -------
    SearchBootstrapEstimate
        With ``bootstraps``, ``model``, ``evaluation`` and ``n_fits``.

    Raises
    ------
    InputError
        When settings do not go together, a class is too small to be drawn and left out, or every configuration
        failed on all rows.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), section 4; Paraschakis et al. (2024), section 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = bootstrap_search(
    ...     KNeighborsClassifier(), X, y, {"n_neighbors": [1, 15]}, cv=3, n_bootstraps=20, random_state=0
    ... )
    >>> found.n_fits  # 20 (3 · 2 + 1) + 3 · 2 + 1
    147
    >>> print(f"{found.value:.2f}", len(found.bootstraps), found.model)
    0.95 20 KNeighborsClassifier(n_neighbors=1)
    """
    check_interval_settings(n_bootstraps, confidence_level, alternative)
    check_choice("scheme", scheme, SCHEMES)
    listed = cv if divides_anew(cv) or hasattr(cv, "split") else listed_splits(cv)
    if strategy_of(drop) is not None:
        raise InputError(
            f"`drop={drop!r}` plans its own splits, which samples cannot follow; use `drop='bootstrap'`.",
            argument="drop",
        )
    estimator = procedure_of(estimator, y)
    arguments = SearchArguments(
        estimator, param_grid, scoring=scoring, cv=listed, aggregate=aggregate, selection=selection, drop=drop,
        confidence_level=confidence_level, alternative=alternative, refit=refit,
        n_jobs=n_jobs, fit_timeout=fit_timeout, share=share, store=store,
        random_state=random_state, verbose=verbose, pos_label=pos_label,
    ).with_search()  # fmt: skip
    if scheme == "models":
        _check_models(cv, drop)
        arguments = replace(arguments, cv=2, repeats=1, drop=None)  # other splits replace these
    search, running = arguments.search_on(X, y, groups, sample_weight), arguments.running()
    settings = replace(search.estimation, n_bootstraps=n_bootstraps).settings(search.entropy, arguments.n_jobs)
    plan = BootstrapPlan(search, settings, arguments.cv, arguments.repeats, _classifies(arguments.estimator))
    return plan.run_cvt(running) if scheme == "cvt" else plan.run_models(running)


def _check_models(cv: Any, drop: Any) -> None:
    for name, value in {"cv": cv, "drop": drop}.items():
        if value is not None:
            raise InputError(
                f"`scheme='models'` fits every configuration on each whole sample, so it takes no {name}, got "
                f"`{name}={value!r}`; leave it out, or use `scheme='cvt'`.",
                argument="scheme",
            )


def _classifies(estimator: Any) -> bool:
    model = checked_entries(estimator)[0][1] if isinstance(estimator, list | tuple) else estimator
    return bool(is_classifier(model))
