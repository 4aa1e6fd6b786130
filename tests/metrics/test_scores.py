"""``mean_score``: rows that have scores already, and no target."""

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.errors import InputError

RNG = np.random.default_rng(3)
RIGHT = (RNG.random((60, 5)) < 0.6).astype(float)
GRADED = RNG.random((60, 5))


@pytest.mark.parametrize("scores", [RIGHT, GRADED], ids=["right", "graded"])
def test_the_uncorrected_score_is_the_mean_of_the_best_column(scores: np.ndarray) -> None:
    found = ho.estimate(scores, metric="mean_score", random_state=0)
    assert found.uncorrected == pytest.approx(scores.mean(axis=0).max(), abs=1e-12)
    assert found.selected == int(scores.mean(axis=0).argmax())
    assert found.constant is None
    assert found.value < found.uncorrected


def test_of_equal_systems_the_first_wins_and_columns_have_names() -> None:
    table = pd.DataFrame({"b": RIGHT[:, 0], "a": RIGHT[:, 0]})
    assert ho.estimate(table, metric="mean_score", random_state=0).selected_name == "b"


@pytest.mark.parametrize(
    ("least", "greatest", "scores"), [(-5.0, 5.0, RIGHT), (1.0, 5.0, GRADED)], ids=["right", "graded"]
)
def test_another_range_gives_the_same_answer_on_its_scale(
    least: float, greatest: float, scores: np.ndarray
) -> None:
    plain = ho.estimate(scores, metric="mean_score", random_state=0)
    width = greatest - least
    other = ho.estimate(least + width * scores, metric=ho.metrics.MeanScore(least, greatest), random_state=0)
    assert plain.interval is not None and other.interval is not None
    given = [other.value, other.uncorrected, other.interval.low, other.interval.high]
    expected = [plain.value, plain.uncorrected, plain.interval.low, plain.interval.high]
    np.testing.assert_allclose(given, least + width * np.array(expected), rtol=1e-9)


def test_systems_that_no_fold_trained_have_narrower_intervals_than_models_of_folds() -> None:
    alone = ho.estimate(RIGHT, metric="mean_score", random_state=0)
    folds = np.arange(60) % 5
    trained = ho.estimate(RIGHT, metric="mean_score", folds=folds, random_state=0)
    assert alone.interval is not None and trained.interval is not None
    assert alone.value == trained.value
    assert alone.interval.high - alone.interval.low < 0.9 * (trained.interval.high - trained.interval.low)
    assert "folds_unknown" not in alone.flags


def test_runs_of_an_item_are_repeats() -> None:
    runs = (RNG.random((40, 3, 4)) < 0.5).astype(float)
    found = ho.estimate(runs, metric="mean_score", random_state=0)
    assert found.uncorrected == pytest.approx(runs.mean(axis=(0, 2)).max(), abs=1e-12)
    assert found.provenance["n_repeats"] == 4


def test_configurations_of_scores_are_compared() -> None:
    scores = RIGHT.copy()
    scores[:, 2] = 1.0
    compared = ho.compare_configurations(scores, metric="mean_score", random_state=0)
    assert compared.confidence_set().names == ("configuration 2",)
    gap = compared.difference("winner", 0, fixed=["winner", 0])
    assert gap.value == pytest.approx(1 - RIGHT[:, 0].mean())


@pytest.mark.parametrize(
    ("scores", "metric", "message"),
    [
        (RIGHT * 2, "mean_score", "scores from 0 to 1, and a row has 2"),
        (RIGHT, "mean_score(least=1, greatest=0)", "least < greatest"),
        (RIGHT, "mean_score(greatest=1e999)", "two finite numbers"),
    ],
)
def test_scores_outside_the_range_and_no_range_are_refused(scores: np.ndarray, metric: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        ho.estimate(scores, metric=metric)
    assert error.value.argument == "metric"


def test_true_values_beside_scores_are_refused() -> None:
    with pytest.raises(InputError, match="pass the scores alone") as error:
        ho.estimate(np.ones(60), RIGHT, metric="mean_score")
    assert error.value.argument == "predictions"


def test_equal_runs_of_each_item_are_one_run() -> None:
    once = ho.estimate(GRADED, metric="mean_score", random_state=0)
    thrice = ho.estimate(np.repeat(GRADED[:, :, None], 3, axis=2), metric="mean_score", random_state=0)
    assert once.interval is not None and thrice.interval is not None
    assert thrice.value == pytest.approx(once.value, abs=1e-12)
    assert [*thrice.interval] == pytest.approx([*once.interval], abs=1e-12)
    assert (
        "folds_dependent"
        not in ho.estimate(
            np.repeat(GRADED[:, :, None], 3, axis=2), metric="mean_score", method="bbc", random_state=0
        ).flags
    )


def test_a_test_set_that_several_models_of_a_configuration_predicted_is_one_hold_out() -> None:
    y = np.arange(60) % 2
    scores = RNG.random((60, 3, 2)) + 0.3 * y[:, None, None]
    once, twice = (
        ho.estimate(y, each, metric="roc_auc", folds=np.zeros(each.shape[:1] + each.shape[2:]), random_state=0)
        for each in (scores[:, :, :1], np.repeat(scores[:, :, :1], 2, axis=2))
    )
    assert once.provenance["fold_dependence"] == twice.provenance["fold_dependence"] == 1
    assert once.coverage == twice.coverage
    assert once.interval is not None and twice.interval is not None
    assert [*twice.interval] == pytest.approx([*once.interval], abs=1e-12)
