"""Configurations with their scores and intervals, slices through their parameters, and the history of a search."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.errors import InputError
from heldout.estimates.bootstrap import draws_of
from heldout.estimates.from_matrix import gather
from heldout.estimates.methods import answer, method_of
from heldout.report.configuration_scores import (
    ConfigurationScores,
    compared_scores,
    comparison_of_search,
    configuration_scores,
    evidence_of_search,
    search_scale,
)
from heldout.report.displays.parameters import (
    ParameterPlaneDisplay,
    ParameterSliceDisplay,
    paired_parameters,
    parameter_axis,
    parameter_named,
    parameters_searched,
)
from heldout.report.ranking import rank_configurations
from heldout.result import Evaluation
from heldout.scales import Scale

Make = Callable[..., Evaluation]


def of(params: list[dict[str, Any]], scores: list[float], *, losses: bool = False, **changes: Any) -> Any:
    n = len(params)
    values = np.array(scores)
    made = ConfigurationScores(
        Scale("score", "", not losses), tuple(f"c{j}" for j in range(n)), tuple(params), values, values - 0.1,
        values + 0.1, 0.95, np.ones(n, dtype=bool), None, int(np.nanargmin(values if losses else -values)),
    )  # fmt: skip
    return replace(made, **changes)


def test_intervals_are_the_order_statistics_of_scores_on_the_drawn_rows(make_evaluation: Make) -> None:
    evaluation = make_evaluation(metrics=("accuracy",), method="bbc")
    evaluation = replace(evaluation, estimation=replace(evaluation.estimation, aggregate="pooled"))
    found = configuration_scores(evaluation)
    evidence = evidence_of_search(evaluation)
    counts, _ = draws_of(evidence).block(0, 200)
    right = evaluation.predictions.responses["labels"][:, 2, 0] == evaluation.task.truth.values  # type: ignore[index]
    drawn = np.sort(counts @ right / counts.sum(axis=1))
    assert found.scores[2] == pytest.approx(right.mean())
    assert (found.low[2], found.high[2]) == pytest.approx((drawn[4], drawn[194]))  # the 5th and 195th of 200


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss"])
def test_scores_and_order_are_those_of_the_ranking(make_evaluation: Make, metric: str) -> None:
    evaluation = make_evaluation(metrics=(metric,), failures={1: "no"})
    found = configuration_scores(evaluation)
    ranking = rank_configurations(
        evaluation.configurations.names, search_scale(evaluation, metric),
        fold_scores=evaluation.fold_scores[metric].values, pooled=None, selected=None, winner=evaluation.winner,
        failures={1: "no"}, by_mean=True,
    )  # fmt: skip
    assert found.order.tolist() == [row.index for row in ranking.shown]
    assert found.scores[found.order].tolist() == pytest.approx([row.mean for row in ranking.shown])
    assert np.isnan(found.scores[1]) and np.isnan(found.low[1]) and not found.is_candidate[1]
    inside = found.order
    assert (found.low[inside] <= found.scores[inside]).all() and (found.scores[inside] <= found.high[inside]).all()
    assert found.not_worse is not None and found.not_worse[evaluation.winner]


def test_dropped_configurations_keep_the_score_of_their_splits(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    scores = evaluation.fold_scores["roc_auc"]
    values = scores.values.copy()
    values[2:, 0] = np.nan
    dropped = replace(
        evaluation,
        fold_scores={"roc_auc": replace(scores, values=values)},
        predictions=replace(evaluation.predictions, dropped={0: "behind"}),
    )
    found = configuration_scores(dropped)
    assert found.scores[0] == pytest.approx(scores.values[:2, 0].mean())
    assert not found.is_candidate[0] and 0 not in found.order and np.isnan(found.low[0])


def test_scores_of_a_comparison_are_those_of_the_search(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    comparison = comparison_of_search(evaluation)
    own, compared = configuration_scores(evaluation), compared_scores(comparison)
    assert np.allclose(own.scores, compared.scores) and np.array_equal(own.low, compared.low)
    assert compared.params == ({},) * 6 and compared.winner == evaluation.winner


def test_a_scorer_that_cannot_be_opened_has_no_intervals(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    closed = replace(evaluation, metrics={"roc_auc": None})
    found = configuration_scores(closed)
    assert np.isnan(found.low).all() and found.not_worse is None
    assert np.allclose(found.scores, configuration_scores(evaluation).scores)
    with pytest.raises(InputError, match="the scorer 'roc_auc' cannot be opened"):
        comparison_of_search(closed)
    with pytest.raises(InputError, match=r"scorer must be one of the search's scorers \(roc_auc\), got 'x'"):
        evidence_of_search(evaluation, "x")


def test_of_many_candidates_no_set_is_found(make_evaluation: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = make_evaluation()
    assert configuration_scores(evaluation, finds_set=False).not_worse is None
    monkeypatch.setattr("heldout.report.configuration_scores.MOST_IN_SETS", 5)
    assert configuration_scores(evaluation).not_worse is None


def test_a_slice_has_the_best_at_each_value() -> None:
    grid = [{"clf__C": c, "kind": kind} for c in (0.01, 1, 100) for kind in ("a", "b")]
    scores = of(grid, [0.5, 0.6, 0.9, 0.7, 0.6, 0.6])
    found = ParameterSliceDisplay.of_scores(scores, "C")
    assert found.best.tolist() == [1, 2, 4] and not found.in_eighths  # of equal ones the first
    assert found.axis.is_logarithmic and found.axis.title == "C" and found.axis.name == "clf__C"
    losses = of(grid, [0.5, 0.6, 0.9, 0.7, 0.6, 0.6], losses=True)
    assert ParameterSliceDisplay.of_scores(losses, "C").best.tolist() == [0, 3, 4]
    kinds = ParameterSliceDisplay.of_scores(scores, "kind")
    assert kinds.axis.levels == ("a", "b") and kinds.best.tolist() == [2, 3] and not kinds.axis.is_numeric


def test_a_dropped_configuration_is_the_best_at_a_value_only_alone() -> None:
    scores = of([{"k": 1}, {"k": 1}, {"k": 2}], [0.9, 0.5, 0.8], is_candidate=np.array([False, True, False]))
    assert ParameterSliceDisplay.of_scores(scores, "k").best.tolist() == [1, 2]


def test_of_many_numbers_the_best_of_each_eighth_is_taken() -> None:
    values = np.arange(16.0) + 1
    scores = of([{"x": value} for value in values], np.sin(values).tolist())
    found = ParameterSliceDisplay.of_scores(scores, "x")
    pairs = np.sin(values).reshape(8, 2)
    assert found.in_eighths and found.best.tolist() == (2 * np.arange(8) + pairs.argmax(axis=1)).tolist()


def test_levels_are_sorted_and_numbers_stand_first() -> None:
    scores = of([{"d": value} for value in (None, 10, 2, "sqrt", True)], [0.1] * 5)
    assert parameter_axis(scores, "d").levels == ("2", "10", "None", "True", "sqrt")


def test_infinite_and_missing_values_are_levels() -> None:
    scores = of([{"C": value} for value in (np.inf, np.nan, 10.0, 0.1)], [0.1] * 4)
    axis = parameter_axis(scores, "C")
    assert axis.levels == ("0.1", "10.0", "inf", "nan") and axis.values.tolist() == [2, 3, 1, 0]


def test_the_most_influential_parameter_comes_first() -> None:
    grid = [{"weak": w, "strong": s, "fixed": 1} for w in (1, 2) for s in (1, 2)]
    scores = of(grid, [0.1, 0.9, 0.2, 1.0])
    assert parameters_searched(scores) == ("strong", "weak")
    assert paired_parameters(scores) == ("strong", "weak")


def test_a_plane_has_the_best_at_each_pair() -> None:
    grid = [{"a": a, "b": b, "c": c} for a in (1, 2) for b in ("x", "y") for c in (0, 1)]
    scores = of(grid, [0.1, 0.2, 0.3, 0.1, 0.5, 0.4, 0.7, 0.8])
    found = ParameterPlaneDisplay.of_scores(scores, ("a", "b"))
    assert found.best.tolist() == [1, 2, 4, 7] and found.is_grid
    scattered = of([{"a": j, "b": j * j} for j in range(9)], list(range(9)))
    assert not ParameterPlaneDisplay.of_scores(scattered, ("a", "b")).is_grid
    two = of([{"a": 1, "b": 1}, {"a": 2, "b": 2}], [0.1, 0.2])
    assert not ParameterPlaneDisplay.of_scores(two, ("a", "b")).is_grid


def test_parameters_of_several_estimators_are_told_apart() -> None:
    grid = [{"model": "svm", "C": 1}, {"model": "svm", "C": 2}, {"model": "lr", "C": 5}, {"model": "lr", "C": 7}]
    scores = of(grid, [0.1, 0.2, 0.3, 0.4], has_models=True)
    assert ParameterSliceDisplay.of_scores(scores, "svm__C").axis.values.tolist() == [1, 2]
    assert parameter_axis(scores, "lr__C").title == "lr__C"
    assert ParameterSliceDisplay.of_scores(scores, "model").axis.levels == ("lr", "svm")
    with pytest.raises(InputError, match="2 parameters of the search are named so; name one of svm__C, lr__C"):
        parameter_named(scores, "C")
    assert paired_parameters(scores) is None
    with pytest.raises(InputError, match="no configuration with a score has both 'svm__C' and 'lr__C'"):
        ParameterPlaneDisplay.of_scores(scores, ("svm__C", "lr__C"))


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    scores = of([{"svc__gamma": 1}, {"svc__gamma": 2}], [0.1, 0.2])
    with pytest.raises(InputError, match="parameter 'gama': the search did not set it; name one of svc__gamma"):
        ParameterSliceDisplay.of_scores(scores, "gama")
    with pytest.raises(InputError, match="the two parameters must differ"):
        ParameterPlaneDisplay.of_scores(scores, ("gamma", "svc__gamma"))


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
