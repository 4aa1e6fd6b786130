"""The content of the report on any result: a fitted search, its record, an estimate, a validation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from heldout._sklearn import BaseSearchCV
from heldout.data.arrays import shortened
from heldout.errors import InputError
from heldout.estimates.types import Estimate
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.protocols.validation.estimate import Validation
from heldout.report.content import PageContent
from heldout.report.estimate_parts import headline_of, method_sentences
from heldout.report.facts import citations_of, facts_with_text, reproduction_of, settings_of
from heldout.report.from_search import comparison_content, report_content
from heldout.report.from_validation import validation_content
from heldout.report.paper import evaluation_of_protocol, text_of_estimate
from heldout.result import Evaluation
from heldout.scales import scale_of_estimate


def evaluation_of_result(result: Any) -> Evaluation | None:
    """The record of the search behind a result; None if there is none.

    Raises InputError for a search that kept no record.
    """
    if isinstance(result, Evaluation):
        return result
    if isinstance(result, AlgorithmComparison):
        return result.evaluation
    repeated = evaluation_of_protocol(result)
    if repeated is not None:
        return replace(repeated, estimates={repeated.refit_metric: result})
    if not hasattr(result, "evaluation_"):
        return None
    if result.evaluation_ is None:
        raise InputError("this needs the held-out predictions of the search; search with `keep_predictions=True`.")
    evaluation: Evaluation = result.evaluation_
    return evaluation


def content_of(result: Any) -> PageContent:
    """What a report or card shows of a result.

    Raises InputError when it is no result, or a search that is not fitted.
    """
    if isinstance(result, AlgorithmComparison):
        return comparison_content(result)
    evaluation = evaluation_of_result(result)
    if evaluation is not None:
        return report_content(evaluation)
    if isinstance(result, Validation):
        return validation_content(result)
    if isinstance(result, Estimate):
        return _estimate_content(result)
    remedy = ""
    if isinstance(result, BaseSearchCV):
        ours = hasattr(result, "keep_predictions")
        remedy = "; fit it first" if ours else "; ho.correct makes an estimate of a search of scikit-learn"
    raise InputError(
        "a fitted search of heldout, an estimate, a validation or a comparison of algorithms is needed, got "
        f"{shortened(result)}{remedy}."
    )


def _estimate_content(estimate: Estimate) -> PageContent:
    """What is known of an estimate without the predictions behind it."""
    provenance = estimate.provenance
    scale, _ = scale_of_estimate(estimate)
    n = int(provenance.get("n_candidates", 1))
    facts = [
        ("Rows", f"{estimate.n_rows_used:,}" if estimate.n_rows_used else ""),
        ("Configurations", f"{int(provenance.get('n_configurations', n)):,}"),
    ]
    return PageContent(
        title="",
        headline=headline_of(
            estimate, scale, uncorrected=estimate.uncorrected, winner=estimate.selected_name, candidates=n,
            rows=estimate.n_rows_used, folds="held-out predictions" if estimate.n_rows_used else "scores of splits",
        ),
        facts=facts_with_text(facts),
        method=method_sentences(estimate),
        settings=settings_of([provenance]),
        flags=tuple(estimate.flags.values()),
        citations=citations_of([estimate], None),
        methods_text=text_of_estimate(estimate).source,
        reproduction=reproduction_of([provenance]),
    )  # fmt: skip
