"""From a comparison of algorithms to the content of a report: on the deployed algorithm, with all beside it."""

from __future__ import annotations

from dataclasses import replace

from heldout.methods_text import cited
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.report.algorithms import algorithms_of, deployed_sentence
from heldout.report.content import ReportContent
from heldout.report.estimate_parts import headline_of
from heldout.report.facts import citations_of
from heldout.report.from_search import report_content


def comparison_content(
    comparison: AlgorithmComparison, *, command: str | None = None, title: str | None = None
) -> ReportContent:
    """The content of the report on a comparison of algorithms.

    Its number is the corrected score of the deployed algorithm. ``command`` is the command line or call that made
    it, ``title`` such as the name of the data.
    """
    record, deployed = comparison.evaluation, comparison[comparison.deployed]
    estimate = deployed.corrected
    if estimate is not None:
        # The estimate numbers the configurations of its algorithm, and the record those of all.
        estimate = replace(estimate, selected=record.winner, selection_frequency=None)
    record = replace(
        record,
        estimates={} if estimate is None else {record.refit_metric: estimate},
        n_fits=comparison.n_fits,
        n_fits_saved=comparison.n_fits_saved,
        barriers=(),  # of several races, one an algorithm
    )
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
    algorithms = algorithms_of(comparison, scale)
    return replace(
        content,
        headline=headline,
        algorithms=algorithms,
        methods_text=f"{content.methods_text} {algorithms.how}{cited(comparison.sources)} "
        + deployed_sentence(deployed.name, len(comparison.algorithms)),
        citations=(*content.citations, *further),
    )
