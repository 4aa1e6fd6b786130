"""Any function of the scores as a selection rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import NoExit
from heldout.kernels.reference import Floats
from heldout.selection.base import NONE_CHOSEN, ScoreTable, SelectionFailedError, SelectionRule


@dataclass(frozen=True)
class CallableRule(SelectionRule):
    """Choose as a function of the scores does.

    Attributes
    ----------
    choose : callable
        From scores (B, C), greater = better, NaN for what is no candidate, to the index of the chosen
        configuration in each row, integers (B,). It is called with many rows at once.

    Examples
    --------
    >>> second_best = CallableRule(lambda scores: np.argsort(-scores, axis=1)[:, 1])
    >>> second_best(ScoreTable(np.array([[[0.5], [0.9], [0.7]]]), ["accuracy"])).tolist()
    [2]
    """

    choose: Callable[[Floats], Any]

    @property
    def name(self) -> str:
        return f"callable {getattr(self.choose, '__name__', type(self.choose).__name__)}"

    def __call__(self, table: ScoreTable) -> NDArray[np.intp]:
        scores = table.values[:, :, 0]
        try:
            with NoExit():
                chosen = np.asarray(self.choose(scores.copy()))
        except Exception as error:
            raise SelectionFailedError(f"{type(error).__name__}: {error}") from error
        if chosen.dtype.kind not in "iu" or chosen.shape != (len(scores),):
            raise SelectionFailedError(
                f"it must return an integer for each row of scores, shape ({len(scores)},), but returned "
                f"{chosen.dtype} of shape {chosen.shape}"
            )
        strangers = (chosen < 0) | (chosen >= table.n_configurations)
        if strangers.any():
            raise SelectionFailedError(
                f"it returned {chosen[strangers][0]} for {table.n_configurations} configurations"
            )
        unscored = np.isnan(scores[np.arange(len(chosen)), chosen])
        return np.where(unscored, NONE_CHOSEN, chosen).astype(np.intp)
