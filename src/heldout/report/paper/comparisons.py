"""From compared algorithms to their methods text."""

from __future__ import annotations

from heldout.methods_text import MethodsText, cited
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.report.algorithms import deployed_sentence, how_compared, record_of_deployed
from heldout.report.paper.searches import text_of_search


def text_of_comparison(comparison: AlgorithmComparison) -> MethodsText:
    """The methods text of a comparison of algorithms: that of the search over all, and how they were compared."""
    return MethodsText(
        f"{text_of_search(record_of_deployed(comparison)).source} {how_compared(comparison).removesuffix('.')}"
        f"{cited(comparison.sources)}. {deployed_sentence(comparison)}"
    )
