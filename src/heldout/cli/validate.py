"""``heldout validate``: how good a model fitted on a whole table is, corrected for its optimism."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from heldout import _defaults
from heldout._text import counted
from heldout.cli.console import Console, command_of
from heldout.cli.files import folder_for, save_model, write_report_files
from heldout.cli.options import (
    DATA,
    OPTIONS,
    RUNNING,
    RunOptions,
    TableOptions,
    alternative_option,
    check_imputations,
    level_option,
    names_listed,
    option,
)
from heldout.cli.result import run_document
from heldout.cli.runs import resumable, run_context, run_session
from heldout.data import checks
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.cli.files import OutputFolder
    from heldout.estimates.types import Alternative
    from heldout.protocols.validation.arguments import ValidationArguments
    from heldout.protocols.validation.estimate import Validation
    from heldout.protocols.validation.plan import ValidationPlan
    from heldout.readers.table_task import TableTask


OF_A_TIME = ("brier_score_at", "roc_auc_at")
"""Metrics that --time is for; the first is reported by default."""


def check_model(names: tuple[str, ...]) -> None:
    """Refuse what is neither a name of a model nor a file of one."""
    for path in (Path(name) for name in names if name not in checks.REGRESSIONS):
        if not path.is_file():
            raise InputError(
                f"--model must be logistic, linear, cox, or a file (.py or .skops), got {str(path)!r}; there is no "
                "such file."
            )
        if path.suffix not in (".skops", ".py"):
            raise InputError(f"--model {path} must be a Python file (.py) that defines model, or a .skops file.")


@dataclass(frozen=True, kw_only=True)
class ValidateOptions(TableOptions, RunOptions):
    """The options of ``heldout validate``."""

    model: tuple[str, ...] = option(
        "logistic, linear or cox, unpenalised, of all columns; or a Python file that defines model, or a .skops "
        "file. Repeatable: then the best is chosen.",
        (),
        metavar="NAME|FILE",
        check=check_model,
    )
    trust: tuple[str, ...] = option(
        "The full name of a type in the .skops file that you reviewed and heldout did not; repeatable.",
        (),
        metavar="TYPE",
        decides=False,
    )
    metric: tuple[str, ...] = option(
        "A metric to report; repeatable, and the first chooses among models. rms: those of R's rms::validate. By "
        "default the usual ones of the task.",
        (),
        metavar="NAME",
        argument="scoring",
    )
    time: tuple[float, ...] = option(
        "Survival: a time at which to score and calibrate; repeatable.", (), metavar="T"
    )
    predictor: tuple[str, ...] = option(
        "A column to predict from; repeatable. By default all columns without another use.", (), metavar="COL"
    )
    method: str | None = option(
        "auto (optimism, and 632+ or oob for a model that memorises its rows; the default), optimism, 632, 632+, "
        "oob, or two_stage (choose among several models, then estimate anew, as auto does by default).",
        metavar="NAME",
        choices=("auto", *checks.CORRECTIONS, checks.TWO_STAGE),
    )
    n_bootstraps: int = option("How many samples to draw.", _defaults.VALIDATION_BOOTSTRAPS)
    imputations: int = option(
        "How often to impute missing values in every sample; 0 leaves them to the model.",
        0,
        check=check_imputations,
    )
    imputation_order: str = option(
        "boot_mi (draw, then impute), mi_boot (impute, then draw), or naive.",
        "boot_mi",
        metavar="ORDER",
        argument="order",
        choices=checks.IMPUTATION_ORDERS,
    )
    outcome_in_evaluation: bool = option(
        "Impute the rows that are evaluated with their outcome too, like those that train. The scores are then "
        "too good for new rows, whose outcome is unknown.",
        False,
    )
    backward: float | None = option(
        "Remove columns one by one while the greatest p-value, pooled over the imputations, is above P; anew in "
        "every sample. Needs --imputations.",
        metavar="P",
        argument="p_remove",
        check=checks.check_p_remove,
    )
    interval: str = option(
        "location_shifted, double (a bootstrap of each bootstrap), percentile (of oob), or none.",
        "auto",
        metavar="NAME",
        choices=("auto", *checks.VALIDATION_INTERVALS, "none"),
        decides=False,
    )
    n_inner_bootstraps: int | None = option(
        "Samples to draw of each bootstrap, with --interval double or --adjust-optimism; by default "
        f"{_defaults.INNER_BOOTSTRAPS}.",
        check=partial(checks.check_count, "n_inner_bootstraps", least=2, usual="50 is usual"),
    )
    n_second_bootstraps: int | None = option(
        "Of auto and two_stage: samples that estimate the chosen model; by default as many as --n-bootstraps, "
        "which choose it.",
        check=partial(checks.check_count, "n_second_bootstraps", least=2, usual="200 is usual"),
    )
    adjust_optimism: bool = option(
        "Adjust the optimism by the double bootstrap: what bootstraps of each bootstrap make of its optimism.",
        False,
    )
    confidence_level: float = level_option()
    alternative: str = alternative_option()

    @property
    def takes_regression(self) -> bool:
        """Whether a model is one of ``REGRESSIONS``."""
        return not self.model or any(name in checks.REGRESSIONS for name in self.model)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that were named."""
        return names_listed("--metric", *self.metric)

    def check(self) -> None:
        """Refuse wrong values, and options that do not go together, before anything is read or imported."""
        super().check()
        checks.check_interval_settings(
            self.n_bootstraps, self.confidence_level, self.alternative,
            usual_bootstraps=_defaults.VALIDATION_BOOTSTRAPS,
        )  # fmt: skip
        if self.n_inner_bootstraps is not None and not (self.interval == "double" or self.adjust_optimism):
            raise InputError(
                "--n-inner-bootstraps is for --interval double or --adjust-optimism; use one of them, or leave it "
                "out."
            )
        if self.n_second_bootstraps is not None and self.method not in (None, "auto", checks.TWO_STAGE):
            raise InputError("--n-second-bootstraps is for --method two_stage; use both, or leave it out.")
        if self.trust and not any(name.endswith(".skops") for name in self.model):
            raise InputError("--trust is for --model FILE.skops; use both, or leave it out.")
        self._check_imputing()
        if self.time and self.event is None:
            raise InputError(
                "--time is for survival, which needs --event COL and times in --target; add --event COL."
            )
        self._check_parts()

    def _check_imputing(self) -> None:
        needing = {
            "--imputation-order": self.imputation_order != "boot_mi",
            "--backward": self.backward is not None,
            "--outcome-in-evaluation": self.outcome_in_evaluation,
        }
        for flag, is_given in needing.items():
            if is_given and not self.imputations:
                raise InputError(f"{flag} needs --imputations, the number of them; 5 is usual.")
        if self.backward is not None and self.imputation_order == "naive":
            raise InputError(
                "--backward pools p-values, and --imputation-order naive pools nothing; leave one out."
            )

    def _check_parts(self) -> None:
        """Refuse what the parts of the library refuse, before anything is read."""
        from heldout.metrics import metric_named
        from heldout.protocols.validation.intervals import interval_kind

        interval_kind(_interval(self), "optimism" if self.method == checks.TWO_STAGE else self.method or "auto")
        for name in self.metrics:
            if name not in (*OF_A_TIME, checks.RMS):
                metric_named(name)


@dataclass(frozen=True, eq=False)
class ValidateJob:
    """Everything that is decided before the first fit."""

    found: TableTask
    source: str
    arguments: ValidationArguments
    plan: ValidationPlan

    @property
    def n_bytes(self) -> int:
        """Of the files."""
        from heldout.protocols.validation.plan import bytes_recorded

        return bytes_recorded(self.plan)


def job_of(options: ValidateOptions, console: Console) -> ValidateJob:
    """Read the table, decide what to fit, and print both."""
    from heldout.cli.table import read_task
    from heldout.imputation.backward import BackwardSelection
    from heldout.imputation.settings import Imputation
    from heldout.imputation.tables import holes_of
    from heldout.protocols.validation.arguments import ValidationArguments

    found, source = read_task(options, console)
    task = found.task
    n_lacking = int(holes_of(task.X).any(axis=1).sum())
    if n_lacking and not options.imputations:
        console.note(_of_missing(options, n_lacking))
    imputation = None
    if options.imputations:
        imputation = Imputation(
            options.imputations,
            order=cast("Any", options.imputation_order),
            outcome_in_evaluation=options.outcome_in_evaluation,
            selection=None if options.backward is None else BackwardSelection(options.backward),
        )
    _check_specified(options, found)
    models = _models(options, found)
    method, n_second = options.method or "auto", options.n_second_bootstraps
    if options.method is None and len(models) > 1 and n_second is None:
        n_second = options.n_bootstraps
    arguments = ValidationArguments(
        models,
        metric=_metrics(options, found),
        method=method,
        n_bootstraps=options.n_bootstraps,
        n_inner_bootstraps=options.n_inner_bootstraps or _defaults.INNER_BOOTSTRAPS,
        imputation=imputation,
        interval=_interval(options),
        confidence_level=options.confidence_level,
        alternative=cast("Alternative", options.alternative),
        random_state=options.seed,
        n_second_bootstraps=n_second,
        adjust_optimism=options.adjust_optimism,
    )
    plan = arguments.plan_of(task)
    names = ", ".join(configuration.name for configuration in plan.models)
    each = f", each of {plan.do.n_completions // 2} imputations" if plan.do.n_completions > 1 else ""
    inner = f" of {counted(plan.n_inner, 'bootstrap')} each" if plan.n_inner else ""
    second = f" to choose and {plan.n_second:,} to estimate" if plan.two_stages else ""
    console.say(
        f"Plan: {names} by {method}, {counted(options.n_bootstraps, 'bootstrap')}{second}{inner}: "
        f"{counted(plan.most_fits, 'fit')}{each}, seed {options.seed}. Metrics: {', '.join(plan.metrics)}."
    )
    return ValidateJob(found, source, arguments, plan)


def _check_specified(options: ValidateOptions, found: TableTask) -> None:
    """Refuse text that looks like numbers: a regression would have a coefficient for each different one."""
    from heldout.data.task import shortened
    from heldout.readers.columns import quoted
    from heldout.readers.predictors import unread_numbers

    X = found.task.X.drop(columns=[*options.factor], errors="ignore")
    if options.takes_regression and (unread := unread_numbers(X)):
        name, text = next(iter(unread.items()))
        raise InputError(
            f"{quoted([*unread])} would have a coefficient for each text, as {shortened(text)} in {name!r} is not "
            "read as a number; write numbers like 1234.5, name the text of missing ones with --missing TEXT, or if "
            f"they are codes of categories, use --factor {shlex.quote(name)}."
        )


def _of_missing(options: ValidateOptions, n_rows: int) -> str:
    """How missing values are handled, where nothing is imputed."""
    from heldout.spaces.regressions import MODELS

    files = [name for name in options.model if name not in MODELS]
    by_us = "heldout's own models fill them in by the median, or as a category"
    by_them = f"{', '.join(files)} must handle them"
    whose = by_them if files and len(files) == len(options.model) else by_us
    return f"Missing values in {counted(n_rows, 'row')}: {whose}; --imputations 5 imputes them instead."


def _interval(options: ValidateOptions) -> str | None:
    return None if options.interval == "none" else options.interval


def _models(options: ValidateOptions, found: TableTask) -> list[Any]:
    """(name, estimator) of each model."""
    from heldout.cli.python_file import models_of_file
    from heldout.spaces.regressions import MODELS, regression, usual_model

    kind, X = found.task.truth.kind, found.task.X
    entries: list[tuple[str, Any]] = []
    for name in options.model or (usual_model(kind),):
        if name in MODELS:
            entries.append((name, regression(name, X, kind, fill=not options.imputations)))
            continue
        models = models_of_file(Path(name), options.trust)
        entries += models if isinstance(models, list | tuple) else [(Path(name).stem, models)]
    names = [entry[0] for entry in entries if isinstance(entry, tuple | list) and entry]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--model names {twice!r} twice; give each model a name of its own.")
    return entries


def _metrics(options: ValidateOptions, found: TableTask) -> list[str] | None:
    """The named metrics or the default ones; a metric of a time appears once for each --time."""
    from heldout.protocols.validation.arguments import DEFAULT_METRICS

    if not options.metric and not options.time:
        return None
    named = options.metrics or DEFAULT_METRICS[found.task.truth.kind]
    if options.time and not any(name in OF_A_TIME for name in named):
        named = (*named, OF_A_TIME[0])
    of_each = {name: [f"{name}(time={_written(time)})" for time in options.time] for name in OF_A_TIME}
    return [each for name in named for each in of_each.get(name) or [name]]


def _written(time: float) -> str:
    return f"{time:g}" if float(f"{time:g}") == time else repr(time)


@command_of(
    ValidateOptions,
    "validate",
    "Estimate how good a model is that was fitted on all rows of a table.",
    {DATA: DATA, OPTIONS: "The model and its validation", RUNNING: RUNNING},
)
def command(options: ValidateOptions, console: Console, typed: str) -> None:
    """Fit a model on bootstrap samples of DATA, and subtract the estimated optimism from its apparent performance.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, validation.json, coefficients.csv of a linear model, and report.html; methods.md, a
    paragraph for a paper with its BibTeX; and card.md, the result for the README of a repository.
    """
    with run_context(console):
        options.check()
        folder = folder_for(options.out, options.resume, console)
        job = job_of(options, console)
        with resumable(folder, job.n_bytes, typed, options.resume):
            validation = _validate(options, job, folder, console)
            files = _write_files(validation, job, folder, typed, console)
    from heldout.execution.listeners.words import command_words

    seconds = console.seconds()
    failed = f", {counted(len(validation.failures), 'bootstrap')} failed" if validation.failures else ""
    console.show(validation.tables())
    console.table(
        [
            ("fits", f"{validation.n_fits:,}{failed}"),
            ("time", command_words(seconds)),
            ("files", list(files.values())),
        ]
    )
    console.document({**validation.to_dict(), **run_document(job.found, files, seconds)})
    console.check_all_was_printed(f"the files are in {folder.path}")


def _validate(options: ValidateOptions, job: ValidateJob, folder: OutputFolder, console: Console) -> Validation:
    from heldout.cli.table import with_columns
    from heldout.protocols.validation.arguments import validated

    with run_session(options, folder, console) as running:
        validation = validated(job.arguments, job.plan, running)
    estimates = {name: with_columns(estimate, job.found) for name, estimate in validation.estimates.items()}
    return replace(validation, estimates=estimates)


def _write_files(
    validation: Validation, job: ValidateJob, folder: OutputFolder, command: str, console: Console
) -> dict[str, str]:
    """The paths of the files by their kind."""
    from heldout.report import facts

    files = {
        "run": folder.run_file,
        **save_model(validation.model, folder, console, job.found.note(job.plan.fits.scoring.times)),
    }
    files["validation"] = folder.write_json("validation.json", validation.to_dict())
    if validation.coefficients is not None:
        table = validation.coefficients.to_frame(validation.settings["confidence_level"])
        text = table.to_csv(index=False, lineterminator="\n")
        files["coefficients"] = folder.write_text("coefficients.csv", text)
    files |= write_report_files(facts(validation, command=command, title=job.source), folder)
    return {name: str(path) for name, path in files.items()}
