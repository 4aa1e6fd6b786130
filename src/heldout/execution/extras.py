"""What few searches ask for: the default configuration, halves of the rows, smaller training, an end by width."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.configurations import Configuration, Configurations, checked_entries
from heldout.data.task import shortened
from heldout.dropping.base import Barrier, judged_after
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.paired.overtuning import DefaultConfiguration, place_of
from heldout.execution.collect import RaceResults
from heldout.execution.conclusion import Conclusion, chosen_in, estimates_of
from heldout.execution.events import FitsAdded
from heldout.execution.plan import Race
from heldout.execution.run import OpenRun, RunSettings, Stop, open_run
from heldout.execution.search import Search, imputed
from heldout.execution.training_size import SmallerTraining, competitors, smaller_training_in
from heldout.predictions import FoldScores


def scores_in_halves(run: OpenRun, chosen: Conclusion) -> dict[str, FoldScores]:
    """The winner's scores on the splits of halves (splits, 1), one a scorer; each half is a repeat.

    ``run``: open, of the search. NaN where the winner failed or has no score.
    """
    folds, scoring = chosen.search.folds, chosen.search.scoring
    race = Race(folds.halves, configurations=(chosen.winner,))
    run.run_races([race])
    cells = run.cell_results(race)
    in_half = len(folds.halves) // (2 * folds.n_halvings)
    found = {}
    for name in chosen.found.fold_scores:
        metric = scoring.metrics.get(name)
        greater = metric is None or metric.greater_is_better
        scores = np.array([[cell.test_scores.get(name, np.nan)] for cell in cells], dtype=np.float64)
        found[name] = FoldScores(
            values=scores if greater else -scores,
            greater_is_better=greater,
            repeat=np.arange(len(cells), dtype=np.intp) // in_half,
            test_rows=np.array([len(split.test) for split in folds.halves], dtype=np.intp),
        )
    return found


def smaller_training(run: OpenRun, chosen: Conclusion) -> SmallerTraining | None:
    """Fit what competes without two folds at a time, in the run of the search."""
    search = chosen.search
    positions, pairs = competitors(chosen), search.folds.without_two
    # Fits without two folds have places of their own, so that resumed ones can be counted apart.
    places, n_fits = {split.place for split in pairs}, len(positions) * len(pairs)
    n_done = sum(cell.place in places and cell.configuration in positions for cell in run.run.acknowledged())
    run.run.note_end(len(search.configurations), n_fits)
    run.tell(FitsAdded(len(positions), len(pairs), n_fits, n_done))
    race = Race(pairs, configurations=positions)
    run.run_races([race])
    return smaller_training_in(chosen, run.cell_results(race))


FEWEST_ROWS = 50
"""With fewer predicted rows no interval ends a search: a few rows that all models predict well look tight."""


def stop_of(search: Search, most: float, n_jobs: int | None = None) -> Stop:
    """The rule of a search that ends when the interval of its estimate is no wider than ``most``."""
    judged = judged_after([split.repeat for split in search.race.splits])

    def stop(barrier: Barrier, found: RaceResults) -> Barrier:
        # In the middle of a later repeat the few new rows would weigh as much as all others.
        if barrier.n_rows < FEWEST_ROWS or not judged[barrier.after - 1]:
            return barrier
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HeldoutWarning)  # those of the end are enough
            try:
                chosen = chosen_in(search, found)
            except InputError:  # no configuration has a score on these rows
                return barrier
            interval = estimates_of(chosen, n_jobs=n_jobs)[found.refit_metric].interval
        if interval is None:
            return barrier
        width = interval.high - interval.low
        # The leader is the one that the interval is of, which the rule may see otherwise.
        return replace(barrier, leader=chosen.winner, width=width, stopped=bool(width <= most))

    return stop


def default_configuration(
    default: Any, estimator: Any, search: Search, running: RunSettings
) -> DefaultConfiguration:
    """What ``default`` names, with its fits.

    Among the configurations of a fixed search it takes no fit. Otherwise it is fitted on the splits of the search,
    as a run of its own, and can never be the winner.

    Raises InputError when it is no dict of parameters of the estimator.
    """
    if not isinstance(default, Mapping):
        raise InputError(
            "default must be a dict of parameters, such as {'C': 1.0}, with {} for the estimator as it is, or "
            f"None, got {shortened(default)}.",
            argument="default",
        )
    model = None
    if isinstance(estimator, list | tuple):
        templates = {name: template for name, template, _ in checked_entries(estimator)}
        model = default.get("model")
        if model not in templates:
            raise InputError(
                f"default must name an estimator by 'model', one of {', '.join(templates)}, got {model!r}.",
                argument="default",
            )
        estimator = templates[model]
    wanted = Configuration(0, dict(default), estimator, model)
    try:
        wanted.fresh()
    except InputError as error:
        error.argument = "default"
        raise
    # Before an imputation is put in front: members are compared as the user named them.
    place = place_of(wanted, search.configurations.members)
    if place is not None:
        return DefaultConfiguration(search.configurations[place], place)
    if search.imputation is not None:
        wanted = imputed(wanted, search.imputation)
    work = replace(search.work, configurations=Configurations((wanted,)), sharing=None)
    race = Race(search.folds.splits)
    with open_run(work, running) as run:
        run.run_races([race])
        found = run.race_results(race)
    if found.failures:
        raise InputError(
            f"the default configuration, {wanted.name}, fails: {found.failures[0].rstrip('.')}; name another "
            "one, or leave default out.",
            argument="default",
        )
    return DefaultConfiguration(wanted, None, found.predictions, found.folds, found.n_fits)
