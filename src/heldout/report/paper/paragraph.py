"""The methods text of any result."""

from __future__ import annotations

from heldout._registry import registered
from heldout.estimates.types import Estimate
from heldout.methods_text import MethodsText
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.protocols.validation.estimate import Validation
from heldout.report.paper.comparisons import text_of_comparison
from heldout.report.paper.estimates import text_of_estimate
from heldout.report.paper.searches import evaluation_of_protocol, text_of_search
from heldout.report.paper.validations import text_of_validation
from heldout.result import Evaluation


@registered("methods text")
def methods_text(result: Evaluation | Estimate | Validation | AlgorithmComparison) -> MethodsText:
    """What was done, as a paragraph for the methods section of an article.

    Parameters
    ----------
    result : Evaluation, Estimate, Validation or AlgorithmComparison

    Returns
    -------
    MethodsText
    """
    if isinstance(result, Evaluation):
        return text_of_search(result)
    if isinstance(result, Validation):
        return text_of_validation(result)
    if isinstance(result, AlgorithmComparison):
        return text_of_comparison(result)
    repeated = evaluation_of_protocol(result)
    return text_of_estimate(result) if repeated is None else text_of_search(repeated, result)
