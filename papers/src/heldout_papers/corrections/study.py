"""A test bed on which any method of estimation is scored: its bias, error, coverage, width and time.

Three parts: matrices of independent columns as in Tsamardinos et al. (2018), section 6.1; matrices whose columns
depend on each other as those of real searches do; and real searches on small samples of tables, whose other rows
tell how good each configuration truly is.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from heldout._streams import RandomState, entropy_of
from heldout.data.checks import check_aggregate
from heldout.errors import InputError
from heldout.estimates.question import Aggregate
from heldout.estimates.types import Alternative
from heldout_papers.corrections import draw_scores
from heldout_papers.corrections.correlated import correlated_sources
from heldout_papers.corrections.designs import DESIGNS, HALVES, METRICS
from heldout_papers.corrections.draw_scores import draw_settings, joined
from heldout_papers.corrections.draws import DrawFolder
from heldout_papers.corrections.independent import independent_sources
from heldout_papers.corrections.matrix import BedCell, KnownMatrix
from heldout_papers.corrections.result import CorrectionsStudy
from heldout_papers.corrections.scores import ALTERNATIVES, LEVELS, ORACLE, BedScoring, labelled, scored, with_line
from heldout_papers.corrections.tables_result import TablesStudy
from heldout_papers.engine.arguments import checked_names, checked_sizes
from heldout_papers.engine.batches import Batch, BatchCallback, Columns, StudyJob, StudyPlan, study

BATCH = 20
"""Repetitions of a batch."""
PARTS = ("independent", "correlated", "tables")
METHODS = ("cv", "bbc", "shrinkage", "oracle")
METHODS_OF_SEARCHES = ("shrinkage", "bbc")
REFERENCE = "bbc"
REPETITIONS, REPETITIONS_OF_SEARCHES = 400, 200
BOOTSTRAPS, BOOTSTRAPS_OF_SEARCHES = 200, 1000
"""A search has the latter by default."""
SIMULATED = ("independent", "correlated")
OF_PARTS: Mapping[str, tuple[str, ...]] = {
    "rows": SIMULATED,
    "beta": ("independent",),
    "configurations": SIMULATED,
    "variants": ("correlated",),
    "levels": SIMULATED,
    "alternatives": SIMULATED,
    "designs": ("tables",),
    "half": ("tables",),
    "searches": ("tables",),
    "tables": ("tables",),
}
"""The parts that take an argument; all parts take the others."""


class MatrixSource(Protocol):
    """The matrices of one setting: one for each of its cells in every repetition."""

    @property
    def cells(self) -> tuple[BedCell, ...]: ...

    def matrices(self, entropy: int, repetition: int) -> Sequence[KnownMatrix]: ...


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


@study(CorrectionsStudy)
def corrections(
    part: str = "independent",
    *,
    rows: Any = None,
    configurations: Any = None,
    beta: Any = None,
    metrics: Any = None,
    variants: Any = None,
    designs: Any = None,
    half: str | None = None,
    tables: str | os.PathLike[str] | None = None,
    searches: str | os.PathLike[str] | None = None,
    methods: Any = None,
    reference: str | None = None,
    levels: Any = None,
    alternatives: Any = None,
    aggregate: Aggregate | None = None,
    repetitions: int | None = None,
    n_bootstraps: int | None = None,
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    told: BatchCallback | None = None,
    random_state: RandomState = None,
) -> StudyJob[Any, Any]:
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
        N of simulated columns. By default 20, 40, 60, 80, 100, 500 and 1000; 20, 40, 100 and 300.
    configurations : int or sequence of int, optional
        C of simulated columns. By default 50, 100, 200, 300, 500, 1000 and 2000; 1, 10 and 60.
    beta : sequence of (a, b), optional
        Of independent columns; (9, 6), (14, 6), (24, 6) and (54, 6) by default.
    metrics : str or sequence of str, optional
        Of independent columns some of "accuracy" (the default), "roc_auc", "mean_squared_error", "roc_auc_ovo" and
        "log_loss" (of three classes); of correlated ones some of "accuracy", "roc_auc", "log_loss",
        "root_mean_squared_error" and "r2", of searches those of the design (all by default).
    variants : str or sequence of str, optional
        Of correlated columns: "plain", "tails", "ceiling", "ties"; all by default.
    designs : str or sequence of str, optional
        Of searches: names of ``heldout_papers.corrections.designs.DESIGNS``, such as "b100"; all by default.
    half : {"judging", "choosing"}, optional
        Of searches: the half of the tables, "judging" by default.
    tables : path, optional
        Of searches: the folder of tables that are searched, Parquet files with a ``MANIFEST.csv``. Without it only
        kept searches are scored.
    searches : path, optional
        Of searches: the folder in which they are kept; needed. What is there is not searched again.
    methods : sequence or mapping
        Names of ``ho.estimates.METHODS``, with settings such as "bbc(interval='calibrated')", methods of
        ``ho.estimates`` or of your own, or "oracle", which knows how the true scores are distributed; a mapping
        gives them labels of your own. "cv", "bbc", "shrinkage" and "oracle" by default; of searches "shrinkage" and
        "bbc", and the oracle always.
    reference : str, optional
        The label of the method that ratios compare with; "bbc" where it is among the methods, else the first.
    levels : sequence of float, optional
        Confidence levels of the intervals of simulated columns; .9 and .95 by default. Of searches .95.
    alternatives : sequence of {"two-sided", "greater"}, optional
        Of simulated columns; both by default. "greater" is a bound on how bad the performance can be.
    aggregate : str, optional
        As in ``ho.estimate``; "pooled" by default, of searches "auto".
    repetitions : int, optional
        Matrices of a setting, 400 by default; searches of a design, 200 by default.
    n_bootstraps : int, optional
        Of every method; 200 by default, of searches 1000.
    n_jobs : int, optional
    folder : path, optional
        Where finished batches are kept; an interrupted study continues from them.
    told : callable, optional
        ``told(batches done, batches, seconds)`` after every batch.
    random_state : int, RandomState or Generator, optional
        All methods see the same matrices and draw the same rows. Every search has a seed of its own.

    Returns
    -------
    CorrectionsStudy, or of searches TablesStudy
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
        "rows": rows, "beta": beta, "configurations": configurations, "variants": variants, "levels": levels,
        "alternatives": alternatives, "designs": designs, "half": half, "searches": searches, "tables": tables,
    }  # fmt: skip
    _check_part(chosen, own)
    of_searches = chosen == "tables"
    usual = REPETITIONS_OF_SEARCHES if of_searches else REPETITIONS
    (repetitions,) = checked_sizes("repetitions", usual if repetitions is None else repetitions, 1)
    usual = BOOTSTRAPS_OF_SEARCHES if of_searches else BOOTSTRAPS
    (drawn,) = checked_sizes("n_bootstraps", usual if n_bootstraps is None else n_bootstraps, 1)
    scale = _checked_aggregate(("auto" if of_searches else "pooled") if aggregate is None else aggregate)
    entropy = entropy_of(random_state)
    running: dict[str, Any] = {"n_jobs": n_jobs, "folder": folder, "told": told}
    usual_methods = METHODS_OF_SEARCHES if of_searches else METHODS
    scoring = _scoring(usual_methods if methods is None else methods, levels, alternatives, scale, drawn)
    beside = _reference(reference, scoring.labels)
    if of_searches:
        without = tuple(one for one in scoring.methods if one[0] != ORACLE)  # every cell has it
        settings, left_out = draw_settings(
            [DESIGNS[name] for name in checked_names("designs", designs or tuple(DESIGNS), DESIGNS)],
            checked_names("half", half or "judging", HALVES)[0],
            None if tables is None else Path(tables),
            repetitions,
            folder=DrawFolder(Path(own["searches"]).absolute()),
            scoring=replace(scoring, methods=without),
            metrics=checked_names("metrics", metrics or METRICS, METRICS, f' of part "{part}"'),
        )
        searched = StudyPlan("corrections tables", settings, 1, entropy, draw_scores.do_batch)

        def found(columns: list[Columns]) -> TablesStudy:
            return TablesStudy(joined(columns), joined(columns, "check."), beside, drawn, scale, left_out, entropy)

        return StudyJob(searched, found, left_out=left_out, **running)
    sources: Sequence[MatrixSource] = (
        independent_sources(rows, configurations, beta, metrics)
        if chosen == "independent"
        else correlated_sources(rows, configurations, variants, metrics)
    )
    settings_of = tuple(BedSetting(source, scoring) for source in sources)
    plan = StudyPlan("corrections", settings_of, repetitions, entropy, do_batch)

    def result(columns: list[Columns]) -> CorrectionsStudy:
        return _result(settings_of, columns, scoring, beside, entropy)

    return StudyJob(plan, result, BATCH, **running)


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
    """Refuse arguments of other parts, and a part of tables without a folder of searches."""
    for name, value in own.items():
        if value is not None and part not in OF_PARTS[name]:
            able = " and ".join(f'"{one}"' for one in OF_PARTS[name])
            raise InputError(f"{name} is for part {able}, got part {part!r}; leave it out.", argument=name)
    if part == "tables" and own["searches"] is None:
        raise InputError(
            'part "tables" needs `searches`, the folder in which searches are kept, got none; '
            "`tables` is the folder of the tables to search.",
            argument="part",
        )


def _scoring(methods: Any, levels: Any, alternatives: Any, aggregate: Aggregate, drawn: int) -> BedScoring:
    named = checked_names("alternatives", ALTERNATIVES if alternatives is None else alternatives, ALTERNATIVES)
    sides: tuple[Alternative, ...] = tuple(one for one in ALTERNATIVES if one in named)
    return BedScoring(
        labelled(methods), _checked_levels(LEVELS if levels is None else levels), sides, aggregate, drawn
    )


def _checked_aggregate(aggregate: Any) -> Aggregate:
    check_aggregate(aggregate)
    found: Aggregate = aggregate
    return found


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
