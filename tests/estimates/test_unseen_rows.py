"""Certain predictions that were right in every row: what new rows may cost, worked out by hand."""

import numpy as np
import pytest

import heldout as ho

N = 40
Y = np.arange(N) % 2
WORST = -np.log(np.finfo(float).eps)
"""The log loss of a row whose class has probability 0."""


def probabilities(n_certain: int, chance: float = 0.0, of_rest: float = 0.1) -> np.ndarray:
    """Of class 1: wrong by ``chance`` in the first rows, and by ``of_rest`` in the others."""
    wrong = np.where(np.arange(N) < n_certain, chance, of_rest)
    return np.where(Y == 1, 1 - wrong, wrong)


HOPELESS = np.full(N, 0.5)


def shift(winner: np.ndarray, metric: str = "log_loss", **settings: object) -> float:
    """How far the value is from the score, where nothing but the winner can be selected in any bootstrap."""
    found = ho.estimate(
        Y, np.stack([winner, HOPELESS], axis=1), metric=metric, random_state=0, n_bootstraps=200, **settings
    )
    assert found.selected == 0 and found.interval.low <= found.value <= found.interval.high
    assert ("certain_predictions" in found.flags) == (abs(found.optimism) > 1e-12)
    assert found.distribution.mean() == pytest.approx(found.value, abs=1e-12)
    return found.value - found.uncorrected


def test_all_rows_are_certain() -> None:
    assert shift(probabilities(N)) == pytest.approx(0.5 / (N + 1) * WORST)


def test_a_score_that_is_better_the_greater() -> None:
    assert shift(probabilities(20), "neg_log_loss") == pytest.approx(-20 / N * 0.5 / 21 * WORST)


def test_predictions_are_certain_where_they_are_clipped() -> None:
    assert shift(probabilities(20, 1e-16)) == pytest.approx(20 / N * 0.5 / 21 * WORST)
    assert shift(probabilities(20, 1e-15)) == pytest.approx(0, abs=1e-12)


def test_rows_of_a_group_are_one_unit() -> None:
    groups = np.arange(N) // 4
    assert shift(probabilities(20), groups=groups) == pytest.approx(20 / N * 0.5 / 6 * WORST)


def test_rows_of_no_weight_count_nothing() -> None:
    weights = np.where(np.arange(N) < 10, 0.0, 1.0)  # of 20 certain rows and of all 40
    assert shift(probabilities(20), sample_weight=weights) == pytest.approx(10 / 30 * 0.5 / 11 * WORST)
    assert shift(probabilities(10), sample_weight=weights) == pytest.approx(0, abs=1e-12)


def test_rows_of_several_repeats_are_the_same_rows() -> None:
    twice = np.stack([np.stack([probabilities(20), HOPELESS], axis=1)] * 2, axis=2)
    found = ho.estimate(Y, twice, metric="log_loss", random_state=0, n_bootstraps=200)
    assert found.value - found.uncorrected == pytest.approx(20 / N * 0.5 / 21 * WORST)


def test_of_three_classes_both_others_are_impossible() -> None:
    y = np.array([0] * 20 + [1] * 10 + [2] * 10)
    winner = np.full((N, 3), 0.1)
    winner[np.arange(N), y] = 0.8
    winner[:10] = [1, 0, 0]
    winner[10:20] = [0.9, 0.1, 0]  # class 1 is possible
    table = np.stack([winner, np.full((N, 3), 1 / 3)], axis=1)[:, :, None]
    found = ho.estimate(y, table, metric="log_loss", random_state=0, n_bootstraps=200)
    assert found.value - found.uncorrected == pytest.approx(10 / N * 0.5 / 11 * WORST)


def test_one_that_was_wrong_shows_by_itself() -> None:
    winner = probabilities(20, of_rest=0.01)
    winner[0] = 1.0  # of class 0
    found = ho.estimate(
        Y, np.stack([winner, np.full(N, 1e-16)], axis=1), metric="log_loss", random_state=0, n_bootstraps=200
    )
    assert found.selected == 0 and "certain_predictions" not in found.flags


@pytest.mark.parametrize("metric", ["brier_score", "roc_auc", "neg_brier_score"])
def test_other_metrics_have_no_such_rows(metric: str) -> None:
    table = np.stack([probabilities(20), 1 - probabilities(20)], axis=1)
    found = ho.estimate(Y, table, metric=metric, random_state=0, n_bootstraps=200)
    assert "certain_predictions" not in found.flags


def test_without_a_selection_the_value_is_the_score() -> None:
    found = ho.estimate(Y, probabilities(20)[:, None], metric="log_loss", random_state=0, n_bootstraps=200)
    assert found.value == found.uncorrected and "certain_predictions" not in found.flags


def test_selected_configurations_that_are_sure_of_themselves_flatter_less() -> None:
    # Each of 30 configurations is sure of 60 of 80 rows, and on average wrong in a sixtieth of these. One that was
    # right in all of them is selected. Half of what the score flatters is .23, with a standard error of .01 over
    # seeds; six tenths are three standard errors from it.
    rng = np.random.default_rng(0)
    of_rest = -0.8 * np.log(0.8) - 0.2 * np.log(0.2)
    truth = 60 / 80 * WORST / 60 + 20 / 80 * of_rest
    chance = np.where(np.arange(80) < 60, 1.0, 0.8)[:, None]
    scores, values = [], []
    for seed in range(40):
        y = rng.integers(0, 2, 80)
        is_wrong = rng.random((80, 30)) < np.where(np.arange(80) < 60, 1 / 60, 0.2)[:, None]
        table = np.where((y[:, None] == 1) ^ is_wrong, chance, 1 - chance)
        found = ho.estimate(y, table, metric="log_loss", random_state=seed, n_bootstraps=100)
        scores.append(found.uncorrected)
        values.append(found.value)
    flattered, rest = truth - np.mean(scores), truth - np.mean(values)
    assert flattered > 0.4 and 0 < rest < 0.6 * flattered


def test_the_methods_text_says_so() -> None:
    table = np.stack([probabilities(20), HOPELESS], axis=1)
    found = ho.estimate(Y, table, metric="log_loss", random_state=0, n_bootstraps=50)
    assert "probabilities of zero and one were right in every observation" in found.methods_text().text
    assert f"{found.optimism:.3g}" in found.flags["certain_predictions"]
