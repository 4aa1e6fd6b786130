"""Independent columns: the matrices of the bias study, and metrics of several classes with their true scores."""

import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from heldout.errors import InputError
from heldout.predictions import HeldOutPredictions
from heldout_papers.bias.matrix import BiasMatrix
from heldout_papers.bias.protocols import bbc, cross_validation
from heldout_papers.bias.setting import BiasSetting
from heldout_papers.corrections.independent import (
    METRICS,
    IndependentSource,
    independent_sources,
    losses,
    probabilities,
)
from heldout_papers.corrections.matrix import BedCell
from heldout_papers.corrections.scores import score_methods

BETA = (9.0, 6.0)


@pytest.mark.parametrize(
    ("metric", "prevalence"), [("accuracy", None), ("roc_auc", 0.5), ("mean_squared_error", None)]
)
def test_the_matrices_are_those_of_the_bias_study(metric: str, prevalence: float | None) -> None:
    setting = BiasSetting(40, 15, BETA, 10, 60, (), metric, prevalence)
    known = [IndependentSource(40, 15, BETA, metric).matrices(3, r)[0] for r in range(4)]
    drawn = [BiasMatrix.drawn(setting, 3, r) for r in range(4)]

    found = score_methods(known, ["cv", "bbc"], n_bootstraps=60)

    for repetition, (matrix, one) in enumerate(zip(known, drawn, strict=True)):
        winner = cross_validation(one).winner
        assert matrix.truths.tolist() == one.truth.tolist()
        assert found["value"][repetition, 0] == pytest.approx(cross_validation(one).estimate)
        assert found["truth"][repetition, 0] == one.truth[winner]
        if metric != "roc_auc":  # there the seed of the draws meets another rule of redrawing
            assert abs(found["value"][repetition, 1] - bbc(one).estimate) < 0.1


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("c", [1, 10])
def test_every_metric_with_one_configuration_and_with_ten(metric: str, c: int) -> None:
    source = IndependentSource(40, c, BETA, metric)
    known = [source.matrices(0, r)[0] for r in range(12)]

    found = score_methods(known, ["cv", "bbc", "oracle"], n_bootstraps=40, levels=[0.95])

    assert np.isfinite(found["value"]).all()
    assert np.isfinite(found["low_95"][:, 1]).all()
    assert source.cells == (BedCell("independent", "Be(9, 6)", metric, 40, c),)


def test_a_log_loss_of_three_classes_is_the_one_that_was_drawn() -> None:
    y = np.arange(90_000) % 3
    shares = np.array([0.05, 0.6, 0.95])

    drawn = probabilities(np.random.default_rng(0), y, shares)
    loss = -np.log(drawn[np.arange(len(y)), :, y])

    assert drawn.sum(axis=2) == pytest.approx(1.0)
    error = loss.std(axis=0) / np.sqrt(len(y))
    assert (abs(loss.mean(axis=0) - np.log(3) * (1 - shares)) < 4 * error).all()


def test_the_integral_of_the_loss_does_not_depend_on_its_points(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = losses()
    module = sys.modules["heldout_papers.corrections.independent"]
    monkeypatch.setattr(module, "NODES", 60)
    monkeypatch.setattr(module, "STRENGTHS", usual.strength[::20])

    finer = losses.__wrapped__()

    assert abs(finer.mean - usual.mean[::20]).max() < 1e-5


def test_an_area_of_every_two_classes_is_the_one_that_was_drawn() -> None:
    source = IndependentSource(6000, 1, BETA, "roc_auc_ovo")
    (known,) = source.matrices(0, 0)
    assert isinstance(known.predictions, HeldOutPredictions)
    (scores,) = known.predictions.responses.values()

    pair = known.y != 2

    assert roc_auc_score(known.y[pair] == 0, scores[pair, 0, 0, 0]) == pytest.approx(known.truths[0], abs=0.03)


def test_the_usual_settings_are_the_articles() -> None:
    sources = independent_sources(None, None, None, None)

    assert len(sources) == 196
    assert {source.metric for source in sources} == {"accuracy"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((19, None, None, None), "rows must be a whole number from 20 on, got 19."),
        ((None, 0, None, None), "configurations must be a whole number from 1 on, got 0."),
        ((None, None, [(0, 1)], None), r"beta must be pairs of numbers above 0"),
        ((None, None, None, "r2"), 'metrics of part "independent" must be some of accuracy, roc_auc'),
        ((100_000, 1000, None, None), "a matrix may hold 20,000,000 predictions"),
    ],
)
def test_settings_that_are_refused(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(InputError, match=f"^{words}"):
        independent_sources(*arguments)
