"""All configurations of a search as a table for other programs."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np

from heldout._types import Floats
from heldout.result import Evaluation
from heldout.scales import plain


def configurations_csv(evaluation: Evaluation) -> str:
    """A row a configuration, as CSV.

    Its number, name, parameters (as JSON) and status; on how many splits it was scored; the mean and the standard
    deviation over these splits of every scorer, in its own direction; and the share of bootstraps that selected it.
    """
    estimate, n = evaluation.estimate, len(evaluation.configurations)
    frequency = None if estimate is None else estimate.selection_frequency
    columns: dict[str, list[Any]] = {
        "configuration": list(range(n)),
        "name": list(evaluation.configurations.names),
        "params": [
            json.dumps({key: _plain(value) for key, value in each.items()})
            for each in evaluation.configurations.params
        ],
        "status": [_status(evaluation, place) for place in range(n)],
        "splits": np.isfinite(evaluation.fold_scores[evaluation.refit_metric].values).sum(axis=0).tolist(),
    }
    for name, scores in evaluation.fold_scores.items():
        columns[f"mean_{name}"] = [_number(np.mean, column) for column in scores.values.T]
        columns[f"sd_{name}"] = [_number(np.std, column) for column in scores.values.T]
    if frequency is not None:
        columns["selected"] = frequency.tolist()
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue()


def _plain(value: Any) -> Any:
    """A value as JSON has it, and any other as text."""
    return value if value is None or isinstance(value, bool | int | float | str) else plain(value)


def _number(of: Any, scores: Floats) -> Any:
    """A number of the scores that are known; an empty cell where there are none."""
    known = scores[np.isfinite(scores)]
    return float(of(known)) if known.size else ""


def _status(evaluation: Evaluation, place: int) -> str:
    if place in evaluation.failures or place in evaluation.predictions.failed:
        return "failed"
    if place in evaluation.predictions.dropped:
        return "dropped"
    return "winner" if place == evaluation.winner else "compared"
