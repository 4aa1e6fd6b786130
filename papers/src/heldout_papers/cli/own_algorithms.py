"""``--space FILE.py:NAME`` of a study: the algorithms that a Python file of the user defines."""

from dataclasses import dataclass
from typing import Any

from heldout.cli.options import about_option
from heldout.cli.python_file import OwnSpace, has_distributions
from heldout.errors import InputError


@dataclass(frozen=True)
class AlgorithmsOfFile:
    """A function of X and y that gives a list of (name, estimator, grid)."""

    own: OwnSpace
    only: tuple[str, ...] | None = None  # Some of the names; all where None

    @property
    def needs_data(self) -> bool:
        """Whether the file defines a function of X and y."""
        return callable(self.own.found) and not hasattr(self.own.found, "get_params")

    def __call__(self, X: Any, y: Any) -> list[Any]:
        """The algorithms; InputError where the file defines none with grids, or a name is unknown."""
        space = self.own.space(X, y)
        with about_option("--space", self.own.text):
            if space.estimator is None or space.search == "optuna":
                raise InputError("the study needs estimators with grids, got a function of an Optuna trial.")
            if isinstance(space.estimator, list):
                entries = list(space.estimator)
            else:
                entries = [(space.names[0], space.estimator, space.values)]
            drawn = next((name for _, _, grid in entries if (name := has_distributions(grid))), None)
            if drawn is not None:
                raise InputError(f"the study needs grids, got a distribution of {drawn}; list its values.")
        return entries if self.only is None else self._some(entries)

    def _some(self, entries: list[Any]) -> list[Any]:
        by_name = {entry[0]: entry for entry in entries}
        stranger = next((name for name in self.only or () if name not in by_name), None)
        if stranger is not None:
            raise InputError(
                f"algorithms must be some of {', '.join(by_name)}, got {stranger!r}.", argument="algorithms"
            )
        return [by_name[name] for name in dict.fromkeys(self.only or ())]


def algorithms_of_file(text: str, only: tuple[str, ...] | None) -> Any:
    """What FILE.py:NAME names: a list of (name, estimator, grid), or a function of X and y that gives one."""
    found = AlgorithmsOfFile(OwnSpace.of(text), only)
    return found if found.needs_data else found(None, None)
