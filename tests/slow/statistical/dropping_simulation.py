"""Races among configurations whose truth is known: whom rules drop, what that costs, and what it saves.

A configuration with true accuracy P gets row i right where z_ij < Φ⁻¹(P); z_ij is normal, with correlation ρ
between configurations, as rows that are hard for one model are hard for others. 500 rows are met in ten folds of
50, and the best by the accuracy on all rows wins. A rule is asked after every fold but the last.

As a script it prints the tables of papers/pages/dropping.md:

    python tests/slow/statistical/dropping_simulation.py [races [races of the variants]]
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from heldout.data.checks import call_text
from heldout.dropping import Aggressive, Bootstrap, DropRule, Forgiving, HoeffdingRace, Paired, Wilcoxon

sys.path.insert(0, str(Path(__file__).parents[2] / "dropping"))
from standings import standing_of

ROWS, FOLDS = 500, 10
RULES: tuple[DropRule, ...] = (Bootstrap(), HoeffdingRace(), Paired(), Wilcoxon(), Forgiving(), Aggressive())
VARIANTS: tuple[DropRule, ...] = (
    Bootstrap(against="best_of_each", threshold=0.999, n_bootstraps=5000),
    Bootstrap(against="double"),
    Paired(pairs="all"),
    Paired(pairs="all", looks="power_analysis"),
)
"""What the rules can be asked for besides their defaults."""


@dataclass(frozen=True)
class Setting:
    """Where the true accuracies of C configurations come from: Be(a, b), or all are .75 but the first."""

    name: str
    beta: tuple[float, float] | None = None
    configurations: int = 100
    correlation: float = 0.0
    first: float = 0.75

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """True accuracies (C,), and which rows (N, C) are right."""
        truth = np.full(self.configurations, 0.75)
        truth[0] = self.first
        if self.beta is not None:
            truth = rng.beta(*self.beta, self.configurations)
        shared, own = rng.normal(size=(ROWS, 1)), rng.normal(size=(ROWS, self.configurations))
        z = np.sqrt(self.correlation) * shared + np.sqrt(1 - self.correlation) * own
        return truth, z < norm.ppf(truth)


SETTINGS = (
    Setting("easy", (9, 6)),
    Setting("hard", (54, 6)),
    Setting("hard, correlated", (54, 6), correlation=0.7),
    Setting("one ahead", first=0.8),
    Setting("all alike"),
    Setting("two alike", configurations=2),
)


class Raced(NamedTuple):
    """What came of one race."""

    best_dropped: bool
    saved: float
    lost: float


def race(rule: DropRule, truth: np.ndarray, right: np.ndarray) -> Raced:
    """Whether the truly best left, the share of fits saved, and the true accuracy that dropping cost."""
    y = np.resize([0, 1], ROWS)
    labels = np.where(right, y[:, None], 1 - y[:, None])
    folds, size = np.repeat(np.arange(FOLDS), ROWS // FOLDS), ROWS // FOLDS
    n_started = len(truth)
    alive, fits = np.arange(n_started), 0
    notes = np.empty((0, n_started))
    for k in range(1, FOLDS + 1):
        fits += len(alive)
        rows = slice(0, k * size)
        if k == FOLDS or k * size < rule.min_predictions or len(alive) == 1:
            continue
        standing = standing_of(
            y[rows], labels[rows][:, alive], folds=folds[rows], seed=k, n_started=n_started, n_folds=FOLDS
        )
        verdict = rule.judge(replace(standing, noted=notes[:, alive]))
        if verdict.noted is not None:
            notes = np.vstack([notes, np.full(n_started, np.nan)])
            notes[-1, alive] = verdict.noted
        alive = alive[verdict.keep]
    total = right.sum(axis=0)
    winner = alive[total[alive].argmax()]
    lost = truth[total.argmax()] - truth[winner]
    return Raced(truth.argmax() not in alive, 1 - fits / (n_started * FOLDS), float(lost))


def races(rule: DropRule, setting: Setting, n: int) -> list[Raced]:
    """``n`` races, the same for every rule."""
    return [race(rule, *setting.draw(np.random.default_rng([17, seed]))) for seed in range(n)]


def table(n: int, rules: Sequence[DropRule] = RULES) -> list[str]:
    """The lines of a Markdown table."""
    lines = ["| setting | rule | the best dropped | fits saved | accuracy lost |", "|---|---|---|---|---|"]
    for setting in SETTINGS:
        for rule in rules:
            found = np.array(races(rule, setting, n))
            dropped, saved, lost = np.round(found.mean(axis=0), 4) + 0.0  # no negative zero
            lines.append(f"| {setting.name} | `{call_text(rule)}` | {dropped:.1%} | {saved:.0%} | {lost:.4f} |")
    return lines


if __name__ == "__main__":
    counts = [int(text) for text in sys.argv[1:]] or [200, 60]
    for count, rules in zip(counts, (RULES, VARIANTS), strict=False):
        if count:
            print("\n".join(table(count, rules)), "\n")
