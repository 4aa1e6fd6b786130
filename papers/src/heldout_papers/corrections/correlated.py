"""Matrices whose columns depend on each other as those of real searches do, with known true scores.

Every matrix has the structure of a real search (``structure.py``): its true scores with their long lower tail, and
factors that make the same rows hard for many columns. Four kinds: "plain" is that structure as it is; of "tails" a
third of the columns is far worse; of "ceiling" the best columns are nearly always right; "ties" has every column
three times, and of two classes four different probabilities only. True scores follow from the normal distribution,
exactly or by an integral over one variable.
"""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

from heldout._streams import stream
from heldout.errors import InputError
from heldout_papers.corrections.distribution import Floats
from heldout_papers.corrections.matrix import BedCell, KnownMatrix
from heldout_papers.corrections.structure import (
    METRICS,
    Kind,
    Structure,
    mean_log_loss,
    moderate_logits,
    reading_of,
    structures,
)
from heldout_papers.engine.arguments import checked_names, checked_sizes

ROWS, CONFIGURATIONS = (20, 40, 100, 300), (1, 10, 60)
VARIANTS = ("plain", "tails", "ceiling", "ties")
FOLDS = 5
LEAST_EXPECTED = 8
"""Rows of class 1, where the prevalence of a structure would give fewer."""
LEAST_OF_CLASS = 4
WORSE = 1 / 3
"""Of the columns of "tails" are far worse."""
BEST_AREA, BEST_R2 = 0.997, 0.97
"""Of "ceiling"."""
COPIES = 3
STEPS = np.array([0.1, 0.3, 0.7, 0.9])
"""The probabilities of "ties"."""
CUTS = logit(np.array([0.2, 0.5, 0.8]))
"""Logits between which they stand for all others."""
JITTER = 0.1
"""Of signals and loadings, where more columns are drawn than the structure has."""
HEAVY = 0.35
"""Of the logarithm of a row's scale, which targets and predictions of numbers share: kurtosis is 4.9."""


@dataclass(frozen=True)
class CorrelatedSource:
    """Matrices of one kind and size, each for all metrics.

    Attributes
    ----------
    kind : "classification" or "regression"
    variant : str
    rows, configurations : int
    metrics : tuple of str
    """

    kind: Kind
    variant: str
    rows: int
    configurations: int
    metrics: tuple[str, ...]

    @property
    def cells(self) -> tuple[BedCell, ...]:
        return tuple(
            BedCell("correlated", self.variant, metric, self.rows, self.configurations) for metric in self.metrics
        )

    def matrices(self, entropy: int, repetition: int) -> tuple[KnownMatrix, ...]:
        """The predictions of a repetition, with the true scores of every metric."""
        place = [self.kind, self.variant, str(self.rows), str(self.configurations), str(repetition)]
        rng = np.random.Generator(np.random.Philox(key=stream(entropy, "study corrections correlated", *place)))
        known = structures(self.kind)
        columns = drawn_columns(rng, known[int(rng.integers(len(known)))], self.variant, self.configurations)
        seed = stream(entropy, "study corrections correlated draws", *place)
        if self.kind == "classification":
            found = of_classes(rng, columns, self.rows, is_coarse=self.variant == "ties")
        else:
            found = of_numbers(rng, columns, self.rows)
        y, folds, predictions, truths = found
        return tuple(
            KnownMatrix(
                y,
                predictions,
                truths[metric],
                metric,
                folds,
                seed,
                reading_of(self.kind),
            )
            for metric in self.metrics
        )


def drawn_columns(rng: np.random.Generator, structure: Structure, variant: str, number: int) -> Structure:
    """Columns of a structure, of the variant."""
    distinct = -(-number // COPIES) if variant == "ties" else number
    places, extra = _places(rng, len(structure.signal), distinct)
    signal, slope, loadings = structure.signal[places], structure.slope[places], structure.loadings[places]
    signal = signal + extra * JITTER * rng.standard_normal(distinct)
    loadings = loadings + extra[:, None] * JITTER * rng.standard_normal(loadings.shape)
    size = np.sqrt((loadings**2).sum(axis=1, keepdims=True))
    loadings = loadings * np.minimum(1.0, 0.99 / np.maximum(size, 1e-9))
    found = replace(structure, signal=signal, slope=slope, loadings=loadings)
    if structure.kind == "regression":
        found = replace(found, signal=np.clip(signal, -0.99, 0.999))
    if variant == "tails":
        found = _with_tails(rng, found)
    if variant == "ceiling":
        found = _at_ceiling(found)
    if variant == "ties":
        order = rng.permutation(np.repeat(np.arange(distinct), COPIES)[:number])
        parts = found.signal[order], found.slope[order], found.loadings[order]
        found = replace(found, signal=parts[0], slope=parts[1], loadings=parts[2])
    return found


def _places(rng: np.random.Generator, there: int, wanted: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Columns without replacement, in their order, then again; and whether each is one that was drawn again."""
    first = np.sort(rng.permutation(there)[:wanted])
    again = rng.integers(there, size=max(0, wanted - there))
    return np.r_[first, again], np.r_[np.zeros(len(first), dtype=bool), np.ones(len(again), dtype=bool)]


def _with_tails(rng: np.random.Generator, columns: Structure) -> Structure:
    """A third of the columns, but never all, knows little and is sure of it."""
    worse = rng.random(len(columns.signal)) < WORSE
    worse[int(rng.integers(len(worse)))] = False
    part = rng.random(len(worse))
    signal = np.where(worse, columns.signal * part / 2, columns.signal)
    factor = 2.0 if columns.kind == "classification" else 1.5 + part
    slope = np.where(worse, np.minimum(columns.slope * factor, 12.0), columns.slope)
    return replace(columns, signal=signal, slope=slope)


def _at_ceiling(columns: Structure) -> Structure:
    """Better columns, the best of them nearly perfect."""
    best = float(columns.signal.max())
    if columns.kind == "classification":
        more = np.sqrt(2.0) * float(ndtri(BEST_AREA)) - best
        varied = columns.slope > 0
        signal = np.where(varied, columns.signal + more, columns.signal)
        return replace(columns, signal=signal, slope=np.where(varied, columns.slope + max(more, 0.0), 0.0))
    kept = (1 - np.sqrt(BEST_R2)) / max(1 - best, 1e-9)
    signal = np.where(columns.slope > 0, 1 - (1 - columns.signal) * min(kept, 1.0), 0.0)
    slope = np.where(columns.slope > 0, columns.slope + (signal - columns.signal), 0.0)
    return replace(columns, signal=signal, slope=slope)


Drawn = tuple[NDArray[Any], NDArray[np.intp], Floats, dict[str, Floats]]
"""The target, the folds, the predictions and the true scores by metric."""


def _noise(rng: np.random.Generator, loadings: Floats, n_rows: int) -> Floats:
    """(N, C): normal variables of variance 1 that depend on each other through the rows' factors."""
    own = np.sqrt(1 - (loadings**2).sum(axis=1))
    common: Floats = rng.standard_normal((n_rows, loadings.shape[1])) @ loadings.T
    return common + own * rng.standard_normal((n_rows, len(loadings)))


def of_classes(rng: np.random.Generator, columns: Structure, n_rows: int, *, is_coarse: bool) -> Drawn:
    """Probabilities of class 1 by some columns; with ``is_coarse`` only those of ``STEPS``."""
    share = min(0.5, max(columns.prevalence, LEAST_EXPECTED / n_rows))
    y = _classes(rng, n_rows, share)
    noise = _copied(_noise(rng, columns.loadings, n_rows), columns)
    logits = moderate_logits(logit(share) + columns.slope * (columns.signal * (y[:, None] - 0.5) + noise))
    folds = np.empty(n_rows, dtype=np.intp)
    folds[np.argsort(y, kind="stable")] = np.arange(n_rows) % FOLDS
    predictions = STEPS[np.searchsorted(CUTS, logits)] if is_coarse else expit(logits)
    truths = truths_of_steps(columns, share) if is_coarse else truths_of_classes(columns, share)
    return y, folds, predictions, truths


def _copied(noise: Floats, columns: Structure) -> Floats:
    """The same noise for columns that are copies of one another: those of "ties" with equal parameters."""
    key = np.column_stack([columns.signal, columns.slope, columns.loadings])
    _, first, place = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return noise[:, first[place.ravel()]]


def _classes(rng: np.random.Generator, n_rows: int, share: float) -> NDArray[np.int8]:
    for _ in range(1000):
        y = (rng.random(n_rows) < share).astype(np.int8)
        if min(y.sum(), n_rows - y.sum()) >= LEAST_OF_CLASS:
            return y
    raise InputError(f"no {n_rows} rows hold {LEAST_OF_CLASS} of each class, in 1000 draws; ask for more rows.")


def truths_of_classes(columns: Structure, share: float) -> dict[str, Floats]:
    """Of probabilities: areas and accuracies from the normal distribution, log losses by an integral."""
    flat = columns.slope == 0
    cut = columns.signal / 2 - logit(share) / np.where(flat, 1.0, columns.slope)
    right = share * ndtr(columns.signal - cut) + (1 - share) * ndtr(cut)
    return {
        "accuracy": np.where(flat, max(share, 1 - share), right),
        "roc_auc": np.where(flat, 0.5, ndtr(columns.signal / np.sqrt(2.0))),
        "log_loss": mean_log_loss(columns.signal, columns.slope, share),
    }


def truths_of_steps(columns: Structure, share: float) -> dict[str, Floats]:
    """Of the few probabilities of "ties": from the chance of each of them in each class."""
    centre = logit(share) + columns.slope * columns.signal * np.array([[[-0.5]], [[0.5]]])
    flat = columns.slope == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (CUTS[:, None] - centre) / np.where(flat, 0.0, columns.slope)
    ends = np.where(flat, np.where(CUTS[:, None] >= centre, np.inf, -np.inf), ends)
    below = np.concatenate([np.zeros((2, 1, len(flat))), ndtr(ends), np.ones((2, 1, len(flat)))], axis=1)
    zeros, ones = np.diff(below, axis=1)
    upper = STEPS[:, None] > 0.5
    before = np.cumsum(zeros, axis=0) - zeros
    return {
        "accuracy": share * (ones * upper).sum(axis=0) + (1 - share) * (zeros * ~upper).sum(axis=0),
        "roc_auc": (ones * (before + zeros / 2)).sum(axis=0),
        "log_loss": -share * np.log(STEPS) @ ones - (1 - share) * np.log1p(-STEPS) @ zeros,
    }


def of_numbers(rng: np.random.Generator, columns: Structure, n_rows: int) -> Drawn:
    """Predictions of numbers by some columns.

    Rows differ in scale, so that squared errors have the long tails of real ones; the mean square of it is 1.
    """
    scale = np.exp(HEAVY * rng.standard_normal(n_rows) - HEAVY**2)
    y = rng.standard_normal(n_rows)
    noise = _copied(_noise(rng, columns.loadings, n_rows), columns)
    rest = np.sqrt(1 - columns.signal**2)
    predictions = columns.slope * (columns.signal * y[:, None] + rest * noise)
    error = 1 - 2 * columns.slope * columns.signal + columns.slope**2
    truths = {"root_mean_squared_error": np.sqrt(error), "r2": 1 - error}
    return scale * y, np.arange(n_rows) % FOLDS, scale[:, None] * predictions, truths


def correlated_sources(rows: Any, configurations: Any, variants: Any, metrics: Any) -> tuple[CorrelatedSource, ...]:
    """Every combination, checked."""
    sizes = checked_sizes("rows", ROWS if rows is None else rows, 2 * LEAST_EXPECTED)
    counts = checked_sizes("configurations", CONFIGURATIONS if configurations is None else configurations, 1)
    chosen = checked_names("variants", VARIANTS if variants is None else variants, VARIANTS)
    able = [metric for of_kind in METRICS.values() for metric in of_kind]
    named = checked_names("metrics", able if metrics is None else metrics, able, ' of part "correlated"')
    by_kind = {kind: tuple(one for one in of_kind if one in named) for kind, of_kind in METRICS.items()}
    return tuple(
        CorrelatedSource(kind, variant, n, c, of_kind)
        for (kind, of_kind), variant, n, c in product(by_kind.items(), chosen, sizes, counts)
        if of_kind
    )
