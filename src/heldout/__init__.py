"""heldout: tune as many models as you like, and report a performance you can believe."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from heldout._registry import locate
from heldout._version import __version__

if TYPE_CHECKING:
    from heldout import dropping, estimates, metrics, plots, protocols, selection, spaces, studies
    from heldout.advice import advise
    from heldout.errors import HeldoutError, HeldoutWarning, InputError
    from heldout.estimates.comparison import compare_estimates
    from heldout.estimates.estimate import estimate
    from heldout.estimates.from_scores import estimate_from_scores
    from heldout.estimates.paired.compare import compare_configurations
    from heldout.estimates.training_size import rows_needed
    from heldout.estimates.types import Estimate
    from heldout.execution.inner_split import inner_split
    from heldout.flags import Flag
    from heldout.folds.plans import split_items
    from heldout.predictions import FoldScores, HeldOutPredictions
    from heldout.protocols.algorithms.protocol import compare_algorithms
    from heldout.protocols.nested.protocol import nested_cv
    from heldout.protocols.search_bootstrap import bootstrap_search
    from heldout.protocols.validation.arguments import bootstrap_validate
    from heldout.readers.correct import correct
    from heldout.readers.formats import read_predictions
    from heldout.readers.saved_model import load_model, save_model
    from heldout.report.mlflow_run import log_to_mlflow
    from heldout.report.render import report_card
    from heldout.search import HeldOutRandomizedSearchCV, HeldOutSearchCV
    from heldout.search import optuna as optuna
    from heldout.search.open import open_search
    from heldout.search.optuna.search import HeldOutOptunaSearchCV

__all__ = [
    "Estimate",
    "Flag",
    "FoldScores",
    "HeldOutOptunaSearchCV",
    "HeldOutPredictions",
    "HeldOutRandomizedSearchCV",
    "HeldOutSearchCV",
    "HeldoutError",
    "HeldoutWarning",
    "InputError",
    "__version__",
    "advise",
    "bootstrap_search",
    "bootstrap_validate",
    "compare_algorithms",
    "compare_configurations",
    "compare_estimates",
    "correct",
    "dropping",
    "estimate",
    "estimate_from_scores",
    "estimates",
    "inner_split",
    "load_model",
    "log_to_mlflow",
    "metrics",
    "nested_cv",
    "open_search",
    "plots",
    "protocols",
    "read_predictions",
    "report_card",
    "rows_needed",
    "save_model",
    "selection",
    "spaces",
    "split_items",
    "studies",
]

# Loaded when first asked for: the command line shows its help without scikit-learn.
_HOMES = {
    "Estimate": "heldout.estimates.types",
    "Flag": "heldout.flags",
    "FoldScores": "heldout.predictions",
    "HeldOutOptunaSearchCV": "heldout.search.optuna.search",
    "HeldOutPredictions": "heldout.predictions",
    "HeldOutRandomizedSearchCV": "heldout.search",
    "HeldOutSearchCV": "heldout.search",
    "HeldoutError": "heldout.errors",
    "HeldoutWarning": "heldout.errors",
    "InputError": "heldout.errors",
    "advise": "heldout.advice",
    "bootstrap_search": "heldout.protocols.search_bootstrap",
    "bootstrap_validate": "heldout.protocols.validation.arguments",
    "compare_algorithms": "heldout.protocols.algorithms.protocol",
    "compare_configurations": "heldout.estimates.paired.compare",
    "correct": "heldout.readers.correct",
    "compare_estimates": "heldout.estimates.comparison",
    "estimate": "heldout.estimates.estimate",
    "estimate_from_scores": "heldout.estimates.from_scores",
    "inner_split": "heldout.execution.inner_split",
    "load_model": "heldout.readers.saved_model",
    "save_model": "heldout.readers.saved_model",
    "log_to_mlflow": "heldout.report.mlflow_run",
    "nested_cv": "heldout.protocols.nested.protocol",
    "open_search": "heldout.search.open",
    "read_predictions": "heldout.readers.formats",
    "report_card": "heldout.report.render",
    "rows_needed": "heldout.estimates.training_size",
    "split_items": "heldout.folds.plans",
}
_PACKAGES = {
    name: f"heldout.{name}"
    for name in ("dropping", "estimates", "metrics", "plots", "protocols", "selection", "spaces", "studies")
}
_PACKAGES["optuna"] = "heldout.search.optuna"


locate(
    {
        "methods text": "heldout.report.study",
        "plot": "heldout.report.displays.corrected_score",
        "recommendation": "heldout.advice",
        "store": "heldout.execution.store",
    }
)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(_PACKAGES[name])
    if name in _HOMES:
        globals()[name] = getattr(import_module(_HOMES[name]), name)
        return globals()[name]
    raise AttributeError(f"module 'heldout' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "optuna"])  # which a star import must not put in the place of the package of this name
