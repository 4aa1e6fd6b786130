"""Which method and which interval for what a user has, with what they gave in the nearest cell of the test bed."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from heldout._record import Record, TextTable
from heldout._registry import registered
from heldout.data.checks import check_choice, check_count
from heldout.errors import InputError
from heldout.estimates import coverage
from heldout.estimates.coverage import CellEvidence
from heldout.metrics.named import metric_named
from heldout.report.templating import sentences

_FOLDER = files("heldout.advice")


@dataclass(frozen=True)
class Case:
    """A row of the table.

    Attributes
    ----------
    have : str
        What the user has.
    method : str
        As ``ho.estimate`` and the command line take it, or the name of a protocol.
    interval : str
        How the interval is made.
    ask : str
        The call, with ``{metric}`` for the name of a metric.
    """

    have: str
    method: str
    interval: str
    ask: str


CASES: Mapping[str, Case] = {
    name: Case(**texts)
    for name, texts in tomllib.loads((_FOLDER / "advice.toml").read_text(encoding="utf-8"))["cases"].items()
}
"""Every case by its name."""
FEWEST_FOLDS = 10
"""Folds below which a bootstrap of folds covers less than its level."""
Demand: TypeAlias = Literal["nested_cv", "bbc"]


@dataclass(frozen=True, eq=False)
class Recommendation(Record):
    """A method and its interval for what a user has, with its evidence.

    Attributes
    ----------
    case : str
        "choice", "one", "hold-out", "hold-out, one accuracy", "fold scores", "fold scores of one", "adaptive",
        "nested" or "published".
    method : str
        As ``ho.estimate`` and the command line take it, or the name of a protocol.
    interval : str
        How its interval is made.
    ask : str
        The call.
    metric : str or None
    n_rows, n_configurations : int
    figures : CellEvidence or None
        What the method gave in the nearest cell of the test bed; None where the test bed has no such case.
    reference : CellEvidence or None
        What ``bbc`` with percentiles gave there.
    sentences, warnings : tuple of str
        The recommendation in words, and where its figures may not hold.
    """

    case: str
    method: str
    interval: str
    ask: str
    metric: str | None
    n_rows: int
    n_configurations: int
    figures: CellEvidence | None
    reference: CellEvidence | None
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def _rows(self) -> list[CellEvidence]:
        """What the recommended method and ``bbc`` gave in the cell: none, one or two rows."""
        return list(dict.fromkeys(cell for cell in (self.figures, self.reference) if cell is not None))

    def tables(self) -> list[TextTable]:
        """The call, the sentences and the warnings."""
        return [TextTable(self.ask), TextTable(notes=(*self.sentences, *(f"! {text}" for text in self.warnings)))]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        covers = "" if self.figures is None else f"; covers {self.figures.coverage:.3f}"
        return f"Recommendation({self.method!r} for {CASES[self.case].have}{covers})"


@registered("recommendation")
def recommendation(
    metric: Any,
    *,
    n_rows: int,
    n_configurations: int,
    alike: bool = False,
    folds: int = 5,
    only_scores: bool = False,
    adaptive: bool = False,
    demand: Demand | None = None,
) -> Recommendation:
    """Recommend a method and its interval from the size of a problem, with what they gave in the test bed.

    Nothing is fitted or drawn: the answer is a table of cases, and the figures are those of the nearest cell of a
    kept run. ``ho.advise`` gives the same for a search that is still to be run.

    Parameters
    ----------
    metric : str, Metric or None
        As in ``ho.estimate``; None for a scorer that cannot be opened, of which there are no figures.
    n_rows : int
        The number of rows, or of groups where rows come in groups.
    n_configurations : int
        1 for a configuration that was named before its predictions were seen.
    alike : bool
        Whether all configurations are of one estimator.
    folds : int
        How many models predicted the rows of a configuration in one repeat; 1 for the rows of a hold-out or test
        set.
    only_scores : bool
        Whether there are only the scores of folds, and no predictions.
    adaptive : bool
        Whether the configurations were proposed or dropped because of scores on these rows.
    demand : "nested_cv" or "bbc", optional
        What a reader requires: nested cross-validation, or the correction as published.

    Returns
    -------
    Recommendation
        ``print`` it; ``.ask`` is the call, ``.figures`` the evidence.

    Raises
    ------
    InputError
        When a number is too small, or the metric is unknown.

    Examples
    --------
    >>> import heldout as ho
    >>> found = ho.estimates.recommendation("accuracy", n_rows=120, n_configurations=40)
    >>> found.method
    'shrinkage'
    >>> print(found.ask)
    ho.estimate(y, predictions, metric="accuracy", folds=folds, method="shrinkage")
    """
    check_count("n_rows", n_rows, 2)
    check_count("n_configurations", n_configurations)
    check_count("folds", folds)
    for name, answer in {"alike": alike, "only_scores": only_scores, "adaptive": adaptive}.items():
        if not isinstance(answer, bool | np.bool_):
            raise InputError(f"{name} must be True or False, got {answer!r}.")
    if demand is not None:
        check_choice("demand", demand, ("nested_cv", "bbc"), ", or None")
    named = None if metric is None else metric_named(metric)
    metric = None if named is None else named.name
    case = _case(metric, n_configurations == 1, folds, only_scores, adaptive, demand)
    like = "" if named is None else coverage.metric_in_bed(named)
    nearest = partial(
        coverage.nearest_cell,
        coverage.installed_bed(),
        part=coverage.HOLD_OUT if folds == 1 else coverage.TABLES,
        kind=coverage.ONE if n_configurations == 1 else coverage.ALIKE if alike and folds > 1 else coverage.VARIED,
        metric=like,
    )
    row = CASES[case]
    figures = nearest(coverage.REFERENCE if demand == "bbc" else row.method, n_rows=n_rows)
    reference = figures and nearest(coverage.REFERENCE, n_rows=figures.rows)
    facts = {
        "case": row,
        "adaptive": case == "adaptive",
        "figures": figures,
        "level": coverage.LEVEL,
        "reference": reference,
        "few_folds": folds if case == "fold scores" and folds < FEWEST_FOLDS else None,
        "fewest": FEWEST_FOLDS,
        "metric": metric,
        "like": like,
        "n_rows": n_rows,
        "is_far": figures and abs(math.log(n_rows / figures.rows)) > math.log(coverage.FAR),
        "better": figures and _remedy(figures),
    }
    return Recommendation(
        case, row.method, row.interval, row.ask.format(metric=metric), metric, int(n_rows), int(n_configurations),
        figures, reference, said("answer", facts), said("answer_doubts", facts),
    )  # fmt: skip


def _case(
    metric: str | None, is_one: bool, folds: int, only_scores: bool, adaptive: bool, demand: Demand | None
) -> str:
    if demand is not None:
        return "nested" if demand == "nested_cv" else "published"
    if adaptive:
        return "adaptive"
    if only_scores:
        return "fold scores of one" if is_one else "fold scores"
    if folds > 1:
        return "one" if is_one else "choice"
    is_share = metric in ("accuracy", "zero_one_loss")
    return "hold-out, one accuracy" if is_share and is_one else "hold-out"


def _remedy(figures: CellEvidence) -> CellEvidence | None:
    """That with the narrowest interval of the cell that holds its level, if that of the figures does not."""
    cells = [cell for cell in coverage.installed_bed() if cell.place == figures.place]
    able = [cell for cell in cells if cell.coverage > figures.coverage and not cell.covers_too_little]
    return min(able, key=lambda cell: cell.width_ratio, default=None)


def said(part: str, facts: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentences of a template of the advice."""
    return sentences(Path(str(_FOLDER / "templates" / f"{part}.jinja")), facts)
