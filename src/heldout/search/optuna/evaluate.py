"""The search of a study: its trials evaluated, then searches without the rows of a fold, and its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from heldout._streams import numpy_seed
from heldout._text import is_one_of
from heldout.errors import InputError
from heldout.evaluate import evaluate_adaptive
from heldout.execution.conclusion import Choose
from heldout.execution.cross_fit import CrossFit, Obstacle, cross_fit
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.execution.search_check import check_search
from heldout.flags import Flag
from heldout.result import Evaluation
from heldout.search.base import without_callbacks
from heldout.search.optuna.cross_fitting import FEWEST_TRIALS, CrossFitting, cross_fitting_of, trials_needed
from heldout.search.optuna.proposals import StudyProposals, StudySettings
from heldout.search.optuna.regret import SOURCES, UselessSearch
from heldout.search.optuna.space import Space


def evaluate_study(
    search: Search,
    space: Space,
    settings: StudySettings,
    running: RunSettings,
    *,
    beside: RunSettings | None = None,
    choose: Choose | None = None,
) -> tuple[Evaluation, StudyProposals]:
    """Search as the settings say, and estimate the performance of the winner.

    ``beside``: where the searches without the rows of a fold run; by default where the search does.

    Raises
    ------
    InputError
        When the settings do not go together, nothing was proposed, or every configuration failed.
    """
    useless = useless_search(search) if settings.stop_when_useless else None
    cross_fitting, obstacle = _cross_fitting(search, settings)
    is_optional = is_one_of(settings.feedback, ("auto",))
    enough = None if cross_fitting is None else trials_needed(search.folds) if is_optional else 0
    proposals = StudyProposals(space, settings, search.entropy, enough=enough, useless=useless)

    def beside_it() -> CrossFit | Obstacle | None:
        if cross_fitting is None:
            return obstacle
        n_trials = cross_fitting.trials_of_each(search.folds, proposals.n_asked)
        too_few = cross_fitting.obstacle(search.folds, proposals.n_asked)
        if too_few is not None and is_optional:  # the search stopped before its last trial
            return too_few
        settings_of_each = replace(settings, n_trials=n_trials if too_few is None else FEWEST_TRIALS)
        made = _cross_fit(search, space, settings_of_each, beside or running, choose, proposals.seconds_left)
        return replace(made, is_optional=is_optional)

    try:
        found = evaluate_adaptive(
            search, proposals, running, n_planned=settings.n_trials or 0, choose=choose, cross_fit=beside_it
        )
    finally:
        proposals.close()
    proposals.warn_of_failures()
    return (with_stop(found, proposals.stop_reason) if proposals.stop_reason else found), proposals


def useless_search(search: Search) -> UselessSearch:
    """What decides whether further trials are useless.

    Raises InputError with a single split.
    """
    if search.folds.n_splits < 2:
        raise InputError(
            "`stop_when_useless=True` needs at least 2 splits, which show the standard error of the winner's "
            "score, got 1; use `cv=5`, say, or leave it out.",
            argument="stop_when_useless",
        )
    shares = [len(split.test) / split.n_training_rows for split in search.folds.splits]
    return UselessSearch(float(np.mean(shares)), search.entropy)


def _cross_fitting(search: Search, settings: StudySettings) -> tuple[CrossFitting | None, Obstacle | None]:
    """The settings of the searches without the rows of a fold; None where there are none, and why.

    Raises InputError where they are asked for and not possible.
    """
    cross_fitting = cross_fitting_of(settings.feedback)
    if cross_fitting is None or search.method is None:
        return None, None
    if settings.study is not None:
        obstacle: Obstacle | None = Obstacle(
            "needs samplers that have seen no row of a fold, and the trials of a study may have seen all",
            "leave study out",
            "study",
        )
    else:
        check_search(search, settings.n_trials or 0)
        obstacle = cross_fitting.obstacle(search.folds, settings.n_trials)
    if obstacle is None:
        return cross_fitting, None
    if not is_one_of(settings.feedback, ("auto",)):
        raise obstacle.error
    return None, obstacle


def _cross_fit(
    search: Search,
    space: Space,
    settings: StudySettings,
    running: RunSettings,
    choose: Choose | None,
    seconds_left: Callable[[], float | None],
) -> CrossFit:
    """The searches without the rows of a fold, which share the time that is left."""
    n_folds, n_trials = len(search.folds.of_first_repeat), settings.n_trials or 0

    def proposals_of_fold(fold: int) -> StudyProposals:
        entropy, seconds = numpy_seed(search.entropy, "sampler of a fold", fold), seconds_left()
        timeout = None if seconds is None else seconds / (n_folds - fold)
        own = replace(settings, study=None, callbacks=None, timeout=timeout)
        return StudyProposals(space, own, entropy, fewest=min(n_trials, FEWEST_TRIALS))

    return cross_fit(search, proposals_of_fold, without_callbacks(running), n_trials=n_trials, choose=choose)


def with_stop(found: Evaluation, reason: str) -> Evaluation:
    """The record of a search that stopped as useless: its estimates say so."""
    flag = Flag.STOPPED_WHEN_USELESS
    estimates = {
        name: replace(
            one,
            flags={**one.flags, flag: flag.filled(reason=reason)},
            provenance={**one.provenance, "sources": [*one.provenance.get("sources", ()), *SOURCES]},
        )
        for name, one in found.estimates.items()
    }
    return replace(found, estimates=estimates).with_provenance(stop_reason=reason)
