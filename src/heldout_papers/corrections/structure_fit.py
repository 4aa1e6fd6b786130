"""``python -m heldout_papers.corrections.structure_fit SEARCHES``: renew the structures from kept searches.

Of each table, searches with 100 rows are read. Correlations of what predictions hold beside the target, averaged
over samples, give the factors; the true scores of the first search give signals and slopes.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from heldout_papers.corrections import structure as installed
from heldout_papers.corrections.distribution import Floats
from heldout_papers.corrections.kept import KeptSearch, all_searches
from heldout_papers.corrections.of_tables import deviation
from heldout_papers.corrections.structure import FACTORS, FILE, Structure, as_csv, mean_log_loss
from heldout_papers.corrections.table_search import Kind, TableSearch

ROWS = 100
"""Of the searches that are read."""
MOST_SHARED = 0.995
"""Of a column's variance that the factors explain."""
ITERATIONS = 100
SLOPES = np.r_[0.0, np.geomspace(0.02, 12.0, 240)]


def structure_of(searches: Sequence[KeptSearch]) -> Structure:
    """The structure of some searches of one table: their mean correlations, and the scores of the first."""
    first = searches[0]
    kind, search = first.kind, first.search
    usable = [one.search for one in searches]
    correlation = np.mean([_correlation(residuals(one, kind)) for one in usable], axis=0)
    loadings = factors(correlation)
    if kind == "classification":
        prevalence = float(np.mean([one.y.mean() for one in usable]))
        signal, slope = _of_classes(search, prevalence)
    else:
        prevalence = 0.0
        signal, slope = _of_numbers(search)
    loadings[slope == 0] = 0.0
    return Structure(kind, prevalence, signal, slope, loadings)


def residuals(search: TableSearch, kind: Kind) -> Floats:
    """(N, C): predictions as normal scores less the mean of their class; numbers less what the target explains."""
    filled = np.where(np.isnan(search.predictions), 0.0, search.predictions)
    if kind == "classification":
        found = ndtri((rankdata(filled, axis=0) - 0.5) / len(filled))
        for label in (0, 1):
            found[search.y == label] -= found[search.y == label].mean(axis=0)
        return np.asarray(found)
    target = search.y - search.y.mean()
    centred = filled - filled.mean(axis=0)
    return np.asarray(centred - np.outer(target, target @ centred / (target @ target)))


def _correlation(values: Floats) -> Floats:
    """(C, C), 0 beside columns that do not vary."""
    deviations = np.sqrt((values**2).mean(axis=0))
    varied = deviations > 1e-9 * max(float(deviations.max()), 1e-300)
    scaled = np.where(varied, values / np.where(varied, deviations, 1.0), 0.0)
    return np.asarray(scaled.T @ scaled / len(values))


def factors(correlation: Floats) -> Floats:
    """(C, 3): loadings by the principal factor method.

    Examples
    --------
    >>> one = np.array([0.9, 0.8, 0.7, 0.6, 0.5] * 4)
    >>> shared = (factors(np.outer(one, one) + np.diag(1 - one**2)) ** 2).sum(axis=1)
    >>> np.sqrt(shared)[:5].round(2).tolist()
    [0.9, 0.8, 0.7, 0.6, 0.5]
    """
    reduced = correlation.copy()
    shared = np.full(len(reduced), 0.5)
    loadings = np.zeros((len(reduced), FACTORS))
    for _ in range(ITERATIONS):
        np.fill_diagonal(reduced, shared)
        values, vectors = np.linalg.eigh(reduced)
        loadings = vectors[:, ::-1][:, :FACTORS] * np.sqrt(np.maximum(values[::-1][:FACTORS], 0.0))
        shared = np.minimum((loadings**2).sum(axis=1), MOST_SHARED)
    size = (loadings**2).sum(axis=1, keepdims=True)
    return np.asarray(loadings * np.sqrt(np.minimum(1.0, MOST_SHARED / np.maximum(size, 1e-12))))


def _of_classes(search: TableSearch, prevalence: float) -> tuple[Floats, Floats]:
    """Signal and slope that give the area and the log loss on the rest of the table."""
    areas = np.clip(np.nan_to_num(search.truths["roc_auc"], nan=0.5), 0.01, 0.9995)
    losses = np.nan_to_num(search.truths["log_loss"], nan=np.log(2.0))
    signal = np.sqrt(2.0) * ndtri(areas)
    filled = np.clip(np.nan_to_num(search.predictions, nan=0.5), 1e-4, 1 - 1e-4)
    entropy = -(filled * np.log(filled) + (1 - filled) * np.log1p(-filled)).mean(axis=0)
    slope = np.array(
        [
            _slope(one, loss, prevalence, is_sure=bool(loss > sure))
            for one, loss, sure in zip(signal, losses, entropy, strict=True)
        ]
    )
    slope[np.ptp(filled, axis=0) < 1e-3] = 0.0
    signal[slope == 0] = 0.0
    return signal, slope


def _slope(signal: float, loss: float, prevalence: float, *, is_sure: bool) -> float:
    """The slope with that log loss: above the best one where a configuration is too sure of itself, else below."""
    found = mean_log_loss(np.full(len(SLOPES), signal), SLOPES, prevalence)
    best = int(found.argmin())
    part = np.arange(best, len(SLOPES)) if is_sure else np.arange(best, -1, -1)
    return float(np.interp(loss, found[part], SLOPES[part]))


def _of_numbers(search: TableSearch) -> tuple[Floats, Floats]:
    """Signal and slope that give R² on the rest of the table, with the spread of the held-out predictions."""
    r2 = np.clip(np.nan_to_num(search.truths["r2"], nan=0.0), -3.0, 0.999)
    slope = np.nanstd(search.predictions, axis=0) / deviation(search)
    slope = np.where(slope < 1e-3, 0.0, np.clip(np.nan_to_num(slope), 0.05, 2.5))
    signal = np.clip((r2 + slope**2) / np.maximum(2 * slope, 1e-9), -0.99, 0.999)
    return np.where(slope == 0, 0.0, signal), slope


def write_structures(searches: str | Path, into: str | Path | None = None) -> Path:
    """Write the structures of a file of kept searches; into the package by default."""
    by_table: dict[tuple[Kind, str], list[KeptSearch]] = defaultdict(list)
    for one in all_searches(searches):
        if one.rows == ROWS:
            by_table[one.kind, one.table].append(one)
    found = [structure_of(by_table[place]) for place in sorted(by_table)]
    path = Path(installed.__file__).with_name(FILE) if into is None else Path(into)
    path.write_text(as_csv(found), encoding="utf-8")
    return path


def main(arguments: Sequence[str]) -> None:
    """The command: one argument, the file of kept searches."""
    if len(arguments) != 1:
        sys.exit("give the Parquet file of kept searches, which heldout study corrections --part tables writes")
    print(write_structures(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
