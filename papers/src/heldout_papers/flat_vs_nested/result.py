"""The result of a study of flat and nested cross-validation: three accuracies of each algorithm and repetition."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from heldout.metrics.named import metric_named
from heldout_papers.engine.results import StudyResult, check_columns
from heldout_papers.flat_vs_nested.accuracies import Accuracies
from heldout_papers.flat_vs_nested.analysis import comparison_rows

TEXTS = ("table", "algorithm", "reason")
WHOLE = ("rows", "columns", "repetition", "n_configurations")
ACCURACIES = ("flat", "nested", "future")
SECONDS = ("flat_seconds", "nested_seconds")
COLUMNS = (
    "table", "rows", "columns", "repetition", "algorithm", *ACCURACIES, "n_configurations", *SECONDS, "reason",
)  # fmt: skip
"""Of ``to_frame(each=True)``, in this order."""


@dataclass(frozen=True, eq=False)
class FlatVsNestedStudy(StudyResult):
    """The result of a study of flat and nested cross-validation.

    Attributes
    ----------
    columns : mapping of str to ndarray, each of shape (n,)
        A row a table, repetition and algorithm, in this order: ``table``; ``rows``, of both halves, and ``columns``
        to predict from; ``repetition``; ``algorithm``; ``flat``, the cross-validated score of its best
        configuration; ``nested``, that of the algorithm with its configuration chosen anew in each fold;
        ``future``, on the other half, of the flat choice; ``n_configurations``; ``flat_seconds`` and
        ``nested_seconds``, of all fits that each needs; ``reason``. Where an algorithm failed its scores are NaN,
        and the reason says why.
    entropy : int
    max_rows : int or None
        How many rows of a table were drawn at most.
    left_out : mapping of str to str
        Tables of the folder that were not used, with the reason.
    metric : str
    greater_is_better : bool
        Whether the metric is a score; gains are gains of a loss too where it is lower.
    independent_folds : bool
        Whether flat and nested cross-validation drew folds of their own.
    """

    columns: Mapping[str, NDArray[Any]]
    entropy: int = 0
    max_rows: int | None = None
    left_out: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    metric: str = "accuracy"
    greater_is_better: bool = True
    independent_folds: bool = False
    name: ClassVar[str] = "flat-vs-nested"
    page_function: ClassVar[str] = "flat_vs_nested.page:flat_vs_nested_page"

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        entropy: int = 0,
        max_rows: int | None = None,
        metric: str = "accuracy",
        independent_folds: bool = False,
    ) -> Self:
        """The study whose ``to_frame(each=True)`` this is.

        Parameters
        ----------
        frame : pandas DataFrame
        entropy : int
        max_rows : int, optional
        metric : str
        independent_folds : bool

        Raises
        ------
        InputError
            When a column is missing, or there is no such metric.
        """
        check_columns(frame, COLUMNS, "a study of flat and nested cross-validation")
        kinds: dict[str, Any] = dict.fromkeys(TEXTS, str) | dict.fromkeys(WHOLE, np.int64)
        columns = {name: np.asarray(frame[name], dtype=kinds.get(name, np.float64)) for name in COLUMNS}
        return cls(
            columns, entropy, max_rows, metric=metric, greater_is_better=metric_named(metric).greater_is_better,
            independent_folds=independent_folds,
        )  # fmt: skip

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.columns["table"].tolist()))

    @property
    def algorithms(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.columns["algorithm"].tolist()))

    @property
    def repetitions(self) -> int:
        return len(np.unique(self.columns["repetition"]))

    def parameters(self) -> dict[str, Any]:
        return {
            "tables": list(self.tables),
            "algorithms": list(self.algorithms),
            "repetitions": self.repetitions,
            "max_rows": self.max_rows,
            "metric": self.metric,
            "independent_folds": self.independent_folds,
        }

    @property
    def accuracies(self) -> Accuracies:
        """The same as arrays, greater being better: of a loss its negative."""
        sign = 1.0 if self.greater_is_better else -1.0
        return Accuracies.from_frame({**self.columns, **{name: sign * self.columns[name] for name in ACCURACIES}})

    def rows(self) -> list[dict[str, Any]]:
        """A row a scenario and analysis: what ``heldout_papers.flat_vs_nested.analysis.ComparisonRow`` holds."""
        return [asdict(found) for found in comparison_rows(self.accuracies, self.entropy)]

    def by_table(self) -> list[dict[str, Any]]:
        """A row a table and algorithm: the means over repetitions, of those in which the algorithm worked."""
        c = self.columns
        found = []
        for table in self.tables:
            for algorithm in self.algorithms:
                here = (c["table"] == table) & (c["algorithm"] == algorithm)
                worked = here & ~np.isnan(c["future"])
                found.append(
                    {
                        "table": table,
                        "rows": int(c["rows"][here][0]),
                        "columns": int(c["columns"][here][0]),
                        "algorithm": algorithm,
                        **{
                            name: float(c[name][worked].mean()) if worked.any() else float("nan")
                            for name in (*ACCURACIES, *SECONDS)
                        },
                        "n_configurations": int(c["n_configurations"][here][0]),
                        "failed": int(here.sum() - worked.sum()),
                    }
                )
        return found

    def repetition_rows(self) -> list[dict[str, Any]]:
        """A row a table, repetition and algorithm, of which ``from_frame`` makes the study again."""
        columns = [self.columns[name].tolist() for name in COLUMNS]
        return [dict(zip(COLUMNS, values, strict=True)) for values in zip(*columns, strict=True)]
