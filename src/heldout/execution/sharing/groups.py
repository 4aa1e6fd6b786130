"""Which configurations share what: known before anything is fitted, and the same in every process.

A group holds configurations whose models, or whose steps at one place, differ only in parameters that one fit
serves. It counts all of them, even those that are dropped or done already: a provider that is exact to rounding
gives other last bits for other groups.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from heldout.configurations import Configuration, NotHashableError
from heldout.errors import InputError
from heldout.execution.sharing.steps import StepChain, beside_parameters, chain_of, form_of, member_at
from heldout.folds.splits import Folds
from heldout.spaces.submodels import ClosedForm, Exactness, SubmodelFamily, closed_form_of, family_of

Share = Literal["exact", "tolerance"] | bool
"""``"exact"``: results as without sharing; ``"tolerance"``: within the tolerance of a solver; False: none."""


def check_share(share: Any) -> None:
    """Refuse another value."""
    if not (share is False or (isinstance(share, str) and share in ("exact", "tolerance"))):
        raise InputError(f"share must be exact, tolerance or False, got {share!r}.")


@dataclass(frozen=True, eq=False)
class FitGroup:
    """What one fit serves.

    Attributes
    ----------
    family : SubmodelFamily
    members : tuple
        Positions of configurations, or keys of steps.
    values : tuple of mapping
        The parameters that each member sets.
    """

    family: SubmodelFamily
    members: tuple[Any, ...]
    values: tuple[Mapping[str, Any], ...]

    def part(self, wanted: Iterable[Any]) -> FitGroup:
        """The members to compute so that the results of the wanted ones do not depend on which are wanted."""
        if self.family.exact != "bitwise":
            return self
        chosen = set(wanted)
        kept = [number for number, member in enumerate(self.members) if member in chosen]
        return FitGroup(self.family, tuple(self.members[k] for k in kept), tuple(self.values[k] for k in kept))


@dataclass(frozen=True, eq=False)
class LeftOutGroup:
    """What one formula for leave-one-out serves.

    Attributes
    ----------
    form : ClosedForm
    members : tuple of int
        Positions of configurations.
    values : tuple of mapping
        The parameters that each member sets.
    """

    form: ClosedForm
    members: tuple[int, ...]
    values: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, eq=False)
class Sharing:
    """What the configurations of a run share.

    Attributes
    ----------
    chains : tuple of StepChain
        One a configuration.
    models : mapping of int to FitGroup
        By position, for configurations whose models are of a group.
    steps : mapping of str to FitGroup
        By key, for steps that are of a group.
    mode : "exact" or "tolerance"
    left_out : tuple of LeftOutGroup
        Where the splits leave out one row each; a single configuration is a group too.
    separate : frozenset of int
        Positions of configurations that are fitted alone nevertheless, because their models are kept.
    """

    chains: tuple[StepChain, ...]
    models: Mapping[int, FitGroup]
    steps: Mapping[str, FitGroup]
    mode: Literal["exact", "tolerance"] = "exact"
    left_out: tuple[LeftOutGroup, ...] = ()
    separate: frozenset[int] = frozenset()

    def with_models(self) -> Sharing:
        """The same results, with a fit for each configuration that sharing serves to the last bit.

        The identity stays too. Where sharing is exact to rounding only, it stays, and there are no models.
        """
        bitwise = (j for j in range(len(self.chains)) if self.exactness(j) == "bitwise")
        return replace(self, separate=frozenset(bitwise))

    def exactness(self, position: int) -> Exactness:
        """How exactly the predictions of a configuration are those of a separate fit: see ``SubmodelFamily``."""
        groups = self.models.get(position), *map(self.steps.get, self.chains[position].keys)
        kinds = {group.family.exact for group in groups if group is not None}
        return next((kind for kind in (False, True) if kind in kinds), "bitwise")

    @property
    def identity(self) -> list[str]:
        """The mode and the providers, for the identity of a run."""
        forms = {group.form.name for group in self.left_out}
        return [self.mode, *sorted(forms.union(family.name for family in self.families))]

    @property
    def families(self) -> set[SubmodelFamily]:
        """The providers in use."""
        return {group.family for group in (*self.models.values(), *self.steps.values())}

    def units(self, positions: Sequence[int]) -> list[tuple[int, ...]]:
        """Configurations that are computed together, in an order in which equal steps follow each other."""
        first: dict[str, int] = {}
        for position in positions:
            for key in self.chains[position].keys:
                first.setdefault(key, len(first))
        together: dict[Hashable, list[int]] = {}
        for position in positions:
            group = None if position in self.separate else self.models.get(position)
            together.setdefault(position if group is None else id(group), []).append(position)

        def place(unit: tuple[int, ...]) -> tuple[Any, ...]:
            return tuple(first[key] for key in self.chains[unit[0]].keys), unit[0]

        return sorted(map(tuple, together.values()), key=place)

    def tasks(self, positions: Sequence[int], n_parts: int) -> list[tuple[int, ...]]:
        """The units in at most so many parts, for workers that each repeat the steps that they need.

        A part ends, near its even share, where the next unit has the fewest steps in common with the last. Parts
        with the longest chains come first, so that no worker begins one when the others are at their end.
        """
        units = self.units(positions)
        cuts, reach = [0], max(len(units) // (4 * n_parts), 1)
        for part in range(1, n_parts):
            even = round(part * len(units) / n_parts)
            around = [cut for cut in range(even - reach, even + reach + 1) if cuts[-1] < cut < len(units)]
            if around:
                cuts.append(min(around, key=lambda cut: (self._in_common(units, cut), abs(cut - even))))
        ends = [*cuts[1:], len(units)]
        parts = [units[start:end] for start, end in zip(cuts, ends, strict=True) if start < end]
        parts.sort(key=lambda part: -max(len(self.chains[unit[0]].keys) for unit in part))
        return [tuple(position for unit in part for position in unit) for part in parts]

    def _in_common(self, units: Sequence[tuple[int, ...]], cut: int) -> int:
        before, after = (set(self.chains[units[number][0]].keys) for number in (cut - 1, cut))
        return len(before & after)


def sharing_of(
    configurations: Sequence[Configuration],
    estimator_of: Callable[[Configuration], Any],
    share: Share,
    params: Mapping[str, str],
    folds: Folds | None = None,
    *,
    fits_alone: Callable[[Any], bool] = lambda estimator: False,
) -> Sharing | None:
    """What configurations share; None where that is nothing.

    Parameters
    ----------
    estimator_of : callable
        A fresh estimator of a configuration, with the seeds that it would have on some split.
    share : "exact", "tolerance" or False
    params : mapping of str to str
        By the name of an estimator in a list: which parameters of ``fit`` its configurations receive.
    folds : Folds, optional
        Where they leave out one row each, formulas may serve configurations.
    fits_alone : callable
        Of a fresh estimator: whether it shares nothing.
    """
    leaves_one_out = folds is not None and folds.leaves_one_out
    if not share or (len(configurations) < 2 and not leaves_one_out):
        return None
    mode: Literal["exact", "tolerance"] = "tolerance" if share == "tolerance" else "exact"
    chains: list[StepChain] = []
    models, steps = _Groups(partial(family_of, share=mode)), _Groups(partial(family_of, share=mode))
    last: _Precedent | None = None
    for configuration in configurations:
        same = None if last is None else last.with_values_of(configuration, mode)
        if last is not None and same is not None:
            chains.append(last.chain)
            models.add_to(last.key, configuration.position, same)
            continue
        estimator, receives = estimator_of(configuration), params.get(configuration.model or "", "")
        if fits_alone(estimator):
            chains.append(StepChain((), receives, (), changes_rows=True))
            last = None
            continue
        chain = chain_of(estimator, configuration.position, receives)
        chains.append(chain)
        key = models.add(configuration.position, member_at(estimator, chain.model), (chain.before, *chain.model))
        last = None
        if key is not None:
            last = _Precedent(
                configuration, estimator, receives, chain, key, *models.found_as(key, configuration.position)
            )
        for step in chain.steps:
            steps.add(step.key, member_at(estimator, step.path), (step.before, *step.path))
    of_models, of_steps = _by_member(models.found()), _by_member(steps.found())
    left_out = _left_out(configurations, chains, estimator_of) if leaves_one_out else ()
    used = Counter(key for chain in chains for key in chain.keys)
    if not of_models and not of_steps and not left_out and not any(n > 1 for n in used.values()):
        return None
    return Sharing(tuple(chains), of_models, of_steps, mode, left_out)


def _by_member(found: Iterable[_Found[SubmodelFamily]]) -> dict[Any, FitGroup]:
    """By member: the groups of at least two."""
    groups = [FitGroup(*each) for each in found if len(each[1]) > 1]
    return {member: group for group in groups for member in group.members}


def _left_out(
    configurations: Sequence[Configuration],
    chains: Sequence[StepChain],
    estimator_of: Callable[[Configuration], Any],
) -> tuple[LeftOutGroup, ...]:
    """The groups of formulas; a step before the model is fitted without the row, which no formula knows."""
    groups = _Groups(closed_form_of)
    for configuration, chain in zip(configurations, chains, strict=True):
        if not chain.model:
            groups.add(configuration.position, estimator_of(configuration), (chain.before,))
    return tuple(LeftOutGroup(*each) for each in groups.found())


@dataclass(eq=False)
class _Precedent:
    """The last configuration that was looked at in full, and its group.

    Neighbours in a grid mostly differ in a number of their model. Those that differ in nothing but the parameters
    that the group serves, by numbers or text, are of the same group, and need no estimator of their own.
    """

    configuration: Configuration
    estimator: Any
    receives: str
    chain: StepChain
    key: str
    family: SubmodelFamily
    values: dict[str, Any]

    def with_values_of(self, other: Configuration, mode: Literal["exact", "tolerance"]) -> dict[str, Any] | None:
        """The values of another configuration of the group; None if it must be looked at in full."""
        changed = self._changed(other)
        if changed is None or not self._has_common_steps:
            return None
        for name, value in changed.items():
            setattr(self._model, name, value)
        self.configuration, self.values = other, {**self.values, **changed}
        family = family_of(self._model, mode)
        return self.values if family is not None and family.name == self.family.name else None

    def _changed(self, other: Configuration) -> dict[str, Any] | None:
        """The parameters of the model in which another configuration differs, if these are numbers or text."""
        mine, theirs = self.configuration, other
        if mine.template is not theirs.template or mine.model != theirs.model:
            return None
        if mine.params.keys() != theirs.params.keys():
            return None
        front = "".join(f"{name}__" for name in self.chain.model)
        changed = {}
        for name, value in theirs.params.items():
            before = mine.params[name]
            if value is before:
                continue
            own = name.removeprefix(front)
            if not (name.startswith(front) and own in self.family.parameters and _is_plain(before)):
                return None
            if not (_is_plain(value) and _is_plainly_set(self._model, own)):
                return None
            changed[own] = value
        return changed

    @cached_property
    def _has_common_steps(self) -> bool:
        """Whether its steps are those of any configuration with these parameters."""
        return chain_of(self.estimator, -1, self.receives).keys == self.chain.keys

    @cached_property
    def _model(self) -> Any:
        return member_at(self.estimator, self.chain.model)


def _is_plain(value: Any) -> bool:
    return type(value) in (int, float, bool, str) or isinstance(value, np.integer | np.floating)


def _is_plainly_set(estimator: Any, name: str) -> bool:
    """Whether setting a parameter sets this attribute and does nothing else."""
    kind = type(estimator)
    usual = all(getattr(kind, how, None) is getattr(BaseEstimator, how) for how in _SETTING)
    return usual and not hasattr(kind, name) and name in vars(estimator)


_SETTING = ("set_params", "get_params", "__setattr__")


Provider = TypeVar("Provider", SubmodelFamily, ClosedForm)
_Found = tuple[Provider, tuple[Any, ...], tuple[Mapping[str, Any], ...]]


class _Groups(Generic[Provider]):
    """Collects members whose estimators differ only in parameters of their provider."""

    def __init__(self, provider_of: Callable[[Any], Provider | None]) -> None:
        self._provider_of: Callable[[Any], Provider | None] = provider_of
        self._found: dict[str, tuple[Provider, dict[Any, dict[str, Any]]]] = {}

    def add(self, member: Any, estimator: Any, place: tuple[str, ...]) -> str | None:
        """The key of its group; None if it is of none."""
        provider = self._provider_of(estimator)
        if provider is None:
            return None
        values, parts, rest = _divided(estimator, provider.parameters)
        try:
            alike: list[Any] = [[id(type(part)), beside_parameters(part)] for part in parts]
            key = json.dumps([*place, provider.name, alike, form_of(rest)], sort_keys=True)
        except (NotHashableError, RecursionError):
            return None
        self._found.setdefault(key, (provider, {}))
        self.add_to(key, member, values)
        return key

    def add_to(self, key: str, member: Any, values: dict[str, Any]) -> None:
        """Add a member of a group that is known."""
        self._found[key][1].setdefault(member, values)

    def found_as(self, key: str, member: Any) -> tuple[Provider, dict[str, Any]]:
        """What serves a group, and the values of a member."""
        provider, values = self._found[key]
        return provider, values[member]

    def found(self) -> list[_Found[Provider]]:
        """Provider, members and the parameters that each sets."""
        return [(provider, tuple(values), tuple(values.values())) for provider, values in self._found.values()]


def _divided(estimator: Any, names: Sequence[str]) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
    """The values of some parameters, the estimators that have these parameters, and all other parameters.

    A name such as ``regressor__alpha`` is a parameter of a part.
    """
    owners = sorted({name.rpartition("__")[0] for name in names} - {""})
    params = estimator.get_params(deep=bool(owners))
    values = {name: params.pop(name, None) for name in names}  # CatBoost lists only those that are set
    return values, [estimator, *(params.pop(owner) for owner in owners)], params
