"""Means and covariances of the protocols' errors, which are kept of a bias study and are enough for its claims.

An error is estimate less truth on one matrix, positive where it flatters (for a loss, truth less estimate). The
errors of two protocols are of the same matrices, so that the chance in their difference is known by a covariance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout._record import frame_of
from heldout._types import Floats
from heldout_papers.bias.setting import BiasSetting
from heldout_papers.engine.batches import Columns
from heldout_papers.engine.results import check_columns

COVARIANCE = "covariance_"
"""What the names of columns begin with that hold the covariance with another protocol."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Of one setting, with a place for each of its P protocols."""

    bias: Floats  # (P,): mean errors
    covariance: Floats  # (P, P): of the errors on one matrix; NaN of a single repetition
    # (P,): means, in the metric's units
    estimate: Floats
    truth: Floats

    @classmethod
    def of(cls, setting: BiasSetting, columns: Columns) -> Moments:
        """From every repetition."""
        estimate = np.array([columns[f"{name}.estimate"] for name in setting.protocols])
        truth = np.array([columns[f"{name}.truth"] for name in setting.protocols])
        error = setting.flattering * (estimate - truth)
        n, size = error.shape[1], len(error)
        covariance = np.cov(error).reshape(size, size) if n > 1 else np.full((size, size), np.nan)
        return cls(error.mean(axis=1), covariance, estimate.mean(axis=1), truth.mean(axis=1))


@dataclass(frozen=True, eq=False)
class BiasMoments:
    """A bias study without its single repetitions.

    Attributes
    ----------
    settings : tuple of BiasSetting
    repetitions : int
    of : tuple of Moments
        One a setting.
    entropy : int
    """

    settings: tuple[BiasSetting, ...]
    repetitions: int
    of: tuple[Moments, ...]
    entropy: int

    def rows(self) -> list[dict[str, Any]]:
        """A row a setting and protocol: the bias with its standard error, and the means of estimate and truth."""
        return [
            {
                "rows": setting.rows,
                "configurations": setting.configurations,
                "beta": beta_text(setting),
                "protocol": name,
                "bias": float(moments.bias[p]),
                "standard_error": float(np.sqrt(moments.covariance[p, p] / self.repetitions)),
                "estimate": float(moments.estimate[p]),
                "truth": float(moments.truth[p]),
                "repetitions": self.repetitions,
            }
            for setting, moments in zip(self.settings, self.of, strict=True)
            for p, name in enumerate(setting.protocols)
        ]

    def to_frame(self) -> Any:
        """All of it, a row a setting and protocol; of a large study some tens of kilobytes as Parquet."""
        protocols = self.settings[0].protocols
        rows = [
            {
                "metric": setting.metric,
                "prevalence": np.nan if setting.prevalence is None else setting.prevalence,
                "rows": setting.rows,
                "configurations": setting.configurations,
                "beta": beta_text(setting),
                "folds": setting.folds,
                "n_bootstraps": setting.n_bootstraps,
                "repetitions": self.repetitions,
                "seed": np.uint64(self.entropy),
                "protocol": name,
                "estimate": moments.estimate[p],
                "truth": moments.truth[p],
                "bias": moments.bias[p],
                **{f"{COVARIANCE}{other}": moments.covariance[p, q] for q, other in enumerate(protocols)},
            }
            for setting, moments in zip(self.settings, self.of, strict=True)
            for p, name in enumerate(protocols)
        ]
        return frame_of(rows, "BiasMoments.to_frame")

    @classmethod
    def from_frame(cls, frame: Any) -> BiasMoments:
        """The moments of a ``to_frame``, for instance from a Parquet file.

        Raises
        ------
        InputError
            When a column is missing.

        Examples
        --------
        >>> from heldout_papers.bias import bias
        >>> moments = bias(20, 50, [(9, 6)], repetitions=3, n_bootstraps=20, random_state=0).moments()
        >>> BiasMoments.from_frame(moments.to_frame()).rows() == moments.rows()
        True
        """
        rows: list[dict[str, Any]] = frame.to_dict("records")
        wanted = [*_NAMES, *(f"{COVARIANCE}{row['protocol']}" for row in rows[:1] if "protocol" in row)]
        check_columns(frame, wanted, "the moments of a bias study")
        protocols = tuple(dict.fromkeys(str(row["protocol"]) for row in rows))
        size = len(protocols)
        cells = [rows[first : first + size] for first in range(0, len(rows), size)]
        return cls(
            tuple(_setting_of(cell[0], protocols) for cell in cells),
            int(rows[0]["repetitions"]),
            tuple(_moments_of(cell, protocols) for cell in cells),
            int(rows[0]["seed"]),
        )


_NAMES = (
    "metric", "prevalence", "rows", "configurations", "beta", "folds", "n_bootstraps", "repetitions", "seed",
    "protocol", "estimate", "truth", "bias",
)  # fmt: skip


def beta_text(setting: BiasSetting) -> str:
    return f"{setting.beta[0]:.12g},{setting.beta[1]:.12g}"


def _setting_of(row: Mapping[str, Any], protocols: tuple[str, ...]) -> BiasSetting:
    a, b = (float(part) for part in row["beta"].split(","))
    return BiasSetting(
        int(row["rows"]),
        int(row["configurations"]),
        (a, b),
        int(row["folds"]),
        int(row["n_bootstraps"]),
        protocols,
        str(row["metric"]),
        None if np.isnan(row["prevalence"]) else float(row["prevalence"]),
    )


def _moments_of(rows: Sequence[Mapping[str, Any]], protocols: tuple[str, ...]) -> Moments:
    return Moments(
        np.array([row["bias"] for row in rows]),
        np.array([[row[f"{COVARIANCE}{other}"] for other in protocols] for row in rows]),
        np.array([row["estimate"] for row in rows]),
        np.array([row["truth"] for row in rows]),
    )
