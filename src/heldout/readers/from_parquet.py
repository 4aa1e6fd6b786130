"""``ho.estimates.estimate_from_parquet``: an estimate from a file larger than memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heldout._defaults import DEFAULT_METHOD
from heldout._random import RandomState
from heldout.estimates.out_of_core.estimating import block_method_of, check_summable, estimate_from_blocks
from heldout.estimates.question import checked_adaptive
from heldout.estimates.responses import ResponseName
from heldout.estimates.types import Alternative, Estimate
from heldout.metrics import metric_named
from heldout.readers.parquet_blocks import open_blocks


def estimate_from_parquet(
    path: str | Path,
    *,
    target: str,
    metric: Any,
    method: Any = DEFAULT_METHOD,
    configurations: Sequence[str] | None = None,
    pos_label: Any = None,
    response: ResponseName = "auto",
    threshold: float | None = None,
    adaptive: bool = False,
    n_bootstraps: int = 1000,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    n_bins: int = 1024,
) -> Estimate:
    """Estimate the performance of the best of C configurations from a Parquet file larger than memory.

    The estimate is that of ``heldout.estimate`` on the pooled rows, with the selection rule "best" and without
    folds, repeats, groups or weights. Each bootstrap draws from all rows, divided into blocks of 65 536 rows. A
    file of one block gives the same result as ``heldout.estimate`` for the same seed.

    Parameters
    ----------
    path : str or Path
        A Parquet file with a line per row and a column per configuration, at a path that every worker can read.
    target : str
        The column of true values.
    metric : str or Metric
        A mean of one loss per row (accuracy, log loss, Brier, squared and absolute error, ...), which is exact:
        losses are summed as whole numbers. Or ``roc_auc``, from scores in ``n_bins`` bins, with a bound on the
        error of binning.
    method : str or method, default="shrinkage"
        "shrinkage", or "bbc", whose ``control`` may be set.
    configurations : sequence of str, optional
        The columns of predictions; all but the target by default.
    pos_label : label, optional
        The positive class of a binary task; the last in order by default.
    response, threshold, adaptive
        As in ``heldout.estimate``.
    n_bootstraps, confidence_level, alternative
        As in ``heldout.estimate``.
    random_state : int, RandomState, Generator or None
        The same seed gives the same bits, for any ``n_jobs``, backend and layout of the file.
    n_jobs : int, optional
        Workers: threads, unless ``joblib.parallel_config`` sets processes or a cluster. Each holds a block and the
        sums of some bootstraps, about 150 MB for 20 configurations. "shrinkage" also keeps the score of every
        configuration in every bootstrap, a few times 8 bytes each.
    n_bins : int
        For ``roc_auc``: the number of bins of each configuration's scores, found on an even sample of the rows.

    Returns
    -------
    Estimate
        In the metric's own direction and units. ``provenance["error_bound_uncorrected"]`` bounds the error of
        binning in the uncorrected score (0 for row-wise metrics). With "bbc", ``"error_bound"`` bounds it in the
        value, and ``"selections_certain"`` is the share of bootstraps whose selection certainly agrees with exact
        scores.

    Raises
    ------
    InputError
        When a value is missing or infinite, or the file, target or metric cannot be used.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), algorithm 5, for bbc; Salmon et al. (2011) for the draws.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from heldout.estimates import estimate_from_parquet
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame(rng.random((200, 50)), columns=[f"c{j}" for j in range(50)])
    >>> table["y"] = rng.integers(0, 2, 200)
    >>> table.to_parquet("guesses.parquet")  # doctest: +SKIP
    >>> estimate = estimate_from_parquet("guesses.parquet", target="y", metric="roc_auc")  # doctest: +SKIP
    """
    checked = metric_named(metric)
    check_summable(checked)
    block_method_of(method)
    source = open_blocks(path, target, checked, configurations=configurations, pos_label=pos_label)
    if checked_adaptive(adaptive):
        source = replace(source, adaptive=True)
    return estimate_from_blocks(
        source,
        checked,
        method=method,
        response=response,
        threshold=threshold,
        n_bootstraps=n_bootstraps,
        confidence_level=confidence_level,
        alternative=alternative,
        random_state=random_state,
        n_jobs=n_jobs,
        n_bins=n_bins,
    )
