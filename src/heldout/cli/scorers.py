"""From the name of a metric to the scorer that a search runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout.cli.options import about_option
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.execution.fit import Scoring, make_scoring
from heldout.metrics import check_fits, metric_named
from heldout.metrics.base import Failing, Metric, Response, quiet_if_foreign

_OF_ONE_CLASS = ("f1", "precision", "recall", "jaccard", "average_precision", "neg_brier_score")
"""Scorers that by default take the class 1 as positive, and so fail on other labels."""


def scorer_of(name: str, truth: Truth) -> Any:
    """scikit-learn's scorer for the positive class of the target, by its name or a loss's own (``log_loss``)."""
    from sklearn.metrics import get_scorer, get_scorer_names

    measured = check_fits_named(name, truth)
    known = set(get_scorer_names())
    found = next(
        (known_as for known_as in (name, measured.name, f"neg_{measured.name}") if known_as in known), None
    )
    if found is None:
        return _own_scorer(measured, name, truth)
    if truth.kind is TaskKind.BINARY and found in _OF_ONE_CLASS:
        return _scorer_for(found, truth.pos_label)
    _try_out(measured, name, truth)
    return get_scorer(found)


def _own_scorer(metric: Metric, name: str, truth: Truth) -> Any:
    """The scorer of a metric that scikit-learn lacks."""
    from heldout.metrics import scorer

    if truth.positive not in (None, truth.n_classes - 1):
        raise InputError(
            f"--metric {name} takes the last class in order as positive, got --positive {truth.pos_label}; leave "
            "the option out, or use a metric of scikit-learn."
        )
    return scorer(metric)


def check_fits_named(name: str, truth: Truth) -> Metric:
    """The metric of that name; one that does not fit the target is refused."""
    with about_option("--metric", name):
        measured = metric_named(name)
        # A metric of one class learns later which class that is.
        return measured if name in _OF_ONE_CLASS and truth.kind in measured.tasks else check_fits(measured, truth)


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


def _scorer_for(name: str, positive: Any) -> Any:
    from sklearn.metrics import (
        average_precision_score,
        brier_score_loss,
        f1_score,
        jaccard_score,
        make_scorer,
        precision_score,
        recall_score,
    )

    on_labels = {"f1": f1_score, "precision": precision_score, "recall": recall_score}
    on_labels["jaccard"] = jaccard_score
    if name in on_labels:
        return make_scorer(on_labels[name], pos_label=positive)
    if name == "average_precision":
        ranked = ("decision_function", "predict_proba")
        return make_scorer(average_precision_score, response_method=ranked, pos_label=positive)
    return make_scorer(
        brier_score_loss, response_method="predict_proba", greater_is_better=False, pos_label=positive
    )


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
    if len(scorers) == 1:
        return make_scoring(truth, scorers[names[0]], keep=keep)
    return make_scoring(truth, check_scoring(scoring=scorers, raise_exc=False), names[0], keep)
