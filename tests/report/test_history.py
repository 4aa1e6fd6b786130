"""The history of a search: what it would have reported after its first configurations."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.errors import InputError
from heldout.estimates.from_matrix import gather
from heldout.estimates.methods import answer, method_of
from heldout.result import Evaluation

Make = Callable[..., Evaluation]
history_of = ho.plots.SearchHistoryDisplay.from_search


@pytest.mark.parametrize(
    ("metric", "method"), [("roc_auc", "bbc"), ("neg_log_loss", "shrinkage"), ("accuracy", "tt")]
)
def test_each_point_is_the_estimate_of_a_search_of_so_many(make_evaluation: Make, metric: str, method: str) -> None:
    evaluation = make_evaluation(metrics=(metric,), method=method, configurations=5)
    found = history_of(evaluation)
    assert found.n_configurations.tolist() == [1, 2, 3, 4, 5]
    sign = found.metric.sign
    estimate = evaluation.estimate
    assert estimate is not None
    assert found.corrected[-1] == sign * estimate.value and found.uncorrected[-1] == sign * estimate.uncorrected
    predictions = evaluation.predictions
    first = replace(
        predictions, responses={kind: array[:, :3] for kind, array in predictions.responses.items()},
        names=predictions.names[:3],
    )  # fmt: skip
    question = replace(evaluation.question(), winner=None, params=evaluation.configurations.params[:3])
    alone = answer(method_of(method), gather(evaluation.task.truth, first, question))
    assert found.corrected[2] == sign * alone.value and found.best[2] == alone.selected_name
    if alone.interval is not None:
        assert sorted((found.low[2], found.high[2])) == sorted(sign * end for end in alone.interval)
    assert found.corrected[0] == pytest.approx(found.uncorrected[0]) or method == "tt"


def test_the_uncorrected_curve_is_the_best_so_far(make_evaluation: Make) -> None:
    evaluation = make_evaluation(configurations=6)
    found = history_of(evaluation)
    means = evaluation.fold_scores["roc_auc"].values.mean(axis=0)
    assert found.uncorrected == pytest.approx(np.maximum.accumulate(means))


def test_many_configurations_are_thinned_out_and_the_last_stays(make_evaluation: Make) -> None:
    found = history_of(make_evaluation(configurations=40))
    assert len(found.n_configurations) <= 24 and found.n_configurations[-1] == 40


def test_failed_ones_count_and_are_never_the_best(make_evaluation: Make) -> None:
    found = history_of(make_evaluation(failures={0: "no", 3: "no"}))
    assert found.n_configurations.tolist() == [2, 3, 4, 5, 6] and found.n_out == 2
    assert "model (C=1)" not in found.best and "model (C=4)" not in found.best


def test_the_method_is_that_of_the_search_and_an_unfit_one_is_refused(make_evaluation: Make) -> None:
    evaluation = make_evaluation(method=None)
    assert history_of(evaluation).method == "shrinkage"  # the usual one
    unfit: Any = replace(evaluation, estimation=replace(evaluation.estimation, method="conservative_z"))
    with pytest.raises(InputError, match="method 'conservative_z' does not fit"):
        history_of(unfit)


def test_adaptive_searches_are_noted(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    adaptive: Any = replace(evaluation, predictions=replace(evaluation.predictions, adaptive=True))
    assert history_of(adaptive).is_adaptive and not history_of(evaluation).is_adaptive
