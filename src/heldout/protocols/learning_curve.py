"""Learning curves: the scores of all configurations at every training size, carried on to all rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from heldout import _defaults
from heldout._record import Record, TextTable, json_safe, rows_table
from heldout._streams import stream
from heldout._types import Array, Floats
from heldout.arguments.search import SearchArguments
from heldout.data.checks import check_count
from heldout.data.task import Task, labels_text
from heldout.errors import InputError
from heldout.estimates.base import Procedure, conclude
from heldout.estimates.data_flags import flags_of_choice
from heldout.estimates.question import Settings
from heldout.estimates.types import Estimate, decimals_of
from heldout.execution.collect import RaceResults
from heldout.execution.conclusion import warn_of_failures, winner_of, with_constants
from heldout.execution.fit import final_model
from heldout.execution.run import RunSettings, open_run
from heldout.execution.search import Search, check_search
from heldout.execution.sharing.groups import Share
from heldout.flags import Flag
from heldout.folds.splits import Folds, Rows, Split, check_splits
from heldout.metrics.base import Metric
from heldout.protocols.branches import table_of_search
from heldout.protocols.power_law import LEAST_SIZES, PowerLaw, fit_power_law
from heldout.protocols.words import QUANTITY_IPL


@dataclass(frozen=True)
class CurvePoint:
    """The score of one configuration at one training size.

    Attributes
    ----------
    configuration : int
    name : str
    size : float
        Training rows; their mean if groups make them differ.
    mean : float
        The mean over subsamples, in the metric's own direction and units; NaN if the configuration failed.
    standard_error : float
        The standard error of ``mean`` over subsamples of these rows; it does not include how other rows would
        differ.
    n : int
        The number of subsamples with a score.
    """

    configuration: int
    name: str
    size: float
    mean: float
    standard_error: float
    n: int


@dataclass(frozen=True, eq=False)
class LearningCurve(Record):
    """The score of every configuration at every training size, and the winner's curve at all rows.

    Attributes
    ----------
    metric : str
    greater_is_better : bool
    best_possible : float
        The metric's best possible value; errors are distances from it. Infinite if unknown; there are no curves
        then.
    names : tuple of str
        Names of the C configurations.
    sizes : ndarray of shape (S,)
        Training rows, ascending.
    n_rows : int
        N, the training rows that the estimate is for.
    scores : ndarray of shape (S, n_subsamples, C)
        In the metric's own direction and units; NaN where a fit failed or the metric is undefined.
    laws : tuple of PowerLaw or None
        The curve of each configuration, in units of error; None if it failed, or too few sizes have a score.
    winner : int
        The best configuration at the largest size, by the selection rule.
    estimate : Estimate
        ``value`` is the winner's curve at N.
    model : estimator or None
        The winner fitted on all rows.
    failures : mapping of int to str
        Configurations that failed, which are no candidates, and why.
    n_fits : int
        Fits that were made, the model's included.
    """

    metric: str
    greater_is_better: bool
    best_possible: float
    names: tuple[str, ...]
    sizes: Floats
    n_rows: int
    scores: Floats
    laws: tuple[PowerLaw | None, ...]
    winner: int
    estimate: Estimate
    model: Any = None
    failures: Mapping[int, str] = field(default_factory=dict)
    n_fits: int = 0

    @cached_property
    def mean(self) -> Floats:
        """(S, C): mean score at each size, NaN for configurations that failed."""
        return summarised(self.scores)[0]

    @cached_property
    def standard_error(self) -> Floats:
        """(S, C): the standard error of ``mean``, over subsamples."""
        return summarised(self.scores)[1]

    @property
    def rows(self) -> tuple[CurvePoint, ...]:
        """One point per configuration and size, configuration by configuration."""
        n = np.count_nonzero(~np.isnan(self.scores), axis=1)
        return tuple(
            CurvePoint(j, name, float(size), float(self.mean[s, j]), float(self.standard_error[s, j]), int(n[s, j]))
            for j, name in enumerate(self.names)
            for s, size in enumerate(self.sizes)
        )

    def at(self, n_rows: float) -> Floats:
        """(C,): the score of every configuration trained on ``n_rows`` rows, by its curve; NaN if it has none."""
        errors = np.array([np.nan if law is None else float(law.at(n_rows)) for law in self.laws])
        return self.best_possible - errors if self.greater_is_better else self.best_possible + errors

    def best_at(self, n_rows: float) -> int | None:
        """The configuration whose curve is best at ``n_rows`` rows, the first of equals; None without any curve.

        It need not be the winner: a configuration that learns slowly may overtake beyond the largest size.
        """
        scores = self.at(n_rows)
        if np.isnan(scores).all():
            return None
        return int(np.nanargmax(scores) if self.greater_is_better else np.nanargmin(scores))

    _without = "best_possible names sizes scores laws model"
    _more = "n_subsamples best_at_n_rows points=rows curves=laws"
    _columns = "configuration name size mean standard_error n"

    @property
    def n_subsamples(self) -> int:
        return self.scores.shape[1]

    @property
    def best_at_n_rows(self) -> int | None:
        """The configuration whose curve is best at N rows."""
        return self.best_at(self.n_rows)

    @property
    def _rows(self) -> tuple[CurvePoint, ...]:
        return self.rows

    def __repr__(self) -> str:
        return (
            f"LearningCurve({len(self.names)} configurations at {len(self.sizes)} training sizes, "
            f"{self.n_subsamples} subsamples each, {self.n_fits} fits, {self.estimate})"
        )

    def tables(self) -> list[TextTable]:
        rows = [
            {"size": f"{size:g}", "mean": mean, "error": error, "curve": self.at(size)[self.winner]}
            for size, mean, error in zip(
                self.sizes.tolist(), self.mean[:, self.winner], self.standard_error[:, self.winner], strict=True
            )
        ]
        curve_at_all = self.at(self.n_rows)[self.winner]
        whole = {"size": f"{self.n_rows} (all)", "mean": "", "error": "", "curve": curve_at_all}
        title = f"{self.metric} of {self.names[self.winner]} by training rows"
        shown = "training_rows=size curve mean standard_error=error"
        decimals = decimals_of(self.estimate)
        curve = rows_table([*rows, whole], shown, title, self._remarks(), decimals, main=len(rows))
        return [*self.estimate.tables(), curve]

    def _remarks(self) -> list[str]:
        best = self.best_at(self.n_rows)
        failed = [f"{self.names[j]} failed: {why}" for j, why in self.failures.items()]
        if best is None or best == self.winner:
            return failed
        return [f"The curve of {self.names[best]} is better at {self.n_rows} rows.", *failed]


def summarised(scores: Floats) -> tuple[Floats, Floats]:
    """Means and their standard errors (S, C) over subsamples (S, n, C), without those that have no score."""
    there = ~np.isnan(scores)
    n = np.count_nonzero(there, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(there, scores, 0.0).sum(axis=1) / n
        squares = np.where(there, scores - means[:, None], 0.0) ** 2
        errors = np.sqrt(squares.sum(axis=1) / (n - 1) / n)
    return means, np.where(n > 1, errors, np.nan)


SIZES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
GROUP_DRAWS = 50
"""The number of orders of whole groups that are drawn; the one that fits sizes and classes best is used."""


def training_counts(sizes: Any, n_rows: int) -> tuple[int, ...]:
    """Training sizes as numbers of rows, ascending.

    ``sizes``: shares of all rows between 0 and 1, or numbers of rows.

    Examples
    --------
    >>> training_counts((0.25, 0.5, 60), 80)
    (20, 40, 60)
    """
    if isinstance(sizes, str) or not isinstance(sizes, Sequence | np.ndarray) or len(sizes) < 2:
        raise InputError(
            f"training_sizes must list at least 2 shares of the rows, or numbers of rows, got {sizes!r}; "
            "(.2, .4, .6, .8) for instance."
        )
    counts = tuple(_count(size, n_rows) for size in sizes)
    if any(after <= before for before, after in pairwise(counts)):
        raise InputError(
            f"training_sizes must ascend, got {tuple(sizes)!r}, which are {counts} of {n_rows} rows; list each "
            "size once, the smallest first."
        )
    return counts


def _count(size: Any, n_rows: int) -> int:
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    share = isinstance(size, float | np.floating) and 0 < size < 1
    count = int(size) if whole else round(size * n_rows) if share else 0
    if not 2 <= count < n_rows:
        raise InputError(
            f"each of training_sizes must be a share between 0 and 1, or from 2 to {n_rows - 1} rows, got {size!r}."
        )
    return count


def subsampled_folds(task: Task, counts: Sequence[int], n_subsamples: int, entropy: int) -> Folds:
    """A split for each size and repetition, size by size; every split is a repeat.

    Classes are kept in proportion at every size, and groups whole; with groups a size is as near as they allow.

    Raises InputError when a class has no row to train on, or none to test.
    """
    check_splits(n_subsamples * len(counts), task.n_rows, "fewer n_subsamples or training_sizes")
    trains: list[list[Rows]] = [[] for _ in counts]
    for repetition in range(n_subsamples):
        rng = np.random.default_rng(stream(entropy, "subsamples", repetition))
        for number, rows in enumerate(_nested(task, counts, rng)):
            trains[number].append(rows)
    splits = []
    for number, subsamples in enumerate(trains):
        for repetition, train in enumerate(subsamples):
            test = np.setdiff1d(np.arange(task.n_rows), train)
            _check_classes(task, train, test)
            splits.append(Split(number * n_subsamples + repetition, 0, train, test))
    return Folds(tuple(splits), task.n_rows, grouped=task.groups is not None)


def _nested(task: Task, counts: Sequence[int], rng: np.random.Generator) -> list[Rows]:
    """The training rows of one repetition at each size, ascending."""
    if task.groups is not None:
        return _nested_groups(task, task.groups, counts, rng)
    order = _order(task, rng)
    return [np.sort(order[:count]) for count in counts]


def _order(task: Task, rng: np.random.Generator) -> Rows:
    """All rows shuffled, such that the first n hold each class in proportion, for any n."""
    shuffled = rng.permutation(task.n_rows)
    if not task.truth.kind.is_classification:
        return shuffled
    classes = task.truth.values[shuffled]
    place = np.empty(task.n_rows)
    for code in range(task.truth.n_classes):
        mine = np.flatnonzero(classes == code)
        place[mine] = (np.arange(len(mine)) + 0.5) / max(len(mine), 1)
    # Classes of one size tie at every place; the shuffle breaks these ties.
    return np.asarray(shuffled[np.argsort(place, kind="stable")])


def _nested_groups(task: Task, groups: Array, counts: Sequence[int], rng: np.random.Generator) -> list[Rows]:
    """Of some orders of the groups, the one whose first groups come nearest to the sizes, class by class."""
    group = np.unique(groups, return_inverse=True)[1].reshape(-1)
    classes = task.truth.values if task.truth.kind.is_classification else np.zeros(task.n_rows, dtype=np.intp)
    table = np.zeros((int(group.max()) + 1, int(classes.max()) + 1))
    np.add.at(table, (group, classes), 1)
    shares = table.sum(axis=0) / task.n_rows
    best: tuple[float, list[Rows]] | None = None
    for _ in range(GROUP_DRAWS):
        order = rng.permutation(len(table))
        held = table[order].cumsum(axis=0)
        rows = held.sum(axis=1)
        last = [int(np.abs(rows[:-1] - count).argmin()) for count in counts]
        off = sum(float(np.abs(held[i] - count * shares).sum()) for i, count in zip(last, counts, strict=True))
        if best is None or off < best[0]:
            best = off, [np.flatnonzero(np.isin(group, order[: i + 1])) for i in last]
    assert best is not None, "some orders are drawn"
    if len({len(rows) for rows in best[1]}) < len(counts):
        raise InputError(
            f"{len(table)} groups cannot be divided so that they give {len(counts)} training sizes; use fewer "
            "training_sizes, further apart."
        )
    return best[1]


def _check_classes(task: Task, train: Rows, test: Rows) -> None:
    if task.truth.classes is None:
        return
    for rows, of in ((train, "train on"), (test, "test")):
        counts = task.truth.rows(rows).class_counts()
        if not counts.all():
            absent = int(np.flatnonzero(counts == 0)[0])
            label = labels_text(task.truth.classes[absent : absent + 1])
            raise InputError(
                f"class {label} has {task.truth.class_counts()[absent]} of {task.n_rows} rows, none of them among "
                f"the {len(rows)} to {of} with {len(train)} training rows; use training_sizes that leave some, or "
                "gather more of it."
            )


POOR_FIT = 2.0
"""A curve is flagged if its root mean square distance from its means exceeds so many of their standard errors."""


IPL = Procedure("ipl", ("ding2014",))


def errors_of(metric: Metric, scores: Floats) -> Floats:
    """Scores as distances from the best possible one."""
    best = best_possible(metric)
    return best - scores if metric.greater_is_better else scores - best


def best_possible(metric: Metric) -> float:
    """The better end of the metric's range; infinite if it has none."""
    return float(metric.range[1] if metric.greater_is_better else metric.range[0])


def laws_of(metric: Metric, sizes: Floats, scores: Floats, failures: Mapping[int, str]) -> list[PowerLaw | None]:
    """The curve of each configuration, from scores (S, n, C); None of those that failed or have too few sizes."""
    n_configurations = scores.shape[2]
    if not np.isfinite(best_possible(metric)):
        return [None] * n_configurations
    means, standard_errors = summarised(errors_of(metric, scores))
    return [
        None if j in failures else fit_power_law(sizes, means[:, j], np.nan_to_num(standard_errors[:, j] ** 2))
        for j in range(n_configurations)
    ]


def estimate_of(
    search: Search,
    metric: Metric,
    winner: int,
    *,
    sizes: Floats,
    scores: Floats,
    laws: list[PowerLaw | None],
    failures: Mapping[int, str],
) -> Estimate:
    """The winner's curve at all rows; its mean at the largest size is the uncorrected score."""
    evidence = table_of_search(
        search, Settings(entropy=search.entropy), winner, failures, failures,
        scores[-1], np.arange(scores.shape[1]), n_splits=scores.shape[0] * scores.shape[1],
    )  # fmt: skip
    unscored = np.isnan(scores[:, :, evidence.candidates]).all(axis=2)
    law, n_rows = laws[winner], search.task.n_rows
    uncorrected = float(summarised(scores)[0][-1, winner])
    flags = {**flags_of_choice(evidence), **Flag.NO_INTERVAL.of(method=IPL.name)}
    if unscored.any():
        flags |= Flag.UNSCORED_SPLITS.of(unscored=int(unscored.sum()), total=unscored.size)
    if evidence.was_selected:
        flags |= Flag.SELECTION_SMOOTHED.of(chosen_from=evidence.chosen_from)
    if law is None:
        reason = _no_curve(metric, sizes, scores, winner)
        flags |= Flag.UNDEFINED.of(reason=reason)
        value = float("nan")
    else:
        best, error = best_possible(metric), float(law.at(n_rows))
        value = best - error if metric.greater_is_better else best + error
        flags |= _flags_of_fit(law)
    return conclude(
        evidence, IPL, value,
        uncorrected=uncorrected,
        flags=flags,
        provenance={
            "quantity": QUANTITY_IPL,
            "training_rows": float(n_rows),
            "training_sizes": sizes.tolist(),
            "n_subsamples": scores.shape[1],
            "curve": json_safe(law),
        },
    )  # fmt: skip


def _flags_of_fit(law: PowerLaw) -> dict[Flag, str]:
    flags: dict[Flag, str] = {}
    if law.misfit > POOR_FIT:
        flags |= Flag.CURVE_MISFIT.of(residual=law.residual, times=law.misfit)
    if law.is_flat:
        flags |= Flag.CURVE_FLAT.of()
    return flags


def _no_curve(metric: Metric, sizes: Floats, scores: Floats, winner: int) -> str:
    if not np.isfinite(best_possible(metric)):
        return f"a power law describes errors, but the best possible value of {metric.name} is not known"
    there = int((~np.isnan(scores[:, :, winner])).any(axis=1).sum())
    return f"a power law has {LEAST_SIZES} coefficients, and the winner has scores at {there} training sizes"


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    param_grid: Any = None,
    *,
    training_sizes: Sequence[float] | Sequence[int] = SIZES,
    n_subsamples: int = 50,
    scoring: Any = None,
    pos_label: Any = None,
    selection: Any = _defaults.SELECTION,
    groups: Any = None,
    sample_weight: Any = None,
    refit: Any = True,
    n_jobs: int | None = None,
    share: Share = _defaults.SHARE,
    store: Any = None,
    random_state: Any = None,
) -> LearningCurve:
    """Score every configuration at several training sizes, and extend the winner's curve to all rows.

    In each of ``n_subsamples`` repetitions the rows are put into a random order that keeps classes in proportion.
    For each training size n, the first n rows train every configuration and the others test it. With S sizes and C
    configurations that takes S · ``n_subsamples`` · C fits, and one for ``model``. Within a repetition each
    training set contains the smaller ones.

    ``estimate`` (method "ipl", Ding et al. 2014): errors are distances from the best possible value; the mean
    errors of a configuration are fitted by a n^(-b) + c, where a, b and c are at least 0, by least squares with
    weights of one over the variance of each mean. The winner is the best configuration at the largest size; its
    score there is ``uncorrected``, and ``value`` is its curve at all N rows. The value is for models trained on all
    rows, that of other methods for smaller training parts. So ``optimism`` also contains the gain from more rows,
    and is often negative.

    It needs a metric whose best possible value is known, and at least three training sizes. It has no interval:
    subsamples of the same rows show how subsamples differ, not how other rows would. And it corrects little of the
    optimism of the choice: the errors at other sizes come from the same rows and contain most of the winner's luck
    (a flag says so; papers/pages/learning-curves.md has figures). Use it to see the gain from more rows, and
    another method for the performance of the winner. On few rows the curve is unstable; a poor fit is flagged.

    Parameters
    ----------
    estimator : estimator, list of (name, estimator, grid), or search
        As ``ho.HeldOutSearchCV`` takes them, or a search (of ``ho``, ``GridSearchCV`` or ``RandomizedSearchCV``),
        fitted or not. The settings of a search apply to every argument left at its default here, except ``cv`` and
        ``repeats``; a search with ``drop`` is refused, and so is an argument that differs from that of the search.
        A random search draws once. Any other estimator that selects (by Optuna, halving) is one configuration, and
        every fit repeats its selection.
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    param_grid : dict or list of dict, optional
    training_sizes : sequence of float or int, default=(.2, .3, .4, .5, .6, .7, .8)
        Shares of the rows, or numbers of rows; ascending.
    n_subsamples : int, default=50
        The number of subsamples of each size.
    scoring, pos_label, selection, refit, n_jobs, share, store
        As in ``ho.HeldOutSearchCV``. With several scorers, the one that ``refit`` names is used.
    groups : array-like of shape (N,), optional
        Kept whole; sizes are then as close to the requested ones as groups allow.
    sample_weight : array-like of shape (N,), optional
        Importance weights, for fits and scores.
    random_state : int, RandomState or Generator, optional
        Seeds the subsamples; repetition r is the same for any ``n_subsamples``.

    Returns
    -------
    LearningCurve

    Raises
    ------
    InputError
        When sizes or settings cannot be used, a class has no row in a training or test part, or every
        configuration failed.

    References
    ----------
    Ding et al. (2014).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = learning_curve(
    ...     KNeighborsClassifier(), X, y, {"n_neighbors": [1, 9]},
    ...     training_sizes=(0.2, 0.4, 0.6, 0.8), n_subsamples=5, random_state=0,
    ... )
    >>> curve.n_fits, curve.sizes.tolist(), curve.mean.shape  # 4 · 5 · 2 + 1
    (41, [30.0, 60.0, 90.0, 120.0], (4, 2))
    >>> print(f"{curve.estimate.uncorrected:.3f} {curve.estimate.value:.3f}", curve.names[curve.winner])
    0.973 0.975 KNeighborsClassifier (n_neighbors=9)
    """
    check_count("n_subsamples", n_subsamples, 2, "50 are usual")
    arguments = SearchArguments(
        estimator, param_grid, scoring=scoring, selection=selection, refit=refit, n_jobs=n_jobs, share=share,
        store=store, random_state=random_state, pos_label=pos_label,
    ).with_search()  # fmt: skip
    if arguments.drop is not None:
        raise InputError(
            "a learning curve fits every configuration at every size, so no configuration can be dropped, got a "
            f"search with `drop={arguments.drop!r}`; use `drop=None`."
        )
    search = replace(arguments, cv=2, repeats=1).search_on(X, y, groups, sample_weight)
    counts = training_counts(training_sizes, search.task.n_rows)
    folds = subsampled_folds(search.task, counts, int(n_subsamples), search.entropy)
    search = replace(search, folds=folds)
    check_search(search)
    return _curve_of(search, len(counts), arguments.running())


def _curve_of(search: Search, n_sizes: int, running: RunSettings) -> LearningCurve:
    """Fit every cell, choose at the largest size, fit the curves, and the winner on all rows."""
    with open_run(search.work, running) as run:
        run.run_races([search.race])
        found = run.race_results(search.race)
    warn_of_failures(found, search)
    name = found.refit_metric
    metric = search.scoring.metric(name)
    n_subsamples = found.folds.n_splits // n_sizes
    # A failed configuration has scores of some splits, which must not enter its curve.
    scores = found.fold_scores[name].values.reshape(n_sizes, n_subsamples, -1).copy()
    scores[:, :, list(found.failures)] = np.nan
    sizes = _mean_sizes(found, n_sizes)
    winner = _winner(search, found, n_subsamples)
    laws = laws_of(metric, sizes, scores, found.failures)
    return LearningCurve(
        metric=metric.name,
        greater_is_better=metric.greater_is_better,
        best_possible=best_possible(metric),
        names=search.configurations.names,
        sizes=sizes,
        n_rows=search.task.n_rows,
        scores=scores,
        laws=tuple(laws),
        winner=winner,
        estimate=estimate_of(
            search, metric, winner, sizes=sizes, scores=scores, laws=laws, failures=found.failures
        ),
        model=final_model(search.work, search.configurations[winner]) if search.refit else None,
        failures=found.failures,
        n_fits=found.n_fits + search.refit,
    )


def _mean_sizes(found: RaceResults, n_sizes: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    trained = np.array([split.n_training_rows for split in found.folds.splits], dtype=np.float64)
    return np.asarray(trained.reshape(n_sizes, -1).mean(axis=1))


def _winner(search: Search, found: RaceResults, n_subsamples: int) -> int:
    """The winner on the splits of the largest size alone, which are the last."""
    largest = found.last(n_subsamples)
    return winner_of(largest, search.task, with_constants(search.estimation, largest), search.configurations)
