"""The search of a study: its trials evaluated, searches without the rows of a fold beside it, and its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heldout._random import RandomState, numpy_seed
from heldout._text import argument
from heldout.errors import InputError
from heldout.evaluate import evaluate_adaptive
from heldout.execution.conclusion import Choose
from heldout.execution.cross_fit import CrossFit, cross_fit
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.execution.search_check import check_search
from heldout.flags import Flag
from heldout.result import Evaluation
from heldout.search.base import without_callbacks
from heldout.search.optuna.cross_fitting import CrossFitting, cross_fitting_of, trials_argument
from heldout.search.optuna.regret import SOURCES, UselessSearch
from heldout.search.optuna.space import Space
from heldout.search.optuna.study import StudyProposals, proposals_of, study_of


@dataclass(frozen=True, kw_only=True)
class StudySettings:
    """How a study searches; ``HeldOutOptunaSearchCV`` describes each."""

    n_trials: int | None
    timeout: float | None = None
    batch_size: int | None = None
    sampler: Any = None
    study: Any = None
    feedback: Any = "all"
    stop_when_useless: bool = False
    callbacks: Sequence[Callable[[Any, Any], None]] = ()
    random_state: RandomState = None


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
    study = study_of(settings.study, settings.sampler)
    useless = useless_search(search) if settings.stop_when_useless else None
    fit = _cross_fit(search, space, settings, beside or running, choose)
    proposals = proposals_of(
        study, space, settings.random_state, search.entropy, n_trials=settings.n_trials,
        batch_size=settings.batch_size or 1, timeout=settings.timeout, useless=useless,
        callbacks=settings.callbacks,
    )  # fmt: skip
    try:
        found = evaluate_adaptive(
            search, proposals, running, n_planned=settings.n_trials or 0, choose=choose, cross_fit=fit
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
            f"{argument('stop_when_useless', True)} needs at least 2 splits, which show the standard error of the "
            f"winner's score, got 1; use {argument('cv', 5)}, say, or leave it out.",
            argument="stop_when_useless",
        )
    shares = [len(split.test) / split.n_training_rows for split in search.folds.splits]
    return UselessSearch(float(np.mean(shares)), search.entropy)


def _cross_fit(
    search: Search, space: Space, settings: StudySettings, running: RunSettings, choose: Choose | None
) -> CrossFit | None:
    """The searches without the rows of a fold; None where the estimate needs none."""
    cross_fitting = cross_fitting_of(settings.feedback)
    if cross_fitting is None or search.estimation.method is None:
        return None
    _check_cross_fitting(cross_fitting, settings)
    check_search(search, settings.n_trials or 0)
    n_trials = cross_fitting.trials_of_each(search.folds, settings.n_trials or 0)

    def proposals_of_fold(fold: int) -> StudyProposals:
        entropy = numpy_seed(search.entropy, "sampler of a fold", fold)
        return proposals_of(
            study_of(None, settings.sampler), space, settings.random_state, entropy, n_trials=n_trials,
            batch_size=settings.batch_size or 1,
        )  # fmt: skip

    return cross_fit(search, proposals_of_fold, without_callbacks(running), n_trials=n_trials, choose=choose)


def _check_cross_fitting(cross_fitting: CrossFitting, settings: StudySettings) -> None:
    if settings.study is not None:
        raise InputError(
            "feedback='cross-fitted' needs samplers that have seen no row of a fold, and the trials of a study may "
            "have seen all; leave study out, or use feedback='all'.",
            argument="study",
        )
    if (settings.timeout is not None or settings.n_trials is None) and cross_fitting.n_trials is None:
        raise InputError(
            f"{argument('feedback', 'cross-fitted')} shares its fits out by {argument('n_trials')}, which "
            f"{'None' if settings.timeout is None else 'a timeout'} leaves open; give the trials of each sampler, "
            f"such as {trials_argument(15)}, to which no timeout applies.",
            argument="feedback",
        )


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
