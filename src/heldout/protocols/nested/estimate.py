"""The result of nested cross-validation: an estimate with all its outer folds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heldout._record import Record, TextTable, frame_of, json_number, rows_table
from heldout._types import Floats, Indices
from heldout.dropping.base import Barrier
from heldout.estimates.types import Estimate
from heldout.metrics.named import in_sentence
from heldout.result import Evaluation

MOST_SHOWN = 20
"""Outer folds in a notebook."""


@dataclass(frozen=True, eq=False)
class OuterFold(Record):
    """The result of one outer fold: the search on the other rows, and its winner's score on the rows of the fold.

    Attributes
    ----------
    repeat, fold : int
    selected : int or None
        The winner of the search without this fold; None if none could be chosen.
    selected_name : str
    inner_scores : ndarray of shape (C,)
        The score of every configuration in that search, in the metric's own direction; NaN for those that failed or
        were dropped.
    tested : int or None
        The configuration that was fitted on all of ``training_rows``: the fold's own winner, or with
        ``across="all"`` the one configuration for all; None if there is none.
    tested_name : str
    inner_score : float
        The score of ``tested`` in that search, by which it was chosen.
    score : float
        The score of ``tested`` on ``test_rows``. The estimate is the mean of these, unless all rows are scored
        together.
    scores : mapping of str to float
        The same by every scorer, as the scorers return them (greater is better).
    training_rows, test_rows : ndarray of int
        Row numbers; a row that trains several times is repeated.
    failures : mapping of int to str
        Configurations that failed in that search, and why.
    barriers : tuple of Barrier
        Which configurations were dropped in that search, and when.
    reason : str
        Why there is no score; empty if there is one.
    """

    repeat: int
    fold: int
    selected: int | None
    selected_name: str
    tested: int | None
    tested_name: str
    inner_scores: Floats
    inner_score: float
    score: float
    training_rows: Indices
    test_rows: Indices
    scores: Mapping[str, float] = field(default_factory=dict)
    failures: Mapping[int, str] = field(default_factory=dict)
    barriers: tuple[Barrier, ...] = ()
    reason: str = ""

    _without = "training_rows test_rows barriers"
    _more = "n_training_rows n_test_rows n_dropped"
    _shown = (
        "outer_score=score inner_score configuration=tested_name repeat fold n_training_rows n_test_rows reason"
    )

    @property
    def n_training_rows(self) -> int:
        """The number of distinct training rows."""
        return len(np.unique(self.training_rows))

    @property
    def n_test_rows(self) -> int:
        return len(self.test_rows)

    @property
    def n_dropped(self) -> int:
        """Configurations that were dropped in that search."""
        return sum(len(barrier.dropped) for barrier in self.barriers)


@dataclass(frozen=True)
class Agreement(Record):
    """How often the outer folds chose the same configuration.

    Attributes
    ----------
    wins : mapping of int to int
        How often each configuration was chosen, the most frequent first.
    names : mapping of int to str
        The names of these configurations.
    share : float
        The share of outer folds that chose the most frequent one; NaN if none was chosen.

    Examples
    --------
    >>> agreement_of([2, 0, 2, None], ["a", "b", "c"])
    Agreement(wins={2: 2, 0: 1}, names={2: 'c', 0: 'a'}, share=0.6666666666666666)
    """

    wins: Mapping[int, int]
    names: Mapping[int, str]
    share: float

    _without = "wins names"
    _more = "chosen"
    _shown = "configuration=name outer_folds=wins"

    @property
    def chosen(self) -> list[dict[str, Any]]:
        """Each configuration that was chosen, by number and name, and how often."""
        return [{"configuration": j, "name": self.names[j], "wins": times} for j, times in self.wins.items()]

    @property
    def _rows(self) -> list[dict[str, Any]]:
        return self.chosen

    @property
    def _title(self) -> str:
        return f"{self.share:.0%} of the outer folds chose the commonest configuration"


def agreement_of(winners: Sequence[int | None], names: Sequence[str]) -> Agreement:
    """Count the winners of the outer folds; of equally common ones the lowest first."""
    counts = Counter(winner for winner in winners if winner is not None)
    wins = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    share = next(iter(wins.values())) / counts.total() if wins else float("nan")
    return Agreement(wins, {j: names[j] for j in wins}, share)


@dataclass(frozen=True, eq=False, repr=False)  # the repr of an estimate is shorter
class NestedEstimate(Estimate):
    """An estimate by nested cross-validation. ``selected`` is the configuration of ``model``.

    Attributes
    ----------
    outer_folds : tuple of OuterFold
    names : tuple of str
        The names of all configurations.
    greater_is_better : bool
        Whether the metric is a score (True) or a loss (False).
    agreement : Agreement
        How often the outer folds chose the same configuration; ``selection_frequency`` has the shares (C,).
    model : estimator or None
        The model to deploy: the winner of the search on all rows, fitted on all rows (with ``across="all"`` the
        configuration that was chosen across all inner folds).
    evaluation : Evaluation or None
        The record of the search on all rows.
    n_fits, n_fits_saved : int
        All fits, refits included, and fits that dropping saved.
    """

    outer_folds: tuple[OuterFold, ...] = ()
    names: tuple[str, ...] = ()
    greater_is_better: bool = True
    agreement: Agreement = field(default_factory=lambda: Agreement({}, {}, float("nan")))
    model: Any = None
    evaluation: Evaluation | None = None
    n_fits: int = 0
    n_fits_saved: int = 0

    @property
    def mean_inner_scores(self) -> Floats:
        """(C,): the mean of the inner scores of each configuration over all outer folds and repeats.

        In the metric's own direction; NaN for a configuration without a score in some search. With ``across="all"``
        the best of them is fitted in every outer fold. If every search has the same number of inner folds, it is
        Klamer's mean over the inner loop.
        """
        return np.stack([fold.inner_scores for fold in self.outer_folds]).mean(axis=0)

    _without = "names greater_is_better model evaluation"
    _columns = (
        "repeat fold tested tested_name inner_score score selected selected_name n_training_rows n_test_rows"
        " n_dropped reason"
    )

    @property
    def _rows(self) -> tuple[OuterFold, ...]:
        return self.outer_folds

    def tables(self) -> list[TextTable]:
        shown = "repeat fold configuration=tested_name inner_score outer_score=score reason"
        folds = rows_table(self.outer_folds, shown, "outer folds", most=MOST_SHOWN)
        if self.provenance.get("across") != "all":
            return [*super().tables(), *self.agreement.tables(), folds]
        means = [{"configuration": self.names[j], "mean": self.mean_inner_scores[j]} for j in self.ranked]
        shown = "configuration mean_inner_score=mean"
        return [*super().tables(), folds, rows_table(means, shown, "inner means", most=MOST_SHOWN)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: those of every estimate, the outer folds and their agreement."""
        scores = [
            {"configuration": j, "name": name, "score": json_number(score)}
            for j, (name, score) in enumerate(zip(self.names, self.mean_inner_scores.tolist(), strict=True))
        ]
        return {**super().to_dict(), "mean_inner_scores": scores}

    def configurations_frame(self) -> Any:
        """A pandas DataFrame with one row per configuration, the best mean inner score first.

        ``mean_inner_score`` is over all outer folds, ``n_selected`` counts the searches of outer folds that it won,
        ``n_tested`` the outer folds in which it was fitted, and ``is_deployed`` is True for that of ``model``.
        """
        means = self.mean_inner_scores
        tested = Counter(fold.tested for fold in self.outer_folds)
        rows = [
            {
                "configuration": j,
                "name": self.names[j],
                "mean_inner_score": means[j],
                "n_selected": self.agreement.wins.get(j, 0),
                "n_tested": tested[j],
                "is_deployed": j == self.selected,
            }
            for j in self.ranked
        ]
        return frame_of(rows, "NestedEstimate.configurations_frame")

    @property
    def ranked(self) -> list[int]:
        """The configurations by their mean inner score, the best first and those without one last."""
        means = self.mean_inner_scores if self.greater_is_better else -self.mean_inner_scores
        return [int(j) for j in np.argsort(-means, kind="stable")]


INTERVAL_SENTENCES: dict[str, str] = {
    "nadeau_bengio": (
        "The interval is that of Nadeau and Bengio, of the scores of the outer folds: Student's t, with a variance "
        "that is widened because the outer folds share training rows."
    ),
    "bootstrap": (
        "The interval is from bootstraps of the rows that the outer folds predicted. Their spread is widened "
        "because the models of the folds share training rows."
    ),
    "bates_hastie_tibshirani": (
        "The interval is that of Bates, Hastie and Tibshirani: searches that left two folds out measured by how "
        "much the scores of rows vary together, and how much better more training rows make the search; it lies "
        "around the score at all training rows, not around the estimate."
    ),
}
_OF_THE_TEST_PART = "of the rows of the test part, which took no part in training or selection."
INTERVAL_SENTENCES |= {
    "clopper_pearson": f"The interval is the exact binomial one (Clopper and Pearson) {_OF_THE_TEST_PART}",
    "delong": f"The interval is that of DeLong {_OF_THE_TEST_PART}",
    "naive_bootstrap": f"The interval lies between percentiles of the score under bootstraps {_OF_THE_TEST_PART}",
}
TEST_PART_WORDS = {
    "clopper_pearson": "Clopper and Pearson (exact binomial)",
    "delong": "DeLong",
    "naive_bootstrap": "bootstrap of rows",
}
INNER_WORDS = {
    "remaining": "the other outer folds, each in turn",
    "holdout": "one development set, of as many rows as an outer fold",
}
ACROSS_SENTENCE = (
    "The whole search was repeated once for each outer fold, without its rows. The one configuration with the best "
    "mean over the inner folds of all these searches was fitted on the rows that each outer fold left and scored "
    "on the fold. The score is the mean of these; the choice had seen the same rows."
)
ONE_SPLIT_SENTENCE = (
    "One part of the rows was held out for the estimate, and the search ran on the others. Its winner was fitted "
    "on all of these and scored once, on the part that was held out: no row took part in selecting what it scored."
)
ACROSS_WORDS = {"folds": "", "all": "one configuration for all outer folds"}
INTERVAL_WORDS = {
    "nadeau_bengio": "Nadeau and Bengio", "bates_hastie_tibshirani": "Bates, Hastie and Tibshirani",
    "test_part": "the rows of the test part", "bootstrap": "bootstrap of the rows that the outer folds predicted",
}  # fmt: skip


def nested_sentence(provenance: Mapping[str, Any]) -> str:
    """How the number was computed, where it was not by the usual nested cross-validation; empty where it was."""
    if provenance.get("n_outer_folds") == 1:
        return ONE_SPLIT_SENTENCE
    return ACROSS_SENTENCE if provenance.get("across") == "all" else ""


ALONE = "There is one configuration, so the folds choose nothing outside its own fits and need no inner score."
"""In place of how far the outer folds chose alike."""


def outer_folds_sentence(n_folds: int, n_repeats: int, *, one_for_all: bool = False, is_alone: bool = False) -> str:
    """How to read the table of outer folds; ``is_alone``: of one configuration."""
    repeats = "" if n_repeats == 1 else f" ({n_repeats} repeats)"
    if n_folds == 1:
        winner = "The configuration" if is_alone else "The winner of the search on the other rows"
        inner = (
            "" if is_alone else " The inner score is the one that the winner was chosen for, so it is flattering."
        )
        return f"There is one split. {winner} was fitted on all rows outside its test part and scored on it.{inner}"
    if is_alone:
        return (
            f"The configuration was fitted {n_folds:,} times{repeats}, each time without the rows of one outer "
            "fold, and scored on the fold."
        )
    fitted = (
        "The one configuration that was best over all inner folds was fitted on the other rows and scored on it"
        if one_for_all
        else "The winner was fitted on all of the other rows and scored on the fold"
    )
    flattering = (
        "Both scores are that configuration's, and both are optimistic: the inner folds of all outer folds, for "
        "which it "
        "was chosen, tested the same rows"
        if one_for_all
        else "The inner score is the one that the winner was chosen for, so it is flattering; the outer score is "
        "not"
    )
    return (
        f"The search was repeated {n_folds:,} times{repeats}, each time without the rows of one outer fold. "
        f"{fitted}. {flattering}."
    )


def agreement_sentence(
    share: float, n_chosen: int, n_folds: int, *, is_deployed: bool, one_for_all: bool = False
) -> str:
    """How far the outer folds chose alike, and what that means."""
    if n_chosen == 0:
        return "No outer fold found a winner."
    if n_folds == 1:
        return "One search made the choice." + (" The same configuration is deployed." if is_deployed else "")
    if n_chosen == 1:
        alike = f"All {n_folds:,} outer folds chose the same configuration"
        return f"{alike}, which is also the one that is deployed." if is_deployed else f"{alike}."
    differ = (
        f"The outer folds chose {n_chosen:,} different configurations, the commonest in {share:.0%} of them: the "
        "more they differ, the less the data can tell these apart."
    )
    if one_for_all:
        return f"{differ} What is deployed is the configuration that was best over all inner folds."
    return (
        f"{differ} The estimate is of the search as a whole, whichever it chooses; the configuration that is "
        "deployed is the winner of the search on all rows."
    )


def inner_against_outer_sentence(metric: str, inner: str, outer: str, *, one_for_all: bool = False) -> str:
    """The two mean scores side by side."""
    whose = "that configuration" if one_for_all else "the winners"
    return f"The mean {in_sentence(metric)} of {whose} was {inner} inside and {outer} outside."
