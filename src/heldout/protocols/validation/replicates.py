"""The replicates of a validation: for each bootstrap sample the predictions of its model and the counts of its
rows.

Corrections read nothing else. A model is scored three times, by the same predictions with different weights of the
rows: on its own sample (each row as often as it was drawn), on all rows (each once), and on the rows outside its
sample. A sample has separate predictions only if missing values were imputed in each sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from heldout._types import Array, Booleans, Counts, Floats, Indices, Weightings
from heldout.data.task import Truth
from heldout.metrics.base import Metric, Response, at_times_of, quiet_if_foreign
from heldout.protocols.drawn_rows import drawn_rows
from heldout.selection.bootstrap_draws import out_of_bag

Predictions: TypeAlias = Mapping[Response, Array]


@dataclass(frozen=True, eq=False)
class ReplicateScores:
    """One metric of one model, in every replicate, in the metric's own direction and units."""

    metric: Metric
    apparent: float
    """Of the model fitted on all rows, on these rows."""
    in_bootstrap: Floats
    """(B,): of each replicate's model on its own sample; NaN where the replicate failed or the metric is undefined.
    """
    on_original: Floats
    """(B,): of the same models on all rows."""
    out_of_bag: Floats
    """(B,): of the same models on the rows that their sample left out."""

    @cached_property
    def successful(self) -> Booleans:
        """(B,): replicates whose model was scored on its sample and on all rows."""
        return np.isfinite(self.in_bootstrap) & np.isfinite(self.on_original)

    @property
    def means(self) -> dict[str, float]:
        """Over the successful replicates, those out of the bag over all that have one; NaN without any."""
        each = {
            "in_bootstrap": self.in_bootstrap[self.successful],
            "on_original": self.on_original[self.successful],
            "out_of_bag": self.out_of_bag[np.isfinite(self.out_of_bag)],
        }
        return {name: float(values.mean()) if values.size else float("nan") for name, values in each.items()}


@dataclass(frozen=True, eq=False)
class Replicates:
    """One model in B bootstrap samples of N rows, each completed H times (H = 1 where nothing was missing)."""

    truth: Truth
    counts: Counts
    """(B, N): how often each sample drew each row."""
    apparent: Predictions
    """(N, H) or (N, H, outputs): the predictions of the model fitted on all rows, in each of their completions; of
    ``apparent_rows``, if there are any."""
    on_original: Predictions
    """(N, H, B) or (N, H, B, outputs): the predictions of each replicate's model for all rows. Those of a failed
    replicate are not read."""
    in_sample: Mapping[Response, Sequence[Array]] | None = None
    """Its predictions for the rows of its own sample, in order and each as often as drawn, if these were imputed
    again; None if they are those of ``on_original``."""
    weights: Floats | None = None
    """(N,): importance weights."""
    drawn_from: Counts | None = None
    """(N,): how often each row occurs in the rows that the samples were drawn from: once, unless these are a sample
    too."""
    apparent_rows: Indices | None = None
    """(n_drawn,): the rows that ``apparent`` is of, each as often as drawn, if the samples were drawn from a sample
    whose rows were imputed again."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """The share of the models that kept each term, where every replicate selected terms."""
    times: tuple[float, ...] = ()
    """Of the outputs of the response ``survival``."""
    failed: Mapping[int, str] = field(default_factory=dict)
    """Replicates without a model, and why."""

    @property
    def n_replicates(self) -> int:
        return len(self.counts)

    @property
    def kept(self) -> Indices:
        """The replicates that have a model."""
        return np.array([b for b in range(self.n_replicates) if b not in self.failed], dtype=np.intp)

    @property
    def n_completions(self) -> int:
        """H."""
        return next(iter(self.apparent.values())).shape[1]

    @cached_property
    def all_rows(self) -> Weightings:
        """(1, N): the rows that the samples were drawn from."""
        once = np.ones(self.truth.n_rows, dtype=np.uint8) if self.drawn_from is None else self.drawn_from
        return self.weighted(once[None, :])

    @cached_property
    def trained(self) -> tuple[Truth, Weightings]:
        """The truth of the rows that ``apparent`` is of, and their weights (1, n)."""
        rows = self.apparent_rows
        if rows is None:
            return self.truth, self.all_rows
        once = np.ones((1, len(rows)), dtype=np.uint8)
        return self.truth.rows(rows), once if self.weights is None else once * self.weights[rows]

    def weighted(self, counts: Counts) -> Weightings:
        """Counts (L, N) times the importance weights, if there are any."""
        return counts if self.weights is None else counts * self.weights

    def left_out(self, kept: Indices) -> Weightings:
        """(len(kept), N): the rows outside each of these samples."""
        absent = out_of_bag(self.counts[kept])
        return self.weighted(absent if self.drawn_from is None else absent * self.drawn_from)

    def response_of(self, metric: Metric) -> Response:
        """The response that a metric reads: the first of its responses that was recorded."""
        return next(response for response in metric.responses if response in self.on_original)

    def read(self, metric: Metric, values: Array) -> Array:
        """Survival probabilities at the times of the metric; other responses unchanged."""
        is_survival = self.response_of(metric) is Response.SURVIVAL
        return at_times_of(metric, values, self.times) if is_survival else values

    def scores(self, metric: Metric) -> ReplicateScores:
        """The metric of every replicate's model, and of the model fitted on all rows.

        Examples
        --------
        One sample that drew the first row twice and not the third:

        >>> from heldout.metrics import metric_named
        >>> from heldout.data.task import truth_of
        >>> values = np.array([0.1, 0.4, 0.8])[:, None]
        >>> replicates = Replicates(
        ...     truth_of([0.0, 0.5, 1.5]),
        ...     counts=np.array([[2, 1, 0]], dtype=np.uint8),
        ...     apparent={Response.VALUES: values},
        ...     on_original={Response.VALUES: values[:, :, None]},
        ... )
        >>> scores = replicates.scores(metric_named("mean_absolute_error"))
        >>> print([f"{each[0]:.1f}" for each in (scores.in_bootstrap, scores.on_original, scores.out_of_bag)])
        ['0.1', '0.3', '0.7']
        """
        response, kept = self.response_of(metric), self.kept
        with quiet_if_foreign([metric]):
            truth, weights = self.trained
            apparent = metric.statistic(truth, self.read(metric, self.apparent[response])).all(weights)
            found = self._of_models(metric, response, kept)
        # Failed replicates stay NaN in their places, so that numbers of samples keep their meaning.
        everywhere = np.full((3, self.n_replicates), np.nan)
        everywhere[:, kept] = found
        return ReplicateScores(metric, float(apparent.mean()), *everywhere)

    def of_samples_of(
        self,
        b: int,
        counts: Counts,
        on_original: Predictions,
        failed: Mapping[int, str] | None = None,
        in_sample: Mapping[Response, Sequence[Array]] | None = None,
    ) -> Replicates:
        """The replicates of one sample: its model is the one that was fitted on all there is.

        - ``b``: a sample that has a model.
        - ``counts`` (n_inner, N): how often samples of this sample drew each row.
        - ``on_original`` (N, H, n_inner[, outputs]): the predictions of their models for all rows.
        - ``failed``: inner samples without a model, and why.
        - ``in_sample``: their predictions for the rows of their own samples, if these were imputed again.

        Where missing values are imputed, the rows on which this sample's model trained were completed for it, and
        its apparent score is on these. Its rows as new rows are those of ``on_original``, completed once before any
        sample was drawn.
        """
        apparent = {response: values[:, :, b] for response, values in self.on_original.items()}
        if self.in_sample is not None:
            apparent = {response: values[b] for response, values in self.in_sample.items()}
        return Replicates(
            self.truth,
            counts=counts,
            apparent=apparent,
            on_original=on_original,
            in_sample=in_sample,
            weights=self.weights,
            drawn_from=self.counts[b],
            apparent_rows=None if self.in_sample is None else drawn_rows(self.counts[b]),
            times=self.times,
            failed=failed or {},
        )

    def _of_models(self, metric: Metric, response: Response, kept: Indices) -> Floats:
        """(3, len(kept)): in the bootstrap, on the original rows and out of the bag; means over completions."""
        columns = np.arange(len(kept))
        in_bag, left_out = self.weighted(self.counts[kept]), self.left_out(kept)
        scores = np.zeros((3, len(kept)))
        if not kept.size:
            return scores
        for h in range(self.n_completions):
            bound = metric.statistic(self.truth, self.read(metric, self.on_original[response][:, h][:, kept]))
            if self.in_sample is None:
                scores[0] += bound.selected(in_bag, columns)
            scores[1] += bound.all(self.all_rows)[0]
            scores[2] += bound.selected(left_out, columns)
        scores /= self.n_completions
        # Rows of a sample that were imputed again have values of their own, so weights of all rows will not do.
        if self.in_sample is not None:
            scores[0] = [self._in_own_sample(metric, response, b) for b in kept.tolist()]
        return scores

    def _in_own_sample(self, metric: Metric, response: Response, b: int) -> float:
        assert self.in_sample is not None
        rows = drawn_rows(self.counts[b])
        once = np.ones((1, len(rows)), dtype=np.uint8)
        bound = metric.statistic(self.truth.rows(rows), self.read(metric, self.in_sample[response][b]))
        return float(bound.all(once if self.weights is None else once * self.weights[rows]).mean())
