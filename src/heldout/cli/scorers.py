"""From the name of a metric to the scorer that a search runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout.cli.options import about_option
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.execution.fit import Scoring, make_scoring
from heldout.metrics import check_fits, metric_named, scorer
from heldout.metrics.base import Failing, Metric, Response, quiet_if_foreign
from heldout.metrics.from_scorer import scorer_of_class


def scorer_of(name: str, truth: Truth) -> Any:
    """scikit-learn's scorer, or ours, by its name or a loss's own (``log_loss``)."""
    from sklearn.metrics import get_scorer, get_scorer_names

    measured = check_fits_named(name, truth)
    known = set(get_scorer_names())
    found = next(
        (known_as for known_as in (name, measured.name, f"neg_{measured.name}") if known_as in known), None
    )
    if found is None:
        return scorer(measured)
    _try_out(measured, name, truth)
    return get_scorer(found)


def check_fits_named(name: str, truth: Truth) -> Metric:
    """The metric of that name; one that does not fit the target is refused."""
    with about_option("--metric", name):
        return check_fits(metric_named(name), truth)


def _try_out(metric: Metric, name: str, truth: Truth) -> None:
    """Score the truth by itself with a foreign function: an error there would recur for all predictions."""
    if not metric.calls_foreign_code:
        return
    perfect = truth.values[:, None]
    if Response.LABELS not in metric.responses and truth.kind is TaskKind.BINARY:
        perfect = (perfect == truth.positive).astype(np.float64)
    elif Response.LABELS not in metric.responses and truth.kind is TaskKind.MULTICLASS:
        perfect = np.eye(truth.n_classes)[perfect]
    with quiet_if_foreign([metric]):
        statistic = metric.statistic(truth, perfect)
        statistic.all(np.ones((1, truth.n_rows), dtype=np.uint8))
    failures = statistic.failures if isinstance(statistic, Failing) else {}
    # A perfect score may be infinite or undefined; only errors of the function count.
    raised = next((message for message in failures if not message.startswith("the value ")), None)
    if raised:
        why = raised.partition(": ")[2].strip(" .")
        raise InputError(f"--metric {name} does not fit the {truth.kind.value} target ({why}); use another metric.")


def without_the_unable(
    entries: list[Any], metrics: Mapping[str, Metric | None]
) -> tuple[list[Any], list[str], str]:
    """Entries whose models give what the metrics need, the names of the others, and the metric that decides it."""
    opened = [metric for metric in metrics.values() if metric is not None]
    needing = [metric.name for metric in opened if set(metric.responses) == {Response.PROBABILITIES}]
    able = [entry for entry in entries if not needing or hasattr(entry[1], "predict_proba")]
    unable = [entry[0] for entry in entries if needing and not hasattr(entry[1], "predict_proba")]
    return able, unable, (needing or [metric.name for metric in opened])[0]


def scoring_of(names: Sequence[str], truth: Truth, keep: tuple[Response, ...]) -> Scoring:
    """The scorers of the metrics of these names; the first chooses the winner."""
    from sklearn.metrics import check_scoring

    scorers = {name: scorer_of(name, truth) for name in names}
    several = len(scorers) > 1
    gathered = check_scoring(scoring=scorers, raise_exc=False) if several else scorers[names[0]]
    of_class = scorer_of_class(gathered, truth, truth.pos_label)
    return make_scoring(truth, of_class, names[0] if several else "score", keep)
