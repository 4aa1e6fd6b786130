"""What a corrected score is worth after an adaptive search, where the truth is known.

Every repetition searches one problem, and corrects the same held-out predictions by several methods. Numbers of
rows and of trials are varied one at a time around a centre, for TPE; other ways to search are compared at the
centre.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from heldout._streams import RandomState, entropy_of, numpy_seed
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.estimates.estimate import estimate
from heldout.estimates.types import Estimate
from heldout_papers.adaptive.searchers import N_FOLDS, SEARCHERS, fitted_search, plain_search
from heldout_papers.adaptive.worlds import WORLDS, problem_of
from heldout_papers.engine.arguments import checked_names, checked_sizes
from heldout_papers.engine.batches import Batch, BatchCallback, Columns, StudyJob, StudyPlan, study
from heldout_papers.engine.results import StudyResult, check_columns, long_rows
from heldout_papers.tables import TableFile, tables_in

ROWS = (40, 60, 150, 400, 1000)
TRIALS = (20, 50, 100, 200, 500)
CENTRE = (60, 200)
"""Rows and trials, where they are not what is varied."""
METHODS = ("cv", "bbc", "shrinkage", "cross_fitted", "nested")
OWN = ("cross_fitted", "nested")
"""Those that are no correction of the one matrix."""
WHAT = ("value", "low", "high", "truth")
FITS = ("fits", "more_fits")
"""Of the search, and beside it for the cross-fitted estimate."""
BATCH = 2
N_NESTED = 6
"""Repetitions, at the centre, in which nested cross-validation is run: it takes five searches more."""
LEAST_REST = 1000
"""Rows of a table besides a sample of the largest size."""


@dataclass(frozen=True)
class AdaptiveSetting:
    """One way to search in one world.

    Attributes
    ----------
    world : str
        "noise", "signal", "smooth", or the name of a table.
    searcher : str
    rows, trials : int
    n_bootstraps : int
    n_nested : int
        How many repetitions, the first ones, also run nested cross-validation.
    table : TableFile or None
    """

    world: str
    searcher: str
    rows: int
    trials: int
    n_bootstraps: int
    n_nested: int
    table: TableFile | None = None


def do_batch(batch: Batch[AdaptiveSetting], entropy: int) -> Columns:
    """What every method gives in some repetitions; NaN where it was not run."""
    found = [repetition_of(batch.setting, entropy, number) for number in range(batch.first, batch.last)]
    return {name: np.array([one[name] for one in found]) for name in found[0]}


def repetition_of(setting: AdaptiveSetting, entropy: int, number: int) -> dict[str, float]:
    """One search, its true score, and every estimate of it."""
    problem = problem_of(setting.table or setting.world, setting.rows, entropy, number)
    seed = numpy_seed(entropy, "adaptive search", setting.world, setting.rows, setting.trials, number)
    search = fitted_search(
        problem, setting.searcher, setting.trials, seed, n_bootstraps=setting.n_bootstraps, method="shrinkage"
    )
    truth = problem.truth(search.best_estimator_)
    predictions, columns = search.predictions_, dict[str, float]()
    own = search.estimate_ if setting.searcher != "halving" else None
    for method in METHODS:
        value, low, high = float("nan"), float("nan"), float("nan")
        if method == "nested":
            if number < setting.n_nested:
                value, low, high = _nested(setting, problem, seed)
        else:
            found = own
            if method != "cross_fitted":
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = estimate(
                        problem.y, predictions, metric="accuracy", method=method, aggregate="folds",
                        n_bootstraps=setting.n_bootstraps, random_state=seed,
                    )  # fmt: skip
            if found is not None:
                value, (low, high) = found.value, _ends(found)
        columns |= {
            f"{method}.value": value,
            f"{method}.low": low,
            f"{method}.high": high,
            f"{method}.truth": truth,
        }
    fits = search.evaluation_.cells.n_fits
    columns["search.fits"] = float(fits)
    columns["search.more_fits"] = float(search.n_fits_ - fits)
    return columns


def _ends(found: Estimate) -> tuple[float, float]:
    return (float("nan"), float("nan")) if found.interval is None else (found.interval.low, found.interval.high)


def _nested(setting: AdaptiveSetting, problem: Any, seed: int) -> tuple[float, float, float]:
    """Nested cross-validation of the search: its mean over folds, and the interval of Nadeau and Bengio."""
    from sklearn.model_selection import StratifiedKFold

    from heldout.estimates.methods.corrected_t import nadeau_bengio

    scores = []
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed % 2**32)
    for fold, (train, test) in enumerate(splitter.split(problem.X, problem.y)):
        search = plain_search(problem, setting.searcher, setting.trials, numpy_seed(seed, "outer", fold))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = search.fit(problem.X[train], problem.y[train])
        scores.append(float((model.predict(problem.X[test]) == problem.y[test]).mean()))
    spread = nadeau_bengio(np.array(scores), 1 / (N_FOLDS - 1))
    reach = float(student.ppf(0.975, N_FOLDS - 1)) * spread.standard_error
    return spread.center, spread.center - reach, spread.center + reach


@dataclass(frozen=True, eq=False)
class AdaptiveStudy(StudyResult):
    """The result of a study of adaptive searches.

    Attributes
    ----------
    settings : tuple of AdaptiveSetting
    centre : (int, int)
        Rows and trials around which one is varied.
    repetitions : int
    columns : tuple of mapping
        One a setting: ``"bbc.value"``, ``"bbc.low"``, ``"bbc.high"``, ``"bbc.truth"`` and so on, arrays of shape
        (repetitions,); NaN where a method was not run.
    entropy : int
    """

    settings: tuple[AdaptiveSetting, ...]
    centre: tuple[int, int]
    repetitions: int
    columns: tuple[Columns, ...]
    entropy: int
    name: ClassVar[str] = "adaptive"
    page_function: ClassVar[str] = "adaptive.page:adaptive_page"

    @classmethod
    def from_frame(cls, frame: Any, *, centre: tuple[int, int] = CENTRE, entropy: int = 0) -> AdaptiveStudy:
        """A study from its ``to_frame(each=True)``.

        Raises InputError when columns are missing.
        """
        check_columns(frame, (*PLACE, "method", "repetition", *WHAT, *FITS), "a study of adaptive searches")
        settings, columns = [], []
        for place, part in frame.groupby(list(PLACE), sort=False, observed=True):
            world, searcher, rows, trials = place
            settings.append(AdaptiveSetting(str(world), str(searcher), int(rows), int(trials), 0, 0))
            of: dict[str, NDArray[Any]] = {}
            for method in METHODS:
                own = part[part["method"] == method].sort_values("repetition")
                of |= {f"{method}.{what}": own[what].to_numpy(np.float64) for what in WHAT}
                of |= {f"search.{what}": own[what].to_numpy(np.float64) for what in FITS}
            columns.append(of)
        return cls(tuple(settings), centre, len(columns[0]["cv.value"]), tuple(columns), entropy)

    def parameters(self) -> dict[str, Any]:
        return {
            "repetitions": self.repetitions,
            "n_bootstraps": self.settings[0].n_bootstraps,
            "centre": dict(zip(("rows", "trials"), self.centre, strict=True)),
            "folds": N_FOLDS,
        }

    def summary(self, place: int, method: str) -> dict[str, float]:
        """Bias, its standard error, root mean squared error and coverage of a method in a setting, over the
        repetitions in which it was run."""
        of = {what: self.columns[place][f"{method}.{what}"] for what in WHAT}
        ran = np.isfinite(of["value"])
        error = (of["value"] - of["truth"])[ran]
        bounded = ran & np.isfinite(of["low"])
        inside = ((of["low"] <= of["truth"]) & (of["truth"] <= of["high"]))[bounded]
        n = len(error)
        nan = float("nan")
        return {
            "bias": float(error.mean()) if n else nan,
            "standard_error": float(error.std(ddof=1) / np.sqrt(n)) if n > 1 else nan,
            "rmse": float(np.sqrt((error**2).mean())) if n else nan,
            "coverage": float(inside.mean()) if len(inside) else nan,
            "truth": float(of["truth"][ran].mean()) if n else nan,
            "n": n,
        }

    def place(self, world: str, searcher: str, rows: int | None = None, trials: int | None = None) -> int | None:
        """Which setting this is, at the centre by default; None if it was not studied."""
        wanted = (world, searcher, rows or self.centre[0], trials or self.centre[1])
        found = (
            n for n, one in enumerate(self.settings) if (one.world, one.searcher, one.rows, one.trials) == wanted
        )
        return next(found, None)

    @property
    def worlds(self) -> tuple[str, ...]:
        """In their order."""
        return tuple(dict.fromkeys(setting.world for setting in self.settings))

    def rows(self) -> list[dict[str, Any]]:
        """A row a setting and method."""
        return [
            {**_place(setting), "method": method, **self.summary(number, method), **_fits(self.columns[number])}
            for number, setting in enumerate(self.settings)
            for method in METHODS
        ]

    def repetition_types(self, frame: Any) -> dict[str, str]:
        names = dict.fromkeys(("world", "searcher", "method"), "category")
        return {**names, **dict.fromkeys(("rows", "trials", "repetition", "fits", "more_fits"), "int32"),
                **dict.fromkeys(WHAT, "float32")}  # fmt: skip

    def repetition_rows(self) -> Iterator[dict[str, Any]]:
        whole = []
        for columns in self.columns:
            fits = {f"{method}.{what}": columns[f"search.{what}"] for method in METHODS for what in FITS}
            whole.append({**columns, **fits})
        return long_rows(map(_place, self.settings), whole, "method", METHODS, (*WHAT, *FITS))


PLACE = ("world", "searcher", "rows", "trials")


def _place(setting: AdaptiveSetting) -> dict[str, Any]:
    return {name: getattr(setting, name) for name in PLACE}


def _fits(columns: Columns) -> dict[str, float]:
    return {what: float(columns[f"search.{what}"].mean()) for what in FITS}


@study(AdaptiveStudy)
def adaptive(
    worlds: Any = WORLDS,
    *,
    searchers: Any = SEARCHERS,
    rows: Any = ROWS,
    trials: Any = TRIALS,
    centre: Sequence[int] = CENTRE,
    tables: str | os.PathLike[str] | None = None,
    names: Sequence[str] | None = None,
    repetitions: int = 24,
    n_nested: int = N_NESTED,
    n_bootstraps: int = 200,
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    told: BatchCallback | None = None,
    random_state: RandomState = None,
) -> StudyJob[AdaptiveSetting, AdaptiveStudy]:
    """What a corrected score is worth after an adaptive search, where the truth is known.

    The error of a method is its estimate less the true accuracy of the winner, fitted on all rows: positive where
    it flatters. Its interval should hold that truth.

    Parameters
    ----------
    worlds : sequence of {"noise", "signal", "smooth"}
        Labels without relation to the columns (truth .5); with a relation; or configurations with smooth true
        accuracies from Be(24, 6), as in section 6.1 of Tsamardinos et al. (2018).
    searchers : sequence of {"random", "tpe", "gp", "cmaes", "halving"}
        All are compared at the centre.
    rows, trials : int or sequence of int
        Each is varied with the other as in ``centre``, for "tpe", or for the first of ``searchers`` without it.
    centre : (rows, trials), default=(60, 200)
    tables : path, optional
        A folder of tables with two classes in a column ``target``, and numbers in all others: each is one more
        world, of samples of its rows, searched by "random" and "tpe" at the centre; its other rows are the truth.
    names : sequence of str, optional
        Only these tables.
    repetitions : int, default=24
    n_nested : int, default=6
        In how many of them nested cross-validation is run too, at the centre.
    n_bootstraps : int, default=200
    n_jobs : int, optional
    folder : path, optional
        Where finished batches are kept; an interrupted study continues from them.
    told : callable, optional
        ``told(batches done, batches, seconds)`` after every batch.
    random_state : int, RandomState or Generator, optional

    Returns
    -------
    AdaptiveStudy
        ``.to_frame()``: a row a setting and method.

    Raises
    ------
    InputError
        When an argument is not one of these, or the folder holds no table that fits.

    Examples
    --------
    >>> sizes = {"rows": 40, "trials": 10, "centre": (40, 10), "repetitions": 2, "n_nested": 0}
    >>> found = adaptive(["noise"], searchers=["tpe"], **sizes, random_state=0)
    >>> [(row["searcher"], row["method"], row["n"]) for row in found.rows()]
    [('tpe', 'cv', 2), ('tpe', 'bbc', 2), ('tpe', 'shrinkage', 2), ('tpe', 'cross_fitted', 2), ('tpe', 'nested', 0)]
    """
    studied = checked_names("worlds", worlds, WORLDS)
    by = checked_names("searchers", searchers, SEARCHERS)
    sizes, counts = checked_sizes("rows", rows, 20), checked_sizes("trials", trials, 5)
    if not isinstance(centre, list | tuple) or len(centre) != 2:
        raise InputError(f"centre must be two numbers: rows and trials, got {centre!r}.", argument="centre")
    n, t = (
        checked_sizes("the rows of centre", centre[0], 20)[0],
        checked_sizes("the trials of centre", centre[1], 5)[0],
    )
    (repetitions,) = checked_sizes("repetitions", repetitions, 1)
    (n_nested,) = checked_sizes("n_nested", n_nested, 0)
    (n_bootstraps,) = checked_sizes("n_bootstraps", n_bootstraps, 1)
    varied = "tpe" if "tpe" in by else by[0]
    places = [
        *((searcher, n, t) for searcher in by),
        *((varied, size, t) for size in sizes),
        *((varied, n, count) for count in counts),
    ]
    settings = [
        AdaptiveSetting(world, *place, n_bootstraps, n_nested if place[1:] == (n, t) else 0)
        for world in studied
        for place in dict.fromkeys(places)
    ]
    left_out: Mapping[str, str] = {}
    if tables is not None:
        found = tables_in(tables, names=names, kinds=frozenset({TaskKind.BINARY}), least_rows=n + LEAST_REST)
        numeric, left_out = _numeric(found.tables, found.left_out)
        settings += [
            AdaptiveSetting(table.name, searcher, n, t, n_bootstraps, 0, table)
            for table in numeric
            for searcher in by
            if searcher in ("random", "tpe")
        ]
    plan = StudyPlan("adaptive", tuple(settings), repetitions, entropy_of(random_state), do_batch)

    def result(columns: list[Columns]) -> AdaptiveStudy:
        return AdaptiveStudy(plan.settings, (n, t), repetitions, tuple(columns), plan.entropy)

    return StudyJob(plan, result, BATCH, left_out=left_out, n_jobs=n_jobs, folder=folder, told=told)


def _numeric(tables: Sequence[TableFile], left_out: Mapping[str, str]) -> tuple[list[TableFile], dict[str, str]]:
    """The tables of numbers without a gap, and why others are left out."""
    kept, out = [], dict(left_out)
    for table in tables:
        X, _ = table.read()
        if all(dtype.kind in "fiub" for dtype in X.dtypes) and not X.isna().to_numpy().any():
            kept.append(table)
        else:
            out[table.name] = "it has columns that are not numbers, or values that are missing"
    return kept, out
