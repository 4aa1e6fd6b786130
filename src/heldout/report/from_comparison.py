"""From a comparison of algorithms to the content of a report: on the deployed algorithm, with all beside it."""

from __future__ import annotations

from dataclasses import replace

from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.report.algorithms import algorithms_of, record_of_deployed
from heldout.report.content import ReportContent
from heldout.report.estimate_parts import headline_of
from heldout.report.facts import citations_of
from heldout.report.from_search import report_content
from heldout.report.paper.comparisons import text_of_comparison


def comparison_content(
    comparison: AlgorithmComparison, *, command: str | None = None, title: str | None = None
) -> ReportContent:
    """The content of the report on a comparison of algorithms.

    Its number is the corrected score of the deployed algorithm. ``command`` is the command line or call that made
    it, ``title`` such as the name of the data.
    """
    record, deployed = record_of_deployed(comparison), comparison[comparison.deployed]
    estimate = record.estimate
    content = report_content(record, command=command, title=title)
    scale = content.headline.metric
    mine = {each.position for each in record.configurations if str(each.model) == deployed.name}
    out = set(record.predictions.out) & mine
    dropped = len(set(record.predictions.dropped) & mine)
    headline = headline_of(
        estimate,
        scale,
        uncorrected=deployed.flat,
        winner=comparison.deployed_name,
        candidates=len(mine) - len(out),
        rows=record.task.n_rows,
        folds=next((fact.text for fact in content.facts if fact.label == "Folds"), ""),
        dropped=dropped,
    )
    known = {citation.text for citation in content.citations}
    further = [each for each in citations_of([], None, comparison.sources) if each.text not in known]
    return replace(
        content,
        headline=headline,
        algorithms=algorithms_of(comparison, scale),
        methods_text=text_of_comparison(comparison).source,
        citations=(*content.citations, *further),
    )
