"""Write corrections-hold-out.parquet: intervals for the rows of a hold-out, which depend on one model only.

``python papers/evidence/hold_out.py`` draws matrices of independent rows and configurations, as ``heldout study
corrections`` does, and scores methods on them with one label of folds for all rows. The columns of the file are
those of the study's cells, for the level .95.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from heldout.predictions import HeldOutPredictions
from heldout_papers.corrections.independent import IndependentSource
from heldout_papers.corrections.matrix import BedCell, KnownMatrix
from heldout_papers.corrections.scores import score_methods
from heldout_papers.corrections.summary import rows_of_cell

FILE = Path(__file__).with_name("corrections-hold-out.parquet")
BETA, ROWS, SEED, LEVELS = (9.0, 6.0), (40, 100, 300), 2018, (0.95,)
KINDS = {"one": 1, "varied": 60}
DRAWN = {
    "accuracy": "accuracy",
    "roc_auc": "roc_auc",
    "log_loss": "log_loss",
    "root_mean_squared_error": "mean_squared_error",
    "r2": "mean_squared_error",
}
"""Metrics, and those whose matrices they read."""
CLASSES = {"accuracy": 2, "roc_auc": 2, "log_loss": 3}
"""Of the matrices, all equally frequent."""
METHODS = ("cv", "bbc", "shrinkage")
OF_ONE = {
    "accuracy": ("wilson(evaluation_share=1.0)", "clopper_pearson(evaluation_share=1.0)"),
    "roc_auc": ("delong(evaluation_share=1.0)",),
}
"""Methods for one configuration."""


def matrices(cell: BedCell, repetitions: int) -> Iterator[KnownMatrix]:
    """The matrices of a cell, as those of a hold-out."""
    source = IndependentSource(cell.rows, cell.configurations, BETA, DRAWN[cell.metric])
    for repetition in range(repetitions):
        (drawn,) = source.matrices(SEED, repetition)
        held_out = replace(of_one_model(drawn, cell.rows), metric=cell.metric)
        if cell.metric == "root_mean_squared_error":
            held_out = replace(held_out, truths=np.sqrt(drawn.truths))
        elif cell.metric == "r2":
            held_out = replace(held_out, truths=1 - drawn.truths)  # errors are in units of the target's variance
        yield held_out


def of_one_model(drawn: KnownMatrix, n_rows: int) -> KnownMatrix:
    """The same matrix with one label of folds for all rows."""
    folds = np.zeros(n_rows, dtype=np.int32)
    if isinstance(drawn.predictions, HeldOutPredictions):  # which have their own folds
        return replace(drawn, predictions=replace(drawn.predictions, folds=folds[:, None]), folds=None)
    return replace(drawn, folds=folds)


def cells() -> list[BedCell]:
    """The cells of the run."""
    return [
        BedCell("hold-out", kind, metric, rows, n) for metric in DRAWN for rows in ROWS for kind, n in KINDS.items()
    ]


def rows(cell: BedCell, repetitions: int) -> list[dict[str, object]]:
    """A row a method."""
    methods = (*METHODS, *(OF_ONE.get(cell.metric, ()) if cell.kind == "one" else ()))
    found = score_methods(matrices(cell, repetitions), methods, levels=LEVELS)
    rarer = cell.rows // CLASSES[cell.metric] if cell.metric in CLASSES else 0
    return [{**row, "rarer": rarer} for row in rows_of_cell(cell, methods, found, levels=LEVELS)]


if __name__ == "__main__":
    n_repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    pd.DataFrame([row for cell in cells() for row in rows(cell, n_repetitions)]).to_parquet(FILE, index=False)
