"""The coefficients of a model fitted on all rows, with Wald intervals where theory gives them.

An interval needs the covariance of a maximum of likelihood: the inverse of the information matrix. A penalised
coefficient is shrunk, and a model that a search selected is one of many, so that these have values and a sentence
that says why there is no interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from heldout._text_table import cell_p_value
from heldout._types import Floats
from heldout.estimates.types import frame_of, json_number
from heldout.imputation.coefficient_table import coefficient_table
from heldout.imputation.coefficients import student_intervals, student_p_values


class LikelihoodTest(NamedTuple):
    """The likelihood-ratio test of all coefficients but the intercept."""

    statistic: float
    df: int
    p_value: float


@dataclass(frozen=True, eq=False)
class FittedCoefficients:
    """The p coefficients of a linear model.

    Attributes
    ----------
    names : tuple of str
        Columns as the model receives them, a level of text as ``column_level``; ``intercept`` first.
    values : ndarray of shape (p,)
    covariance : ndarray of shape (p, p) or None
        The inverse of the information, with importance weights the robust one (a sandwich); None with a ``reason``.
    df : float
        Degrees of freedom of Student's t: n - p of least squares, else infinite (the normal distribution).
    ratio : str
        What exp(value) is: ``odds ratio``, ``hazard ratio``, or empty.
    of : str
        The class that the odds are of; empty for other models.
    reason : str
        Why there are no intervals; empty where there are some.
    references : mapping of str to str
        By column of text the level that the others are compared with.
    rescaled_by : tuple of str
        Steps that change the units of the columns.
    caveats : tuple of str
        Sentences on what the intervals take for granted.
    likelihood_ratio : LikelihoodTest or None
        As R's ``lrm``, ``ols`` and ``cph`` print; None where there are no intervals, and with importance weights.
    """

    names: tuple[str, ...]
    values: Floats
    covariance: Floats | None = None
    df: float = float("inf")
    ratio: str = ""
    of: str = ""
    reason: str = ""
    references: Mapping[str, str] = field(default_factory=dict)
    rescaled_by: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    likelihood_ratio: LikelihoodTest | None = None

    @property
    def standard_errors(self) -> Floats:
        """(p,); NaN where there are none."""
        return np.full(len(self.names), np.nan) if self.covariance is None else np.sqrt(np.diag(self.covariance))

    @property
    def p_values(self) -> Floats:
        """(p,): of Wald's test that the coefficient is 0; NaN where there are none."""
        return student_p_values(self.values, self.standard_errors, self.df)

    def intervals(self, level: float = 0.95) -> Floats:
        """(p, 2): low and high of each coefficient, by Wald; NaN where there are none.

        Raises
        ------
        InputError
            When ``level`` is not between 0 and 1.
        """
        return student_intervals(self.values, self.standard_errors, self.df, level)

    @property
    def title(self) -> str:
        """Of its table."""
        log_odds = f" (log-odds of {self.of})" if self.of else " (log hazards)" if self.ratio else ""
        return f"Coefficients of the model of all rows{log_odds}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Below its table: what the numbers are of, the test of all, and why there are no intervals."""
        notes = []
        if self.references:
            listed = ", ".join(f"{level} ({column})" for column, level in self.references.items())
            notes.append(f"Levels of text are compared with {listed}.")
        if self.rescaled_by:
            makes = "makes" if len(self.rescaled_by) == 1 else "make"
            steps = " and ".join(self.rescaled_by)
            notes.append(f"They are in the units that {steps} {makes}, not in those of the table.")
        if (test := self.likelihood_ratio) is not None:
            p = cell_p_value(test.p_value)
            p = p if p.startswith("<") else f"= {p}"
            notes.append(f"Likelihood ratio χ² = {test.statistic:.2f}, {test.df} degrees of freedom, p {p}.")
        if self.covariance is not None:
            notes += self.caveats
        if self.reason:
            notes.append(f"No intervals: {self.reason[0].lower()}{self.reason[1:]}.")
        return tuple(notes)

    @property
    def more_columns(self) -> dict[str, list[str]]:
        """Of its table: none."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, one list per column of the table."""
        columns = {"values": self.values, "standard_errors": self.standard_errors, "p_values": self.p_values}
        test = self.likelihood_ratio
        return {
            "names": list(self.names),
            **{name: [json_number(number) for number in column.tolist()] for name, column in columns.items()},
            "df": json_number(self.df),
            "ratio": self.ratio,
            "of": self.of,
            "reason": self.reason,
            "references": dict(self.references),
            "rescaled_by": list(self.rescaled_by),
            "caveats": list(self.caveats),
            "likelihood_ratio": None if test is None else test._asdict(),
        }

    def to_frame(self, level: float = 0.95) -> Any:
        """A row a coefficient, as a pandas DataFrame (pandas comes with the extra ``app``)."""
        low, high = self.intervals(level).T
        columns = {
            "name": self.names, "value": self.values, "standard_error": self.standard_errors, "low": low,
            "high": high, "p_value": self.p_values,
        }  # fmt: skip
        return frame_of(columns, "FittedCoefficients.to_frame")

    def __str__(self) -> str:
        return "\n".join(coefficient_table(self).lines())

    def _repr_html_(self) -> str:
        return coefficient_table(self).html(strong="value")
