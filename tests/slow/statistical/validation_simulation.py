"""The bias of bootstrap validation where the truth is known.

Ten standard normal columns, of which three have an effect; the classes are of equal size in expectation and the
log-odds are linear, so that a logistic regression is well specified, while an unpruned tree and one nearest
neighbour learn their rows by heart. A method's error is its estimate less how the very model that was fitted on the
N rows does on 20 000 new ones; its bias is the mean of that.

    apparent     the model's score on its own rows;
    optimism, .632, .632+, oob    ``ho.bootstrap_validate``, all from the same fits;
    cv           10-fold cross-validation, stratified, mean over the folds.

    python tests/slow/statistical/validation_simulation.py bias REPETITIONS BOOTSTRAPS
    python tests/slow/statistical/validation_simulation.py coverage N COLUMNS REPETITIONS BOOTSTRAPS INNER

print the tables of papers/pages/validation.md.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, brier_score_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.metrics import metric_named
from heldout.protocols.validation.corrections import Optimism, OutOfBag, Point632, Point632Plus
from heldout.protocols.validation.intervals import interval_of

EFFECTS = np.array([1.0, -0.8, 0.5, 0, 0, 0, 0, 0, 0, 0])
N_NEW = 20_000
METRICS = ("roc_auc", "brier_score", "accuracy")
CORRECTIONS = (Optimism(), Point632(), Point632Plus(), OutOfBag())
METHODS = ("apparent", "optimism", "632", "632+", "oob", "cv")
SIZES = (50, 100, 200)
MODELS: dict[str, BaseEstimator] = {
    # Next to no penalty; with none at all a sample whose classes are separable has no fit.
    "logistic": LogisticRegression(C=1e4, solver="newton-cholesky", max_iter=1000),
    "tree": DecisionTreeClassifier(random_state=0),
    "1-NN": KNeighborsClassifier(1),
}


def drawn(n: int, rng: np.random.Generator, effects: np.ndarray = EFFECTS) -> tuple[np.ndarray, np.ndarray]:
    """Columns (n, 10) and classes (n,)."""
    X = rng.normal(size=(n, len(effects)))
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-X @ effects))).astype(int)


def scores_of(model: BaseEstimator, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(3,): the ``METRICS`` of a fitted model."""
    given = model.predict_proba(X)[:, 1]
    return np.array([roc_auc_score(y, given), brier_score_loss(y, given), accuracy_score(y, model.predict(X))])


def cross_validated(model: BaseEstimator, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    folds = StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y)
    return np.mean([scores_of(clone(model).fit(X[train], y[train]), X[test], y[test]) for train, test in folds], 0)


def errors(
    model: BaseEstimator, n: int, seeds: Sequence[int], n_bootstraps: int, methods: Sequence[str] = METHODS
) -> np.ndarray:
    """(repetitions, methods, metrics): estimates less the truth of the model that was fitted."""
    found = np.empty((len(seeds), len(methods), len(METRICS)))
    for place, seed in enumerate(seeds):
        rng = np.random.default_rng([n, seed])
        X, y = drawn(n, rng)
        truth = scores_of(clone(model).fit(X, y), *drawn(N_NEW, rng))
        found[place] = estimates(model, X, y, n_bootstraps, seed, methods) - truth
    return found


def estimates(
    model: BaseEstimator, X: np.ndarray, y: np.ndarray, n_bootstraps: int, seed: int, methods: Sequence[str]
) -> np.ndarray:
    """The estimates of each method, (methods, metrics)."""
    replicates = ho.bootstrap_validate(
        model, X, y, metric=list(METRICS), n_bootstraps=n_bootstraps, interval=None, random_state=seed
    ).replicates
    scores = [replicates.scores(metric_named(name)) for name in METRICS]
    found: dict[str, Any] = {
        correction.name: [correction.corrected(replicates, each).value for each in scores]
        for correction in CORRECTIONS
    }
    found["apparent"] = [each.apparent for each in scores]
    if "cv" in methods:
        found["cv"] = cross_validated(model, X, y, seed)
    return np.array([found[method] for method in methods])


def mean_and_error(found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the first axis."""
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))


def print_biases(repetitions: int, n_bootstraps: int) -> None:
    found = {
        (name, n): errors(model, n, range(repetitions), n_bootstraps)
        for name, model in MODELS.items()
        for n in SIZES
    }
    for number, metric in enumerate(METRICS):
        print(f"\n**{metric}**: bias ± its standard error (root mean squared error)\n")
        print("| model | N |" + "".join(f" {method} |" for method in METHODS))
        print("|---|---:|" + "---:|" * len(METHODS))
        for (name, n), errors_of in found.items():
            mine = errors_of[:, :, number]
            bias, error = mean_and_error(mine)
            root = np.sqrt((mine**2).mean(axis=0))
            cells = (f" {b:+.3f} ± {e:.3f} ({r:.3f}) |" for b, e, r in zip(bias, error, root, strict=True))
            print(f"| {name} | {n} |" + "".join(cells))


@dataclass(frozen=True)
class Coverage:
    """Intervals (repetitions, metrics, 2) of each kind, of an optimism-corrected logistic regression.

    ``truth`` (repetitions, metrics) is that of each fitted model, and its mean that of such models.
    """

    truth: np.ndarray
    intervals: dict[str, np.ndarray]

    def held(self, kind: str, *, on_average: bool = False) -> np.ndarray:
        """(metrics,): how many intervals held the truth of their model, or of such models on average."""
        truth = np.broadcast_to(self.truth.mean(axis=0), self.truth.shape) if on_average else self.truth
        low, high = np.moveaxis(self.intervals[kind], 2, 0)
        return ((low <= truth) & (truth <= high)).sum(axis=0)

    def width(self, kind: str) -> np.ndarray:
        """(metrics,): their mean width."""
        return np.diff(self.intervals[kind], axis=2)[:, :, 0].mean(axis=0)


def coverage(
    n: int, seeds: Sequence[int], n_bootstraps: int, n_inner: int = 0, effects: np.ndarray = EFFECTS
) -> Coverage:
    """Of nominal 95 %; the double bootstrap too where there are inner samples."""
    kinds = ("apparent", "location_shifted", "double")[: 3 if n_inner else 2]
    truth = np.empty((len(seeds), len(METRICS)))
    found = {kind: np.empty((len(seeds), len(METRICS), 2)) for kind in kinds}
    for place, seed in enumerate(seeds):
        rng = np.random.default_rng([n, seed])
        X, y = drawn(n, rng, effects)
        truth[place] = scores_of(clone(MODELS["logistic"]).fit(X, y), *drawn(N_NEW, rng, effects))
        validation = ho.bootstrap_validate(
            MODELS["logistic"], X, y, metric=list(METRICS), n_bootstraps=n_bootstraps, random_state=seed,
            interval="double" if n_inner else "location_shifted", n_inner_bootstraps=n_inner or 1,
        )  # fmt: skip
        for number, name in enumerate(METRICS):
            scores, row = validation.replicates.scores(metric_named(name)), validation.rows[name]
            for kind, corrected in (("apparent", scores.apparent), ("location_shifted", row.corrected)):
                bounds = interval_of("location_shifted", scores, corrected, 0.95, "two-sided").interval
                found[kind][place, number] = tuple(bounds or (np.nan, np.nan))
            if n_inner:
                found["double"][place, number] = tuple(row.interval or (np.nan, np.nan))
    return Coverage(truth, found)


def print_coverage(n: int, columns: int, repetitions: int, n_bootstraps: int, n_inner: int) -> None:
    found = coverage(n, range(repetitions), n_bootstraps, n_inner, EFFECTS[:columns])
    for kind in found.intervals:
        for number, metric in enumerate(METRICS):
            held, on_average = found.held(kind)[number], found.held(kind, on_average=True)[number]
            p = binomtest(int(held), repetitions, 0.95, alternative="less").pvalue
            shares = f"{held / repetitions:.3f} | {p:.2g} | {on_average / repetitions:.3f}"
            print(f"| {n} | {columns} | {kind} | {metric} | {shares} | {found.width(kind)[number]:.3f} |")


if __name__ == "__main__":
    {"bias": print_biases, "coverage": print_coverage}[sys.argv[1]](*map(int, sys.argv[2:]))
