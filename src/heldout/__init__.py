"""heldout: tune as many models as you like, and report a performance you can believe."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from heldout._version import __version__

if TYPE_CHECKING:
    from heldout import dropping, estimates, metrics, protocols, selection, spaces, studies
    from heldout.adapters.correct import correct
    from heldout.adapters.saved_model import load_model
    from heldout.errors import HeldoutError, HeldoutWarning, InputError
    from heldout.estimates.comparison import compare_estimates
    from heldout.estimates.from_predictions import estimate
    from heldout.estimates.from_scores import estimate_from_scores
    from heldout.estimates.types import Estimate
    from heldout.fold_scores import FoldScores
    from heldout.paired.compare import compare_configurations
    from heldout.predictions import HeldOutPredictions
    from heldout.protocols.bootstrapped.protocol import bootstrap_search
    from heldout.protocols.nested.protocol import nested_cv
    from heldout.protocols.validation.protocol import bootstrap_validate
    from heldout.search import HeldOutSearchCV
    from heldout.studies.advice import advise
    from heldout.wording import Flag

__all__ = [
    "Estimate",
    "Flag",
    "FoldScores",
    "HeldOutPredictions",
    "HeldOutSearchCV",
    "HeldoutError",
    "HeldoutWarning",
    "InputError",
    "__version__",
    "advise",
    "bootstrap_search",
    "bootstrap_validate",
    "compare_configurations",
    "compare_estimates",
    "correct",
    "dropping",
    "estimate",
    "estimate_from_scores",
    "estimates",
    "load_model",
    "metrics",
    "nested_cv",
    "protocols",
    "selection",
    "spaces",
    "studies",
]

# Loaded when first asked for: the command line shows its help without scikit-learn.
_HOMES = {
    "Estimate": "heldout.estimates.types",
    "Flag": "heldout.wording",
    "FoldScores": "heldout.fold_scores",
    "HeldOutPredictions": "heldout.predictions",
    "HeldOutSearchCV": "heldout.search",
    "HeldoutError": "heldout.errors",
    "HeldoutWarning": "heldout.errors",
    "InputError": "heldout.errors",
    "advise": "heldout.studies.advice",
    "bootstrap_search": "heldout.protocols.bootstrapped.protocol",
    "bootstrap_validate": "heldout.protocols.validation.protocol",
    "compare_configurations": "heldout.paired.compare",
    "correct": "heldout.adapters.correct",
    "compare_estimates": "heldout.estimates.comparison",
    "estimate": "heldout.estimates.from_predictions",
    "estimate_from_scores": "heldout.estimates.from_scores",
    "load_model": "heldout.adapters.saved_model",
    "nested_cv": "heldout.protocols.nested.protocol",
}
_PACKAGES = ("dropping", "estimates", "metrics", "protocols", "selection", "spaces", "studies")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"heldout.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'heldout' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
