"""A study of dice, in a module that other processes can import."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heldout_papers.engine.batches import Batch, Columns


@dataclass(frozen=True)
class Dice:
    """A setting: how many dice, and where each batch leaves a mark that it was done."""

    dice: int
    marks: str


def throw(batch: Batch[Dice], entropy: int) -> Columns:
    """The sum of the dice of each repetition, from entropy, setting and repetition alone."""
    Path(batch.setting.marks, f"{batch.setting.dice}-{batch.first}-{batch.last}").touch()
    sums = [
        np.random.default_rng([entropy, batch.setting.dice, repetition]).integers(1, 7, batch.setting.dice).sum()
        for repetition in range(batch.first, batch.last)
    ]
    return {"sum": np.array(sums), "repetition": np.arange(batch.first, batch.last)}
