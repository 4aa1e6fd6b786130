"""Fast cross-validation via sequential testing: configurations race on more and more training rows.

It is a search strategy, not only a rule: it plans its own splits, drops and stops on them, and chooses on the last.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import chdtrc

from heldout._streams import stream
from heldout._text import is_one_of
from heldout._types import Array, Booleans, Floats, Indices
from heldout.data.checks import check_count, check_number
from heldout.data.task import Task, labels_text
from heldout.dropping.base import Course, Racing, Standing, Verdict
from heldout.errors import InputError
from heldout.folds.splits import Folds, Split
from heldout.metrics.base import Metric, Signed, oriented
from heldout.metrics.regression import R2, MeanSquaredError
from heldout.metrics.row_losses import OfRowLosses
from heldout.selection.best import tie_exactly
from heldout.selection.rank_rules import RankOverRepeats

ATTEMPTS = 100


def growing_splits(task: Task, n_steps: int, entropy: int) -> Folds:
    """S splits of a random order of N rows: step s trains on the first s·N/(S+1), and tests on the rest.

    A row is tested several times, so every split is a repeat. In a classification the order spreads every class
    evenly, so that the first step trains on each class too: a model without a class in its training rows would be
    judged by that. Groups stay whole, in a random order of groups in which the first step has every class.

    Raises InputError when the rows, those of a class, or the groups are too few to be cut into S + 1 parts.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> task = Task(np.zeros((12, 1)), truth_of([0, 1] * 6))
    >>> [len(split.train) for split in growing_splits(task, 3, entropy=0).splits]
    [3, 6, 9]
    """
    part = _parts(task, n_steps, entropy)
    splits = tuple(
        Split(step - 1, 0, np.flatnonzero(part < step), np.flatnonzero(part >= step))
        for step in range(1, n_steps + 1)
    )
    return Folds(splits, task.n_rows, grouped=task.groups is not None)


def _parts(task: Task, n_steps: int, entropy: int) -> Indices:
    """(N,): the first step that does not test a row, less one; from 0 to S, where the last is always tested."""
    n_parts, classes = n_steps + 1, task.truth.kind.is_classification
    if task.groups is None:
        if task.n_rows < n_parts:
            raise InputError(_too_few(f"{task.n_rows} rows", n_parts))
        rng = np.random.default_rng(stream(entropy, "growing splits", 0))
        order = _evenly_spread(task, n_parts, rng) if classes else rng.permutation(task.n_rows)
        part = np.empty(task.n_rows, dtype=np.intp)
        part[order] = _cut(np.ones(task.n_rows, dtype=np.intp), n_parts)
        return part
    codes = np.unique(task.groups, return_inverse=True)[1]
    sizes = np.bincount(codes)
    # Groups cannot be cut, so a random order may leave a part empty or lack a class at first.
    for attempt in range(ATTEMPTS):
        order = np.random.default_rng(stream(entropy, "growing splits", attempt)).permutation(len(sizes))
        of_group = np.empty(len(sizes), dtype=np.intp)
        of_group[order] = _cut(sizes[order], n_parts)
        part = of_group[codes]
        whole = len(np.unique(part)) == n_parts
        if whole and (not classes or len(np.unique(task.truth.values[part == 0])) == task.truth.n_classes):
            return part
    lacking = " with every class in the first" if classes else ""
    raise InputError(_too_few(f"{len(sizes)} groups (the largest of {sizes.max()} rows)", n_parts, lacking))


def _cut(sizes: Indices, n_parts: int) -> Indices:
    """The part that contains the middle of each unit, of parts as equal as possible; in whole numbers."""
    before = np.cumsum(sizes) - sizes
    part: Indices = ((2 * before + sizes) * n_parts) // (2 * sizes.sum())
    return part


def _evenly_spread(task: Task, n_parts: int, rng: np.random.Generator) -> Indices:
    """The rows in an order in which every section has each class in about its share."""
    counts = task.truth.class_counts()
    least = int(counts.argmin())
    # Each part needs each class, or a model would be trained or tested without one.
    if counts[least] < n_parts:
        assert task.truth.classes is not None, "a classification has classes"
        label = labels_text(task.truth.classes[least : least + 1])
        raise InputError(_too_few(f"{counts[least]} rows of class {label}", n_parts))
    order = rng.permutation(task.n_rows)
    place = np.empty(task.n_rows)
    for code, count in enumerate(counts):
        # The rows of a class at even distances on one line, on which the classes are merged.
        mine = order[task.truth.values[order] == code]
        place[mine] = (np.arange(count) + 0.5) / count
    # Stable on a shuffled order, so that ties between classes are broken at random.
    return order[np.argsort(place[order], kind="stable")]


def _too_few(have: str, n_parts: int, lacking: str = "") -> str:
    return (
        f"`drop='sequential'` cuts the rows into steps + 1 = {n_parts} parts{lacking}, and {have} are too few for "
        "it; use fewer steps (Sequential(steps=7) is the least), more rows, or `drop='bootstrap'`."
    )


FEW_ENTRIES = 24
"""With at most so many entries in rows that differ, Q is too far from chi-squared (Tate & Brown 1970)."""


class BlockTest(NamedTuple):
    """A statistic, and the probability of one at least as large were all columns alike."""

    statistic: float
    p_value: float


def cochran_q(table: Array) -> BlockTest:
    """Cochran's Q of a table (n, k) of 0 and 1, a row a block.

    With T_j the sum of column j and L_i that of row i, Q = (k-1)(k ΣT² - (ΣT)²) / (k ΣL - ΣL²), about chi-squared
    with k - 1 degrees of freedom (Cochran 1950). Where the rows that differ have no more than 24 entries, p is the
    exact share of the arrangements, each row's entries in any order, with a Q at least as large. Where no row
    differs, or there is one column, Q is 0 and p is 1.

    Examples
    --------
    >>> cochran_q(np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]))
    BlockTest(statistic=4.5, p_value=0.2222222222222222)
    """
    *_, last = cochran_q_of_each(table)
    return last


def cochran_q_of_each(table: Array) -> Iterator[BlockTest]:
    """Cochran's Q of the first 1, 2, ..., k columns."""
    of_row = np.zeros(len(table), dtype=np.int64)
    total = squares = 0
    for k in range(1, table.shape[1] + 1):
        column = table[:, k - 1].astype(np.int64)
        of_row += column
        total += int(column.sum())
        squares += int(column.sum()) ** 2
        # Rows that are all 0 or all 1 say nothing of a difference between columns.
        differ = of_row[(of_row > 0) & (of_row < k)]
        if not len(differ):
            yield BlockTest(0.0, 1.0)
            continue
        # In whole numbers, as the exact test compares it with those of all arrangements.
        spread = k * squares - total**2
        statistic = (k - 1) * spread / float(k * int(differ.sum()) - int((differ**2).sum()))
        exact = len(differ) * k <= FEW_ENTRIES
        yield BlockTest(
            statistic, _exact_p(differ.tolist(), k, spread) if exact else float(chdtrc(k - 1, statistic))
        )


def friedman_of_each(table: Array) -> Iterator[BlockTest]:
    """Friedman's statistic of the first 1, 2, ..., k columns of a table (n, k) of numbers, a row a block.

    With R_j the sum of column j's ranks within rows (ties share theirs), it is
    12/(nk(k+1)) Σ(R_j - n(k+1)/2)² / (1 - Σ(t³-t)/(nk(k²-1))), t the size of each tie, about chi-squared with k - 1
    degrees of freedom (Friedman 1937). Where every row is one tie, or there is one column, it is 0 and p is 1.

    Examples
    --------
    >>> *_, of_all = friedman_of_each(np.array([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 3, 2]]))
    >>> of_all.statistic, round(of_all.p_value, 4)
    (4.5, 0.1054)
    """
    n = len(table)
    rank_sums: Floats = np.zeros(table.shape[1])
    ties = 0.0
    for k in range(1, table.shape[1] + 1):
        before, new = table[:, : k - 1], table[:, k - 1, None]
        above, equal = before > new, before == new
        # A new entry moves the greater ones of its row up by one, and shares its rank with its equals.
        rank_sums[: k - 1] += above.sum(axis=0) + equal.sum(axis=0) / 2
        tied = equal.sum(axis=1).astype(np.float64)
        rank_sums[k - 1] = float((k - above.sum(axis=1) - tied / 2).sum())
        ties += float((3 * tied * (tied + 1)).sum())  # (t+1)³ - (t+1) - (t³ - t)
        untied = 1 - ties / (n * k * (k**2 - 1)) if k > 1 else 0.0
        if untied <= 0:
            yield BlockTest(0.0, 1.0)
            continue
        spread = float(((rank_sums[:k] - n * (k + 1) / 2) ** 2).sum())
        statistic = 12 * spread / (n * k * (k + 1)) / untied
        yield BlockTest(statistic, float(chdtrc(k - 1, statistic)))


def _exact_p(row_sums: Sequence[int], k: int, spread: int) -> float:
    """The share of arrangements of rows with these sums in which k Σ T² - (Σ T)² is at least ``spread``."""
    ways: Counter[tuple[int, ...]] = Counter({(0,) * k: 1})
    for size in row_sums:
        grown: Counter[tuple[int, ...]] = Counter()
        for sums, n in ways.items():
            for ones in combinations(range(k), size):
                moved = list(sums)
                for column in ones:
                    moved[column] += 1
                # Sorted, because the statistic does not depend on which column is which: far fewer cases.
                grown[tuple(sorted(moved))] += n
        ways = grown
    total = sum(row_sums)
    reached = sum(n for sums, n in ways.items() if k * sum(each**2 for each in sums) - total**2 >= spread)
    return reached / prod(comb(k, size) for size in row_sums)


FIRST_DECISION = 2
"""The step from which on a configuration may leave."""
SIMILARITY_LEVEL = 0.05
"""Of the test that grows the top set, over all remaining configurations."""


class WaldLines(NamedTuple):
    """Wald's sequential test of a share: what the sum of s values of 0 and 1 is compared with.

    At or below ``slope`` · s - ``below`` the share is the lower of two, at or above ``slope`` · s + ``above`` the
    higher, and between them it is open.
    """

    slope: float
    below: float
    above: float


def wald_lines(n_steps: int, alpha: float = 0.01, beta: float = 0.1) -> WaldLines:
    """The lines of a test of π₀ = ½ against π₁ = ½ ((1-β)/α)^(1/S).

    slope = ln((1-π₀)/(1-π₁))/d, below = ln((1-α)/β)/d, above = ln((1-β)/α)/d, with
    d = ln(π₁/π₀) + ln((1-π₀)/(1-π₁)) (Wald 1947, chapter 5). With this π₁ the upper line is met by S ones out of
    S and by nothing earlier (Krueger et al. 2015), so no configuration is declared the winner on the way.

    Raises InputError when S is so small that π₁ would be 1 or more.

    Examples
    --------
    >>> lines = wald_lines(10)
    >>> round(lines.slope, 4), round(lines.below, 4), round(10 * lines.slope + lines.above, 12)
    (0.6512, 1.7772, 10.0)
    """
    least = math.floor(math.log2((1 - beta) / alpha)) + 1
    if n_steps < least:
        raise InputError(
            f"steps must be at least {least}, got {n_steps}: with fewer, a configuration that is among the best in "
            f"every step could not be distinguished from one that is so by chance (pi1 = "
            f"{0.5 * ((1 - beta) / alpha) ** (1 / n_steps):.3g} is not a probability below 1)."
        )
    high = 0.5 * ((1 - beta) / alpha) ** (1 / n_steps)
    ones, zeros = math.log(high / 0.5), math.log(0.5 / (1 - high))
    total = ones + zeros
    return WaldLines(zeros / total, math.log((1 - alpha) / beta) / total, math.log((1 - beta) / alpha) / total)


@dataclass(frozen=True, kw_only=True)
class Sequential(Racing):
    """Race configurations on growing training sets: sequential testing, CVST (Krueger, Panknin & Braun 2015).

    Step s of S trains every remaining configuration on the first s·N/(S+1) rows of a random order and tests it on
    all other rows. In each step

    1. the *top set* is grown from the best, as long as a test finds no difference in it: Cochran's Q where each
       row is right or wrong, Friedman's test on the row losses otherwise, at .05 over the number of remaining
       configurations less 1. A configuration in it gets a 1 in its trace, the others a 0;
    2. a configuration whose trace sums to no more than Wald's lower line, slope · s - below, is dropped, from step
       2 on; with the default settings first at step 3, after three zeros;
    3. after more than ``window`` steps the search stops if Cochran's Q of the last ``window`` values of the traces
       finds no difference between the remaining configurations.

    The winner has the least mean rank over the last ``window`` steps; that choice is replayed in the estimate,
    which reads these steps only. It takes at most S·C fits, most of them on few rows.

    It differs from the article (and from the authors' R package where that differs from it):

    - the order of the rows is stratified by class, and keeps groups whole; within groups, losses are averaged
      before Friedman's test;
    - losses that are no 0 or 1 (log loss, Brier) are tested by Friedman's in classification too;
    - configurations of equal score enter the top set together, and ties of the winner go to the first: the order in
      which configurations are listed matters for nothing else;
    - in tables of up to 24 entries, p of Cochran's Q is exact, where the package draws 1000 permutations;
    - the level is divided by the number of remaining configurations less 1, as in the article; the package divides
      by that number;
    - a configuration that fails in a step, for example because it needs more rows than the first step has, has
      failed, while the package tries it again on more;
    - the leader is never dropped, and the last remaining one runs all steps, so that its estimate is for the
      largest training sets.

    Attributes
    ----------
    steps : int
        S, at least 7 with the default ``alpha`` and ``beta``.
    alpha, beta : float
        Error rates of Wald's test: of mistaking a configuration with π₀ for one with π₁, and the reverse. So one
        that is among the best with probability π₁ = .78 in each step is dropped with a probability of at most about
        .1.
    stopping_level : float
        Level of the test that stops the search; with 1 it never stops early.
    window : int
        The number of last steps that the stopping test, the choice of the winner and the estimate use.

    Examples
    --------
    >>> Sequential(steps=6)
    Traceback (most recent call last):
    ...
    heldout.errors.InputError: steps must be at least 7, got 6: with fewer, a configuration that is among the best \
in every step could not be distinguished from one that is so by chance (pi1 = 1.06 is not a probability below 1).
    """

    steps: int = 10
    alpha: float = 0.01
    beta: float = 0.1
    stopping_level: float = 0.05
    window: int = 3
    name: ClassVar[str] = "sequential"
    statistic_name: ClassVar[str] = "the number of steps in which it was among the best"
    sources: ClassVar[tuple[str, ...]] = ("krueger2015", "wald1947", "cochran1950", "tate1970", "friedman1937")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("steps", self.steps)
        check_count("window", self.window, 2)
        for share in ("alpha", "beta"):
            check_number(share, getattr(self, share), above=0, below=1)
        if not is_one_of(self.stopping_level, (1.0,)):
            check_number("stopping_level", self.stopping_level, above=0, below=1)
        if self.shuffle_folds:
            raise InputError(
                "shuffle_folds is not for `drop='sequential'`, whose steps grow; leave it out.",
                argument="shuffle_folds",
            )
        if self.alpha + self.beta >= 1:
            raise InputError(f"alpha + beta must be below 1, got {self.alpha} + {self.beta}.")
        wald_lines(self.steps, self.alpha, self.beta)
        if self.window >= self.steps:
            raise InputError(f"window must be below `steps={self.steps}`, got {self.window}.")

    @property
    def selection(self) -> RankOverRepeats:
        """How the winner is chosen, in place of the selection rule."""
        return RankOverRepeats(last=self.window)

    def folds(self, task: Task, entropy: int) -> Folds:
        """The steps, in place of the folds; each is a repeat."""
        return growing_splits(task, self.steps, entropy)

    def unfit(self, metric: Metric, course: Course) -> str | None:
        """It compares configurations row by row."""
        if losses_behind(metric) is None:
            return (
                f"it compares configurations row by row, and {metric.name} is not a mean of one loss per row, "
                "such as "
                "accuracy, log_loss, brier_score or mean_squared_error"
            )
        return "its tests count rows, which cannot be weighted" if course.weighted else None

    def judge(self, standing: Standing) -> Verdict:
        """Drop those that were among the best too seldom; stop if the remaining ones do not differ."""
        traces = np.vstack([_earlier_traces(standing), self._among_the_best(standing)])
        sums, step = traces.sum(axis=0), len(traces)
        keep = np.ones(standing.n_configurations, dtype=bool)
        if step >= FIRST_DECISION:
            lines = wald_lines(self.steps, self.alpha, self.beta)
            keep = sums > lines.slope * step - lines.below
        keep[standing.leader] = True
        stop = step > self.window and self._are_alike(traces[-self.window :, keep])
        return Verdict(keep, sums, stop=stop, noted=traces[-1])

    def _among_the_best(self, standing: Standing) -> Floats:
        """(A,): 1 for the top set of the last step, 0 for the others."""
        score = standing.score
        step = score.segments[-1]
        metric = losses_behind(score.metric)
        assert metric is not None, "unfit says so"
        assert standing.predictions is not None, "it judges at a barrier of a search"
        of_step = standing.predictions[step.rows, :, step.repeat]
        losses = _of_blocks(metric.losses(step.truth, of_step), standing.unit_of_row[step.rows])
        observed = step.statistic.all(np.ones((1, len(step.rows)), dtype=np.uint8))[0]
        scores = tie_exactly(oriented(score.metric, observed))
        return in_top_set(scores, losses, SIMILARITY_LEVEL).astype(np.float64)

    def _are_alike(self, traces: Floats) -> bool:
        alone = traces.shape[1] == 1
        return not alone and cochran_q(traces).p_value > self.stopping_level


def in_top_set(scores: Floats, losses: Array, level: float) -> Booleans:
    """(A,): the set that grows from the best until a test finds a difference in it.

    - ``scores`` (A,): greater = better; those of equal score enter together.
    - ``losses`` (n, A): of booleans for Cochran's Q, of numbers for Friedman's test.
    - ``level``: of the test, to be divided by A - 1.

    Examples
    --------
    >>> wrong = np.zeros((40, 3), dtype=bool)
    >>> wrong[:4, 0], wrong[2:8, 1], wrong[10:30, 2] = True, True, True
    >>> in_top_set(1 - wrong.mean(axis=0), wrong, level=0.05).tolist()
    [True, True, False]
    """
    order = np.argsort(-scores, kind="stable")
    ranked = losses[:, order]
    tests = cochran_q_of_each(ranked) if losses.dtype == bool else friedman_of_each(ranked)
    ends = np.append(scores[order][1:] != scores[order][:-1], True)
    n_alike = 0
    for n, (tested, ends_a_tie) in enumerate(zip(tests, ends, strict=True), start=1):
        if not ends_a_tie:
            continue
        if n_alike and tested.p_value <= level / (len(scores) - 1):
            break
        n_alike = n
    among = np.zeros(len(scores), dtype=bool)
    among[order[:n_alike]] = True
    return among


def losses_behind(metric: Metric) -> OfRowLosses | None:
    """The metric of row losses that orders configurations as this one does on the same rows; None if there is none.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> losses_behind(metric_named("neg_log_loss")).name, losses_behind(metric_named("roc_auc"))
    ('log_loss', None)
    """
    inner = metric.metric if isinstance(metric, Signed) else metric
    if isinstance(inner, R2):  # 1 - SSE/SST, and SST is the rows' own
        return MeanSquaredError()
    return inner if isinstance(inner, OfRowLosses) else None


def _of_blocks(losses: Array, unit_of_row: Indices) -> Array:
    """Losses of rows, or mean losses of groups, which are no longer 0 or 1."""
    codes = np.unique(unit_of_row, return_inverse=True)[1]
    n_units = int(codes.max()) + 1
    if n_units == len(codes):
        return losses
    sums = np.zeros((n_units, losses.shape[1]))
    np.add.at(sums, codes, losses)
    means: Floats = sums / np.bincount(codes)[:, None]
    return means


def _earlier_traces(standing: Standing) -> Floats:
    """(steps, A): the traces at earlier barriers; barriers without judgement have none."""
    if standing.noted is None:
        return np.empty((0, standing.n_configurations))
    return standing.noted[~np.isnan(standing.noted).any(axis=1)]
