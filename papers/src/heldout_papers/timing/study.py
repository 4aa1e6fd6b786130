"""How long BBC and BBC-F take, by rows, configurations and folds (Paraschakis et al. 2024, section 5, figure 3).

One number is varied at a time. BBC replays the choice on N rows and BBC-F on the scores of K folds, so that the
article expects the ratio of their times to be in the order of N/K.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np

from heldout._streams import RandomState, entropy_of
from heldout.errors import InputError
from heldout_papers.engine.arguments import checked_names, checked_sizes
from heldout_papers.engine.batches import Batch, BatchCallback, Columns, StudyJob, StudyPlan, study
from heldout_papers.engine.results import StudyResult, check_columns, long_rows
from heldout_papers.timing.operations import operations_of
from heldout_papers.timing.problem import WAYS, TimingProblem, TimingSetting

ROWS = (50, 100, 250, 500, 1000, 5000, 10000)
CONFIGURATIONS = (5, 10, 20, 50, 100, 250)
FOLDS = (3, 5, 10, 20, 30, 50)
"""Those of the article's published times; its figure names none."""
CENTRE = (500, 5, 3)
"""Rows, configurations and folds, where they are not what is varied: the article's."""
BATCH = 10
"""Repetitions of a batch."""
WHAT = ("seconds", "bound")
VARIED = ("rows", "configurations", "folds")

Clock: TypeAlias = Callable[[], float]
"""Seconds, from any origin."""


def do_batch(batch: Batch[TimingSetting], entropy: int, *, clock: Clock = time.process_time) -> Columns:
    """Seconds and lower bound of every way on each problem of a batch.

    Another way is first in each repetition, so that none has the better place.
    """
    setting = batch.setting
    ways = setting.ways
    found = {f"{name}.{what}": np.empty(batch.last - batch.first) for name in ways for what in WHAT}
    first = TimingProblem.drawn(setting, entropy, batch.first)
    for name in ways:
        WAYS[name](first)  # imports and compilation on first use do not count
    for place, repetition in enumerate(range(batch.first, batch.last)):
        problem = TimingProblem.drawn(setting, entropy, repetition)
        for n in range(len(ways)):
            name = ways[(n + repetition) % len(ways)]
            began = clock()
            bound = WAYS[name](problem)
            found[f"{name}.seconds"][place] = clock() - began
            found[f"{name}.bound"][place] = bound
    return found


@dataclass(frozen=True, eq=False)
class TimingStudy(StudyResult):
    """The result of a study of times.

    Attributes
    ----------
    settings : tuple of TimingSetting
    centre : (int, int, int)
        Rows, configurations and folds of the setting around which one is varied.
    repetitions : int
    columns : tuple of mapping
        One a setting: ``"bbc.seconds"``, ``"bbc.bound"`` and so on, arrays of shape (repetitions,).
    entropy : int
    """

    settings: tuple[TimingSetting, ...]
    centre: tuple[int, int, int]
    repetitions: int
    columns: tuple[Columns, ...]
    entropy: int
    name: ClassVar[str] = "timing"
    page_function: ClassVar[str] = "timing.page:timing_page"

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        n_bootstraps: int = 200,
        centre: tuple[int, int, int] = CENTRE,
        entropy: int = 0,
    ) -> TimingStudy:
        """A study from its ``to_frame(each=True)``.

        Raises
        ------
        InputError
            When columns are missing, or settings differ in how often or in which ways they were timed.
        """
        check_columns(frame, (*VARIED, "way", *WHAT), "a timing study")
        ways = tuple(str(name) for name in dict.fromkeys(frame["way"]))
        settings, columns = [], []
        for size, part in frame.groupby(["rows", "configurations", "folds"], sort=False, observed=True):
            n, c, k = (int(number) for number in size)
            settings.append(TimingSetting(n, c, k, n_bootstraps, ways))
            each = {name: part[part["way"] == name] for name in ways}
            columns.append(
                {f"{name}.{what}": each[name][what].to_numpy(np.float64) for name in ways for what in WHAT}
            )
        lengths = {len(values) for found in columns for values in found.values()}
        if len(lengths) != 1:
            raise InputError(f"every setting must be timed equally often in each way, got {sorted(lengths)} times.")
        return cls(tuple(settings), centre, lengths.pop(), tuple(columns), entropy)

    def parameters(self) -> dict[str, Any]:
        return {
            "repetitions": self.repetitions,
            "n_bootstraps": self.settings[0].n_bootstraps,
            "ways": list(self.settings[0].ways),
            "centre": dict(zip(VARIED, self.centre, strict=True)),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row a setting and way: the median of the seconds, both quartiles, the count of operations by the
        article's formula, and the mean lower bound."""
        found = []
        for place, (setting, columns) in enumerate(zip(self.settings, self.columns, strict=True)):
            for name in setting.ways:
                low, median, high = self.quartiles(place, name)
                found.append(
                    {
                        **_size(setting),
                        "way": name,
                        "seconds": median,
                        "lower_quartile": low,
                        "upper_quartile": high,
                        "operations": operations_of(name).count(setting),
                        "bound": float(columns[f"{name}.bound"].mean()),
                        "repetitions": self.repetitions,
                    }
                )
        return found

    def repetition_types(self, frame: Any) -> dict[str, str]:
        whole, numbers = dict.fromkeys((*VARIED, "repetition"), "int32"), dict.fromkeys(WHAT, "float32")
        return {**whole, **numbers, "way": "category"}

    def repetition_rows(self) -> Iterator[dict[str, Any]]:
        return long_rows(map(_size, self.settings), self.columns, "way", self.settings[0].ways, WHAT)

    def varied(self, what: str) -> list[int]:
        """Which of the settings vary rows, configurations or folds alone, in order of size."""
        others = [name for name in VARIED if name != what]
        base = dict(zip(VARIED, self.centre, strict=True))
        places = [
            n
            for n, setting in enumerate(self.settings)
            if all(getattr(setting, name) == base[name] for name in others)
        ]
        return sorted(places, key=lambda n: int(getattr(self.settings[n], what)))

    def sizes(self, what: str) -> list[int]:
        """Rows, configurations or folds of the settings that vary them alone, in order."""
        return [int(getattr(self.settings[place], what)) for place in self.varied(what)]

    def median(self, place: int, way: str) -> float:
        """Seconds, of a setting."""
        return float(np.median(self.columns[place][f"{way}.seconds"]))

    def quartiles(self, place: int, way: str) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile of the seconds of a setting."""
        low, median, high = np.quantile(self.columns[place][f"{way}.seconds"], (0.25, 0.5, 0.75))
        return float(low), float(median), float(high)

    @property
    def worst_error(self) -> float:
        """The greatest standard error of a median by the median, as if times were normal around it."""
        quartiles = [self.quartiles(place, way) for place, one in enumerate(self.settings) for way in one.ways]
        return max(1.2533 * (high - low) / 1.349 / self.repetitions**0.5 / mid for low, mid, high in quartiles)


def _size(setting: TimingSetting) -> dict[str, int]:
    return {"rows": setting.rows, "configurations": setting.configurations, "folds": setting.folds}


@study(TimingStudy)
def timing(
    rows: Any = ROWS,
    configurations: Any = CONFIGURATIONS,
    folds: Any = FOLDS,
    *,
    centre: Sequence[int] = CENTRE,
    repetitions: int = 100,
    n_bootstraps: int = 200,
    ways: Sequence[str] = tuple(WAYS),
    folder: str | os.PathLike[str] | None = None,
    told: BatchCallback | None = None,
    clock: Clock = time.process_time,
    random_state: RandomState = None,
) -> StudyJob[TimingSetting, TimingStudy]:
    """How long BBC and BBC-F take, where the number of rows, of configurations or of folds is varied.

    Times are taken in this process and one after another; they are the machine's, and differ from run to run. The
    problems are the same for the same seed, and so are the lower bounds.

    Parameters
    ----------
    rows, configurations, folds : int or sequence of int
        Each is varied with the other two as in ``centre``; what the article's published times have by default.
    centre : (rows, configurations, folds), default=(500, 5, 3)
    repetitions : int, default=100
        TimingProblems of each setting, all timed once.
    n_bootstraps : int, default=200
        What the published times have.
    ways : sequence of {"bbc", "bbc_f", "plain_bbc", "plain_bbc_f"}
        The methods of this library, and both again as the article writes them down, a bootstrap after another.
    folder : path, optional
        Where finished batches are kept, with the times that they took.
    told : callable, optional
        ``told(batches done, batches, seconds)`` after every batch.
    clock : callable
        Gives seconds from any origin; by default of processor time, which one thread on an idle machine spends as
        fast as the wall's, and which the work of others lengthens less.
    random_state : int, RandomState or Generator, optional

    Returns
    -------
    TimingStudy
        ``.to_frame()``: a row a setting and way, with the median ``seconds``.

    Raises
    ------
    InputError
        When a number is out of range, or a way is unknown.

    References
    ----------
    Paraschakis, Castellani, Borboudakis and Tsamardinos (2024), section 5 and figure 3.

    Examples
    --------
    >>> found = timing(rows=[50, 100], configurations=5, folds=3, centre=(50, 5, 3), repetitions=3, random_state=0)
    >>> [(row["rows"], row["way"]) for row in found.rows()][:4]
    [(50, 'bbc'), (50, 'bbc_f'), (50, 'plain_bbc'), (50, 'plain_bbc_f')]
    """
    around = _checked_centre(centre)
    sizes = (
        checked_sizes("rows", rows, 4),
        checked_sizes("configurations", configurations, 1),
        checked_sizes("folds", folds, 2),
    )
    (repetitions,) = checked_sizes("repetitions", repetitions, 1)
    (n_bootstraps,) = checked_sizes("n_bootstraps", n_bootstraps, 1)
    named = checked_names("ways", ways, WAYS)
    n, c, k = around
    triples = [
        *((size, c, k) for size in sizes[0]),
        *((n, size, k) for size in sizes[1]),
        *((n, c, size) for size in sizes[2]),
    ]
    crowded = next((size for size in triples if size[0] // 2 < size[2]), None)
    if crowded is not None:
        raise InputError(
            "every fold needs rows of both classes, so folds must be at most half of rows, got "
            f"`folds={crowded[2]!r}` and `rows={crowded[0]!r}`."
        )
    settings = tuple(TimingSetting(*size, n_bootstraps, named) for size in dict.fromkeys(triples))
    do = do_batch if clock is time.process_time else partial(do_batch, clock=clock)
    plan = StudyPlan("timing", settings, repetitions, entropy_of(random_state), do)
    return StudyJob(
        plan, lambda columns: TimingStudy(settings, around, repetitions, tuple(columns), plan.entropy), BATCH,
        n_jobs=1, folder=folder, told=told,
    )  # fmt: skip


def _checked_centre(centre: Any) -> tuple[int, int, int]:
    if not isinstance(centre, list | tuple) or len(centre) != len(VARIED):
        raise InputError(
            f"centre must be three numbers: rows, configurations and folds, got {centre!r}.", argument="centre"
        )
    n, c, k = (
        checked_sizes(f"the {name} of centre", value, least)[0]
        for name, value, least in zip(VARIED, centre, (4, 1, 2), strict=True)
    )
    return n, c, k
