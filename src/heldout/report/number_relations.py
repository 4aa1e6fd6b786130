"""Sentences that relate a report's numbers to the model that is delivered."""

from __future__ import annotations

import math
from typing import Any, Literal

from heldout.estimates.types import Estimate
from heldout.flags import Flag

Source = Literal["search", "file"]
_OF_THE_WHOLE_SEARCH = ("nested_cv", "bootstrap_search")


def delivered_sentence(
    estimate: Estimate | None,
    rows: int,
    *,
    source: Source,
    is_corrected: bool = True,
    is_fitted: bool = True,
    is_bounded: bool = False,
) -> str:
    """What the estimate means for the model that is used afterwards; empty without an estimate.

    - ``is_corrected``: whether it is corrected for selection, or nothing was selected.
    - ``is_fitted``: whether the search fitted a model to deliver.
    - ``is_bounded``: whether this is the one that a hold-out tested rather than one of all rows.
    """
    if estimate is None or math.isnan(estimate.value):
        return ""
    if is_bounded:
        return "The delivered model is the one that the hold-out tested, so the estimate is of that very model."
    trained = estimate.provenance.get("training_rows")
    size = "part of the rows" if not trained else f"about {trained:,.0f} rows"
    on_all = (
        "is expected to score the same on new rows of the same kind, or a little better where more rows help."
        if is_corrected
        else "may score worse on new rows, as the estimate is not corrected for the selection."
    )
    if source == "file":
        return (
            f"The file holds predictions and no model: the estimate is of models fitted on {size}, and a model of "
            f"the same configuration fitted on all rows {on_all}"
        )
    model = f"{'The delivered model is' if is_fitted else 'No model was'} fitted on all {rows:,} rows"
    if estimate.method in _OF_THE_WHOLE_SEARCH:
        return (
            f"{model}; the estimate is of the whole search, repeated without the rows that score it, and so of "
            "what it delivers."
        )
    if Flag.TRAINING_SIZE_CORRECTED in estimate.flags:
        return f"{model}, and the estimate is of models of that size, from models fitted on {size} and on fewer."
    subject = "the delivered one" if is_fitted else "such a model"
    return f"{model}; the estimate is of models fitted on {size}, and {subject} {on_all}"


def calibration_advice(model: Any, source: Source) -> str:
    """Why calibration is not shown, and what shows it; ``model``: the winner, or None if there is none."""
    if source == "file":
        return (
            "The file holds no probabilities of the winner, so calibration is not shown; give a file of predicted "
            "probabilities."
        )
    how = (
        "with a metric of probabilities among the metrics (heldout tune --metric roc_auc,neg_log_loss, or "
        'scoring=["roc_auc", "neg_log_loss"] and refit="roc_auc")'
    )
    if model is not None and not hasattr(model, "predict_proba"):
        return (
            "The winner gives decision values and no probabilities, so calibration is not shown. "
            "CalibratedClassifierCV around such a model turns its decision values into probabilities, and a search "
            f"{how} keeps them."
        )
    return (
        f"The search kept no probabilities of the winner, so calibration is not shown; a search {how} keeps them."
    )
