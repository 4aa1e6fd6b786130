"""What a method of estimation is given, and what it is: evidence in, estimate out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heldout._text import argument, in_python
from heldout.data.task import Truth
from heldout.estimates.question import Settings
from heldout.estimates.types import Alternative, Estimate, Interval
from heldout.estimates.words import MethodWords, quantity_given
from heldout.flags import Flag
from heldout.kernels.reference import Weightings
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import Metric, oriented
from heldout.selection.base import NONE_CHOSEN, Choice
from heldout.selection.ensembles import Averages
from heldout.selection.replay import FoldReplay, SelectionReplay


@dataclass(frozen=True, eq=False)
class Matrix:
    """The held-out predictions of the candidates on the rows that all of them predicted.

    Attributes
    ----------
    truth : Truth of n rows
    scores : AggregateScore
        The reported metric, in the search's aggregate.
    out_of_bag : AggregateScore
        The same, as rows left out of a bootstrap are scored (pooled where folds are too small).
    by_fold : AggregateScore or None
        The same with a segment a split; None where the folds are not known.
    replay : SelectionReplay
    averages : Averages or None
        What a rule of weights averages, in the response of the reported metric; None for a rule that chooses one
        column.
    unit_of_row : ndarray of int, shape (n,)
        What a bootstrap draws whole: the row, or its group.
    grouped : bool
        Whether those units are groups.
    predictions : ndarray of shape (n, candidates, R) or (n, candidates, R, outputs)
        What ``scores`` reads, in the response of the reported metric. (A column is a candidate; where a threshold
        is tuned, a candidate at a threshold.)
    in_play : ndarray of bool, shape (n, R)
        The cells that every candidate predicted.
    """

    truth: Truth
    scores: AggregateScore
    out_of_bag: AggregateScore
    by_fold: AggregateScore | None
    replay: SelectionReplay
    unit_of_row: NDArray[np.intp]
    grouped: bool
    predictions: NDArray[Any]
    in_play: NDArray[np.bool_]
    averages: Averages | None = None

    def score(self, score: AggregateScore, choice: Choice, counts: Weightings) -> NDArray[np.float64]:
        """(L,): what was chosen under each weighting, scored under ``counts`` by ``scores`` or ``out_of_bag``.

        NaN where nothing was chosen.
        """
        if choice.weights is None:
            values = score.selected(counts, np.maximum(choice.columns, 0))
            return np.where(choice.columns == NONE_CHOSEN, np.nan, values)
        assert self.averages is not None, "a rule of weights averages something"
        return self.averages.score(score, choice, counts)

    def predictions_of(self, choice: Choice) -> NDArray[Any]:
        """(n, 1, R[, outputs]): of what was chosen under the first weighting."""
        if choice.weights is None:
            return self.predictions[:, choice.columns[:1]]
        assert self.averages is not None, "a rule of weights averages something"
        return self.averages.of_weights(choice.weights[:1])

    @property
    def sample_weight(self) -> NDArray[np.float64] | None:
        """Importance weights (n,) of mean 1, or None where all weigh the same."""
        return self.scores.sample_weight


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything that a method may read.

    Attributes
    ----------
    metric : Metric
        The one that is reported.
    names : sequence of str
        Of all C configurations.
    candidates : ndarray of int
        The configurations that did not fail, a column each; each as often as it has thresholds where those are
        tuned.
    winner : int
        The chosen configuration, that of the greatest weight in an ensemble.
    matrix : Matrix or None
        None where the scorer could not be opened, so that only fold scores are left.
    fold_scores : ndarray of shape (splits, candidates) or None
        In the metric's own direction and units; None where the folds are not known.
    repeat_of_split : ndarray of int, shape (splits,), or None
        The repeat that each split belongs to; None with ``fold_scores``.
    fold_replay : FoldReplay or None
        The selection on fold scores; None where those that the rule reads are not known.
    test_share : float or None
        The share of rows that each split tests, where the splits are those of repeated subsampling.
    chosen : Choice or None
        What the rule chose on the observed rows; None where only the winner is known.
    thresholds : ndarray or None
        Of each column, where thresholds are tuned.
    flags, provenance : mapping
        What was found while the evidence was gathered.
    """

    metric: Metric
    names: Sequence[str]
    candidates: NDArray[np.intp]
    winner: int
    settings: Settings
    matrix: Matrix | None
    fold_scores: NDArray[np.float64] | None
    n_rows_used: int
    repeat_of_split: NDArray[np.intp] | None = None
    fold_replay: FoldReplay | None = None
    test_share: float | None = None
    chosen: Choice | None = None
    thresholds: NDArray[np.float64] | None = None
    flags: Mapping[Flag, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def winner_column(self) -> int:
        """The winner's place among the columns."""
        if self.chosen is not None:
            return int(self.chosen.columns[0])
        return int(np.flatnonzero(self.candidates == self.winner)[0])

    @property
    def n_splits(self) -> int | None:
        """How many splits made the predictions, one in a hold-out; None where the folds are not known."""
        return None if self.repeat_of_split is None else len(self.repeat_of_split)

    @property
    def n_candidates(self) -> int:
        """How many configurations are in the race."""
        return len(self.candidates) if self.thresholds is None else len(np.unique(self.candidates))

    @property
    def best_columns(self) -> NDArray[np.intp]:
        """A column for each candidate: where thresholds are tuned, the one at its best of them on all rows."""
        if self.thresholds is None or self.matrix is None:
            return np.arange(len(self.candidates))
        scores = oriented(self.metric, self.matrix.scores.observed())
        order = np.lexsort((-scores, self.candidates))  # the candidates are ascending, and stay so
        return order[np.unique(self.candidates, return_index=True)[1]]

    @property
    def was_selected(self) -> bool:
        """Whether there was a choice."""
        return len(self.candidates) > 1

    @property
    def chosen_from(self) -> str:
        """Among what there was a choice, for sentences."""
        configurations = f"{self.n_candidates} configuration{'' if self.n_candidates == 1 else 's'}"
        return configurations if self.thresholds is None else f"{configurations} at several thresholds"

    @property
    def chooses_ensemble(self) -> bool:
        """Whether the rule chooses weights over the configurations."""
        return self.chosen is not None and self.chosen.weights is not None

    @property
    def winner_name(self) -> str:
        """The chosen configuration's name, with its threshold where that was tuned; what an ensemble is of."""
        name = self.names[self.winner]
        if self.thresholds is not None:
            return f"{name} at threshold {self.thresholds[self.winner_column]:.4g}"
        if self.chosen is not None and self.chosen.weights is not None:
            members = int(np.count_nonzero(self.chosen.weights[0]))
            return name if members == 1 else f"ensemble of {members} configurations"
        return name

    def scores_of_winner(self, counts: Weightings) -> NDArray[np.float64]:
        """(L,): what was chosen on the observed rows, scored under weightings (L, n) in the search's aggregate.

        Needs a matrix.
        """
        assert self.matrix is not None, "rows are weighed in a matrix only"
        chosen = self.chosen or Choice(np.array([self.winner_column]))
        return self.matrix.score(self.matrix.scores, chosen.repeated(len(counts)), counts)

    @property
    def uncorrected(self) -> float:
        """The winner's score in the search's aggregate; from fold scores alone their mean."""
        if self.matrix is not None:
            if self.chooses_ensemble:
                return float(self.scores_of_winner(np.ones((1, self.matrix.truth.n_rows), dtype=np.uint8))[0])
            return float(self.matrix.scores.observed()[self.winner_column])
        assert self.fold_scores is not None, "evidence holds a matrix, fold scores, or both"
        return defined_mean(self.fold_scores[:, self.winner_column])


class MethodDeclaration(Protocol):
    """What an estimate says of the method or protocol that made it.

    Attributes
    ----------
    name : str
    sources : tuple of str
        Keys of ``heldout.references``.
    scores_out_of_bag : bool
        Whether it scores rows that a bootstrap left out.
    """

    @property
    def name(self) -> str: ...
    @property
    def sources(self) -> tuple[str, ...]:
        return ()

    @property
    def scores_out_of_bag(self) -> bool:
        return False


@runtime_checkable
class Method(MethodDeclaration, Protocol):
    """A way from evidence to an estimate; a class that names it as its base has the defaults below.

    Attributes
    ----------
    reads : frozenset of str
        "predictions", "fold scores" or both: the method works from any of those named.
    draws : bool
        Whether it draws bootstraps, and so needs two rows of everything.
    scored : "as asked", "folds" or "folds if known"
        The aggregate in which the winner must be the best: that of the user, or the mean over folds.
    words : MethodWords
        Its title, and how it arrives at its number.
    replays_dropping : bool
        Whether it repeats a search's dropping in every bootstrap, where the user asks for that.
    alternatives : tuple of str
        The intervals that it has.
    needs_test_share : bool
        Whether it reads the splits of repeated subsampling.
    needs_one_split : bool
        Whether it is for a hold-out only.
    """

    @property
    def reads(self) -> frozenset[str]: ...
    @property
    def draws(self) -> bool:
        return False

    @property
    def scored(self) -> Literal["as asked", "folds", "folds if known"]:
        return "as asked"

    @property
    def words(self) -> MethodWords:
        return MethodWords(self.name, self.name.replace("_", " "), "")

    @property
    def replays_dropping(self) -> bool:
        return False

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        return ("two-sided", "greater", "less")

    @property
    def needs_test_share(self) -> bool:
        return False

    @property
    def needs_one_split(self) -> bool:
        return False

    def unfit_metric(self, metric: Metric) -> str | None:
        """Why the method is not for this metric, known before anything is fitted; None where it is."""
        return None

    def unfit(self, evidence: Evidence) -> str | None:
        """Why the method is not for this metric, task or matrix, as half a sentence; None where it is."""

    def estimate(self, evidence: Evidence) -> Estimate:
        """The estimate for the winner."""


def conclude(
    evidence: Evidence,
    method: MethodDeclaration,
    value: float,
    *,
    uncorrected: float | None = None,
    interval: Interval | None = None,
    standard_error: float | None = None,
    selected: int | None = None,
    distribution: NDArray[np.float64] | None = None,
    selection_frequency: NDArray[np.float64] | None = None,
    flags: Mapping[Flag, str] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Estimate:
    """An estimate with what the evidence says of itself filled in.

    ``selected`` is the configuration of a method that chooses for itself; the evidence's winner otherwise.
    """
    of_evidence = selected is None
    selected = evidence.winner if selected is None else selected
    before = evidence.uncorrected if uncorrected is None else uncorrected
    said = {**evidence.flags, **(flags or {})}
    if not method.scores_out_of_bag:
        said.pop(Flag.OUT_OF_BAG_POOLED, None)  # of rows that this method never scored
    if np.isinf(value):
        said[Flag.UNDEFINED] = Flag.UNDEFINED.filled(
            reason=f"the {evidence.metric.name} is beyond what float64 holds"
        )
        value = float("nan")
    cited = [*method.sources, *evidence.provenance.get("sources", ()), *evidence.metric.sources]
    optimism = before - value if evidence.metric.greater_is_better else value - before
    return Estimate(
        value=value,
        interval=interval,
        uncorrected=before,
        optimism=optimism,
        standard_error=standard_error,
        selected=selected,
        selected_name=evidence.winner_name if of_evidence else evidence.names[selected],
        metric=evidence.metric.name,
        method=method.name,
        n_rows_used=evidence.n_rows_used,
        distribution=distribution,
        selection_frequency=selection_frequency,
        flags=said,
        provenance={
            **_provenance_for(method, evidence),
            **(what_was_chosen(evidence) if of_evidence else {}),
            "sources": list(dict.fromkeys(cited)),
            **said_of_quantity(evidence, provenance or {}),
        },
    )


def _provenance_for(method: MethodDeclaration, evidence: Evidence) -> dict[str, Any]:
    """What the evidence says of itself, without what is of rows that the method never scored."""
    said = dict(evidence.provenance)
    if not method.scores_out_of_bag:
        said.pop("aggregate_out_of_bag", None)
    return said


def no_value(
    evidence: Evidence,
    method: MethodDeclaration,
    reason: str,
    *,
    flag: Flag = Flag.UNDEFINED,
    uncorrected: float | None = None,
) -> Estimate:
    """An estimate of NaN, with the flag that says why there is none."""
    said = {flag: flag.filled(reason=reason)}
    return conclude(evidence, method, float("nan"), uncorrected=uncorrected, flags=said)


def said_of_quantity(evidence: Evidence, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """A method's provenance, with its quantity as it is for so many splits."""
    if "quantity" not in provenance:
        return dict(provenance)
    return {**provenance, "quantity": quantity_given(provenance["quantity"], evidence.n_splits)}


def what_was_chosen(evidence: Evidence) -> dict[str, Any]:
    """The weights of an ensemble, or the threshold that was tuned, for provenance."""
    if evidence.chosen is not None and evidence.chosen.weights is not None:
        return {"weights": over_configurations(evidence, evidence.chosen.weights[0]).tolist()}
    if evidence.thresholds is not None:
        return {"threshold": float(evidence.thresholds[evidence.winner_column])}
    return {}


def over_configurations(evidence: Evidence, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of the columns summed by configuration, 0 for those that failed."""
    spread = np.zeros(len(evidence.names))
    np.add.at(spread, evidence.candidates, shares)
    return spread


def defined_mean(values: NDArray[np.float64]) -> float:
    """Mean of the values that are not NaN, NaN where there is none."""
    present = values[~np.isnan(values)]
    with np.errstate(over="ignore"):  # losses near the end of float64: infinite, and flagged
        return float(present.mean()) if present.size else float("nan")


def flags_of_choice(evidence: Evidence) -> dict[Flag, str]:
    """What to know where nothing was chosen, neither among configurations nor a threshold."""
    if len(evidence.names) > 1 or evidence.was_selected:
        return {}
    return {Flag.SINGLE_CONFIGURATION: Flag.SINGLE_CONFIGURATION.filled()}


def flags_of_dependence(evidence: Evidence) -> dict[Flag, str]:
    """What to know of an interval that takes rows as independent, as they are given one model only."""
    n = evidence.n_splits
    if n == 1:
        return {}
    models = (
        "Unless one model predicted all of these rows, as in a hold-out (folds= of one label for all says so), "
        "they depend on each other"
        if n is None
        else f"The rows were predicted by {n} models of a configuration, which share training rows"
    )
    return {Flag.FOLDS_DEPENDENT: Flag.FOLDS_DEPENDENT.filled(models=models)}


def needs_predictions(evidence: Evidence) -> str | None:
    """Half a sentence where there are fold scores only; None where there is a matrix of predictions."""
    if evidence.matrix is not None:
        return None
    return (
        "it needs held-out predictions, and here are fold scores only (HeldOutSearchCV keeps predictions, unless "
        "its scorer cannot be opened, as those made by make_scorer can)"
    )


def needs_folds(evidence: Evidence) -> str | None:
    """Half a sentence where no fold scores are known; None where they are."""
    if evidence.fold_scores is not None:
        return None
    return f"it compares scores fold by fold; give {argument('folds', ...)}{in_python(', a label a row')}"


def needs_columns(evidence: Evidence) -> str | None:
    """Half a sentence where the selection rule chooses an ensemble; None where it chooses one column."""
    if not evidence.chooses_ensemble:
        return None
    return (
        f"the selection rule '{evidence.provenance.get('selection')}' chooses an ensemble, which has no fold scores"
    )


def needs_one_configuration(evidence: Evidence) -> str | None:
    """Half a sentence where the selection rule chooses an ensemble or tunes a threshold; None otherwise."""
    if evidence.thresholds is None and not evidence.chooses_ensemble:
        return None
    what = "an ensemble" if evidence.chooses_ensemble else "a decision threshold"
    return f"it is for one configuration, and the rule '{evidence.provenance.get('selection')}' chooses {what}"
