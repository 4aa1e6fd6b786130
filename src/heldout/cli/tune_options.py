"""The options of ``heldout tune``, checked before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from heldout import _defaults
from heldout.cli.options import OptionText, RunOptions, about_option, check_imputations, names_listed, naming
from heldout.data.checks import (
    FEEDBACK,
    METHODS,
    NESTED_INTERVALS,
    SCHEMES,
    TASKS,
    check_aggregate,
    check_block_length,
    check_choice,
    check_count,
    check_interval_settings,
    check_rule_names,
)
from heldout.errors import InputError

if TYPE_CHECKING:
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


def check_forms(
    options: TuneOptions,
    methods: Sequence[str] = (*METHODS, *PROTOCOLS, "none"),
    searches: Sequence[str] = SEARCHES,
) -> None:
    """Refuse names, forms and numbers that nothing has, before scikit-learn is imported."""
    options.check()
    check_choice("method", options.method, methods)
    if options.search is not None:
        check_choice("search", options.search, searches)
    for name in ("repeats", "n_iter", "n_trials", "batch_size"):
        if (number := getattr(options, name)) is not None:
            check_count(name, number)
    if options.timeout is not None and not options.timeout > 0:
        raise InputError(
            f"timeout must be a number of seconds above 0, got {options.timeout:g}.", argument="timeout"
        )
    check_imputations(options.imputations)
    check_rule_names(options.selection, options.drop)
    if options.aggregate is not None:
        check_aggregate(options.aggregate)
    if options.task is not None:
        check_choice("task", options.task, TASKS)
    if options.block_length is not None:
        check_block_length(options.block_length)
    check_interval_settings(options.n_bootstraps, options.confidence_level, options.alternative)
    check_choice("deploy", options.deploy, ("all", "bounded"))
    _plan_parts(options.cv)
    _feedback_parts(options.feedback)
    _check_of_protocols(options)
    _check_space(options)


def _check_of_protocols(options: TuneOptions) -> None:
    """Refuse options of another protocol than the chosen one, and their wrong values."""
    for methods, defaults in ((NESTED, _NESTED_DEFAULTS), (BOOTSTRAP, _BOOTSTRAP_DEFAULTS)):
        for option, default in defaults.items():
            if options.method not in methods and getattr(options, option) != default:
                raise InputError(
                    f"--{option} is for --method {methods[0]}, and here the method is {options.method}; leave it "
                    f"out, or use --method {methods[0]}."
                )
    inner_parts(options.inner)
    check_choice("across", options.across, ("folds", "all"))
    check_choice("scheme", options.scheme, SCHEMES)
    if options.method in NESTED:
        check_choice("interval", options.interval or "auto", ("auto", *NESTED_INTERVALS, "none"))
    elif options.interval is not None and options.method != "bbc":
        raise InputError(
            f"--interval {options.interval} is for --method bbc (percentile, calibrated) and for --method nested; "
            f"here the method is {options.method}: use one of these, or leave --interval out."
        )
    if not is_protocol(options):
        return
    alone = {
        "stop_when_width": "is for a search, and {} repeats it with all its folds",
        "training_size_correction": "is for the estimate of a search, and {} repeats the search",
        "block_length": "is for methods that draw rows of the held-out predictions, and {} draws none of them",
    }
    for name, why in alone.items():
        if value := getattr(options, name):
            typed = f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}")
            raise InputError(f"{typed} {why.format(f'--method {options.method}')}; leave it out.")
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
    if options.space is None and options.preset in _defaults.MODELS_OF_PRESETS:
        check_named(options, _defaults.MODELS_OF_PRESETS[options.preset])


def check_named(options: TuneOptions, known: Sequence[str]) -> None:
    """Refuse names of --models that are not among those of the preset or the space."""
    of = f"the space {options.space}" if options.space else f"the preset {options.preset}"
    stranger = next((name for name in options.chosen_models if name not in known), None)
    if stranger is not None:
        raise InputError(f"--models must name models of {of} ({', '.join(known)}), got {stranger!r}.")


def check_options(options: TuneOptions) -> None:
    """Refuse what the parts of the library refuse, and parts that do not go together, before anything is read."""
    from heldout.dropping import drop_rule_of, strategy_of
    from heldout.estimates.methods import check_alternative
    from heldout.folds.plans import rounds_of
    from heldout.metrics import metric_named
    from heldout.selection import Threshold, WeightRule, rule_of
    from heldout.spaces import published_name

    published_name(options.preset)
    for name in options.metrics:
        with about_option("--metric", name):
            metric_named(name)
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
    if plans_splits and is_protocol(options):
        raise InputError(f"--drop {options.drop} plans its own splits; use --drop bootstrap, or leave it out.")
    cv = options.fold_plan
    rounds_of(cv, options.repeats, 0, stratified=False, grouped=False)
    if options.method in NESTED:
        nested_settings(options)
    method = method_of_options(options)
    _check_method_fits(options, method, cv)
    check_alternative(method, cast("Alternative", options.alternative))


def _check_method_fits(options: TuneOptions, method: Method | None, cv: FoldPlan) -> None:
    """Refuse a method, a protocol or a model to deploy that is for other splits."""
    is_one_split = cv.draws_test_rows and cv.n_rounds * options.repeats == 1
    if options.deploy == "bounded" and (is_protocol(options) or not is_one_split):
        raise InputError(
            f"--deploy bounded deploys the model that one hold-out tested, got --method {options.method} with "
            f"{cv.words}; use it with --cv holdout and a method without fits of its own."
        )
    if is_protocol(options) and cv.n_halvings:
        raise InputError(
            f"--cv {options.cv} has splits of halves of the rows, which --method {options.method} does not read; "
            "use --cv 5."
        )
    if method is None:
        return
    if method.needs_one_split and not is_one_split:
        raise InputError(
            f"--method {options.method} is for one development set, and here are {cv.words} with a model "
            f"each; use {_defaults.METHOD}, or --cv holdout."
        )
    if method.needs_halves and not cv.n_halvings:
        raise InputError(
            f"--method {options.method} reads fits in halves of the rows, and here are {cv.words}; use --cv "
            "paired_holdout, or --method corrected_t."
        )
    if method.needs_test_share and (not cv.draws_test_rows or is_one_split):
        raise InputError(
            f"--method {options.method} is for repeated subsampling, and here are {cv.words}; use --cv "
            f"repeated_holdout:50:0.2, or --method {_defaults.METHOD}."
        )


def _feedback_parts(text: str | None) -> tuple[str, int | None]:
    """The word of ``--feedback``, and the trials of each sampler that may follow it."""
    kind, _, number = (FEEDBACK[0] if text is None else text).partition(":")
    if kind in FEEDBACK and not number:
        return kind, None
    if kind != "cross-fitted" or not number.isdecimal() or int(number) < 1:
        raise InputError(
            f"feedback must be auto, all, cross-fitted, or cross-fitted and the trials of each sampler, such as "
            f"cross-fitted:15, got {text!r}.",
            argument="feedback",
        )
    return kind, int(number)


def feedback_of(text: str | None) -> Any:
    """What ``--feedback`` names, as a search takes it."""
    from heldout.search.optuna.cross_fitting import CrossFitting

    kind, n_trials = _feedback_parts(text)
    return kind if n_trials is None else CrossFitting(n_trials=n_trials)


def method_of_options(options: TuneOptions) -> Method | None:
    """The method of estimation with its interval; None for a protocol and for ``none``."""
    from heldout.estimates import BBC, METHODS

    if options.method == "none" or is_protocol(options):
        return None
    method = METHODS[options.method]()
    if options.interval is None or not isinstance(method, BBC):
        return method
    return replace(method, interval=options.interval)  # type: ignore[arg-type]  # BBC checks it


def is_protocol(options: TuneOptions) -> bool:
    """Whether the search itself is repeated."""
    return options.method in PROTOCOLS


def nested_settings(options: TuneOptions) -> NestedSettings:
    """The settings of nested cross-validation."""
    from heldout.protocols.nested.plan import NestedSettings

    return NestedSettings(
        inner_named(options.inner),
        cast("Across", options.across),
        None if options.interval == "none" else options.interval or "auto",
        options.confidence_level,
        cast("Alternative", options.alternative),
    )


def _share(text: str) -> float | int:
    """A share, or a whole number of rows."""
    return int(text) if text.isdecimal() else float(text)


def inner_parts(text: str) -> str | int | list[float | int]:
    """The inner folds as the command line writes them: a word, a number of new folds, or the share of a hold-out.

    Examples
    --------
    >>> inner_parts("remaining"), inner_parts("3"), inner_parts("holdout:0.3")
    ('remaining', 3, [0.3])
    """
    if text in ("remaining", "holdout"):
        return text
    if text.isdecimal() and int(text) >= 2:
        return int(text)
    word, _, share = text.partition(":")
    if word == "holdout" and _is_number(share):
        return [_share(share)]
    raise InputError(
        f"inner must be remaining, holdout, holdout:SHARE, or a number of folds of at least 2, got {text!r}.",
        argument="inner",
    )


def inner_named(text: str) -> str | int | FoldPlan:
    """The inner folds, as a protocol takes them."""
    from heldout.folds.plans import HoldOut

    parts = inner_parts(text)
    if not isinstance(parts, list):
        return parts
    with about_option("--inner", text), naming({"test_share": OptionText("the share")}):
        return HoldOut(*parts)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_NUMBERS: Mapping[str, tuple[int, tuple[Callable[[str], float | int], ...]]] = {
    "auto": (0, ()),
    "loo": (0, ()),
    "bootstrap": (1, (int,)),
    "holdout": (0, (_share,)),
    "repeated_holdout": (1, (int, _share)),
    "paired_holdout": (0, (int, float, int)),
}
"""How many numbers a plan needs, and how each that may follow its name is read."""


def _plan_parts(text: str) -> tuple[str, list[Any]]:
    """The name of a plan and its numbers; a number of folds alone has no name."""
    name, *texts = text.strip().split(":")
    name = name.replace("repeated-", "repeated_").replace("paired-", "paired_")
    least, reads = _NUMBERS.get(name, (1, ()))
    try:
        if least <= len(texts) <= len(reads):
            return name, [read(number) for read, number in zip(reads, texts, strict=False)]
        if not texts:
            check_count("cv", int(name), 2, "5 or 10 folds are usual")
            return "", [int(name)]
    except ValueError as error:
        if isinstance(error, InputError):
            raise
    raise InputError(
        f"cv must be {_PLAN_TEXTS}, got {text!r}; for instance 10 or repeated_holdout:20:0.25.", argument="cv"
    )


def plan_named(text: str) -> FoldPlan:
    """A plan as the command line writes it.

    Raises InputError for any other text, naming the forms.

    Examples
    --------
    >>> [plan_named(text).words for text in ("5", "loo", "holdout:0.3", "repeated_holdout:20:0.25")]
    ['5 folds', 'leave-one-out', 'one hold-out of 30% of the rows', '20 repeats of one hold-out of 25% of the rows']
    """
    from heldout.folds.auto import AutoFolds
    from heldout.folds.paired import PairedHoldOut
    from heldout.folds.plans import BootstrapSamples, HoldOut, KFolds, LeaveOut, Repeated

    name, numbers = _plan_parts(text)
    if name == "repeated_holdout":
        return Repeated(HoldOut(*numbers[1:]), numbers[0])
    plans: dict[str, Callable[..., FoldPlan]] = {
        "": KFolds, "auto": AutoFolds, "loo": LeaveOut, "bootstrap": BootstrapSamples, "holdout": HoldOut,
        "paired_holdout": PairedHoldOut,
    }  # fmt: skip
    return plans[name](*numbers)
