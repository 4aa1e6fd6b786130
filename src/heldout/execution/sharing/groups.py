"""Which configurations share what: known before anything is fitted, and the same in every process.

A group holds configurations whose models, or whose steps at one place, differ only in parameters that one fit
serves. It counts all of them, even those that are dropped or done already: a provider that is exact to rounding
gives other last bits for other groups.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from heldout.configurations import Configuration, NotHashableError
from heldout.errors import InputError
from heldout.execution.fit import CellContext, seeded_model
from heldout.execution.sharing.sameness import beside_parameters, form_of
from heldout.execution.sharing.steps import StepChain, chain_of, member_at
from heldout.spaces.submodels import SubmodelFamily, family_of

Share = Literal["exact", "tolerance", "check"] | bool
"""``"exact"``: results as without sharing; ``"tolerance"``: within the tolerance of a solver; False: none."""


def check_share(share: Any) -> None:
    """Refuse another value."""
    if not (share is False or (isinstance(share, str) and share in ("exact", "tolerance", "check"))):
        raise InputError(f"share must be exact, tolerance, check or False, got {share!r}.", argument="share")


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
    """

    chains: tuple[StepChain, ...]
    models: Mapping[int, FitGroup]
    steps: Mapping[str, FitGroup]
    mode: Literal["exact", "tolerance"] = "exact"

    @property
    def identity(self) -> list[str]:
        """The mode and the providers, for the identity of a run."""
        return [self.mode, *sorted({family.name for family in self.families})]

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
            group = self.models.get(position)
            together.setdefault(position if group is None else id(group), []).append(position)

        def place(unit: tuple[int, ...]) -> tuple[Any, ...]:
            return tuple(first[key] for key in self.chains[unit[0]].keys), unit[0]

        return sorted(map(tuple, together.values()), key=place)

    def tasks(self, positions: Sequence[int], n_parts: int) -> list[tuple[int, ...]]:
        """The units in at most so many parts, for workers that each repeat the steps that they need.

        A part ends, near its even share, where the next unit has the fewest steps in common with the last.
        """
        units = self.units(positions)
        cuts, reach = [0], max(len(units) // (4 * n_parts), 1)
        for part in range(1, n_parts):
            even = round(part * len(units) / n_parts)
            around = [cut for cut in range(even - reach, even + reach + 1) if cuts[-1] < cut < len(units)]
            if around:
                cuts.append(min(around, key=lambda cut: (self._in_common(units, cut), abs(cut - even))))
        ends = [*cuts[1:], len(units)]
        parts = (units[start:end] for start, end in zip(cuts, ends, strict=True))
        return [tuple(position for unit in part for position in unit) for part in parts if part]

    def _in_common(self, units: Sequence[tuple[int, ...]], cut: int) -> int:
        before, after = (set(self.chains[units[number][0]].keys) for number in (cut - 1, cut))
        return len(before & after)


def sharing_of(
    configurations: Sequence[Configuration], estimators: Iterable[Any], share: Share, params: Mapping[str, str]
) -> Sharing | None:
    """What configurations share; None where that is nothing.

    Parameters
    ----------
    estimators : iterable of estimator
        An unfitted one of each configuration, with the seeds that it would have on some split.
    share : "exact", "tolerance", "check" or False
    params : mapping of str to str
        By the name of an estimator in a list: which parameters of ``fit`` its configurations receive.
    """
    if not share or len(configurations) < 2:
        return None
    mode: Literal["exact", "tolerance"] = "tolerance" if share == "tolerance" else "exact"
    chains: list[StepChain] = []
    models, steps = _Groups(mode), _Groups(mode)
    for configuration, estimator in zip(configurations, estimators, strict=True):
        chain = chain_of(estimator, configuration.position, params.get(configuration.model or "", ""))
        chains.append(chain)
        models.add(configuration.position, member_at(estimator, chain.model), (chain.before, *chain.model))
        for step in chain.steps:
            steps.add(step.key, member_at(estimator, step.path), (step.before, *step.path))
    of_models, of_steps = models.found(), steps.found()
    used = Counter(key for chain in chains for key in chain.keys)
    if not of_models and not of_steps and not any(n > 1 for n in used.values()):
        return None
    return Sharing(tuple(chains), of_models, of_steps, mode)


def shared_in(context: CellContext, configurations: Sequence[Configuration], share: Share) -> Sharing | None:
    """What configurations share on every split of a run; None where that is nothing."""
    seeded = (seeded_model(each.fresh(), context.entropy, 0, 0) for each in configurations)
    receives = {name: f"of {name}" for name in context.routed.fit_of_model}
    return sharing_of(configurations, seeded, share, receives)


class _Groups:
    """Collects members whose estimators differ only in parameters of their family."""

    def __init__(self, mode: Literal["exact", "tolerance"]) -> None:
        self._mode = mode
        self._found: dict[str, tuple[SubmodelFamily, dict[Any, dict[str, Any]]]] = {}

    def add(self, member: Any, estimator: Any, place: tuple[str, ...]) -> None:
        family = family_of(estimator, self._mode)
        if family is None:
            return
        values, parts, rest = _divided(estimator, family.parameters)
        try:
            alike = [[id(type(part)), beside_parameters(part)] for part in parts]
            key = json.dumps([*place, family.name, alike, form_of(rest)], sort_keys=True)
        except (NotHashableError, RecursionError):
            return
        self._found.setdefault(key, (family, {}))[1].setdefault(member, values)

    def found(self) -> dict[Any, FitGroup]:
        """By member: the groups of at least two."""
        groups = [
            FitGroup(family, tuple(values), tuple(values.values()))
            for family, values in self._found.values()
            if len(values) > 1
        ]
        return {member: group for group in groups for member in group.members}


def _divided(estimator: Any, names: Sequence[str]) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
    """The values of some parameters, the estimators that have these parameters, and all other parameters.

    A name such as ``regressor__alpha`` is a parameter of a part.
    """
    owners = sorted({name.rpartition("__")[0] for name in names} - {""})
    params = estimator.get_params(deep=bool(owners))
    values = {name: params.pop(name, None) for name in names}  # CatBoost lists only those that are set
    return values, [estimator, *(params.pop(owner) for owner in owners)], params
