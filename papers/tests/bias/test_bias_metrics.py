"""The bias study of areas and squared errors: what it says of a matrix is what the library says of it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout._streams import stream
from heldout.data.task import TaskKind, Truth
from heldout.selection.bootstrap_draws import Draws, always
from heldout_papers import BiasSetting, bias
from heldout_papers.bias import BiasMoments
from heldout_papers.bias.matrix import BiasMatrix
from heldout_papers.bias.predictions import MetricPredictions
from heldout_papers.bias.protocols import PROTOCOLS, bbc, bced, cross_validation, nested, tibshirani
from heldout_papers.bias.setting import METRICS

SEED = 7


def area(y: np.ndarray, scores: np.ndarray) -> float:
    """The share of pairs of rows of both classes that the scores order right."""
    pairs = scores[y == 1][:, None] - scores[y == 0]
    return float((pairs > 0).mean() + (pairs == 0).mean() / 2)


def squared(y: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.mean((y - predicted) ** 2))


PLAIN = {"roc_auc": area, "mean_squared_error": squared}
SETTINGS = [
    pytest.param("roc_auc", 20, 10, 0.5, id="areas of 2 rows a fold"),
    pytest.param("roc_auc", 83, 4, 0.2, id="areas of unequal folds and classes"),
    pytest.param("mean_squared_error", 20, 10, None, id="errors of 2 rows a fold"),
    pytest.param("mean_squared_error", 67, 4, None, id="errors of unequal folds"),
]


def drawn(metric: str, rows: int, folds: int, prevalence: float | None, repetition: int = 0) -> BiasMatrix:
    """With the draws that the library makes of the seed."""
    setting = BiasSetting(rows, 30, (9.0, 6.0), folds, 60, tuple(PROTOCOLS), metric, prevalence)
    return replace(BiasMatrix.drawn(setting, 5, repetition), seed=stream(SEED, "draws"))


def measured(matrix: BiasMatrix) -> MetricPredictions:
    assert isinstance(matrix.predicted, MetricPredictions)
    return matrix.predicted


def folds_of(matrix: BiasMatrix) -> np.ndarray:
    return np.searchsorted(matrix.starts, np.arange(matrix.predicted.n_rows), side="right") - 1


def by_library(matrix: BiasMatrix, method: str) -> ho.Estimate:
    predicted = measured(matrix)
    response: dict[str, Any] = {"response": "decision"} if matrix.setting.metric == "roc_auc" else {}
    return ho.estimate(
        predicted.target.labels(), predicted.predictions, metric=matrix.setting.metric, method=method,
        folds=folds_of(matrix), aggregate="pooled", n_bootstraps=60, random_state=SEED, **response,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::heldout.HeldoutWarning")
@pytest.mark.parametrize(("metric", "rows", "folds", "prevalence"), SETTINGS)
def test_cv_tt_and_bbc_are_the_library_s_estimates(metric: str, rows: int, folds: int, prevalence: float) -> None:
    for repetition in range(3):
        matrix = drawn(metric, rows, folds, prevalence, repetition)
        for protocol, method in [(cross_validation, "cv"), (tibshirani, "tt"), (bbc, "bbc")]:
            expected = by_library(matrix, method)
            found = protocol(matrix)

            assert found.estimate == pytest.approx(expected.value, abs=1e-12)
            if protocol is not tibshirani:  # which chooses by the mean over folds
                assert found.winner == expected.selected


def loops_of_nested(matrix: BiasMatrix) -> float:
    """Algorithm 3 on the matrix."""
    predicted, folds = measured(matrix), folds_of(matrix)
    y, score = predicted.target.labels(), PLAIN[matrix.setting.metric]
    sign = 1 if matrix.setting.metric == "roc_auc" else -1
    scores = []
    for fold in range(len(matrix.starts)):
        rest, mine = folds != fold, folds == fold
        inner = [sign * score(y[rest], column[rest]) for column in predicted.predictions.T]
        scores.append(score(y[mine], predicted.predictions[mine, int(np.argmax(inner))]))
    return float(np.mean(scores))


@pytest.mark.parametrize(("metric", "rows", "folds", "prevalence"), SETTINGS)
def test_nested_is_its_plain_loop(metric: str, rows: int, folds: int, prevalence: float) -> None:
    matrix = drawn(metric, rows, folds, prevalence)

    assert nested(matrix).estimate == pytest.approx(loops_of_nested(matrix), abs=1e-12)
    assert nested(matrix).winner == cross_validation(matrix).winner


def raced(matrix: BiasMatrix) -> list[int]:
    """Section 5 by loops over bootstraps and configurations, with the draws that the study makes."""
    predicted = measured(matrix)
    y, score = predicted.target.labels(), PLAIN[matrix.setting.metric]
    sign = 1 if matrix.setting.metric == "roc_auc" else -1
    alive = list(range(predicted.predictions.shape[1]))
    for end in map(int, matrix.starts[1:]):
        seen, mine = predicted.predictions[:end], y[:end]
        leader = max(alive, key=lambda j: (sign * score(mine, seen[:, j]), -j))
        draws = Draws(
            stream(matrix.seed, "dropping", end), 60, np.arange(end),
            (lambda counts, mine=mine: np.array([len(set(mine[c > 0])) == 2 for c in counts]))
            if matrix.setting.metric == "roc_auc" else always,
            always,
        )  # fmt: skip
        worse = dict.fromkeys(alive, 0)
        for counts in draws.block(0, 60)[0]:
            row = np.repeat(np.arange(end), counts)
            best = sign * score(mine[row], seen[row, leader])
            for j in alive:
                worse[j] += sign * score(mine[row], seen[row, j]) < best
        alive = [j for j in alive if worse[j] / 60 <= 0.99]
    return alive


@pytest.mark.parametrize(
    ("metric", "prevalence"),
    [pytest.param("roc_auc", 0.5, id="areas"), pytest.param("mean_squared_error", None, id="errors")],
)
def test_bced_is_a_race_of_drawn_bootstraps_and_bbc_of_the_survivors(metric: str, prevalence: float) -> None:
    matrix = drawn(metric, 24, 4, prevalence)
    alive = raced(matrix)
    predicted = measured(matrix)
    rest = replace(matrix, predicted=replace(predicted, predictions=predicted.predictions[:, alive]))

    found = bced(matrix)

    assert 1 < len(alive) < 20
    assert matrix.survivors().tolist() == alive
    assert found.estimate == bbc(rest).estimate
    assert found.winner == alive[cross_validation(rest).winner]


def test_an_area_by_hand() -> None:
    """Folds of one row of each class: areas 1, 0 and 0, 1; pooled 3 of 4 pairs each, and the first wins."""
    target = Truth(TaskKind.BINARY, np.array([1, 0, 1, 0], dtype=np.int32), np.array([0, 1]), 1)
    setting = BiasSetting(4, 2, (9.0, 6.0), 2, 20, ("cv",), "roc_auc", 0.5)
    scores = np.array([[4.0, 2.0], [1.0, 3.0], [2.0, 4.0], [3.0, 1.0]])
    matrix = BiasMatrix(
        MetricPredictions(METRICS["roc_auc"], target, scores), np.array([0.6, 0.7]), np.array([0, 2]), setting, 0
    )

    assert (cross_validation(matrix).estimate, cross_validation(matrix).winner) == (0.75, 0)
    assert (tibshirani(matrix).estimate, tibshirani(matrix).winner) == (0.5 - 0.5, 0)
    # Without the first fold the second is best, and wrong in it; without the second the first.
    assert nested(matrix).estimate == 0.0


def test_less_error_than_the_truth_flatters() -> None:
    found = bias(40, 50, [(9, 6)], metric="mean_squared_error", repetitions=20, n_bootstraps=20, random_state=1)
    rows = {row["protocol"]: row for row in found.rows()}

    assert rows["cv"]["bias"] > 3 * rows["cv"]["standard_error"]
    assert rows["cv"]["bias"] == pytest.approx(rows["cv"]["truth"] - rows["cv"]["estimate"])
    assert rows["bbc"]["bias"] < rows["cv"]["bias"]


@pytest.mark.parametrize(("metric", "rows", "folds", "prevalence"), SETTINGS)
def test_no_configuration_is_flattered_before_one_is_chosen(
    metric: str, rows: int, folds: int, prevalence: float
) -> None:
    """Scores less truth over 80 matrices: five standard errors, a false alarm in less than 1 of 10^5 seeds."""
    matrices = [drawn(metric, rows, folds, prevalence, repetition) for repetition in range(80)]
    flattered = [matrix.scores.mean() - matrix.setting.flattering * matrix.truth.mean() for matrix in matrices]

    assert abs(np.mean(flattered)) < 5 * np.std(flattered, ddof=1) / np.sqrt(80)


@pytest.mark.parametrize(("metric", "rows", "folds", "prevalence"), SETTINGS)
def test_every_choice_of_protocols_has_the_same_matrices(
    metric: str, rows: int, folds: int, prevalence: float
) -> None:
    asked: dict[str, Any] = {
        "metric": metric, "prevalence": prevalence, "folds": folds, "n_bootstraps": 20, "random_state": 3,
    }  # fmt: skip
    everything = bias(rows, [20, 30], [(9, 6)], repetitions=3, **asked)
    one = bias(rows, 30, [(9, 6)], repetitions=2, protocols="bced", **asked)

    assert all((one.columns[0][name] == everything.columns[1][name][:2]).all() for name in one.columns[0])


def test_a_study_of_areas_says_the_prevalence() -> None:
    found = bias(20, 10, [(9, 6)], metric="roc_auc", repetitions=2, n_bootstraps=5, protocols="cv", random_state=0)

    assert found.parameters() == {
        "metric": "roc_auc", "prevalence": 0.5, "repetitions": 2, "folds": 10, "n_bootstraps": 5,
        "protocols": ["cv"],
    }  # fmt: skip
    assert BiasMoments.from_frame(found.moments().to_frame()).settings == found.settings
