"""``ho.estimate_from_scores``: the corrected performance where nothing is left but the scores of the splits."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout import _defaults
from heldout._streams import RandomState
from heldout._text import counted
from heldout._types import Floats, Indices
from heldout.data.checks import check_count, check_number, checked_flag
from heldout.data.limits import check_room
from heldout.data.row_labels import in_one_order
from heldout.data.task import array_of, distinct, numbers_listed, numbers_of, shortened
from heldout.errors import InputError
from heldout.estimates.candidates import check_some_left
from heldout.estimates.data_flags import flag_of_adaptive, flag_of_failed
from heldout.estimates.evidence import Evidence
from heldout.estimates.input_arrays import distinct_names, names_of_columns
from heldout.estimates.inputs import warn_of
from heldout.estimates.methods import answer, method_of
from heldout.estimates.question import Settings, settings_of
from heldout.estimates.types import Alternative, Estimate
from heldout.flags import Flag
from heldout.metrics.base import Metric, oriented
from heldout.metrics.custom import OpaqueMetric
from heldout.predictions import FoldScores
from heldout.selection import configuration_rule_of
from heldout.selection.base import NONE_CHOSEN, SelectionFailedError, SelectionRule
from heldout.selection.replay import FoldReplay


def estimate_from_scores(
    scores: Any,
    *,
    greater_is_better: bool | None = None,
    method: Any,
    test_share: float | None = None,
    halvings: int | None = None,
    repeats: Any = None,
    names: Sequence[str] | None = None,
    metric: str = "score",
    range: tuple[float, float] = (-np.inf, np.inf),
    selection: Any = _defaults.SELECTION,
    n_bootstraps: int = _defaults.BOOTSTRAPS,
    confidence_level: float = _defaults.LEVEL,
    alternative: Alternative = _defaults.ALTERNATIVE,
    adaptive: bool = False,
    random_state: RandomState = None,
) -> Estimate:
    """Estimate the performance of the best of C configurations from the scores of their splits.

    Parameters
    ----------
    scores : array-like or table of shape (splits, C), or FoldScores
        The score (or loss) of each configuration in each split, such as the ``split*_test_score`` of a finished
        search. NaN if there is none: a configuration that lacks a score in a split where others have one is no
        candidate, and a split without any score is left out. The columns of a table name its configurations.
    greater_is_better : bool, optional
        Whether the numbers are scores (True) or losses (False). Needed unless ``scores`` is a ``FoldScores``.
    method : str or method
        "tt", "bbc_f", "corrected_t", "conservative_z", "wmc", "wmcs" or "cv", or a configured method of
        ``ho.estimates`` that reads fold scores.
    test_share : float, optional
        The share of rows that each split tests, between 0 and 1, if the splits are those of repeated subsampling.
        "wmc" and "wmcs" need it; without it, "corrected_t" treats the splits of a repeat as its folds.
    halvings : int, optional
        How often the rows were divided in halves for the last splits, as by ``ho.protocols.paired_hold_out``: J
        splits of all rows, and then J in each half, halving by halving, J (1 + 2 ``halvings``) in all. The first J
        splits select and score; "conservative_z" reads the winner's scores in the others.
    repeats : array-like of shape (splits,), optional
        The repeat that each split belongs to; one repeat by default.
    names : sequence of str, optional
        Names of the configurations.
    metric : str, default="score"
        The name of the scores in the result.
    range : (float, float), default=(-inf, inf)
        The least and the greatest possible score. A one-sided interval ends there on its open side.
    selection : str or rule, default="best"
        How the winner is chosen, here and again in every bootstrap.
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        "greater" bounds how bad the performance can be, "less" how good.
    adaptive : bool, default=False
        Whether configurations were proposed or dropped because of such scores: the estimate is then flagged, as in
        ``ho.estimate``.
    random_state : int, RandomState or Generator, optional
        Seeds the bootstraps.

    Returns
    -------
    Estimate
        In the units of ``scores``; ``n_rows_used`` is 0 if the number of rows is unknown.

    Raises
    ------
    InputError
        When the scores cannot be used, or a setting has no effect.

    Warns
    -----
    HeldoutWarning
        When configurations failed, or there is no estimate; the flags say so too.

    References
    ----------
    Tibshirani and Tibshirani (2009); Paraschakis et al. (2024); Bernau, Augustin and Boulesteix (2013).

    Examples
    --------
    >>> import heldout as ho
    >>> losses = [[0.2, 0.4], [0.4, 0.2], [0.3, 0.5]]  # the first configuration wins two of three folds
    >>> found = ho.estimate_from_scores(losses, greater_is_better=False, method="tt")
    >>> round(found.uncorrected, 6), round(found.value, 6)  # it loses .2 to the best of the second fold
    (0.3, 0.366667)
    """
    settings = settings_of(n_bootstraps, confidence_level, alternative, random_state)
    chosen = method_of(method)
    # Tables are aligned by their index before anything is counted.
    scores, repeats = in_one_order({"scores": scores, "repeats": repeats}).values()
    held = _fold_scores(scores, greater_is_better, repeats)
    whole, halves = _parted(held, halvings)
    if not isinstance(metric, str):
        raise InputError(
            f"metric must be a name, of what the scores are, such as 'accuracy', got {shortened(metric)}."
        )
    measured = OpaqueMetric(metric, held.greater_is_better, range=_checked_range(range, held.values))
    if test_share is not None and not (chosen.takes_test_share or chosen.needs_test_share):
        raise InputError(
            f"`test_share={test_share!r}` is for 'corrected_t', 'wmc' and 'wmcs', not for '{chosen.name}'; leave "
            "it out."
        )
    evidence = evidence_of_scores(
        whole,
        measured,
        names=_names(scores, names, held.n_configurations),
        rule=configuration_rule_of(selection),
        settings=settings,
        test_share=checked_share(test_share),
        adaptive=checked_flag("adaptive", adaptive),
    )
    if halves is not None:
        evidence = replace(evidence, halves=halves[..., evidence.winner])
    result = answer(chosen, evidence)
    warn_of(result, stacklevel=2)
    return result


def _parted(held: FoldScores, halvings: Any) -> tuple[FoldScores, Floats | None]:
    """The scores of splits of all rows, and those of halves (halvings, 2, splits, C) where there are such."""
    if halvings is None:
        return held, None
    check_count("halvings", halvings, usual="10 are usual")
    parts = 1 + 2 * int(halvings)
    # Splits of all rows come first, then those of both halves of each halving, as ``paired_hold_out`` makes them.
    if held.n_splits % parts:
        raise InputError(
            f"scores of {halvings} halvings have as many splits of all rows as of each half, so that their number "
            f"is a multiple of {parts}, got {held.n_splits}.",
            argument="halvings",
        )
    n_whole = held.n_splits // parts
    tested = None if held.test_rows is None else held.test_rows[:n_whole]
    whole = FoldScores(held.values[:n_whole], held.greater_is_better, held.repeat[:n_whole], tested)
    return whole, held.values[n_whole:].reshape(int(halvings), 2, n_whole, -1)


def evidence_of_scores(
    held: FoldScores,
    metric: Metric,
    *,
    names: tuple[str, ...],
    rule: SelectionRule,
    settings: Settings,
    test_share: float | None = None,
    params: Sequence[Mapping[str, Any]] = (),
    read: Mapping[str, Floats] | None = None,
    adaptive: bool = False,
) -> Evidence:
    """The evidence of scores of splits, where no predictions are known.

    ``read`` maps metrics to the scores (splits, C) that the rule reads, greater = better, those that decide first;
    by default the reported ones.
    """
    params = params or [{} for _ in names]
    read = read or {metric.name: oriented(metric, held.values)}
    rule.check(len(names), params, list(read))
    candidates, failed = _candidates(held.values)
    check_some_left(candidates, names, failed)
    flags = flag_of_failed(names, failed) | (flag_of_adaptive(len(candidates), None) if adaptive else {})
    scores = held.values[:, candidates]
    unscored = int(np.isnan(scores).all(axis=1).sum())
    # A split without any score is left out of every mean, so that it must not count as a split either.
    if unscored:
        flags |= Flag.UNSCORED_SPLITS.of(unscored=unscored, total=held.n_splits)
    if held.n_splits - unscored < 2:
        raise InputError(
            f"at least 2 splits with scores are needed, got {held.n_splits - unscored}; give one row per split "
            "and one column per configuration."
        )
    tested = held.test_rows
    decide = np.stack([table[:, candidates] for table in read.values()], axis=2)
    replay = FoldReplay(rule, decide, candidates, params, list(read), held.repeat)
    return Evidence(
        metric,
        names,
        candidates,
        _winner(replay),
        settings,
        selection=rule.name,
        aggregate="folds",
        # Those that the first repeat tests; 0 where that is not known.
        n_rows_used=0 if tested is None else int(tested[held.repeat == held.repeat[0]].sum()),
        fold_scores=scores,
        repeat_of_split=held.repeat,
        fold_replay=replay,
        test_share=test_share,
        flags=flags,
        details={"n_splits": held.n_splits, "n_repeats": len(np.unique(held.repeat))},
    )


def _candidates(values: Floats) -> tuple[Indices, dict[int, str]]:
    """The candidates, and why the other configurations failed: by the rules for predictions of rows."""
    absent = np.isnan(values)
    empty = absent.all(axis=0)
    failed = dict.fromkeys(np.flatnonzero(empty).tolist(), "it has no score")
    # A split that nobody could score says nothing of a single configuration.
    scored = ~absent.all(axis=1)
    for column in np.flatnonzero(absent[scored].any(axis=0) & ~empty).tolist():
        failed[column] = "it has no score in a split that others have one in"
    return np.array([j for j in np.arange(values.shape[1]) if j not in failed], dtype=np.intp), failed


def _winner(replay: FoldReplay) -> int:
    try:
        column = int(replay.choose(np.ones((1, replay.n_splits), dtype=np.uint8))[0])
    except SelectionFailedError as error:
        raise InputError(f"the selection rule '{replay.rule.name}' failed on the scores: {error}.") from error
    if column == NONE_CHOSEN:
        raise InputError(f"the selection rule '{replay.rule.name}' chose no configuration.")
    return int(replay.candidates[column])


def _fold_scores(scores: Any, greater_is_better: bool | None, repeats: Any) -> FoldScores:
    # FoldScores know their direction; a second one could only contradict it.
    if isinstance(scores, FoldScores):
        for name, value in (("greater_is_better", greater_is_better), ("repeats", repeats)):
            if value is not None:
                raise InputError(f"`{name}=` describes an array, but FoldScores already contain it; leave it out.")
        values, direction = _checked_values(scores.values), scores.greater_is_better
        repeat = np.asarray(scores.repeat)
        if repeat.shape != (len(values),):
            raise InputError(f"FoldScores need the repeat of each of {len(values)} splits, got {repeat.shape}.")
        return FoldScores(values, direction, repeat.astype(np.intp), scores.test_rows)
    if not isinstance(greater_is_better, bool | np.bool_):
        raise InputError(
            f"greater_is_better must be True (scores) or False (losses), got {greater_is_better!r}; it is never "
            "guessed."
        )
    values = _checked_values(scores)
    return FoldScores(values, bool(greater_is_better), _repeat_of_split(repeats, len(values)))


def _checked_values(scores: Any) -> Floats:
    if isinstance(scores, Mapping):
        raise InputError(
            "scores must be an array or table of shape (splits, configurations), got a mapping with the keys "
            f"{shortened(list(scores))}; of the cv_results_ of a search take "
            "np.array([cv_results_[f'split{k}_test_score'] for k in range(n_splits)])."
        )
    check_room(scores, "scores")
    values = numbers_of(array_of(scores, "scores"), "scores")
    if values.ndim != 2 or 0 in values.shape:
        raise InputError(
            f"scores must be of shape (splits, configurations), none of them 0, got {values.shape}; for one "
            "configuration use scores.reshape(-1, 1)."
        )
    # An infinite score makes means and correlations NaN or infinite, and no method could tell why.
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        split, column = infinite[0].tolist()
        raise InputError(
            f"scores must be finite or NaN, got {values[split, column]} in split {split} of configuration {column} "
            "(both counted from 0); leave the configuration out, or mark what failed as NaN."
        )
    return values


def _repeat_of_split(repeats: Any, n_splits: int) -> Indices:
    if repeats is None:
        return np.zeros(n_splits, dtype=np.intp)
    labels = array_of(repeats, "repeats")
    if labels.shape != (n_splits,):
        raise InputError(f"repeats must hold a label for each of the {n_splits} splits, got shape {labels.shape}.")
    return distinct(labels, "repeats")[1].astype(np.intp)


def _names(scores: Any, names: Sequence[str] | None, n_configurations: int) -> tuple[str, ...]:
    if names is not None:
        if isinstance(names, str) or not isinstance(names, Collection) or len(names) != n_configurations:
            raise InputError(
                f"names must hold one for each of {counted(n_configurations, 'configuration')}, got "
                f"{shortened(names)}."
            )
        return distinct_names(names)
    return names_of_columns(scores, n_configurations)


def _checked_range(given: Any, values: Floats) -> tuple[float, float]:
    ends = numbers_listed(given)
    if ends.shape != (2,):
        raise InputError(f"range must be two numbers, the least and greatest score, got {given!r}.")
    low, high = ends.tolist()
    if not low < high:
        raise InputError(f"range must go from the least to the greatest score, got {given!r}.")
    beyond = values[(values < low) | (values > high)]
    if beyond.size:
        raise InputError(f"scores must lie in the range [{low:g}, {high:g}], got {beyond[0]:g}; give their range.")
    return low, high


def checked_share(test_share: Any) -> float | None:
    """The share of rows that each split tests, or None."""
    if test_share is None:
        return None
    check_number("test_share", test_share, above=0, below=1, usual=".2 where each split trains on 80 % of the rows")
    return float(test_share)
