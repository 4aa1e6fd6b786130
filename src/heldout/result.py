"""The record of a finished search: the result and the origin of every stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from heldout._record import Shown, TextTable, fields_table
from heldout._registry import function_of
from heldout._text import counted
from heldout._types import Floats
from heldout.configurations import Configuration, Configurations
from heldout.data.task import Task, Truth
from heldout.dropping.base import Barrier, Dropped, dropped_at
from heldout.errors import InputError
from heldout.estimates.of_search import Estimation
from heldout.estimates.paired.overtuning import DefaultConfiguration, Overtuning, overtuning_of, place_of
from heldout.estimates.question import Question, Scale
from heldout.estimates.types import Estimate
from heldout.execution.cells import CellTable, SharedFits, shared_fits
from heldout.execution.cross_fit import CrossFit, part_for_estimate
from heldout.execution.fold_models import FoldModels
from heldout.execution.training_size import SmallerTraining
from heldout.folds.splits import Folds
from heldout.methods_text import WithMethodsText
from heldout.metrics.base import Metric
from heldout.predictions import FoldScores, HeldOutPredictions
from heldout.selection.base import metrics_read

MOST_COMPARED = 2000
"""Configurations among which the estimator as it was passed is looked for."""
MOST_AT_ONCE = 2_000_000
"""Rows times configurations of which a notebook computes the overtuning without being asked."""


@dataclass(frozen=True, eq=False)
class Evaluation(Shown, WithMethodsText):
    """The record of a finished search: folds, configurations, predictions, winner and estimates.

    Attributes
    ----------
    task : Task
    folds : Folds
    configurations : Configurations
    cells : CellTable, a sequence of CellResult
        In the order of the plan: configuration by configuration, split by split.
    predictions : HeldOutPredictions
    fold_scores : mapping of str to FoldScores
        One per scorer.
    metrics : mapping of str to Metric or None
        One per scorer; None for a scorer that cannot be opened.
    pooled_scores : mapping of str to ndarray of shape (C,)
        The metric on all held-out rows of a repeat, mean over repeats; NaN for failed configurations. One per
        opened scorer.
    within_scores : mapping of str to ndarray of shape (C,)
        The metric on pairs of rows of the same split, with ``aggregate="within"``; otherwise empty.
    refit_metric : str
        The scorer that chose the winner.
    winner : int
        Index of the winner in ``configurations``.
    estimates : mapping of str to Estimate
        One per scorer that can be estimated; empty with ``method=None``.
    estimation : Estimation
        How the winner was chosen and estimated.
    model : estimator or None
        The winner fitted on all rows; None with ``refit=False``.
    failures : mapping of int to str
        Configurations that failed and why.
    barriers : tuple of Barrier
        The records of the barriers at which configurations could be dropped.
    n_fits, n_fits_saved : int
        Fits that the search made (without the refit), and fits that dropping saved.
    scores_in_halves : mapping of str to FoldScores
        The winner's scores on the splits of halves of the rows, one per scorer; each half is a repeat. Empty unless
        ``cv`` is ``ho.protocols.paired_hold_out``.
    fold_models : FoldModels or None
        With ``keep_models``: the models fitted on the splits, of the winner or of all configurations.
    cross_fit : CrossFit or None
        With Optuna and ``feedback="cross-fitted"``: the short searches, each without the rows of one fold, whose
        predictions give the estimates. Otherwise None.
    smaller_training : SmallerTraining or None
        With ``training_size_correction``: predictions by models fitted without two folds.
    default : DefaultConfiguration or None
        The configuration that ``default=`` names, with which tuning is compared.
    n_splits_read : int or None
        The number of last splits that the choice, the estimate, ``predictions`` and ``pooled_scores`` use, if a
        search strategy sets it; None for all.
    seconds : mapping of str to float
        Wall-clock seconds of each stage: "search", "estimate" and "refit".
    provenance : mapping
        Seed (``entropy``), versions, numbers of rows and columns, time of the run.
    """

    task: Task
    folds: Folds
    configurations: Configurations
    cells: CellTable
    predictions: HeldOutPredictions
    fold_scores: Mapping[str, FoldScores]
    metrics: Mapping[str, Metric | None]
    pooled_scores: Mapping[str, Floats]
    refit_metric: str
    winner: int
    estimates: Mapping[str, Estimate]
    model: Any = None
    estimation: Estimation = field(default_factory=Estimation)
    within_scores: Mapping[str, Floats] = field(default_factory=dict)
    scores_in_halves: Mapping[str, FoldScores] = field(default_factory=dict)
    failures: Mapping[int, str] = field(default_factory=dict)
    barriers: tuple[Barrier, ...] = ()
    n_fits: int = 0
    n_fits_saved: int = 0
    fold_models: FoldModels | None = None
    cross_fit: CrossFit | None = None
    smaller_training: SmallerTraining | None = None
    default: DefaultConfiguration | None = None
    n_splits_read: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        # The generated one prints the table and every prediction.
        found = self.estimate if self.estimate is not None else f"winner {self.configurations[self.winner].name}"
        shared = f" ({self.n_fits_shared} shared)" if self.n_fits_shared else ""
        fits = f"{counted(self.n_fits, 'fit')}{shared}"
        tried = counted(len(self.configurations), "configuration")
        return f"Evaluation({tried}, {self.folds}, {fits}, {found})"

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the corrected score beside the uncorrected one; without an estimate the ranking of configurations.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default.
        **kwargs : dict
            Arguments of the display's ``from_search``: ``scorer``, and those of its ``plot``.

        Returns
        -------
        CorrectedScoreDisplay or RankingDisplay
            See ``ho.plots`` for more displays.

        Raises
        ------
        MissingExtraError
            When matplotlib (extra ``plot``) is missing.
        """
        return function_of("plot")(self, ax, **kwargs)

    @cached_property
    def overtuning(self) -> Overtuning:
        """What further search bought: the uncorrected and the corrected score by the configurations tried.

        It also estimates the probability that the winner is worse than the default configuration: that of
        ``default=``, or else the estimator as it was passed, if it is among the configurations. It is computed from
        up to 200 bootstraps when it is first read.

        Raises
        ------
        InputError
            When the scorer that selects cannot be opened, or the rule chooses no single configuration.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> import heldout as ho
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> grid = {"n_neighbors": [1, 5, 9, 15, 25]}
        >>> search = ho.HeldOutSearchCV(KNeighborsClassifier(), grid, random_state=0).fit(X, y)
        >>> found = search.evaluation_.overtuning
        >>> found.n_configurations.tolist(), found.default.name
        ([1, 2, 3, 4, 5], 'KNeighborsClassifier (n_neighbors=5)')
        """
        if self.predictions.part is not None:
            raise InputError("overtuning needs the predictions of all rows; search with `keep_predictions=True`.")
        if "entropy" not in self.provenance:
            raise InputError("this record of a search has no seed, from which its bootstraps would be drawn again.")
        return overtuning_of(
            self.task.truth,
            self.predictions,
            self.question(),
            self.default or self._estimator_as_passed(),
            in_order=self._has_order(),
        )

    def _has_order(self) -> bool:
        """Whether the order of the configurations means something: that of a grid, or of a list, does not."""
        kind = self.provenance.get("configurations_from")
        several = len({each.model for each in self.configurations}) > 1
        return kind in ("optuna", "loop") or (kind == "random" and not several)

    def _estimator_as_passed(self) -> DefaultConfiguration | None:
        """The estimator without any parameters set, where it is among the configurations of one estimator."""
        members = self.configurations[:MOST_COMPARED]
        first = members[0]
        if first.model or first.has_params or any(each.template is not first.template for each in members):
            return None
        place = place_of(Configuration(0, {}, first.template), members)
        return None if place is None else DefaultConfiguration(members[place], place)

    def scorer_named(self, scorer: str | None) -> str:
        """The scorer of this name; by default the one that chose the winner.

        Raises InputError when the search has none of this name.
        """
        if scorer is None:
            return self.refit_metric
        if not isinstance(scorer, str) or scorer not in self.metrics:
            raise InputError(
                f"scorer must be one of the search's scorers ({', '.join(self.metrics)}), got {scorer!r}."
            )
        return scorer

    def question(self, scorer: str | None = None) -> Question:
        """What the estimate of a scorer answers, the winner included.

        Raises InputError when a scorer that decides cannot be opened, so that only its fold scores are known.
        """
        name, estimation = self.scorer_named(scorer), self.estimation
        read = metrics_read(estimation.rule, self.metrics, self.refit_metric)
        opened = {other: metric for other in read if (metric := self.metrics.get(other)) is not None}
        metric = self.metrics[name]
        if metric is None or len(opened) < len(read):
            closed = next(other for other in (name, *read) if self.metrics.get(other) is None)
            raise InputError(
                f"the scorer '{closed}' cannot be opened, so its scores of resampled rows are not known; use a "
                "metric name, or a scorer made by make_scorer."
            )
        return Question(
            metric,
            opened,
            estimation.rule,
            estimation.aggregate,
            estimation.settings(int(self.provenance["entropy"])),
            self.task.groups,
            self.task.sample_weight,
            self.configurations.params,
            self.winner,
        )

    def with_provenance(self, **more: Any) -> Evaluation:
        """The same record, with more about its origin."""
        return replace(self, provenance={**self.provenance, **more})

    def tables(self) -> list[TextTable]:
        part = "fits_for_the_estimate=part_for_estimate" if self.part_for_estimate else ""
        shown = f"winner fits=n_fits {part} fits_saved_by_dropping=n_fits_saved configurations failed"
        numbers = {name: getattr(self, name) for name in ("n_fits", "part_for_estimate", "n_fits_saved")}
        numbers["winner"] = self.configurations[self.winner].name
        numbers |= {"configurations": len(self.configurations), "failed": len(self.failures)}
        estimate = [] if self.estimate is None else self.estimate.tables()
        return [*estimate, fields_table(numbers, shown, "search", self.overtuning_sentences)]

    @property
    def overtuning_sentences(self) -> list[str]:
        """What further search bought, where it bought nothing, and the winner beside the default; none where that
        is not known, nor of a search so large that a notebook would wait for them."""
        held = self.predictions
        is_quick = bool(held.responses) and held.n_rows * held.n_configurations <= MOST_AT_ONCE
        if "overtuning" not in self.__dict__ and not is_quick:
            return []
        try:
            found = self.overtuning
        except InputError:
            return []
        return [each for each in (found.sentence, found.sentence_on_default) if each]

    @property
    def estimate(self) -> Estimate | None:
        """The estimate of the metric that chose the winner."""
        return self.estimates.get(self.refit_metric)

    def whole_scores(self, aggregate: Scale) -> Mapping[str, Floats] | None:
        """Scores in an aggregate other than the mean over folds; None for that one."""
        whole = {
            "pooled": self.pooled_scores,
            "aligned": self.pooled_scores,
            "within": self.within_scores,
        }
        return whole.get(aggregate)

    @property
    def shown_rows(self) -> tuple[Truth, HeldOutPredictions, Floats | None]:
        """Target, predictions and weights of the rows that pictures show: of very many a part, if it was kept."""
        truth, predictions, weights = self.task.truth, self.predictions, self.task.sample_weight
        part = predictions.part
        if part is None:
            return truth, predictions, weights
        weights = None if weights is None else weights[part.rows]
        if not isinstance(part.shares, float):  # rows of some classes stand for more rows than those of others
            weights = (1.0 if weights is None else weights) / part.shares
        return truth.rows(part.rows), replace(predictions.of_part, part=None), weights

    @property
    def known_scores(self) -> list[tuple[Metric, Floats]]:
        """The scores of all folds by metric, as ``gather`` takes them."""
        scores = self.fold_scores_read.items()
        return [(metric, of_folds.values) for name, of_folds in scores if (metric := self.metrics.get(name))]

    @property
    def folds_read(self) -> Folds:
        """The splits that the choice and the estimate read."""
        if self.n_splits_read is None:
            return self.folds
        return self.folds.part(self.folds.splits[-self.n_splits_read :])

    @property
    def fold_scores_read(self) -> Mapping[str, FoldScores]:
        """The fold scores that the choice and the estimate read."""
        if self.n_splits_read is None:
            return self.fold_scores
        return {name: scores.last(self.n_splits_read) for name, scores in self.fold_scores.items()}

    @property
    def shared_fits(self) -> dict[str, SharedFits]:
        """Fits that were not made alone and what that saved, by what they shared.

        The keys are "steps" for equal leading steps, and otherwise the class of the model or step whose one fit
        served several configurations. A fit that shared several things counts for each.
        """
        return shared_fits(self.cells.columns["shared"].ravel())

    @property
    def part_for_estimate(self) -> str:
        """How many fits were made for the corrected estimate, in words; empty if there were none."""
        further = (self.cross_fit, self.smaller_training)
        return part_for_estimate(sum(each.n_fits for each in further if each is not None), self.n_fits)

    @property
    def n_fits_of_search(self) -> int:
        """Fits of the search on all rows, without those of a protocol that repeats it."""
        return self.cells.n_fits

    @property
    def is_one_search(self) -> bool:
        """Whether no protocol repeated the search: at most the fits on all rows and for a test part were added."""
        smaller = 0 if self.smaller_training is None else self.smaller_training.n_fits
        return self.n_fits <= self.n_fits_of_search + smaller + 2

    @property
    def n_fits_shared(self) -> int:
        """Fits of the search on all rows that were not made alone."""
        return sum(map(bool, self.cells.columns["shared"].ravel()))

    @property
    def dropped_at_split(self) -> dict[int, int]:
        """The number of the last split of each dropped configuration."""
        number = {split.place: i for i, split in enumerate(self.folds.splits)}
        return {j: number[left.place] for j, left in self.dropped.items() if left.place is not None}

    @property
    def dropped(self) -> dict[int, Dropped]:
        """Configurations that were dropped early, when and why; including those that failed on the way."""
        return dropped_at(self.barriers)
