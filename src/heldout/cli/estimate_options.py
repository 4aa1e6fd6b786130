"""The options of ``heldout estimate``, checked before anything is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heldout import _defaults
from heldout._streams import entropy_of
from heldout.cli import options
from heldout.data import checks, limits
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.estimates.base import Method


def _check_method(text: str) -> None:
    checks.check_choice("method", (checks.call_in(text) or (text, {}))[0], ("all", *checks.METHODS))


def share_of_candidates(text: str) -> str | float:
    """The value of ``--candidates``, as a method takes it."""
    if text == "best":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--candidates must be best or a share such as 0.1, got {text!r}.") from None


def method_of_text(text: str) -> Method:
    """A method by its name, with the parameters that may follow it: ``naive_bootstrap(unit='folds')``.

    Raises InputError for an unknown name or parameter, and a wrong value.
    """
    from heldout.estimates.methods import method_of

    name, given = checks.call_in(text) or (text, {})
    with options.about_option("--method", text):
        if name == "all":
            checks.check_known("method", name, given, [])
        return method_of(text)


@dataclass(frozen=True)
class EstimateOptions:
    """The options of ``heldout estimate``."""

    file: str = options.argument("FILE")
    format: str = options.option(
        "The format of FILE: the name of a tool (caret, tidymodels, mlr3, ...), wide or long; a wrong name lists "
        "them.",
        "auto",
        metavar="NAME",
        check=checks.check_format,
    )
    target: str | None = options.option(
        "The column of true values; of times, with --event; FILE:COL of another file.", metavar="COL"
    )
    event: str | None = options.option(
        "Survival: 1 where the event was seen, 0 where the time is censored.", metavar="COL"
    )
    fold: str | None = options.option(
        "The column of the fold in which a row was held out.", metavar="COL", argument="folds"
    )
    repeat: str | None = options.option("The column of the repeat that a line belongs to.", metavar="COL")
    row: str | None = options.option(
        "The column that identifies a row: its lines in every repeat have the same value.", metavar="COL"
    )
    configuration: tuple[str, ...] = options.option(
        "With --row, for a table with a line for each row and configuration: the column that identifies a "
        "configuration; repeatable (penalty and mixture). Of a recognised tool: a further such column.",
        (),
        metavar="COL",
    )
    prediction: tuple[str, ...] = options.option(
        "A column of predictions; by default all columns without another use.", (), metavar="COL"
    )
    group: str | None = options.option("Rows of one group are drawn together.", metavar="COL", argument="groups")
    weight: str | None = options.option("How much each row counts.", metavar="COL", argument="sample_weight")
    exclude: tuple[str, ...] = options.option("A column to ignore; repeatable.", (), metavar="COL")
    tasks: str | None = options.option(
        "Evaluations of several tasks: stratified draws items within each task (the default), whole draws tasks.",
        metavar="stratified|whole",
        choices=checks.TASK_DRAWS,
    )
    baseline: str | None = options.option(
        "The configuration, named beforehand, from which the leaderboard gives differences.", metavar="NAME"
    )
    metric: str | None = options.option(
        "The metric to estimate; by default guessed from target and predictions.",
        metavar="NAME",
        argument="scoring",
    )
    positive: str | None = options.option(
        "The class that greater scores mean; the case by default.", metavar="LABEL", argument="pos_label"
    )
    response: str = options.option(
        "The kind of the predictions: labels, probabilities, decision, or auto.",
        _defaults.RESPONSE,
        choices=checks.RESPONSES,
    )
    threshold: float | None = options.option("Where scores are cut into labels; above it is positive.")
    method: str | None = options.option(
        "A method's name, also with parameters, as in \"naive_bootstrap(unit='folds')\"; or all: every method "
        f"that applies, side by side. By default that of the file, else {_defaults.METHOD}.",
        metavar="NAME",
        check=_check_method,
    )
    candidates: str | None = options.option(
        "Two-part methods: the best one, or a share such as 0.1.", metavar="best|SHARE", check=share_of_candidates
    )
    evaluation_share: float | None = options.option("Two-part methods: the share of rows for the bound.")
    fixed_configuration: str | None = options.option(
        "The configuration to bound, named beforehand.", metavar="NAME", argument="configuration"
    )
    stratify: bool = options.option("Draw rows within classes.", False)
    interval: str | None = options.option("Of bbc: percentile, or calibrated, which is narrower.", metavar="NAME")
    control: str | None = options.option(
        "Of bbc: subtract the effect of few rows on the metric; off as published.",
        metavar="auto|on|off",
        choices=("auto", "on", "off"),
    )
    ties: str | None = options.option(
        "Of bbc: score the first of the candidates that tie (the default), or average all of them.",
        metavar="first|average",
    )
    selection: str | None = options.option(
        "How the winner is chosen: a rule, also with parameters, such as 'top_k(k=3)'; by default that of the "
        "file, else best.",
        metavar="NAME",
        check=checks.check_rule_names,
    )
    aggregate: str | None = options.option(
        "pooled: the metric over all rows; folds: its mean over folds; within: for metrics made of pairs, "
        "only pairs of rows of one fold; auto: as in heldout tune. By default that of the file, else pooled, or "
        "within where folds are not on one scale.",
        metavar="NAME",
        check=checks.check_aggregate,
    )
    adaptive: bool = options.option(
        "The configurations were proposed or dropped because of scores on these rows (Optuna, halving): flag it.",
        False,
    )
    block_length: str | None = options.option(
        options.BLOCK_LENGTH_HELP, metavar="auto|ROWS", check=checks.check_block_length
    )
    n_rows_of_bootstrap: str | None = options.option(
        f"{options.ROWS_OF_BOOTSTRAP_HELP} By default that of the file, else {_defaults.ROWS_OF_BOOTSTRAP}.",
        metavar="ROWS|all",
        check=checks.rows_of_bootstrap,
    )
    n_bootstraps: int | None = options.option(
        f"Number of bootstraps; by default that of the file, else {_defaults.BOOTSTRAPS}."
    )
    confidence_level: float | None = options.option(
        f"Confidence level of the interval; by default that of the file, else {_defaults.LEVEL}."
    )
    alternative: str | None = options.option(
        "two-sided, greater or less; by default that of the file, else two-sided."
    )
    seed: int | None = options.option(
        "The same seed gives the same result; by default that of the file, else 0.",
        argument="random_state",
        check=entropy_of,
    )
    n_jobs: int | None = options.option(
        "Threads that compute the bootstraps; -1 for all cores.", check=limits.check_jobs
    )
    out: str | None = options.option(
        "The folder for estimate.json, report.html, methods.md and card.md; by default nothing is written.",
        metavar="DIR",
    )
    as_json: bool = options.json_option()
    quiet: bool = options.quiet_option()

    def check(self) -> None:
        """Refuse names, forms and numbers that nothing has, before scikit-learn is imported."""
        options.check_values(self)
        checks.check_interval_settings(
            _defaults.BOOTSTRAPS if self.n_bootstraps is None else self.n_bootstraps,
            _defaults.LEVEL if self.confidence_level is None else self.confidence_level,
            _defaults.ALTERNATIVE if self.alternative is None else self.alternative,
        )

    def check_parts(self) -> None:
        """Refuse what the parts of the library refuse, before anything is read."""
        from heldout.metrics import metric_named
        from heldout.selection import rule_of

        if self.metric is not None:
            with options.about_option("--metric", self.metric):
                metric_named(self.metric)
        if self.method not in (None, "all"):
            method_of_text(self.method)
        if self.selection is not None:
            with options.about_option("--selection", self.selection):
                rule_of(self.selection)
