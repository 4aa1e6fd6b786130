"""The line of each row, repeat and configuration of a long table in which rows were held out in any resamples.

Every key is in at most one line. A row that a configuration lacks in a resample in which it predicted others is
refused; a configuration that lacks whole resamples is left out, and flagged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.flags import Flag
from heldout.readers.columns import quoted
from heldout.readers.lines import LineKey
from heldout.readers.resamples import repeats_of_resamples


@dataclass(frozen=True, eq=False)
class LineGrid:
    """Where the cells of N rows, R repeats and C configurations are."""

    lines: NDArray[np.intp]
    """(N, R, C): -1 where a row was not held out in a repeat."""
    folds: NDArray[np.int32] | None
    """(N, R): numbered from 0 in each repeat, -1 where a row was not held out; None if unknown."""
    names: tuple[str, ...]
    """Of the configurations."""
    flags: Mapping[Flag, str] = field(default_factory=dict)

    @property
    def first(self) -> NDArray[np.intp]:
        """(N,): the first line of each row."""
        flat = self.lines.reshape(len(self.lines), -1)
        return np.asarray(flat[np.arange(len(flat)), (flat >= 0).argmax(axis=1)])

    def placed(self, values: NDArray[Any], absent: Any) -> NDArray[Any]:
        """Values of lines (n_lines, ...) as (N, C, R, ...)."""
        placed = values[self.lines]
        placed[self.lines < 0] = absent
        return np.ascontiguousarray(placed.swapaxes(1, 2))


def grid_of_lines(
    rows: LineKey, resamples: LineKey | None, configurations: LineKey, repeats: LineKey | None, columns: str
) -> LineGrid:
    """Place the lines by their keys.

    Without ``repeats`` these are found from which resamples overlap. ``columns`` says for sentences which columns
    the keys are from.
    """
    of_line = _repeat_of_line(rows, resamples, repeats)
    shape = (len(rows.labels), int(of_line.max()) + 1, len(configurations.labels))
    place = np.ravel_multi_index((rows.codes, of_line, configurations.codes), shape)
    order = np.argsort(place, kind="stable")
    again = np.flatnonzero(np.diff(place[order]) == 0)
    if again.size:
        keys = [key for key in (rows, repeats or resamples, configurations) if key is not None]
        _refuse_repeated(keys, int(order[again[0]]), int(order[again[0] + 1]), columns)
    lines = np.full(shape, -1, dtype=np.intp)
    lines.reshape(-1)[place] = np.arange(len(place))
    folds = None if resamples is None else _folds(rows, resamples, of_line, shape[:2])
    grid = LineGrid(lines, folds, tuple(map(str, configurations.labels)))
    return _of_complete_configurations(grid, rows, columns)


def _repeat_of_line(rows: LineKey, resamples: LineKey | None, repeats: LineKey | None) -> NDArray[np.intp]:
    if repeats is not None:
        return repeats.codes
    if resamples is None:
        return np.zeros(len(rows.codes), dtype=np.intp)
    return repeats_of_resamples(rows.codes, resamples.codes, len(rows.labels))[resamples.codes]


def _refuse_repeated(keys: Sequence[LineKey], one: int, two: int, columns: str) -> None:
    first, second = sorted((one + 1, two + 1))
    cell = " of ".join(key.text(key.codes[one]) for key in keys if len(key.labels) > 1)
    raise InputError(
        f"{cell or keys[0].text(0)} is in two lines, {first} and {second} ({columns}); name the column that "
        "distinguishes them with `configuration=` (export it if it is "
        "missing), or leave one of the lines out."
    )


def _folds(
    rows: LineKey, resamples: LineKey, of_line: NDArray[np.intp], shape: tuple[int, ...]
) -> NDArray[np.int32]:
    """The fold (N, R) of each row in each repeat; a row in several folds of a repeat is refused."""
    folds = np.full(shape, -1, dtype=np.int32)
    folds[rows.codes, of_line] = resamples.codes
    differs = folds[rows.codes, of_line] != resamples.codes
    if differs.any():
        line = int(differs.argmax())
        other = resamples.labels[int(folds[rows.codes[line], of_line[line]])]
        raise InputError(
            f"{rows.text(int(rows.codes[line]))} is in two folds of one repeat, "
            f"{resamples.labels[int(resamples.codes[line])]} and {other}; all configurations must be held out in "
            "the same folds."
        )
    numbered = np.full_like(folds, -1)
    for repeat, column in enumerate(folds.T):
        held = np.flatnonzero(column >= 0)
        numbered[held, repeat] = np.unique(column[held], return_inverse=True)[1]
    return numbered


def _of_complete_configurations(grid: LineGrid, rows: LineKey, columns: str) -> LineGrid:
    """The configurations that predicted every row that others predicted, with a flag on those that lack folds."""
    has: NDArray[np.bool_] = np.asarray(grid.lines >= 0)
    lacks = np.any(has, axis=2, keepdims=True) & ~has
    incomplete = np.flatnonzero(lacks.any(axis=(0, 1)))
    if not incomplete.size:
        return grid
    _refuse_partial_folds(grid, has, lacks, rows, columns)
    kept = np.flatnonzero(~lacks.any(axis=(0, 1)))
    if not kept.size:
        raise InputError(
            f"no configuration has predictions of all folds ({columns}); if one of these columns is no setting of "
            "the model, leave it out with `exclude=`."
        )
    which = quoted([grid.names[column] for column in incomplete], 3)
    flag = Flag.INCOMPLETE_CONFIGURATIONS
    sentence = flag.filled(lacking=len(incomplete), total=len(grid.names), which=which)
    return replace(
        grid,
        lines=grid.lines[:, :, kept],
        names=tuple(grid.names[column] for column in kept),
        flags={flag: sentence},
    )


def _refuse_partial_folds(
    grid: LineGrid, has: NDArray[np.bool_], lacks: NDArray[np.bool_], rows: LineKey, columns: str
) -> None:
    """Refuse a configuration that predicted only some rows of a fold."""
    shape = grid.lines.shape
    of_cell = np.zeros(shape[:2], dtype=np.intp) if grid.folds is None else grid.folds.astype(np.intp)
    of_cell = of_cell + np.arange(shape[1]) * (of_cell.max() + 1)
    for column in np.flatnonzero(lacks.any(axis=(0, 1))):
        partly = np.isin(of_cell, of_cell[has[:, :, column]]) & lacks[:, :, column]
        if partly.any():
            row = int(partly.any(axis=1).argmax())
            raise InputError(
                f"{rows.text(row)} of {grid.names[column]} is in no line, but others predicted it ({columns}); "
                "each configuration must have predicted the same rows: add its line with an empty prediction, or "
                "if one of these is no setting of the model, leave it out with `exclude=`."
            )
