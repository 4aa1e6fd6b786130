"""Results of repetitions that are worked out by hand, for tests of what sums them up."""

from typing import Any

import numpy as np


def columns_of(n_methods: int, **columns: list[list[float]]) -> dict[str, Any]:
    """Columns (repetitions, methods) as ``score_methods`` gives them, NaN where not said."""
    n = len(columns["value"])
    shape = n, n_methods
    found: dict[str, Any] = {name: np.array(values, dtype=float) for name, values in columns.items()}
    for name in ("seconds", "low_95", "high_95", "bound_95"):
        found.setdefault(name, np.full(shape, np.nan))
    found.setdefault("scale", np.ones(shape))
    found.setdefault("failure", np.where(np.isnan(found["value"]), "none", "").astype("<U80"))
    return found


def cell_row(method: str, **values: Any) -> dict[str, Any]:
    """A row of a cell and method, with everything that claims read."""
    usual: dict[str, Any] = {
        "part": "tables", "kind": "varied", "metric": "accuracy", "rows": 40, "configurations": 57,
        "method": method, "repetitions": 400, "no_value": 0, "catastrophes": 0, "bias": -0.02, "bias_error": 0.001,
        "rmse": 0.1, "rmse_error": 0.002, "rmse_ratio": 1.0, "rmse_ratio_error": 0.005, "coverage_95": 0.96,
        "intervals_95": 400, "no_width_95": 0, "width_ratio_95": 1.0, "coverage_bound_95": 0.96,
        "intervals_bound_95": 400, "seconds": 0.001,
    }  # fmt: skip
    return usual | values
