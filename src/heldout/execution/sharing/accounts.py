"""What shared steps cost, and what sharing them saves: each reader is charged an equal part of every output.

The parts of all readers add up to the seconds that were really spent, and their savings to what separate fits would
have spent beyond that. A step takes as long in a separate fit as it took here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heldout.execution.cells import Saving

STEPS = "steps"
"""What configurations share that begin with equal steps."""


@dataclass(eq=False)
class StepOutput:
    """Rows behind a step.

    Attributes
    ----------
    rows : array-like
    seconds : float
        In which they were made.
    alone : float or None
        The same in a separate fit, which makes everything before it too; None if unknown.
    """

    rows: Any = None
    seconds: float = 0.0
    alone: float | None = 0.0


@dataclass(eq=False)
class Account:
    """The steps that some configurations read together, and what that saves each of them.

    Attributes
    ----------
    n_readers : int
        How many configurations.
    spent : float
        Seconds in which steps were made now, for these configurations and others.
    share : float
        Their part of the seconds of all steps that they read, made now or before.
    alone : float
        Seconds of the same steps in a separate fit of one of them.
    savings : dict of str to Saving
        Of each of them, by what is shared.
    """

    n_readers: int = 1
    spent: float = 0.0
    share: float = 0.0
    alone: float = 0.0
    savings: dict[str, Saving] = field(default_factory=dict)

    @property
    def ahead(self) -> float:
        """Seconds that each of them spent beyond its part, for others."""
        return (self.spent - self.share) / self.n_readers

    def read(self, what: str, output: StepOutput, n_users: int, n_bytes: int, again: float | None = None) -> None:
        """Charge each reader an equal part of an output.

        ``again``: the seconds in which it was made again for these readers, who are charged all of them.
        """
        charged = output.seconds / n_users + (again or 0.0) / self.n_readers
        part = 1 / n_users + (again is not None) / self.n_readers
        self.share += charged * self.n_readers
        self.alone += charged if output.alone is None else output.alone
        before = self.savings.get(what, Saving(0.0))
        seconds = None
        if before.seconds is not None and output.alone is not None:
            seconds = before.seconds + output.alone - charged
        self.savings[what] = Saving(seconds, before.n_bytes + n_bytes * (1 - part))


def saving_of_group(seconds: float, cost: float | None, n: int) -> Saving:
    """What one of n configurations saved whose fits were made in one; ``cost``: of its own, as a part of that one.

    >>> saving_of_group(8.0, 0.5, 4)
    Saving(seconds=2.0, n_bytes=0.0)
    """
    return Saving(None if cost is None else seconds * (cost - 1 / n))


@dataclass(frozen=True)
class SharedFits:
    """Fits that shared one thing, and what that saved them together.

    Attributes
    ----------
    n_fits : int
    seconds : float or None
        What separate fits would have taken longer. For steps: the measured seconds of every step, as often as it
        was not made again. For models: estimated from the seconds of the fit that served them; None where nothing
        tells how long a separate fit takes.
    n_bytes : int
        The output of steps, for training and test rows, as often as it was read and not made again.
    """

    n_fits: int
    seconds: float | None
    n_bytes: int


def shared_fits(savings: Iterable[Mapping[str, Saving]]) -> dict[str, SharedFits]:
    """From what single fits shared to each thing that was shared, the most frequent first.

    >>> shared_fits([{"steps": Saving(1.0, 80.0)}, {"steps": Saving(2.0, 80.0), "SVC": Saving(None)}, {}])
    {'steps': SharedFits(n_fits=2, seconds=3.0, n_bytes=160), 'SVC': SharedFits(n_fits=1, seconds=None, n_bytes=0)}
    """
    found: dict[str, list[Saving]] = {}
    for fit in savings:
        for what, saving in fit.items():
            found.setdefault(what, []).append(saving)
    return {what: _in_all(each) for what, each in sorted(found.items(), key=lambda item: -len(item[1]))}


def _in_all(savings: Sequence[Saving]) -> SharedFits:
    known = [saving.seconds for saving in savings if saving.seconds is not None]
    seconds = math.fsum(known) if len(known) == len(savings) else None
    return SharedFits(len(savings), seconds, round(math.fsum(saving.n_bytes for saving in savings)))


class Stopwatch:
    """Measures laps: steps that were made meanwhile count by the readers' part of them."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._then = self._now()

    def lap(self) -> float:
        """Seconds since the last lap."""
        before, self._then = self._then, self._now()
        return self._then - before

    def _now(self) -> float:
        return time.perf_counter() - self._account.spent + self._account.share
