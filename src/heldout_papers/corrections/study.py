"""A test bed on which any method of estimation is scored: its bias, error, coverage, width and time.

Three parts: matrices of independent columns as in Tsamardinos et al. (2018), section 6.1; matrices whose columns
depend on each other as those of real searches do; and real searches on small samples of tables, whose other rows
tell how good each configuration truly is.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from heldout._random import RandomState, entropy_of
from heldout._text import argument
from heldout.errors import InputError
from heldout.estimates.question import AGGREGATES, Aggregate
from heldout.estimates.types import Alternative
from heldout_papers.corrections.correlated import correlated_sources
from heldout_papers.corrections.independent import independent_sources
from heldout_papers.corrections.kept import SearchFile, search_file, write_searches
from heldout_papers.corrections.kept_source import kept_sources
from heldout_papers.corrections.matrix import BedCell, KnownMatrix
from heldout_papers.corrections.result import CorrectionsStudy
from heldout_papers.corrections.scores import ALTERNATIVES, LEVELS, BedScoring, labelled, scored, with_line
from heldout_papers.corrections.searches import BATCH as SEARCHES
from heldout_papers.corrections.searches import SearchSetting, kept_searches, search_plan
from heldout_papers.engine.arguments import checked_names, checked_sizes
from heldout_papers.engine.batches import Batch, BatchCallback, Columns, StudyJob, StudyPlan, study

BATCH = 20
"""Repetitions of a batch."""
PARTS = ("independent", "correlated", "tables")
METHODS = ("cv", "bbc", "shrinkage", "oracle")
REFERENCE = "bbc"
OF_PARTS: Mapping[str, tuple[str, ...]] = {
    "beta": ("independent",),
    "configurations": ("independent", "correlated"),
    "variants": ("correlated",),
    "candidates": ("tables",),
    "searches": ("tables",),
    "tables": ("tables",),
    "names": ("tables",),
}
"""The parts that take an argument; all parts take the others."""


class MatrixSource(Protocol):
    """The matrices of one setting: one for each of its cells in every repetition."""

    @property
    def cells(self) -> tuple[BedCell, ...]: ...

    def matrices(self, entropy: int, repetition: int) -> Sequence[KnownMatrix | None]: ...


@dataclass(frozen=True)
class BedSetting:
    """Matrices, and how methods are scored on them."""

    source: MatrixSource
    scoring: BedScoring


def do_batch(batch: Batch[BedSetting], entropy: int) -> Columns:
    """What every method gives in some repetitions: arrays (repetitions, methods), by the number of the cell."""
    source, scoring = batch.setting.source, batch.setting.scoring
    found: list[list[dict[str, Any]]] = [[] for _ in source.cells]
    for repetition in range(batch.first, batch.last):
        for place, matrix in enumerate(source.matrices(entropy, repetition)):
            found[place].append(scored([matrix], scoring))
    return {
        f"{place}.{name}": np.concatenate([one[name] for one in of_cell])
        for place, of_cell in enumerate(found)
        for name in of_cell[0]
    }


@dataclass(frozen=True)
class SearchedJob(StudyJob[Any, CorrectionsStudy]):
    """Searches on tables, and then the methods on them; ``plan`` is that of the searches.

    Attributes
    ----------
    scoring_of : callable
        From the file of the searches to the job that scores methods on it.
    """

    scoring_of: Callable[[SearchFile], StudyJob[BedSetting, CorrectionsStudy]] | None = field(
        default=None, kw_only=True
    )

    def run(self) -> CorrectionsStudy:
        """Search what is not searched yet, keep the searches in a file, and score the methods on it."""
        assert self.scoring_of is not None, "the study gives it"
        settings: tuple[SearchSetting, ...] = self.plan.settings
        running: dict[str, Any] = {"n_jobs": self.n_jobs, "folder": self.folder, "told": self.told}
        columns = StudyJob(self.plan, list, self.batch_size, **running).run()
        with tempfile.TemporaryDirectory() as passing:
            place = Path(passing if self.folder is None else self.folder)
            file = search_file(write_searches(kept_searches(settings, columns), place / "searches.parquet"))
            found = replace(self.scoring_of(file), **running).run()
        return replace(found, left_out=self.left_out, searches="" if self.folder is None else file.path)


@study(CorrectionsStudy)
def corrections(
    part: str = "independent",
    *,
    rows: Any = None,
    configurations: Any = None,
    beta: Any = None,
    metrics: Any = None,
    variants: Any = None,
    candidates: Any = None,
    searches: str | os.PathLike[str] | None = None,
    tables: str | os.PathLike[str] | None = None,
    names: Sequence[str] | None = None,
    methods: Any = METHODS,
    reference: str | None = None,
    levels: Any = LEVELS,
    alternatives: Any = ALTERNATIVES,
    aggregate: Aggregate | None = "pooled",
    repetitions: int = 400,
    n_bootstraps: int = 200,
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    told: BatchCallback | None = None,
    random_state: RandomState = None,
) -> StudyJob[BedSetting, CorrectionsStudy]:
    """How biased, precise, honest and fast methods of estimation are, where the truth is known.

    A method selects a configuration from held-out predictions and estimates its performance. Its error is the
    estimate less the true performance of that configuration, such that positive flatters; its interval should hold
    that truth.

    Parameters
    ----------
    part : {"independent", "correlated", "tables"}
        Columns that are independent, with true scores from a Beta distribution; columns that depend on each other
        as those of real searches do; or real searches.
    rows : int or sequence of int, optional
        N. By default 20, 40, 60, 80, 100, 500 and 1000; 20, 40, 100 and 300; those of the searches, or 40, 100 and
        300.
    configurations : int or sequence of int, optional
        C. By default 50, 100, 200, 300, 500, 1000 and 2000; 1, 10 and 60.
    beta : sequence of (a, b), optional
        Of independent columns; (9, 6), (14, 6), (24, 6) and (54, 6) by default.
    metrics : str or sequence of str, optional
        Of independent columns some of "accuracy" (the default), "roc_auc", "mean_squared_error", "roc_auc_ovo" and
        "log_loss" (of three classes); otherwise some of "accuracy", "roc_auc", "log_loss",
        "root_mean_squared_error" and "r2" (all by default).
    variants : str or sequence of str, optional
        Of correlated columns: "plain", "tails", "ceiling", "ties"; all by default.
    candidates : str or sequence of str, optional
        Of searches: "one" configuration that was named beforehand, the ten that are "alike", the "varied" whole;
        all three by default.
    searches : path, optional
        A file of kept searches.
    tables : path, optional
        A folder of tables to search, in place of ``searches``; classes or numbers are in a column ``target``.
    names : sequence of str, optional
        Only these tables.
    methods : sequence or mapping
        Names of ``ho.estimates.METHODS``, with settings such as "bbc(interval='calibrated')", methods of
        ``ho.estimates`` or of your own, or "oracle", which knows how the true scores are distributed; a mapping
        gives them labels of your own.
    reference : str, optional
        The label of the method that ratios compare with; "bbc" where it is among the methods, else the first.
    levels : sequence of float
        Confidence levels of the intervals.
    alternatives : sequence of {"two-sided", "greater"}
        "greater" is a bound on how bad the performance can be.
    aggregate : str or None
        As in ``ho.estimate``.
    repetitions : int
        Matrices of a setting, or searches of a kind and size; of kept searches at most so many.
    n_bootstraps : int
        Of every method.
    n_jobs : int, optional
    folder : path, optional
        Where finished batches are kept; an interrupted study continues from them.
    told : callable, optional
        ``told(batches done, batches, seconds)`` after every batch.
    random_state : int, RandomState or Generator, optional
        All methods see the same matrices and draw the same rows.

    Returns
    -------
    CorrectionsStudy
        ``.to_frame()``: a row a cell and method.

    Raises
    ------
    InputError
        Also for an argument of another part.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), section 6.1.

    Examples
    --------
    >>> found = corrections(
    ...     rows=40, configurations=50, beta=[(9, 6)], methods=["cv", "bbc"], repetitions=20, random_state=0
    ... )
    >>> for row in found.rows():
    ...     print(f"{row['method']:4} {row['bias']:+.2f} {row['coverage_95']:.2f}")
    cv   +0.07 nan
    bbc  -0.02 0.95
    """
    (chosen,) = checked_names("part", part, PARTS)
    own = {
        "beta": beta, "configurations": configurations, "variants": variants, "candidates": candidates,
        "searches": searches, "tables": tables, "names": names,
    }  # fmt: skip
    _check_part(chosen, own)
    (repetitions,) = checked_sizes("repetitions", repetitions, 1)
    scoring = _scoring(methods, levels, alternatives, aggregate, n_bootstraps)
    beside = _reference(reference, scoring.labels)
    entropy = entropy_of(random_state)
    running: dict[str, Any] = {"n_jobs": n_jobs, "folder": folder, "told": told}

    def job_of(
        sources: Sequence[MatrixSource], most: int, file: str = ""
    ) -> StudyJob[BedSetting, CorrectionsStudy]:
        settings = tuple(BedSetting(source, scoring) for source in sources)
        plan = StudyPlan("corrections", settings, min(repetitions, most), entropy, do_batch)

        def result(columns: list[Columns]) -> CorrectionsStudy:
            return _result(settings, columns, scoring, beside, entropy)

        return StudyJob(plan, result, BATCH, **running)

    def of_file(file: SearchFile) -> StudyJob[BedSetting, CorrectionsStudy]:
        most = max(group.repetitions for group in file.groups)
        return job_of(kept_sources(file, rows, candidates, metrics), most)

    if chosen == "independent":
        return job_of(independent_sources(rows, configurations, beta, metrics), repetitions)
    if chosen == "correlated":
        return job_of(correlated_sources(rows, configurations, variants, metrics), repetitions)
    if searches is not None:
        return of_file(search_file(searches))
    assert tables is not None, "one of the two is given"
    plan, left_out = search_plan(tables, names, rows, repetitions, entropy)
    return SearchedJob(plan, _no_result, SEARCHES, left_out, scoring_of=of_file, **running)


def _no_result(columns: list[Columns]) -> CorrectionsStudy:
    raise AssertionError("searches alone are no result")


def _result(
    settings: Sequence[BedSetting],
    columns: Sequence[Columns],
    scoring: BedScoring,
    reference: str,
    entropy: int,
) -> CorrectionsStudy:
    cells: list[BedCell] = []
    of_cells: list[Columns] = []
    for setting, found in zip(settings, columns, strict=True):
        for place, cell in enumerate(setting.source.cells):
            own = f"{place}."
            cells.append(cell)
            of_cell = {name.removeprefix(own): one for name, one in found.items() if name.startswith(own)}
            of_cells.append(with_line(cell.metric, of_cell, scoring.labels))
    return CorrectionsStudy(
        tuple(cells), scoring.labels, tuple(of_cells), scoring.levels, reference, scoring.n_bootstraps,
        scoring.aggregate, entropy,
    )  # fmt: skip


def _check_part(part: str, own: Mapping[str, Any]) -> None:
    """Refuse arguments of other parts, and a part of tables without exactly one of searches and tables."""
    for name, value in own.items():
        if value is not None and part not in OF_PARTS[name]:
            able = " and ".join(f'"{one}"' for one in OF_PARTS[name])
            raise InputError(
                f"{argument(name)} is for part {able}, got part {part!r}; leave it out.", argument=name
            )
    if part != "tables":
        return
    if (own["searches"] is None) == (own["tables"] is None):
        got = "neither" if own["searches"] is None else "both"
        raise InputError(
            f'part "tables" takes {argument("searches")}, a file of kept searches, or {argument("tables")}, a '
            f"folder of tables to search, got {got}.",
            argument="part",
        )
    if own["names"] is not None and own["tables"] is None:
        raise InputError(f"{argument('names')} is for {argument('tables')}; leave it out.", argument="names")


def _scoring(methods: Any, levels: Any, alternatives: Any, aggregate: Any, n_bootstraps: Any) -> BedScoring:
    if aggregate is not None and aggregate not in AGGREGATES:
        raise InputError(
            f"aggregate must be one of {', '.join(AGGREGATES)}, got {aggregate!r}.", argument="aggregate"
        )
    (drawn,) = checked_sizes("n_bootstraps", n_bootstraps, 1)
    sides: tuple[Alternative, ...] = tuple(
        one for one in ALTERNATIVES if one in checked_names("alternatives", alternatives, ALTERNATIVES)
    )
    return BedScoring(labelled(methods), _checked_levels(levels), sides, aggregate, drawn)


def _checked_levels(levels: Any) -> tuple[float, ...]:
    try:
        found = tuple(float(one) for one in np.asarray(levels, dtype=np.float64).ravel())
    except (TypeError, ValueError):
        found = ()
    if not found or not all(0 < one < 1 for one in found) or len(set(found)) < len(found):
        raise InputError(
            f"levels must be different numbers between 0 and 1, got {levels!r}; .9 and .95 are usual.",
            argument="levels",
        )
    return found


def _reference(reference: str | None, labels: Sequence[str]) -> str:
    if reference is None:
        return REFERENCE if REFERENCE in labels else labels[0]
    return checked_names("reference", reference, labels)[0]
