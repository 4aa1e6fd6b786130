"""Decisions that signatures, options and texts share; without imports, so that a command's help is quick."""

DEFAULT_METHOD = "shrinkage"
"""The method of estimation where held-out predictions are known and a user names none."""
DEFAULT_BOOTSTRAPS = 1000
DEFAULT_LEVEL = 0.95

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
