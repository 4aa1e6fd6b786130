"""Survival through ``ho.estimate``: every option, and what cannot be estimated."""

from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import HeldoutWarning, InputError

N, C = 120, 6
TIMES = (0.2, 0.6, 1.2)
FOLDS = np.arange(N) % 3


def study(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Tied times, about 60 % events; risks that know a little."""
    rng = np.random.default_rng(seed)
    failure, lost = rng.exponential(1.0, N), rng.exponential(1.5, N)
    y = np.empty(N, dtype=[("dead", "?"), ("years", "f8")])
    y["dead"], y["years"] = failure <= lost, np.minimum(failure, lost).round(1) + 0.1
    return y, (rng.normal(size=(N, C)) - np.linspace(0.3, 0.6, C) * np.log(failure)[:, None]).round(1)


Y, RISKS = study()
SURVIVAL = np.exp(-np.array(TIMES) * np.exp(RISKS / 3)[:, :, None])[:, :, None, :]


def ask(y: Any = Y, predictions: Any = RISKS, metric: Any = "concordance_index", **settings: Any) -> ho.Estimate:
    return ho.estimate(y, predictions, metric=metric, **{"n_bootstraps": 60, "random_state": 1, **settings})


def concordance(y: np.ndarray, risks: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Pair by pair."""
    w = np.ones(len(y)) if weights is None else weights
    time, dead = y["years"], y["dead"]
    later = (time[None, :] > time[:, None]) | ((time[None, :] == time[:, None]) & ~dead[None, :])
    pairs = w[:, None] * w[None, :] * dead[:, None] * later
    won = (risks[:, None] > risks[None, :]) + 0.5 * (risks[:, None] == risks[None, :])
    return float((pairs * won).sum() / pairs.sum())


SETTINGS = {
    "plain": {},
    "repeats": {"predictions": np.stack([RISKS, RISKS + 0.01 * np.arange(C)], axis=2)},
    "groups": {"groups": np.arange(N) // 3, "folds": None},
    "weights": {"sample_weight": np.random.default_rng(0).gamma(2.0, size=N)},
    "folds": {"folds": FOLDS, "aggregate": "folds"},
    "unos": {"metric": ho.metrics.ConcordanceUno(tau=2.0)},
    "brier": {"metric": ho.metrics.IntegratedBrier(TIMES), "predictions": SURVIVAL},
    "brier in folds": {"metric": ho.metrics.IntegratedBrier(TIMES), "predictions": SURVIVAL, "folds": FOLDS,
                       "aggregate": "folds"},
    "one standard error": {"folds": FOLDS, "selection": "one_standard_error"},
}  # fmt: skip


@pytest.mark.parametrize("settings", list(SETTINGS.values()), ids=list(SETTINGS))
def test_the_estimate_takes_every_option(settings: dict[str, Any]) -> None:
    found = ask(**settings)
    assert found.interval is not None
    assert found.interval.low < found.value < found.interval.high
    assert np.isfinite(found.uncorrected)


def test_uncorrected_scores_are_the_definition() -> None:
    weights = np.random.default_rng(0).gamma(2.0, size=N)
    assert ask(method="cv").value == pytest.approx(max(concordance(Y, r) for r in RISKS.T), abs=1e-12)
    weighted = ask(method="cv", sample_weight=weights)
    assert weighted.value == pytest.approx(max(concordance(Y, r, weights) for r in RISKS.T), abs=1e-12)
    in_folds = [np.mean([concordance(Y[k == FOLDS], r[k == FOLDS]) for k in range(3)]) for r in RISKS.T]
    assert ask(method="cv", folds=FOLDS, aggregate="folds").value == pytest.approx(max(in_folds), abs=1e-12)


def test_what_was_not_predicted_is_left_out() -> None:
    risks = RISKS.copy()
    risks[:10, 2], risks[5, 4] = np.nan, np.inf
    with pytest.warns(HeldoutWarning, match="configuration 4 .it predicted an infinite value"):
        found = ask(predictions=risks)
    assert found.n_rows_used == N - 10
    with pytest.warns(HeldoutWarning):
        cv = ask(predictions=risks, method="cv")
    assert cv.value == pytest.approx(max(concordance(Y[10:], RISKS[10:, j]) for j in (0, 1, 2, 3, 5)), abs=1e-12)
    survival = SURVIVAL.copy()
    survival[3, 1, 0, 2] = np.nan
    brier = ask(metric=ho.metrics.IntegratedBrier(TIMES), predictions=survival)
    assert brier.n_rows_used == N - 1


def test_a_negative_loss_and_a_function_of_ones_own() -> None:
    loss = ask(metric=ho.metrics.IntegratedBrier(TIMES), predictions=SURVIVAL)
    assert loss.optimism > 0

    def slow(y_true: Any, risks: Any) -> float:
        return concordance(np.rec.fromarrays([y_true["event"], y_true["time"]], names="dead,years"), risks)

    own = ho.metrics.custom(
        slow, greater_is_better=True, response="risk", needs="an event and a row that outlasts it"
    )
    fast = ask(method="bbc", n_bootstraps=10)
    found = ask(metric=own, method="bbc", n_bootstraps=10)
    np.testing.assert_allclose(found.distribution, fast.distribution, atol=1e-12)


def test_few_events_in_folds_are_scored_out_of_the_bag_by_the_pairs_of_each_fold() -> None:
    y = Y.copy()
    y["dead"] = np.arange(N) % 7 == 0
    found = ask(y=y, folds=FOLDS, aggregate="folds", method="bbc")
    assert found.provenance["aggregate_out_of_bag"] == "within" and "out_of_bag_pooled" not in found.flags


def with_events(rows: list[int]) -> np.ndarray:
    y = Y.copy()
    y["dead"] = False
    y["dead"][rows] = True
    return y


LAST = int(Y["years"].argmax())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param({"y": with_events([])}, "120 rows and no event: all are censored", id="all censored"),
        pytest.param(
            {"y": with_events([3])},
            "1 row had the event that concordance_index counts, and a bootstrap needs at least 2",
            id="one event",
        ),
        pytest.param(
            {"y": with_events([0, 1]), "groups": np.arange(N) // 2}, "1 group had the event", id="one group"
        ),
        pytest.param({"y": with_events([LAST])}, "no row outlasts the first event", id="the last row"),
        pytest.param({"y": Y["years"]}, "a survival target must be scikit-survival's", id="times alone"),
        pytest.param(
            {"metric": "accuracy"}, "does not fit a survival target; .* concordance_index, ", id="accuracy"
        ),
        pytest.param({"metric": "integrated_brier_score"}, r"integrated_brier_score\(times=\[", id="no times"),
        pytest.param(
            {"metric": ho.metrics.IntegratedBrier(TIMES), "predictions": SURVIVAL[:, :, 0]},
            r"got shape \(120, 6, 3\); of one repeat pass predictions\[:, :, None, :\]",
            id="3-D",
        ),
        pytest.param(
            {"metric": ho.metrics.IntegratedBrier(TIMES), "predictions": SURVIVAL[..., :2]},
            "at 3 times, got predictions of 2",
            id="two of three times",
        ),
        pytest.param(
            {"metric": ho.metrics.IntegratedBrier(TIMES), "predictions": SURVIVAL + 1},
            r"must lie in \[0, 1\], got .* to ",
            id="no probabilities",
        ),
        pytest.param({"predictions": SURVIVAL}, "one risk each, got 3", id="survival for risk"),
        pytest.param({"response": "decision"}, "`response='decision'` is for classifications", id="response"),
        pytest.param({"pos_label": True}, "`pos_label=True` is for labels", id="pos_label"),
        pytest.param({"method": "delong"}, "method 'delong' does not fit: .*; methods that do: .*bbc", id="delong"),
    ],
)
def test_what_cannot_be_estimated_has_its_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        ask(**arguments)


def test_a_search_over_models_that_learn_no_events_is_refused() -> None:
    from sklearn.linear_model import Ridge

    with pytest.raises(InputError, match="events and times, which Ridge cannot learn"):
        ho.HeldOutSearchCV(Ridge(), {"alpha": [1.0, 2.0]}).fit(RISKS, Y)


def before(tau: float, events: int) -> np.ndarray:
    """The study with so many events before ``tau``: the others of then are censored."""
    y = Y.copy()
    early = np.flatnonzero(y["dead"] & (y["years"] < tau))
    y["dead"][early[events:]] = False
    return y


def test_a_bootstrap_without_an_event_before_tau_is_drawn_again() -> None:
    metric = ho.metrics.ConcordanceUno(tau=0.5)
    estimate = ask(before(0.5, 3), metric=metric)
    assert np.isfinite(estimate.distribution).all()
    assert {flag.name for flag in estimate.flags} == {"REDRAWN"}
    with pytest.raises(InputError, match="1 row had the event that concordance_index_ipcw"):
        ask(before(0.5, 1), metric=metric)


def test_a_fold_without_an_event_before_tau_has_no_score_and_spoils_none() -> None:
    y = before(0.5, 0)
    y["dead"][np.flatnonzero((FOLDS > 0) & (Y["years"] < 0.5))] = True
    metric = ho.metrics.ConcordanceUno(tau=0.5)
    found = ask(y, metric=metric, folds=FOLDS, aggregate="folds", method="cv")
    bound = metric.for_truth(truth_of(y, "survival"))
    of_folds = [
        bound.statistic(truth_of(y, "survival").rows(rows), RISKS[rows]).all(np.ones((1, len(rows)), np.uint8))[0]
        for rows in (np.flatnonzero(FOLDS == k) for k in (1, 2))
    ]
    assert found.uncorrected == pytest.approx(np.mean(of_folds, axis=0).max(), abs=1e-12)
    assert "UNDEFINED_FOLDS" in {flag.name for flag in found.flags}
