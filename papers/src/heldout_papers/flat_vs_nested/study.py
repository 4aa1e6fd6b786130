"""Is nested cross-validation needed to choose an algorithm? Its accuracies are measured on many tables.

Half of each table is the sample at hand. There each algorithm's accuracy, or another score, is estimated by flat
cross-validation, with the hyper-parameters that look best, and by nested cross-validation; what it is in truth is
seen on the other half (Wainer and Cawley 2021, section 2).
"""

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import astuple, dataclass, field, fields, replace
from typing import Any

import numpy as np
from sklearn import config_context

from heldout._streams import RandomState, entropy_of, numpy_seed, stream
from heldout.configurations import checked_entries
from heldout.errors import InputError
from heldout.estimates.candidates import check_selects
from heldout.metrics.base import Metric
from heldout.metrics.named import check_fits, metric_named
from heldout_papers.engine.arguments import checked_sizes
from heldout_papers.engine.batches import Batch, BatchCallback, Columns, StudyJob, StudyPlan, study
from heldout_papers.flat_vs_nested.algorithm_results import (
    AlgorithmResult,
    CrossValidation,
    algorithm_results,
    halves,
)
from heldout_papers.flat_vs_nested.algorithms import Algorithm, Entries, Source, canonical, chosen_algorithms
from heldout_papers.flat_vs_nested.result import COLUMNS, FlatVsNestedStudy
from heldout_papers.flat_vs_nested.scoring import RowScoring
from heldout_papers.spaces.cawley_talbot import KERNELS, cawley_talbot2010
from heldout_papers.spaces.wainer_cawley import wainer_cawley2021
from heldout_papers.tables import BINARY, CLASSES, TableFile, TableFolder, smallest_tables, tables_in

MAX_ROWS = 10_000
DRAWS, SMALL_DRAWS = 100, 30
"""Vectors of length scales of the kernel with many."""
ACCURACY = metric_named("accuracy")
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
        Of the algorithms with names.
    digest : str
        What the user's own algorithms are recognised by.
    metric_name : str
        What the metric is recognised by.
    independent_folds : bool
        Whether flat and nested cross-validation draw folds of their own.
    metric : Metric
    source : list of (name, estimator, grid), or callable, optional
        The user's own.
    """

    table: TableFile
    max_rows: int
    folds: int
    algorithms: tuple[str, ...]
    small: bool
    digest: str = ""
    metric_name: str = "accuracy"
    independent_folds: bool = False
    metric: Metric = field(default=ACCURACY, repr=False, compare=False)
    source: Source | None = field(default=None, repr=False, compare=False)

    @property
    def n_rows(self) -> int:
        return min(self.table.rows, self.max_rows)

    def found_on(self, X: Any, y: Any) -> list[Algorithm]:
        """The algorithms for a sample: kernels and numbers of neighbours follow its size."""
        by_name = {name: (estimator, grid) for name, estimator, grid in self._entries(X, y)}
        stranger = next((name for name in self.algorithms if name not in by_name), None)
        if stranger is not None:
            raise InputError(f"the function of the algorithms gives no {stranger!r} for table {self.table.name}.")
        return [Algorithm.of(name, *by_name[name]) for name in self.algorithms]

    def _entries(self, X: Any, y: Any) -> Entries:
        if self.source is not None:
            return checked_entries(self.source(X, y)) if callable(self.source) else self.source
        entries = list(wainer_cawley2021(X, y, small=self.small))
        if set(KERNELS) & set(self.algorithms):
            entries += cawley_talbot2010(X, y, n_draws=SMALL_DRAWS if self.small else DRAWS)
        return entries


def do_batch(batch: Batch[FlatVsNestedSetting], entropy: int) -> Columns:
    """All algorithms on some repetitions of a table."""
    setting = batch.setting
    X, y = setting.table.read()
    scoring = RowScoring(check_fits(setting.metric, truth := setting.table.truth(y)), truth)
    how = CrossValidation(setting.folds, setting.independent_folds)
    found: dict[str, list[list[Any]]] = {name: [] for name in FOUND}
    # Checks of parameters and of finite numbers would take longer than many of these fits. A user's own algorithms
    # may need them.
    unchecked = config_context(assume_finite=True, skip_parameter_validation=True)
    for repetition in range(batch.first, batch.last):
        place = (setting.table.name, setting.max_rows, repetition)
        split = halves(y, setting.max_rows, numpy_seed(entropy, "study flat-vs-nested", *place))
        algorithms = setting.found_on(X.iloc[split[0]], y[split[0]])
        seed = stream(entropy, "study flat-vs-nested models", *place)
        with unchecked if setting.source is None else nullcontext():
            of_each = algorithm_results(algorithms, X, scoring, split, how, seed, ())
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
    metric: Any = "accuracy",
    multiclass: bool = False,
    independent_folds: bool = False,
    target: str = "target",
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    told: BatchCallback | None = None,
    random_state: RandomState = None,
) -> StudyJob[FlatVsNestedSetting, FlatVsNestedStudy]:
    """What nested cross-validation gains over flat when an algorithm is chosen, on your tables.

    In each repetition a table is split into two stratified halves. On the first, ``folds``-fold cross-validation
    finds each algorithm's best configuration and its score (flat), and the nested one its score when the
    configuration is chosen anew in each fold (nested). The best configuration, trained on the whole half, is
    scored on the second (future).

    Parameters
    ----------
    tables : path
        A folder of tables, CSV or Parquet; those with a target of two classes are used.
    names : sequence of str, optional
        Only these.
    algorithms : "full", "top3", "ard", sequence of str, list of (name, estimator, grid), or callable
        All twelve of ``heldout.spaces.wainer_cawley2021``; random forest, support vector machine and boosted trees;
        both of ``heldout.spaces.cawley_talbot2010``, a kernel with one length scale and one with a length scale
        for each column; some of these fourteen; or your own, which ``callable(X, y)`` may give for each half.
    small : bool
        Whether the algorithms with names have smaller grids and fewer trees: a tenth of the time on a few hundred
        rows.
    repetitions : int, default=6
    folds : int, default=5
        Of flat cross-validation, and of both loops of the nested one.
    max_rows : int, default=10000
        Of larger tables as many are drawn in each repetition, half of them for each half.
    metric : str or metric, default="accuracy"
        Any metric of predicted classes, probabilities or decisions; of two classes the rarer is the positive one.
        A fold in which it has no value does not count.
    multiclass : bool
        Whether tables with more than two classes are used too.
    independent_folds : bool
        Whether flat cross-validation draws other folds than the outer ones of the nested, as the article's
        programs do; by default they share them.
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
        scores.

    Raises
    ------
    InputError
        When the folder, a table or a number cannot be used, naming it.

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
    used = _usable_metric(metric)
    kinds = CLASSES if multiclass else BINARY
    fitting = tables_in(tables, names=names, target=target, kinds=kinds, least_minority=2 * folds)
    found = _enough(fitting, max_rows, folds, names, used)
    chosen = chosen_algorithms(algorithms, found.tables[0].read)
    identity = used.name if isinstance(metric, str) else repr(canonical(used))
    first = FlatVsNestedSetting(
        found.tables[0], max_rows, folds, chosen.names, small, chosen.digest, identity, independent_folds, used,
        chosen.source,
    )  # fmt: skip
    settings = tuple(replace(first, table=table) for table in found.tables)
    plan = StudyPlan("flat-vs-nested", settings, repetitions, entropy_of(random_state), do_batch)

    def result(columns: list[Columns]) -> FlatVsNestedStudy:
        return FlatVsNestedStudy(
            _joined(plan, columns), plan.entropy, max_rows, found.left_out, used.name, used.greater_is_better,
            independent_folds,
        )  # fmt: skip

    return StudyJob(plan, result, left_out=found.left_out, n_jobs=n_jobs, folder=folder, told=told)


def _usable_metric(metric: Any) -> Metric:
    """A metric that can choose among classifiers."""
    found = metric_named(metric)
    check_selects([found], 2)
    if not found.tasks & CLASSES:
        raise InputError(
            f"metric {found.name!r} is for {' and '.join(sorted(found.tasks))}, but the study compares "
            "classifiers; take one of classes, probabilities or decisions.",
            argument="metric",
        )
    return found


def small_tables(
    tables: str | os.PathLike[str],
    n: int,
    *,
    folds: int = 5,
    max_rows: int = MAX_ROWS,
    target: str = "target",
    multiclass: bool = False,
    metric: Any = "accuracy",
) -> list[str]:
    """Names of some small tables of a folder that can be studied, without reading all of it."""
    used = _usable_metric(metric)
    kinds = CLASSES if multiclass else BINARY
    return smallest_tables(
        tables,
        n,
        lambda table: _unfit(table, max_rows, folds, used),
        target=target,
        kinds=kinds,
        least_minority=2 * folds,
    )


def _enough(
    found: TableFolder, max_rows: int, folds: int, names: Sequence[str] | None, metric: Metric
) -> TableFolder:
    """Tables of whose rarest class each half holds a row a fold at least, and which the metric fits."""
    unfit = {table.name: why for table in found.tables if (why := _unfit(table, max_rows, folds, metric))}
    kept = tuple(table for table in found.tables if table.name not in unfit)
    if unfit and (names or not kept):
        name, why = next(iter(unfit.items()))
        raise InputError(f"table {name} cannot be used: {why}.")
    return TableFolder(kept, {**found.left_out, **unfit})


def _unfit(table: TableFile, max_rows: int, folds: int, metric: Metric) -> str | None:
    if table.kind not in metric.tasks:
        return f"metric {metric.name!r} does not fit its {table.n_classes} classes"
    rarest = int(table.minority * max_rows)
    if table.rows <= max_rows or rarest >= 2 * folds:
        return None
    which = "rarer" if table.n_classes == 2 else "rarest"
    return f"its {which} class would have {rarest} of {max_rows} rows, fewer than {2 * folds}"


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
