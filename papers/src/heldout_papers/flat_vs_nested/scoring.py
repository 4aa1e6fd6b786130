"""How predictions of a table's rows are read and scored by a metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Truth
from heldout.errors import UnusablePredictionError
from heldout.execution.responses import coded_responses
from heldout.metrics.base import ESTIMATOR_METHODS, Metric, Response, quiet_if_foreign
from heldout_papers.flat_vs_nested.paths import Floats


@dataclass(frozen=True, eq=False)
class RowScoring:
    """A metric and the target of a table: what is read of a model, and what that is worth.

    It is the request of ``heldout.execution.responses``.
    """

    metric: Metric
    truth: Truth  # Of all rows of the table

    times: tuple[float, ...] = ()

    @property
    def wanted(self) -> tuple[tuple[Response, ...], ...]:
        return (self.metric.responses,)

    def read(self, model: Any, X: Any) -> NDArray[Any]:
        """The first response that the metric can read and the model offers.

        Raises UnusablePredictionError where there is none.
        """
        found = coded_responses(self.truth, self, model, X)
        if not found:
            methods = " or ".join(dict.fromkeys(ESTIMATOR_METHODS[each] for each in self.metric.responses))
            raise UnusablePredictionError(f"it has no {methods}, which {self.metric.name} reads")
        (values,) = found.values()
        return values

    def is_defined(self, rows: NDArray[np.intp]) -> bool:
        """Whether the metric has a value on these rows of the table."""
        truth = self.metric.truth_for_needs(self.truth.rows(rows))
        return bool(self.metric.undefined_without.met(truth, self.truth.positive, np.ones((1, len(rows))))[0])

    def scores(self, rows: NDArray[np.intp], predictions: Sequence[NDArray[Any] | None]) -> Floats:
        """(C,): the metric of the predictions of these rows by C configurations; NaN where there are none."""
        truth, once = self.truth.rows(rows), np.ones((1, len(rows)))
        values = np.full(len(predictions), np.nan)
        with quiet_if_foreign([self.metric]):
            for place, one in enumerate(predictions):
                if one is not None:
                    values[place] = self.metric.statistic(truth, one[:, None]).all(once)[0, 0]
        return values
