"""Provenance: what an estimate says of how it came about."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray

from heldout._version import __version__
from heldout.data.task import Truth
from heldout.estimates.base import Settings
from heldout.estimates.evidence.question import Question
from heldout.kernels.dispatch import KERNELS
from heldout.metrics.base import Metric, positive_of
from heldout.predictions import HeldOutPredictions
from heldout.selection import Best, Rule
from heldout.selection.base import settings_of

TIES = "the lowest index wins"


def provenance_of(
    truth: Truth, predictions: HeldOutPredictions, question: Question, candidates: NDArray[np.intp]
) -> dict[str, Any]:
    """What was asked, of how many rows and configurations."""
    return {
        **settings_provenance(question.settings),
        "task": str(truth.kind),
        "pos_label": _pos_label(question.metric, truth),
        "aggregate": question.aggregate,
        "selection": question.rule.name,
        **_rule_settings(question.rule),
        "ties": TIES,
        "n_rows": predictions.n_rows,
        "n_configurations": predictions.n_configurations,
        "n_candidates": len(candidates),
        "n_repeats": predictions.n_repeats,
        "training_rows": predictions.training_rows,
        "grouped": question.groups is not None,
        "weighted": question.sample_weight is not None,
    }


def _rule_settings(rule: Rule) -> dict[str, Any]:
    """How a rule was configured, and what it cites; nothing where there is nothing to say."""
    configured = settings_of(rule)
    said: dict[str, Any] = {"selection_settings": configured} if configured and rule != Best() else {}
    sources = getattr(rule, "sources", ())
    return said | ({"sources": list(sources)} if sources else {})


def _pos_label(metric: Metric, truth: Truth) -> Any:
    """The label of the metric's own positive class, or None where it has none."""
    code = positive_of(metric, truth)
    return None if code is None else truth.with_positive(code).pos_label


def settings_provenance(settings: Settings) -> dict[str, Any]:
    """Seed, kernels and versions behind a number."""
    return {
        "entropy": settings.entropy,
        "kernels": KERNELS,
        "versions": {"heldout": __version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__},
    }
