"""The folds that --cv and --inner name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from heldout.cli.options import OptionText, about_option, naming
from heldout.data.checks import check_count
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.folds.plans import FoldPlan

_PLAN_TEXTS = (
    "a number of folds, auto, loo, holdout[:SHARE], repeated_holdout:TIMES[:SHARE], bootstrap:TIMES, or "
    "paired_holdout[:TIMES[:SHARE[:HALVINGS]]]"
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
        f"inner must be remaining, holdout, holdout:SHARE, or a number of folds of at least 2, got {text!r}."
    )


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


def plan_parts(text: str) -> tuple[str, list[Any]]:
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
    raise InputError(f"cv must be {_PLAN_TEXTS}, got {text!r}; for instance 10 or repeated_holdout:20:0.25.")


def inner_named(text: str) -> str | int | FoldPlan:
    """The inner folds, as a protocol takes them."""
    from heldout.folds.plans import HoldOut

    parts = inner_parts(text)
    if not isinstance(parts, list):
        return parts
    with about_option("--inner", text), naming({"test_share": OptionText("the share")}):
        return HoldOut(*parts)


def plan_named(text: str) -> FoldPlan:
    """A plan as the command line writes it.

    Raises InputError for any other text, naming the forms.

    Examples
    --------
    >>> [plan_named(text).words for text in ("5", "loo", "holdout:0.3", "repeated_holdout:20:0.25")]
    ['5 folds', 'leave-one-out', 'one hold-out of 30% of the rows', '20 repeats of one hold-out of 25% of the rows']
    """
    from heldout.folds.plans import AutoFolds, BootstrapSamples, HoldOut, KFolds, LeaveOut, PairedHoldOut, Repeated

    name, numbers = plan_parts(text)
    if name == "repeated_holdout":
        return Repeated(HoldOut(*numbers[1:]), numbers[0])
    plans: dict[str, Callable[..., FoldPlan]] = {
        "": KFolds, "auto": AutoFolds, "loo": LeaveOut, "bootstrap": BootstrapSamples, "holdout": HoldOut,
        "paired_holdout": PairedHoldOut,
    }  # fmt: skip
    return plans[name](*numbers)
