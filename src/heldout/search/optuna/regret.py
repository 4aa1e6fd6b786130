"""When further search is useless: the estimated regret is below the standard error of the winner's score.

A Gaussian process of the scores so far bounds how much better any configuration of the space may be than the best
so far. Where that bound is below the error with which the folds measure the best one, the scores cannot show a
further gain (Makarova et al. 2022).
"""

import math
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from heldout._streams import numpy_seed
from heldout._text import counted
from heldout._types import Floats
from heldout.estimates.methods.corrected_t import nadeau_bengio
from heldout.search.optuna.sampler import optuna_package

SOURCES = ("makarova2022", "nadeau2003")
FEWEST_TRIALS = 20
"""With a score, before the first check."""
EVERY = 5
"""Trials between two checks."""
MOST_TRIALS = 200
"""Of the best, on which the process is fitted."""
BEST_SHARE = 0.5
"""Of the trials: the process describes the region of the best, not that of the worst (their section 4)."""
N_CANDIDATES = 2000
"""Random configurations among which the bound is sought, beside the trials."""
DELTA = 0.1
"""The bound holds with probability 1 - δ."""


@dataclass(frozen=True)
class Regret:
    """An estimate of what further search may gain, beside what the folds can show.

    Attributes
    ----------
    bound : float
        Of the regret: the greatest upper bound of any configuration less the greatest lower bound of a trial.
    standard_error : float
        Of the score of the best trial; NaN where its folds show none.
    """

    bound: float
    standard_error: float

    @property
    def is_useless(self) -> bool:
        """Whether further search cannot show a gain."""
        return self.bound < self.standard_error


class UselessSearch:
    """Decides after trials whether further ones are useless.

    Parameters
    ----------
    test_to_training : float
        Rows of a fold's test part over those of its training part.
    entropy : int
        Seeds the random configurations.
    """

    def __init__(self, test_to_training: float, entropy: int) -> None:
        self._test_to_training, self._entropy = test_to_training, entropy
        self._next = FEWEST_TRIALS
        self.found: Regret | None = None
        """The last estimate."""

    def is_reached(self, study: Any, numbers: Collection[int]) -> bool:
        """Whether further trials are useless; checked every few trials.

        ``numbers``: of the trials of this search, whose winner is to be found; a study may have others.
        """
        trials = [trial for trial in scored_trials(study) if trial.number in numbers]
        if len(trials) < self._next:
            return False
        self._next = len(trials) + EVERY
        self.found = regret_of(trials, self._test_to_training, numpy_seed(self._entropy, "regret", len(trials)))
        return self.found.is_useless

    def sentence(self, n_asked: int, n_planned: int | None) -> str:
        """Why the search stopped."""
        assert self.found is not None, "the search stopped because of it"
        return (
            f"The search stopped after {n_asked if n_planned else ''}{' of ' if n_planned else ''}"
            f"{counted(n_planned or n_asked, 'trial')}: the estimated regret, "
            f"{self.found.bound:.2g}, is below the standard error of the winner's score, "
            f"{self.found.standard_error:.2g}."
        )


def scored_trials(study: Any) -> list[Any]:
    """The trials with a score, in their order; those without parameters tell nothing."""
    complete = optuna_package().trial.TrialState.COMPLETE
    trials = study.get_trials(deepcopy=False, states=(complete,))
    return [trial for trial in trials if trial.params and math.isfinite(trial.value)]


def regret_of(trials: Sequence[Any], test_to_training: float, seed: int) -> Regret:
    """The estimate from trials with a score, greater is better.

    The bound is that of Makarova et al. (2022, equation 3) with β = 2 log(d t² π²/(6δ))/5 for t trials and d
    parameters, on the better half of the trials.
    """
    values = np.array([trial.value for trial in trials])
    best = trials[int(values.argmax())]
    folds = np.array([best.intermediate_values[step] for step in sorted(best.intermediate_values)])
    error = nadeau_bengio(folds, test_to_training).standard_error
    n_kept = min(max(int(np.ceil(BEST_SHARE * len(trials))), FEWEST_TRIALS), MOST_TRIALS)
    kept = [trials[place] for place in np.sort(np.argsort(-values, kind="stable")[:n_kept])]
    axes = axes_of(kept)
    there = np.array([unit_point(trial, axes) for trial in kept])
    scores = np.array([trial.value for trial in kept])
    if np.ptp(scores) == 0:
        return Regret(0.0, error)
    process = fitted_process(there, scores)
    rng = np.random.default_rng(seed)
    anywhere = np.vstack([there, random_points(rng, axes)])
    mean, sd = process.predict(anywhere, return_std=True)
    d = len({axis.name for axis in axes})
    reach = math.sqrt(2 * math.log(d * len(kept) ** 2 * math.pi**2 / (6 * DELTA)) / 5)
    upper, lower = mean + reach * sd, (mean - reach * sd)[: len(kept)]
    return Regret(float(upper.max() - lower.max()), error)


def fitted_process(points: Floats, scores: Floats) -> Any:
    """A Gaussian process with a length for each coordinate, from points (n, D) in the unit cube and scores (n,)."""
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * Matern(
        np.full(points.shape[1], 0.5), (0.05, 20.0), nu=2.5
    ) + WhiteKernel(0.1, (1e-6, 2.0))
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a length at its bound: the coordinate does not matter
        process.fit(points, scores)
    # What is bounded is the true score, without the noise of a single one.
    quiet = process.kernel_.k1
    noise = process.kernel_.k2.noise_level
    clean = GaussianProcessRegressor(quiet, alpha=noise, normalize_y=True, optimizer=None)
    return clean.fit(points, scores)


@dataclass(frozen=True)
class Axis:
    """A coordinate of the unit cube: of a number, of one value of a category, or whether a parameter is there.

    ``choice``: the place of the value in a category; None for a number. ``is_presence``: of a parameter that some
    trials lack, 1 where it is there.
    """

    name: str
    distribution: Any
    choice: int | None = None
    is_presence: bool = False


def axes_of(trials: Sequence[Any]) -> list[Axis]:
    """The coordinates of the trials' parameters."""
    axes = []
    distributions = {name: each for trial in trials for name, each in trial.distributions.items()}
    for name, distribution in distributions.items():
        if any(name not in trial.params for trial in trials):
            axes.append(Axis(name, distribution, is_presence=True))
        choices = getattr(distribution, "choices", None)
        if choices is None:
            axes.append(Axis(name, distribution))
        else:
            axes += [Axis(name, distribution, place) for place in range(len(choices))]
    return axes


def unit_point(trial: Any, axes: Sequence[Axis]) -> list[float]:
    """The trial's parameters in the unit cube; a number that is not there is in the middle."""
    found = []
    for axis in axes:
        is_there = axis.name in trial.params
        if axis.is_presence:
            found.append(float(is_there))
        elif axis.choice is not None:
            found.append(float(is_there and _place(axis.distribution, trial.params[axis.name]) == axis.choice))
        else:
            found.append(_share(axis.distribution, trial.params[axis.name]) if is_there else 0.5)
    return found


def _place(distribution: Any, value: Any) -> int:
    return int(distribution.to_internal_repr(value))


def _share(distribution: Any, value: float) -> float:
    low, high = float(distribution.low), float(distribution.high)
    if high <= low:
        return 0.5
    if distribution.log:
        low, high, value = math.log(low), math.log(high), math.log(value)
    return (float(value) - low) / (high - low)


def random_points(rng: np.random.Generator, axes: Sequence[Axis]) -> Floats:
    """Random configurations in the unit cube: one value of each category."""
    points = rng.uniform(size=(N_CANDIDATES, len(axes)))
    for name in {axis.name for axis in axes if axis.choice is not None}:
        columns = [place for place, axis in enumerate(axes) if axis.name == name and axis.choice is not None]
        points[:, columns] = np.eye(len(columns))[rng.integers(len(columns), size=N_CANDIDATES)]
    for place, axis in enumerate(axes):
        if axis.is_presence:
            points[:, place] = points[:, place] < 0.5
            own = [other for other, each in enumerate(axes) if each.name == axis.name and other != place]
            absent = points[:, place] == 0
            for column in own:
                points[absent, column] = 0.5 if axes[column].choice is None else 0.0
    return points
