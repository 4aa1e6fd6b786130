"""The scores of a finished search: scikit-learn's ``cv_results_``, or the trials of an Optuna study.

The other tool is not imported: a search or study is recognised by its attributes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isclose
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from heldout._text import is_one_of
from heldout._types import Floats, Indices
from heldout.configurations import Configuration
from heldout.data.task import labels_text, shortened, truth_of
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.folds.plans import FoldPlan
from heldout.metrics.base import Metric
from heldout.metrics.custom import OpaqueMetric
from heldout.metrics.from_scorer import members_of, metric_from_scorer, title_of
from heldout.result import Evaluation
from heldout.selection import Best, CallableRefit, SelectionRule, configuration_rule_of

_EVALUATIONS: WeakKeyDictionary[Any, Callable[..., Evaluation]] = WeakKeyDictionary()
"""By study: it lives as long as its predictions are wanted."""


def keep_evaluation(study: Any, evaluation: Callable[..., Evaluation]) -> None:
    """Remember how a study's configurations are evaluated; the callable takes settings of the estimation."""
    _EVALUATIONS[study] = evaluation


def kept_evaluation(study: Any) -> Callable[..., Evaluation] | None:
    """The evaluation of a study by its held-out predictions; None if it kept none."""
    try:
        return _EVALUATIONS.get(study)
    except TypeError:  # no weak reference to it
        return None


_SPLIT = re.compile(r"split(\d{1,18})_test_(.+)")
_OF_ADAPTIVE_SEARCHES = ("study_", "optimizer_results_")
"""What fitted searches have that ask Optuna, or scikit-optimize, for their configurations."""
_FROM_SCORES = "ho.estimate_from_scores(scores, greater_is_better=..., method='bbc_f')"
_OF_SCORES = re.compile(r"params$|param_|split\d+_test_|(mean|std|rank)_test_|(rank_)?pooled_test_")


@dataclass(frozen=True, eq=False)
class FinishedSearch:
    """The scores of a finished search, for every configuration that can be compared."""

    scores: Mapping[str, Floats]
    """(splits, C): by metric; greater = better, except in a study that minimises."""
    deciding: str
    """The metric that selected the winner."""
    rule: SelectionRule
    greater_is_better: bool
    names: tuple[str, ...]
    """Of the configurations."""
    params: Sequence[Mapping[str, Any]]
    repeat: Indices
    """(splits,)."""
    winner: int | None
    """The configuration that the search selected; None if it selected none."""
    opened: Mapping[str, Metric] = field(default_factory=dict)
    """The metrics whose scorers can be opened, with their names and ranges."""
    title: str = "score"
    """The name of a single metric whose scorer cannot be opened; its key is "score"."""
    adaptive: bool = False
    """Whether configurations were proposed or dropped because of scores."""
    flags: Mapping[Flag, str] = field(default_factory=dict)


def finished_search(search: Any, metric: str | None = None) -> FinishedSearch:
    """Read a fitted search of scikit-learn (grid, randomised, halving, ours), or an Optuna study or search.

    ``metric`` selects where the search has several and itself selected by none.

    Anything else is refused, as are searches that are not fitted or kept no scores of splits.
    """
    if isinstance(search, type):
        raise InputError(f"a finished search is needed, got the class {search.__name__}; fit one first.")
    if hasattr(search, "trials") and (hasattr(search, "directions") or hasattr(search, "direction")):
        return _of_study(search)
    # optuna-integration's search has cv_results_ without 'params'; ours has all that scikit-learn writes
    if hasattr(getattr(search, "study_", None), "trials") and not hasattr(search, "keep_predictions"):
        opened = _opened(search)
        title = title_of(getattr(search, "scorer_", None))
        return replace(_of_study(search.study_), opened=opened, title=title)
    if hasattr(search, "cv_results_"):
        return _of_cv_results(search, metric)
    no_search = " it has neither cv_results_ nor trials; of results of cross_validate give {'name': results, ...}"
    fitted = " fit it first" if hasattr(search, "fit") else no_search
    raise InputError(f"a finished search or study is needed, got {type(search).__name__};{fitted}.")


def _of_cv_results(search: Any, metric: str | None) -> FinishedSearch:
    results = search.cv_results_
    candidates = _candidates(results)
    rows = _last_rung(results, len(candidates))
    scores = _scores_of_splits(results, rows)
    if isinstance(search.refit, str):
        deciding = search.refit
    elif callable(search.refit):
        deciding = next(iter(scores))
    else:
        deciding = named_metric("the search selected by none of", list(scores), metric)
    rule: SelectionRule = Best()
    if callable(search.refit):
        constants = {key: np.asarray(column)[rows] for key, column in results.items() if not _OF_SCORES.match(key)}
        rule = CallableRefit(search.refit, constants)
    elif hasattr(search, "selection"):
        rule = configuration_rule_of(search.selection)
    params = [candidates[row] for row in rows]
    by_time = type(getattr(search, "cv", None)).__name__ == "TimeSeriesSplit"
    return FinishedSearch(
        scores=scores,
        deciding=deciding,
        rule=rule,
        greater_is_better=True,
        names=tuple(_configuration_name(search.estimator, each, place) for place, each in enumerate(params)),
        params=params,
        repeat=_repeats(search, len(next(iter(scores.values())))),
        winner=_place_of_best(search, rows),
        opened=_opened(search),
        title=title_of(getattr(search, "scorer_", None)),
        adaptive="iter" in results or any(hasattr(search, each) for each in _OF_ADAPTIVE_SEARCHES),
        flags=Flag.NOT_EXCHANGEABLE.of() if by_time else {},
    )


def _candidates(results: Any) -> Sequence[Mapping[str, Any]]:
    """The parameters of each configuration."""
    params = results.get("params") if isinstance(results, Mapping) else None
    listed = [*params] if isinstance(params, list | tuple | np.ndarray) else []
    if not listed or not all(isinstance(setting, Mapping) for setting in listed):
        raise InputError(
            "cv_results_ must hold 'params', a list of the parameters of each configuration, as scikit-learn "
            f"writes it; got {shortened(params)}.",
            argument="",
        )
    return listed


def _place_of_best(search: Any, rows: Indices) -> int | None:
    """The position of the search's winner among the rows."""
    best = getattr(search, "best_index_", None)
    if best is None:
        return None
    found = np.flatnonzero(rows == best)
    if len(found) != 1:
        raise InputError(
            f"best_index_ must be one of the {len(rows)} compared rows, got {shortened(best)}.", argument=""
        )
    return int(found[0])


def _last_rung(results: Mapping[str, Any], n_candidates: int) -> Indices:
    """The configurations scored on as many rows as the winner: all, or the last rung of a halving search."""
    if results.get("iter") is None:
        return np.arange(n_candidates)
    rungs = numbers_in(results["iter"], "cv_results_['iter']", n_candidates)
    return np.flatnonzero(rungs == np.max(rungs))


def numbers_in(column: Any, what: str, n_candidates: int | None = None) -> Floats:
    """A column of results, with a number for each configuration, or for each split of one."""
    try:
        values = np.asarray(column)
        values = values.astype(np.float64) if values.dtype.kind in "biufO" else np.empty(())
    except (ValueError, TypeError):
        values = np.empty(())
    if values.ndim != 1 or n_candidates not in (None, len(values)):
        each = "each split" if n_candidates is None else f"each of {n_candidates} configurations"
        raise InputError(f"{what} must hold a number for {each}, got {shortened(column)}.", argument="")
    return values


def _scores_of_splits(results: Mapping[str, Any], rows: Indices) -> dict[str, Floats]:
    by_metric: dict[str, dict[int, Any]] = {}
    for key, column in results.items():
        match = _SPLIT.fullmatch(key)
        if match:
            scores = numbers_in(column, f"cv_results_[{key!r}]", len(results["params"]))
            by_metric.setdefault(match[2], {})[int(match[1])] = scores[rows]
    if not by_metric:
        raise InputError(
            "this search holds no split*_test_* scores in cv_results_, so there is nothing to correct."
        )
    return {name: np.stack([splits[i] for i in sorted(splits)]) for name, splits in by_metric.items()}


def _configuration_name(estimator: Any, params: Mapping[str, Any], place: int) -> str:
    template = estimator if not isinstance(estimator, list) else estimator[0][1]
    return Configuration(place, params, template, params.get("model") if isinstance(estimator, list) else None).name


def _repeats(search: Any, n_splits: int) -> Indices:
    """The repeat of each split: each its own if test sets overlap, those of a repeated splitter, or one for all."""
    splitter = getattr(search, "cv", None)
    times = max(getattr(search, "repeats", 1), getattr(splitter, "n_repeats", 1))
    if isinstance(splitter, FoldPlan):
        times *= splitter.n_rounds
    if "ShuffleSplit" in type(splitter).__name__:
        times = n_splits
    return np.arange(n_splits) // (n_splits // times)


def _opened(search: Any) -> dict[str, Metric]:
    scorers = getattr(search, "scorer_", None)
    members = scorers if isinstance(scorers, Mapping) else members_of(scorers)
    opened = {
        name: metric for name, scorer in members.items() if (metric := metric_from_scorer(scorer)) is not None
    }
    classes = getattr(search, "classes_", ())
    if np.shape(classes) == (2,):  # the name of a metric says its class where that is not the positive one
        truth = truth_of(classes)
        opened |= {name: metric.for_truth(truth) for name, metric in opened.items() if metric.pos_label is not None}
    return opened


def _of_study(study: Any) -> FinishedSearch:
    if len(getattr(study, "directions", [study])) > 1:
        raise InputError(
            f"a study of several objectives has no single winner; for one of them call {_FROM_SCORES} with an "
            "array of shape (splits, trials)."
        )
    complete = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
    if not complete:
        raise InputError("the study has no completed trial, so there is nothing to correct.")
    scores = [_scores_of_trial(trial) for trial in complete]
    n_splits = max(len(each) for each in scores)
    if n_splits < 2:
        raise InputError(
            "the study's trials keep no scores of splits; report each in the objective, as "
            "trial.report(score, step=fold) or trial.set_user_attr(f'split{fold}_test_score', score)."
        )
    for trial, kept_scores in zip(complete, scores, strict=True):
        _check_mean(trial, kept_scores)
    whole = [place for place, each in enumerate(scores) if len(each) == n_splits]
    kept = [complete[place] for place in whole]
    greater = study.direction.name == "MAXIMIZE"
    return FinishedSearch(
        scores={"score": np.array([scores[place] for place in whole]).T},
        deciding="score",
        rule=Best(),
        greater_is_better=greater,
        names=tuple(_trial_name(trial) for trial in kept),
        params=[trial.params for trial in kept],
        repeat=np.zeros(n_splits, dtype=np.intp),
        title=(getattr(study, "metric_names", None) or ["objective"])[0],
        winner=None,  # a study's winner is the best of the objective, which need not be the mean over splits
        adaptive=True,
    )


def _scores_of_trial(trial: Any) -> list[float]:
    """The scores by split: kept by optuna-integration's search in each trial, or reported by the objective."""
    kept = {
        int(match[1]): float(value)
        for key, value in trial.user_attrs.items()
        if (match := re.fullmatch(r"split(\d{1,18})_test_score", key))
    }
    kept = kept or {int(step): float(value) for step, value in trial.intermediate_values.items()}
    return [kept[split] for split in sorted(kept)]


def _check_mean(trial: Any, scores: Sequence[float]) -> None:
    """Refuse what is reported by step and is no score of a fold: epochs, running means, scores of another sign."""
    mean = float(np.mean(scores)) if scores else float("nan")
    rounding = 1e-12 * max(map(abs, scores), default=0.0)
    if not isclose(mean, trial.value, rel_tol=1e-6, abs_tol=rounding):
        raise InputError(
            f"the scores of splits that a trial keeps must have its value as their mean, but trial {trial.number} "
            f"has the value {trial.value:.6g} and the mean {mean:.6g}: its steps may be epochs, running means, or "
            "losses of another sign. Call trial.report(score, step=fold) once a fold and return the mean, use "
            f"ho.optuna.objective(...), or call {_FROM_SCORES} with an array of shape (splits, trials)."
        )


def _trial_name(trial: Any) -> str:
    shown = ", ".join(
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in trial.params.items()
    )
    return f"trial {trial.number}" + (f" ({shown})" if shown else "")


def metric_of(search: FinishedSearch, name: str) -> OpaqueMetric:
    """The metric of the scores under a name, with the range and name of an opened scorer."""
    known = search.opened.get(name)
    if known is None:
        return OpaqueMetric(search.title if name == "score" else name, search.greater_is_better)
    return OpaqueMetric(known.name if name == "score" else name, search.greater_is_better, range=known.range)


def named_metric(found: str, names: Sequence[str], metric: str | None, default: str | None = None) -> str:
    """The given metric, or by default the one that selected the winner, or the only one."""
    if metric is None and default is None and len(names) > 1:
        raise InputError(
            f"{found} several scores, {labels_text(names)}; name the one that selects in metric.", argument="metric"
        )
    if metric is not None and not is_one_of(metric, names):
        raise InputError(f"metric must be one of the search's scores, {labels_text(names)}, got {metric!r}.")
    return metric or default or names[0]
