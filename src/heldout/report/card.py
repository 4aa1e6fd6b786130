"""``ho.report_card``: a result as Markdown, for the README or the model card of a repository."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from heldout._sklearn import BaseSearchCV
from heldout._text import ends_text, markdown_text, number_text, printable
from heldout.data.arrays import shortened
from heldout.errors import InputError
from heldout.estimates.types import Estimate
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.words import method_words
from heldout.report.content import Headline, PageContent, ReportContent
from heldout.report.estimate_parts import headline_of, method_sentences
from heldout.report.facts import citations_of, facts_with_text, reproduction_of, settings_of
from heldout.report.from_search import comparison_content, report_content
from heldout.report.from_validation import validation_content
from heldout.report.paper import evaluation_of_protocol
from heldout.report.validation_content import ValidationContent
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
        methods_text=estimate.methods_text(),
        reproduction=reproduction_of([provenance]),
    )  # fmt: skip


def report_card(search: Any, *, title: str | None = None) -> str:
    """A result as Markdown: the score with its interval, what a reader must know, the data, and how to repeat it.

    It is meant for the README of a repository or a model card, and needs no file beside it.

    Parameters
    ----------
    search : fitted search, Evaluation, Estimate, NestedEstimate, Validation or AlgorithmComparison
    title : str, optional
        The heading; "Performance" by default.

    Returns
    -------
    str
        Markdown, as GitHub reads it. Its headings begin at the second level.

    Raises
    ------
    InputError
        When the search is not fitted, or kept no held-out predictions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import heldout as ho
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, random_state=0).fit(X, y)
    >>> print("\\n".join(ho.report_card(search).splitlines()[:3]))  # doctest: +ELLIPSIS
    ## Performance
    <BLANKLINE>
    **Accuracy on new data: 0.9664** (95 % confidence interval 0.9222 to 0.9999), corrected for the...
    """
    return card_of(content_of(search), title=title)


def card_of(content: PageContent, *, title: str | None = None) -> str:
    """The card of the content of a report."""
    parts = [
        f"## {markdown_text(title or content.title or 'Performance')}",
        _headline(content.headline, "optimism" if isinstance(content, ValidationContent) else "the selection"),
        markdown_text(content.headline.sentence),
        markdown_text(content.headline.coverage),
        _definition(content.headline),
        _bullets("What a reader must know:", content.flags),
        _scores(content),
        "### Model and data",
        _table(("Fact", "Value"), [("Model", content.headline.winner), *_facts(content)]),
        _parameters(content),
        "### How it was computed",
        _sentences(content.method),
        "### How to reproduce it",
        f"```bash\n{printable(content.command)}\n```" if content.command else "",
        _table(("Record", "Value"), [(fact.label, fact.text) for fact in content.reproduction]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _headline(headline: Headline, cause: str) -> str:
    """The number, with its interval; ``cause``: what it was corrected for."""
    metric = headline.metric
    name, decimals = metric.title, metric.decimals
    if headline.value is None:
        uncorrected = number_text(headline.uncorrected, decimals)
        return f"**{markdown_text(name)}: {uncorrected}**, cross-validated and uncorrected for {cause}."
    interval = f" ({headline.interval_label} {headline.interval_text})" if headline.interval_text else ""
    by = f" ({method_words(headline.method).name})"
    kind = {"corrected": f"corrected for {cause}{by}", "uncorrected": f"uncorrected for {cause}{by}"}
    value = f"**{markdown_text(name)} on new data: {number_text(headline.value, decimals)}**"
    before = (
        f" Uncorrected it is {number_text(headline.uncorrected, decimals)}."
        if headline.is_corrected and headline.uncorrected is not None
        else ""
    )
    constant = (
        ""
        if headline.constant is None
        else f" A model that predicts the same for every row has {number_text(headline.constant, decimals)}."
    )
    return f"{value}{interval}, {kind.get(headline.label, headline.label)}.{before}{constant}"


def _definition(headline: Headline) -> str:
    """What the metric measures, if that is known."""
    metric = headline.metric
    return (
        f"{markdown_text(metric.title)}: {markdown_text(metric.definition)} {headline.direction}"
        if metric.definition
        else ""
    )


def _facts(content: PageContent) -> list[tuple[str, str]]:
    """The facts about the data and the search; what the fits cost belongs in the report."""
    costs = ("Time", "Shared")
    return [(fact.label, fact.text) for fact in content.facts if not fact.label.startswith(costs)]


def _scores(content: PageContent) -> str:
    """The table of several metrics."""
    rows: Sequence[Any] = ()
    if isinstance(content, ReportContent):
        rows = [(row.metric.title, row, row.value, row.uncorrected) for row in content.metrics]
    elif isinstance(content, ValidationContent) and len(content.table) > 1:
        rows = [(row.title, row, row.corrected, row.apparent) for row in content.table]
    if not rows:
        return ""
    numbers = [
        (
            title,
            number_text(value, row.metric.decimals),
            ends_text(row.low, row.high, row.metric.decimals) or "none",
            *(number_text(other, row.metric.decimals) for other in (before, row.constant)),
        )
        for title, row, value, before in rows
    ]
    return _table(("Metric", "Corrected", "Interval", "Uncorrected", "Constant model"), numbers)


def _parameters(content: PageContent) -> str:
    searched = [(each.name, each.text) for each in content.parameters if each.searched]
    return _table(("Parameter that was searched", "Value"), searched) if searched else ""


def _sentences(sentences: Iterable[str]) -> str:
    return " ".join(markdown_text(sentence) for sentence in sentences if sentence)


def _bullets(lead: str, sentences: Sequence[str]) -> str:
    return "\n".join([lead, "", *(f"- {markdown_text(sentence)}" for sentence in sentences)]) if sentences else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *([markdown_text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
