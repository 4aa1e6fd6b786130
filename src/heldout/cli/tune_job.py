"""The work of ``heldout tune``: what it tries (a preset or an own space, as a grid or drawn), its fits, its files.

It imports scikit-learn, so commands import it when their options are checked.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from heldout import _defaults, spaces
from heldout._sklearn import BaseSearchCV
from heldout._text import counted
from heldout.arguments.search import SearchArguments
from heldout.cli.console import Console
from heldout.cli.files import OutputFolder, save_model, write_predictions, write_report_files
from heldout.cli.options import about_option
from heldout.cli.python_file import FileSpace, OwnSpace, has_distributions
from heldout.cli.result import estimate_document
from heldout.cli.runs import run_session
from heldout.cli.table import read_task, with_columns
from heldout.cli.tune_options import (
    BOOTSTRAP,
    GRID,
    OPTUNA,
    RANDOM,
    TuneOptions,
    check_belonging,
    check_named,
    feedback_of,
    is_protocol,
    method_of_options,
    nested_settings,
)
from heldout.configurations import Configurations
from heldout.data.task import Task, TaskKind, Truth
from heldout.dropping import planned_folds, strategy_of
from heldout.errors import InputError
from heldout.evaluate import evaluate
from heldout.execution.events import ConfigurationsAdded, Event, SearchStarted
from heldout.execution.fit import Routing, Scoring, make_scoring
from heldout.execution.run import RunSettings
from heldout.execution.search import Search, check_repeated, unscored_splits
from heldout.execution.store.sqlite import SQLiteStore
from heldout.flags import Flag
from heldout.folds.plans import LeaveOut
from heldout.folds.splits import Folds, make_folds
from heldout.imputation.tables import has_missing
from heldout.metrics import check_fits, metric_named, scorer
from heldout.metrics.base import Failing, Metric, Response, quiet_if_foreign
from heldout.metrics.from_scorer import scorer_of_class
from heldout.protocols.nested.estimate import NestedEstimate
from heldout.protocols.nested.intervals import BATES
from heldout.protocols.nested.plan import nested_folds
from heldout.protocols.nested.protocol import nested_of_search
from heldout.protocols.search_bootstrap import BootstrapPlan, SearchBootstrapEstimate
from heldout.readers.table_task import DEFAULT_METRICS, TableTask, check_folds_fit
from heldout.result import Evaluation


def scorer_of(name: str, truth: Truth) -> Any:
    """scikit-learn's scorer, or ours, by its name or a loss's own (``log_loss``)."""

    with about_option("--metric", name):
        measured = check_fits(metric_named(name), truth)
    known = set(get_scorer_names())
    found = next(
        (known_as for known_as in (name, measured.name, f"neg_{measured.name}") if known_as in known), None
    )
    if found is None:
        return scorer(measured)
    _try_out(measured, name, truth)
    return get_scorer(found)


def _try_out(metric: Metric, name: str, truth: Truth) -> None:
    """Score the truth by itself with a foreign function: an error there would recur for all predictions."""
    if not metric.calls_foreign_code:
        return
    perfect = truth.values[:, None]
    if Response.LABELS not in metric.responses and truth.kind is TaskKind.BINARY:
        perfect = (perfect == truth.positive).astype(np.float64)
    elif Response.LABELS not in metric.responses and truth.kind is TaskKind.MULTICLASS:
        perfect = np.eye(truth.n_classes)[perfect]
    with quiet_if_foreign([metric]):
        statistic = metric.statistic(truth, perfect)
        statistic.all(np.ones((1, truth.n_rows), dtype=np.uint8))
    failures = statistic.failures if isinstance(statistic, Failing) else {}
    # A perfect score may be infinite or undefined; only errors of the function count.
    raised = next((message for message in failures if not message.startswith("the value ")), None)
    if raised:
        why = raised.partition(": ")[2].strip(" .")
        raise InputError(f"--metric {name} does not fit the {truth.kind.value} target ({why}); use another metric.")


def without_the_unable(
    entries: list[Any], metrics: Mapping[str, Metric | None]
) -> tuple[list[Any], list[str], str]:
    """Entries whose models give what the metrics need, the names of the others, and the metric that decides it."""
    opened = [metric for metric in metrics.values() if metric is not None]
    needing = [metric.name for metric in opened if set(metric.responses) == {Response.PROBABILITIES}]
    able = [entry for entry in entries if not needing or hasattr(entry[1], "predict_proba")]
    unable = [entry[0] for entry in entries if needing and not hasattr(entry[1], "predict_proba")]
    return able, unable, (needing or [metric.name for metric in opened])[0]


def scoring_of(names: Sequence[str], truth: Truth, keep: tuple[Response, ...]) -> Scoring:
    """The scorers of the metrics of these names; the first chooses the winner."""

    scorers = {name: scorer_of(name, truth) for name in names}
    several = len(scorers) > 1
    gathered = check_scoring(scoring=scorers, raise_exc=False) if several else scorers[names[0]]
    of_class = scorer_of_class(gathered, truth, truth.pos_label)
    return make_scoring(truth, of_class, names[0] if several else "score", keep)


N_ITER = 60
"""Of a random search: with 60 draws, one is among the best 5 % of the space with a probability of 95 %."""


N_TRIALS = 100
"""Of a search by Optuna."""


def space_of(
    options: TuneOptions,
    own: OwnSpace | None,
    task: Task,
    metrics: Mapping[str, Metric | None],
    console: Console,
) -> FileSpace:
    """The space that the options name; models that cannot be scored or weighted are left out, with a note."""

    if own is None:
        drawn = {"distributions": True} if options.search in (RANDOM, OPTUNA) else {}
        published = spaces.published_space(options.preset, task.X, task.target, task.truth.kind)
        space = FileSpace(
            spaces.preset(options.preset, task.X, task.truth.kind, **drawn) if published is None else published
        )
    else:
        space = own.space(task.X, task.target)
    space = chosen(replace(space, search=options.search or space.search or GRID), options)
    _check_options(space, options)
    if space.estimator is None:
        return space
    if own is not None:
        _check_kind(space, options, task)
    return _able(space, options, task, metrics, console)


def arguments_of(space: FileSpace, options: TuneOptions) -> SearchArguments:
    """The arguments with which a search of the library tries the space."""
    drawn = {"param_distributions": space.values, "n_iter": options.n_iter or space.size or N_ITER}
    tried = drawn if space.search == RANDOM else {"param_grid": space.values}
    return SearchArguments(space.estimator, random_state=options.seed, **tried, **options.spec)


def configurations_of(space: FileSpace, options: TuneOptions, arguments: SearchArguments) -> Configurations:
    """Every configuration of the grid, or those that are drawn; none where they are proposed later."""
    if space.search == OPTUNA:
        return Configurations(())
    with about_option("--space", options.space) if options.space else nullcontext():
        if space.search == GRID:
            _refuse_distributions(space)
        return arguments.configurations(options.seed)


def routing_of(space: FileSpace, task: Task) -> Routing:
    """Where the weights of the rows go: to every fit and to the scorers."""
    if task.sample_weight is None:
        return Routing()
    score = {"sample_weight": task.sample_weight}
    if not isinstance(space.estimator, list):
        return Routing(fit={_weight_parameter(space.estimator): task.sample_weight}, score=score)
    of_model = {name: {_weight_parameter(model): task.sample_weight} for name, model, _ in space.estimator}
    return Routing(fit_of_model=of_model, score=score)


def evaluate_trials(
    space: FileSpace,
    options: TuneOptions,
    search: Search,
    folder: OutputFolder,
    running: RunSettings,
    n_trials: int,
) -> Evaluation:
    """The search of what Optuna proposes; then notes of trials that proposed nothing."""
    from heldout.search.optuna.proposals import StudySettings
    from heldout.search.optuna.search import evaluate_study
    from heldout.search.optuna.space import space_of as space_of_trials

    estimator = _any_model(search.task) if space.estimator is None else space.estimator
    with about_option("--space", options.space) if options.space else nullcontext():
        trials = space_of_trials(estimator, space.values)
    settings = StudySettings(
        n_trials=n_trials, timeout=options.timeout, batch_size=options.batch_size,
        feedback=feedback_of(options.feedback), stop_when_useless=options.stop_when_useless,
        random_state=options.seed,
    )  # fmt: skip
    store = SQLiteStore(folder.samplers_file, accept_changed_code=options.accept_changed_code)
    return evaluate_study(search, trials, settings, running, beside=replace(running, store=store, resume=True))[0]


def _any_model(task: Task) -> Any:
    """A model of the kind that a function of a trial must return."""

    if task.truth.kind is TaskKind.SURVIVAL:
        return spaces.CoxRegression()
    return DummyClassifier() if task.truth.kind.is_classification else DummyRegressor()


def _check_options(space: FileSpace, options: TuneOptions) -> None:
    """Refuse options of another kind of search."""
    check_belonging(options, "search", space.search)
    if space.search == OPTUNA and is_protocol(options):
        raise InputError(
            f"--method {options.method} repeats the search, which with --search optuna is possible only from "
            f"Python (ho.nested_cv of an ho.HeldOutOptunaSearchCV); use --method {_defaults.METHOD}."
        )
    if space.estimator is None and space.search != OPTUNA:
        raise InputError(f"--space {options.space} is a function of a trial, which needs --search optuna.")
    if space.estimator is None and options.weight is not None:
        raise InputError(
            f"--weight needs models that take weights, and the function --space {options.space} makes them only "
            "later; give a list of models, or leave --weight out."
        )


def chosen(space: FileSpace, options: TuneOptions) -> FileSpace:
    """The models that --models names."""
    if options.models is None:
        return space
    if not isinstance(space.estimator, list):
        known = ", ".join(space.names) or "a function of a trial"
        raise InputError(
            f"--models chooses among several models, and the space {options.space} is a single one, {known}; leave "
            "it out."
        )
    check_named(options, space.names)
    return replace(space, estimator=[entry for entry in space.estimator if entry[0] in options.chosen_models])


def _check_kind(space: FileSpace, options: TuneOptions, task: Task) -> None:
    """Refuse own models that learn another kind of target."""

    first = space.estimator[0][1] if isinstance(space.estimator, list) else space.estimator
    kind = task.truth.kind
    for is_kind, fits, name in (
        (is_classifier, kind.is_classification, "classifier"),
        (is_regressor, not kind.is_classification, "regressor"),
    ):
        if is_kind(first) and not fits:
            raise InputError(
                f"--space {options.space}: {type(first).__name__} is a {name}, but the task is {kind.value}; give "
                f"models for it, or another --task."
            )


def _able(
    space: FileSpace, options: TuneOptions, task: Task, metrics: Mapping[str, Metric | None], console: Console
) -> FileSpace:
    """Without the models that give no probabilities where a metric needs them, or take no weights."""
    several = isinstance(space.estimator, list)
    entries = space.estimator if several else [(space.names[0], space.estimator, space.values)]
    able, unable, needing = without_the_unable(entries, metrics)
    if unable:
        console.note(f"Left out {', '.join(unable)}: these models give no probabilities, which {needing} needs.")
    if not able:
        raise InputError(f"no model of {_origin(options)} can be scored by {needing}; choose another --metric.")
    weightless = [entry[0] for entry in able if task.sample_weight is not None and not _weight_parameter(entry[1])]
    if weightless:
        console.note(f"Left out {', '.join(weightless)}: the fit of these models takes no weights of rows.")
    able = [entry for entry in able if entry[0] not in weightless]
    if not able:
        raise InputError(
            f"no model of {_origin(options)} takes weights of rows (sample_weight of fit); choose other models, or "
            "leave --weight out."
        )
    return replace(space, estimator=able) if several else space


def _origin(options: TuneOptions) -> str:
    return f"--space {options.space}" if options.space else "the preset"


def _refuse_distributions(space: FileSpace) -> None:
    parts = space.estimator if isinstance(space.estimator, list) else [("", None, space.values)]
    for name, _, values in parts:
        parameter = has_distributions(values)
        if parameter is not None:
            of = f" of {name!r}" if name else ""
            raise InputError(
                f"parameter {parameter!r}{of} has a distribution, and a grid needs a list of values; use --search "
                "random."
            )


def _weight_parameter(model: Any) -> str:
    """The parameter by which ``fit`` takes weights of rows, through pipelines; empty where it takes none."""

    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        inner = _weight_parameter(last)
        return f"{name}__{inner}" if inner else ""
    if isinstance(model, TransformedTargetRegressor):
        return _weight_parameter(model.regressor)
    if isinstance(model, BaseSearchCV):
        return _weight_parameter(model.estimator)
    return "sample_weight" if has_fit_parameter(model, "sample_weight") else ""


@dataclass(frozen=True, eq=False)
class TuneJob:
    """Everything that is decided before the first fit."""

    found: TableTask
    source: str
    space: FileSpace
    n_planned: int
    """How many configurations there will be, at most."""
    search: Search


def job_of(options: TuneOptions, console: Console) -> TuneJob:
    """Read the table, decide what to fit, and print both."""

    own = None if options.space is None else OwnSpace.of(options.space)
    if own is not None and not own.needs_data:
        chosen(own.space(None, None), options)  # a misspelt --models is refused before the table is read
    found, source = read_task(options, console)
    task = found.task
    metrics = options.metrics or (DEFAULT_METRICS[task.truth.kind],)
    keep = (Response.LABELS, Response.PROBABILITIES) if task.truth.kind.is_classification else ()
    scoring = scoring_of(metrics, task.truth, keep)
    console.say(_metric_sentence(metrics, bool(options.metric)))
    strategy = strategy_of(options.drop)
    if strategy is None:
        check_folds_fit(found, options.fold_plan.most_folds() or 2)
        # Shuffled, because the rows of a file are seldom in random order.
        folds = make_folds(task, options.fold_plan, repeats=options.repeats, entropy=options.seed)
    else:
        folds = planned_folds(strategy, task, options.seed)
    space = space_of(options, own, task, scoring.metrics, console)
    arguments = arguments_of(space, options)
    configurations = configurations_of(space, options, arguments)
    if options.imputations and not has_missing(task.X):
        console.note(Flag.NOTHING_MISSING.filled())
    number = (options.n_trials or space.size or N_TRIALS) if space.search == OPTUNA else len(configurations)
    console.say(_plan_sentence(options, folds, number, space))
    why_pooled = "" if options.aggregate else _why_pooled(options, task, scoring, folds)
    if why_pooled:
        console.note(f"{why_pooled}: all held-out rows are scored together, in choosing too (aggregate: pooled).")
    if options.aggregate is None:
        arguments = replace(arguments, aggregate="pooled" if why_pooled else _defaults.AGGREGATE)
    routed = routing_of(space, task)
    search = arguments.search(task, configurations, folds, scoring, entropy=options.seed, routed=routed)
    return TuneJob(found, source, space, number, search)


def _metric_sentence(metrics: Sequence[str], is_chosen: bool) -> str:
    if len(metrics) > 1:
        return f"Metrics: {', '.join(metrics)}; {metrics[0]} chooses the winner, and each has its estimate."
    return f"Metric: {metrics[0]}." + ("" if is_chosen else " To choose another: --metric NAME.")


def _why_pooled(options: TuneOptions, task: Task, scoring: Scoring, folds: Folds) -> str:
    """Why folds of one row or one group cannot be scored one by one; empty where they can."""

    if not isinstance(options.fold_plan, LeaveOut):
        return ""
    if task.groups is None:
        return "Leave-one-out tests one row at a time"
    return unscored_splits(scoring.metrics[scoring.refit_metric], task.truth, folds)


def _plan_sentence(options: TuneOptions, folds: Folds, number: int, space: FileSpace) -> str:

    drawn = {RANDOM: " drawn at random", OPTUNA: " proposed by Optuna"}.get(space.search or "", "")
    most = "at most " if options.timeout is not None else ""
    fits = number * folds.n_splits + len(folds.halves)
    models = f" ({', '.join(space.names)})" if space.names else ""
    steps = f"{folds.n_splits} steps on more and more rows (--cv does not apply)"
    splits = options.fold_plan.words if strategy_of(options.drop) is None else steps
    repeats = f" x {options.repeats} repeats" if options.repeats > 1 else ""
    grouped = " of whole groups" if folds.grouped else ""
    each = f", each of {options.imputations:,} imputations" if options.imputations else ""
    return (
        f"Plan: {most}{counted(number, 'configuration')}{drawn}{models} x "
        f"{splits}{grouped}{repeats} = "
        f"{most}{counted(fits, 'fit')}{_fits_beside(options, folds, number, space)}{each}, seed {options.seed}."
    )


def _fits_beside(options: TuneOptions, folds: Folds, number: int, space: FileSpace) -> str:
    """The further fits of a search with Optuna for its estimate; empty where there are none."""

    if space.search != OPTUNA or method_of_options(options) is None:
        return ""
    from heldout.search.optuna.feedback import cross_fitting_of

    cross_fitting = cross_fitting_of(feedback_of(options.feedback))
    if cross_fitting is None or cross_fitting.obstacle(folds, number) is not None:
        return ""
    return f" and {cross_fitting.n_fits(folds, number):,} more for the corrected estimate"


def times_predicted(options: TuneOptions, search: Search, console: Console) -> int:
    """How many times as many predictions as a single search the method makes; prints the number of fits."""
    if not is_protocol(options):
        return 1

    check_repeated(search)
    n_configurations = len(search.configurations)
    if options.method in BOOTSTRAP:
        return _times_bootstrapped(options, n_configurations, search.folds.n_splits, console)

    settings, selects = nested_settings(options), n_configurations > 1
    pairs = settings.interval == BATES
    nested = nested_folds(
        search.task, search.folds, settings.inner, pairs=pairs, selects=selects, entropy=options.seed
    )
    fits = nested.n_fits(n_configurations)
    if nested.is_one_split:
        console.say(
            f"Hold-out: the winner of a search on the other rows is tested once, {counted(fits, 'fit')} in all."
        )
        return 2
    console.say(
        f"Nested cross-validation: the search is repeated for each of {counted(len(nested.outer), 'outer fold')}"
        + (f" and for each of {counted(len(nested.pairs), 'pair')} of them" if nested.pairs else "")
        + f", {counted(fits, 'fit')} in all."
    )
    return 1 + len(nested.branches)


def run_protocol(options: TuneOptions, search: Search, running: RunSettings) -> Evaluation:
    """The search on all rows, with the estimate of the protocol and the fits of both."""

    estimate: NestedEstimate | SearchBootstrapEstimate
    if options.method in BOOTSTRAP:
        classifier = search.task.truth.kind.is_classification
        settings = search.estimation.settings(search.entropy, options.n_jobs)
        plan = BootstrapPlan(search, settings, options.fold_plan, options.repeats, classifier)
        estimate = plan.run_models(running) if options.scheme == "models" else plan.run_cvt(running)
    else:
        estimate = nested_of_search(search, nested_settings(options), running)
    evaluation = estimate.evaluation
    assert evaluation is not None, "the protocol ran the search"
    return replace(
        evaluation,
        estimates={evaluation.refit_metric: replace(estimate, evaluation=None, model=None)},
        n_fits=estimate.n_fits,
        n_fits_saved=estimate.n_fits_saved,
    )


def _times_bootstrapped(options: TuneOptions, n_configurations: int, n_splits: int, console: Console) -> int:
    """The same, of a bootstrap."""
    times = options.bootstraps
    if options.scheme == "models":
        fits = times * n_configurations + 1
        console.say(
            f"Bootstrap: every configuration on each of {counted(times, 'sample')}, {counted(fits, 'fit')}."
        )
        return times
    searched = n_configurations * n_splits
    fits = (searched + 1) + times * ((searched if n_configurations > 1 else 0) + 1)
    console.say(
        f"Bootstrap of the search: it is repeated on each of {counted(times, 'sample')}, {counted(fits, 'fit')} "
        "in all."
    )
    return 1 + times


def bytes_of(job: TuneJob) -> int:
    """Held-out predictions on the disk: in the run file, and once more in predictions.parquet."""
    task = job.search.task
    outputs = max(task.truth.n_classes, 1)
    cells = task.n_rows * job.n_planned * job.search.folds.n_repeats
    return 8 * cells * (2 * outputs + 2)


def evaluated(options: TuneOptions, job: TuneJob, folder: OutputFolder, console: Console) -> tuple[Evaluation, int]:
    """The search, and how many of its fits an earlier run had done."""

    resumed: list[int] = []

    def count(event: Event) -> None:
        if isinstance(event, SearchStarted):
            resumed.append(event.n_resumed)
        elif isinstance(event, ConfigurationsAdded):
            resumed.extend(event.resumed.values())

    with run_session(options, folder, console, count) as running:
        if is_protocol(options):
            evaluation = run_protocol(options, job.search, running)
        elif job.space.search == OPTUNA:
            evaluation = evaluate_trials(job.space, options, job.search, folder, running, job.n_planned)
        else:
            evaluation = evaluate(job.search, running)
    evaluation = evaluation.with_provenance(
        configurations_from=job.space.search or "list", columns=job.found.columns
    )
    estimates = {name: with_columns(estimate, job.found) for name, estimate in evaluation.estimates.items()}
    return replace(evaluation, estimates=estimates), sum(resumed)


def write_files(
    evaluation: Evaluation, job: TuneJob, selection: str, folder: OutputFolder, command: str, console: Console
) -> dict[str, str]:
    """The paths of the files by their kind."""
    from heldout.report import facts
    from heldout.report.importance import unfit_for_importance

    files = {
        "run": folder.run_file,
        **save_model(evaluation.model, folder, console, job.found.note(job.search.scoring.times)),
    }
    metric = job.search.scoring.metrics[job.search.scoring.refit_metric]
    if metric is not None:
        found = job.found
        files["predictions"] = write_predictions(evaluation, metric, found.target, folder, event=found.event)
    if evaluation.estimate is not None:
        files["estimate"] = folder.write_json("estimate.json", estimate_document(evaluation))
    if evaluation.fold_models is not None and (reason := unfit_for_importance(evaluation)):
        console.note(f"The report has no importance of the columns: {reason}.")
    files |= write_report_files(facts(evaluation, command=command, title=job.source), folder)
    return {name: str(path) for name, path in files.items()}
