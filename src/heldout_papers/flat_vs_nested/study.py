"""Is nested cross-validation needed to choose an algorithm? Its accuracies are measured on many tables.

Half of each table is the sample at hand. There each algorithm's accuracy is estimated by flat cross-validation,
with the hyper-parameters that look best, and by nested cross-validation; what it is in truth is seen on the other
half (Wainer and Cawley 2021, section 2).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import astuple, dataclass, field, fields
from typing import Any

import numpy as np
from sklearn import config_context

from heldout._random import RandomState, entropy_of, numpy_seed, stream
from heldout.errors import InputError
from heldout_papers.engine.arguments import checked_sizes
from heldout_papers.engine.batches import (
    Batch,
    BatchCallback,
    Columns,
    StudyJob,
    StudyPlan,
    study,
)
from heldout_papers.flat_vs_nested.algorithm_results import AlgorithmResult, algorithm_results, halves
from heldout_papers.flat_vs_nested.algorithms import Algorithm, Entries, checked_algorithms
from heldout_papers.flat_vs_nested.result import COLUMNS, FlatVsNestedStudy
from heldout_papers.spaces.wainer_cawley import wainer_cawley2021
from heldout_papers.tables import TableFile, TableFolder, smallest_tables, tables_in

MAX_ROWS = 10_000
FOUND = tuple(one.name for one in fields(AlgorithmResult))


@dataclass(frozen=True)
class FlatVsNestedSetting:
    """One table, and what is done with it.

    Attributes
    ----------
    table : TableFile
    max_rows : int
        Of both halves.
    folds : int
    algorithms : tuple of str
    small : bool
        Of the twelve algorithms.
    digest : str
        What the user's own algorithms are recognised by.
    entries : sequence of (name, estimator, grid), optional
        The user's own.
    """

    table: TableFile
    max_rows: int
    folds: int
    algorithms: tuple[str, ...]
    small: bool
    digest: str = ""
    entries: Entries | None = field(default=None, repr=False, compare=False)

    @property
    def n_rows(self) -> int:
        return min(self.table.rows, self.max_rows)

    def found_on(self, X: Any, y: Any) -> list[Algorithm]:
        """The algorithms for a sample: kernels and numbers of neighbours follow its size."""
        entries = wainer_cawley2021(X, y, small=self.small) if self.entries is None else self.entries
        by_name = {name: (estimator, grid) for name, estimator, grid in entries}
        return [Algorithm.of(name, *by_name[name]) for name in self.algorithms]


def do_batch(batch: Batch[FlatVsNestedSetting], entropy: int) -> Columns:
    """All algorithms on some repetitions of a table."""
    setting = batch.setting
    X, y = setting.table.read()
    found: dict[str, list[list[Any]]] = {name: [] for name in FOUND}
    # Checks of parameters and of finite numbers would take longer than many of these fits. A user's own algorithms
    # may need them.
    unchecked = config_context(assume_finite=True, skip_parameter_validation=True)
    for repetition in range(batch.first, batch.last):
        place = (setting.table.name, setting.max_rows, repetition)
        split = halves(y, setting.max_rows, numpy_seed(entropy, "study flat-vs-nested", *place))
        algorithms = setting.found_on(X.iloc[split[0]], y[split[0]])
        seed = stream(entropy, "study flat-vs-nested models", *place)
        with unchecked if setting.entries is None else nullcontext():
            of_each = algorithm_results(algorithms, X, y, split, setting.folds, seed, ())
        for name, values in zip(FOUND, zip(*map(astuple, of_each), strict=True), strict=True):
            found[name].append(list(values))
    return {name: np.array(values) for name, values in found.items()}


@study(FlatVsNestedStudy)
def flat_vs_nested(
    tables: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    algorithms: Any = "full",
    small: bool = False,
    repetitions: int = 6,
    folds: int = 5,
    max_rows: int = MAX_ROWS,
    target: str = "target",
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    told: BatchCallback | None = None,
    random_state: RandomState = None,
) -> StudyJob[FlatVsNestedSetting, FlatVsNestedStudy]:
    """What nested cross-validation gains over flat when an algorithm is chosen, on your tables.

    In each repetition a table is split into two stratified halves. On the first, ``folds``-fold cross-validation
    finds each algorithm's best configuration and its accuracy (flat), and the nested one its accuracy when the
    configuration is chosen anew in each fold (nested). The best configuration, trained on the whole half, is
    scored on the second (future).

    Parameters
    ----------
    tables : path
        A folder of tables, CSV or Parquet; those with a target of two classes are used.
    names : sequence of str, optional
        Only these.
    algorithms : "full", "top3", sequence of str, or list of (name, estimator, grid)
        All twelve of ``heldout.spaces.wainer_cawley2021``; random forest, support vector machine and boosted trees;
        some of the twelve; or your own.
    small : bool
        Whether the twelve have smaller grids and fewer trees: a tenth of the time on a few hundred rows.
    repetitions : int, default=6
    folds : int, default=5
        Of flat cross-validation, and of both loops of the nested one.
    max_rows : int, default=10000
        Of larger tables as many are drawn in each repetition, half of them for each half.
    target : str
        The column that holds the classes.
    n_jobs : int, optional
    folder : path, optional
        Where finished batches are kept; a study that was interrupted goes on where it was.
    told : callable, optional
        ``told(batches done, batches, seconds)`` after every batch.
    random_state : int, RandomState or Generator, optional
        A table's accuracies are the same with any other tables and repetitions beside it.

    Returns
    -------
    FlatVsNestedStudy
        ``.to_frame()``: whether the choice matters, a row a scenario and analysis; ``.to_frame(each=True)``: the
        accuracies.

    References
    ----------
    Wainer and Cawley (2021), section 2.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> with tempfile.TemporaryDirectory() as here:
    ...     table = load_breast_cancer(as_frame=True).frame
    ...     table.to_csv(Path(here) / "cancer.csv", index=False)
    ...     knn = [("knn", KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})]
    ...     found = flat_vs_nested(here, algorithms=knn, repetitions=2, max_rows=200, random_state=0)
    >>> found.to_frame(each=True)[["table", "repetition", "algorithm", "flat", "nested", "future"]].round(2)
        table  repetition algorithm  flat  nested  future
    0  cancer           0       knn  0.97    0.97    0.96
    1  cancer           1       knn  0.92    0.90    0.89
    """
    (repetitions,), (folds,) = checked_sizes("repetitions", repetitions, 1), checked_sizes("folds", folds, 2)
    (max_rows,) = checked_sizes("max_rows", max_rows, 4 * folds)
    chosen, entries, digest = checked_algorithms(algorithms)
    found = _enough(tables_in(tables, names=names, target=target, least_minority=2 * folds), max_rows, folds, names)
    settings = tuple(
        FlatVsNestedSetting(table, max_rows, folds, chosen, small, digest, entries) for table in found.tables
    )
    plan = StudyPlan("flat-vs-nested", settings, repetitions, entropy_of(random_state), do_batch)

    def result(columns: list[Columns]) -> FlatVsNestedStudy:
        return FlatVsNestedStudy(_joined(plan, columns), plan.entropy, max_rows, found.left_out)

    return StudyJob(plan, result, left_out=found.left_out, n_jobs=n_jobs, folder=folder, told=told)


def small_tables(
    tables: str | os.PathLike[str], n: int, *, folds: int = 5, max_rows: int = MAX_ROWS, target: str = "target"
) -> list[str]:
    """Names of some small tables of a folder that can be studied, without reading all of it."""
    return smallest_tables(
        tables, n, lambda table: _unfit(table, max_rows, folds), target=target, least_minority=2 * folds
    )


def _enough(found: TableFolder, max_rows: int, folds: int, names: Sequence[str] | None) -> TableFolder:
    """Tables of whose rarer class each half holds a row a fold at least."""
    unfit = {table.name: why for table in found.tables if (why := _unfit(table, max_rows, folds))}
    kept = tuple(table for table in found.tables if table.name not in unfit)
    if unfit and (names or not kept):
        name, why = next(iter(unfit.items()))
        raise InputError(f"table {name} cannot be used: {why}.")
    return TableFolder(kept, {**found.left_out, **unfit})


def _unfit(table: TableFile, max_rows: int, folds: int) -> str | None:
    rarer = int(table.minority * max_rows)
    if table.rows <= max_rows or rarer >= 2 * folds:
        return None
    return f"its rarer class would have {rarer} of {max_rows} rows, fewer than {2 * folds}"


def _joined(study: StudyPlan[FlatVsNestedSetting], columns: Sequence[Columns]) -> Columns:
    """A row a table, repetition and algorithm."""
    rows = [
        (
            setting.table.name, setting.n_rows, setting.table.columns, repetition, algorithm,
            {name: found[name][repetition, place] for name in FOUND},
        )
        for setting, found in zip(study.settings, columns, strict=True)
        for repetition in range(study.repetitions)
        for place, algorithm in enumerate(setting.algorithms)
    ]  # fmt: skip
    keys = ("table", "rows", "columns", "repetition", "algorithm")
    by_name = {name: np.array([row[n] for row in rows]) for n, name in enumerate(keys)}
    by_name |= {name: np.array([row[-1][name] for row in rows]) for name in FOUND}
    return {name: by_name[name] for name in COLUMNS}
