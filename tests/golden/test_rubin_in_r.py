"""Rubin's rules against ``pool`` of R's mice, and the covariances of single fits against R's ``vcov``.

``data/rubin_mice.json`` was written by mice 3.15.0 under R 4.2, with 17 digits:

    set.seed(20240611)
    n <- 40
    x1 <- round(rnorm(n), 2); x2 <- round(0.5 * x1 + rnorm(n), 2)
    z <- rbinom(n, 1, plogis(0.3 + 0.8 * x1)); y <- round(1 + x1 - 0.5 * x2 + rnorm(n), 2)
    time <- round(rexp(n, exp(0.4 * x1)), 3); status <- rbinom(n, 1, 0.8)
    x1[sample(n, 10)] <- NA; x2[sample(n, 12)] <- NA
    imp <- mice(data.frame(x1, x2, z, y, time, status), m = 4, seed = 7, method = "norm")
    with(imp, glm(z ~ x1 + x2, family = binomial, control = list(epsilon = 1e-14)))
    with(imp, lm(y ~ x1 + x2))
    with(imp, coxph(Surv(time, status) ~ x1 + x2))

``values`` and ``covariances`` are ``coef`` and ``vcov`` of each fit, the rest is ``pool(fits)$pooled``, and
``first`` is ``complete(imp, 1)``. The Cox model's degrees of freedom are those of its 33 events.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.imputation.coefficients import Coefficients, coefficients_of, pool_coefficients
from heldout.spaces.regressions import NO_PENALTY

GIVEN = json.loads((Path(__file__).parent / "data" / "rubin_mice.json").read_text(encoding="utf-8"))
N = 40


@pytest.mark.parametrize("kind", ["glm", "lm", "coxph"])
def test_pooling_is_that_of_mice(kind: str) -> None:
    given = {name: np.array(values) for name, values in GIVEN[kind].items()}
    p = given["values"].shape[1]
    events = GIVEN["events"] if kind == "coxph" else None
    each = [
        Coefficients(tuple("abc"[:p]), values, covariance.reshape(p, p), events)
        for values, covariance in zip(given["values"], given["covariances"], strict=True)
    ]
    pooled = pool_coefficients(each, N)
    assert pooled is not None
    same = {"rtol": 1e-9, "atol": 0.0}
    np.testing.assert_allclose(pooled.values, given["estimate"], **same)
    np.testing.assert_allclose(np.diag(pooled.within), given["ubar"], **same)
    np.testing.assert_allclose(np.diag(pooled.between), given["b"], **same)
    np.testing.assert_allclose(np.diag(pooled.covariance), given["t"], **same)
    np.testing.assert_allclose(pooled.df, given["df"], **same)
    np.testing.assert_allclose(pooled.variance_from_missing, given["lambda"], **same)
    np.testing.assert_allclose(pooled.fmi, given["fmi"], **same)


@pytest.mark.parametrize("kind", ["glm", "lm"])
def test_the_covariance_of_one_fit_is_that_of_r(kind: str) -> None:
    first = {name: np.array(values) for name, values in GIVEN["first"].items()}
    X = np.column_stack([first["x1"], first["x2"]])
    y = first["z"] if kind == "glm" else first["y"]
    model = LogisticRegression(C=NO_PENALTY, tol=1e-10) if kind == "glm" else LinearRegression()
    found = coefficients_of(model.fit(X, y), X, y)
    assert found is not None
    np.testing.assert_allclose(found.values, GIVEN[kind]["values"][0], rtol=1e-6)
    np.testing.assert_allclose(found.covariance.ravel(), GIVEN[kind]["covariances"][0], rtol=1e-5)
    # A column in other units is another coefficient of the same model.
    piped = make_pipeline(StandardScaler(), model).fit(X, y)
    scaled = coefficients_of(piped, X, y)
    assert scaled is not None
    assert scaled.names == ("intercept", "x0", "x1")
    z = scaled.values[1:] / np.sqrt(np.diag(scaled.covariance))[1:]
    np.testing.assert_allclose(z, found.values[1:] / np.sqrt(np.diag(found.covariance))[1:], rtol=1e-5)
