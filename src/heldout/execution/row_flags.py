"""What a search must say of its rows: copies in other folds, a sorted file, an order of time, scored stopping rows.

The tests of order are of rows in the order of the file: at most 1 in 200 tables whose rows are in random order
raises a flag.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import chdtrc
from scipy.stats import binom, chi2, rankdata
from sklearn.pipeline import Pipeline

from heldout import _defaults
from heldout._streams import stream
from heldout._types import Array, Booleans, Floats, Indices
from heldout.configurations import Configuration
from heldout.data.equal_rows import codes_of_column, columns_of, copies_by_chance, number_of_copies, row_numbers
from heldout.data.row_part import FIRST, row_part
from heldout.data.task import Task, TaskKind, Truth
from heldout.errors import InputError
from heldout.execution.fit import Routing
from heldout.execution.inner_split import model_within
from heldout.flags import Flag
from heldout.folds.splits import Folds
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout.spaces.early_stopping import Pair, stopper_of

LEAST_SHARE = 0.005
"""Of the held-out rows: fewer copies cannot change what one would report."""
STANDARD_DEVIATIONS = 3
FALSE_ALARMS = 0.001
"""Of each of the two tests of order."""
LEAST_EFFECT = 0.01
"""Of the variance of ranks: a smaller part between folds harms nothing, however many rows show it."""
MOST_COLUMNS = 100
LEAST_EXPECTED = 5
"""Rows of a fold, and of a category in a fold; rarer categories are taken together."""
MOST_ROWS = 20_000
"""The first ones, whose residuals are looked at."""
N_PERMUTATIONS = 999
SORTED = 0.95
"""Share of steps in one direction in a target by which the file is sorted."""


def flags_of_table(task: Task, folds: Folds, entropy: int) -> dict[Flag, str]:
    """The flags of copies of rows and of a sorted file."""
    if task.X is None:  # a search that was read from its run has noted its flags
        return {}
    try:
        return flags_of_copies(task, folds.labels[:, 0], entropy) | flags_of_sorted_file(task, folds)
    except (AttributeError, TypeError, ValueError):  # rows of a user's own kind
        return {}


def flags_of_copies(task: Task, folds: Array, entropy: int) -> dict[Flag, str]:
    """The flag of rows that are also in other folds; folds (N,), -1 for rows that only train."""
    tested, copies = int((folds >= 0).sum()), number_of_copies(row_numbers(task.X), folds)
    if copies <= LEAST_SHARE * tested:
        return {}
    chance = copies_by_chance(task.X, folds, _strata(task.truth), stream(entropy, "copies"))
    if copies <= chance.mean() + STANDARD_DEVIATIONS * max(chance.std(ddof=1), 1):
        return {}
    return {Flag.COPIED_ROWS: Flag.COPIED_ROWS.filled(copies=copies, total=tested, chance=f"{chance.mean():.3g}")}


def flags_of_sorted_file(task: Task, folds: Folds) -> dict[Flag, str]:
    """The flag of folds that are stretches of the file, between which the target or a predictor differs."""
    labels = folds.labels[:, 0]
    if folds.n_repeats > 1 or folds.grouped or not folds.exchangeable or not _are_stretches(labels, task.truth):
        return {}
    tested = np.flatnonzero(labels >= 0)
    # So many rows show an effect that is large enough to matter as well as more do.
    part = row_part(task.truth, tested, _defaults.ROWS_OF_BOOTSTRAP, entropy=0)
    tested = tested if part is None else part.rows
    place = np.unique(labels[tested], return_inverse=True)[1]
    target, is_classes = task.truth.rows(tested), task.truth.kind.is_classification
    chances = {"the target": _chance(_target_column(target), place, has_order=not is_classes)}
    names = [f"'{name}'" for name in getattr(task.X, "columns", ())]
    for number, column in zip(range(MOST_COLUMNS), columns_of(task.X), strict=False):
        chances[names[number] if number < len(names) else f"column {number}"] = _chance(column[tested], place)
    found = [name for name, chance in chances.items() if chance * len(chances) <= FALSE_ALARMS]
    if not found:
        return {}
    most = sorted(found, key=chances.__getitem__)[:3]
    which = f"{', '.join(most)}{f' and {len(found) - 3} more' if len(found) > 3 else ''}"
    return {Flag.SORTED_ROWS: Flag.SORTED_ROWS.filled(which=which)}


def flags_of_time(predictions: HeldOutPredictions, truth: Truth, winner: int, entropy: int) -> dict[Flag, str]:
    """The flag of a winner whose errors in neighbouring rows of the file are alike."""
    if predictions.part is not None or truth.n_rows > _defaults.ROWS_OF_BOOTSTRAP:
        first = np.arange(min(FIRST, truth.n_rows))
        places = first if predictions.part is None else predictions.part.places(first)[0]
        truth, predictions = truth.rows(first), predictions.at(places)
    errors = _errors(predictions, truth, winner)
    if errors is None or predictions.folds is None or _is_sorted(truth):
        return {}
    folds = predictions.folds[:, 0]
    rows = np.flatnonzero((folds >= 0) & np.isfinite(errors))[:MOST_ROWS]
    if len(rows) < 2 * LEAST_EXPECTED:
        return {}
    errors, place, size = errors[rows], *np.unique(folds[rows], return_inverse=True, return_counts=True)[1:]
    if size.min() < LEAST_EXPECTED:  # such as one row each: no model knows where its rows are
        place, size = np.zeros(len(rows), dtype=np.intp), np.array([len(rows)])
    # Rows of a fold are permuted among themselves, so that a model whose errors are all high is no sign of order.
    errors = errors - (np.bincount(place, errors) / size)[place]
    total, value = float(errors @ errors), float(errors[1:] @ errors[:-1])
    if total == 0:
        return {}
    rng = np.random.default_rng(stream(entropy, "order"))
    members = [np.flatnonzero(place == k) for k in range(len(size))]
    permuted, as_high = errors.copy(), 0
    for _ in range(N_PERMUTATIONS):
        for member in members:
            permuted[member] = errors[rng.permutation(member)]
        as_high += int(permuted[1:] @ permuted[:-1] >= value)
        if (as_high + 1) / (N_PERMUTATIONS + 1) > FALSE_ALARMS:
            return {}
    return {Flag.ROWS_FOLLOW_TIME: Flag.ROWS_FOLLOW_TIME.filled(correlation=value / total)}


def _are_stretches(labels: Array, truth: Truth) -> bool:
    """Whether every fold is a stretch of the file, or of the rows of each class: those of no shuffle are."""
    strata = _strata(truth)
    for stratum in np.unique(strata):
        of_stratum = labels[(strata == stratum) & (labels >= 0)]
        if np.count_nonzero(np.diff(of_stratum)) >= len(np.unique(of_stratum)) > 0:
            return False
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1]
    return len(sizes) > 1 and sizes.min() >= LEAST_EXPECTED


def _strata(truth: Truth) -> Indices:
    """(N,): the class of each row, 0 where there are none."""
    return truth.values.astype(np.intp) if truth.kind.is_classification else np.zeros(truth.n_rows, dtype=np.intp)


def _target_column(truth: Truth) -> Array:
    if truth.kind is TaskKind.SURVIVAL:
        return np.asarray(truth.values["time"])
    if truth.kind is TaskKind.OTHER:  # of several columns the first stands for all
        return truth.values.reshape(truth.n_rows, -1)[:, 0]
    return truth.values


def _chance(column: Array, folds: Indices, *, has_order: bool = True) -> float:
    """The p-value of a column that differs so much between folds: Kruskal and Wallis, or χ² of categories."""
    codes, sizes = codes_of_column(column), np.bincount(folds)
    if has_order and column.dtype.kind in "biufmM":
        ranks = rankdata(codes) - (len(codes) + 1) / 2
        contrasts, total = 1, float(ranks @ ranks)
        between = float((np.bincount(folds, ranks) ** 2 / sizes).sum())
    else:
        counts = np.bincount(codes)
        codes = np.where((counts * sizes.min() < LEAST_EXPECTED * len(codes))[codes], len(counts), codes)
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
        contrasts, total = int(codes.max()), float(codes.max()) * len(codes)
        expected = np.outer(sizes, np.bincount(codes)) / len(codes)
        table = np.bincount(folds * (contrasts + 1) + codes, minlength=expected.size).reshape(expected.shape)
        between = float(((table - expected) ** 2 / expected).sum())
    if between <= LEAST_EFFECT * total:
        return 1.0
    return float(chdtrc((len(sizes) - 1) * contrasts, (len(codes) - 1) * contrasts * between / total))


def _errors(predictions: HeldOutPredictions, truth: Truth, winner: int) -> Floats | None:
    """(N,): by how much the winner is wrong in each row of the first repeat; None where nothing says so."""
    responses, codes = predictions.responses, truth.values
    if Response.VALUES in responses and truth.kind is TaskKind.REGRESSION:
        return np.asarray(codes - responses[Response.VALUES][:, winner, 0])
    if not truth.kind.is_classification:
        return None
    if Response.PROBABILITIES in responses:
        chances = responses[Response.PROBABILITIES][:, winner, 0]
        if chances.ndim == 1:
            return np.asarray((codes == predictions.positive) - chances)
        return np.asarray(1 - chances[np.arange(len(codes)), codes])
    if Response.LABELS in responses:
        wrong = codes - responses[Response.LABELS][:, winner, 0]
        return np.asarray(wrong if truth.n_classes == 2 else wrong != 0, dtype=np.float64)
    if Response.DECISION in responses and truth.n_classes == 2:
        above = responses[Response.DECISION][:, winner, 0] > 0
        return np.asarray((codes == predictions.positive) - above.astype(np.float64))
    return None


def _is_sorted(truth: Truth) -> bool:
    """Whether the file is sorted by its target, which makes errors of neighbours alike without any time."""
    target = _target_column(truth)
    if truth.kind.is_classification:
        return int(np.count_nonzero(np.diff(truth.values))) <= 2 * (truth.n_classes - 1)
    steps = np.sign(np.diff(target))
    steps = steps[steps != 0]
    return len(steps) == 0 or bool(abs(steps.mean()) > 2 * SORTED - 1)


_STOPPING_ROWS = ("eval_set", "eval_X", "X_val")
"""Parameters of ``fit`` that hold such rows."""
_BY_CHANCE = 1e-4
"""Rows that agree by chance more often than this are not taken for the same rows."""


def flags_of_stopping(
    task: Task, folds: Folds, configurations: Sequence[Configuration], routed: Routing
) -> dict[Flag, str]:
    """The flag of models that stop on rows which also score them, where that is certain.

    Early stopping on the scored rows chooses the number of rounds by these rows, for each model anew. No replay of
    the selection sees this choice, so its optimism stays in the score.
    """
    tested = np.asarray((folds.labels >= 0).any(axis=1))
    for X, y in _pairs(configurations, routed, task.n_rows):
        found = n_scored(task, tested, X, y)
        if found:
            flag = Flag.EARLY_STOPPING_ON_SCORED_ROWS
            return {flag: flag.filled(scored=found, total=len(np.asarray(y)))}
    return {}


def _pairs(configurations: Sequence[Configuration], routed: Routing, n_rows: int) -> Iterator[Pair]:
    """The rows on which some configuration stops, each once."""
    seen = set()
    for configuration in configurations:
        fit_params = routed.to_fit(configuration)
        if not any(map(holds_rows, fit_params)):
            continue
        model = configuration.fresh()
        stopper = stopper_of(model_within(model))
        front = _front_of(model)
        own = {name.removeprefix(front): value for name, value in fit_params.items()}
        for X, y in [] if stopper is None else stopper.pairs(model_within(model), own, n_rows):
            if id(X) not in seen:
                seen.add(id(X))
                yield X, y


def holds_rows(name: str) -> bool:
    return name.rpartition("__")[2] in _STOPPING_ROWS


def _front_of(model: Any) -> str:
    """What stands before the names of the model's parameters in a pipeline."""
    front = ""
    while isinstance(model, Pipeline):
        name, model = model.steps[-1]
        front += f"{name}__"
    return front


def n_scored(task: Task, tested: Booleans, X: Any, y: Any) -> int:
    """How many of these rows are certainly tested rows of the task; 0 where that is not certain."""
    target, own = np.asarray(task.target), np.asarray(y)
    if X is task.X:
        return int(tested.sum())
    if len(own) == task.n_rows and np.array_equal(own, target) and _agreement(target) ** task.n_rows < _BY_CHANCE:
        return int(tested.sum())  # the same rows, perhaps behind the steps of a pipeline
    try:
        numbers = row_numbers(_stacked(task.X, X), np.concatenate([target, own]))
    except (TypeError, ValueError, InputError):  # rows that cannot be compared
        return 0
    ours, theirs = numbers[: task.n_rows], numbers[task.n_rows :]
    found = int(np.isin(theirs, ours[tested]).sum())
    by_chance = binom.sf(found - 1, len(own), _most_twins(ours))
    return found if by_chance < _BY_CHANCE else 0


def _most_twins(numbers: Indices) -> float:
    """The largest plausible share of new rows that are like one of these, from pairs of these that are alike."""
    times = np.unique(numbers, return_counts=True)[1]
    n_pairs = times[times > 1].sum() / 2
    most_pairs = chi2.ppf(1 - _BY_CHANCE, 2 * n_pairs + 2) / 2  # the upper limit of a Poisson mean
    return float(min(2 * most_pairs / len(numbers), 1.0))


def _agreement(target: Array) -> float:
    """How often two rows have the same target."""
    shares = np.unique(target, return_counts=True)[1] / len(target)
    return float((shares**2).sum())


def _stacked(X: Any, other: Any) -> Array:
    tables = [each.toarray() if hasattr(each, "toarray") else np.asarray(each) for each in (X, other)]
    return np.concatenate(tables)
