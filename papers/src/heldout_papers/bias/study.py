"""How biased each estimate is, where the truth is known (Tsamardinos, Greasidou & Borboudakis 2018, section 6.1).

C configurations have true accuracies from a Beta distribution; each of their N x C held-out predictions is right
with that probability, independently. The best of their scores is flattering, and the study measures by how much;
for areas under the ROC curve and for squared errors too.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from heldout._streams import RandomState, entropy_of
from heldout_papers.bias.matrix import BiasMatrix
from heldout_papers.bias.moments import BiasMoments, Moments, beta_text
from heldout_papers.bias.protocols import PROTOCOLS
from heldout_papers.bias.setting import ACCURACY, BETAS, CONFIGURATIONS, ROWS, BiasSetting, checked_settings
from heldout_papers.engine.arguments import checked_names, checked_sizes
from heldout_papers.engine.batches import Batch, BatchCallback, Columns, StudyJob, StudyPlan, study
from heldout_papers.engine.results import StudyResult, long_rows

BATCH = 25
"""Repetitions of a batch."""
WHAT = ("estimate", "truth")


def do_batch(batch: Batch[BiasSetting], entropy: int) -> Columns:
    """Estimate and truth of every protocol on each matrix of a batch."""
    setting = batch.setting
    found = {f"{name}.{what}": np.empty(batch.last - batch.first) for name in setting.protocols for what in WHAT}
    for place, repetition in enumerate(range(batch.first, batch.last)):
        matrix = BiasMatrix.drawn(setting, entropy, repetition)
        for name in setting.protocols:
            result = PROTOCOLS[name](matrix)
            found[f"{name}.estimate"][place] = result.estimate
            found[f"{name}.truth"][place] = matrix.truth[result.winner]
    return found


@dataclass(frozen=True, eq=False)
class BiasStudy(StudyResult):
    """The result of a bias study.

    Attributes
    ----------
    settings : tuple of BiasSetting
    repetitions : int
    columns : tuple of mapping
        One a setting: ``"bbc.estimate"``, ``"bbc.truth"`` and so on, arrays of shape (repetitions,), in the
        metric's units.
    entropy : int
    """

    settings: tuple[BiasSetting, ...]
    repetitions: int
    columns: tuple[Columns, ...]
    entropy: int
    name: ClassVar[str] = "bias"
    page_function: ClassVar[str] = "bias.page:bias_page"

    def parameters(self) -> dict[str, Any]:
        first = self.settings[0]
        prevalence = {} if first.prevalence is None else {"prevalence": first.prevalence}
        return {
            "metric": first.metric,
            **prevalence,
            "repetitions": self.repetitions,
            "folds": first.folds,
            "n_bootstraps": first.n_bootstraps,
            "protocols": list(first.protocols),
        }

    def moments(self) -> BiasMoments:
        """Means and covariances of the errors: a small table that is enough for every claim."""
        of = tuple(
            Moments.of(setting, columns) for setting, columns in zip(self.settings, self.columns, strict=True)
        )
        return BiasMoments(self.settings, self.repetitions, of, self.entropy)

    def rows(self) -> list[dict[str, Any]]:
        """A row a setting and protocol: the bias with its standard error, and the means of estimate and truth."""
        return self.moments().rows()

    def small_frames(self) -> dict[str, Any]:
        return {"moments": self.moments().to_frame()}

    def repetition_rows(self) -> Iterator[dict[str, Any]]:
        places = [
            {"rows": setting.rows, "configurations": setting.configurations, "beta": beta_text(setting)}
            for setting in self.settings
        ]
        return long_rows(places, self.columns, "protocol", self.settings[0].protocols, WHAT)


@study(BiasStudy)
def bias(
    rows: Any = ROWS,
    configurations: Any = CONFIGURATIONS,
    beta: Any = BETAS,
    *,
    metric: str = ACCURACY,
    prevalence: float | None = None,
    repetitions: int = 500,
    folds: int = 10,
    n_bootstraps: int = 1000,
    protocols: Sequence[str] = tuple(PROTOCOLS),
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    told: BatchCallback | None = None,
    random_state: RandomState = None,
) -> StudyJob[BiasSetting, BiasStudy]:
    """The bias of each protocol's estimate, for your numbers of rows, configurations and folds.

    For each setting and repetition C numbers P_j are drawn from Be(a, b), and N x C held-out predictions of
    configurations whose true performance they are:

    - ``accuracy``: right with probability P_j, each independently;
    - ``roc_auc``: scores N(0, 1) of rows of class 0 and N(μ_j, 1) of class 1, with μ_j = √2 Φ⁻¹(P_j), so that P_j
      is the true area; in each fold there are rows of both classes, as evenly as they go;
    - ``mean_squared_error``: of outcomes y ~ N(0, 1), predictions P_j (y + ε) with ε ~ N(0, 1/P_j - 1), so that
      P_j is the true R² and 1 - P_j the true error.

    Each protocol selects a configuration and estimates its performance; its bias is the estimate less the true
    performance of *its* choice (the choice from all rows for nested cross-validation), for an error truth less
    estimate: positive flatters.

    Parameters
    ----------
    rows, configurations : int or sequence of int
        N and C; the article's by default, which with its four ``beta`` are 196 settings.
    beta : sequence of (a, b)
    metric : {"accuracy", "roc_auc", "mean_squared_error"}
        The article's is accuracy.
    prevalence : float, optional
        The share of rows of class 1 for ``roc_auc``; .5 by default.
    repetitions : int, default=500
    folds : int, default=10
    n_bootstraps : int, default=1000
        Of ``bbc`` and ``bced``.
    protocols : sequence of {"cv", "tt", "nested_cv", "bbc", "bced"}
    n_jobs : int, optional
    folder : path, optional
        Where finished batches are kept; an interrupted study continues from them.
    told : callable, optional
        ``told(batches done, batches, seconds)`` after every batch.
    random_state : int, RandomState or Generator, optional
        The same repetitions are drawn for any number of them, any protocols and any ``n_jobs``.

    Returns
    -------
    BiasStudy
        ``.to_frame()``: a row a setting and protocol, with ``bias`` (positive: flattering) and ``standard_error``.

    Raises
    ------
    InputError
        Also for ``roc_auc`` with fewer rows of a class than folds.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), section 6.1 and figure 1. Scores of a known area: Paraschakis,
    Castellani, Borboudakis and Tsamardinos (2024), section 4.

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
    named = checked_names("protocols", protocols, PROTOCOLS)
    settings = checked_settings(rows, configurations, beta, folds, n_bootstraps, named, metric, prevalence)
    (repetitions,) = checked_sizes("repetitions", repetitions, 1)
    plan = StudyPlan("bias", settings, repetitions, entropy_of(random_state), do_batch)
    return StudyJob(
        plan, lambda columns: BiasStudy(settings, repetitions, tuple(columns), plan.entropy), BATCH,
        n_jobs=n_jobs, folder=folder, told=told,
    )  # fmt: skip
