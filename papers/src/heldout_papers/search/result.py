"""The result of a study of searches: every sub-sample, and a row for each table, N and protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.metrics.named import metric_named
from heldout_papers.engine.batches import Columns
from heldout_papers.engine.results import StudyResult, Term
from heldout_papers.search.protocols import LEVELS
from heldout_papers.tables import TableCharacteristics

SINGLE = ("cv", "tt", "nested_cv", "bced", "bced_late")
"""Protocols as they are with the first repeat alone."""
DROPPING = ("bced", "bced_late")
NUMBERS = ("estimate", "truth", "winner", "models", "seconds", "early")
"""Known for each sub-sample and protocol."""
SHOWN_LEVEL = 0.95


TERMS = {
    "cv": Term("CVT", "the winner's own cross-validated score"),
    "tt": Term("TT", "the winner's mean over folds, less how far it is behind the best of each fold (Tibshirani)"),
    "nested_cv": Term(
        "NCV",
        "nested cross-validation: each fold scores the winner of the other folds; it returns CVT's model",
    ),
    "bbc": Term(
        "BBC-CV",
        "bootstrap bias corrected: each bootstrap scores the best on its rows on the rows that it left out",
    ),
    "bced": Term(
        "BCED-CV",
        "the same for the configurations that early dropping keeps; it drops from the first fold on",
    ),
    "bced_late": Term(
        "BCED-CV late",
        "the same, but it drops from 50 predictions on, as the article advises; with few rows it is BBC",
    ),
    "direct_bootstrap": Term(
        "direct bootstrap",
        "the whole search again on bootstrap samples, each scored on the rows that it left out; CVT's model",
    ),
}
"""By the article's names, except for the last two."""


@dataclass(frozen=True)
class RepeatedProtocol:
    """A protocol with so many repeats."""

    protocol: str
    repeats: int = 1

    @property
    def title(self) -> str:
        title = TERMS[self.protocol].title
        return title if self.repeats == 1 else f"{title}, {self.repeats} repeats"


DIRECT = RepeatedProtocol("direct_bootstrap")
"""After all others, where it was asked for."""


@dataclass(frozen=True)
class SearchPlace:
    """Sub-samples of ``rows`` rows of a table."""

    table: str
    rows: int


def protocols_of(repeats: int) -> tuple[RepeatedProtocol, ...]:
    """All that run on a sub-sample: BBC and BCED with every number of repeats, the others with one.

    Kept studies may end before the repeats of BCED, which are last.
    """
    return (
        *(RepeatedProtocol(name) for name in SINGLE),
        *(RepeatedProtocol("bbc", r) for r in range(1, repeats + 1)),
        *(RepeatedProtocol(name, r) for name in DROPPING for r in range(2, repeats + 1)),
    )


@dataclass(frozen=True, eq=False)
class SearchStudy(StudyResult):
    """The result of a study of searches.

    Attributes
    ----------
    places : tuple of SearchPlace
    columns : tuple of mapping
        One a place: ``estimate``, ``truth``, ``winner``, ``models``, ``seconds`` and ``early`` of shape
        (sub-samples, protocols), ``low`` and ``high`` of shape (sub-samples, protocols, levels),
        ``configurations`` and ``reason`` of shape (sub-samples,).
    folds, repeats, n_bootstraps : int
        K, R and B.
    space : str
    entropy : int
    left_out : mapping of str to str
        Tables, and tables with numbers of rows, with the reason.
    tables : tuple of TableCharacteristics
        Rows, columns, classes and parts of each table; empty of a study that is made from its frame.
    metric : str
    greater_is_better : bool
    """

    places: tuple[SearchPlace, ...]
    columns: tuple[Columns, ...]
    folds: int
    repeats: int
    n_bootstraps: int
    space: str
    entropy: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[TableCharacteristics, ...] = ()
    metric: str = "roc_auc"
    greater_is_better: bool = True
    name: ClassVar[str] = "search"
    page_function: ClassVar[str] = "search.page:search_page"

    @property
    def protocols(self) -> tuple[RepeatedProtocol, ...]:
        every, n = (*protocols_of(self.repeats), DIRECT), self.columns[0]["estimate"].shape[1]
        return every[:n]

    @property
    def subsamples(self) -> int:
        return len(self.columns[0]["estimate"])

    @property
    def configurations(self) -> tuple[int, int]:
        """The fewest and the most of any sub-sample."""
        all_of = np.concatenate([columns["configurations"] for columns in self.columns])
        return int(all_of.min()), int(all_of.max())

    @property
    def sign(self) -> int:
        """What makes a bias above 0 flatter: -1 for a loss."""
        return 1 if self.greater_is_better else -1

    def of(self, what: str, protocol: RepeatedProtocol, place: SearchPlace) -> NDArray[np.float64]:
        """(sub-samples, ...): one column of a protocol at a place."""
        column = self.columns[self.places.index(place)][what]
        return np.asarray(column[:, self.protocols.index(protocol)], dtype=np.float64)

    def parameters(self) -> dict[str, Any]:
        return {
            "tables": list(dict.fromkeys(place.table for place in self.places)),
            "subsamples": self.subsamples,
            "space": self.space,
            "metric": self.metric,
            "configurations": list(self.configurations),
            "folds": self.folds,
            "repeats": self.repeats,
            "n_bootstraps": self.n_bootstraps,
            "left_out": dict(self.left_out),
            **({"characteristics": [asdict(table) for table in self.tables]} if self.tables else {}),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row a table, N and protocol: means over the sub-samples that have an estimate and a truth.

        ``bias`` above 0 flatters: it is estimate less truth, and of a loss truth less estimate.

        ``relative_truth`` is the mean truth over that of ``cv``'s winner, ``speed_up`` how many times as many
        models ``cv`` trains, ``coverage`` and ``width`` those of the 95 % interval.
        """
        return [self._row(place, protocol) for place in self.places for protocol in self.protocols]

    def _row(self, place: SearchPlace, protocol: RepeatedProtocol) -> dict[str, Any]:
        columns = {name: self.of(name, protocol, place) for name in (*NUMBERS, "low", "high")}
        estimate, truth = columns["estimate"], columns["truth"]
        known = ~np.isnan(estimate - truth)
        bias = self.sign * (estimate - truth)[known]
        level = LEVELS.index(SHOWN_LEVEL)
        low, high = columns["low"][known, level], columns["high"][known, level]
        has_interval = bool(known.any()) and not np.isnan(low).any()
        inside = (low <= truth[known]) & (truth[known] <= high)
        base = RepeatedProtocol("cv")
        return {
            "table": place.table,
            "rows": place.rows,
            "protocol": protocol.protocol,
            "repeats": protocol.repeats,
            "bias": mean(bias),
            "standard_error": float(bias.std(ddof=1) / np.sqrt(len(bias))) if len(bias) > 1 else float("nan"),
            "estimate": mean(estimate[known]),
            "truth": mean(truth[known]),
            "relative_truth": ratio(truth, self.of("truth", base, place)),
            "models": mean(columns["models"][known]),
            "speed_up": ratio(self.of("models", base, place), columns["models"], known),
            "seconds": mean(columns["seconds"][known]),
            "coverage": float(inside.mean()) if has_interval else float("nan"),
            "width": mean(high - low) if has_interval else float("nan"),
            "left_early": mean(columns["early"][known]),
            "subsamples": int(known.sum()),
        }

    def repetition_rows(self) -> list[dict[str, Any]]:
        """A row a sub-sample and protocol, with the ends of all intervals (``low_50`` to ``high_99``)."""
        found = []
        for place, columns in zip(self.places, self.columns, strict=True):
            for number in range(self.subsamples):
                for column, protocol in enumerate(self.protocols):
                    row = {
                        "table": place.table,
                        "rows": place.rows,
                        "subsample": number,
                        "protocol": protocol.protocol,
                        "repeats": protocol.repeats,
                        "configurations": int(columns["configurations"][number]),
                        **{name: columns[name][number, column].item() for name in NUMBERS},
                    }
                    for place_of, level in enumerate(LEVELS):
                        row[f"low_{100 * level:.0f}"] = columns["low"][number, column, place_of].item()
                        row[f"high_{100 * level:.0f}"] = columns["high"][number, column, place_of].item()
                    found.append(row | {"reason": str(columns["reason"][number])})
        return found

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        folds: int = 10,
        n_bootstraps: int = 1000,
        space: str = "",
        entropy: int = 0,
        metric: str = "roc_auc",
    ) -> SearchStudy:
        """A study from its ``to_frame(each=True)``, and from the parameters that the frame lacks.

        Raises
        ------
        InputError
            When the table is not of such a study.
        """
        try:
            repeats = int(frame["repeats"].max())
            places, columns = [], []
            n_protocols = len(frame[["protocol", "repeats"]].drop_duplicates())
            for (table, rows), mine in frame.groupby(["table", "rows"], sort=False, observed=True):
                places.append(SearchPlace(str(table), int(rows)))
                columns.append(_columns_of(mine, n_protocols))
        except (KeyError, ValueError) as error:
            raise InputError(
                f"this is not a table of a study of searches from SearchStudy.to_frame(each=True): {error}."
            ) from None
        return cls(
            tuple(places), tuple(columns), folds, repeats, n_bootstraps, space, entropy, metric=metric,
            greater_is_better=metric_named(metric).greater_is_better,
        )  # fmt: skip


def _columns_of(mine: Any, n_protocols: int) -> Columns:
    """Of one place, whose rows stand sub-sample by sub-sample, entry by entry."""

    def column(name: str) -> NDArray[Any]:
        return np.asarray(mine[name]).reshape(-1, n_protocols)

    def ends(side: str) -> NDArray[np.float64]:
        return np.stack([column(f"{side}_{100 * level:.0f}") for level in LEVELS], axis=2).astype(np.float64)

    numbers = {name: column(name).astype(np.float64) for name in NUMBERS}
    return numbers | {
        "winner": column("winner").astype(np.intp),
        "models": column("models").astype(np.intp),
        "low": ends("low"),
        "high": ends("high"),
        "configurations": column("configurations")[:, 0].astype(np.intp),
        "reason": column("reason")[:, 0].astype(str),
    }


def mean(values: NDArray[np.float64]) -> float:
    """NaN of none."""
    return float(values.mean()) if len(values) else float("nan")


def ratio(above: NDArray[np.float64], below: NDArray[np.float64], where: NDArray[np.bool_] | None = None) -> float:
    """The ratio of two means, over the sub-samples in which both are known."""
    known = ~np.isnan(above + below)
    known = known if where is None else known & where
    return mean(above[known]) / mean(below[known]) if known.any() else float("nan")
