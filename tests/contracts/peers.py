"""What is the same in a search of scikit-learn and in one of heldout, and rows for both."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

FITTED = (
    "best_index_", "best_params_", "best_score_", "n_splits_", "multimetric_", "n_features_in_", "classes_",
    "feature_names_in_",
)  # fmt: skip


def cancer(n_rows: int = 120, n_columns: int = 5) -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:n_rows, :n_columns]), y[:n_rows]


def same(ours: Any, theirs: Any) -> None:
    """Equal, numbers to 1e-12."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            same(ours[key], theirs[key])
    elif isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    elif isinstance(theirs, frozenset):
        assert theirs <= ours, "what catches their error must catch ours"
    elif isinstance(theirs, np.ndarray | float) and np.asarray(theirs).dtype.kind in "fc":
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    else:
        assert type(ours) is type(theirs)
        assert repr(ours) == repr(theirs)


def results(search: Any) -> dict[str, Any]:
    """What a fitted search says, without its times."""
    table = {key: column for key, column in search.cv_results_.items() if "time" not in key}
    for key in table:
        if key.startswith("param_"):
            table[key] = (table[key].dtype, table[key].mask.tolist(), table[key].tolist())
    table |= {name: getattr(search, name) for name in FITTED if hasattr(search, name)}
    return table | ({"best_index_": int(table["best_index_"])} if "best_index_" in table else {})
