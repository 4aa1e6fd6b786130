"""Probabilities against their truth equal ``rms::val.prob``, ``rms::lrm.fit`` and ``Hmisc::somers2`` of R.

In R 4.2 with rms 6.5-0, of 200 rows and of the 201 copies that ``w`` makes of them:

    n <- 200; i <- 1:n; w <- (i * 7) %% 3
    p <- round(((i * 0.6180339887498949) %% 1)^1.5 * .96 + .02, 2)
    y <- as.numeric((i * 0.7548776662466927) %% 1 < .15 + .6 * p)
    val.prob(p, y, pl=FALSE)                # Dxy, R2 of the own likelihood, Emax, Eavg, Slope, Intercept
    lrm.fit(qlogis(p), y)$stats["R2"]       # what validate.lrm computes on test data
    Sm <- lowess(p, y, iter=0); er <- abs(p - approx(Sm, xout=p, ties=mean)$y)
    quantile(er, .9, type=1); 100 * mean(er^2)
    pr <- rep(p, w); yr <- rep(y, w)        # and all of it again of these; somers2(pr, yr)["Dxy"]
    er <- abs(pr - fitted(glm(yr ~ qlogis(pr), family=binomial, epsilon=1e-14)))
    coef(lm(rep(3 + 2 * p + (i * 0.569840290998) %% 1, w) ~ pr))
"""

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.metrics import metric_named

I = np.arange(1, 201)  # noqa: E741
COUNTS = np.stack([np.ones(200), (I * 7) % 3]).astype(np.uint8)
P = (((I * 0.6180339887498949) % 1) ** 1.5 * 0.96 + 0.02).round(2)
Y = ((I * 0.7548776662466927) % 1 < 0.15 + 0.6 * P).astype(int)

OF_R = {
    "somers_d": [0.439303904923599, 0.501076658053402],
    "nagelkerke_r2(recalibrated=False)": [0.0682177899610229, 0.153158427591961],
    "nagelkerke_r2": [0.185110038914244, 0.231009545249232],
    "emax": [0.272565102011214, 0.268984222444413],
    "ici": [0.0923421656127739, 0.0791954071380232],
    "e90": [0.204171580638461, 0.197365564329247],
    "eci": [1.31813201916533, 1.06924585238445],
    "calibration_slope": [0.508044017687771, 0.594865215184571],
    "calibration_intercept(given_slope=False)": [-0.278020418935692, -0.334837544462534],
}
OF_THE_LOGISTIC_CURVE = {
    "emax": 0.182632526687618,
    "ici": 0.0826719124445392,
    "e90": 0.174439239706258,
    "eci": 0.985934703203181,
}


@pytest.mark.parametrize("name", OF_R)
def test_equals_r(name: str) -> None:
    found = metric_named(name).statistic(truth_of(Y), P[:, None]).all(COUNTS)[:, 0]
    # Fits of lrm.fit stop at a change of the likelihood, some digits before ours.
    np.testing.assert_allclose(found, OF_R[name], rtol=1e-6 if "calibration" in name else 1e-10)


@pytest.mark.parametrize("name", OF_THE_LOGISTIC_CURVE)
def test_distances_from_the_logistic_curve(name: str) -> None:
    bound = metric_named(f"{name}(smoother='logistic')").statistic(truth_of(Y), P[:, None])
    np.testing.assert_allclose(bound.all(COUNTS[1:])[0, 0], OF_THE_LOGISTIC_CURVE[name], rtol=1e-10)


def test_the_line_of_predicted_numbers() -> None:
    y = 3 + 2 * P + (I * 0.569840290998) % 1
    names = ("calibration_slope", "calibration_intercept(given_slope=False)", "calibration_intercept")
    found = [metric_named(name).statistic(truth_of(y), P[:, None]).all(COUNTS)[1, 0] for name in names]
    np.testing.assert_allclose(found, [1.86905083414934, 3.55044823493278, 3.89685795051509], rtol=1e-12)
