"""``ho.estimate``: the corrected performance from a matrix of held-out predictions that anyone made."""

from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from heldout import _defaults
from heldout._registry import function_of
from heldout._streams import RandomState
from heldout._text import is_one_of
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.estimates.input_arrays import FittedSearch, ResponseName
from heldout.estimates.inputs import read_inputs, warn_of
from heldout.estimates.methods import answer, method_of
from heldout.estimates.question import AnyAggregate, BlockLength
from heldout.estimates.types import Alternative, Estimate


@runtime_checkable
class StoredSearch(Protocol):
    """Where a search keeps its results and what its estimate reads, such as a store."""

    def estimate_so_far(self, n_jobs: int | None = None) -> Estimate:
        """The estimate from what is complete."""


def estimate(
    y_true: Any,
    predictions: Any = None,
    *,
    metric: Any = None,
    method: Any = None,
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
) -> Estimate:
    """Estimate the performance of the best of C configurations from their held-out predictions.

    Predictions of a search of heldout remember its settings: metric, method, aggregate, selection, interval, seed,
    groups and weights. They are the defaults here, so that ``ho.estimate(y, search.predictions_)`` is
    ``search.estimate_``. An argument that differs replaces what is remembered, with a warning. Some of the
    configurations (``predictions.of([...])``) remember only metric, aggregate and positive class.

    Parameters
    ----------
    y_true : array-like of shape (N,)
        Labels of one type, or numbers for a regression metric; no missing or masked value. For a survival metric:
        scikit-survival's structured array, a table or list of (event, time), or a tuple of the two columns. Other
        inputs replace ``y_true`` and ``predictions`` together:

        - a fitted search of heldout, whose ``estimate_`` is returned;
        - the ``store`` of a search, such as the path of its run file ("run.db"). The search may be unfinished or
          running; the estimate uses the folds that are complete for all remaining configurations (flag
          ``unfinished_search``);
        - the result of ``ho.read_predictions``: true values, predictions, folds, groups, weights of another tool;
        - with ``metric="mean_score"``, scores of rows, such as right (1) or wrong (0), in the shape of
          ``predictions``.
    predictions : array-like, table or HeldOutPredictions, optional
        The prediction of each row by each configuration, from a model that had not seen the row: (N, C), (N, C, R
        repeats) or (N, C, R, n_classes or n_times), always in that order. NaN (None for labels) or masked if there
        is none. Columns and tables of pandas and polars are accepted, here and below. Pandas rows with the index of
        ``y_true`` in another order are matched to it, unless one of the two indexes is 0 … n-1; indexes that
        contradict each other otherwise are refused.
    metric : str or Metric, optional
        A scikit-learn scorer name (``neg_`` values are negative, as there), a plain function name (``log_loss``,
        ``mean_squared_error``, ...), or ``ho.metrics.custom(...)``. Needed unless the predictions remember it.
    method : str or method, default="shrinkage"
        A name of ``ho.estimates.METHODS``, or a configured method of ``ho.estimates``. A method that does not apply
        is refused, and the message names those that do.
    folds : array-like of shape (N,) or (N, R), optional
        The fold in which each row was held out; needed by "tt", "bbc_f" and ``aggregate="folds"`` or "within".
    groups : array-like of shape (N,), optional
        The group of each row; bootstraps draw groups whole.
    sample_weight : array-like of shape (N,), optional
        Importance weights. Only their ratios matter: they are divided by their mean, so equal weights change
        nothing.
    aggregate : "auto", "pooled", "folds" or "within", optional
        How predictions become a score. "pooled" is the metric on all rows of a repeat and "folds" its mean over
        folds; both are averaged over repeats. "within" is for metrics made of pairs (AUC, concordance, Somers' D):
        the share of correctly ordered pairs among all pairs of rows of one fold and repeat, which does not compare
        scores of different folds' models. The default is "pooled", as published, or "within" if the scores of the
        folds are clearly not on one scale (flag ``incomparable_folds``). "auto" is the default of searches: the
        mean over folds selects, and the value of metrics other than means over rows or pairs is computed on all
        rows together. "tt" and "bbc_f" always use the mean over folds.
    selection : str, rule or callable, default="best"
        How the winner is chosen, on the data and again in every bootstrap: "best", "one_standard_error", a rule of
        ``ho.selection`` (``Within(0.01)``, ``AverageRank([...])``, ...), or a function from scores (B, C), greater
        is better, to indices (B,). "top_k" and "greedy_ensemble" choose an average of configurations, "threshold" a
        decision threshold together with the configuration; ``provenance`` then holds ``weights`` or ``threshold``.
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    alternative : "two-sided", "greater" or "less", default="two-sided"
        "greater" bounds how bad the performance can be, "less" how good.
    classes : array-like, optional
        The labels in the order of the last axis of ``predictions``; sorted unique ``y_true`` by default.
    pos_label : label, optional
        The positive class of a binary task, to which scores and probabilities refer; the last of ``classes`` by
        default.
    response : {"auto", "labels", "probabilities", "decision"}, default="auto"
        What ``predictions`` are. "auto" raises an error if this matters and cannot be inferred: only 0 and 1 with
        the first class as the positive one, or numbers beyond [0, 1] that all lie on one side of 0.
    threshold : float, optional
        For a metric of labels: scores above it are positive. By default .5 for probabilities and 0 for decisions.
    adaptive : bool, default=False
        Whether the configurations were proposed or dropped because of scores on these rows (by Optuna, successive
        halving, an evolution). The estimate is then flagged (``adaptive_search``): part of the optimism remains.
    block_length : int, "auto", str or ``ho.estimates.Blocks``, optional
        Rows per block, for bootstraps that draw blocks of consecutive rows; the rows must be in the order of time
        (flag ``row_blocks``). "auto" is the length of Politis and White (2004); "stationary:12" names the kind as
        well, "moving" by default; 1 draws single rows. By default blocks of the automatic length are drawn for
        predictions of a search whose folds follow time, and single rows (or groups) otherwise.
    n_rows_of_bootstrap : int, None or "auto", default="auto"
        With more rows, bootstraps draw from a random part of about this many (whole groups; stretches of rows in
        the order of time; classes in proportion, but at least 2000 rows of each class, or all), and their noise is
        scaled to all rows. Value and uncorrected score are those of all rows (flag ``noise_of_a_part``). None draws
        from all rows, as for ensembles. "auto" is the number of the search that made the predictions, else 50000.
    random_state : int, RandomState or Generator, optional
        Seeds the bootstraps. The same seed gives the same bits, for any ``n_jobs``.
    n_jobs : int, optional
        The number of threads.

    Returns
    -------
    Estimate
        In the metric's own direction and units.

    Raises
    ------
    InputError
        When the input cannot be used, a setting has no effect, or ``y_true`` is not the target of the search that
        made the predictions.

    Warns
    -----
    HeldoutWarning
        When configurations failed, or there is no estimate; the flags say so too. When an argument differs from the
        remembered settings, or the search's own estimate is not a function of the predictions.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), algorithms 2, 4 and 5.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> guesses = rng.random((200, 50))  # 50 configurations that know nothing
    >>> found = ho.estimate(y, guesses, metric="roc_auc", random_state=0)
    >>> found.uncorrected > 0.55, found.value < 0.55
    (True, True)
    """
    asked: dict[str, Any] = {
        "predictions": predictions, "metric": metric, "method": method, "folds": folds, "groups": groups,
        "sample_weight": sample_weight, "aggregate": aggregate, "selection": selection,
        "n_bootstraps": n_bootstraps, "confidence_level": confidence_level, "alternative": alternative,
        "classes": classes, "pos_label": pos_label, "response": response, "threshold": threshold,
        "adaptive": adaptive, "block_length": block_length, "n_rows_of_bootstrap": n_rows_of_bootstrap,
        "random_state": random_state,
    }  # fmt: skip
    beside = {name: value for name, value in asked.items() if not is_one_of(value, (USUAL.get(name),))}
    if isinstance(y_true, str | PathLike):
        y_true = _store_at(y_true)
    if isinstance(y_true, StoredSearch):
        for name, value in beside.items():
            raise InputError(
                f"a store is passed, whose search has its own settings, so {name} must be left out, got "
                f"{shortened(value)}; pass n_jobs alone beside it.",
                argument=name,
            )
        return y_true.estimate_so_far(n_jobs)
    # Nothing is computed again where nothing else is asked: the estimate of the search is the answer, bit by bit.
    if isinstance(y_true, FittedSearch) and y_true.estimate_ is not None and not beside:
        of_search: Estimate = y_true.estimate_
        return of_search
    asked["method"] = None if method is None else method_of(method)
    inputs = read_inputs(y_true, **asked, n_jobs=n_jobs)
    chosen = inputs.method or method_of(_defaults.METHOD)
    result = answer(chosen, inputs.evidence(chosen))
    warn_of(result, stacklevel=2)
    return result


USUAL = {"response": _defaults.RESPONSE, "adaptive": False, "n_rows_of_bootstrap": "auto"}
"""The defaults that are not None."""


def _store_at(path: str | PathLike[str]) -> StoredSearch:
    """The store in a run file."""
    if not Path(path).is_file():
        raise InputError(
            f"y_true must be the true values, or a search's store, and there is no run file {str(path)!r}; pass "
            "the path that was the store of a search, or the true values as an array."
        )
    store: StoredSearch = function_of("store")(path)
    return store
