"""Checks of plain values, and the names of parts, without a heavy import.

A command calls them before scikit-learn is imported; the library checks its arguments by the same functions. Parts
are registered where they are defined, which takes long to import; ``tests/data/test_checks.py`` holds the names of
both equal.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from math import inf, isnan, nan
from numbers import Integral, Rational, Real
from typing import Any

from heldout import _defaults, _papers
from heldout._text import is_integer, is_one_of, python_value
from heldout.data.limits import MOST_BOOTSTRAPS, refuse_more_than
from heldout.errors import InputError, installation, shortened

LEAST_ROWS_OF_BOOTSTRAP = 1000


def call_in(name: str) -> tuple[str, dict[str, Any]] | None:
    """The name and the literals of a text such as "f(a=1, b='x')"; None for other texts."""
    try:
        call = ast.parse(name, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            given = {key.arg: ast.literal_eval(key.value) for key in call.keywords if key.arg is not None}
            # Not "**", nor a parameter twice, of which the first would count for nothing.
            return (call.func.id, given) if len(given) == len(call.keywords) else None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):  # nested too deep is one of the last
        pass
    return None


def preset_names() -> str:
    """All presets that there are, and how to have those of articles, for a sentence."""
    presets = ", ".join(_defaults.MODELS_OF_PRESETS)
    if _papers.is_installed():
        return ", ".join((presets, *_defaults.PUBLISHED_PRESETS))
    return f"{presets} or, after {installation()}, the space of an article"


def preset_call(text: str) -> tuple[str, dict[str, Any]]:
    """The name of a preset and the parameters that follow it, which only spaces of articles have."""
    if is_one_of(text, _defaults.MODELS_OF_PRESETS):
        return text, {}
    name, given = call_in(text) or (text, {})
    if name not in _defaults.PUBLISHED_PRESETS or not _papers.is_installed():
        raise InputError(f"preset must be one of {preset_names()}, got {text!r}.")
    return name, given


def called(text: str, kinds: Mapping[str, Any], argument: str) -> Any:
    """The dataclass of a name, made with the parameters that follow it; None for a name that ``kinds`` lacks.

    ``argument`` is the user's argument, which errors name.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> within = make_dataclass("Within", [("tolerance", float)])
    >>> called("within(tolerance=0.5)", {"within": within}, "selection"), called("best", {}, "selection")
    (Within(tolerance=0.5), None)
    """
    name, given = call_in(usual_name(argument, text)) or (usual_name(argument, text), {})
    if name not in kinds:
        return None
    check_known(argument, name, given, sorted(field.name for field in fields(kinds[name]) if field.init))
    lacking = sorted({field.name for field in fields(kinds[name]) if _is_needed(field)} - set(given))
    if lacking:
        raise InputError(
            f"{argument} '{name}' needs its {lacking[0]}; write '{name}({lacking[0]}=...)'.", argument=argument
        )
    return kinds[name](**given)


def call_text(thing: Any) -> str:
    """The text by which ``called`` makes a named dataclass again: its name, and the fields that are not by default.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> within = make_dataclass("Within", [("tolerance", float, 0.1)], namespace={"name": "within"})
    >>> call_text(within()), call_text(within(0.5))
    ('within', 'within(tolerance=0.5)')
    """
    own = [field for field in fields(thing) if field.init]
    changed = [
        f"{field.name}={python_value(getattr(thing, field.name))!r}"
        for field in own
        if not _is_default(thing, field)
    ]
    return f"{thing.name}({', '.join(changed)})" if changed else str(thing.name)


def check_known(argument: str, name: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse parameters that the one of that name does not have, as a value of the argument."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        has = f"has {', '.join(known)}" if known else "takes no parameters"
        raise InputError(f"{argument} '{name}' has no parameter {unknown[0]!r}; it {has}.", argument=argument)


def _is_needed(field: Field[Any]) -> bool:
    return field.init and field.default is MISSING and field.default_factory is MISSING


def _is_default(thing: Any, field: Field[Any]) -> bool:
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return bool(getattr(thing, field.name) == default)


METHODS = (
    "cv", "tt", "bbc", "shrinkage", "bbc_f", "naive_bootstrap", "wald_cv", "corrected_t", "conservative_z",
    "locally_simultaneous", "zoom", "delong", "hanley_mcneil", "tilting", "mabt", "wilson", "clopper_pearson",
    "hoeffding", "wmc", "wmcs",
)  # fmt: skip
SELECTION_RULES = (
    "best", "one_standard_error", "average_rank", "top_k", "greedy_ensemble", "threshold", "rank_over_repeats",
)  # fmt: skip
DROP_RULES = (
    "bootstrap", "hoeffding_race", "paired", "sequential", "wilcoxon", "forgiving", "aggressive",
)  # fmt: skip
TWO_STAGE, RMS = "two_stage", "rms"
"""Of a validation: a method, and a table of metrics."""
CORRECTIONS = ("optimism", "632", "632+", "oob")
REGRESSIONS = ("logistic", "linear", "cox")

AGGREGATES = ("auto", "folds", "pooled", "within")
ALTERNATIVES = ("two-sided", "greater", "less")
FORMATS = (
    "heldout", "wide", "long", "caret", "tidymodels", "mlr3", "scikit_learn", "h2o", "openml", "autogluon",
    "evalstats", "scores", "weka", "orange", "mljar", "tabrepo", "lm_eval", "inspect", "helm", "promptfoo",
    "openai_evals",
)  # fmt: skip
"""Of predictions of tools."""
RESPONSES = ("auto", "labels", "probabilities", "decision")
TASKS = ("classification", "binary", "multiclass", "regression", "survival")
"""For classification the data decide on the number of classes."""
SCHEMES = ("cvt", "models")
TASK_DRAWS = ("stratified", "whole")
"""How the items of several tasks are drawn."""
COMPARED_SCORES = ("nested", "corrected", "flat")
NESTED_INTERVALS = ("nadeau_bengio", "bates_hastie_tibshirani", "test_part", "bootstrap")
VALIDATION_INTERVALS = ("location_shifted", "double", "percentile")
IMPUTATION_ORDERS = ("boot_mi", "mi_boot", "naive")
FEEDBACK = ("auto", "all", "cross-fitted")

BLOCK_KINDS = ("moving", "stationary")
BLOCK_TEXT = re.compile(rf"(?:({'|'.join(BLOCK_KINDS)}):)?(auto|[1-9][0-9]*)")
"""A kind of blocks, which may be left out, and their length."""

_LONGEST = 1e9
"""Seconds, some 30 years: what clocks and timers of every platform can wait for."""


_OF_ARTICLES: Mapping[str, Mapping[str, str]] = {
    "method": {
        "cvt": "cv", "bbc-cv": "bbc", "bbc-f": "bbc_f", "tibshirani-tibshirani": "tt", "ncv": "nested",
        "dl": "delong", "hm": "hanley_mcneil", "bt": "tilting", "cp": "clopper_pearson",
        "dl10p": "delong(evaluation_share=0.1)", "hm10p": "hanley_mcneil(evaluation_share=0.1)",
        "bt10p": "tilting(evaluation_share=0.1)", "nadeau-bengio": "corrected_t",
        ".632": "632", ".632+": "632+", "0.632": "632", "0.632+": "632+", "harrell": "optimism",
    },
    "drop": {"bced": "bootstrap", "bced-cv": "bootstrap"},
    "selection": {"1se": "one_standard_error", "one-se": "one_standard_error"},
}  # fmt: skip
"""Names by which articles call methods and rules, without capitals."""


_NEEDS_FITS: Mapping[str, str] = {
    **dict.fromkeys(
        ("nested", "bates_hastie_tibshirani"), "heldout tune DATA --method nested (in Python ho.nested_cv)"
    ),
    **dict.fromkeys(("optimism", "632", "632+"), "heldout validate DATA (in Python ho.bootstrap_validate)"),
}
"""Methods that predictions alone cannot give, with the call."""


def usual_name(argument: str, name: str) -> str:
    """The name here of what articles call otherwise, in any case; any other name as it is.

    Examples
    --------
    >>> usual_name("method", "BBC-CV"), usual_name("drop", "BCED"), usual_name("method", "TT")
    ('bbc', 'bootstrap', 'tt')
    """
    head, bracket, parameters = name.partition("(")
    small = head.strip().lower()
    if argument == "method" and small in METHODS:
        return small + bracket + parameters
    usual = _OF_ARTICLES.get(argument, {}).get(small.replace("_", "-"))
    return name if usual is None else usual + bracket + parameters


def unknown(argument: str, value: Any, choices: Iterable[str], more: str = "") -> InputError:
    """The error for a value that is none of the choices; ``more``: what else is allowed."""
    choices = tuple(choices)
    near = get_close_matches(str(value).lower(), choices, n=1, cutoff=0.6)
    hint = f" Did you mean {near[0]}?" if near else ""
    if argument == "method" and (
        call := _NEEDS_FITS.get(usual_name(argument, str(value)).lower().replace("-", "_"))
    ):
        hint = f" {value} needs the data and new fits: {call}."
    return InputError(f"{argument} must be one of {', '.join(choices)}{more}, got {value!r}.{hint}")


def check_choice(argument: str, value: Any, choices: Iterable[str], more: str = "") -> None:
    """Refuse a value that is none of the choices.

    Examples
    --------
    >>> check_choice("across", "both", ("folds", "all"))
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: across must be one of folds, all, got 'both'.
    """
    choices = tuple(choices)
    if not is_one_of(value, choices):
        raise unknown(argument, value, choices, more)


def checked_flag(argument: str, value: Any) -> bool:
    """A flag; refuses what is neither True nor False, of Python or NumPy."""
    if type(value).__name__ not in ("bool", "bool_"):  # by its name, because commands load no NumPy here
        raise InputError(f"{argument} must be True or False, got {value!r}.")
    return bool(value)


def unknown_selection(selection: Any) -> InputError:
    """The error for what is no selection rule."""
    more = " (in Python also a rule of ho.selection, or a function from scores (B, C) to indices (B,))"
    return unknown("selection", selection, (*SELECTION_RULES, "within(tolerance=0.01)"), more)


def unknown_drop(drop: Any) -> InputError:
    """The error for what is no drop rule."""
    more = ", with parameters as in 'bootstrap(threshold=0.95)' (in Python also a rule of ho.dropping)"
    return unknown("drop", drop, ("never", *DROP_RULES), more)


def check_method_name(text: str, more: Sequence[str] = ()) -> None:
    """Refuse a text that begins with no name of a method, nor is one of ``more``."""
    if text not in more:
        check_choice("method", _name_in(text), (*METHODS, *more))


def check_rule_names(selection: str, drop: str = "never") -> None:
    """Refuse texts that begin with no name of a selection rule, and of a drop rule."""
    if _name_in(selection) not in (*SELECTION_RULES, "within"):
        raise unknown_selection(selection)
    if _name_in(drop) not in (*DROP_RULES, "never", "none"):
        raise unknown_drop(drop)


def _name_in(text: str) -> str:
    """The name that parameters may follow."""
    return (call_in(text) or (text, {}))[0]


def check_format(name: Any) -> None:
    """Refuse what is no name of a format of predictions."""
    if not is_one_of(name, ("auto", *FORMATS)):
        close = get_close_matches(str(name), FORMATS, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise InputError(f"format must be auto or one of {', '.join(FORMATS)}, got {name!r}.{hint}")


def unknown_blocks(value: Any) -> InputError:
    """The error for what names no blocks of rows."""
    return InputError(
        "block_length must be an integer of at least 1, 'auto', or a kind and a length such as 'stationary:12' or "
        f"'stationary:auto', got {value!r}; 'auto' is usual."
    )


def check_block_length(text: str) -> None:
    """Refuse a text that names no blocks of rows."""
    if not BLOCK_TEXT.fullmatch(text):
        raise unknown_blocks(text)


def check_count(what: str, value: Any, least: int = 1, usual: str = "", argument: str | None = None) -> None:
    """Refuse what is no integer of at least ``least``.

    Parameters
    ----------
    what : str
        The argument, with words that may follow it.
    value : object
    least : int
    usual : str
        What is usual, for the end of the sentence.
    argument : str, optional
        The argument of the error; by default ``what``.

    Examples
    --------
    >>> check_count("repeats", 0, usual="10 are many")
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: repeats must be an integer of at least 1, got 0; 10 are many.
    """
    if not is_integer(value) or value < least:
        end = f"; {usual}" if usual else ""
        raise InputError(
            f"{what} must be an integer of at least {least}, got {value!r}{end}.", argument=argument or what
        )


def is_number(value: Any) -> bool:
    """Whether it is a real number of Python or NumPy, infinite or one that a float can hold, and not NaN.

    Examples
    --------
    >>> is_number(0.5), is_number(True), is_number("0.5"), is_number(10**400)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    if isinstance(value, Rational) and not isinstance(value, Integral):
        return False  # a fraction, which formats and files do not take
    try:
        return not isnan(value)
    except OverflowError:
        return False


def check_number(
    argument: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    usual: str = "",
) -> None:
    """Refuse what is no finite real number, or lies beyond an end: ``least`` and ``most`` are allowed themselves.

    Examples
    --------
    >>> check_number("power", 1, above=0, below=1, usual=".8 is usual")
    Traceback (most recent call last):
    heldout.errors.InputError: power must lie between 0 and 1, got 1; .8 is usual.
    """
    number = value if is_number(value) else nan
    beyond, before = -inf if above is None else above, inf if below is None else below
    if beyond < number < before and (least is None or least <= number) and (most is None or number <= most):
        return
    ends = {"above": above, "of at least": least, "below": below, "at most": most}
    words = " and ".join(f"{word} {end:g}" for word, end in ends.items() if end is not None)
    allowed = f"be a {'' if ' and ' in words else 'finite '}number {words}".rstrip()
    if above is not None and below is not None:
        allowed = f"lie between {above:g} and {below:g}"
    elif least is not None and most is not None:
        allowed = f"be a number from {least:g} to {most:g}"
    raise InputError(f"{argument} must {allowed}, got {shortened(value)}{f'; {usual}' if usual else ''}.")


def check_aggregate(aggregate: Any) -> None:
    """Refuse what is no aggregate."""
    check_choice("aggregate", aggregate, AGGREGATES)


def check_interval_settings(
    n_bootstraps: Any, confidence_level: Any, alternative: Any, *, usual_bootstraps: int = _defaults.BOOTSTRAPS
) -> None:
    """Refuse a number of bootstraps, a level or an alternative that has no meaning."""
    check_count("n_bootstraps", n_bootstraps, usual=f"{usual_bootstraps} is usual")
    refuse_more_than(
        MOST_BOOTSTRAPS, int(n_bootstraps), "bootstraps", f"fewer bootstraps: {usual_bootstraps} are usual"
    )
    check_number("confidence_level", confidence_level, above=0, below=1, usual=".95 is usual")
    check_choice("alternative", alternative, ALTERNATIVES)


def check_rows_of_bootstrap(n_rows: Any) -> None:
    """Refuse a number of rows of which bootstraps could not tell the noise."""
    if n_rows is not None:
        usual = f"{_defaults.ROWS_OF_BOOTSTRAP} is usual, None (--n-rows-of-bootstrap all) draws from all"
        check_count("n_rows_of_bootstrap", n_rows, least=LEAST_ROWS_OF_BOOTSTRAP, usual=usual)


def rows_of_bootstrap(text: str) -> int | None:
    """The number that an option names; None for all rows."""
    if text in ("all", "none"):  # as sentences of the library have it
        return None
    n_rows: Any = int(text) if text.isdecimal() else text
    check_rows_of_bootstrap(n_rows)
    return int(n_rows)


def check_timeout(timeout: Any, argument: str = "fit_timeout") -> None:
    """Refuse a timeout that is no time."""
    if timeout is None:
        return
    seconds = float(timeout) if is_number(timeout) else nan
    allowed = "a number of seconds above 0" if not seconds > 0 else f"at most {_LONGEST:g} seconds"
    if not 0 < seconds <= _LONGEST:
        raise InputError(f"{argument} must be {allowed}, got {timeout!r}; leave it out for no limit.")


def check_p_remove(p: Any) -> None:
    """Refuse what is no p-value above which a term is removed."""
    check_number("p_remove", p, above=0, below=1, usual=".05 and .157 are usual")


def check_seconds(seconds: Any) -> None:
    """Refuse what is no time to spend."""
    check_number("seconds", seconds, least=0, usual="0 fits nothing")
