"""Decisions that signatures, options and texts share, without a heavy import, so that a command's help is quick."""

from typing import Final

METHOD = "shrinkage"
"""The method of estimation where held-out predictions are known and a user names none."""
BOOTSTRAPS = 1000
ROWS_OF_BOOTSTRAP = 50_000
"""With more rows bootstraps draw from a random part of so many."""
LEVEL = 0.95
ALTERNATIVE: Final = "two-sided"
AGGREGATE: Final = "auto"
SELECTION = "best"
RESPONSE: Final = "auto"
SHARE: Final = "exact"
KEEP_MODELS: Final = "none"
DEPLOY: Final = "all"
PRE_DISPATCH = "2*n_jobs"

INNER = "remaining"
ACROSS: Final = "folds"
"""``INNER``, ``ACROSS``: of nested cross-validation."""
SCHEME: Final = "cvt"
SEARCH_BOOTSTRAPS = 100
"""``SCHEME``, ``SEARCH_BOOTSTRAPS``: of the bootstrap of a search, which searches in each."""
VALIDATION_BOOTSTRAPS = 200
INNER_BOOTSTRAPS = 50
"""``VALIDATION_BOOTSTRAPS``, ``INNER_BOOTSTRAPS``: of a validation, and of each of its bootstraps."""

MODELS_OF_PRESETS = {
    "quick": (
        "logistic", "ridge", "elastic net", "linear svm", "neighbours", "rbf svm", "forest", "boosting", "cox",
    ),
    "standard": (
        "logistic", "ridge", "elastic net", "linear svm", "tree", "neighbours", "rbf svm", "forest", "extra trees",
        "boosting", "cox",
    ),
    "boosted": ("hist boosting", "lightgbm", "xgboost", "catboost"),
}  # fmt: skip
"""The models of each preset, for any kind of task: a misspelt one is refused before the table is read."""
PUBLISHED_PRESETS = ("tsamardinos2018", "wainer_cawley2021")
"""The spaces of articles that heldout-papers adds to them."""
