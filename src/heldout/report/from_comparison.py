"""From a comparison of algorithms to the content of a report: on the deployed algorithm, with all beside it."""

from __future__ import annotations

from dataclasses import replace

from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.report.algorithms import algorithms_of, record_of_deployed
from heldout.report.content import ReportContent
from heldout.report.facts import citations_of
from heldout.report.from_search import report_content
from heldout.report.paper.comparisons import text_of_comparison


def comparison_content(
    comparison: AlgorithmComparison, *, command: str | None = None, title: str | None = None
) -> ReportContent:
    """The content of the report on a comparison of algorithms.

    Its number is the score of the model to deploy, corrected for the choice among all algorithms. ``command`` is
    the command line or call that made it, ``title`` such as the name of the data.
    """
    content = report_content(record_of_deployed(comparison), command=command, title=title)
    known = {citation.text for citation in content.citations}
    further = [each for each in citations_of([], None, comparison.sources) if each.text not in known]
    return replace(
        content,
        algorithms=algorithms_of(comparison, content.headline.metric),
        methods_text=text_of_comparison(comparison).source,
        citations=(*content.citations, *further),
    )
