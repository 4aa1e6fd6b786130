"""What every interval covers, and how wide it is, where the truth is known.

``interval_tables.py`` prints the tables of papers/pages/interval_tables.md from it.

C configurations have true performances drawn once a repetition; their held-out predictions of N rows have exactly
these performances. Each method is asked for its interval, and the truth that it should cover is that of the
configuration *it* selected. With ``correlation`` 0 configurations err independently of each other, as in the
simulations of Tsamardinos et al. (2018, section 6.1) and Paraschakis et al. (2024, section 4): the worst case for a
search. Configurations of real searches err on the same rows, for which a common part of the noise stands.

Metrics, with P_j from a beta distribution:

- AUC: binormal scores, N(0, 1) for negatives and N(√2 Φ⁻¹(P_j), 1) for positives (half of the rows, or a tenth);
- accuracy: a prediction is right with probability P_j;
- squared error: y ~ N(0, 1) and ŷ_j = y + N(0, 1 - P_j), so that the expected loss is 1 - P_j.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

import heldout as ho
from heldout.estimates import METHODS, Method

Floats = NDArray[np.float64]
LEVEL = 0.95
FOLDS = 10
ALTERNATIVES = ("two-sided", "greater")


@dataclass(frozen=True)
class Setting:
    """One law of held-out predictions.

    Attributes
    ----------
    kind : "auc", "accuracy" or "squared error"
    beta : tuple of float
        Of the true performances.
    correlation : float
        Between the errors of two configurations on one row (of the normal noise behind them).
    prevalence : float
        The share of positives.
    """

    kind: str
    rows: int
    configurations: int
    correlation: float = 0.0
    beta: tuple[float, float] = (9, 6)
    prevalence: float = 0.5

    @property
    def title(self) -> str:
        """What is measured, and how the performances are distributed."""
        of = {"squared error": "1 - "}.get(self.kind, "")
        rare = "" if self.prevalence == 0.5 else f", {self.prevalence:.0%} positive"
        return f"{self.kind}, {of}P ~ Be({self.beta[0]:g}, {self.beta[1]:g}){rare}"


@dataclass(frozen=True, eq=False)
class Sample:
    """A matrix of held-out predictions, and what each configuration is really worth."""

    y: NDArray[Any]
    predictions: NDArray[Any]
    truth: Floats
    asked: dict[str, Any]


def draw(setting: Setting, rng: np.random.Generator) -> Sample:
    """One repetition's matrix. Rows are sorted by class and dealt to the folds in turn, so that folds are alike."""
    n, c = setting.rows, setting.configurations
    p = rng.beta(*setting.beta, c)
    common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, c))
    noise = np.sqrt(setting.correlation) * common + np.sqrt(1 - setting.correlation) * own
    y = (np.arange(n) < round(setting.prevalence * n)).astype(int)
    if setting.kind == "auc":
        return Sample(
            y, noise + np.sqrt(2) * ndtri(p) * y[:, None], p, {"metric": "roc_auc", "response": "decision"}
        )
    if setting.kind == "accuracy":
        labels = np.where(noise < ndtri(p), y[:, None], 1 - y[:, None])
        return Sample(y, labels, p, {"metric": "accuracy", "response": "labels"})
    values = rng.normal(size=n)
    return Sample(values, values[:, None] + np.sqrt(1 - p) * noise, 1 - p, {"metric": "mean_squared_error"})


def methods() -> dict[str, Method]:
    """Every method as it is by default, and in the variants that change its interval."""
    found: dict[str, Method] = {}
    for name, make in METHODS.items():
        method: Any = make()
        found[name] = method
        parameters = {each.name for each in fields(method)}
        if "interval" in parameters:
            found[f"{name} calibrated"] = replace(method, interval="calibrated")
        if "unit" in parameters:
            found[f"{name} of folds"] = replace(method, unit="folds")
        if "candidates" in parameters:
            other = "best" if method.candidates != "best" else 0.1
            found[f"{name} {'best' if other == 'best' else '10p'}"] = replace(method, candidates=other)
    return found


@dataclass
class Tally:
    """What one method said in the repetitions of one setting, for one alternative."""

    truth: list[float] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    greater_is_better: bool = True

    def summary(self) -> Summary | None:
        """None where there was never an interval."""
        truth, value, low, high = (np.array(column) for column in (self.truth, self.value, self.low, self.high))
        bounded = ~(np.isnan(low) | np.isnan(high))
        if not bounded.any():
            return None
        too_low, too_high = (high < truth)[bounded], (low > truth)[bounded]
        worse_end, sign = (low, 1) if self.greater_is_better else (high, -1)
        return Summary(
            repetitions=int(bounded.sum()),
            without=len(truth) - int(bounded.sum()) + self.refusals.total(),
            coverage=1 - float((too_low | too_high).mean()),
            truth_is_worse=float((too_high if self.greater_is_better else too_low).mean()),
            truth_is_better=float((too_low if self.greater_is_better else too_high).mean()),
            width=float((high - low)[bounded].mean()),
            tightness=float((sign * (truth - worse_end))[bounded].mean()),
            bias=float(np.nanmean(sign * (value - truth))),
        )


@dataclass(frozen=True)
class Summary:
    """How an interval did.

    Attributes
    ----------
    repetitions : int
        With an interval; ``without`` have none.
    truth_is_worse, truth_is_better : float
        Shares of the intervals that lie wholly on the better side of the truth (flattering), and on the worse.
    tightness : float
        Mean distance from the worse end to the truth.
    bias : float
        Mean of value - truth, positive when flattering.
    """

    repetitions: int
    without: int
    coverage: float
    truth_is_worse: float
    truth_is_better: float
    width: float
    tightness: float
    bias: float

    @property
    def standard_error(self) -> float:
        """Binomial, of the coverage."""
        return float(np.sqrt(self.coverage * (1 - self.coverage) / self.repetitions))


def simulate(
    setting: Setting,
    repetitions: int,
    *,
    asked: dict[str, Method] | None = None,
    alternatives: Iterable[str] = ALTERNATIVES,
    n_bootstraps: int = 1000,
) -> dict[tuple[str, str], Tally]:
    """Tallies by (method, alternative). A method that wants one development set is asked without folds."""
    asked = methods() if asked is None else asked
    seed = [setting.rows, setting.configurations, round(100 * setting.correlation), len(setting.kind)]
    rng = np.random.default_rng([*seed, round(setting.beta[0]), round(100 * setting.prevalence)])
    folds = np.arange(setting.rows) % FOLDS
    tallies = {key: Tally() for key in product(asked, alternatives)}
    for repetition in range(repetitions):
        sample = draw(setting, rng)
        for alternative in alternatives:
            answers: dict[str, ho.Estimate] = {}
            reasons: dict[str, str] = {}
            for together, count in by_bootstraps(asked, n_bootstraps):
                found, refused = compared(sample, together, alternative, folds, count, repetition)
                if refused:
                    again = {name: asked[name] for name in refused}
                    found |= compared(sample, again, alternative, None, count, repetition)[0]
                answers |= found
                reasons |= refused
            for name in asked:
                tally = tallies[name, alternative]
                tally.greater_is_better = sample.asked["metric"] != "mean_squared_error"
                if name in answers:
                    note(tally, answers[name], sample.truth)
                else:
                    tally.refusals[reasons[name]] += 1
    return tallies


def by_bootstraps(asked: dict[str, Method], n_bootstraps: int) -> list[tuple[dict[str, Method], int]]:
    """Tilting weighs bootstraps so unequally that it is asked for ten times as many."""
    tilting = {name: method for name, method in asked.items() if method.name in ("tilting", "mabt")}
    others = {name: method for name, method in asked.items() if name not in tilting}
    return [(group, count) for group, count in ((others, n_bootstraps), (tilting, 10 * n_bootstraps)) if group]


def compared(
    sample: Sample, asked: dict[str, Method], alternative: Any, folds: Any, n_bootstraps: int, seed: int
) -> tuple[dict[str, ho.Estimate], dict[str, str]]:
    """Estimates, and reasons of those that do not apply."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ho.errors.HeldoutWarning)  # of undefined bounds, which are tallied
        try:
            found = ho.compare_estimates(
                sample.y,
                sample.predictions,
                methods=asked,
                folds=folds,
                alternative=alternative,
                confidence_level=LEVEL,
                n_bootstraps=n_bootstraps,
                random_state=seed,
                **sample.asked,
            )
        except ho.errors.InputError as error:
            return {}, dict.fromkeys(asked, str(error))
    return dict(found.estimates), dict(found.refused)


def note(tally: Tally, estimate: ho.Estimate, truth: Floats) -> None:
    """Add a repetition; no interval is NaN."""
    low, high = (np.nan, np.nan) if estimate.interval is None else tuple(estimate.interval)
    tally.truth.append(float(truth[estimate.selected]))
    tally.value.append(estimate.value)
    tally.low.append(low)
    tally.high.append(high)


def grid() -> Iterator[Setting]:
    """The settings of papers/pages/interval_tables.md."""
    shapes = list(product((40, 100, 500), (10, 300), (0.0, 0.7)))
    for kind, beta in (("auc", (24, 6)), ("accuracy", (9, 6)), ("squared error", (9, 6))):
        for rows, configurations, correlation in shapes:
            yield Setting(kind, rows, configurations, correlation, beta)
        for rows in (40, 100, 500):
            yield Setting(kind, rows, 1, 0.0, beta)
    for rows, configurations in product((100, 500), (10, 300)):
        yield Setting("auc", rows, configurations, 0.0, (24, 6), prevalence=0.1)
