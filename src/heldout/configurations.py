"""Configurations: an estimator with its hyper-parameters, preprocessing and selection included.

The id of a configuration depends on its contents, not on its position: it is the sha256 of canonical JSON of its
class and parameters. A resumed run recognises a configuration by it.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.special
from scipy.stats.distributions import rv_frozen
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid

from heldout.data.limits import MOST_CONFIGURATIONS, refuse_more_than
from heldout.data.task import shortened
from heldout.errors import ArgumentError, InputError, input_error, plain_values, text_of

DRAW = "ho.HeldOutRandomizedSearchCV draws n_iter configurations from distributions"
"""Where a random search is found."""


Kind = TypeVar("Kind", bound=type)


def refuses(*names: str, why: str) -> Callable[[Kind], Kind]:
    """Makes a class say what to do instead of passing an argument of another kind of search."""

    def refusing(kind: Kind) -> Kind:
        init = kind.__init__  # type: ignore[misc]

        @functools.wraps(init)
        def checked(*args: Any, **given: Any) -> None:
            for name in names:
                if name in given:
                    raise ArgumentError(f"`{name}=` {why}.")
            init(*args, **given)

        kind.__init__ = checked  # type: ignore[misc]
        return kind

    return refusing


class NotHashableError(TypeError):
    """A parameter has no canonical form, so that a stored run could not recognise it."""


@dataclass(frozen=True, eq=False)
class Configuration:
    """One estimator with its hyper-parameters set, preprocessing included."""

    position: int
    """Its place in the search, from 0; no part of its id."""
    params: Mapping[str, Any]
    """What is set on the estimator; for a list of estimators it holds ``model`` too."""
    template: BaseEstimator
    """Never fitted itself: ``fresh`` clones it."""
    model: str | None = None
    """The name of its estimator where the search has several."""
    has_params: bool = False
    """Whether the template has the parameters already, so that they are only shown."""
    kind: str = ""
    """The name of its estimator, if it is not the class of the template."""
    note: str = ""
    """JSON that a store keeps, for a proposer that must know it to propose the same again."""

    @property
    def own_params(self) -> dict[str, Any]:
        """What is set on its estimator."""
        return {key: value for key, value in self.params.items() if not (key == "model" and self.model)}

    @property
    def family(self) -> str:
        """The name of its estimator for people."""
        return self.model or self.kind or type(self.template).__name__

    def fresh(self) -> BaseEstimator:
        """An unfitted estimator with the parameters set.

        Raises InputError when it has no such parameters.
        """
        if self.has_params:
            return clone(self.template)
        own = {key: clone(value, safe=False) for key, value in self.own_params.items()}
        try:
            return clone(self.template).set_params(**own)
        except ValueError as error:
            reason = text_of(error)
            raise InputError(f"the parameters do not fit the estimator: {reason}") from error

    @cached_property
    def canonical(self) -> str:
        """Canonical JSON of the estimator with its parameters set.

        Raises NotHashableError when a parameter has no canonical form.
        """
        try:
            return json.dumps(canonical_form(self.fresh()), sort_keys=True, separators=(",", ":"))
        except RecursionError:
            raise NotHashableError(f"a parameter of {self.name} contains itself") from None

    @cached_property
    def name(self) -> str:
        """Its name for people: the model and the parameters that were set."""
        shown = [
            f"{key.rsplit('__', 1)[-1]}={_short(value)}" for key, value in self.params.items() if key != "model"
        ]
        return f"{self.family} ({', '.join(shown)})" if shown else self.family


class Configurations(tuple[Configuration, ...]):
    """All candidates of a search, in order."""

    @classmethod
    def of(cls, parts: Iterable[tuple[Any, ...]]) -> Configurations:
        """From tuples of the fields of ``Configuration``, without ``position``."""
        return cls(Configuration(position, *each) for position, each in enumerate(parts))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(member.name for member in self)

    @property
    def params(self) -> list[dict[str, Any]]:
        return [dict(member.params) for member in self]

    def identities(self) -> list[tuple[str, str]]:
        """(id, canonical JSON) of each: the id is a sha256 of the JSON and an ordinal among equal ones.

        Raises NotHashableError when a parameter has no canonical form.
        """
        seen: Counter[str] = Counter()
        found = []
        for member in self:
            text = member.canonical
            found.append((hashlib.sha256(f"{text}#{seen[text]}".encode()).hexdigest(), text))
            seen[text] += 1
        return found


def are_same(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are the same, as far as they can be compared."""
    if one is other or (isinstance(one, float) and isinstance(other, float) and one != one and other != other):
        return True
    with suppress(TypeError, ValueError):  # arrays among them
        if one == other:
            return True
    try:  # splitters have no equality of their own
        return type(one) is type(other) and canonical_form(one) == canonical_form(other)
    except (NotHashableError, RecursionError):
        return False


def make_configurations(estimator: Any, param_grid: Any = None) -> Configurations:
    """Every configuration of one estimator with a grid (or list of grids), or of a list of estimators.

    ``param_grid``: as scikit-learn's ``ParameterGrid`` reads it; none for a list of estimators.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression, RidgeClassifier
    >>> make_configurations([("lr", LogisticRegression(), {"C": [1, 10]}), ("ridge", RidgeClassifier(), {})]).names
    ('lr (C=1)', 'lr (C=10)', 'ridge')
    """
    found: list[tuple[dict[str, Any], Any, str | None]] = []
    if isinstance(estimator, list | tuple):
        if param_grid is not None:
            raise InputError("a list of (name, estimator, grid) has its own grids; leave param_grid out.")
        for name, model, grid in checked_entries(estimator):
            found += [({"model": name, **params}, model, name) for params in _grid(grid)]
    else:
        found = [(params, estimator, None) for params in _grid(param_grid)]
    if not found:
        raise InputError("the search has no configurations; give at least one estimator and a grid with values.")
    return Configurations.of(found)


def checked_entries(entries: Sequence[Any]) -> list[tuple[str, Any, Any]]:
    """A list of estimators as (name, estimator, grid).

    Raises InputError when the list is empty, an entry is no such triple, a name recurs, or kinds of estimator are
    mixed.
    """
    checked = []
    for entry in entries:
        if not (isinstance(entry, tuple | list) and len(entry) == 3 and isinstance(entry[0], str)):
            raise InputError(
                "each estimator of a list must be a triple of name, estimator, and grid or distributions, got "
                f"{entry!r}."
            )
        checked.append((entry[0], checked_model(entry[1], f"the estimator {entry[0]!r} of a list"), entry[2]))
    if not checked:
        raise InputError("the list of estimators is empty; give at least one (name, estimator, grid).")
    repeated = [name for name, times in Counter(name for name, _, _ in checked).items() if times > 1]
    if repeated:
        raise InputError(f"estimator names must be distinct, got {repeated[0]!r} more than once.")
    first, kind = checked[0][0], kind_of(checked[0][1])
    for name, model, _ in checked:
        if kind_of(model) != kind:
            raise InputError(
                f"all estimators of a list must be of one kind, but {first!r} is a {kind} and {name!r} is a "
                f"{kind_of(model)}; search them separately."
            )
    return checked


def checked_model(model: Any, what: str = "a model", otherwise: str = "") -> Any:
    """Check an estimator of scikit-learn's kind.

    Raises InputError for a class, and for anything else that cannot be fitted.
    """
    if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "get_params")):
        instead = otherwise or (f"give {model.__name__}()" if isinstance(model, type) else "give an estimator")
        raise InputError(
            f"{what} must be an estimator with fit and get_params, such as LogisticRegression(), got "
            f"{shortened(model)}; {instead}."
        )
    return model


def kind_of(model: Any) -> str:
    """Classifier, regressor or another kind, as half a sentence names it."""
    return "classifier" if is_classifier(model) else "regressor" if is_regressor(model) else "model of another kind"


def _grid(grid: Any) -> list[dict[str, Any]]:
    if grid is None or grid == {}:
        return [{}]
    for part in (grid,) if isinstance(grid, Mapping) else grid if isinstance(grid, list | tuple) else ():
        for name, values in part.items() if isinstance(part, Mapping) else ():
            if not isinstance(name, str):
                raise InputError(f"the name of a grid parameter must be text, got {shortened(name)}.")
            if hasattr(values, "rvs"):
                raise InputError(f"parameter {name!r} has a distribution, and a grid needs values; {DRAW}.")
    try:
        listed = ParameterGrid(grid)
    except (TypeError, ValueError) as error:
        raise input_error(f"the parameter grid cannot be used: {error}", error) from error
    number = sum(math.prod(len(values) for values in one.values()) for one in listed.param_grid)
    remedy = "fewer values of each parameter, or draw from them by ho.HeldOutRandomizedSearchCV"
    refuse_more_than(MOST_CONFIGURATIONS, number, "configurations of a grid", remedy)
    return list(listed)


def _short(value: Any) -> str:
    if isinstance(value, BaseEstimator):
        return type(value).__name__
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    text = plain_values(str(value))
    return text if len(text) <= 40 else text[:37] + "..."


def estimators_within(configurations: Iterable[Configuration]) -> list[type]:
    """Every class of estimator that the configurations are made of."""
    found: dict[type, None] = {}
    for member in configurations:
        for value in (member.template, *member.template.get_params().values(), *member.params.values()):
            if hasattr(value, "get_params") and not isinstance(value, type):
                found[type(value)] = None
    return list(found)


def canonical_form(value: Any) -> Any:
    """A JSON value that is the same for equal parameters in every process.

    Classes go by qualified name, arrays by type, shape and bytes, functions by qualified name, source and what
    they hold, other objects by their attributes.

    Raises NotHashableError for what cannot be read: compiled objects, functions without source, fitted estimators
    that a clone keeps.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, np.longdouble):  # whose item is itself
        return {"float": str(value)}
    if isinstance(value, np.generic):
        return canonical_form(value.item())
    if isinstance(value, list | tuple):
        return [canonical_form(item) for item in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted(json.dumps(canonical_form(item), sort_keys=True) for item in value)}
    if isinstance(value, Mapping):
        return {"mapping": [[canonical_form(k), canonical_form(v)] for k, v in sorted(value.items(), key=_key)]}
    if isinstance(value, rv_frozen):  # it holds a generator, which draws do not use
        return {"distribution": _qualified(type(value.dist)), "of": canonical_form([value.args, value.kwds])}
    if isinstance(value, np.ndarray):
        holds_objects = value.dtype.hasobject  # such as the labels of a column of a table
        values = value.ravel().tolist() if holds_objects else hashlib.sha256(value.tobytes()).hexdigest()
        return {"array": [value.dtype.str, list(value.shape), canonical_form(values)]}
    if isinstance(value, type):
        return {"class": _qualified(value)}
    if inspect.isroutine(value) or isinstance(value, np.ufunc):
        source = textwrap.dedent(source_of(value))
        return {"function": [_qualified(value), source], "holds": canonical_form(_held_by(value))}
    if isinstance(value, functools.partial):
        parts = {"partial": canonical_form([value.func, value.args, value.keywords])}
        return parts if type(value) is functools.partial and not vars(value) else parts | _form_of_object(value)
    if hasattr(value, "get_params"):
        return _form_of_estimator(value)
    return _form_of_object(value)


def _form_of_estimator(estimator: Any) -> dict[str, Any]:
    if not is_cloned(estimator):
        raise NotHashableError(f"{shortened(estimator)} has no canonical form, because a clone of it stays fitted")
    params = estimator.get_params(deep=False)
    return {"estimator": _qualified(type(estimator)), "params": canonical_form(params)}


def is_cloned(estimator: Any) -> bool:
    """Whether ``clone`` makes a fresh one; an estimator such as ``FrozenEstimator`` stays the same object."""
    own = getattr(type(estimator), "__sklearn_clone__", None)
    return own is None or own is getattr(BaseEstimator, "__sklearn_clone__", None)


def _form_of_object(value: Any) -> dict[str, Any]:
    """Splitters, scorers, kernels, distributions: an importable class of Python whose state is its attributes."""
    kind = type(value)
    hidden = any(base.__module__ != "builtins" and not base.__flags__ & _HEAP_TYPE for base in kind.__mro__)
    slots = _slots(value)
    if hidden or "<locals>" in kind.__qualname__ or not (slots or hasattr(value, "__dict__")):
        raise NotHashableError(f"a parameter of type {kind.__name__} has no canonical form: {shortened(value)}")
    return {"object": _qualified(kind), "state": canonical_form(slots | getattr(value, "__dict__", {}))}


def _slots(value: Any) -> dict[str, Any]:
    kinds = (kind for kind in type(value).__mro__ if "__slots__" in vars(kind))
    names = (name for kind in kinds for name, member in vars(kind).items() if inspect.ismemberdescriptor(member))
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def _held_by(function: Any) -> list[Any]:
    """What a function's source does not show: the object of a method, defaults, variables that it closes over."""
    name, bound = _qualified(function), getattr(function, "__self__", None)
    held = [None if inspect.ismodule(bound) else bound, list(getattr(function, "__defaults__", None) or ())]
    # NumPy's and scikit-learn's decorated functions close over the function itself: their version speaks for them.
    packaged = name.startswith(("numpy.", "scipy.", "sklearn."))
    enclosed = [] if packaged else [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    keywords = getattr(function, "__kwdefaults__", None)
    # Run files of version 0.1 know functions without keyword-only defaults.
    own = keywords and not (packaged or name.startswith(("heldout.", "heldout_papers.")))
    return [*held, enclosed, keywords] if own else [*held, enclosed]


_HEAP_TYPE = 1 << 9  # types made by a class statement have it; those of C extensions mostly not


def _key(item: tuple[Any, Any]) -> str:
    return f"{type(item[0]).__name__}:{item[0]}"


NAMES_IN_RUN_FILES = {
    "heldout.estimates.methods.corrected_t.ConservativeZ": "heldout.estimates.methods.conservative_z.ConservativeZ",
    "heldout.estimates.methods.locally_simultaneous.Zoom": "heldout.estimates.methods.zoom.Zoom",
    "heldout.estimates.methods.two_part.closed_forms.DeLong": "heldout.estimates.methods.two_part.delong.DeLong",
    "heldout.estimates.methods.two_part.closed_forms.HanleyMcNeil": (
        "heldout.estimates.methods.two_part.hanley_mcneil.HanleyMcNeil"
    ),
    "heldout.estimates.methods.two_part.closed_forms.ClopperPearson": (
        "heldout.estimates.methods.two_part.binomial.ClopperPearson"
    ),
    "heldout.estimates.methods.two_part.closed_forms.Wilson": "heldout.estimates.methods.two_part.binomial.Wilson",
    "heldout.estimates.methods.two_part.tilting.MABT": "heldout.estimates.methods.two_part.mabt.MABT",
    "heldout.metrics.row_losses.MeanScore": "heldout.metrics.scores.MeanScore",
    "heldout.folds.plans": "heldout.fold_plans",
    "heldout.protocols.validation.arguments": "heldout.protocols.validation.asked",
    "heldout.metrics.regression.Spearman": "heldout.metrics.rank_correlation.Spearman",
    "heldout.metrics.named.SurvivalScorer": "heldout.metrics.survival_scorer.SurvivalScorer",
    "heldout.search.HeldOutRandomizedSearchCV": "heldout.search.randomized.HeldOutRandomizedSearchCV",
    "heldout.search.grid": "heldout.search",
    "heldout.dropping.fold_tests.Paired": "heldout.dropping.paired.Paired",
    "heldout.dropping.fold_tests.Wilcoxon": "heldout.dropping.wilcoxon.Wilcoxon",
    "heldout.spaces.preprocessing.NativeCategories": "heldout.spaces.native_categories.NativeCategories",
    "heldout.spaces.cox.StatsmodelsCox": "heldout.spaces.cox_statsmodels.StatsmodelsCox",
}
"""Modules and classes of ours by the names that run files know: a move must not change a stored run's identity."""


def _qualified(thing: Any) -> str:
    module = getattr(thing, "__module__", "")
    if isinstance(module, str) and module.startswith("heldout"):
        module = NAMES_IN_RUN_FILES.get(module, module.replace("heldout_papers.spaces.", "heldout.spaces."))
    name = f"{module}.{getattr(thing, '__qualname__', getattr(thing, '__name__', ''))}"
    return NAMES_IN_RUN_FILES.get(name, name)


def source_of(thing: Any) -> str:
    """The source of a function or class; empty for those of compiled modules.

    Raises NotHashableError where it cannot be read.
    """
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        if _is_compiled(thing):
            return ""
        raise NotHashableError(f"the source of {_qualified(thing)} cannot be found") from None


def _is_compiled(thing: Any) -> bool:
    """Whether it comes from a compiled module, which does not change without its version."""
    if isinstance(thing, np.ufunc):
        return any(vars(package).get(thing.__name__) is thing for package in (np, scipy.special))
    if isinstance(thing, type):
        return not thing.__flags__ & _HEAP_TYPE
    return not inspect.isfunction(getattr(thing, "__func__", thing))
