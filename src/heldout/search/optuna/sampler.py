"""Samplers whose proposals depend on a seed and a trial's number only, so that a search can be continued."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from heldout._streams import RandomState, entropy_of, numpy_seed
from heldout.errors import MissingExtraError


def optuna_package() -> ModuleType:
    """Optuna itself.

    Raises MissingExtraError when it is not installed.
    """
    try:
        import optuna
    except ModuleNotFoundError:
        raise MissingExtraError("A search with Optuna", "optuna") from None
    return optuna


@contextmanager
def quiet() -> Iterator[None]:
    """Optuna without its lines about every study and trial, and about experimental arguments."""
    optuna = optuna_package()
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(max(level, optuna.logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(level)


@dataclass(frozen=True, eq=False)
class SeededSampler:
    """A sampler that is seeded anew before each trial."""

    sampler: Any
    entropy: int
    has_own_seed: bool = False
    """Whether the entropy is that of a seed of the sampler's own."""

    @classmethod
    def of(cls, sampler: Any, random_state: RandomState, entropy: int) -> SeededSampler:
        """A sampler with the seed of a search: ``entropy``, or without a ``random_state`` a seed of its own.

        ``sampler`` changes; ``fresh_sampler`` makes one that may.
        """
        own = None if random_state is not None else _own_entropy(sampler)
        for part in _parts(sampler):
            if own is None and hasattr(part, "_seed"):  # of a scrambled sequence, which all trials share
                part._seed = numpy_seed(entropy, "sampler")
        return cls(sampler, entropy if own is None else own, own is not None)

    def reseed(self, number: int) -> None:
        """Seed all generators for the proposal of one trial."""
        seed = numpy_seed(self.entropy, "trial", number)
        for state in _random_states(self.sampler):
            state.rng.seed(seed)

    @property
    def is_reproducible(self) -> bool:
        """Whether its proposals depend on the seed and the trials before only: those of Optuna itself do."""
        return all(type(part).__module__.partition(".")[0] == "optuna" for part in _parts(self.sampler))

    @property
    def identity(self) -> Any:
        """What decides the proposals besides the entropy of the run, as far as it is plain."""
        seed = self.entropy if self.has_own_seed else None
        return {"optuna": optuna_package().__version__, "sampler": _form(self.sampler), "seed": seed}


def fresh_sampler(sampler: Any) -> Any:
    """A copy of a sampler, which a search may change; None gives TPE, Optuna's own default."""
    if sampler is not None:
        return copy.deepcopy(sampler)
    with quiet():
        return optuna_package().samplers.TPESampler(constant_liar=True)  # the default since Optuna 5


def _parts(sampler: Any) -> Iterator[Any]:
    yield sampler
    base = optuna_package().samplers.BaseSampler
    for value in getattr(sampler, "__dict__", {}).values():
        if isinstance(value, base):
            yield from _parts(value)


def _random_states(sampler: Any) -> Iterator[Any]:
    for part in _parts(sampler):
        for value in getattr(part, "__dict__", {}).values():
            if type(value).__name__ == "LazyRandomState":
                yield value


def _own_entropy(sampler: Any) -> int | None:
    """The entropy of a sampler that was made with a seed; None for one without."""
    seeded = (state.rng for state in _random_states(copy.deepcopy(sampler)) if state._rng is not None)
    first = next(seeded, None)
    return None if first is None else entropy_of(first)


def _form(sampler: Any) -> Any:
    """The classes and plain settings of a sampler; the rest may change while it is used."""
    return [
        [type(part).__name__, {name: value for name, value in _plain_settings(part) if "warn" not in name}]
        for part in _parts(sampler)
    ]


def _plain_settings(sampler: Any) -> Iterator[tuple[str, Any]]:
    for name, value in getattr(sampler, "__dict__", {}).items():
        if isinstance(value, bool | int | float | str):
            yield name, value
