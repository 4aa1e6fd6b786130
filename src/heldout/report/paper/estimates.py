"""From an estimate alone to its methods text: how the models were trained is not known."""

from __future__ import annotations

from typing import Any

from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.methods_text import MethodsText
from heldout.report.paper.data import counted_of
from heldout.report.paper.estimation import estimate_sentences, selection_sentence, sources_by_use
from heldout.report.paper.resampling import nested_words
from heldout.report.paper.software import seed_sentence, software_sentence


def text_of_estimate(estimate: Estimate) -> MethodsText:
    """The methods text of an estimate from predictions or scores alone."""
    provenance = estimate.provenance
    sentences = [
        _source(estimate),
        selection_sentence(
            str(provenance.get("selection", "best")),
            str(provenance.get("winner_chosen_on", provenance.get("aggregate", "folds"))),
            estimate.metric,
            greater_is_better=None,
            n_candidates=int(provenance.get("n_candidates", 1)),
            is_single=Flag.SINGLE_CONFIGURATION in estimate.flags,
            winner=estimate.selected_name,
            settings=provenance.get("selection_settings"),
            sources=sources_by_use(estimate).rule,
        ),
        nested_words(provenance),
        *estimate_sentences(estimate, []),
        software_sentence(provenance.get("versions", {}), None),
        seed_sentence(provenance.get("entropy")),
    ]
    return MethodsText(" ".join(sentence for sentence in sentences if sentence))


def _source(estimate: Estimate) -> str:
    """What the estimate was computed from."""
    provenance: Any = estimate.provenance
    configurations = counted_of(int(provenance.get("n_configurations", 1)), "configuration")
    repeats = int(provenance.get("n_repeats", 1))
    times = f" in {repeats:,} repeats" if repeats > 1 else ""
    weighted = " Rows were weighted." if provenance.get("weighted") else ""
    if not estimate.n_rows_used:
        splits = provenance.get("n_splits")
        on = "" if splits is None else f" on {counted_of(int(splits), 'split')}"
        from_what = f"the scores of {configurations}{on}{times}"
        return f"The estimate is from {from_what}; it does not record how they were made."
    positive = provenance.get("pos_label")
    of_class = "" if positive is None else f" The positive class is {positive}."
    rows = counted_of(estimate.n_rows_used, "row")
    return (
        f"The estimate is from held-out predictions of {configurations} for {rows}{times}; it does not record how "
        f"their models were trained.{of_class}{weighted}"
    )
