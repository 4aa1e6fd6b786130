"""Accuracy, balanced accuracy, F1 and censored times: that truths are true, and bounds those of the library."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

import heldout as ho
from heldout.errors import InputError
from heldout_papers import IntervalSetting, IntervalStudy, intervals
from heldout_papers.censored import censored_times, limit_of_concordance, risks_of_concordance
from heldout_papers.intervals.methods import METHODS, BoundSettings, bounds, methods_for
from heldout_papers.intervals.setting import IntervalMatrix
from heldout_papers.simulation import f1_of_recalls, labels_of_recalls

SKLEARN: dict[str, Any] = {
    "accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score, "f1": f1_score,
}  # fmt: skip


def setting(
    task: Any, metric: str, rows: int, prevalence: float, methods: tuple[str, ...] = ("bbc",), n: int = 12
) -> IntervalSetting:
    return IntervalSetting(rows, n, prevalence, (9.0, 6.0), 10, BoundSettings(task, methods, 50, 0.95, metric))


@pytest.mark.parametrize(
    ("task", "metric"),
    [
        ("binary", "accuracy"),
        ("binary", "balanced_accuracy"),
        ("binary", "f1"),
        ("multiclass", "accuracy"),
        ("multiclass", "balanced_accuracy"),
    ],
)
def test_what_labels_truly_score(task: Any, metric: str) -> None:
    """20 000 rows, the rarest class 2000: no score of 12 is 4.5 standard errors of a share of these off."""
    found = IntervalMatrix.drawn(setting(task, metric, 20_000, 0.1), 3, 0)
    observed = [SKLEARN[metric](found.y, found.scores[:, j]) for j in range(12)]
    np.testing.assert_allclose(observed, found.truth, atol=4.5 * np.sqrt(0.25 / 2000))
    assert np.corrcoef(observed, found.truth)[0, 1] > 0.95


def test_f1_by_hand() -> None:
    """Of 40 positive and 60 negative rows 30 and 45 are right: TP 30, FN 10, FP 15, so F1 = 60 / 85."""
    assert f1_of_recalls(np.array([[0.75, 0.75]]), 0.4)[0] == pytest.approx(60 / 85)


def test_wrong_labels_are_any_other_class() -> None:
    y = np.repeat([0, 1, 2], 6000)
    labels = labels_of_recalls(np.random.default_rng(0), y, np.array([[0.4, 0.7, 1.0]]))
    shares = np.array([np.bincount(labels[y == k, 0], minlength=3) / 6000 for k in range(3)])
    np.testing.assert_allclose(shares, [[0.4, 0.3, 0.3], [0.15, 0.7, 0.15], [0, 0, 1]], atol=0.025)


def harrell(target: Any, risk: np.ndarray) -> float:
    """Pairs of which the earlier time is an event, one by one."""
    time, event = target["time"], target["event"]
    earlier = (time[:, None] < time[None, :]) & event[:, None]
    return float((risk[:, None] > risk[None, :])[earlier].mean())


@pytest.mark.parametrize("events", [0.3, 0.7])
def test_what_risks_truly_score(events: float) -> None:
    rng = np.random.default_rng(5)
    target, risk = censored_times(rng, 1600, events)
    wanted = np.array([0.35, 0.5, 0.65, 0.8, 0.95])
    scores = risks_of_concordance(rng, risk, wanted, events)

    assert target["event"].mean() == pytest.approx(events, abs=0.05)
    observed = [harrell(target, scores[:, j]) for j in range(5)]
    np.testing.assert_allclose(observed, wanted, atol=0.04)


def test_the_limit_of_harrells_index() -> None:
    """Without censoring Kendall's τ of two normal numbers is 2 arcsin(ρ) / π."""
    for rho in (-0.6, 0.0, 0.3, 0.9):
        assert limit_of_concordance(rho, 1 - 1e-12) == pytest.approx(0.5 + np.arcsin(rho) / np.pi, abs=1e-3)
    # Early events are of extreme risks, which are told apart from the others more easily.
    assert limit_of_concordance(0.5, 0.2) > limit_of_concordance(0.5, 0.9) > 0.667


@pytest.mark.parametrize(
    ("task", "metric"), [("binary", "accuracy"), ("binary", "f1"), ("survival", "concordance_index")]
)
def test_bounds_are_those_of_the_library(task: Any, metric: str) -> None:
    names = ("bbc", "bbc_f")
    matrix = IntervalMatrix.drawn(setting(task, metric, 120, 0.4, names), 1, 0)
    found = bounds(matrix.y, matrix.scores, matrix.folds, BoundSettings(task, names, 50, 0.95, metric), seed=2)
    for name in names:
        same = ho.estimate(
            matrix.y, matrix.scores, metric=metric, folds=matrix.folds, alternative="greater", n_bootstraps=50,
            random_state=2, method=METHODS[name], aggregate="pooled",
            response="labels" if task == "binary" else "auto",
        )  # fmt: skip
        assert same.interval is not None
        assert (found[name].low, found[name].selected) == (same.interval.low, same.selected)


def test_the_methods_of_a_metric() -> None:
    assert methods_for("binary", "roc_auc") == tuple(METHODS)
    assert "delong" not in methods_for("binary", "accuracy")
    assert methods_for("multiclass", "accuracy") == ("bbc", "bbc_f", "naive_bootstrap")
    assert {"bbc", "bbc_f", "naive_bootstrap"} <= {*methods_for("binary", "f1")}


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(
    ("task", "metric"), [("binary", "accuracy"), ("binary", "f1"), ("survival", None), ("multiclass", "accuracy")]
)
def test_a_study_of_it_and_the_same_from_its_table(task: str, metric: str | None) -> None:
    study = intervals(
        80, 10, 0.2, [(24, 6)], task=task, metric=metric, repetitions=4, n_bootstraps=30, random_state=0
    )
    again = IntervalStudy.from_frame(study.to_frame(each=True))

    assert study.parameters()["metric"] == (metric or "concordance_index")
    assert again.settings == study.settings
    pd.testing.assert_frame_equal(again.to_frame(), study.to_frame(), rtol=1e-5, atol=1e-6)
    rows = {row["method"]: row for row in study.rows()}
    assert rows["bbc"]["failed"] == 0 and rows["bbc"]["inclusion"] >= 0.5
    page = study.page()
    assert page.claims == ()
    assert page.settings["performances"]


def test_flattered_winners_are_held_by_bbc_and_not_by_the_naive_bootstrap() -> None:
    """20 repetitions with 50 configurations each: the naive bound is above the truth often."""
    for task, metric in (("binary", "accuracy"), ("survival", None)):
        study = intervals(
            80, 50, 0.5, [(24, 6)], task=task, metric=metric, methods=["bbc", "naive_bootstrap"], repetitions=20,
            n_bootstraps=60, random_state=1,
        )  # fmt: skip
        inclusion = {row["method"]: row["inclusion"] for row in study.rows()}
        assert inclusion["bbc"] >= 0.9
        assert inclusion["naive_bootstrap"] <= inclusion["bbc"] - 0.2


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (
            {"task": "binary", "metric": "r2"},
            "metric must be roc_auc or accuracy or .* binary task, got 'r2'",
        ),
        ({"task": "survival", "metric": "f1"}, "metric must be concordance_index for a survival task, got 'f1'"),
        ({"task": "time"}, "task must be one of binary, multiclass, regression, survival, got 'time'"),
        ({"metric": "accuracy", "methods": ["delong"]}, "methods"),
        ({"task": "survival", "prevalence": 1.5}, "prevalence must be above 0 and up to 1, got 1.5"),
        ({"task": "survival", "rows": 20, "prevalence": 0.1}, "two folds need 4 events, .* 2 are expected"),
    ],
    ids=["another kind", "no labels", "no task", "no area", "no share", "few events"],
)
def test_what_cannot_be_studied_is_refused(how: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        intervals.job(**{"rows": 60, "configurations": 10, **how})
