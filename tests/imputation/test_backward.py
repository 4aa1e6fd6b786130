"""Backward selection by pooled p-values: worked out by hand, and in samples."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss

import heldout as ho
from heldout.data.task import TaskKind, truth_of
from heldout.errors import InputError
from heldout.imputation.backward import BackwardSelection, pooled_p_value
from heldout.imputation.coefficients import Coefficients, pool_coefficients
from heldout.imputation.imputed_model import ImputedModel
from heldout.imputation.settings import Imputation
from heldout.protocols.drawn_rows import drawn_rows
from heldout.spaces import CoxRegression
from heldout.spaces.regressions import regression

N = 120
RNG = np.random.default_rng(11)
WHOLE = RNG.normal(size=(N, 5))
Y = (1.2 * WHOLE[:, 0] + 0.8 * WHOLE[:, 2] + RNG.logistic(size=N) > 0).astype(int)
X = np.where(RNG.random(WHOLE.shape) < 0.15, np.nan, WHOLE)
MODEL = LogisticRegression(C=float("inf"), tol=1e-8)


def information(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients of a logistic regression, intercept first, and the inverse of their information."""
    design, b = np.column_stack([np.ones(len(x)), x]), np.zeros(x.shape[1] + 1)
    for _ in range(30):
        p = 1 / (1 + np.exp(-design @ b))
        inverse = np.linalg.inv(design.T @ (design * (p * (1 - p))[:, None]))
        b = b + inverse @ design.T @ (y - p)
    return b, inverse


def by_hand(tables: list[np.ndarray], y: np.ndarray, limit: float) -> list[int]:
    """The columns that a plain backward elimination by Rubin's t test leaves."""
    kept = list(range(tables[0].shape[1]))
    while kept:
        each = [information(table[:, kept], y) for table in tables]
        H, values = len(tables), np.array([b for b, _ in each])
        W = np.mean([np.diag(v) for _, v in each], axis=0)
        V = values.var(axis=0, ddof=1)
        T = W + (1 + 1 / H) * V
        share, complete = (1 + 1 / H) * V / T, len(y) - len(kept) - 1
        df = 1 / (share**2 / (H - 1) + 1 / ((complete + 1) / (complete + 3) * complete * (1 - share)))
        p = 2 * stats.t.sf(np.abs(values.mean(axis=0)) / np.sqrt(T), df)[1:]
        if p.max() <= limit:
            break
        kept.pop(int(p.argmax()))
    return kept


@pytest.mark.parametrize("limit", [0.05, 0.3, 0.9])
def test_it_is_a_plain_elimination(limit: float) -> None:
    imputation = Imputation(3, selection=BackwardSelection(limit))
    model = ImputedModel(MODEL, imputation, random_state=0).fit(X, Y)
    tables = imputation.completed(X, truth_of(Y), 0, "training rows")
    kept = by_hand(tables, Y, limit)
    assert model.selection_ is not None and model.selection_.kept == tuple(f"x{j}" for j in kept)
    assert sorted([*model.selection_.kept, *(term.name for term in model.selection_.removed)]) == [
        f"x{j}" for j in range(5)
    ]
    assert all(term.p_value > limit for term in model.selection_.removed)
    assert model.coefficients_ is not None and model.coefficients_.names[1:] == model.selection_.kept
    b = np.mean([information(table[:, kept], Y)[0] for table in tables], axis=0)
    np.testing.assert_allclose(model.coefficients_.values, b, atol=1e-5)


def test_the_f_test_of_several_coefficients() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(1.0, 0.3, size=(4, 3))
    covariances = [np.cov(rng.normal(size=(3, 20))) for _ in range(4)]
    each = [
        Coefficients(("a", "b", "c"), value, covariance)
        for value, covariance in zip(values, covariances, strict=True)
    ]
    pooled = pool_coefficients(each, 100)
    assert pooled is not None
    Q, W, V = values[:, 1:].mean(axis=0), np.mean(covariances, axis=0)[1:, 1:], np.cov(values[:, 1:].T)
    r = 1.25 * np.trace(V @ np.linalg.inv(W)) / 2
    statistic = Q @ np.linalg.inv(W) @ Q / (2 * (1 + r))
    df = 4 + (6 - 4) * (1 + (1 - 2 / 6) / r) ** 2  # t = k (H - 1) = 6
    assert pooled_p_value(pooled, [1, 2]) == pytest.approx(stats.f.sf(statistic, 2, df), rel=1e-12)
    two = pool_coefficients(each[:2], 100)
    assert two is not None
    Q, W, V = values[:2, 1:].mean(axis=0), np.mean(covariances[:2], axis=0)[1:, 1:], np.cov(values[:2, 1:].T)
    r = 1.5 * np.trace(V @ np.linalg.inv(W)) / 2
    statistic, df = Q @ np.linalg.inv(W) @ Q / (2 * (1 + r)), 2 * 1.5 * (1 + 1 / r) ** 2 / 2  # t = 2
    assert pooled_p_value(two, [1, 2]) == pytest.approx(stats.f.sf(statistic, 2, df), rel=1e-12)


def test_completions_that_agree_leave_the_usual_tests() -> None:
    each = [Coefficients(("a", "b"), np.array([1.0, 2.0]), np.array([[0.5, 0.1], [0.1, 1.0]]))] * 3
    pooled = pool_coefficients(each, 10**9)
    assert pooled is not None
    wald = np.array([1.0, 2.0]) @ np.linalg.inv([[0.5, 0.1], [0.1, 1.0]]) @ np.array([1.0, 2.0])
    assert pooled_p_value(pooled, [0, 1]) == pytest.approx(stats.chi2.sf(wald, 2))
    assert pooled_p_value(pooled, [1]) == pytest.approx(2 * stats.norm.sf(2.0), rel=1e-6)


def test_a_category_is_one_term_and_terms_can_be_kept() -> None:
    table = pd.DataFrame({"age": X[:, 0], "noise": X[:, 1], "marker": X[:, 2]})
    table["stage"] = np.where(RNG.random(N) < 0.2, None, RNG.choice(["I", "II", "III"], N))
    model = regression("logistic", table, TaskKind.BINARY, fill=False)
    plain = ImputedModel(model, Imputation(3, selection=BackwardSelection()), random_state=0).fit(table, Y)
    assert plain.selection_ is not None and set(plain.selection_.kept) == {"age", "marker"}
    assert plain.coefficients_ is not None and plain.coefficients_.names == ("intercept", "age", "marker")
    kept = ImputedModel(model, Imputation(3, selection=BackwardSelection(keep=["stage"])), random_state=0)
    kept.fit(table, Y)
    assert kept.coefficients_ is not None
    assert kept.coefficients_.names == ("intercept", "age", "marker", "stage_II", "stage_III")
    assert np.isfinite(kept.predict_proba(table)).all()


def test_the_median_of_p_values() -> None:
    selection = BackwardSelection(0.05, test="median_p")
    model = ImputedModel(MODEL, Imputation(3, selection=selection), random_state=0).fit(X, Y)
    tables, kept = Imputation(3).completed(X, truth_of(Y), 0, "training rows"), list(range(5))
    while True:
        each = [information(table[:, kept], Y) for table in tables]
        p = np.median([2 * stats.norm.sf(np.abs(b) / np.sqrt(np.diag(v)))[1:] for b, v in each], axis=0)
        if p.max() <= 0.05:
            break
        kept.pop(int(p.argmax()))
    assert model.selection_ is not None and model.selection_.kept == tuple(f"x{j}" for j in kept)


def test_a_model_without_terms_predicts_the_mean() -> None:
    noise = RNG.normal(size=(N, 2))
    noise[:10, 0] = np.nan
    imputation = Imputation(2, selection=BackwardSelection(1e-6))
    model = ImputedModel(MODEL, imputation, random_state=0).fit(noise, Y)
    assert model.selection_ is not None and model.selection_.kept == ()
    np.testing.assert_allclose(model.predict_proba(noise)[:, 1], Y.mean(), atol=1e-6)
    numbers = ImputedModel(LinearRegression(), imputation, random_state=0).fit(noise, WHOLE[:, 0])
    np.testing.assert_allclose(numbers.predict(noise), WHOLE[:, 0].mean())


def test_survival_keeps_its_last_term() -> None:
    times = RNG.exponential(np.exp(-WHOLE[:, 0]))
    y = np.array([(True, time) for time in times], dtype=[("event", bool), ("time", float)])
    model = ImputedModel(CoxRegression(), Imputation(2, selection=BackwardSelection(1e-9)), random_state=0)
    model.fit(X[:, 1:4], y)
    assert model.selection_ is not None and len(model.selection_.kept) == 1


def test_every_bootstrap_selects_anew() -> None:
    imputation = Imputation(2, selection=BackwardSelection(0.1))
    found = ho.bootstrap_validate(
        MODEL, X, Y, metric="brier_score", imputation=imputation, n_bootstraps=4, random_state=0
    )
    entropy, truth = found.estimates["brier_score"].provenance["entropy"], truth_of(Y)
    evaluated = imputation.completed(X, None, entropy, "rows that are evaluated")
    differences, sets, selected = [], set(), []
    for b, counts in enumerate(found.replicates.counts):
        rows = drawn_rows(counts)
        own = imputation.completed(X[rows], truth.rows(rows), entropy, 1 + b, 0)
        kept = by_hand(own, Y[rows], 0.1)
        sets.add(tuple(kept))
        selected.append(kept)
        members = [clone(MODEL).fit(table[:, kept], Y[rows]) for table in own]

        def pooled(table: np.ndarray, members: Any = members, kept: Any = kept) -> np.ndarray:
            logits = np.mean([member.decision_function(table[:, kept]) for member in members], axis=0)
            return np.asarray(1 / (1 + np.exp(-logits)))

        inside = np.mean([brier_score_loss(Y[rows], pooled(table)) for table in own])
        differences.append(inside - np.mean([brier_score_loss(Y, pooled(table)) for table in evaluated]))
    row = found.rows["brier_score"]
    assert row.corrected == pytest.approx(row.apparent - np.mean(differences), abs=1e-6)
    assert found.model.selection_ is not None
    assert found.coefficients is not None and found.coefficients.names[1:] == found.model.selection_.kept
    assert len(sets) > 1, "samples select different columns"
    shares = {f"x{j}": np.mean([j in kept for kept in selected]) for j in range(5)}
    assert found.selection_frequency == pytest.approx(shares)
    assert found.to_dict()["selection_frequency"] == found.selection_frequency
    everything = ho.bootstrap_validate(
        MODEL, X, Y, metric="brier_score", imputation=2, n_bootstraps=2, random_state=0
    )
    assert everything.selection_frequency == {} and everything.model.selection_ is None


def test_a_search_selects_in_every_training_part() -> None:
    search = ho.HeldOutSearchCV(
        MODEL, {}, cv=3, scoring="roc_auc", imputation=Imputation(2, selection=BackwardSelection()),
        keep_models="winner", random_state=0,
    ).fit(X, Y)  # fmt: skip
    assert "x0" in search.best_estimator_.selection_.kept
    assert all(model.selection_.removed for model, _ in search.fold_models_.held_out())


@pytest.mark.parametrize(
    ("make", "said", "argument"),
    [
        (lambda: BackwardSelection(0.0), "between 0 and 1, got 0.0", "p_remove"),
        (lambda: BackwardSelection(True), "between 0 and 1, got True", "p_remove"),
        (lambda: BackwardSelection(test="F"), "D1, median_p, got 'F'", "test"),  # type: ignore[arg-type]
        (lambda: BackwardSelection(keep="age"), "list of names", "keep"),  # type: ignore[arg-type]
        (lambda: Imputation(2, selection="D1"), "BackwardSelection(...)", "selection"),  # type: ignore[arg-type]
        (lambda: Imputation(2, selection=BackwardSelection(), order="naive"), "pools nothing", "selection"),
        (
            lambda: ImputedModel(MODEL, Imputation(2, selection=BackwardSelection(keep=["sex"]))).fit(X, Y),
            "its terms are x0, x1", "keep",
        ),
        (
            lambda: ho.bootstrap_validate(
                RandomForestClassifier(3), X, Y, imputation=Imputation(2, selection=BackwardSelection()),
                n_bootstraps=2,
            ),
            "backward selection needs coefficients with standard errors", None,
        ),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(make: Any, said: str, argument: str | None) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert said in str(caught.value) and caught.value.argument == argument
