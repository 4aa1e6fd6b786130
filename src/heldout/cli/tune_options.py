"""The options of ``heldout tune``, checked before anything is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from heldout import _defaults
from heldout.cli.options import (
    OptionText,
    RunOptions,
    about_option,
    check_choice,
    check_imputations,
    names_listed,
    naming,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.estimates.base import Method
    from heldout.estimates.types import Alternative
    from heldout.folds.plans import FoldPlan
    from heldout.protocols.nested.plan import Across, NestedSettings

GRID, RANDOM, OPTUNA = SEARCHES = ("grid", "random", "optuna")
"""Values of ``--search``."""
NESTED = ("nested", "nested_cv")
BOOTSTRAP = ("bootstrap_search",)
PROTOCOLS = NESTED + BOOTSTRAP
"""Values of ``--method`` besides the methods that need no fits of their own."""
_NESTED_DEFAULTS = {"inner": _defaults.INNER, "across": _defaults.ACROSS}
_BOOTSTRAP_DEFAULTS = {"scheme": _defaults.SCHEME}
_PLAN_TEXTS = (
    "a number of folds, auto, loo, holdout[:SHARE], repeated_holdout:TIMES[:SHARE], bootstrap:TIMES, or "
    "paired_holdout[:TIMES[:SHARE[:HALVINGS]]]"
)


@dataclass(frozen=True, kw_only=True)
class TuneOptions(RunOptions):
    """The options of ``heldout tune``."""

    data: str
    target: str
    event: str | None
    event_value: str | None
    task: str | None
    metric: tuple[str, ...]
    positive: str | None
    search: str | None
    n_iter: int | None
    n_trials: int | None
    timeout: float | None
    batch_size: int | None
    feedback: str | None
    stop_when_useless: bool | None
    preset: str
    models: str | None
    space: str | None
    cv: str
    repeats: int
    drop: str
    stop_when_width: float | None
    training_size_correction: bool
    share: str
    groups: str | None
    copies: str | None
    weight: str | None
    keep: tuple[str, ...]
    selection: str
    method: str
    inner: str
    across: str
    interval: str | None
    scheme: str
    deploy: str
    n_bootstraps: int
    aggregate: str | None = None
    block_length: str | None = None
    imputations: int = 0
    importance: bool = False
    return_train_score: bool = False

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of --metric, each once."""
        return names_listed("--metric", *self.metric)

    @property
    def chosen_models(self) -> tuple[str, ...]:
        """The names of --models."""
        return () if self.models is None else names_listed("--models", self.models)

    @property
    def fold_plan(self) -> FoldPlan:
        """The plan that --cv names."""
        parts = {
            "cv": "--cv", "test_share": "the share", "times": "the number of repeats",
            "halvings": "the number of halvings",
        }  # fmt: skip
        with about_option("--cv", self.cv), naming({name: OptionText(parts[name]) for name in parts}):
            return plan_named(self.cv)


def check_models(options: TuneOptions) -> None:
    """Refuse names of --models that no kind of task has, before scikit-learn is imported."""
    if options.space is None and options.preset in _defaults.MODELS_OF_PRESETS:
        check_named(options, _defaults.MODELS_OF_PRESETS[options.preset])


def check_named(options: TuneOptions, known: Sequence[str]) -> None:
    """Refuse names of --models that are not among those of the preset or the space."""
    from heldout.errors import InputError

    of = f"the space {options.space}" if options.space else f"the preset {options.preset}"
    stranger = next((name for name in options.chosen_models if name not in known), None)
    if stranger is not None:
        raise InputError(f"--models must name models of {of} ({', '.join(known)}), got {stranger!r}.")


def check_options(options: TuneOptions) -> None:
    """Refuse wrong values, and options that do not go together, before anything is read."""
    from heldout.dropping import drop_rule_of, strategy_of
    from heldout.errors import InputError
    from heldout.estimates import METHODS
    from heldout.estimates.block_length import blocks_of
    from heldout.estimates.methods import check_alternative
    from heldout.estimates.question import check_interval_settings
    from heldout.folds.plans import rounds_of
    from heldout.selection import Threshold, WeightRule, rule_of
    from heldout.spaces import published_name

    check_choice("--method", options.method, (*METHODS, *PROTOCOLS, "none"))
    check_imputations(options.imputations)
    published_name(options.preset)
    _check_search(options)
    with about_option("--selection", options.selection):
        rule = rule_of(options.selection)
    if isinstance(rule, Threshold | WeightRule):
        raise InputError(
            f"--selection {options.selection} selects more than one configuration, but tune fits one on all "
            "rows; leave it out here, and use it with heldout estimate DIR/predictions.parquet."
        )
    with about_option("--drop", options.drop):
        drop_rule_of(options.drop)
    if options.stop_when_width is not None and is_protocol(options):
        raise InputError(
            f"--stop-when-width {options.stop_when_width:g} is for a search, and --method {options.method} "
            "repeats it with all its folds; leave it out."
        )
    if options.training_size_correction and is_protocol(options):
        raise InputError(
            f"--training-size-correction is for the estimate of a search, and --method {options.method} repeats "
            "the search; leave it out."
        )
    if options.block_length is not None and is_protocol(options):
        raise InputError(
            f"--block-length {options.block_length} is for methods that draw rows of the held-out predictions, and "
            f"--method {options.method} draws none of them; leave it out."
        )
    with about_option("--block-length", options.block_length or ""):
        blocks_of(options.block_length)
    if strategy_of(options.drop) is not None and options.repeats > 1:
        raise InputError(
            f"--drop {options.drop} plans its own splits, without repeats; leave --repeats out, or use --drop "
            "bootstrap."
        )
    options.check()
    if options.repeats < 1:
        raise InputError(f"--repeats must be at least 1, got {options.repeats}.")
    cv = options.fold_plan
    rounds_of(cv, options.repeats, 0, stratified=False, grouped=False)
    check_interval_settings(options.n_bootstraps, options.confidence_level, options.alternative)
    _check_protocol_options(options)
    check_choice("--deploy", options.deploy, ("all", "bounded"))
    method = method_of_options(options)
    is_one_split = cv.draws_test_rows and cv.n_rounds * options.repeats == 1
    if options.deploy == "bounded" and (is_protocol(options) or not is_one_split):
        raise InputError(
            f"--deploy bounded deploys the model that one hold-out tested, got --method {options.method} with "
            f"{cv.words}; use it with --cv holdout and a method without fits of its own."
        )
    if method is not None and method.needs_one_split and not is_one_split:
        raise InputError(
            f"--method {options.method} is for one development set, and here are {cv.words} with a model "
            f"each; use {_defaults.METHOD}, or --cv holdout."
        )
    _check_halves(options, method, cv)
    if method is not None and method.needs_test_share and (not cv.draws_test_rows or is_one_split):
        raise InputError(
            f"--method {options.method} is for repeated subsampling, and here are {cv.words}; use --cv "
            f"repeated_holdout:50:0.2, or --method {_defaults.METHOD}."
        )
    check_alternative(method, cast("Alternative", options.alternative))


def _check_halves(options: TuneOptions, method: Method | None, cv: FoldPlan) -> None:
    """Refuse halves of the rows where nothing fits them, and a method that needs them without."""
    from heldout.errors import InputError

    if method is not None and method.needs_halves and not cv.n_halvings:
        raise InputError(
            f"--method {options.method} reads fits in halves of the rows, and here are {cv.words}; use --cv "
            "paired_holdout, or --method corrected_t."
        )
    if is_protocol(options) and cv.n_halvings:
        raise InputError(
            f"--cv {options.cv} has splits of halves of the rows, which --method {options.method} does not read; "
            "use --cv 5."
        )


def _check_search(options: TuneOptions) -> None:
    """Refuse wrong values of what is tried and measured, as far as the data are not needed."""
    from heldout.errors import InputError

    if options.search is not None:
        check_choice("--search", options.search, SEARCHES)
    for option, number in (
        ("--n-iter", options.n_iter), ("--n-trials", options.n_trials), ("--batch-size", options.batch_size),
    ):  # fmt: skip
        if number is not None and number < 1:
            raise InputError(f"{option} must be at least 1, got {number}.")
    if options.timeout is not None and not options.timeout > 0:
        raise InputError(f"--timeout must be a number of seconds above 0, got {options.timeout:g}.")
    feedback_of(options.feedback)
    if options.space is not None and options.preset != "quick":
        raise InputError(
            f"--space {options.space} replaces the models of a preset, got --preset {options.preset} too; leave "
            "one of them out."
        )
    if len(options.metrics) > 1 and is_protocol(options):
        raise InputError(
            f"--method {options.method} estimates one metric, got {len(options.metrics)} "
            f"({', '.join(options.metrics)}); name one, or use --method {_defaults.METHOD}."
        )
    _ = options.chosen_models


def feedback_of(text: str | None) -> Any:
    """What ``--feedback`` names: auto, all, cross-fitted, or cross-fitted:TRIALS."""
    from heldout.errors import InputError
    from heldout.search.optuna.cross_fitting import FEEDBACK, CrossFitting

    if text is None or text in FEEDBACK:
        return text or FEEDBACK[0]
    kind, _, number = text.partition(":")
    if kind != "cross-fitted" or not number.isdecimal() or int(number) < 1:
        raise InputError(
            f"--feedback must be auto, all, cross-fitted, or cross-fitted and the trials of each sampler, such as "
            f"cross-fitted:15, got {text!r}."
        )
    return CrossFitting(n_trials=int(number))


def method_of_options(options: TuneOptions) -> Method | None:
    """The method of estimation with its interval; None for a protocol and for ``none``."""
    from heldout.errors import InputError
    from heldout.estimates import BBC, METHODS

    method = None if options.method == "none" or is_protocol(options) else METHODS[options.method]()
    if options.interval is None or options.method in NESTED:
        return method
    if isinstance(method, BBC):
        return replace(method, interval=options.interval)  # type: ignore[arg-type]  # BBC checks it
    raise InputError(
        f"--interval {options.interval} is for --method bbc (percentile, calibrated) and for --method nested; here "
        f"the method is {options.method}: use one of these, or leave --interval out."
    )


def is_protocol(options: TuneOptions) -> bool:
    """Whether the search itself is repeated."""
    return options.method in PROTOCOLS


def _check_protocol_options(options: TuneOptions) -> None:
    """Refuse options of another protocol than the chosen one, and their wrong values."""
    from heldout.dropping import strategy_of
    from heldout.errors import InputError

    for methods, defaults in ((NESTED, _NESTED_DEFAULTS), (BOOTSTRAP, _BOOTSTRAP_DEFAULTS)):
        for option, default in defaults.items():
            if options.method not in methods and getattr(options, option) != default:
                raise InputError(
                    f"--{option} is for --method {methods[0]}, and here the method is {options.method}; leave it "
                    f"out, or use --method {methods[0]}."
                )
    if is_protocol(options) and strategy_of(options.drop) is not None:
        raise InputError(f"--drop {options.drop} plans its own splits; use --drop bootstrap, or leave it out.")
    if options.method in NESTED:
        nested_settings(options)
    elif options.method in BOOTSTRAP:
        _check_bootstrap(options)


def _check_bootstrap(options: TuneOptions) -> None:
    from heldout.errors import InputError
    from heldout.protocols.search_bootstrap.protocol import SCHEMES

    check_choice("--scheme", options.scheme, SCHEMES)
    untouched = options.cv == "5" and options.repeats == 1 and options.drop in ("never", "none")
    if options.scheme == "models" and not untouched:
        raise InputError(
            "--scheme models fits every configuration on each whole sample, without folds; leave out --cv, "
            "--repeats and --drop, or use --scheme cvt."
        )


def nested_settings(options: TuneOptions) -> NestedSettings:
    """The settings of nested cross-validation."""
    from heldout.errors import InputError
    from heldout.protocols.nested.intervals import AUTO, INTERVALS
    from heldout.protocols.nested.plan import NestedSettings

    inner = inner_named(options.inner)
    if options.across not in ("folds", "all"):
        raise InputError(f"--across must be folds or all, got {options.across!r}.")
    interval = options.interval or AUTO
    check_choice("--interval", interval, (AUTO, *INTERVALS, "none"))
    return NestedSettings(
        inner,
        cast("Across", options.across),
        None if interval == "none" else interval,
        options.confidence_level,
        cast("Alternative", options.alternative),
    )


def _share(text: str) -> float | int:
    """A share, or a whole number of rows."""
    return int(text) if text.isdecimal() else float(text)


def inner_named(text: str) -> str | int | FoldPlan:
    """The inner folds as the command line writes them: a word, a number of new folds, or a hold-out of a share.

    Examples
    --------
    >>> inner_named("remaining"), inner_named("3"), inner_named("holdout:0.3").words
    ('remaining', 3, 'one hold-out of 30% of the rows')
    """
    from heldout.errors import InputError
    from heldout.folds.plans import HoldOut
    from heldout.protocols.nested.plan import HOLD_OUT, REMAINING

    if text in (REMAINING, HOLD_OUT):
        return text
    if text.isdecimal() and int(text) >= 2:
        return int(text)
    share = text.removeprefix(f"{HOLD_OUT}:")
    if share != text and _is_number(share):
        with about_option("--inner", text), naming({"test_share": OptionText("the share")}):
            return HoldOut(_share(share))
    raise InputError(
        f"--inner must be {REMAINING}, {HOLD_OUT}, {HOLD_OUT}:SHARE, or a number of folds of at least 2, "
        f"got {text!r}."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def plan_named(text: str) -> FoldPlan:
    """A plan as the command line writes it.

    Raises InputError for any other text, naming the forms.

    Examples
    --------
    >>> [plan_named(text).words for text in ("5", "loo", "holdout:0.3", "repeated_holdout:20:0.25")]
    ['5 folds', 'leave-one-out', 'one hold-out of 30% of the rows', '20 repeats of one hold-out of 25% of the rows']
    """
    from heldout.errors import InputError
    from heldout.folds.auto import AUTO, AutoFolds
    from heldout.folds.paired import PairedHoldOut
    from heldout.folds.plans import BootstrapSamples, HoldOut, KFolds, LeaveOut, Repeated

    name, *numbers = text.strip().split(":")
    name = name.replace("repeated-", "repeated_").replace("paired-", "paired_")
    try:
        if name == "loo" and not numbers:
            return LeaveOut()
        if name == AUTO and not numbers:
            return AutoFolds()
        if name == "bootstrap" and len(numbers) == 1:
            return BootstrapSamples(int(numbers[0]))
        if name == "holdout" and len(numbers) <= 1:
            return HoldOut(*map(_share, numbers))
        if name == "repeated_holdout" and 1 <= len(numbers) <= 2:
            return Repeated(HoldOut(*map(_share, numbers[1:])), int(numbers[0]))
        if name == "paired_holdout" and len(numbers) <= 3:
            kinds = (int, float, int)
            return PairedHoldOut(*(kind(number) for kind, number in zip(kinds, numbers, strict=False)))
        if not numbers and (n_folds := int(name)) < 2:
            raise InputError(f"cv must be at least 2, got {n_folds}; use 5 or 10 folds.", argument="cv")
        if not numbers:
            return KFolds(int(name))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
    raise InputError(
        f"cv must be {_PLAN_TEXTS}, got {text!r}; for instance 10 or repeated_holdout:20:0.25.", argument="cv"
    )
