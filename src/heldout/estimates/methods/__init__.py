"""Methods by name: from evidence to an estimate, and from one that does not fit to those that do."""

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, cast

from heldout.data.checks import called, unknown
from heldout.data.limits import FEWER, enough_memory
from heldout.errors import InputError
from heldout.estimates.base import PREDICTIONS, Method
from heldout.estimates.coverage import coverage_of
from heldout.estimates.evidence import Evidence, RowTable
from heldout.estimates.methods.bbc import BBC
from heldout.estimates.methods.bbc_f import BBCF
from heldout.estimates.methods.corrected_t import ConservativeZ, CorrectedT
from heldout.estimates.methods.cv import CV
from heldout.estimates.methods.hoeffding import Hoeffding
from heldout.estimates.methods.locally_simultaneous import LocallySimultaneous, Zoom
from heldout.estimates.methods.naive_bootstrap import NaiveBootstrap
from heldout.estimates.methods.shrinkage import Shrinkage
from heldout.estimates.methods.tt import TT
from heldout.estimates.methods.two_part.closed_forms import ClopperPearson, DeLong, HanleyMcNeil, Wilson
from heldout.estimates.methods.two_part.tilting import MABT, Tilting
from heldout.estimates.methods.wald_cv import WaldCV
from heldout.estimates.methods.wmc import WMC, WMCS
from heldout.estimates.question import Blocks
from heldout.estimates.types import Alternative, Estimate

CLASSES: tuple[type[Method], ...] = (
    CV, TT, BBC, Shrinkage, BBCF, NaiveBootstrap, WaldCV, CorrectedT, ConservativeZ, LocallySimultaneous, Zoom,
    DeLong, HanleyMcNeil, Tilting, MABT, Wilson, ClopperPearson, Hoeffding, WMC, WMCS,
)  # fmt: skip
METHODS: Mapping[str, type[Method]] = MappingProxyType({one.name: one for one in CLASSES})
"""Every method by its name, as it is by default."""


def method_of(method: Any) -> Method:
    """A method from its name, or the method itself.

    Parameters
    ----------
    method : str or Method
        A name of ``ho.estimates.METHODS`` or of an article, such as BBC-CV, to which parameters may be added; or a
        configured method.

    Returns
    -------
    Method
        With its default parameters where a name was given.

    Raises
    ------
    InputError
        When it is neither.

    Examples
    --------
    >>> method_of("BBC-CV").name, method_of("bbc(control=False)").control, method_of(BBC(control=False)).control
    ('bbc', False, False)
    """
    if isinstance(method, str):
        named: Method | None = called(method, METHODS, "method")
        if named is not None:
            return named
    if isinstance(method, Method) and not isinstance(method, type):
        return method
    raise unknown("method", method, METHODS, " or a method of ho.estimates")


def label_of(method: Method) -> str:
    """The name of a method, with the settings that are not its usual ones.

    Examples
    --------
    >>> label_of(BBC()), label_of(BBC(interval="calibrated"))
    ('bbc', "bbc(interval='calibrated')")
    """
    usual = METHODS.get(method.name)
    if usual is None:
        return method.name
    default = usual()
    if type(method) is not type(default):
        return method.name
    changed = [
        f"{one.name}={getattr(method, one.name)!r}"
        for one in fields(cast(Any, method))
        if one.init and getattr(method, one.name) != getattr(default, one.name, None)
    ]
    return f"{method.name}({', '.join(changed)})" if changed else method.name


def check_alternative(method: Any, alternative: Alternative) -> None:
    """Refuse, before anything is fitted, an interval that the method does not have."""
    if method is not None and alternative not in method_of(method).alternatives:
        raise InputError(
            f"method '{method_of(method).name}' gives a lower bound only, so it needs `alternative='greater'`, got "
            f"'{alternative}'.",
            argument="method",
        )


def answer(method: Method, evidence: Evidence) -> Estimate:
    """The method's estimate, where it is for this metric, task and matrix."""
    with enough_memory(f"what method '{method.name}' computes", FEWER):
        refused = refusal(method, evidence)
        if refused is not None:
            raise InputError(refused)
        return estimate_by(method, evidence)


def estimate_by(method: Method, evidence: Evidence) -> Estimate:
    """The estimate of a method that fits, with what such intervals covered where the truth is known."""
    estimate = method.estimate(evidence)
    return replace(estimate, coverage=coverage_of(estimate, evidence, label_of(method)))


def unfit(method: Method, evidence: Evidence) -> str | None:
    """Why a method does not fit the evidence and its settings, as half a sentence; None where it does."""
    if method.reads == PREDICTIONS and not isinstance(evidence, RowTable):
        return (
            "it needs held-out predictions, but there are only fold scores (HeldOutSearchCV keeps predictions, "
            "unless its scorer cannot be opened, as those made by make_scorer can)"
        )
    return method.unfit(evidence) or unfit_blocks(method, evidence.settings.blocks)


def unfit_blocks(method: Method, blocks: Blocks | None) -> str | None:
    """Why blocks of rows that a user wants do not fit, as half a sentence; None where they do."""
    if blocks is None or method.draws_rows:
        return None
    return f"it draws no rows, so that `block_length={str(blocks)!r}` would do nothing"


def refusal(method: Method, evidence: Evidence) -> str | None:
    """Why a method does not fit, and which do, as a sentence; None where it fits."""
    reason = unfit(method, evidence)
    if reason is None:
        return None
    alternatives = {name: make() for name, make in METHODS.items() if name != method.name}
    fitting = [name for name, other in alternatives.items() if unfit(other, evidence) is None]
    return f"method '{method.name}' does not fit: {reason}; methods that do: {', '.join(fitting)}."
