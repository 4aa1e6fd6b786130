"""What a correction must reach, as claims that a run is judged by.

Targets are those that this project set itself before the runs: about bias and error beside the reference method,
and about the coverage and the width of intervals. A claim may fail, and is then shown as not holding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from heldout._text import counted
from heldout.errors import InputError
from heldout_papers.corrections.result import PLACE, CorrectionsStudy
from heldout_papers.corrections.scores import ORACLE
from heldout_papers.corrections.summary import CountedShare
from heldout_papers.engine.claims import Claim, ClaimTest, Finding, Mean, judged_claims, verdict
from heldout_papers.engine.results import check_columns

LEVEL = 0.95
AT_LEAST = 0.94
"""The coverage below which a cell fails, if chance does not explain it."""
MEAN_COVERAGE = 0.945
ERROR_RATE = 0.05
"""Of all cells of a run together."""
LEAST_REPETITIONS = 400
"""Of a cell whose coverage is judged."""
LEAST_FOR_ERRORS = 100
LEAST_ROWS = 40
MANY = 10
"""Candidates from which on there is much to select from."""
HALF, LESS_ERROR, NOWHERE_MORE = 0.5, 0.85, 1.05
BETTER_ON_TABLES = 0.97
NARROWER = 0.8
SLOWEST = 3.0
SURE = 3.0
"""Standard errors that the greatest of many ratios may be above a target by chance."""
SHOWN = 4
"""Failing cells that a sentence names."""

Row = Mapping[str, Any]
Pairs = Sequence[tuple[Row, Row]]
"""Rows of a method, each beside that of the reference."""


@dataclass(frozen=True)
class CellRows:
    """The rows of a test bed, a row a cell and method; all claims follow from them.

    Attributes
    ----------
    rows : tuple of mapping
    reference : str
    """

    rows: tuple[Row, ...]
    reference: str = "bbc"

    @classmethod
    def of_study(cls, study: CorrectionsStudy) -> CellRows:
        return cls(tuple(study.rows()), study.reference)

    @classmethod
    def from_frame(cls, frame: Any, *, reference: str = "bbc") -> CellRows:
        """From the table ``cells.parquet`` of a run."""
        check_columns(frame, (*PLACE, "method", "bias", "rmse"), "cells of a test bed")
        rows = tuple({str(name): value for name, value in row.items()} for row in frame.to_dict("records"))
        if reference not in {row["method"] for row in rows}:
            raise InputError(f"the cells have no method {reference!r} to compare with.", argument="reference")
        return cls(rows, reference)

    @cached_property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row["method"] for row in self.rows))

    @property
    def judged(self) -> tuple[str, ...]:
        """The methods that are compared with the reference."""
        return tuple(name for name in self.methods if name not in ("cv", ORACLE, self.reference))

    @property
    def part(self) -> str:
        return str(self.rows[0]["part"])

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row["metric"] for row in self.rows))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(sorted({int(row["rows"]) for row in self.rows}))

    def of(self, method: str) -> tuple[Row, ...]:
        """The rows of a method, in the order of the cells."""
        return tuple(row for row in self.rows if row["method"] == method)

    def pairs(self, method: str) -> list[tuple[Row, Row]]:
        """The rows of a method beside those of the reference, of cells in which both have values."""
        both = zip(self.of(method), self.of(self.reference), strict=True)
        return [(row, beside) for row, beside in both if np.isfinite(row["rmse"]) and np.isfinite(beside["rmse"])]

    def least_repetitions(self, method: str) -> int:
        return min((int(row["repetitions"]) for row in self.of(method)), default=0)


def where(row: Row) -> str:
    """A cell in a sentence."""
    design = f"{row['design']}, " if "design" in row else ""
    return f"{design}{row['metric']}, {row['kind']}, N = {row['rows']}, C = {row['configurations']}"


def bias_ratio(pairs: Pairs) -> Mean:
    """The mean size of a method's bias to that of the reference.

    Biases are divided by the mean error of the reference for their metric, so that metrics weigh alike. Chance
    makes every size of a bias greater, so that a ratio of biases that are no greater than chance is near 1.
    """
    errors: dict[str, list[float]] = {}
    for _, beside in pairs:
        errors.setdefault(beside["metric"], []).append(float(beside["rmse"]))
    unit = {metric: float(np.mean(values)) for metric, values in errors.items()}
    of_method, of_reference = (
        np.array([abs(pair[place]["bias"]) / unit[pair[place]["metric"]] for pair in pairs]) for place in (0, 1)
    )
    chance = np.array([row["bias_error"] / unit[row["metric"]] for row, _ in pairs])
    ratio = float(of_method.mean() / of_reference.mean())
    return Mean(ratio, float(np.sqrt((chance**2).sum()) / len(chance) / of_reference.mean()))


def error_ratio(pairs: Pairs) -> Mean:
    """The mean over cells of the ratio of a method's error to that of the reference."""
    ratios = np.array([row["rmse_ratio"] for row, _ in pairs])
    chance = np.array([row["rmse_ratio_error"] for row, _ in pairs])
    return Mean(float(ratios.mean()), float(np.sqrt((chance**2).sum()) / len(chance)))


def time_ratio(pairs: Pairs) -> Mean:
    """The median over cells of the ratio of a method's seconds to those of the reference."""
    return Mean(float(np.median([row["seconds"] / beside["seconds"] for row, beside in pairs])))


@dataclass(frozen=True)
class AtMostTarget:
    """A number is at most a target; open where chance explains the excess."""

    target: float
    decimals: int = 3
    sure: float = 2.0

    def finding(self, number: Mean) -> Finding:
        chance = self.sure * number.error
        beyond = number.value - self.target
        holds = True if beyond <= 0 else None if beyond <= chance else False
        shown = f"{number.value:.{self.decimals}f}"
        place = f" ({number.where})" if number.where else ""
        why = f"{shown} where at most {self.target:g} is asked (±\u00a0{chance:.{self.decimals}f})"
        return Finding(f"{shown}{place}", verdict(holds, why), f"≤ {self.target:g}")


def failing_cells(rows: Iterable[Row], name: str) -> tuple[Row, ...]:
    """The cells whose coverage is below .94 by the exact one-sided binomial test at .05 over the number of cells.

    ``name``: "95" of two-sided intervals, "bound_95" of one-sided ones.
    """
    there = [row for row in rows if row[f"intervals_{name}"] > 0]
    return tuple(row for row in there if _share(row, name).p_below(AT_LEAST) < ERROR_RATE / len(there))


def _share(row: Row, name: str) -> CountedShare:
    n = int(row[f"intervals_{name}"])
    return CountedShare(round(row[f"coverage_{name}"] * n), n)


@dataclass(frozen=True)
class MethodCells:
    """The cells of one method, for a claim about it."""

    cells: CellRows
    method: str

    @property
    def pairs(self) -> list[tuple[Row, Row]]:
        return self.cells.pairs(self.method)

    @property
    def has_errors(self) -> bool:
        return len(self.pairs) > 0 and self.cells.least_repetitions(self.method) >= LEAST_FOR_ERRORS

    def large(self, name: str) -> tuple[Row, ...]:
        """Cells with 40 rows or more that have intervals."""
        key = f"intervals_{name}"
        return tuple(row for row in self.cells.of(self.method) if row["rows"] >= LEAST_ROWS and row.get(key, 0) > 0)

    def has_coverage(self, name: str) -> bool:
        rows = self.large(name)
        return bool(rows) and min(int(row["repetitions"]) for row in rows) >= LEAST_REPETITIONS

    def width_ratios(self, name: str, least: int, most: float = np.inf) -> list[float]:
        ratios = [
            float(row[f"width_ratio_{name}"]) for row in self.large(name) if least <= row["configurations"] <= most
        ]
        return [ratio for ratio in ratios if np.isfinite(ratio)]


def corrections_claims(study: CorrectionsStudy | CellRows) -> tuple[Claim, ...]:
    """Every target that the cells of a run can judge.

    Examples
    --------
    >>> from heldout_papers.corrections import corrections
    >>> corrections_claims(
    ...     corrections(rows=40, configurations=5, methods=["cv", "bbc"], repetitions=2, random_state=0)
    ... )
    ()
    """
    cells = CellRows.of_study(study) if isinstance(study, CorrectionsStudy) else study
    found: list[Claim] = []
    for method in cells.judged:
        found += judged_claims(_of_errors(cells, method), MethodCells(cells, method))
    for method in (*cells.judged, cells.reference):
        found += judged_claims(_of_intervals(cells, method), MethodCells(cells, method))
    return tuple(found)


def _of_errors(cells: CellRows, method: str) -> list[ClaimTest[MethodCells]]:
    """Bias and error beside those of the reference."""
    beside, is_independent = cells.reference, cells.part == "independent"
    target, over = (LESS_ERROR, "settings") if is_independent else (BETTER_ON_TABLES, "cells")
    averaged = f"its error is at most {target:g} of {beside}'s, on average over {over}."

    def test(text: str, number: Callable[[Pairs], Mean], judge: AtMostTarget) -> ClaimTest[MethodCells]:
        return ClaimTest(f"{method}: {text}", lambda of: of.has_errors, lambda of: number(of.pairs), judge)

    average = test(averaged, error_ratio, AtMostTarget(target))
    if is_independent:
        nowhere = test(
            f"its error is in no setting above {NOWHERE_MORE:g} of {beside}'s.",
            lambda pairs: worst_ratio([[pair] for pair in pairs]),
            AtMostTarget(NOWHERE_MORE, sure=SURE),
        )
    else:
        nowhere = test(
            f"its error is no greater than {beside}'s for each metric and N.",
            lambda pairs: worst_ratio(_by_metric_and_rows(pairs)),
            AtMostTarget(1.0),
        )
    time = f"it takes at most {SLOWEST:g} times as long as {beside}."
    return [
        test(f"the mean size of its bias is at most half of {beside}'s.", bias_ratio, AtMostTarget(HALF)),
        *((average, nowhere) if is_independent else (nowhere, average)),
        test(time, time_ratio, AtMostTarget(SLOWEST, decimals=1)),
    ]


def _by_metric_and_rows(pairs: Pairs) -> list[list[tuple[Row, Row]]]:
    groups: dict[tuple[str, int], list[tuple[Row, Row]]] = {}
    for pair in pairs:
        groups.setdefault((pair[0]["metric"], pair[0]["rows"]), []).append(pair)
    return list(groups.values())


def worst_ratio(groups: Sequence[Pairs]) -> Mean:
    """The greatest mean ratio of errors of some groups of cells, with its place."""
    means = []
    for group in groups:
        row = group[0][0]
        place = where(row) if len(group) == 1 else f"{row['metric']}, N = {row['rows']}"
        means.append(error_ratio(group).at(place))
    return max(means, key=lambda mean: mean.value)


def _of_intervals(cells: CellRows, method: str) -> tuple[ClaimTest[MethodCells], ...]:
    """Coverage and width of intervals of 95 %."""
    tests: list[ClaimTest[MethodCells]] = []
    for name, what in (("95", "95 % interval"), ("bound_95", "95 % bound on how bad the truth can be")):
        tests += _of_coverage(method, name, what)
    tests.append(
        ClaimTest(
            f"{method}: wherever it has a value it has an interval, none of them without width.",
            lambda of: of.has_coverage("95"),
            _without_width,
        )
    )
    if method != cells.reference:
        tests += _of_widths(method, cells.reference)
    return tuple(tests)


def _of_coverage(method: str, name: str, what: str) -> list[ClaimTest[MethodCells]]:
    def failing(of: MethodCells) -> Finding:
        rows = of.large(name)
        failed = sorted(failing_cells(rows, name), key=lambda row: float(row[f"coverage_{name}"]))
        shown = "; ".join(f"{where(row)}: {row[f'coverage_{name}']:.3f}" for row in failed[:SHOWN])
        more = f" and {len(failed) - SHOWN} more" if len(failed) > SHOWN else ""
        why = f"{len(failed)} of {len(rows)} cells are below{': ' if failed else ''}{shown}{more}"
        return Finding(counted(len(failed), "cell"), verdict(not failed, why), "no cell")

    def mean_coverage(of: MethodCells) -> Finding:
        values = np.array([row[f"coverage_{name}"] for row in of.large(name)])
        mean = float(values.mean())
        why = f"{mean:.3f} on average over {len(values)} cells, where {MEAN_COVERAGE:g} is asked"
        return Finding(f"{mean:.3f}", verdict(mean >= MEAN_COVERAGE, why), f"≥ {MEAN_COVERAGE:g}")

    def applies(of: MethodCells) -> bool:
        return of.has_coverage(name)

    text = f"{method}: no cell with {LEAST_ROWS} rows or more covers less than {AT_LEAST:g} by its {what}."
    average = f"{method}: its {what} covers at least {MEAN_COVERAGE:g} on average."
    return [ClaimTest(text, applies, failing), ClaimTest(average, applies, mean_coverage)]


def _without_width(of: MethodCells) -> Finding:
    rows = [row for row in of.cells.of(of.method) if row["repetitions"] > 0]
    lacking = sum(max(0, int(row["repetitions"]) - int(row["intervals_95"])) for row in rows)
    narrow = sum(int(row["no_width_95"]) for row in rows)
    total = sum(int(row["repetitions"]) for row in rows)
    why = f"of {total:,} estimates {lacking:,} have no interval, and {narrow:,} one without width"
    return Finding(f"{lacking + narrow:,}", verdict(lacking + narrow == 0, why), "none")


def _of_widths(method: str, reference: str) -> list[ClaimTest[MethodCells]]:
    def mean_ratio(least: int, most: float) -> Callable[[MethodCells], Mean]:
        return lambda of: Mean(float(np.mean(of.width_ratios("95", least, most))))

    def applies(least: int, most: float) -> Callable[[MethodCells], bool]:
        return lambda of: of.has_coverage("95") and bool(of.width_ratios("95", least, most))

    many = f"{method}: with ten candidates or more its interval is at most {NARROWER:g} as wide as {reference}'s."
    one = f"{method}: with one candidate its interval is no wider than {reference}'s."
    return [
        ClaimTest(many, applies(MANY, np.inf), mean_ratio(MANY, np.inf), AtMostTarget(NARROWER)),
        ClaimTest(one, applies(1, 1), mean_ratio(1, 1), AtMostTarget(1.0)),
    ]
