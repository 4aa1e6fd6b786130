"""What intervals cover where rows are predicted by real K-fold fits, which share training rows.

``fold_dependence_tables.py`` writes papers/pages/interval_tables_kfold.md from it.

Rows have standard normal columns and a latent z = Xβ + e with a fixed β (``BETA``) and standard normal e. The
target is the sign of z (accuracy and AUC) or z itself (squared error). A configuration is a ridge regression of one
penalty, without intercept, on the target (as ±1 for two classes). It is fitted on each fold's training part by
linear algebra, and the performance of a model on new rows is known from its coefficients b:

- squared error: 1 + |β - b|² (e has variance 1);
- accuracy: 1/2 + arcsin(ρ)/π, with ρ the correlation of Xb and z;
- AUC: E Φ(ρ T / √(2(1 - ρ²))), with T the sum of two independent |N(0, 1)|.

An interval is held against three truths of the configuration that its method selected: ``models`` is the mean
performance of the K models that predicted the rows, ``expected`` is its expectation over samples, and ``refit`` is
the performance of the model of all N rows. With ``folds=1`` the N rows are a hold-out: one other sample of N rows
trained the models, so that rows are independent given these (``models`` is then the truth).
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from interval_simulation import by_bootstraps, methods
from numpy.typing import NDArray
from scipy.special import erf, ndtr

import heldout as ho
from heldout.estimates import Method

Floats = NDArray[np.float64]
BETA = np.full(10, 0.3)
"""Ten columns explain 47 % of the variance of z."""
PENALTIES = np.geomspace(0.1, 1000, 10)
METRICS = {"accuracy": "accuracy", "auc": "roc_auc", "squared error": "mean_squared_error"}
TRUTHS = ("models", "expected", "refit")


@dataclass(frozen=True)
class KFoldSetting:
    """One law of rows, and the folds that predict them.

    Attributes
    ----------
    kind : "accuracy", "auc" or "squared error"
    folds : int
        K; 1 is a hold-out.
    configurations : int
        1 (the penalty 1) or 10 (``PENALTIES``).
    """

    kind: str
    rows: int
    folds: int
    configurations: int = 1

    @property
    def penalties(self) -> Floats:
        return np.ones(1) if self.configurations == 1 else PENALTIES[: self.configurations]


@dataclass(frozen=True, eq=False)
class Fitted:
    """One sample of rows, predicted by its folds' models.

    Attributes
    ----------
    y : ndarray of shape (N,)
    predictions : ndarray of shape (N, C)
    fold : ndarray of int, shape (N,)
    truth : dict of str to ndarray of shape (C,)
        ``models`` and ``refit``.
    """

    y: NDArray[Any]
    predictions: Floats
    fold: NDArray[np.intp]
    truth: dict[str, Floats]


def fit(setting: KFoldSetting, rng: np.random.Generator) -> Fitted:
    """Draw rows, fit every penalty on every training part, predict the other rows."""
    n = setting.rows
    x, z, target = _draw(setting, rng)
    if setting.folds == 1:
        fold = np.zeros(n, dtype=np.intp)
        other, _, told = _draw(setting, rng)
        fits = [_ridges(other, told, setting.penalties)]
        refit = fits[0]
    else:
        fold = np.arange(n) % setting.folds
        parts = [fold != k for k in range(setting.folds)]
        fits = [_ridges(x[part], target[part], setting.penalties) for part in parts]
        refit = _ridges(x, target, setting.penalties)
    predictions = np.empty((n, setting.configurations))
    for k, coefficients in enumerate(fits):
        predictions[fold == k] = x[fold == k] @ coefficients
    truth = {
        "models": np.mean([performance(setting.kind, each) for each in fits], axis=0),
        "refit": performance(setting.kind, refit),
    }
    y = z if setting.kind == "squared error" else (z > 0).astype(int)
    return Fitted(y, predictions, fold, truth)


def _draw(setting: KFoldSetting, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Columns, z, and what a ridge regression is fitted to."""
    x = rng.normal(size=(setting.rows, len(BETA)))
    z = x @ BETA + rng.normal(size=setting.rows)
    return x, z, z if setting.kind == "squared error" else np.sign(z)


def _ridges(x: Floats, target: Floats, penalties: Floats) -> Floats:
    """(columns, C): coefficients of every penalty, from one decomposition."""
    values, vectors = np.linalg.eigh(x.T @ x)
    rotated = vectors.T @ (x.T @ target)
    return np.asarray(vectors @ (rotated[:, None] / (values[:, None] + penalties[None, :])))


def performance(kind: str, coefficients: Floats) -> Floats:
    """(C,): of models with coefficients (columns, C) on new rows, as the module says."""
    if kind == "squared error":
        return np.asarray(1 + ((coefficients - BETA[:, None]) ** 2).sum(axis=0))
    size = np.linalg.norm(coefficients, axis=0) * np.sqrt(BETA @ BETA + 1)
    correlation = BETA @ coefficients / size
    if kind == "accuracy":
        return np.asarray(0.5 + np.arcsin(correlation) / np.pi)
    return np.interp(correlation, *_areas())


@cache
def _areas() -> tuple[Floats, Floats]:
    """Correlations, and the area of each: an integral over T, which has the density 2/√π exp(-t²/4) erf(t/2)."""
    correlation = np.linspace(-0.999, 0.999, 801)
    t = np.linspace(0, 12, 1201)
    density = 2 / np.sqrt(np.pi) * np.exp(-(t**2) / 4) * erf(t / 2)
    slope = correlation / np.sqrt(2 * (1 - correlation**2))
    return correlation, np.trapezoid(ndtr(slope[:, None] * t) * density, t, axis=1)


@cache
def expected(setting: KFoldSetting, draws: int = 1000) -> Floats:
    """(C,): the mean of ``models`` over samples."""
    rng = np.random.default_rng(0)
    return np.asarray(np.mean([fit(setting, rng).truth["models"] for _ in range(draws)], axis=0))


def asked_of(setting: KFoldSetting) -> dict[str, Method]:
    """Every method; of one configuration the two-part ones take all rows, as nothing is chosen."""
    found = {name: method for name, method in methods().items() if not name.startswith(("cv", "tt", "wmc"))}
    if setting.configurations > 1:
        return found
    whole = {"evaluation_share": 1.0}
    return {
        name: type(method)(**whole) if hasattr(method, "evaluation_share") else method
        for name, method in found.items()
        if not name.endswith((" 10p", " best"))
    }


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that held each of ``TRUTHS``, among those repetitions that had an interval."""

    repetitions: int
    held: dict[str, float]


def simulate_folds(
    setting: KFoldSetting,
    repetitions: int,
    *,
    asked: dict[str, Method] | None = None,
    n_bootstraps: int = 1000,
) -> dict[str, Coverage]:
    """Coverage of two-sided intervals by method; of lower bounds where a method has those alone."""
    asked = asked_of(setting) if asked is None else asked
    rng = np.random.default_rng([setting.rows, setting.folds, setting.configurations, len(setting.kind)])
    held: dict[str, list[list[bool]]] = {}
    for repetition in range(repetitions):
        sample = fit(setting, rng)
        truth = sample.truth | {"expected": expected(setting)}
        for name, found in _answers(setting, sample, asked, n_bootstraps, repetition):
            if found.interval is not None and not np.isnan(found.interval.low):
                row = [truth[each][found.selected] in found.interval for each in TRUTHS]
                held.setdefault(name, []).append(row)
    return {
        name: Coverage(len(rows), dict(zip(TRUTHS, np.mean(rows, axis=0).tolist(), strict=True)))
        for name, rows in held.items()
    }


def _answers(
    setting: KFoldSetting, sample: Fitted, asked: dict[str, Method], n_bootstraps: int, seed: int
) -> Iterator[tuple[str, ho.Estimate]]:
    predictions = sample.predictions
    if setting.kind == "accuracy":
        predictions = (predictions > 0).astype(int)
    for together, count in by_bootstraps(asked, n_bootstraps):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ho.errors.HeldoutWarning)  # of undefined bounds, which are left out
            try:
                found = ho.compare_estimates(
                    sample.y,
                    predictions,
                    metric=METRICS[setting.kind],
                    methods=together,
                    folds=sample.fold,
                    alternative="greater" if count > n_bootstraps else "two-sided",  # tilting bounds one side
                    n_bootstraps=count,
                    random_state=seed,
                    **({"response": "decision"} if setting.kind == "auc" else {}),
                )
            except ho.errors.InputError:  # none of the methods is for this
                continue
        yield from found.estimates.items()


def grid() -> Iterator[KFoldSetting]:
    """The settings of papers/pages/interval_tables_kfold.md."""
    for kind, configurations, rows, folds in product(METRICS, (1, 10), (40, 100, 300), (5, 10)):
        yield KFoldSetting(kind, rows, folds, configurations)
    for kind in METRICS:
        yield KFoldSetting(kind, 100, 1)
