"""Which method and which interval for what a user has, with what they gave in the nearest cell of the test bed."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from heldout._notebook import notes
from heldout._registry import registered
from heldout._text import counted, is_one_of, number_text
from heldout.data.checks import check_count
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.estimates.coverage import (
    ALIKE,
    FAR,
    HOLD_OUT,
    LEVEL,
    ONE,
    REFERENCE,
    TABLES,
    VARIED,
    CellEvidence,
    installed_bed,
    metric_in_bed,
    nearest_cell,
)
from heldout.estimates.types import frame_of, json_safe
from heldout.metrics.base import Metric
from heldout.metrics.named import metric_named


@dataclass(frozen=True)
class Case:
    """A line of the table.

    Attributes
    ----------
    name : str
    have : str
        What the user has.
    method : str
        As ``ho.estimate`` and the command line take it, or the name of a protocol.
    ask : str
        The call, with ``{metric}`` for the name of a metric.
    interval : str
        How the interval is made.
    labels : tuple of str
        Of the method in the test bed; the first that was run there counts. Empty where it has no such case.
    """

    name: str
    have: str
    method: str
    ask: str
    interval: str
    labels: tuple[str, ...] = ()


_SAMPLING = (
    "Student's t around the value, from the spread of the winner's score and how unsure its optimism is, and wider "
    "for rows that the models of several folds predicted"
)
CHOICE = Case(
    "choice",
    "held-out predictions of a fixed search of several configurations",
    "shrinkage",
    'ho.estimate(y, predictions, metric="{metric}", folds=folds, method="shrinkage")',
    _SAMPLING,
    ("shrinkage",),
)
OF_ONE = Case(
    "one",
    "K-fold predictions of one configuration that was named before its predictions were seen",
    "shrinkage",
    'ho.estimate(y, predictions, metric="{metric}", folds=folds, method="shrinkage")',
    _SAMPLING,
    ("shrinkage",),
)
OF_HOLD_OUT = Case(
    "hold-out",
    "predictions of the rows of a hold-out or test set",
    "shrinkage",
    'ho.estimate(y, predictions, metric="{metric}", folds=np.zeros(len(y)), method="shrinkage")',
    "Student's t around the value, from the spread of the winner's score and how unsure its optimism is",
    ("shrinkage",),
)
HOLD_OUT_ACCURACY = Case(
    "hold-out, one accuracy",
    "the rows of a hold-out, and one configuration, named before its predictions were seen",
    "clopper_pearson(evaluation_share=1.0)",
    'ho.estimate(y, predictions, metric="{metric}", folds=np.zeros(len(y)), '
    "method=ho.estimates.ClopperPearson(evaluation_share=1.0))",
    "the exact binomial interval",
    ("clopper_pearson(evaluation_share=1.0)",),
)
FOLD_SCORES = Case(
    "fold scores",
    "only the scores of folds",
    "bbc_f",
    'ho.estimate_from_scores(scores, greater_is_better=True, method="bbc_f")',
    "percentiles of bootstraps of the folds, which needs ten of them",
    ("bbc_f",),
)
FOLD_SCORES_OF_ONE = Case(
    "fold scores of one",
    "only the scores of folds, of one configuration that was named beforehand",
    "corrected_t",
    'ho.estimate_from_scores(scores, greater_is_better=True, method="corrected_t")',
    "Student's t with a variance for splits that share training rows",
    ("corrected_t",),
)
ADAPTIVE = Case(
    "adaptive",
    "an adaptive search, which proposed configurations because of scores on the same rows",
    "nested_cv",
    "ho.nested_cv(search, X, y)",
    "that of nested cross-validation, which repeats the whole search in every outer fold",
)
NESTED = Case(
    "nested",
    "a reader who requires nested cross-validation",
    "nested_cv",
    "ho.nested_cv(search, X, y)",
    "Nadeau and Bengio's, or Bates, Hastie and Tibshirani's",
)
PUBLISHED = Case(
    "published",
    "a reader who requires the published correction",
    "bbc(control=False)",
    'ho.estimate(y, predictions, metric="{metric}", folds=folds, method=ho.estimates.BBC(control=False))',
    "percentiles of the out-of-bag scores, as published",
    ("bbc(control=False)", "bbc"),
)
CASES: Mapping[str, Case] = MappingProxyType(
    {
        case.name: case
        for case in (
            CHOICE,
            OF_ONE,
            OF_HOLD_OUT,
            HOLD_OUT_ACCURACY,
            FOLD_SCORES,
            FOLD_SCORES_OF_ONE,
            ADAPTIVE,
            NESTED,
            PUBLISHED,
        )
    }
)
"""Every case by its name."""


Demand: TypeAlias = Literal["nested_cv", "bbc"]
DEMANDS: tuple[Demand, ...] = ("nested_cv", "bbc")
FEWEST_FOLDS = 10
"""Folds below which a bootstrap of folds covers less than its level."""
WIDTH = 110


@dataclass(frozen=True)
class Situation:
    """What a user has.

    Attributes
    ----------
    metric : Metric or None
        None for a scorer that cannot be opened.
    kind : TaskKind or None
        Known where there is a target.
    n_rows : int
        Rows, or groups where rows come in groups.
    n_configurations : int
    alike : bool
        Whether all configurations are of one estimator.
    folds : int
        The number of models that predicted the rows of a configuration; 1 for a hold-out.
    only_scores : bool
        Whether there are scores of folds and no predictions.
    adaptive : bool
        Whether configurations were proposed because of scores on these rows.
    demand : "nested_cv", "bbc" or None
        What a reader requires.
    """

    metric: Metric | None
    n_rows: int
    n_configurations: int
    alike: bool = False
    folds: int = 5
    only_scores: bool = False
    adaptive: bool = False
    demand: Demand | None = None
    kind: TaskKind | None = None

    @property
    def case(self) -> Case:
        """The line of the table that it belongs to."""
        return CASES[self._name]

    @property
    def _name(self) -> str:
        if self.demand is not None:
            return "nested" if self.demand == "nested_cv" else "published"
        if self.adaptive:
            return "adaptive"
        if self.only_scores:
            return "fold scores of one" if self.n_configurations == 1 else "fold scores"
        if self.folds == 1:
            is_share = self.metric is not None and self.metric.name in ("accuracy", "zero_one_loss")
            return "hold-out, one accuracy" if is_share and self.n_configurations == 1 else "hold-out"
        return "one" if self.n_configurations == 1 else "choice"

    @property
    def part(self) -> str:
        """The part of the test bed that is like it."""
        return HOLD_OUT if self.folds == 1 else TABLES

    @property
    def candidates(self) -> str:
        """The kind of candidates there; those of hold-outs are one, or independent of each other."""
        if self.n_configurations == 1:
            return ONE
        return ALIKE if self.alike and self.part == TABLES else VARIED


@dataclass(frozen=True, eq=False)
class Recommendation:
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

    def rows(self) -> list[dict[str, Any]]:
        """What the recommended method and ``bbc`` gave in the cell: none, one or two rows."""
        found = {one.method: asdict(one) for one in (self.figures, self.reference) if one is not None}
        return list(found.values())

    def to_frame(self) -> Any:
        """The same as a pandas DataFrame (pandas comes with the extra ``app``)."""
        return frame_of(self.rows(), "Recommendation.to_frame")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: NaN becomes null."""
        document: dict[str, Any] = json_safe(
            {
                "case": self.case,
                "method": self.method,
                "interval": self.interval,
                "ask": self.ask,
                "metric": self.metric,
                "n_rows": self.n_rows,
                "n_configurations": self.n_configurations,
                "figures": None if self.figures is None else asdict(self.figures),
                "reference": None if self.reference is None else asdict(self.reference),
                "sentences": self.sentences,
                "warnings": self.warnings,
            }
        )
        return document

    def __str__(self) -> str:
        texts = [("- ", text) for text in self.sentences] + [("! ", text) for text in self.warnings]
        filled = [
            textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent="  ", break_on_hyphens=False)
            for mark, text in texts
        ]
        return "\n".join([self.ask, "", *filled])

    def __repr__(self) -> str:
        figures = "" if self.figures is None else f"; {_covers(self.figures)}"
        return f"Recommendation({self.method!r} for {CASES[self.case].have}{figures})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.ask)}</pre>" + notes(self.sentences, self.warnings)


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
    metric : str or Metric
        As in ``ho.estimate``.
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
    named = metric_named(metric)
    counts = {"n_rows": n_rows, "n_configurations": n_configurations, "folds": folds}
    for name, value in counts.items():
        least = 2 if name == "n_rows" else 1
        check_count(name, value, least)
    for name, answer in {"alike": alike, "only_scores": only_scores, "adaptive": adaptive}.items():
        check_answer(name, answer)
    if demand is not None and not is_one_of(demand, DEMANDS):
        raise InputError(f"demand must be one of {', '.join(DEMANDS)}, or None, got {demand!r}.", argument="demand")
    return recommended(
        Situation(named, int(n_rows), int(n_configurations), alike, int(folds), only_scores, adaptive, demand)
    )


def check_answer(name: str, answer: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(answer, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {answer!r}.", argument=name)


def recommended(situation: Situation, evidence: Sequence[CellEvidence] | None = None) -> Recommendation:
    """The recommendation for a situation; ``evidence`` in place of what is installed."""
    known = installed_bed() if evidence is None else evidence
    case = situation.case
    like = metric_in_bed(situation.metric, situation.kind)
    place: dict[str, Any] = {"part": situation.part, "kind": situation.candidates, "metric": like}
    figures = nearest_cell(known, case.labels, **place, n_rows=situation.n_rows)
    reference = None if figures is None else nearest_cell(known, [REFERENCE], **place, n_rows=figures.rows)
    name = None if situation.metric is None else situation.metric.name
    return Recommendation(
        case=case.name,
        method=case.method,
        interval=case.interval,
        ask=case.ask.format(metric=name),
        metric=name,
        n_rows=situation.n_rows,
        n_configurations=situation.n_configurations,
        figures=figures,
        reference=reference,
        sentences=tuple(_sentences(situation, figures, reference)),
        warnings=tuple(_warnings(situation, figures, reference, like, known)),
    )


def _sentences(situation: Situation, figures: CellEvidence | None, reference: CellEvidence | None) -> list[str]:
    case = situation.case
    sentences = [f"For {case.have}, use {case.method}. Its interval is {case.interval}."]
    if case.name == "adaptive":
        sentences.append(
            "Corrections of the predictions replay the selection among the configurations, but not how the search "
            "came to them, so part of the optimism remains (docs/methods/estimates.md). If you cannot repeat the "
            f"search, use {CASES['choice'].method} with adaptive=True and report its flag."
        )
    if figures is not None:
        sentences.append(_figures_sentence(figures, reference))
    return sentences


def _figures_sentence(figures: CellEvidence, reference: CellEvidence | None) -> str:
    is_reference = reference is None or reference.method == figures.method
    text = f"In {figures.where} {_covers(figures)}"
    if not is_reference and reference is not None and math.isfinite(figures.width_ratio):
        text += f" and is {figures.width_ratio:.2f} times as wide as that of bbc's percentiles, which covers "
        text += _share(reference.coverage, reference.coverage_error)
    text += f". Its bias is {_signed(figures.bias, figures.bias_error)}"
    if not is_reference and reference is not None:
        text += f" (bbc {_signed(reference.bias, reference.bias_error)}), its root mean square error "
        text += f"{figures.rmse_ratio:.2f} ± {figures.rmse_ratio_error:.2f} times that of bbc"
    return f"{text}; a positive bias flatters."


def _covers(cell: CellEvidence) -> str:
    if not math.isfinite(cell.coverage):
        return "it has no interval"
    return f"its {LEVEL:.0%} interval covers {_share(cell.coverage, cell.coverage_error)}"


def _share(value: float, error: float) -> str:
    """'.953 ± .008'."""
    return " ± ".join(_without_zero(f"{one:.3f}") for one in (value, error))


def _without_zero(text: str) -> str:
    return text.removeprefix("0") if text.startswith("0.") else text


def _signed(value: float, error: float) -> str:
    sign = "" if value == 0 else "+" if value > 0 else "−"
    return f"{sign}{number_text(abs(value), 3)} ± {number_text(error, 3)}"


def _warnings(
    situation: Situation,
    figures: CellEvidence | None,
    reference: CellEvidence | None,
    like: str,
    known: Sequence[CellEvidence],
) -> list[str]:
    warnings = []
    if situation.case.name == "fold scores" and situation.folds < FEWEST_FOLDS:
        warnings.append(
            f"With {counted(situation.folds, 'fold')}, fewer than {FEWEST_FOLDS}, a bootstrap of folds covers less "
            "than its level (docs/methods/intervals.md)."
        )
    if figures is None:
        return warnings
    name = "your scorer" if situation.metric is None else situation.metric.name
    if like != name.removeprefix("neg_"):
        warnings.append(f"The test bed has no {name}: the figures are those of {like}, the metric most like it.")
    ratio = max(situation.n_rows / figures.rows, figures.rows / situation.n_rows)
    if ratio > FAR:
        warnings.append(
            f"You have {counted(situation.n_rows, 'row')}, and the nearest cell of the test bed has {figures.rows}."
        )
    if figures.covers_too_little:
        warnings.append(_too_little(figures, reference, known))
    return warnings


def _too_little(figures: CellEvidence, reference: CellEvidence | None, known: Sequence[CellEvidence]) -> str:
    """That the interval covers less than its level in the cell, and the narrowest one that does not."""
    other = "" if reference is None else f" (bbc's percentiles {_decimal(reference.coverage)})"
    able = [one for one in known if one.place == figures.place and one.coverage > figures.coverage]
    able = sorted((one for one in able if not one.covers_too_little), key=lambda one: one.width_ratio)
    better = (
        f" {able[0].method} covers {_decimal(able[0].coverage)} there, at {able[0].width_ratio:.2f} times the "
        "width of these percentiles."
        if able
        else " No method of the test bed holds its level there."
    )
    return (
        f"In that cell the interval covers {_decimal(figures.coverage)}{other}, less than its level: take it as a "
        f"lower limit of the uncertainty.{better}"
    )


def _decimal(value: float) -> str:
    """'.953'."""
    return _without_zero(f"{value:.3f}")
