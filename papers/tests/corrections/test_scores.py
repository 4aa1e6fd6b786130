"""Methods on matrices with known truth: the answers of ``heldout.estimate``, and the truth of each one's choice."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.advice.recommendation import CASES
from heldout.errors import InputError
from heldout.estimates.base import Method, conclude
from heldout.estimates.evidence import Evidence
from heldout.estimates.methods.bbc import BBC
from heldout.estimates.types import Estimate
from heldout_papers.corrections.distribution import BetaOfCounts, line_from_others
from heldout_papers.corrections.matrix import KnownMatrix
from heldout_papers.corrections.scores import end_names, labelled, score_methods

N, C = 60, 12


def matrix(seed: int = 0, **settings: Any) -> KnownMatrix:
    rng = np.random.default_rng(seed)
    y, truths = np.arange(N) % 2, np.linspace(0.5, 0.9, C)
    labels = y[:, None] ^ (rng.random((N, C)) > truths)
    usual: dict[str, Any] = {"folds": np.arange(N) // 2 % 5, "seed": seed, "reading": {"response": "labels"}}
    return KnownMatrix(y, labels, truths, "accuracy", **usual | settings)


@pytest.mark.parametrize("aggregate", ["pooled", "folds"])
def test_every_answer_is_that_of_the_library(aggregate: Any) -> None:
    known = matrix()

    found = score_methods([known], ["cv", "bbc"], aggregate=aggregate, n_bootstraps=80)

    for place, method in enumerate(["cv", "bbc"]):
        for level in (0.9, 0.95):
            for side in ("two-sided", "greater"):
                expected = ho.estimate(
                    known.y, known.predictions, metric="accuracy", method=method, folds=known.folds,
                    aggregate=aggregate, n_bootstraps=80, confidence_level=level, alternative=side,  # type: ignore[arg-type]
                    response="labels", random_state=known.seed,
                )  # fmt: skip
                assert found["value"][0, place] == expected.value
                assert found["truth"][0, place] == known.truths[expected.selected]
                ends = [] if expected.interval is None else list(expected.interval)[: len(end_names(level, side))]
                assert [found[name][0, place] for name in end_names(level, side)][: len(ends)] == ends


def test_of_a_loss_the_bound_is_the_upper_end() -> None:
    rng = np.random.default_rng(1)
    y = rng.standard_normal(30)
    known = KnownMatrix(y, y[:, None] + rng.standard_normal((30, 3)), np.ones(3), "mean_squared_error", None, 0)

    found = score_methods([known], ["bbc"], levels=[0.9], alternatives=["greater"], n_bootstraps=50)
    expected = ho.estimate(
        y, known.predictions, metric="mean_squared_error", n_bootstraps=50, confidence_level=0.9,
        alternative="greater", aggregate="pooled", method="bbc", random_state=0,
    )  # fmt: skip

    assert expected.interval is not None
    assert found["bound_90"][0, 0] == expected.interval.high
    assert "low_90" not in found


def test_a_method_that_does_not_fit_says_why_and_the_others_answer() -> None:
    found = score_methods([matrix(folds=None)], ["tt", "cv"])

    assert found["failure"][0, 0].startswith("it compares scores fold by fold")
    assert found["failure"][:, 1].tolist() == [""]
    assert np.isnan(found["value"][:, 0]).all()
    assert np.isfinite(found["value"][0, 1])


def test_a_lower_bound_method_has_a_value_and_a_bound_only() -> None:
    rng = np.random.default_rng(3)
    y = np.arange(80) % 2
    known = KnownMatrix(
        y, y[:, None] + rng.standard_normal((80, 4)), np.full(4, 0.76), "roc_auc", np.arange(80) % 5, 0,
        {"response": "decision"},
    )  # fmt: skip

    found = score_methods([known], ["tilting"], levels=[0.95], n_bootstraps=1000)

    assert np.isnan(found["low_95"][0, 0])
    assert 0 < found["bound_95"][0, 0] < found["value"][0, 0]


@dataclass(frozen=True)
class HalfWay(Method):
    """Half of the way from the uncorrected score to bbc's."""

    name: str = "half_way"
    reads: frozenset[str] = frozenset({"predictions"})

    def unfit(self, evidence: Evidence) -> str | None:
        return None

    def estimate(self, evidence: Evidence) -> Estimate:
        return conclude(evidence, self, (evidence.uncorrected + BBC().estimate(evidence).value) / 2)


def test_a_method_of_ones_own() -> None:
    found = score_methods([matrix()], {"cv": "cv", "mine": HalfWay(), "bbc": BBC()})

    assert found["value"][0, 1] == pytest.approx((found["value"][0, 0] + found["value"][0, 2]) / 2)


def test_labels_name_the_settings_that_are_not_usual() -> None:
    names = ["bbc", BBC(interval="calibrated"), "naive_bootstrap(unit='folds')", "oracle"]

    assert [label for label, _ in labelled(names)] == [
        "bbc", "bbc(interval='calibrated')", "naive_bootstrap(unit='folds')", "oracle",
    ]  # fmt: skip


def test_cases_of_advice_have_the_labels_of_their_methods() -> None:
    methods = {case.method for case in CASES.values() if case.method != "nested_cv"}
    assert methods == {label for method in methods for label, _ in labelled([method])}


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        (["nope"], "methods must be some of cv, "),
        (["bbc(nope=1)"], "methods 'bbc' has no parameter 'nope'"),
        (["cv", "cv"], "methods must be one or more different methods, got 'cv' twice"),
        ([], "methods must be one or more different methods, got none"),
    ],
)
def test_methods_that_are_none(methods: Any, words: str) -> None:
    with pytest.raises(InputError, match="^" + words.replace("(", r"\(")):
        labelled(methods)


def test_the_oracle_of_counts_is_the_posterior_mean() -> None:
    # 45 of 60 right and Be(9, 6): (45 + 9) / (60 + 15).
    y = np.zeros(60, dtype=int)
    y[:30] = 1
    labels = y.copy()
    labels[::4] ^= 1
    known = KnownMatrix(
        y, labels[:, None], np.array([0.7]), "accuracy", None, 0, {"response": "labels"},
        distribution=BetaOfCounts((9.0, 6.0)),
    )  # fmt: skip

    assert score_methods([known], ["oracle"])["value"][0, 0] == pytest.approx(54 / 75)


def test_the_oracle_elsewhere_is_a_line_that_the_other_repetitions_tell() -> None:
    known = [matrix(seed) for seed in range(14)]

    found = score_methods(known, ["cv", "oracle"])
    observed, truth = found["value"][:, 0], found["truth"][:, 0]
    slope, start = np.polyfit(observed[1:], truth[1:], 1)

    assert found["value"][0, 1] == pytest.approx(start + slope * observed[0])
    assert np.isnan(score_methods(known[:5], ["oracle"])["value"]).all()
    assert np.isnan(line_from_others(observed[:9], truth[:9])).all()
