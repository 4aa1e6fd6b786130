"""Chained equations."""

from __future__ import annotations

from typing import Any

from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer


def ChainedImputer(random_state: Any = None) -> Any:  # noqa: N802
    """For the moment scikit-learn's."""
    return IterativeImputer(sample_posterior=True, random_state=random_state)
