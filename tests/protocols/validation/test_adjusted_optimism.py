"""The optimism adjusted by the double bootstrap is that of a plain loop over samples of samples."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.data.task import truth_of
from heldout.imputation.settings import Imputation
from heldout.metrics import metric_named
from heldout.protocols.drawn_rows import drawn_rows
from heldout.protocols.validation.arguments import ValidationArguments
from heldout.protocols.validation.corrections import adjusted_optimism
from heldout.protocols.validation.plan import INNER
from heldout.protocols.validation.replicates import ReplicateScores

RNG = np.random.default_rng(4)
N, OUTER, WITHIN = 40, 3, 2
X = RNG.normal(size=(N, 6))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
HOLES = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
MODEL = LogisticRegression(C=1e3, solver="newton-cholesky", tol=1e-10)
SETTINGS: dict[str, Any] = {"n_bootstraps": OUTER, "n_inner_bootstraps": WITHIN, "random_state": 0}


def optimisms(x: np.ndarray, score: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """The apparent score, the optimism of each sample, and what its own samples make of it."""
    plan = ValidationArguments(MODEL, adjust_optimism=True, metric=["roc_auc", "brier_score"], **SETTINGS).plan(
        x, Y
    )

    def scored(train: np.ndarray, test: np.ndarray) -> float:
        return float(score(Y[test], MODEL.fit(x[train], Y[train]).predict_proba(x[test])[:, 1]))

    everything = np.arange(N)
    own, inner = [], []
    for counts, stage in zip(plan.last.counts, plan.inner, strict=True):
        rows = drawn_rows(counts)
        own.append(scored(rows, rows) - scored(rows, everything))
        inner.append(np.mean([scored(r, r) - scored(r, rows) for r in map(drawn_rows, stage.counts)]))
    return scored(everything, everything), np.array(own), np.array(inner)


def test_it_is_a_plain_loop() -> None:
    metrics = ["roc_auc", "brier_score"]
    found = ho.bootstrap_validate(MODEL, X, Y, metric=metrics, adjust_optimism=True, **SETTINGS)
    plain = ho.bootstrap_validate(MODEL, X, Y, metric=metrics, interval="double", **SETTINGS)
    assert found.n_fits == 1 + OUTER + OUTER * WITHIN + 1
    for name, score, sign in (("roc_auc", roc_auc_score, 1), ("brier_score", brier_score_loss, -1)):
        apparent, own, inner = optimisms(X, score)
        adjusted = 2 * own.mean() - inner.mean()
        row = found.rows[name]
        assert row.corrected == pytest.approx(apparent - adjusted, abs=1e-7)
        assert row.inner_optimism == pytest.approx(sign * inner.mean(), abs=1e-7)
        assert row.optimism == pytest.approx(row.adjusted_optimism) == pytest.approx(sign * adjusted, abs=1e-7)
        assert plain.rows[name].adjusted_optimism == row.adjusted_optimism
        assert plain.rows[name].corrected == pytest.approx(apparent - own.mean(), abs=1e-7)
        assert found.to_frame().set_index("metric").loc[name, "adjusted_optimism"] == row.adjusted_optimism
        estimate = found.estimates[name]
        assert estimate.value == row.corrected and estimate.provenance["optimism_adjusted"] is True


@pytest.mark.parametrize("order", ["boot_mi", "mi_boot"])
def test_with_imputation_each_sample_of_a_sample_is_imputed(order: Any) -> None:
    imputation = Imputation(2, order=order)
    arguments = ValidationArguments(
        MODEL, adjust_optimism=True, metric="brier_score", imputation=imputation, **SETTINGS
    )
    plan = arguments.plan(HOLES, Y)
    entropy, truth = plan.fits.entropy, truth_of(Y)
    trained = imputation.completed(HOLES, truth, entropy, "rows that train")
    evaluated = imputation.completed(HOLES, None, entropy, "rows that are evaluated")

    def fitted(rows: np.ndarray, *place: int) -> tuple[float, np.ndarray]:
        """The score on the own completions, and the predictions of all rows in each completion for evaluation."""
        own = [table[rows] for table in trained]
        if order == "boot_mi":
            own = imputation.completed(HOLES[rows], truth.rows(rows), entropy, *place)
        members = [LogisticRegression(C=1e3, solver="newton-cholesky", tol=1e-10).fit(t, Y[rows]) for t in own]

        def pooled(table: np.ndarray) -> np.ndarray:
            logits = np.mean([member.decision_function(table) for member in members], axis=0)
            return np.asarray(1 / (1 + np.exp(-logits)))

        inside = np.mean([brier_score_loss(Y[rows], pooled(table)) for table in own])
        return float(inside), np.array([pooled(table) for table in evaluated])

    own, inner = [], []
    for b, (counts, stage) in enumerate(zip(plan.last.counts, plan.inner, strict=True)):
        rows = drawn_rows(counts)
        inside, everywhere = fitted(rows, 1 + b, 0)
        own.append(inside - np.mean([brier_score_loss(Y, each) for each in everywhere]))
        of_samples = []
        for i, drawn in enumerate(map(drawn_rows, stage.counts)):
            inside, everywhere = fitted(drawn, 1 + b, INNER + i)
            of_samples.append(inside - np.mean([brier_score_loss(Y[rows], each[rows]) for each in everywhere]))
        inner.append(np.mean(of_samples))
    found = ho.bootstrap_validate(
        MODEL, HOLES, Y, metric="brier_score", imputation=imputation, adjust_optimism=True, **SETTINGS
    )
    row = found.rows["brier_score"]
    assert row.optimism == pytest.approx(-(2 * np.mean(own) - np.mean(inner)), abs=1e-7)
    assert row.corrected == pytest.approx(row.apparent + row.optimism, abs=1e-12)


def test_intervals_of_imputed_rows_hold_the_corrected_score_of_every_sample() -> None:
    found = ho.bootstrap_validate(
        MODEL, HOLES, Y, metric="brier_score", imputation=2, interval="double", method="632+", **SETTINGS
    )
    assert found.interval is not None and found.interval.low < found.interval.high
    assert found.n_fits == 1 + OUTER + OUTER * WITHIN + 1
    assert np.isnan(found.rows["brier_score"].adjusted_optimism), ".632+ subtracts no optimism"


def test_samples_without_an_inner_optimism_are_left_out_of_the_adjustment() -> None:
    inside, original = np.array([0.9, 0.8, 1.0, np.nan]), np.array([0.7, 0.7, 0.7, 0.7])
    scores = ReplicateScores(metric_named("roc_auc"), 0.95, inside, original, original)
    found = adjusted_optimism(scores, np.array([0.8, np.nan, 0.9, 0.5]))
    # The optimism is (.2 + .1 + .3) / 3; the first and the third sample miss .1 and .2 of theirs.
    assert found.adjusted == pytest.approx(0.2 + 0.15) and found.inner == pytest.approx(0.1)
    assert found.n_undefined == 1
    nothing = adjusted_optimism(scores, np.full(4, np.nan))
    assert np.isnan(nothing.adjusted) and nothing.n_undefined == 3


def test_the_adjustment_of_remembered_noise_is_known() -> None:
    """One nearest neighbour errs on half of the rows that its sample left out, and nowhere else.

    A sample leaves out a share of exp(-1), so that the optimism is .184 and not .5. Of a sample, whose rows stand
    in it as often as a Poisson number m says, a sample leaves out the mean of m exp(-m): exp(exp(-1) - 2) = .196.
    """
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(240, 5)), rng.integers(0, 2, size=240)
    found = ho.bootstrap_validate(
        KNeighborsClassifier(1), x, y, metric="accuracy", n_bootstraps=12, n_inner_bootstraps=4,
        adjust_optimism=True, random_state=0, interval=None, method="optimism",
    )  # fmt: skip
    row = found.rows["accuracy"]
    assert row.in_bootstrap - row.on_original == pytest.approx(0.5 * np.exp(-1), abs=0.02)
    assert row.inner_optimism == pytest.approx(0.5 * np.exp(np.exp(-1) - 2), abs=0.02)
    assert row.optimism == pytest.approx(np.exp(-1) - 0.5 * np.exp(np.exp(-1) - 2), abs=0.03)
    assert row.apparent == 1.0 and row.corrected == 1.0 - row.optimism


def test_where_nothing_is_adjusted_the_flag_says_so() -> None:
    """With "auto" a model that memorises is corrected by the rows left out, and no optimism is subtracted."""
    model = KNeighborsClassifier(1)
    found = ho.bootstrap_validate(model, X, Y, metric="roc_auc", adjust_optimism=True, **SETTINGS)
    plain = ho.bootstrap_validate(model, X, Y, metric="roc_auc", **SETTINGS)
    said, without = (each.estimates["roc_auc"].flags["memorises"] for each in (found, plain))
    assert found.method == plain.method != "optimism"
    assert said == f"{without} No optimism is subtracted here, so `adjust_optimism=True` has adjusted nothing."
