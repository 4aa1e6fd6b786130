"""``ho.correct``: the corrected score of a finished search, from the scores of its splits, without any fit."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from heldout import _defaults
from heldout._streams import RandomState, entropy_of
from heldout._types import Array, Floats, Indices
from heldout.data.checks import check_interval_settings, checked_flag
from heldout.data.task import labels_text, shortened
from heldout.errors import InputError
from heldout.estimates.base import flags_of_score
from heldout.estimates.estimate import estimate
from heldout.estimates.from_scores import checked_share, evidence_of_scores
from heldout.estimates.input_arrays import FittedSearch
from heldout.estimates.inputs import warn_of
from heldout.estimates.methods import answer, method_of
from heldout.estimates.question import BlockLength, Settings, blocks_of
from heldout.estimates.types import Alternative, Estimate
from heldout.execution.collect import mean_over_splits
from heldout.flags import Flag
from heldout.predictions import FoldScores, ranks
from heldout.readers.finished_search import (
    FinishedSearch,
    finished_search,
    kept_evaluation,
    metric_of,
    named_metric,
    numbers_in,
)
from heldout.readers.long_table import repeats_of_resamples
from heldout.result import Evaluation
from heldout.selection import Best
from heldout.selection.base import metrics_read

_WHAT_IS_NEEDED = (
    "give the results of cross_validate for each model, as {'name': cross_validate(model, X, y, cv=cv)}"
)
_TEST = re.compile(r"test_(.+)")
_DEFAULTS = {
    "n_bootstraps": _defaults.BOOTSTRAPS, "confidence_level": _defaults.LEVEL, "alternative": _defaults.ALTERNATIVE,
}  # fmt: skip


def cross_validated_models(results: Mapping[Any, Any], metric: str | None) -> FinishedSearch:
    """Read the results of ``cross_validate`` of several models, of which the best mean score is selected.

    ``metric``: the score that selects, if there are several. Results with ``return_indices=True`` say which rows
    each split tested: models on different splits are refused, and repeats are known.
    """
    if any(_TEST.fullmatch(str(key)) for key in results):
        raise InputError(
            f"these are the results of one model, which was not selected among others; {_WHAT_IS_NEEDED}."
        )
    if any(str(key).startswith("mean_test_") for key in results):
        raise InputError(
            "these are the cv_results_ of a search; give the search itself to ho.correct, or the scores of their "
            "splits (splits, configurations) to ho.estimate_from_scores."
        )
    names = tuple(str(name) for name in results)
    if not names or len(set(names)) < len(names):
        raise InputError(
            f"a mapping of several names is needed, got {shortened(list(results))}; {_WHAT_IS_NEEDED}."
        )
    scores = {name: _scores_of(name, result) for name, result in zip(names, results.values(), strict=True)}
    # Models are compared by a score that all of them have.
    common = [key for key in scores[names[0]] if all(key in each for each in scores.values())]
    if not common:
        raise InputError(
            "the models have no score in common ("
            + "; ".join(f"{name}: {', '.join(each)}" for name, each in scores.items())
            + "); score all of them by the same scoring."
        )
    deciding = named_metric("the models have", common, metric)
    repeat = _repeats(scores, results.values())
    return FinishedSearch(
        scores={key: np.stack([scores[name][key] for name in names], axis=1) for key in common},
        deciding=deciding,
        rule=Best(),
        greater_is_better=True,  # as all scorers of scikit-learn
        names=names,
        params=[{} for _ in names],
        repeat=repeat,
        winner=None,
        flags=_flags(dict(zip(names, results.values(), strict=True))),
    )


def _flags(results: Mapping[str, Mapping[str, Any]]) -> dict[Flag, str]:
    """The flag of several models of which some do not say which rows they were tested on."""
    unknown = [name for name, result in results.items() if result.get("indices") is None]
    if len(results) < 2 or not unknown:
        return {}
    which = "the results" if len(unknown) == len(results) else f"those of {labels_text(unknown)}"
    return Flag.SPLITS_UNKNOWN.of(unknown=which)


def _scores_of(name: str, result: Any) -> dict[str, Floats]:
    """The scores of one model (splits,), by metric."""
    if not isinstance(result, Mapping):
        raise InputError(f"the results of {name} are {shortened(result)}; {_WHAT_IS_NEEDED}.")
    found: dict[str, Floats] = {}
    for key, column in result.items():
        if match := _TEST.fullmatch(str(key)):
            found[match[1]] = numbers_in(column, f"{key} of {name}")
    if not found:
        raise InputError(f"the results of {name} hold no test_* scores; {_WHAT_IS_NEEDED}.")
    return found


def _repeats(scores: Mapping[str, Mapping[str, Floats]], results: Iterable[Mapping[str, Any]]) -> Indices:
    """The repeat of each split; all in one where the results do not say which rows were tested.

    Refuses models that were scored on different splits.
    """
    (first_name, first_scores), *_ = scores.items()
    n_splits = len(next(iter(first_scores.values())))
    first: list[Array] | None = None
    for (name, of_model), result in zip(scores.items(), results, strict=True):
        n_other = next((len(each) for each in of_model.values() if len(each) != n_splits), n_splits)
        if n_other != n_splits:
            raise InputError(f"{name} has {n_other} splits and {first_name} has {n_splits}; {_SAME_SPLITS}.")
        tested_rows = _tested_rows(name, result)
        if first is not None and tested_rows is not None and [*map(list, first)] != [*map(list, tested_rows)]:
            raise InputError(f"{name} was tested on other rows than {first_name}; {_SAME_SPLITS}.")
        first = tested_rows if first is None else first
    if first is None or len(first) != n_splits:
        return np.zeros(n_splits, dtype=np.intp)
    rows, splits = np.concatenate(first), np.repeat(np.arange(n_splits), [*map(len, first)])
    return repeats_of_resamples(rows, splits, len(np.unique(rows)))


_SAME_SPLITS = "give every model the same cv, with an integer random_state where it shuffles"


def _tested_rows(name: str, result: Mapping[str, Any]) -> list[Array] | None:
    """The rows that each split tested; None where the results do not have them."""
    indices = result.get("indices")
    if indices is None:
        return None
    if not isinstance(indices, Mapping) or "test" not in indices:
        raise InputError(f"the indices of {name} must be those of return_indices=True, got {shortened(indices)}.")
    return [np.asarray(rows) for rows in indices["test"]]


def correct(
    search: Any,
    *,
    method: Any = None,
    metric: str | None = None,
    test_share: float | None = None,
    n_bootstraps: int | None = None,
    confidence_level: float | None = None,
    alternative: Alternative | None = None,
    adaptive: bool | None = None,
    block_length: BlockLength = None,
    random_state: RandomState = None,
) -> Estimate:
    """Correct the score of a finished search of any tool, without fitting anything again.

    Parameters
    ----------
    search : fitted search, study, or mapping of str to results
        One of

        - ``GridSearchCV``, ``RandomizedSearchCV`` or a halving search, by its ``cv_results_``;
        - a search of heldout, which gives its own estimate, as ``ho.estimate(search)``;
        - an Optuna study or ``OptunaSearchCV`` whose trials have the mean score as value and kept the score of each
          split (``trial.report(score, step=fold)``, or ``user_attrs`` named ``split0_test_score`` and so on), or
          whose objective is ``ho.optuna.objective``, which kept the held-out predictions;
        - for models compared without a search, a mapping of their names to the results of ``cross_validate``, all
          on the same splits; with ``return_indices=True`` that is checked, and without it flagged.
    method : str or method, optional
        From scores of splits "bbc_f" by default, "tt", "cv" or "corrected_t" (for a search over a ShuffleSplit with
        ``test_share``); for a search over a ShuffleSplit also "wmc" and "wmcs", which need ``test_share``. If
        held-out predictions were kept, any method, by default "shrinkage".
    metric : str, optional
        The scorer to report if there are several; by default the one that selected the winner. The replayed
        selection is always the search's own, including a callable ``refit``. For results of ``cross_validate``, and
        a search with several scores and ``refit=False``, it is the score that selects.
    test_share : float, optional
        For a search over a ShuffleSplit: the share of rows that each split tests.
    adaptive : bool, optional
        Whether the search proposed or dropped configurations because of scores. By default it is read from the
        search: studies, halving searches and searches that keep a study are adaptive.
    n_bootstraps, confidence_level, alternative, block_length, random_state
        As in ``ho.estimate``.

    Returns
    -------
    Estimate
        With the sign of the search's scores. An adaptive search is flagged: for a halving search the last rung is
        replayed, for a study its completed trials.

    Raises
    ------
    InputError
        When there is nothing to correct, or the search's own selection cannot be replayed.

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
    >>> estimate = ho.correct(finished, random_state=0)
    >>> round(estimate.uncorrected - float(finished.best_score_), 12), bool(estimate.value < finished.best_score_)
    (0.0, True)

    Several models that were compared by hand:

    >>> from sklearn.model_selection import cross_validate
    >>> models = {f"depth {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 3, 5)}
    >>> results = {name: cross_validate(model, X, y, cv=10, return_indices=True) for name, model in models.items()}
    >>> ho.correct(results, random_state=0).selected_name
    'depth 5'
    """
    settings: dict[str, Any] = {
        "n_bootstraps": n_bootstraps, "confidence_level": confidence_level, "alternative": alternative,
    }  # fmt: skip
    if isinstance(search, FittedSearch):
        more = {"method": method, "adaptive": adaptive, "block_length": block_length, "random_state": random_state}
        own = _of_our_search(search, metric, **settings, **more)
        if own is not None:
            return own
    # Only now, because a search of ours has settings of its own, which no default may replace.
    settings = {name: _DEFAULTS[name] if value is None else value for name, value in settings.items()}
    check_interval_settings(**settings)
    if (kept := kept_evaluation(search)) is not None:
        method = _defaults.METHOD if method is None else method
        more = {"method": method, "block_length": block_length}
        return _of_kept(kept, metric, random_state, adaptive, **settings, **more)
    chosen = method_of("bbc_f" if method is None else method)
    read = cross_validated_models if isinstance(search, Mapping) else finished_search
    finished = read(search, metric)
    reported = named_metric("the search has", list(finished.scores), metric, finished.deciding)
    sign = 1.0 if finished.greater_is_better else -1.0
    evidence = evidence_of_scores(
        FoldScores(finished.scores[reported], finished.greater_is_better, finished.repeat),
        metric_of(finished, reported),
        names=finished.names,
        rule=finished.rule,
        settings=Settings(**settings, entropy=entropy_of(random_state), blocks=blocks_of(block_length)),
        test_share=checked_share(test_share),
        params=finished.params,
        read={
            name: sign * finished.scores[name]
            for name in metrics_read(finished.rule, finished.scores, finished.deciding)
        },
        adaptive=finished.adaptive if adaptive is None else checked_flag("adaptive", adaptive),
    )
    flags = {**evidence.flags, **finished.flags, **_flags_of_winner(finished, evidence.winner)}
    if (metric_of_scorer := finished.opened.get(reported)) is not None:
        flags |= flags_of_score(metric_of_scorer, float("nan"), None, None)
    corrected = answer(chosen, replace(evidence, flags=flags))
    warn_of(corrected, stacklevel=2)
    return corrected


def _flags_of_winner(finished: FinishedSearch, winner: int) -> dict[Flag, str]:
    """The flag of a winner that the search, by the last bit, did not choose; any other such winner is refused."""
    if finished.winner in (None, winner):
        return {}
    own, other = finished.names[winner], finished.names[finished.winner]
    sign = 1.0 if finished.greater_is_better else -1.0
    means = mean_over_splits(sign * finished.scores[finished.deciding])
    # Equal but for the last bit: scikit-learn took one of them, the replay takes the first.
    if isinstance(finished.rule, Best) and ranks(means)[finished.winner] == 1:
        return Flag.TIED_WINNER.of(winner=own, other=other)
    raise InputError(
        f"the search chose {other}, but by '{finished.rule.name}' its scores choose {own}, so its choice cannot be "
        "replayed; pass the scores to ho.estimate_from_scores with the rule as `selection=`."
    )


def _of_our_search(search: FittedSearch, metric: str | None, **settings: Any) -> Estimate | None:
    """The search's own estimate, or that of its predictions with other settings; None where it has neither."""
    own: Estimate | None = search.estimate_ if metric is None else search.estimates_.get(metric)
    changed = {name: value for name, value in settings.items() if value is not None}
    if not changed or own is not search.estimate_ or getattr(search, "predictions_", None) is None:
        return None if changed else own
    return estimate(search, **changed)


def _of_kept(
    kept: Callable[..., Evaluation],
    metric: str | None,
    random_state: RandomState,
    adaptive: bool | None,
    **settings: Any,
) -> Estimate:
    """The estimate from kept held-out predictions; without a ``random_state`` by the seed of their search."""
    entropy = None if random_state is None else entropy_of(random_state)
    is_adaptive = adaptive is None or checked_flag("adaptive", adaptive)
    found = kept(refit=False, entropy=entropy, adaptive=is_adaptive, **settings)
    return found.estimates[named_metric("the search has", [*found.estimates], metric, found.refit_metric)]
