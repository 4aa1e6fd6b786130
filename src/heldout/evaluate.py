"""The main job: run a search, choose its winner, and estimate how good the winner is.

``evaluate`` is the flow of the library, one line per stage; functions are named after their results. At the end is
what few searches ask for: the default configuration, halves of the rows, fits without two folds, an end by width.
"""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from heldout._version import versions
from heldout.configurations import Configuration, Configurations, checked_entries
from heldout.data.checks import call_text
from heldout.data.task import shortened
from heldout.dropping.base import Barrier, judged_after
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.data_flags import flag_of_adaptive
from heldout.estimates.methods import method_of
from heldout.estimates.paired.overtuning import DefaultConfiguration, place_of
from heldout.estimates.types import Estimate
from heldout.execution.adaptive import Proposals, proposed_results
from heldout.execution.collect import RaceResults
from heldout.execution.conclusion import Choose, Conclusion, chosen_in, estimates_of
from heldout.execution.cross_fit import CrossFit, Obstacle, estimates_of_cross_fit, part_for_estimate
from heldout.execution.events import FitsAdded, SearchFinished, StageStarted
from heldout.execution.fit import final_model
from heldout.execution.fold_models import fold_models_of, only_model
from heldout.execution.kept_rows import kept_part
from heldout.execution.plan import Race
from heldout.execution.run import OpenRun, RunSettings, Stop, open_run
from heldout.execution.search import Search, check_search, imputed, warn_if_too_small, warn_of_settings
from heldout.execution.store.unfinished_search import SearchSoFar, note_of
from heldout.execution.training_size import SmallerTraining, competitors, corrected_for_size, smaller_training_in
from heldout.flags import Flag
from heldout.imputation.tables import missing_counts
from heldout.predictions import FoldScores, SearchQuestion
from heldout.result import Evaluation
from heldout.selection.base import metrics_read, settings_of


def evaluate(search: Search, running: RunSettings = RunSettings(), *, choose: Choose | None = None) -> Evaluation:  # noqa: B008 - frozen
    """Run a search over configurations and estimate the performance of its winner.

    Parameters
    ----------
    search : Search
    running : RunSettings
        Executor, store and listeners.
    choose : callable, optional
        ``choose(results, configurations)`` returns the winner; it replaces the selection rule.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        When the method does not apply, every configuration failed, or the predictions would not fit in memory.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import get_scorer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from heldout.configurations import make_configurations
    >>> from heldout.execution.fit import make_scoring
    >>> from heldout.folds.splits import make_folds
    >>> from heldout.data.task import Task, truth_of
    >>> X, y = load_iris(return_X_y=True)
    >>> task = Task(X, truth_of(y))
    >>> grid = make_configurations(KNeighborsClassifier(), {"n_neighbors": [1, 50]})
    >>> scoring = make_scoring(task.truth, get_scorer("accuracy"))
    >>> found = evaluate(Search(task, grid, make_folds(task), scoring, n_bootstraps=200, entropy=1))
    >>> found.winner, found.n_fits, bool(found.estimate.value < 1)
    (0, 10, True)
    """
    started = time.perf_counter()
    check_search(search)
    warned = warn_if_too_small(search)
    warn_of_settings(search, running.n_jobs)
    width = search.stop_when_width
    stop = None if width is None else stop_of(search, width, running.n_jobs)
    part = kept_part(search, running)
    with open_run(
        search.work, running, may_drop=search.race.barriers, note=partial(note_of, search),
        more={} if width is None else {"stop_when_width": width}, part=part,
    ) as run:  # fmt: skip
        # At barriers, and for a correction, results are read before the end or by themselves.
        if not search.race.barriers and not search.training_size_correction and not search.folds.halves:
            run.collect(search.race, part)
        (barriers,) = run.run_races([search.race], search=search, stop=stop)
        found = run.race_results(search.race, barriers)
        chosen = chosen_in(search, found, choose=choose, warned=warned)
        smaller = smaller_training(run, chosen) if search.training_size_correction else None
        halves = scores_in_halves(run, chosen) if search.folds.halves else {}
    searched = time.perf_counter() - started
    return evaluation_of(chosen, running, searched, halves=halves, smaller_training=smaller)


def evaluate_adaptive(
    search: Search,
    proposals: Proposals,
    running: RunSettings = RunSettings(),  # noqa: B008 - frozen
    *,
    n_planned: int,
    choose: Choose | None = None,
    cross_fit: Callable[[], CrossFit | Obstacle | None] | None = None,
) -> Evaluation:
    """Run an adaptive search, and estimate the performance of its winner.

    Parameters
    ----------
    search : Search
        Without configurations.
    proposals : Proposals
        They propose its configurations.
    running : RunSettings
    n_planned : int
        How many configurations there will be at most.
    choose : callable, optional
        As in ``evaluate``.
    cross_fit : callable, optional
        Called after the search: makes one search without the rows of each fold, whose predictions give the
        estimate, or says why it cannot. None if they are not wanted.

    Raises
    ------
    InputError
        As ``evaluate``, and when nothing was proposed.
    """
    started = time.perf_counter()
    check_search(search, n_planned)
    warned = warn_if_too_small(search)
    search, found = proposed_results(search, proposals, running, n_planned)
    warn_of_settings(search, running.n_jobs)
    chosen = chosen_in(search, found, choose=choose, warned=warned)
    beside = None if cross_fit is None else cross_fit()
    fit = beside if isinstance(beside, CrossFit) else None
    obstacle = beside if isinstance(beside, Obstacle) else None
    if fit is not None and not fit.gives_estimate:
        obstacle = Obstacle(f"failed, as {fit.reason}")
    flags = {}
    if obstacle is not None:
        n_candidates = len(search.configurations) - len(found.predictions.out)
        flags = flag_of_adaptive(n_candidates, search.task.n_rows, obstacle.sentence)
    searched = time.perf_counter() - started
    return evaluation_of(chosen, running, searched, flags=flags, cross_fit=fit)


def evaluation_of(
    chosen: Conclusion,
    running: RunSettings,
    searched: float,
    *,
    halves: Mapping[str, FoldScores] = MappingProxyType({}),
    flags: Mapping[Flag, str] = MappingProxyType({}),
    cross_fit: CrossFit | None = None,
    smaller_training: SmallerTraining | None = None,
) -> Evaluation:
    """The record of a search from its cells: the winner, its estimates, the winner fitted on all rows.

    Parameters
    ----------
    chosen : Conclusion
    searched : float
        Seconds of all cells and of the choice.
    halves : mapping
        The winner's scores in halves of the rows, where it was fitted there.
    flags : mapping
        What to know of the search beside its settings.
    cross_fit : CrossFit, optional
        Of whose predictions the estimates are, unless it failed and was optional.
    smaller_training : SmallerTraining, optional
        Predictions by models of fewer rows, which correct the estimates for training size.
    """
    started = time.perf_counter()
    search, found, winner = chosen.search, chosen.found, chosen.winner

    estimates: Mapping[str, Estimate] = {}
    if chosen.estimation.method is not None:
        running.tell(StageStarted("estimate"))
        if cross_fit is None or not cross_fit.gives_estimate:
            estimates = estimates_of(chosen, n_jobs=running.n_jobs, halves=halves, flags=flags)
        else:
            estimates = estimates_of_cross_fit(chosen, cross_fit, n_jobs=running.n_jobs)
        if search.training_size_correction:
            estimates = corrected_for_size(search, found, estimates, smaller_training)
    estimated = time.perf_counter()

    model = None
    if search.refit and search.deploy == "all":
        running.tell(StageStarted("refit"))
        model = final_model(search.work, search.configurations[winner])
    refitted = time.perf_counter()
    fold_models = None
    if search.keep_models != "none":
        running.tell(StageStarted("fold models"))
        fold_models = fold_models_of(search.work, running, found, winner, search.keep_models)
        if search.deploy == "bounded":
            model = only_model(fold_models)
    finished = time.perf_counter()
    for_estimate = sum(each.n_fits for each in (cross_fit, smaller_training) if each is not None)
    n_fits = found.n_fits + len(search.folds.halves) + for_estimate
    words = part_for_estimate(for_estimate, n_fits) if for_estimate else ""
    running.tell(SearchFinished(searched + finished - started, words))
    question = _question(chosen, halves, flags, cross_fit)
    return Evaluation(
        task=search.task, folds=found.folds, configurations=search.configurations, cells=found.cells,
        predictions=replace(chosen.read.predictions, question=question),
        fold_scores=found.fold_scores, metrics=found.metrics, pooled_scores=chosen.pooled,
        within_scores=chosen.within, scores_in_halves=dict(halves),
        refit_metric=found.refit_metric, winner=winner, estimates=estimates, model=model,
        estimation=chosen.estimation, failures=found.failures,
        barriers=found.barriers,
        n_fits=n_fits, smaller_training=smaller_training,
        n_fits_saved=found.n_fits_saved + (0 if cross_fit is None else cross_fit.n_fits_saved), cross_fit=cross_fit,
        fold_models=fold_models,
        n_splits_read=None if search.strategy is None else search.strategy.window,
        seconds={"search": searched, "estimate": estimated - started, "refit": refitted - estimated},
        provenance=_provenance(search),
    )  # fmt: skip


def _question(
    chosen: Conclusion,
    halves: Mapping[str, FoldScores],
    flags: Mapping[Flag, str],
    cross_fit: CrossFit | None,
) -> SearchQuestion:
    """What is estimated from the predictions, for who has these alone."""
    search, found, estimation = chosen.search, chosen.found, chosen.estimation
    task, metrics = search.task, search.scoring.metrics
    read = metrics_read(estimation.rule, found.fold_scores, found.refit_metric)
    selected_on = {name: metric for name in read if (metric := metrics.get(name)) is not None}
    method = None if estimation.method is None else method_of(estimation.method)
    replays = search.drop is not None and method is not None and method.replays_dropping
    beyond = {
        "scores of a scorer that cannot be opened": len(selected_on) < len(read),
        "searches without the rows of each fold": cross_fit is not None and cross_fit.gives_estimate,
        "fits on halves of the rows": bool(halves),
        "fits without two folds, which correct it for training size": search.training_size_correction,
        "the dropping of configurations, which it repeats": replays and getattr(search.drop, "replay", False),
    }
    return SearchQuestion(
        metric=selected_on.get(found.refit_metric) if len(selected_on) == len(read) else None,
        aggregate=estimation.aggregate,
        method=method,
        selection=search.rule,
        rule=estimation.rule,
        selected_on=selected_on,
        n_bootstraps=int(estimation.n_bootstraps),
        confidence_level=float(str(estimation.confidence_level)),
        alternative=estimation.alternative,
        entropy=search.entropy,
        block_length=estimation.blocks,
        n_rows_of_bootstrap=estimation.n_rows_of_bootstrap,
        drop=None if search.drop is None else call_text(search.drop),
        groups=task.groups,
        sample_weight=task.sample_weight,
        truth=task.truth,
        names=chosen.read.predictions.names,
        params=search.configurations.params,
        winner=int(chosen.winner),
        flags={**chosen.flags, **flags},
        beyond=next((what for what, is_so in beyond.items() if is_so), ""),
    )


def evaluation_so_far(stored: SearchSoFar) -> Evaluation:
    """The record of a search that was read from its run file, finished or not; without a model.

    Raises
    ------
    InputError
        When every configuration failed so far.
    """
    chosen = chosen_in(stored.search, stored.found)
    smaller = smaller_training_in(chosen, stored.further)
    found = evaluation_of(chosen, RunSettings(), 0.0, flags=stored.flags, smaller_training=smaller)
    return replace(found, provenance={**found.provenance, **stored.fingerprints})


def _provenance(search: Search) -> dict[str, Any]:
    task, drop, imputation = search.task, search.drop, search.imputation
    return {
        "entropy": search.entropy,
        "fingerprint_of_rows": task.fingerprint(),
        "fingerprint_of_folds": search.folds.fingerprint(),
        "versions": versions(),
        "n_rows": task.n_rows,
        "n_columns": np.shape(task.X)[1] if len(np.shape(task.X)) > 1 else None,
        "missing": missing_counts(task.X),
        "weighted": task.sample_weight is not None,
        "drop": None if drop is None else {"rule": drop.name, **settings_of(drop)},
        "n_splits_planned": search.folds.n_splits,
        "deploy": search.deploy,
        "seeds_models": search.seed_estimators,
        "selection": search.rule.name,
        "aggregate": search.scale_of_selection,
        **({} if imputation is None else {"n_imputations": imputation.n_imputations}),
        **({} if imputation is None else {"sources_of_imputation": list(imputation.sources_of_fits)}),
        **({} if search.stop_when_width is None else {"stop_when_width": float(search.stop_when_width)}),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


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
    run.settings.tell(FitsAdded(len(positions), len(pairs), n_fits, n_done))
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
            f"None, got {shortened(default)}."
        )
    model = None
    if isinstance(estimator, list | tuple):
        templates = {name: template for name, template, _ in checked_entries(estimator)}
        model = default.get("model")
        if model not in templates:
            raise InputError(
                f"default must name an estimator by 'model', one of {', '.join(templates)}, got {model!r}."
            )
        estimator = templates[model]
    wanted = Configuration(0, dict(default), estimator, model)
    try:
        wanted.fresh()
    except InputError as error:
        error.argument = "default"
        raise
    # Before an imputation is put in front: members are compared as the user named them.
    place = place_of(wanted, search.configurations)
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
