"""What ``heldout tune`` tries: the models of a preset or an own space, as a grid or drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout import _defaults
from heldout.cli.console import Console
from heldout.cli.options import about_option, flag_of, option_fields
from heldout.cli.python_file import FileSpace, OwnSpace, has_distributions
from heldout.cli.tune_options import GRID, OPTUNA, RANDOM, TuneOptions, check_named, feedback_of, is_protocol
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.execution.fit import Routing, Scoring, make_scoring
from heldout.metrics import check_fits, metric_named, scorer
from heldout.metrics.base import Failing, Metric, Response, quiet_if_foreign
from heldout.metrics.from_scorer import scorer_of_class

if TYPE_CHECKING:
    from heldout.cli.files import OutputFolder
    from heldout.configurations import Configurations
    from heldout.data.task import Task
    from heldout.execution.run import RunSettings
    from heldout.execution.search import Search
    from heldout.result import Evaluation


def scorer_of(name: str, truth: Truth) -> Any:
    """scikit-learn's scorer, or ours, by its name or a loss's own (``log_loss``)."""
    from sklearn.metrics import get_scorer, get_scorer_names

    measured = check_fits_named(name, truth)
    known = set(get_scorer_names())
    found = next(
        (known_as for known_as in (name, measured.name, f"neg_{measured.name}") if known_as in known), None
    )
    if found is None:
        return scorer(measured)
    _try_out(measured, name, truth)
    return get_scorer(found)


def check_fits_named(name: str, truth: Truth) -> Metric:
    """The metric of that name; one that does not fit the target is refused."""
    with about_option("--metric", name):
        return check_fits(metric_named(name), truth)


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
    from sklearn.metrics import check_scoring

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
    from heldout.spaces import preset, published_space

    if own is None:
        drawn = {"distributions": True} if options.search in (RANDOM, OPTUNA) else {}
        published = published_space(options.preset, task.X, task.target, task.truth.kind)
        space = FileSpace(
            preset(options.preset, task.X, task.truth.kind, **drawn) if published is None else published
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


def n_planned(space: FileSpace, options: TuneOptions, configurations: Configurations) -> int:
    """How many configurations there will be, at most."""
    return (options.n_trials or space.size or N_TRIALS) if space.search == OPTUNA else len(configurations)


def configurations_of(space: FileSpace, options: TuneOptions) -> Configurations:
    """Every configuration of the grid, or those that are drawn; none where they are proposed later."""
    from heldout.arguments.sampling import sample_configurations
    from heldout.configurations import Configurations, make_configurations

    if space.search == OPTUNA:
        return Configurations(())
    with about_option("--space", options.space) if options.space else nullcontext():
        if space.search == RANDOM:
            number = options.n_iter or space.size or N_ITER
            return sample_configurations(space.estimator, space.values, number, options.seed)
        _refuse_distributions(space)
        return make_configurations(space.estimator, space.values)


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
    from heldout.execution.store.sqlite import SQLiteStore
    from heldout.search.optuna.evaluate import evaluate_study
    from heldout.search.optuna.proposals import StudySettings
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
    from sklearn.dummy import DummyClassifier, DummyRegressor

    from heldout.spaces import CoxRegression

    if task.truth.kind is TaskKind.SURVIVAL:
        return CoxRegression()
    return DummyClassifier() if task.truth.kind.is_classification else DummyRegressor()


def _check_options(space: FileSpace, options: TuneOptions) -> None:
    """Refuse options of another kind of search."""
    for one in option_fields(options):
        kind = one.metadata.get("search", space.search)
        if getattr(options, one.name) != one.default and space.search != kind:
            raise InputError(
                f"{flag_of(one)} is for --search {kind}, and here the search is {space.search}; leave it out."
            )
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
    from sklearn.base import is_classifier, is_regressor

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
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    from heldout._sklearn import BaseSearchCV

    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        inner = _weight_parameter(last)
        return f"{name}__{inner}" if inner else ""
    if isinstance(model, TransformedTargetRegressor):
        return _weight_parameter(model.regressor)
    if isinstance(model, BaseSearchCV):
        return _weight_parameter(model.estimator)
    return "sample_weight" if has_fit_parameter(model, "sample_weight") else ""
