"""How often one-sided intervals hold the truth (Paraschakis, Castellani, Borboudakis & Tsamardinos 2024, table 2).

C configurations have true performances from a Beta distribution; their N x C held-out predictions are drawn so that
these are true. Each method selects a configuration and bounds it from below; the study measures how often the bound
is below the truth, and how far.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from heldout._streams import RandomState, entropy_of
from heldout.errors import InputError
from heldout_papers.engine.arguments import checked_sizes
from heldout_papers.engine.batches import Batch, BatchCallback, Columns, StudyJob, StudyPlan, study
from heldout_papers.engine.results import StudyResult, check_columns, long_rows
from heldout_papers.intervals.inclusion import (
    Inclusion,
    average_ranks,
    inclusion_of,
    inclusion_rows,
    true_performance,
)
from heldout_papers.intervals.methods import METRICS, SELECTORS, BoundSettings, bounds
from heldout_papers.intervals.setting import (
    BETAS,
    CONFIGURATIONS,
    ROWS,
    IntervalMatrix,
    IntervalSetting,
    checked_settings,
)

BATCH = 10
"""Repetitions of a batch."""
NUMBERS = ("low", "value", "truth", "percentile")
FAILURE = "failure"
PLACE = ("beta", "rows", "configurations", "prevalence")
"""Columns that identify a setting in a table."""


def do_batch(batch: Batch[IntervalSetting], entropy: int) -> Columns:
    """The bound of every method on each matrix of a batch."""
    setting, size = batch.setting, batch.last - batch.first
    names = setting.settings.methods
    found: dict[str, Any] = {f"{name}.{what}": np.full(size, np.nan) for name in names for what in NUMBERS}
    reasons: dict[str, list[str]] = {name: [] for name in names}
    for place, repetition in enumerate(range(batch.first, batch.last)):
        matrix = IntervalMatrix.drawn(setting, entropy, repetition)
        results = bounds(matrix.y, matrix.scores, matrix.folds, setting.settings, matrix.seed)
        for name, each in results.items():
            truth = float(matrix.truth[each.selected]) if each.selected >= 0 else float("nan")
            numbers = (each.low, each.value, truth, each.percentile(truth))
            for what, number in zip(NUMBERS, numbers, strict=True):
                found[f"{name}.{what}"][place] = number
            reasons[name].append("" if each.failure is None else str(each.failure))
    return found | {f"{name}.{FAILURE}": np.array(each, dtype=np.str_) for name, each in reasons.items()}


@dataclass(frozen=True, eq=False)
class IntervalStudy(StudyResult):
    """The result of a study of intervals.

    Attributes
    ----------
    settings : tuple of IntervalSetting
    repetitions : int
    columns : tuple of mapping
        One a setting: ``"bbc.low"``, ``.value``, ``.truth``, ``.percentile`` and ``.failure``, arrays of shape
        (repetitions,).
    entropy : int
    """

    settings: tuple[IntervalSetting, ...]
    repetitions: int
    columns: tuple[Columns, ...]
    entropy: int
    name: ClassVar[str] = "intervals"
    page_function: ClassVar[str] = "intervals.page:intervals_page"

    @property
    def methods(self) -> tuple[str, ...]:
        return self.settings[0].settings.methods

    @property
    def confidence_level(self) -> float:
        return self.settings[0].settings.confidence_level

    @cached_property
    def inclusions(self) -> tuple[dict[str, Inclusion], ...]:
        """One a setting: the inclusion of each method."""
        return tuple(
            {
                name: inclusion_of(
                    columns[f"{name}.low"],
                    columns[f"{name}.truth"],
                    self.confidence_level,
                    percentile=columns[f"{name}.percentile"],
                    failure=columns[f"{name}.{FAILURE}"],
                )
                for name in self.methods
            }
            for columns in self.columns
        )

    @property
    def average_ranks(self) -> tuple[dict[str, float], int]:
        """The mean rank of each method over the complete settings, and how many these are."""
        return average_ranks(self.inclusions, self.confidence_level)

    @property
    def true_performance(self) -> dict[str, float]:
        """The mean true performance of what each group of methods chose, over the complete settings."""
        return true_performance(self.inclusions, SELECTORS)

    def parameters(self) -> dict[str, Any]:
        first = self.settings[0]
        return {
            "task": first.task,
            "metric": first.metric,
            "repetitions": self.repetitions,
            "folds": first.most_folds,
            "n_bootstraps": first.settings.n_bootstraps,
            "confidence_level": self.confidence_level,
            "methods": list(self.methods),
            "true_performance": self.true_performance,
            "average_ranks": self.average_ranks[0],
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row a setting and method."""
        return [
            line
            for setting, row in zip(self.settings, self.inclusions, strict=True)
            for line in inclusion_rows(
                _place(setting), row, self.confidence_level, ratio="ratio_to_bbc", share=".3f"
            )
        ]

    def repetition_types(self, frame: Any) -> dict[str, str]:
        import pandas as pd

        texts = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
        narrow = dict.fromkeys(NUMBERS, "float32") | dict.fromkeys(texts, "category")
        return {**narrow, "repetition": "int32"}

    def repetition_rows(self) -> Iterator[dict[str, Any]]:
        """A row a repetition and method: bound, value and truth, with the parameters that ``from_frame`` needs."""
        places = [
            {
                **_place(setting),
                "folds": setting.most_folds,
                "n_bootstraps": setting.settings.n_bootstraps,
                "confidence_level": self.confidence_level,
                "task": setting.task,
                "metric": setting.metric,
                "seed": str(self.entropy),
            }
            for setting in self.settings
        ]
        return long_rows(places, self.columns, "method", self.methods, (*NUMBERS, FAILURE))

    @classmethod
    def from_frame(cls, frame: Any) -> IntervalStudy:
        """The study of a ``to_frame(each=True)``, to the precision of float32.

        Raises
        ------
        InputError
            When columns are missing, or settings differ in their methods or in how often they were repeated.
        """
        needed = (*PLACE, "folds", "n_bootstraps", "confidence_level", "task", "seed", "method", "repetition")
        check_columns(frame, (*needed, *NUMBERS, FAILURE), "a study of intervals")
        counts = frame.groupby([*PLACE, "method"], observed=True, dropna=False).size()
        n_places = len(frame.groupby(list(PLACE), observed=True, dropna=False))
        if counts.nunique() != 1 or len(counts) != n_places * frame["method"].nunique():
            raise InputError("every setting must have been repeated equally often, with the same methods.")
        first = frame.iloc[0]
        names = tuple(str(name) for name in frame["method"].unique())
        task: Any = str(first["task"])
        # Tables of earlier versions have the first metric of their task, and do not name it.
        metric = str(first["metric"]) if "metric" in frame else METRICS[task][0]
        other = "" if metric == METRICS[task][0] else metric
        shared = BoundSettings(task, names, int(first["n_bootstraps"]), float(first["confidence_level"]), other)
        settings, found = [], []
        for place, rows in frame.groupby(list(PLACE), sort=False, observed=True, dropna=False):
            beta, n, c, share = place
            a, b = (float(part) for part in str(beta).split(","))
            prevalence = None if np.isnan(share) else float(share)
            settings.append(IntervalSetting(int(n), int(c), prevalence, (a, b), int(first["folds"]), shared))
            found.append(_columns_of(rows))
        return cls(tuple(settings), len(frame) // len(names) // len(settings), tuple(found), int(first["seed"]))


def _place(setting: IntervalSetting) -> dict[str, Any]:
    return {
        "beta": f"{setting.beta[0]:g},{setting.beta[1]:g}",
        "rows": setting.rows,
        "configurations": setting.configurations,
        "prevalence": float("nan") if setting.prevalence is None else setting.prevalence,
    }


def _columns_of(rows: Any) -> Columns:
    found: dict[str, Any] = {}
    for name, mine in rows.groupby("method", sort=False, observed=True):
        ordered = mine.sort_values("repetition")
        for what in NUMBERS:
            found[f"{name}.{what}"] = ordered[what].to_numpy(dtype=np.float64)
        found[f"{name}.{FAILURE}"] = ordered[FAILURE].to_numpy(dtype=np.str_)
    return found


@study(IntervalStudy)
def intervals(
    rows: Any = ROWS,
    configurations: Any = CONFIGURATIONS,
    prevalence: Any = None,
    beta: Any = BETAS,
    *,
    task: str = "binary",
    metric: str | None = None,
    repetitions: int = 200,
    folds: int = 10,
    n_bootstraps: int = 1000,
    methods: Sequence[str] | str | None = None,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    told: BatchCallback | None = None,
    random_state: RandomState = None,
) -> StudyJob[IntervalSetting, IntervalStudy]:
    """How often each method's one-sided interval holds the truth, and how tight it is, for your settings.

    For each setting and repetition C true performances are drawn from Be(a, b), and N x C held-out scores of which
    they are true: areas under the ROC curve of two classes, by scores N(0, 1) and N(√2 Φ⁻¹(AUC), 1); for
    ``task="multiclass"`` the same for each pair of 5 classes; for ``task="regression"`` R² of predictions
    P (y + ε); for ``task="survival"`` Harrell's concordance of risks with censored times. With
    ``metric="accuracy"`` labels are right with the probability P; with "balanced_accuracy" and "f1" with a P for
    each class, of which the truth follows. Each method bounds its choice from below; the bound is compared with the
    true performance of *its* choice. All bounds are those of ``heldout.estimate(..., alternative="greater")``.

    Parameters
    ----------
    rows, configurations : int or sequence of int
        N and C; the article's by default, which with its prevalences and ``beta`` are 16 settings.
    prevalence : float or sequence of float, optional
        The share of the rarer class; .1 and .5 by default. Of 5 classes that of the rarest, .1 and .2 by default;
        the others are of one size. Of survival the expected share of events, .3 and .7 by default.
    beta : sequence of (a, b)
    task : {"binary", "multiclass", "regression", "survival"}
        All but the first have ``bbc``, ``bbc_f`` and ``naive_bootstrap`` alone.
    metric : str, optional
        Of two classes "roc_auc" by default, "accuracy", "balanced_accuracy" or "f1"; of five "roc_auc_ovo",
        "accuracy" or "balanced_accuracy"; "r2" of numbers, and "concordance_index" of survival.
    repetitions : int, default=200
    folds : int, default=10
        At most; as many as the rarest class has rows, where these are fewer.
    n_bootstraps : int, default=1000
        Twice as many for tilting.
    methods : sequence of str, optional
        Of two classes ``bbc bbc_f delong hanley_mcneil tilting delong_10p hanley_mcneil_10p tilting_10p mabt
        naive_bootstrap``, in the words of table 2; all that the task has by default.
    confidence_level : float, default=0.95
    n_jobs : int, optional
    folder : path, optional
        Where finished batches are kept; an interrupted study continues from them.
    told : callable, optional
        ``told(batches done, batches, seconds)`` after every batch.
    random_state : int, RandomState or Generator, optional
        The same matrices are drawn for any number of repetitions, any methods and any ``n_jobs``.

    Returns
    -------
    IntervalStudy
        ``.to_frame()``: a row a setting and method, with ``inclusion``, its exact ``p_value`` below the level,
        ``tightness`` (truth less lower bound), ``rank``, ``uniformity`` of percentiles, and ``failures``.

    Raises
    ------
    InputError
        When a setting cannot be drawn, or a task has no such metric or method.

    References
    ----------
    Paraschakis, Castellani, Borboudakis and Tsamardinos (2024), sections 4 and 5, table 2 and figure 2.

    Examples
    --------
    >>> found = intervals(100, 50, 0.5, [(24, 6)], methods=["bbc", "naive_bootstrap"], repetitions=20,
    ...                   n_bootstraps=200, random_state=0)
    >>> for row in found.rows():
    ...     print(f"{row['method']:15} {row['inclusion']:.2f} {row['tightness']:+.2f}")
    bbc             1.00 +0.11
    naive_bootstrap 0.45 -0.01
    """
    settings = checked_settings(
        rows, configurations, prevalence, beta, task=task, metric=metric, folds=folds, n_bootstraps=n_bootstraps,
        methods=methods, confidence_level=confidence_level,
    )  # fmt: skip
    (repetitions,) = checked_sizes("repetitions", repetitions, 1)
    plan = StudyPlan("intervals", settings, repetitions, entropy_of(random_state), do_batch)
    return StudyJob(
        plan, lambda columns: IntervalStudy(settings, repetitions, tuple(columns), plan.entropy), BATCH,
        n_jobs=n_jobs, folder=folder, told=told,
    )  # fmt: skip
