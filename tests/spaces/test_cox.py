"""Cox regression against the numbers of R and scikit-survival, and as an estimator of scikit-learn."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks

from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics.calibration import CalibrationSlope
from heldout.metrics.survival_model import risks, scores_concordance, survival
from heldout.spaces.cox import CoxRegression

TIME = np.array([5, 3, 8, 8, 1, 2, 9, 4, 4, 6, 7, 7, 7, 10, 3, 12, 11, 2, 5, 6], dtype=float)
EVENT = np.array([1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0], dtype=bool)
AGE = [61, 74, 52, 48, 80, 66, 45, 70, 59, 63, 57, 72, 50, 49, 68, 41, 55, 77, 60, 58]
DOSE = [1, 0, 2, 2, 0, 1, 3, 0, 1, 2, 1, 0, 2, 3, 1, 3, 2, 1, 0, 2]
X = np.column_stack([AGE, DOSE]).astype(float)
Y = np.rec.fromarrays([EVENT, TIME], names="died,weeks").view(np.ndarray)
NEW, AT = np.array([[50.0, 2.0], [70.0, 0.0]]), [2.5, 7, 11]
COPIES = np.repeat(np.arange(20), [1, 0, 2, 1, 1, 3, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 1, 0, 2])
WEIGHTS = np.array([0.5, 1.2, 2, 0.3, 1.7, 0.9, 1.1, 0.4, 2.2, 0.6, 1.3, 0.8, 1, 1.5, 0.7, 0.2, 1.9, 0.6, 1.4, 1])

# fit <- coxph(Surv(time, event) ~ age + dose, d, ties = ties, weights = w or none, robust = FALSE,
#              control = coxph.control(eps = 1e-14, toler.chol = 1e-15, iter.max = 50))
# coef(fit), vcov(fit)[c(1, 2, 4)], fit$loglik; of survival 3.4 under R 4.2
# t(summary(survfit(fit, newdata = new, stype = 2, ctype = 1), times = c(2.5, 7, 11))$surv)
OF_R: dict[tuple[str, str], list[list[float]]] = {
    ("efron", "once"): [
        [0.1186666601742722, -0.3655276142220428],
        [0.004359034655422989, 0.032812438728149054, 0.392146122960400245],
        [-29.92090495011198, -20.59493943258066],
        [9.847953352034268e-01, 8.737285822502235e-01, 3.029051249276383e-01,
         7.106321132456886e-01, 4.931238997832323e-02, 2.725401677038496e-12],
    ],
    ("efron", "copies"): [
        [0.1163659689461836, -1.7715122542426278],
        [0.004400924862640451, 0.024892801939879156, 0.759701424813783666],
        [-27.78203998796135, -17.48203565215172],
        [9.885670518602749e-01, 9.101669407797884e-01, 1.391253170511128e-01,
         1.699490629813264e-02, 3.263587852126167e-15, 2.806328186875305e-304],
    ],
    ("efron", "weights"): [
        [0.09288504927851134, -0.59610927353387466],
        [0.003635191147847426, 0.027855973545602552, 0.341338281281507394],
        [-37.09552027083313, -27.91566967378462],
        [9.812791085529254e-01, 8.446282402628538e-01, 2.296292402356435e-01,
         6.709820008983204e-01, 2.829068359315438e-02, 3.228157006567924e-14],
    ],
    ("breslow", "once"): [
        [0.1150629386686930, -0.3516425687600643],
        [0.004136660070016151, 0.030685896293693379, 0.376844495414186076],
        [-30.24179078619913, -21.55240535205353],
        [9.832920221759137e-01, 8.638299862730455e-01, 2.975220306895914e-01,
         7.117951636417256e-01, 5.215699827615766e-02, 2.383358825579705e-11],
    ],
    ("breslow", "copies"): [
        [0.0964031072007321, -1.8537254014621123],
        [0.004363691642956328, 0.026201185789334957, 0.775321077754206334],
        [-28.66082851543992, -19.07614136515349],
        [9.846207384042462e-01, 9.003104472997352e-01, 1.160223526411997e-01,
         1.300020770040070e-02, 1.661883516170571e-13, 7.623144730998977e-263],
    ],
    ("breslow", "weights"): [
        [0.09329730897487994, -0.54579879530622932],
        [0.003554089112342184, 0.026906633796442394, 0.332566799844633831],
        [-37.41757894629517, -28.79052212817150],
        [9.799338886352574e-01, 8.353334606388917e-01, 2.292297254943083e-01,
         6.769123117551563e-01, 3.131507468069810e-02, 4.839635685075983e-13],
    ],
}  # fmt: skip


@pytest.mark.parametrize(("ties", "which"), list(OF_R), ids=str)
def test_equals_coxph_of_r(ties: Any, which: str) -> None:
    rows = COPIES if which == "copies" else np.arange(20)
    model = CoxRegression(ties).fit(X[rows], Y[rows], WEIGHTS if which == "weights" else None)
    coefficients, covariance, log_likelihoods, curves = OF_R[ties, which]
    np.testing.assert_allclose(model.coef_, coefficients, rtol=1e-9)
    np.testing.assert_allclose(model.covariance_.ravel()[[0, 1, 3]], covariance, rtol=1e-9)
    np.testing.assert_allclose(model.log_likelihood_, log_likelihoods, rtol=1e-12)
    np.testing.assert_allclose(np.ravel(model.predict_survival_function(NEW, times=AT)), curves, rtol=1e-7)


# sksurv.linear_model.CoxPHSurvivalAnalysis(alpha=2.0, ties=ties, tol=1e-14, n_iter=200).fit(X, y).coef_, and
# .predict_survival_function(NEW, return_array=True)[:, [1, 6, 10]] of scikit-survival 0.28.0
# coxph(Surv(time, event) ~ ridge(age, dose, theta = 2, scale = FALSE), d) of R gives the first coefficients, too.
OF_SCIKIT_SURVIVAL = {
    "efron": (
        [0.13133340526262854, -0.21110814242413783],
        [0.9853561337816806, 0.8721141174854241, 0.32345813499680787],
    ),
    "breslow": (
        [0.1266428859255799, -0.20619938421719478],
        [0.9837457594518815, 0.8615545409605608, 0.31611165789415163],
    ),
}


@pytest.mark.parametrize("ties", list(OF_SCIKIT_SURVIVAL))
def test_a_penalty_is_that_of_scikit_survival(ties: Any) -> None:
    coefficients, curve = OF_SCIKIT_SURVIVAL[ties]
    model = CoxRegression(ties, alpha=2.0).fit(X, Y)
    np.testing.assert_allclose(model.coef_, coefficients, rtol=1e-9)
    np.testing.assert_allclose(model.predict_survival_function(NEW)[0, [1, 6, 10]], curve, rtol=1e-9)
    assert model.unique_times_.tolist() == list(range(1, 13))
    assert not hasattr(model, "covariance_")


def test_its_own_risks_have_slope_one() -> None:
    model = CoxRegression().fit(X[COPIES], Y[COPIES])
    counts = np.bincount(COPIES, minlength=20).astype(np.uint8)[None]
    truth = truth_of(Y)
    slope = CalibrationSlope().for_truth(truth).statistic(truth, model.predict(X)[:, None]).all(counts)
    assert slope[0, 0] == pytest.approx(1.0, abs=1e-10)


def test_units_and_places_of_the_columns() -> None:
    once, moved = CoxRegression().fit(X, Y), CoxRegression().fit(1e6 + X * [1e-3, 1e3], Y)
    np.testing.assert_allclose(moved.coef_ * [1e-3, 1e3], once.coef_, rtol=1e-6)
    relative = moved.covariance_ * np.outer([1e-3, 1e3], [1e-3, 1e3])
    np.testing.assert_allclose(relative, once.covariance_, rtol=1e-6)
    found = moved.predict_survival_function(1e6 + NEW * [1e-3, 1e3], times=AT)
    np.testing.assert_allclose(found, once.predict_survival_function(NEW, times=AT), rtol=1e-4, atol=1e-12)


def test_weights_of_nothing_leave_rows_out() -> None:
    kept = np.arange(20) % 3 > 0
    few, none = CoxRegression().fit(X[kept], Y[kept]), CoxRegression().fit(X, Y, kept.astype(float))
    np.testing.assert_array_equal(none.coef_, few.coef_)
    np.testing.assert_array_equal(none.unique_times_, few.unique_times_)
    np.testing.assert_array_equal(CoxRegression().fit(X, Y, np.ones(20)).coef_, CoxRegression().fit(X, Y).coef_)


def test_curves_are_steps_from_one_down() -> None:
    model = CoxRegression().fit(X, Y)
    curves = model.predict_survival_function(NEW)
    assert curves.shape == (2, 12)
    assert (np.diff(curves, axis=1) <= 0).all() and (curves > 0).all() and (curves <= 1).all()
    np.testing.assert_array_equal(model.predict_survival_function(NEW, times=[0, 0.99, 1, 1.5, 12])[:, [0, 1]], 1.0)
    np.testing.assert_array_equal(model.predict_survival_function(NEW, times=[1.5, 12]), curves[:, [0, -1]])
    np.testing.assert_allclose(curves, np.exp(-model.predict_cumulative_hazard_function(NEW)))
    # Of no columns' effect it is Breslow's (Nelson's) curve of everybody.
    flat = CoxRegression(alpha=1e12).fit(X, Y)
    there = [(TIME >= time).sum() for time in range(1, 13)]
    nelson = np.cumsum([(EVENT & (TIME == time)).sum() / n for time, n in zip(range(1, 13), there, strict=True)])
    np.testing.assert_allclose(flat.predict_cumulative_hazard_function(NEW), [nelson, nelson], rtol=1e-6)


def test_what_heldout_asks_of_survival_models() -> None:
    model = make_pipeline(StandardScaler(), CoxRegression()).fit(X, Y)
    plain = CoxRegression().fit(X, Y)
    np.testing.assert_allclose(survival(model, NEW, AT), plain.predict_survival_function(NEW, times=AT), rtol=1e-9)
    assert np.ptp(risks(model, X) - plain.predict(X)) == pytest.approx(0, abs=1e-9)
    assert scores_concordance(model)
    assert model.score(X, Y) == plain.score(X, Y)
    later = (TIME > TIME[:, None]) | ((TIME == TIME[:, None]) & ~EVENT)
    pairs = EVENT[:, None] & later
    ahead = np.sign(plain.predict(X)[:, None] - plain.predict(X))
    assert plain.score(X, Y) == pytest.approx(((1 + ahead) / 2)[pairs].mean(), abs=1e-12)


def test_names_of_columns() -> None:
    table = pd.DataFrame(X, columns=["age", "dose"])
    model = CoxRegression().fit(table, Y)
    assert model.feature_names_in_.tolist() == ["age", "dose"] and model.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[["dose", "age"]])
    with pytest.raises(ValueError, match="3 features, but CoxRegression is expecting 2"):
        CoxRegression().fit(X, Y).predict(np.ones((1, 3)))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        pytest.param({"twice": 2.0 * X[:, 0]}, "no single best coefficient of twice: constant", id="a multiple"),
        pytest.param({"one": np.ones(20)}, "no single best coefficient of one: constant among", id="a constant"),
        pytest.param({"tiny": np.full(20, 1e-300)}, "no single best coefficient of tiny:", id="a tiny constant"),
        pytest.param(
            {"first": -TIME - 0.1 * ~EVENT}, "no finite best coefficient of first: it seems", id="tells all"
        ),
        pytest.param(
            {"late": TIME > 10.5}, "no finite best coefficient of late: it seems", id="never has an event"
        ),
    ],
)
def test_coefficients_that_are_not_to_be_found(columns: dict[str, Any], sentence: str) -> None:
    event = EVENT & (TIME < 10.5)
    table = pd.DataFrame({"age": X[:, 0], **columns}).astype(float)
    with pytest.raises(InputError, match=sentence) as raised:
        CoxRegression().fit(table, (event, TIME))
    assert "alpha above 0, such as CoxRegression(alpha=0.1)" in str(raised.value)
    penalised = CoxRegression(alpha=0.1).fit(table, (event, TIME))
    assert np.isfinite(penalised.coef_).all()


@pytest.mark.parametrize(
    ("settings", "given", "sentence"),
    [
        pytest.param({"ties": "exact"}, {}, "ties must be one of 'efron', 'breslow', got 'exact'", id="ties"),
        pytest.param({"alpha": -1}, {}, "alpha must be a finite number of at least 0, got -1", id="alpha"),
        pytest.param(
            {}, {"sample_weight": -np.ones(20)}, "sample_weight must be at least 0, got -1 in row 0", id="w"
        ),
        pytest.param(
            {}, {"sample_weight": 1.0 - EVENT}, "all rows with an event have sample_weight 0", id="no event"
        ),
        pytest.param({}, {"y": Y[:5]}, "as many rows as each other, got 20 and 5", id="lengths"),
        pytest.param({}, {"y": np.arange(20)}, "a survival target must be", id="no survival target"),
    ],
)
def test_what_cannot_be_fitted_has_its_sentence(settings: Any, given: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        CoxRegression(**settings).fit(X, **{"y": Y, **given})


def test_missing_values_and_late_times_are_refused() -> None:
    with pytest.raises(ValueError, match="contains NaN"):
        CoxRegression().fit(np.where(X == 2, np.nan, X), Y)
    with pytest.raises(NotFittedError):
        CoxRegression().predict(X)
    with pytest.raises(InputError, match=r"times until 12, the last of the training rows, got \[5, 13\]"):
        CoxRegression().fit(X, Y).predict_survival_function(X, times=[5, 13])
    with pytest.raises(InputError, match=r"times must be a list of times until 12, .*got 'late'"):
        CoxRegression().fit(X, Y).predict_survival_function(X, times="late")


def test_it_is_an_estimator_of_scikit_learn() -> None:
    model = CoxRegression(ties="breslow", alpha=0.5)
    for name in (
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
        "check_estimator_repr",
        "check_estimator_cloneable",
        "check_estimator_tags_renamed",
    ):
        getattr(estimator_checks, name)("CoxRegression", clone(model))
    again = pickle.loads(pickle.dumps(model.fit(X, Y)))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    copy = clone(model).fit(X, Y)
    np.testing.assert_array_equal(copy.coef_, model.fit(X, Y).coef_)
    before = X.copy()
    model.fit(X, Y, np.ones(20))
    np.testing.assert_array_equal(X, before)
    assert model.set_params(alpha=0.0).fit(X, Y).covariance_.shape == (2, 2)
    assert not hasattr(model.set_params(alpha=1.0).fit(X, Y), "covariance_")
