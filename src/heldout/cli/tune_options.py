"""The options of ``heldout tune``, and the folds that they name, checked before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from heldout import _defaults
from heldout.cli.fold_options import inner_named, inner_parts, plan_named, plan_parts
from heldout.cli.options import (
    BLOCK_LENGTH_HELP,
    ROWS_OF_BOOTSTRAP_HELP,
    OptionText,
    RunOptions,
    TableOptions,
    about_option,
    alternative_option,
    check_imputations,
    data_option,
    flag_of,
    level_option,
    names_listed,
    naming,
    option,
    option_fields,
)
from heldout.data import checks
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.estimates.base import Method
    from heldout.estimates.types import Alternative
    from heldout.folds.plans import FoldPlan
    from heldout.protocols.nested.plan import Across, NestedSettings


GRID, RANDOM, OPTUNA = "grid", "random", "optuna"
"""Values of ``--search``."""
NESTED = ("nested", "nested_cv")
BOOTSTRAP = ("bootstrap_search",)
PROTOCOLS = NESTED + BOOTSTRAP
"""Values of ``--method`` besides the methods that need no fits of their own."""
OF_NESTED, OF_RANDOM, OF_OPTUNA = ("method", NESTED), ("search", (RANDOM,)), ("search", (OPTUNA,))
TRIED, SCORED = "What is tried", "How it is scored and chosen"
CONCLUDED = "How good the winner is"
"""Sections of the help."""
space_option = partial(option, section=TRIED)
score_option = partial(option, section=SCORED)
estimate_option = partial(option, section=CONCLUDED)
INNER_HELP = (
    "Of nested: the inner folds are the remaining outer ones, one holdout (of as many rows as an outer fold, "
    "or holdout:SHARE), or a number of new ones. With --cv holdout: training, tuning and estimation rows."
)


def _feedback_parts(text: str | None) -> tuple[str, int | None]:
    """The word of ``--feedback``, and the trials of each sampler that may follow it."""
    kind, _, number = (checks.FEEDBACK[0] if text is None else text).partition(":")
    if kind in checks.FEEDBACK and not number:
        return kind, None
    if kind != "cross-fitted" or not number.isdecimal() or int(number) < 1:
        raise InputError(
            f"feedback must be auto, all, cross-fitted, or cross-fitted and the trials of each sampler, such as "
            f"cross-fitted:15, got {text!r}."
        )
    return kind, int(number)


@dataclass(frozen=True, kw_only=True)
class TuneOptions(TableOptions, RunOptions):
    """The options of ``heldout tune``."""

    weight: str | None = data_option(
        "How much each row counts, in fits and in scores. Models that take no weights are left out.",
        metavar="COL",
        argument="sample_weight",
    )
    preset: str = space_option(
        "The models and values to try. quick: some seventy configurations; standard: a few hundred; "
        "boosted: boosted models alone; or, with heldout-papers, the space of an article: tsamardinos2018 (610 "
        "configurations) or wainer_cawley2021 (12 algorithms), also as in 'wainer_cawley2021(small=True)'.",
        "quick",
        metavar="NAME",
    )
    models: str | None = space_option(
        "Only these models of the preset or the space, as in 'forest,boosting'; a wrong name lists them all.",
        metavar="NAMES",
    )
    space: str | None = space_option(
        "Own models in place of a preset. FILE.py is run, with all that it contains. NAME in it is an "
        "estimator, a list of (name, estimator, grid or distributions), a search object (its models and values "
        "are taken), a function of an Optuna trial that returns an estimator, or a function of X and y that "
        "returns one of these. ho.spaces.default_preprocessing(X) prepares text and gaps.",
        metavar="FILE.py:NAME",
    )
    search: str | None = space_option(
        "grid: every combination of the listed values; random: --n-iter of them, drawn from lists and "
        "distributions before the first fit; optuna: --n-trials, each proposed by Optuna from the scores of those "
        "before. By default grid.",
        metavar="KIND",
        choices=(GRID, RANDOM, OPTUNA),
    )
    n_iter: int | None = space_option(
        "Of random: how many configurations to draw from all models; by default 60.",
        metavar="N",
        of=OF_RANDOM,
        check=partial(checks.check_count, "n_iter"),
    )
    n_trials: int | None = space_option(
        "Of optuna: how many configurations to propose; by default 100.",
        metavar="N",
        of=OF_OPTUNA,
        check=partial(checks.check_count, "n_trials"),
        decides=False,
    )
    timeout: float | None = space_option(
        "Of optuna: propose no more after this time, in all searches. The result then depends on the speed of the "
        "machine.",
        metavar="SECONDS",
        of=OF_OPTUNA,
        check=partial(checks.check_timeout, argument="timeout"),
        decides=False,
    )
    batch_size: int | None = space_option(
        "Of optuna: how many to propose at once and to fit in parallel; by default 1, whose folds are parallel.",
        metavar="N",
        of=OF_OPTUNA,
        check=partial(checks.check_count, "batch_size"),
    )
    feedback: str | None = space_option(
        "Of optuna: cross-fitted: after the search a short one for each fold, which never sees its rows, so that "
        "how configurations were proposed does not flatter the estimate, for at most .3 more fits; "
        "cross-fitted:TRIALS sets the trials of each; all: without. By default auto: cross-fitted where folds and "
        "trials allow it.",
        metavar="KIND",
        of=OF_OPTUNA,
        check=_feedback_parts,
        decides=False,
    )
    stop_when_useless: bool = space_option(
        "Of optuna: stop when the folds could not show a further gain.",
        False,
        of=OF_OPTUNA,
        decides=False,
    )
    imputations: int = space_option(
        "How often every fit imputes the missing values of its training rows, with pooled predictions; 0 leaves "
        "them to the models.",
        0,
        check=check_imputations,
    )
    metric: tuple[str, ...] = score_option(
        "The metric to tune for and to estimate: a scorer of scikit-learn, or a metric of heldout. By "
        "default roc_auc, accuracy (several classes), r2 or concordance_index (survival). Several (a,b, or the "
        "option repeated): the first chooses the winner, and each is estimated.",
        (),
        metavar="NAMES",
        argument="scoring",
    )
    aggregate: str | None = score_option(
        "Score of a configuration. folds: the mean over folds; pooled: the metric over all rows; within: for "
        "metrics made of pairs (AUC, concordance, Somers' D), only pairs of rows of one fold. By default auto, "
        "which selects by folds and reports R2, F1 and other metrics that are no mean over rows or pairs on all "
        "rows together; or pooled where each fold is one row.",
        metavar="NAME",
        check=checks.check_aggregate,
    )
    selection: str = score_option(
        "How the winner is chosen: best, one_standard_error (the simplest within it, in the preset's order), or "
        "another rule, such as 'within(tolerance=0.01)'.",
        _defaults.SELECTION,
        metavar="NAME",
        check=checks.check_rule_names,
    )
    cv: str = score_option(
        "Number of folds; or auto (as many as the smallest class allows, at most 10), loo (leave one out), "
        "holdout:0.25 (one split that tests a quarter), repeated_holdout:20:0.25 (twenty of them), bootstrap:50 "
        "(fifty samples drawn with replacement, which test the rows that they leave out), paired_holdout:15:0.1:10 "
        "(fifteen, and as many in both halves of ten halvings of the rows, of the winner alone: for --method "
        "conservative_z).",
        "5",
        metavar="FOLDS",
        check=plan_parts,
    )
    repeats: int = score_option(
        "How often to repeat the cross-validation with new folds.",
        1,
        check=partial(checks.check_count, "repeats"),
    )
    drop: str = score_option(
        "When to drop losing configurations: never, bootstrap (after every fold those that are worse than the "
        "current best in 99 % of bootstraps), hoeffding_race, paired, wilcoxon, sequential, forgiving or "
        "aggressive; also with parameters, as in \"bootstrap(threshold=0.999, against='best_of_each')\".",
        "never",
        metavar="RULE",
        check=partial(checks.check_rule_names, _defaults.SELECTION),
    )
    stop_when_width: float | None = score_option(
        "Stop after the fold or repeat at which the interval of the estimate is no wider than this, such as 0.05; "
        "by default all folds are run.",
        metavar="WIDTH",
    )
    share: str = score_option(
        "Which work configurations share: exact (results as without sharing), tolerance (also solutions along a "
        "penalty, within the tolerance of their solvers), no.",
        _defaults.SHARE,
        metavar="[exact|tolerance|no]",
        choices=("exact", "tolerance", "no"),
    )
    return_train_score: bool = score_option(
        "Score every model on the rows that trained it too: the report shows both, and how far they differ.",
        False,
    )
    method: str = estimate_option(
        "How to estimate: shrinkage or bbc (corrected by bootstrap, with an interval), tt, cv (uncorrected), or "
        "none; or nested (nested cross-validation, at K times the fits) or bootstrap_search (at as many times as "
        "bootstraps).",
        _defaults.METHOD,
        check=partial(checks.check_method_name, more=(*PROTOCOLS, "none")),
    )
    interval: str | None = estimate_option(
        "Of bbc: percentile (the default) or calibrated, which is narrower. Of nested: nadeau_bengio (the "
        "default), bates_hastie_tibshirani (many more fits), test_part (the default of --cv holdout), or none.",
        metavar="NAME",
        decides=False,
    )
    n_bootstraps: int | None = estimate_option(
        f"Number of bootstraps; by default {_defaults.BOOTSTRAPS}, and {_defaults.SEARCH_BOOTSTRAPS} for "
        "bootstrap_search, which searches in each.",
    )
    confidence_level: float = level_option(CONCLUDED)
    alternative: str = alternative_option(CONCLUDED)
    block_length: str | None = estimate_option(
        BLOCK_LENGTH_HELP,
        metavar="auto|ROWS",
        check=checks.check_block_length,
        decides=False,
    )
    n_rows_of_bootstrap: str = estimate_option(
        ROWS_OF_BOOTSTRAP_HELP,
        str(_defaults.ROWS_OF_BOOTSTRAP),
        metavar="ROWS|all",
        check=checks.rows_of_bootstrap,
        decides=False,
    )
    training_size_correction: bool = estimate_option(
        "Correct the value for training on a part of the rows: K (K - 1) / 2 further fits of the better half of "
        "the configurations, each without two of the K folds (3 to 10), say what more rows are worth.",
        False,
    )
    inner: str = estimate_option(INNER_HELP, _defaults.INNER, metavar="FOLDS", of=OF_NESTED, check=inner_parts)
    across: str = estimate_option(
        "Of nested: folds (each outer fold chooses its own winner) or all (one winner for all).",
        _defaults.ACROSS,
        metavar="WHAT",
        of=OF_NESTED,
        choices=("folds", "all"),
    )
    scheme: str = estimate_option(
        "Of bootstrap_search: cvt (the whole search on every sample) or models (all configurations, no folds).",
        _defaults.SCHEME,
        metavar="NAME",
        of=("method", BOOTSTRAP),
        choices=checks.SCHEMES,
    )
    deploy: str = estimate_option(
        "The model to save: all (fitted on all rows) or bounded (with --cv holdout: the one that the hold-out "
        "tested, for which its interval holds).",
        _defaults.DEPLOY,
        metavar="MODEL",
        choices=("all", "bounded"),
    )
    importance: bool = estimate_option(
        "Fit the winner once more on each split, and report how much worse it is on held-out rows with a column "
        "shuffled.",
        False,
        decides=False,
    )

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of --metric, each once."""
        return names_listed("--metric", *self.metric)

    @property
    def chosen_models(self) -> tuple[str, ...]:
        """The names of --models."""
        return () if self.models is None else names_listed("--models", self.models)

    @property
    def bootstraps(self) -> int:
        if self.n_bootstraps is not None:
            return self.n_bootstraps
        return _defaults.SEARCH_BOOTSTRAPS if self.method in BOOTSTRAP else _defaults.BOOTSTRAPS

    @property
    def spec(self) -> dict[str, Any]:
        """The options that are fields of a search's specification, by their names there."""
        from heldout.execution.search import SearchSpec

        named = {one.name: getattr(self, one.name) for one in fields(SearchSpec) if hasattr(self, one.name)}
        return named | {
            "method": method_of_options(self),
            "n_bootstraps": self.bootstraps,
            "imputation": self.imputations or None,
            "keep_models": "winner" if self.importance else "none",
            "n_rows_of_bootstrap": checks.rows_of_bootstrap(self.n_rows_of_bootstrap),
            "share": self.share != "no" and self.share,
        }

    @property
    def fold_plan(self) -> FoldPlan:
        """The plan that --cv names."""
        parts = {
            "cv": "--cv", "test_share": "the share", "times": "the number of repeats",
            "halvings": "the number of halvings",
        }  # fmt: skip
        with about_option("--cv", self.cv), naming({name: OptionText(parts[name]) for name in parts}):
            return plan_named(self.cv)

    def check(self) -> None:
        """Refuse names, forms and numbers that nothing has, before scikit-learn is imported."""
        super().check()
        checks.check_interval_settings(self.bootstraps, self.confidence_level, self.alternative)
        _check_of_protocols(self)
        _check_space(self)


def fixed_search() -> Any:
    """The field ``search`` of a command that reads a search with fixed configurations only."""
    return space_option(
        "grid: every combination of the listed values; random: --n-iter of them in all. By default grid.",
        metavar="KIND",
        choices=(GRID, RANDOM),
    )


def inner_of_nested_scores() -> Any:
    """The field ``inner`` of a command that computes nested scores whatever its method."""
    return score_option(INNER_HELP, _defaults.INNER, metavar="FOLDS", check=inner_parts)


def check_belonging(options: TuneOptions, choice: str, value: str | None) -> None:
    """Refuse options that are for another --search or --method than the one at hand."""
    for one in option_fields(options):
        of, values = one.metadata.get("of", ("", ()))
        if of == choice and value not in values and getattr(options, one.name) != one.default:
            raise InputError(
                f"{flag_of(one)} is for --{of} {values[0]}, and here the {of} is {value}; leave it out, or use "
                f"--{of} {values[0]}."
            )


def _check_of_protocols(options: TuneOptions) -> None:
    """Refuse options of another protocol than the chosen one, and their wrong values."""
    check_belonging(options, "method", options.method)
    if options.method in NESTED:
        checks.check_choice("interval", options.interval or "auto", ("auto", *checks.NESTED_INTERVALS, "none"))
    elif options.interval is not None and options.method != "bbc":
        raise InputError(
            f"--interval {options.interval} is for --method bbc (percentile, calibrated) and for --method nested; "
            f"here the method is {options.method}: use one of these, or leave --interval out."
        )
    if not is_protocol(options):
        return
    if len(options.metrics) > 1:
        raise InputError(
            f"--method {options.method} estimates one metric, got {len(options.metrics)} "
            f"({', '.join(options.metrics)}); name one, or use --method {_defaults.METHOD}."
        )
    untouched = options.cv == "5" and options.repeats == 1 and options.drop in ("never", "none")
    if options.scheme == "models" and not untouched:
        raise InputError(
            "--scheme models fits every configuration on each whole sample, without folds; leave out --cv, "
            "--repeats and --drop, or use --scheme cvt."
        )


def _check_space(options: TuneOptions) -> None:
    """Refuse names of --models that no kind of task has, and a preset beside a space."""
    if options.space is not None and options.preset != "quick":
        raise InputError(
            f"--space {options.space} replaces the models of a preset, got --preset {options.preset} too; leave "
            "one of them out."
        )
    if options.space is None:
        name, _ = checks.preset_call(options.preset)
        if name in _defaults.MODELS_OF_PRESETS:
            check_named(options, _defaults.MODELS_OF_PRESETS[name])


def check_named(options: TuneOptions, known: Sequence[str]) -> None:
    """Refuse names of --models that are not among those of the preset or the space."""
    of = f"the space {options.space}" if options.space else f"the preset {options.preset}"
    stranger = next((name for name in options.chosen_models if name not in known), None)
    if stranger is not None:
        raise InputError(f"--models must name models of {of} ({', '.join(known)}), got {stranger!r}.")


def check_options(options: TuneOptions) -> None:
    """Refuse what the parts of the library refuse, and parts that do not go together, before anything is read."""
    # The names of metrics are scikit-learn's too, so they wait for it, and for nothing else.
    from heldout.metrics import metric_named

    for name in options.metrics:
        with about_option("--metric", name):
            metric_named(name)

    from heldout.dropping import drop_rule_of, strategy_of
    from heldout.estimates.methods import check_alternative
    from heldout.folds.plans import rounds_of
    from heldout.selection import Threshold, WeightRule, rule_of
    from heldout.spaces import published_name

    published_name(options.preset)
    with about_option("--selection", options.selection):
        rule = rule_of(options.selection)
    if isinstance(rule, Threshold | WeightRule):
        raise InputError(
            f"--selection {options.selection} selects more than one configuration, but tune fits one on all "
            "rows; leave it out here, and use it with heldout estimate DIR/predictions.parquet."
        )
    with about_option("--drop", options.drop):
        drop_rule_of(options.drop)
    plans_splits = strategy_of(options.drop) is not None
    if plans_splits and options.repeats > 1:
        raise InputError(
            f"--drop {options.drop} plans its own splits, without repeats; leave --repeats out, or use --drop "
            "bootstrap."
        )
    cv = options.fold_plan
    rounds_of(cv, options.repeats, 0, stratified=False, grouped=False)
    if options.method in NESTED:
        nested_settings(options)
    method = method_of_options(options)
    _check_method_fits(options, method, cv)
    check_alternative(method, cast("Alternative", options.alternative))


def _check_method_fits(options: TuneOptions, method: Method | None, cv: FoldPlan) -> None:
    """Refuse a method that is for other splits."""
    is_one_split = cv.draws_test_rows and cv.n_rounds * options.repeats == 1
    if method is not None and method.needs_one_split and not is_one_split:
        raise InputError(
            f"--method {options.method} is for one development set, and here are {cv.words} with a model "
            f"each; use {_defaults.METHOD}, or --cv holdout."
        )


def feedback_of(text: str | None) -> Any:
    """What ``--feedback`` names, as a search takes it."""
    from heldout.search.optuna.feedback import CrossFitting

    kind, n_trials = _feedback_parts(text)
    return kind if n_trials is None else CrossFitting(n_trials=n_trials)


def method_of_options(options: TuneOptions) -> Method | None:
    """The method of estimation with its interval; None for a protocol and for ``none``."""
    from heldout.estimates.methods import method_of
    from heldout.estimates.methods.bbc import BBC

    if options.method == "none" or is_protocol(options):
        return None
    method = method_of(options.method)
    if options.interval is None or not isinstance(method, BBC):
        return method
    return replace(method, interval=options.interval)  # type: ignore[arg-type]  # BBC checks it


def is_protocol(options: TuneOptions) -> bool:
    """Whether the search itself is repeated."""
    return options.method in PROTOCOLS


def nested_settings(options: TuneOptions) -> NestedSettings:
    """The settings of nested cross-validation."""
    from heldout.protocols.nested.plan import NestedSettings

    interval = None if options.interval == "none" else options.interval or "auto"
    return NestedSettings(inner_named(options.inner), cast("Across", options.across), interval)
