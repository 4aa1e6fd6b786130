"""``ho.correct``: what the winner of a finished search is worth, from the scores that it kept, with no refit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from heldout._random import RandomState, entropy_of
from heldout._text import argument
from heldout.errors import InputError
from heldout.estimates.from_scores import checked_share, evidence_of_scores
from heldout.estimates.inputs import warn_of
from heldout.estimates.named import answer, method_of
from heldout.estimates.question import Settings, check_interval_settings
from heldout.estimates.types import Alternative, Estimate
from heldout.predictions import FoldScores
from heldout.readers.finished_search import check_metric, finished_search, metric_of
from heldout.selection.base import metrics_read


def correct(
    search: Any,
    *,
    method: Any = "bbc_f",
    metric: str | None = None,
    test_share: float | None = None,
    n_bootstraps: int = 1000,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    random_state: RandomState = None,
) -> Estimate:
    """Correct the score of a search that is finished, whoever ran it, with nothing fitted again.

    Parameters
    ----------
    search : fitted search or study
        ``GridSearchCV``, ``RandomizedSearchCV``, the halving searches and ``HeldOutSearchCV`` by their
        ``cv_results_``; an Optuna study whose trials kept a score a split (``trial.report(score, step=fold)``, or
        ``user_attrs`` named ``split0_test_score`` and so on).
    method : str or method
        "bbc_f", "tt", "cv", or with ``test_share`` "wmc" and "wmcs" for a search over a ShuffleSplit.
    metric : str, optional
        Of several scorers, the one to report; the one that chose the winner by default. The choice that is replayed
        stays the search's own, a callable ``refit`` included.
    test_share : float, optional
        The share of rows that each split tests.
    n_bootstraps, confidence_level, alternative, random_state
        As in ``ho.estimate``.

    Returns
    -------
    Estimate
        With the sign of the search's scores. A search that proposed or dropped configurations by what it had seen
        is flagged: of a halving the last rung is replayed, of a study its completed trials.

    Raises
    ------
    InputError
        When there is nothing to correct, or the search's own choice cannot be told.

    References
    ----------
    Paraschakis et al. (2024), algorithm 1 and section 6; Tibshirani and Tibshirani (2009).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> import heldout as ho
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"max_depth": [2, 3, 4, 5], "min_samples_leaf": [1, 3, 9]}
    >>> finished = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=10).fit(X, y)
    >>> found = ho.correct(finished, random_state=0)
    >>> round(found.uncorrected - float(finished.best_score_), 12), bool(found.value < finished.best_score_)
    (0.0, True)
    """
    check_interval_settings(n_bootstraps, confidence_level, alternative)
    chosen, found = method_of(method), finished_search(search)
    reported = check_metric(found, metric)
    sign = 1.0 if found.greater_is_better else -1.0
    evidence = evidence_of_scores(
        FoldScores(found.scores[reported], found.greater_is_better, found.repeat),
        metric_of(found, reported),
        names=found.names,
        rule=found.rule,
        settings=Settings(n_bootstraps, confidence_level, alternative, entropy_of(random_state)),
        test_share=checked_share(test_share),
        params=found.params,
        read={name: sign * found.scores[name] for name in metrics_read(found.rule, found.scores, found.deciding)},
    )
    if found.winner is not None and evidence.winner != found.winner:
        raise InputError(
            f"the search chose {found.names[found.winner]}, but by '{found.rule.name}' its scores choose "
            f"{found.names[evidence.winner]}, so its choice cannot be replayed; pass the scores to "
            f"ho.estimate_from_scores with the rule as {argument('selection', ...)}."
        )
    estimate = answer(chosen, replace(evidence, flags={**evidence.flags, **found.flags}))
    warn_of(estimate, stacklevel=2)
    return estimate
