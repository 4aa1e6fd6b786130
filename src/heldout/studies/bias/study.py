"""How biased each estimate is, where the truth is known (Tsamardinos, Greasidou & Borboudakis 2018, section 6.1).

C configurations have true accuracies from a Beta distribution; each of their N x C held-out predictions is right
with that probability, independently. Whoever quotes the best of them is flattered, and here it is seen by how much.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout._seeding import RandomState, entropy_of, stream
from heldout.errors import InputError
from heldout.estimates.types import frame_of
from heldout.kernels.draws import Draws, always
from heldout.metrics.row_losses import Finish, mean_of_errors
from heldout.studies.base import Batch, Columns, Study, Told, checked_sizes, run
from heldout.studies.bias.race import survivors

ROWS = (20, 40, 60, 80, 100, 500, 1000)
CONFIGURATIONS = (50, 100, 200, 300, 500, 1000, 2000)
BETAS = ((9.0, 6.0), (14.0, 6.0), (24.0, 6.0), (54.0, 6.0))
"""The article's: means of .6, .7, .8 and .9."""
DROPPING_THRESHOLD = 0.99
BATCH = 25
"""Repetitions that are done together."""

Wrong = NDArray[np.bool_]


@dataclass(frozen=True)
class BiasSetting:
    """One cell of the study's design.

    Attributes
    ----------
    rows, configurations, folds, n_bootstraps : int
        N, C, K and B.
    beta : (float, float)
        Of the distribution of true accuracies.
    protocols : tuple of str
    """

    rows: int
    configurations: int
    beta: tuple[float, float]
    folds: int
    n_bootstraps: int
    protocols: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Matrix:
    """One simulated search: what was predicted wrongly, and the truth.

    Attributes
    ----------
    wrong : ndarray of bool, shape (N, C)
    truth : ndarray of shape (C,)
        The true accuracies.
    starts : ndarray of int, shape (K,)
        The first row of each fold.
    setting : BiasSetting
    seed : int
        Of the bootstraps, which all protocols share.
    """

    wrong: Wrong
    truth: NDArray[np.float64]
    starts: NDArray[np.intp]
    setting: BiasSetting
    seed: int

    @classmethod
    def drawn(cls, setting: BiasSetting, entropy: int, repetition: int) -> Matrix:
        """The matrix of a repetition."""
        place = [str(part) for part in (setting.rows, setting.configurations, *setting.beta, repetition)]
        rng = np.random.Generator(np.random.Philox(key=stream(entropy, "study bias", *place)))
        truth = rng.beta(*setting.beta, size=setting.configurations)
        wrong = rng.random((setting.rows, setting.configurations), dtype=np.float32) >= truth
        starts = np.arange(setting.folds) * setting.rows // setting.folds
        return cls(wrong, truth, starts, setting, stream(entropy, "study bias draws", *place))

    @property
    def fold_sizes(self) -> NDArray[np.intp]:
        return np.diff(np.append(self.starts, len(self.wrong)))

    @property
    def right_by_fold(self) -> NDArray[np.int64]:
        """(K, C): right predictions of each configuration in each fold."""
        wrong = np.add.reduceat(self.wrong, self.starts, axis=0, dtype=np.int64)
        return self.fold_sizes[:, None] - wrong

    @property
    def winner(self) -> int:
        """The best on all rows, the first of those that tie."""
        return int(self.right_by_fold.sum(axis=0).argmax())

    def counts(self) -> NDArray[np.uint8]:
        """(B, N): how often each bootstrap drew each row; it leaves one out at least."""
        n = len(self.wrong)
        draws = Draws(self.seed, self.setting.n_bootstraps, np.arange(n), always, _some)
        return draws.block(0, self.setting.n_bootstraps)[0]


def _some(counts: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return np.asarray(counts.any(axis=1))


@dataclass(frozen=True)
class Found:
    """What a protocol says of a matrix: an estimate, and which configuration it is of."""

    estimate: float
    winner: int


def cross_validation(matrix: Matrix) -> Found:
    """CVT: the winner's accuracy over all rows (algorithm 2)."""
    right = matrix.right_by_fold.sum(axis=0)
    winner = int(right.argmax())
    return Found(float(right[winner] / len(matrix.wrong)), winner)


def tibshirani(matrix: Matrix) -> Found:
    """TT: CVT less the mean over folds of (best in the fold - winner's) (algorithm 4)."""
    accuracy = matrix.right_by_fold / matrix.fold_sizes[:, None]
    means = accuracy.mean(axis=0)
    winner = int(means.argmax())
    return Found(float(means[winner] - (accuracy.max(axis=1) - accuracy[:, winner]).mean()), winner)


def nested(matrix: Matrix) -> Found:
    """NCV on a matrix: in each fold the best of the other folds is scored; the truth is the full winner's."""
    right = matrix.right_by_fold
    chosen = (right.sum(axis=0) - right).argmax(axis=1)
    scores = right[np.arange(len(right)), chosen] / matrix.fold_sizes
    return Found(float(scores.mean()), matrix.winner)


def bbc(matrix: Matrix) -> Found:
    """BBC-CV (algorithm 5)."""
    return Found(_corrected(matrix.wrong, matrix.counts()), matrix.winner)


def bced(matrix: Matrix) -> Found:
    """BCED-CV: configurations are dropped from the first fold on, and BBC corrects the choice among the others."""
    alive = survivors(matrix.wrong, matrix.starts, DROPPING_THRESHOLD)
    wrong = np.ascontiguousarray(matrix.wrong[:, alive])
    return Found(_corrected(wrong, matrix.counts()), int(alive[wrong.sum(axis=0).argmin()]))


def _corrected(wrong: Wrong, counts: NDArray[np.uint8]) -> float:
    return float(mean_of_errors(wrong, Finish.COMPLEMENT).best_out_of_bag(counts).values.mean())


PROTOCOLS: Mapping[str, Callable[[Matrix], Found]] = MappingProxyType(
    {"cv": cross_validation, "tt": tibshirani, "nested_cv": nested, "bbc": bbc, "bced": bced}
)


def do_batch(batch: Batch[BiasSetting], entropy: int) -> Columns:
    """Estimate and truth of every protocol on each matrix of a batch."""
    setting = batch.setting
    found = {f"{name}.{what}": np.empty(batch.last - batch.first) for name in setting.protocols for what in WHAT}
    for place, repetition in enumerate(range(batch.first, batch.last)):
        matrix = Matrix.drawn(setting, entropy, repetition)
        for name in setting.protocols:
            said = PROTOCOLS[name](matrix)
            found[f"{name}.estimate"][place] = said.estimate
            found[f"{name}.truth"][place] = matrix.truth[said.winner]
    return found


WHAT = ("estimate", "truth")


@dataclass(frozen=True, eq=False)
class BiasStudy:
    """What came of it.

    Attributes
    ----------
    settings : tuple of BiasSetting
    repetitions : int
    columns : tuple of mapping
        One a setting: ``"bbc.estimate"``, ``"bbc.truth"`` and so on, arrays of shape (repetitions,).
    entropy : int
    """

    settings: tuple[BiasSetting, ...]
    repetitions: int
    columns: tuple[Columns, ...]
    entropy: int
    name: ClassVar[str] = "bias"

    def asked(self) -> dict[str, Any]:
        """What all settings share."""
        first = self.settings[0]
        return {
            "repetitions": self.repetitions,
            "folds": first.folds,
            "n_bootstraps": first.n_bootstraps,
            "protocols": list(first.protocols),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row a setting and protocol: the mean of estimate - truth with its standard error, and both means."""
        found = []
        for setting, columns in zip(self.settings, self.columns, strict=True):
            for name in setting.protocols:
                estimate, truth = columns[f"{name}.estimate"], columns[f"{name}.truth"]
                bias = estimate - truth
                spread = float(bias.std(ddof=1)) if len(bias) > 1 else float("nan")
                found.append(
                    {
                        "rows": setting.rows,
                        "configurations": setting.configurations,
                        "beta": f"{setting.beta[0]:g},{setting.beta[1]:g}",
                        "protocol": name,
                        "bias": float(bias.mean()),
                        "standard_error": spread / np.sqrt(len(bias)),
                        "estimate": float(estimate.mean()),
                        "truth": float(truth.mean()),
                        "repetitions": self.repetitions,
                    }
                )
        return found

    def to_frame(self, *, each: bool = False) -> Any:
        """A row a setting and protocol, as a pandas DataFrame (pandas comes with the extra ``app``).

        Parameters
        ----------
        each : bool
            A row a repetition and protocol instead: its estimate and truth.
        """
        return frame_of(self._each() if each else self.rows(), "BiasStudy.to_frame")

    def _each(self) -> list[dict[str, Any]]:
        return [
            {
                "rows": setting.rows,
                "configurations": setting.configurations,
                "beta": f"{setting.beta[0]:g},{setting.beta[1]:g}",
                "protocol": name,
                "repetition": repetition,
                **{what: float(columns[f"{name}.{what}"][repetition]) for what in WHAT},
            }
            for setting, columns in zip(self.settings, self.columns, strict=True)
            for name in setting.protocols
            for repetition in range(self.repetitions)
        ]


def bias(
    rows: Any = ROWS,
    configurations: Any = CONFIGURATIONS,
    beta: Any = BETAS,
    *,
    repetitions: int = 500,
    folds: int = 10,
    n_bootstraps: int = 1000,
    protocols: Sequence[str] = tuple(PROTOCOLS),
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    told: Told | None = None,
    random_state: RandomState = None,
) -> BiasStudy:
    """The bias of each protocol's estimate of accuracy, for your numbers of rows, configurations and folds.

    For each setting and repetition C true accuracies P_j are drawn from Be(a, b), and an N x C matrix of
    predictions that are right with probability P_j. Each protocol chooses a configuration and says how good it is;
    its bias is that estimate less the true accuracy of *its* choice (that of all rows for nested cross-validation).

    Parameters
    ----------
    rows, configurations : int or sequence of int
        N and C; the article's by default, which with its four ``beta`` are 196 settings.
    beta : sequence of (a, b)
    repetitions : int, default=500
    folds : int, default=10
    n_bootstraps : int, default=1000
        Of ``bbc`` and ``bced``.
    protocols : sequence of {"cv", "tt", "nested_cv", "bbc", "bced"}
    n_jobs : int, optional
    folder : path, optional
        Where finished batches are kept; a study that was interrupted goes on where it was.
    told : callable, optional
        ``told(batches done, batches, seconds)`` after every batch.
    random_state : int, RandomState or Generator, optional
        The same repetitions are drawn whatever their number, the protocols and ``n_jobs``.

    Returns
    -------
    BiasStudy
        ``.to_frame()``: a row a setting and protocol, with ``bias`` (positive: flattering) and ``standard_error``.

    Raises
    ------
    InputError

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), section 6.1 and figure 1.

    Examples
    --------
    >>> found = bias(rows=40, configurations=100, beta=[(9, 6)], repetitions=20, n_bootstraps=200, random_state=0)
    >>> for row in found.rows():
    ...     print(f"{row['protocol']:9} {row['bias']:+.2f}")
    cv        +0.09
    tt        +0.00
    nested_cv +0.02
    bbc       -0.02
    bced      -0.01
    """
    study = bias_plan(
        rows, configurations, beta,
        repetitions=repetitions, folds=folds, n_bootstraps=n_bootstraps, protocols=protocols,
        random_state=random_state,
    )  # fmt: skip
    columns = run(study, batch_size=BATCH, n_jobs=n_jobs, folder=folder, told=told)
    return BiasStudy(study.settings, study.repetitions, tuple(columns), study.entropy)


def bias_plan(
    rows: Any = ROWS,
    configurations: Any = CONFIGURATIONS,
    beta: Any = BETAS,
    *,
    repetitions: int = 500,
    folds: int = 10,
    n_bootstraps: int = 1000,
    protocols: Sequence[str] = tuple(PROTOCOLS),
    random_state: RandomState = None,
) -> Study[BiasSetting]:
    """What ``bias`` would do, checked, with nothing done yet.

    Raises
    ------
    InputError
    """
    named = _checked_protocols(protocols)
    sizes = checked_sizes("rows", rows, 2), checked_sizes("configurations", configurations, 2)
    (folds,), (repetitions,) = checked_sizes("folds", folds, 2), checked_sizes("repetitions", repetitions, 1)
    (n_bootstraps,) = checked_sizes("n_bootstraps", n_bootstraps, 1)
    if min(sizes[0]) < folds:
        raise InputError(f"folds must be at most the number of rows, got folds={folds} and rows={min(sizes[0])}.")
    settings = tuple(
        BiasSetting(n, c, pair, folds, n_bootstraps, named) for pair, n, c in product(_checked_beta(beta), *sizes)
    )
    return Study("bias", settings, repetitions, entropy_of(random_state), do_batch)


def _checked_protocols(protocols: Any) -> tuple[str, ...]:
    listed = [protocols] if isinstance(protocols, str) else list(protocols)
    stranger = next((name for name in listed if name not in PROTOCOLS), None)
    if stranger is not None or not listed:
        raise InputError(f"protocols must be some of {', '.join(PROTOCOLS)}, got {protocols!r}.")
    return tuple(dict.fromkeys(listed))


def _checked_beta(beta: Any) -> tuple[tuple[float, float], ...]:
    try:
        pairs = np.asarray(beta, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        pairs = np.empty((0, 2))
    if not len(pairs) or not np.isfinite(pairs).all() or (pairs <= 0).any():
        raise InputError(f"beta must be pairs of numbers above 0, such as [(9, 6)], got {beta!r}.")
    return tuple((float(a), float(b)) for a, b in pairs)
