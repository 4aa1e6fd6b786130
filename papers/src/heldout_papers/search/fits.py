"""All configurations fitted on parts of a few rows: what they share is fitted once, as in a search."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.configurations import Configurations
from heldout.errors import NoExit
from heldout.execution.fit import Work, final_model
from heldout.execution.responses import coded_responses
from heldout.execution.split_fits import SplitFits
from heldout.folds.splits import Split
from heldout.metrics.base import Response

Floats = NDArray[np.float64]
SCORE = "score"
"""What ``make_scoring`` calls a single scorer."""


@dataclass(frozen=True, eq=False)
class SplitScores:
    """The scores of all configurations on one split."""

    scores: Floats  # (n_test, C[, n_classes]): what the metric reads of the test rows; NaN where it failed
    # (C,): of each fit, with the steps that others fitted for it; a part of those of a fit that serves several
    seconds: Floats


@dataclass(frozen=True, eq=False)
class RowFits:
    """C configurations, and the rows that they are fitted on."""

    work: Work

    @property
    def configurations(self) -> Configurations:
        return self.work.configurations

    @cached_property
    def shared(self) -> Work:
        """The same with what the configurations share."""
        return replace(self.work, sharing=self.work.shared("exact"))

    @property
    def outputs(self) -> tuple[int, ...]:
        """The shape of what the metric reads of one row: of several classes a probability or a score of each."""
        truth, metric = self.work.task.truth, self.work.scoring.metrics[SCORE]
        assert metric is not None, "the study opens its scorer"
        reads_each = metric.responses[0] in (Response.PROBABILITIES, Response.DECISION)
        return (truth.n_classes,) if reads_each and truth.n_classes > 2 else ()

    def scores_on(self, split: Split, *seed_place: int | str) -> SplitScores:
        """Fit every configuration on the training rows, and have it score the test rows.

        ``seed_place``: where the seeds come from; the place of the split by default.
        """
        every = tuple(range(len(self.configurations)))
        fits = SplitFits(self.shared, split, every, seed_place=seed_place, is_scored=False)
        scores = np.full((len(split.test), len(every), *self.outputs), np.nan)
        seconds = np.zeros(len(every))
        with _no_news():
            for result in (result for unit in fits.units for result in fits.results(unit)):
                number = result.key.configuration
                saved = (saving.seconds or 0.0 for saving in result.shared.values())
                seconds[number] = result.fit_seconds + sum(saved)
                for found in result.predictions.values():
                    scores[:, number] = found
        return SplitScores(scores, seconds)

    def refitted_scores(self, number: int, X: Any) -> Floats | None:
        """What one configuration, fitted on all rows, scores other rows with; None where it failed."""
        try:
            with _no_news(), NoExit():
                model = final_model(self.work, self.configurations[number])
                (found,) = coded_responses(self.work.task.truth, self.work.scoring, model, X).values()
        except Exception:
            return None
        return found


@contextmanager
def _no_news() -> Iterator[None]:
    """Without warnings: of a hundred thousand fits on a few rows some will not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
