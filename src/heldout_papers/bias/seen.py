"""What claims read of a bias study: mean errors by beta, rows and configurations, with the chance in them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from heldout.kernels.reference import Floats
from heldout_papers.bias.moments import BiasMoments, Moments
from heldout_papers.bias.setting import CONFIGURATIONS, ROWS

FOLDS = 10
FIGURE = (9.0, 6.0)
"""The distribution of the article's figure 1 and of the numbers that it gives beside it."""
LEAST_REPETITIONS = 20
"""With fewer, standard errors are too uncertain themselves."""

Beta = tuple[float, float]
Place = tuple[Beta, int, int]


@dataclass(frozen=True, eq=False)
class Seen:
    """The part of a study that has as many folds as the article's.

    Attributes
    ----------
    of : dict of (beta, N, C) to Moments
    protocols : tuple of str
    repetitions : int
    metric : str
    """

    of: dict[Place, Moments]
    protocols: tuple[str, ...]
    repetitions: int
    metric: str

    @classmethod
    def of_study(cls, study: BiasMoments) -> Seen:
        """What of a study is the article's."""
        found = {
            (setting.beta, setting.rows, setting.configurations): moments
            for setting, moments in zip(study.settings, study.of, strict=True)
            if setting.folds == FOLDS
        }
        first = study.settings[0]
        return cls(found, first.protocols, study.repetitions, first.metric)

    def has(self, betas: tuple[Beta, ...], rows: tuple[int, ...], protocols: tuple[str, ...]) -> bool:
        """Whether a claim about these can be tested: with all C, and enough repetitions to know chance."""
        return (
            self.repetitions >= LEAST_REPETITIONS
            and set(protocols) <= set(self.protocols)
            and all(place in self.of for place in product(betas, rows, CONFIGURATIONS))
        )

    def means(
        self, name: str, rows: tuple[int, ...] = ROWS, less: str | None = None, betas: tuple[Beta, ...] = (FIGURE,)
    ) -> Means:
        """The biases of a protocol, or how much more they are than those of another on the same matrices."""
        weights = {name: 1.0} if less is None else {name: 1.0, less: -1.0}
        combined = [
            [self.combined(self.of[beta, n, c], weights) for c in CONFIGURATIONS]
            for beta, n in product(betas, rows)
        ]
        values = np.array(combined)
        return Means(values[..., 0], values[..., 1], self.repetitions, tuple(product(betas, rows)))

    def combined(self, moments: Moments, weights: dict[str, float]) -> tuple[float, float]:
        """The mean and the standard deviation on one matrix of a weighted sum of protocols' errors."""
        w = np.array([weights.get(name, 0.0) for name in self.protocols])
        return float(w @ moments.bias), float(np.sqrt(max(0.0, w @ moments.covariance @ w)))


@dataclass(frozen=True, eq=False)
class Means:
    """Mean errors, with a line for each beta and number of rows and a column for each C.

    Attributes
    ----------
    values : ndarray of shape (lines, columns)
    spreads : ndarray of shape (lines, columns)
        Standard deviations of one repetition (or of one for each of the C, where the values are means over them).
    repetitions : int
    lines : tuple of (beta, N)
    """

    values: Floats
    spreads: Floats
    repetitions: int
    lines: tuple[tuple[Beta, int], ...]

    def by_rows(self) -> Means:
        """Means over C."""
        variance = (self.spreads**2).mean(axis=1, keepdims=True) / self.values.shape[1]
        return Means(self.values.mean(axis=1, keepdims=True), np.sqrt(variance), self.repetitions, self.lines)

    def whole(self) -> Means:
        """The mean over all."""
        variance = float((self.spreads**2).mean()) / self.values.size
        return Means(
            np.array([[self.values.mean()]]), np.array([[np.sqrt(variance)]]), self.repetitions, self.lines[:1]
        )

    @property
    def standard_errors(self) -> Floats:
        errors: Floats = self.spreads / np.sqrt(self.repetitions)
        return errors

    def where(self, line: int, column: int | None = None) -> str:
        """A place in words; the distribution is said where it is not the figure's."""
        beta, n = self.lines[line]
        said = [] if beta == FIGURE else [f"Be({beta[0]:g}, {beta[1]:g})"]
        said.append(f"N = {n}")
        if column is not None:
            said.append(f"C = {CONFIGURATIONS[column]}")
        return f"({', '.join(said)})"
