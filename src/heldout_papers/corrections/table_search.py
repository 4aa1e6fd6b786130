"""A real search on a few rows of a table, and what each of its configurations is worth on the many others.

One run fits every configuration on the training part of each fold, and once more on all N rows of the sample; the
latter predicts the rest of the table. Held-out predictions of the sample and predictions of the rest are rounded
alike before anything is scored, so that what is kept is what was scored.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer
from sklearn.utils import _safe_indexing

from heldout._random import stream
from heldout.configurations import make_configurations
from heldout.data.task import Task, TaskKind, truth_of
from heldout.errors import InputError
from heldout.estimates.inputs import read_inputs
from heldout.estimates.methods.cv import CV
from heldout.execution.fit import CellContext, Routing, make_scoring
from heldout.execution.threads import on_one_thread
from heldout.folds.plans import KFolds
from heldout.folds.splits import Split, make_folds
from heldout.spaces.preprocessing import column_kinds
from heldout_papers.corrections.space import classifiers, regressors
from heldout_papers.search.fits import RowFits
from heldout_papers.tables import read_task

Floats: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["classification", "regression"]

MOST_REST = 10_000
"""Rows of the rest on which truths are computed."""
MOST_REST_OF_FOLDS = 1000
"""The same for the models of the folds."""
LEAST_REST = 9
"""The rest has at least so many times the rows of a sample, so that it adds at most a twentieth to the errors."""
LEAST_OF_CLASS = 5
LEAST_EXPECTED = 8
MOST_COLUMNS = 220
DECIMALS = 4
"""Of kept probabilities."""
BITS = 12
"""Of the mantissa of kept predictions of numbers."""


@dataclass(frozen=True)
class SearchTable:
    """A table on whose rows searches are run."""

    name: str
    digest: str
    kind: Kind
    rows: int
    columns: int
    minority: float  # 0 for a regression
    path: str = field(repr=False)

    def fits(self, n_rows: int) -> bool:
        """Whether samples of so many rows leave enough of the table, and hold enough of each class."""
        enough = self.rows >= (1 + LEAST_REST) * n_rows
        return enough and (self.kind == "regression" or n_rows * self.minority >= LEAST_EXPECTED)


@dataclass(frozen=True, eq=False)
class TableSearch:
    """What one search on one sample gave.

    Attributes
    ----------
    y : ndarray of shape (N,)
        The target, 0 and 1 for classes.
    folds : ndarray of shape (N,)
    predictions : ndarray of shape (N, C)
        Held out; probabilities of class 1, or numbers. NaN where a fit failed.
    truths : mapping of str to ndarray of shape (C,)
        The score, on the rest of the table, of each configuration fitted on all N rows, by metric.
    truths_of_folds : mapping of str to ndarray of shape (C,)
        The mean score of the models of its folds, on a part of the rest: what training on fewer rows costs.
    """

    y: Floats
    folds: NDArray[np.int32]
    predictions: Floats
    truths: dict[str, Floats]
    truths_of_folds: dict[str, Floats]


METRICS: dict[Kind, tuple[str, ...]] = {
    "classification": ("accuracy", "roc_auc", "log_loss"),
    "regression": ("root_mean_squared_error", "r2"),
}


def search_table(path: Path) -> SearchTable | str:
    """The table of a file; why it cannot be searched, as half a sentence, where it cannot."""
    try:
        task = read_task(path, "target")
    except InputError as error:
        return str(error).rstrip(".")
    kind = task.truth.kind
    if kind not in (TaskKind.BINARY, TaskKind.REGRESSION):
        return f"its target is {kind.value}"
    if task.X.shape[1] > MOST_COLUMNS:
        return f"it has {task.X.shape[1]} columns"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    minority = 0.0
    if kind is TaskKind.BINARY:
        counts = np.bincount(task.truth.values)
        minority = round(float(counts.min() / counts.sum()), 4)
    name: Kind = "regression" if kind is TaskKind.REGRESSION else "classification"
    return SearchTable(path.stem, digest, name, task.n_rows, task.X.shape[1], minority, str(path))


@lru_cache(maxsize=1)
def _arrays(table: SearchTable) -> tuple[Any, Floats]:
    task = read_task(Path(table.path), "target")
    X = task.X if column_kinds(task.X).categorical else task.X.to_numpy(dtype=np.float64)
    values = task.truth.values.astype(np.float64)
    if table.kind == "classification" and values.mean() > 0.5:  # 1 is the rarer class
        values = 1 - values
    return X, values


def search_on_sample(
    table: SearchTable, n_rows: int, number: int, entropy: int, *, n_folds: int = 5
) -> TableSearch:
    """Draw a sample, run the search on it, and score every configuration on the rest."""
    X, y = _arrays(table)
    place = (table.digest, n_rows, number)
    sample, rest = _divided(table, y, n_rows, stream(entropy, "corrections rows", *place))
    rows = np.r_[sample, rest]
    kind = TaskKind.BINARY if table.kind == "classification" else TaskKind.REGRESSION
    task = Task(
        _safe_indexing(X, rows),
        truth_of(y[rows].astype(np.intp) if kind is TaskKind.BINARY else y[rows], kind.value),
    )
    own = stream(entropy, "corrections cells", *place)
    scorer = "neg_log_loss" if kind is TaskKind.BINARY else "r2"
    context = CellContext.of_task(task, make_scoring(task.truth, get_scorer(scorer)), Routing(), np.nan, False, own)
    space = classifiers if kind is TaskKind.BINARY else regressors
    fits = RowFits(context, make_configurations(space(task.X)))
    keep = _rounded_probabilities if kind is TaskKind.BINARY else _rounded_numbers
    small = Task(_safe_indexing(task.X, np.arange(n_rows)), task.truth.rows(np.arange(n_rows)))
    with warnings.catch_warnings(), on_one_thread():
        warnings.simplefilter("ignore")
        folds = make_folds(small, KFolds(n_folds), repeats=1, entropy=own, small_classes="allow")
        found = np.full((n_rows, len(fits.configurations)), np.nan)
        of_folds = []
        some = np.arange(n_rows, min(len(rows), n_rows + MOST_REST_OF_FOLDS))
        for split in folds.splits:
            scores = fits.scores_on(Split(split.repeat, split.fold, split.train, np.r_[split.test, some])).scores
            found[split.test] = scores[: len(split.test)]
            of_folds.append(_truths(table.kind, y[rows[some]], keep(scores[len(split.test) :])))
        whole = Split(0, n_folds, np.arange(n_rows), np.arange(n_rows, len(rows)))
        of_rest = fits.scores_on(whole).scores
    truths = _truths(table.kind, y[rest], keep(of_rest))
    means = {metric: np.mean([truth[metric] for truth in of_folds], axis=0) for metric in truths}
    return TableSearch(y[sample], folds.labels[:, 0].astype(np.int32), keep(found), truths, means)


def _divided(table: SearchTable, y: Floats, n_rows: int, key: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """A sample with some rows of each class, and others."""
    rng = np.random.Generator(np.random.Philox(key=key))
    for _ in range(1000):
        order = rng.permutation(len(y))
        sample = np.sort(order[:n_rows])
        if (
            table.kind == "regression"
            or np.bincount(y[sample].astype(np.intp), minlength=2).min() >= LEAST_OF_CLASS
        ):
            return sample, order[n_rows : n_rows + MOST_REST]
    raise InputError(f"{table.name}: no {n_rows} rows hold {LEAST_OF_CLASS} of each class, in 1000 draws.")


def _rounded_probabilities(p: Floats) -> Floats:
    """Rounded; what is neither 0 nor 1 does not become so, since a log loss would notice."""
    rounded = np.round(p, DECIMALS)
    least = 10.0**-DECIMALS
    rounded = np.where((p > 0) & (rounded < least), least, rounded)
    return np.where((p < 1) & (rounded > 1 - least), 1 - least, rounded)


def _rounded_numbers(values: Floats) -> Floats:
    """Rounded to ``BITS`` bits of the mantissa: a relative 1e-4."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2.0**BITS), exponent - BITS)


def _truths(kind: Kind, y: Floats, predictions: Floats) -> dict[str, Floats]:
    """The scores of every column on the rest, NaN for a column with a failed fit."""
    defined = np.flatnonzero(~np.isnan(predictions).any(axis=0))
    found = {}
    for metric in METRICS[kind]:
        evidence = read_inputs(y, predictions[:, defined], metric=metric, **reading_of(kind)).evidence(CV())
        assert evidence.matrix is not None, "there are predictions"
        found[metric] = np.full(predictions.shape[1], np.nan)
        found[metric][defined] = evidence.matrix.scores.observed()
    return found


def reading_of(kind: Kind) -> dict[str, Any]:
    """How ``ho.estimate`` is to read the predictions."""
    return {"response": "probabilities", "pos_label": 1.0} if kind == "classification" else {}
