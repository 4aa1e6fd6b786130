"""``ho.report_card``: a result as Markdown, for the README or the model card of a repository."""

from __future__ import annotations

from typing import Any

from heldout.report.entries import Facts
from heldout.report.facts import facts
from heldout.report.templating import filled


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
    return card_of(facts(search), title=title)


def card_of(content: Facts, *, title: str | None = None) -> str:
    """The card of a result's facts."""
    return filled("card.md.jinja", {"content": content, "title": title}, "markdown").strip() + "\n"
