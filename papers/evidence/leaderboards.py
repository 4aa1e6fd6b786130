"""Write leaderboards.csv: what the score of the best of many systems is worth, on simulated leaderboards.

``python papers/evidence/leaderboards.py`` draws items of different difficulty and systems of families that fail on
the same items. Of the system with the best mean score, it compares the true mean score on all possible items with
three answers, each from the same scores: ``ho.estimate``, the interval that evalstats documents, and the mean with
1.96 standard errors. A cell that is in the file is not computed again.

evalstats is not installed here: what its guide (statsforevals.com) names as the default for the score of one system
is written down below. Of right and wrong answers this is Wilson's interval; of graded scores a smooth bootstrap
(normal noise of Scott's bandwidth) below 200 items and an ordinary one from there on; of several runs a nested
bootstrap of items and runs with that noise. The value is the mean score.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

import heldout as ho

FILE = Path(__file__).with_name("leaderboards.csv")
REPETITIONS, RESAMPLES = 1000, 1000
SIZES = ((50, 40), (50, 2), (50, 10), (50, 200), (150, 40), (20, 40), (500, 40), (500, 200), (2000, 40), (20, 2))
"""Items and systems."""
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)


@dataclass(frozen=True)
class World:
    """Where items and systems come from; all spreads are of log-odds."""

    mean: float
    systems: float  # the spread of the systems' abilities
    items: float  # of the difficulty of items
    families: float  # of what a family of systems finds hard
    own: float  # of what one system finds hard
    family_size: int
    grades: int = 1  # a score is one of 0, 1/grades, ..., 1
    runs: int = 1

    def leaderboard(self, rng: np.random.Generator, n_items: int, n_systems: int) -> tuple[Any, NDArray[Any]]:
        """Scores (items, systems, runs), and the true mean score of each system."""
        ability = self.mean + self.systems * rng.standard_normal(n_systems)
        family = np.arange(n_systems) // self.family_size
        hard = self.families * rng.standard_normal((n_items, family[-1] + 1))[:, family]
        odds = ability + self.items * rng.standard_normal((n_items, 1)) + hard
        share = expit(odds + self.own * rng.standard_normal((n_items, n_systems)))[:, :, None]
        share = np.repeat(share, self.runs, axis=2)
        if self.grades > 1:
            share = rng.beta(4 * share + 1e-9, 4 * (1 - share) + 1e-9)
        spread = np.sqrt(self.items**2 + self.families**2 + self.own**2)
        truth = expit(ability[:, None] + spread * NODES) @ WEIGHTS / WEIGHTS.sum()
        return rng.binomial(self.grades, share) / self.grades, truth


WORLDS = {
    "prompts": World(0.6, 0.1, 2.0, 0.0, 0.7, family_size=1000),
    "models": World(0.3, 0.5, 1.5, 1.0, 0.5, family_size=5),
    "ceiling": World(4.0, 0.5, 1.5, 1.0, 0.5, family_size=5),
    "graded": World(0.3, 0.3, 1.5, 0.7, 0.5, family_size=5, grades=10),
    "runs": World(0.3, 0.3, 1.5, 0.7, 0.5, family_size=5, runs=3),
}


def evalstats(world: World, scores: NDArray[Any], rng: np.random.Generator) -> tuple[float, float, float]:
    """Value, low and high of one system's scores (items, runs), as its guide says."""
    n, runs = scores.shape
    mean = float(scores.mean())
    if world.grades == runs == 1:
        z = 1.959964
        centre, reach = mean + z * z / (2 * n), z * np.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
        return mean, (centre - reach) / (1 + z * z / n), (centre + reach) / (1 + z * z / n)
    drawn = rng.integers(n, size=(RESAMPLES, n))
    if runs == 1:
        of_items = scores[drawn, 0]
    else:
        of_items = scores[drawn[..., None], rng.integers(runs, size=(RESAMPLES, n, runs))].mean(axis=2)
    means = of_items.mean(axis=1)
    if n < 200 or runs > 1:  # the mean of n independent draws of the kernel's noise is one draw of it over √n
        bandwidth = scores.mean(axis=1).std(ddof=1) * n**-0.2
        means = means + bandwidth / np.sqrt(n) * rng.standard_normal(RESAMPLES)
    low, high = np.quantile(means, [0.025, 0.975])
    return mean, float(low), float(high)


def plain(scores: NDArray[Any]) -> tuple[float, float, float]:
    """Value, low and high: the mean of the items with 1.96 standard errors."""
    of_items = scores.mean(axis=1)
    mean, reach = of_items.mean(), 1.96 * of_items.std(ddof=1) / np.sqrt(len(of_items))
    return float(mean), float(mean - reach), float(mean + reach)


def ours(scores: NDArray[Any], seed: int, **more: Any) -> tuple[int, tuple[float, float, float]]:
    """The best system, and value, low and high."""
    estimate = ho.estimate(scores, metric="mean_score", random_state=seed, n_jobs=1, **more)
    assert estimate.interval is not None
    return estimate.selected, (estimate.value, estimate.interval.low, estimate.interval.high)


def of_folds(scores: NDArray[Any], seed: int) -> tuple[float, float, float]:
    """What the first library that read such scores said: absolute errors to 1, as if by models of unknown folds."""
    truth = np.ones(len(scores))
    estimate = ho.estimate(truth, scores, metric="neg_mean_absolute_error", random_state=seed, n_jobs=1)
    assert estimate.interval is not None
    return 1 + estimate.value, 1 + estimate.interval.low, 1 + estimate.interval.high


def cell(name: str, n_items: int, n_systems: int, repetitions: int = REPETITIONS) -> list[dict[str, Any]]:
    """A line for each answer: bias, its standard error, coverage and mean width."""
    world, errors = WORLDS[name], dict[str, list[tuple[float, bool, float]]]()
    for seed in range(repetitions):
        rng = np.random.default_rng([seed, n_items, n_systems, [*WORLDS].index(name)])
        scores, truth = world.leaderboard(rng, n_items, n_systems)
        best, answer = ours(scores, seed)
        answers = {"heldout": answer, "evalstats": evalstats(world, scores[:, best], rng)}
        answers["plain"] = plain(scores[:, best])
        if (n_items, n_systems) == SIZES[0]:
            answers["heldout, folds unknown"] = of_folds(scores, seed)
        for by, (value, low, high) in answers.items():
            errors.setdefault(by, []).append((value - truth[best], low <= truth[best] <= high, high - low))
    lines = []
    for by, found in errors.items():
        bias, covered, width = np.array(found, dtype=float).T
        lines.append(
            {
                "world": name,
                "items": n_items,
                "systems": n_systems,
                "answer": by,
                "bias": round(bias.mean(), 5),
                "error_of_bias": round(bias.std(ddof=1) / np.sqrt(len(bias)), 5),
                "coverage": round(covered.mean(), 4),
                "width": round(width.mean(), 4),
                "leaderboards": len(bias),
            }
        )
    return lines


if __name__ == "__main__":
    done = pd.read_csv(FILE).to_dict("records") if FILE.exists() else []
    for n_items, n_systems in SIZES:
        for name in WORLDS:
            if not any(
                (line["world"], line["items"], line["systems"]) == (name, n_items, n_systems) for line in done
            ):
                done += cell(name, n_items, n_systems)
                pd.DataFrame(done).to_csv(FILE, index=False)
