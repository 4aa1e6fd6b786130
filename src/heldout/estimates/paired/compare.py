"""``ho.compare_configurations``: which configuration is better, which are as good, and what trying many cost."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar, Literal

import numpy as np

from heldout import _defaults
from heldout._record import Shown, TextTable, frame_of, rows_table
from heldout._streams import RandomState
from heldout._types import Floats
from heldout.data.checks import check_number
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.base import Method
from heldout.estimates.control import is_unbiased
from heldout.estimates.evidence import Candidates, needs_one_configuration
from heldout.estimates.input_arrays import ResponseName
from heldout.estimates.inputs import Inputs, read_inputs
from heldout.estimates.intervals import NO_WIDTH, bootstrap_interval, has_no_width
from heldout.estimates.least_width import alike_of
from heldout.estimates.methods.bbc import BBC
from heldout.estimates.paired.confidence_set import MOST_SHOWN, ConfidenceSet, p_values
from heldout.estimates.paired.scores import (
    Difference,
    OptimismCurve,
    PairedScores,
    curve_points,
    differences,
    optimism_curve,
    paired_scores,
    probability_better,
)
from heldout.estimates.question import AnyAggregate, BlockLength
from heldout.estimates.types import Alternative, Interval
from heldout.flags import Flag
from heldout.metrics.base import oriented
from heldout.metrics.custom import OpaqueMetric
from heldout.selection.best import Best

WINNER = "winner"

_DIFFERENCE = OpaqueMetric("difference of scores")
"""Greater is better, and without bounds."""


@dataclass(frozen=True, eq=False)
class ConfigurationComparison(Shown):
    """The configurations of one matrix, compared in the bootstraps that ``ho.estimate`` draws.

    Attributes
    ----------
    evidence : Evidence
    scores : PairedScores
    """

    evidence: Candidates
    scores: PairedScores
    method: Method | None = None
    """That of the predictions, where they remember one."""
    sources: ClassVar[tuple[str, ...]] = ("hansen2011", "tsamardinos2018")
    """Keys of ``heldout.references``."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of all C configurations."""
        return tuple(self.evidence.names)

    @property
    def flags(self) -> Mapping[Flag, str]:
        """What a reader must know about these rows and configurations: each flag with its sentence."""
        return self.evidence.flags

    @property
    def winner(self) -> str:
        """The configuration that the selection rule chooses on all rows."""
        return self.names[self.evidence.winner]

    def difference(self, first: str | int, second: str | int, *, fixed: Sequence[str | int] = ()) -> Difference:
        """How much better ``first`` performs than ``second``, and with what probability.

        Parameters
        ----------
        first, second : str or int
            Names or indices of configurations; "winner" is the selected one.
        fixed : sequence of str or int
            Those of the two that you named before seeing their scores, such as a baseline. Any other is assumed to
            be chosen by its rank; every bootstrap replays this choice, and the part due to luck is subtracted.

        Returns
        -------
        Difference
            Oriented: positive where ``first`` is better, for scores and losses alike.
        """
        columns = self._column(first), self._column(second)
        if columns[0] == columns[1]:
            raise InputError(
                f"first and second are the same configuration, {self._name(columns[0])}; name two different ones."
            )
        named = frozenset(self._column(configuration) for configuration in fixed)
        if not named <= set(columns):
            raise InputError("fixed must name first, second, or both; it names another configuration.", argument="")
        least, greatest = self.evidence.metric.range
        distribution = np.clip(differences(self.scores, *columns, fixed=named), least - greatest, greatest - least)
        defined = distribution[~np.isnan(distribution)]
        uncorrected = float(self.scores.observed[columns[0]] - self.scores.observed[columns[1]])
        both_fixed = named == set(columns)
        value = uncorrected if both_fixed else float(defined.mean()) if defined.size else float("nan")
        return Difference(
            first=self._name(columns[0]),
            second=self._name(columns[1]),
            value=value,
            interval=self._interval(defined, uncorrected, pays=not both_fixed),
            uncorrected=uncorrected,
            probability_better=probability_better(distribution),
            distribution=distribution,
        )

    def confidence_set(self, confidence_level: float | None = None) -> ConfidenceSet:
        """The configurations that these rows cannot distinguish from the best (Hansen, Lunde and Nason 2011).

        Parameters
        ----------
        confidence_level : float, optional
            By default that of the comparison. With at least this probability the set contains all of the best
            configurations.
        """
        level = self.evidence.settings.confidence_level if confidence_level is None else confidence_level
        check_number("confidence_level", level, above=0, below=1, usual=".9 is usual")
        spread = np.full(len(self.names), np.nan)
        spread[self.evidence.candidates] = p_values(self.scores)
        members = spread >= 1 - level
        scores = np.full(len(self.names), -np.inf)
        scores[self.evidence.candidates] = self.scores.observed
        order = np.argsort(-scores, kind="stable")
        names = tuple(self.names[j] for j in order if members[j])
        return ConfidenceSet(names, members, spread, float(level))

    @property
    def probability_best(self) -> Floats:
        """(C,): share of the bootstraps in which each configuration scores best on the drawn rows, ties shared.

        To first order it is the posterior probability of being the best under a flat prior, with the spread of
        K-fold scores. Failed configurations have 0.
        """
        spread = self.scores.spread
        scores = np.where(np.isnan(spread), -np.inf, spread)
        best = (scores == scores.max(axis=1, keepdims=True)) & ~np.isnan(spread)
        several = best.sum(axis=1, keepdims=True)
        shares = (best / np.maximum(several, 1))[several[:, 0] > 0].mean(axis=0)
        return self.evidence.of_configurations(shares)

    def optimism_curve(self, sizes: Sequence[int] | None = None) -> OptimismCurve:
        """The optimism of choosing the best of c configurations, for c = 1 .. C.

        A point is the mean over *all* subsets of c of the configurations, computed from their ranks: no subset is
        drawn. At c = C the corrected score is the estimate of bbc, except for the control: if few rows change a
        metric without any choice, each configuration's own change is subtracted here, and bbc subtracts the mean
        over the chosen ones.

        Parameters
        ----------
        sizes : sequence of int, optional
            The values of c; by default all, or some of them if there are many.
        """
        rule = self.evidence.replay.rule
        if rule != Best():
            raise InputError(
                f"the optimism curve replays `selection='best'` on subsets, got the rule '{rule.name}'; use "
                "`selection='best'`."
            )
        n = self.scores.n_candidates
        points = curve_points(n) if sizes is None else np.asarray(sizes)
        if (
            points.ndim != 1
            or not points.size
            or points.dtype.kind not in "iu"
            or points.min() < 1
            or points.max() > n
        ):
            raise InputError(f"sizes must be whole numbers from 1 to {n} (the configurations), got {sizes!r}.")
        sign = 1.0 if self.evidence.metric.greater_is_better else -1.0
        takes_control = not is_unbiased(self.evidence)
        return optimism_curve(self.scores, points.astype(np.intp), sign, takes_control=takes_control)

    @property
    def _rows(self) -> list[dict[str, Any]]:
        """A row a configuration, best first."""
        members, scores = self.confidence_set(), np.full(len(self.names), np.nan)
        scores[self.evidence.candidates] = self.scores.observed
        columns = {
            "configuration": np.array(self.names, dtype=object),
            "score": oriented(self.evidence.metric, scores),
            "probability_best": self.probability_best,
            "p_value": members.p_values,
            "in_confidence_set": members.members,
        }
        order = np.argsort(-scores, kind="stable")
        return [
            dict(zip(columns, row, strict=True))
            for row in zip(*(one[order].tolist() for one in columns.values()), strict=True)
        ]

    def to_frame(self) -> Any:
        """One row per configuration, best first: score, probability of being best, p-value (needs pandas)."""
        frame = frame_of(self._rows, "ConfigurationComparison.to_frame")
        return frame.rename(columns={"score": self.evidence.metric.name})

    def __repr__(self) -> str:
        return f"ConfigurationComparison({self})"

    def __str__(self) -> str:
        return f"{self.winner} won among {len(self.names)}; {self.confidence_set()}"

    def tables(self) -> list[TextTable]:
        shown = "configuration score probability_best p-value=p_value in_the_confidence_set=in_confidence_set"
        title = f"{self.evidence.metric.name}: {self}"
        return [rows_table(self._rows, shown, title, self.flags.values(), most=MOST_SHOWN)]

    def _interval(self, defined: Floats, uncorrected: float, *, pays: bool) -> Interval:
        settings = self.evidence.settings
        nowhere = Interval(float("nan"), float("nan"), settings.confidence_level, settings.alternative)
        interval = bootstrap_interval(defined, _DIFFERENCE, settings) or nowhere
        if not has_no_width(interval):
            return interval
        least, greatest = self.evidence.metric.range
        width = greatest - least
        if np.isinf(width) or not np.isclose(uncorrected, defined[0], rtol=NO_WIDTH, atol=0):
            return nowhere
        alike = alike_of(self.evidence, pays=pays)
        return alike.interval(uncorrected, (-width, width), True, interval.confidence_level, settings.alternative)

    def _column(self, configuration: str | int) -> int:
        """The candidate column of a configuration as the user names it."""
        names = self.names
        if isinstance(configuration, bool) or not isinstance(configuration, str | int | np.integer):
            raise InputError(f"a configuration is named by its name or index, got {configuration!r}.")
        if isinstance(configuration, str):
            index = self.evidence.winner if configuration == WINNER else index_of_name(configuration, names)
        else:
            index = int(configuration)
        if not 0 <= index < len(names):
            raise InputError(
                f"there is no configuration {configuration!r}; indices run from 0 to {len(names) - 1}."
            )
        column = np.flatnonzero(self.evidence.candidates == index)
        if not column.size:
            raise InputError(f"configuration {names[index]!r} failed, so there is nothing to compare.")
        return int(column[0])

    def name_of(self, configuration: str | int) -> str:
        """The name of a configuration as the user names it, which must not have failed."""
        return self._name(self._column(configuration))

    def _name(self, column: int) -> str:
        return self.names[int(self.evidence.candidates[column])]


def index_of_name(name: str, names: Sequence[str]) -> int:
    """The place of a configuration's name.

    Raises InputError when there is none, or several.
    """
    places = [j for j, candidate in enumerate(names) if candidate == name]
    if not places:
        near = get_close_matches(name, names, n=3, cutoff=0.4)
        hint = (
            f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
            if near
            else f"the first is {names[0]!r}"
        )
        raise InputError(f"there is no configuration {name!r}; {hint}.")
    if len(places) > 1:
        raise InputError(
            f"{len(places)} configurations are named {name!r}; name it by its index, such as {places[0]}."
        )
    return places[0]


def compare_configurations(
    y_true: Any,
    predictions: Any = None,
    *,
    metric: Any = None,
    folds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    aggregate: AnyAggregate | None = None,
    selection: Any = None,
    n_bootstraps: int | None = None,
    confidence_level: float | None = None,
    alternative: Alternative | None = None,
    classes: Any = None,
    pos_label: Any = None,
    response: ResponseName = _defaults.RESPONSE,
    threshold: float | None = None,
    adaptive: bool = False,
    block_length: BlockLength = None,
    n_rows_of_bootstrap: int | Literal["auto"] | None = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> ConfigurationComparison:
    """Compare configurations with each other on their held-out predictions.

    Parameters
    ----------
    y_true : array-like of shape (N,), PredictionTable or fitted search
        The true labels or values. The result of ``ho.read_predictions``, or a fitted search of heldout, replaces
        this and ``predictions``.
    predictions : array-like, table or HeldOutPredictions, optional
        Held-out predictions of shape (N, C), (N, C, R) or (N, C, R, n_classes), as in ``ho.estimate``.
    metric, folds, groups, sample_weight, aggregate, selection, n_bootstraps, confidence_level, alternative, \
classes, pos_label, response, threshold, adaptive, block_length, \
n_rows_of_bootstrap, random_state, n_jobs
        As in ``ho.estimate``; ``selection`` must choose one configuration.

    Returns
    -------
    ConfigurationComparison
        ``.difference(i, j)``, ``.confidence_set()``, ``.probability_best``, ``.optimism_curve()``.

    Raises
    ------
    InputError
        When the input cannot be used, or the selection rule does not choose a single configuration.

    References
    ----------
    Hansen, Lunde and Nason (2011), The model confidence set. Tsamardinos, Greasidou and Borboudakis (2018),
    algorithm 5.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> guesses = rng.random((200, 50)) + 0.6 * np.outer(y, np.arange(50) == 7)  # one of 50 knows something
    >>> compared = ho.compare_configurations(y, guesses, metric="roc_auc", random_state=0)
    >>> compared.winner, compared.confidence_set().names
    ('configuration 7', ('configuration 7',))
    >>> compared.difference("winner", 3).probability_better > 0.99
    True
    """
    inputs = read_inputs(
        y_true, predictions, metric=metric, folds=folds, groups=groups, sample_weight=sample_weight,
        aggregate=aggregate, selection=selection, n_bootstraps=n_bootstraps, confidence_level=confidence_level,
        alternative=alternative, classes=classes, pos_label=pos_label, response=response, threshold=threshold,
        adaptive=adaptive, block_length=block_length, n_rows_of_bootstrap=n_rows_of_bootstrap,
        random_state=random_state, n_jobs=n_jobs,
    )  # fmt: skip
    comparison = comparison_of(inputs, inputs.method)
    if Flag.FAILED_CONFIGURATIONS in comparison.flags:
        warnings.warn(HeldoutWarning(comparison.flags[Flag.FAILED_CONFIGURATIONS]), stacklevel=2)
    return comparison


def comparison_of(inputs: Inputs, method: Method | None) -> ConfigurationComparison:
    """The comparison of what was read, in the bootstraps that ``method`` draws.

    Raises InputError when the selection rule chooses no single configuration.
    """
    evidence = inputs.evidence(BBC())
    reason = needs_one_configuration(evidence)
    if reason:
        raise InputError(
            f"configurations cannot be compared: {reason}; choose a rule of one, such as 'best'.",
            argument="selection",
        )
    scores = paired_scores(evidence, stratify=getattr(method, "stratify", False))
    return ConfigurationComparison(evidence, scores, method)
