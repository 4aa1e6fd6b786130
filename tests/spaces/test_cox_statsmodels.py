"""statsmodels' Cox regression as an estimator."""

import pickle
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks

from heldout.errors import InputError, MissingExtraError
from heldout.imputation.coefficients import coefficients_of
from heldout.metrics.survival_model import scores_concordance
from heldout.spaces import CoxRegression, StatsmodelsCox

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 2))
TIME = np.ceil(5 * RNG.exponential(np.exp(-X[:, 0])))
EVENT = RNG.random(60) < 0.7
Y = (EVENT, TIME)


def test_without_statsmodels_a_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("statsmodels", "statsmodels.duration", "statsmodels.duration.hazard_regression"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"StatsmodelsCox needs .* pip install 'heldout\[survival\]'"):
        StatsmodelsCox().fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "y", "sentence"),
    [
        pytest.param({"ties": "exact"}, Y, "ties must be one of 'efron', 'breslow', got 'exact'", id="ties"),
        pytest.param({}, (EVENT[:5], TIME[:5]), "as many rows as each other, got 60 and 5", id="lengths"),
        pytest.param({}, TIME, "a survival target must be", id="no survival target"),
    ],
)
def test_what_cannot_be_fitted_has_its_sentence(settings: Any, y: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        StatsmodelsCox(**settings).fit(X, y)


def test_it_is_an_estimator_of_scikit_learn() -> None:
    model = StatsmodelsCox(ties="breslow")
    for name in (
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
    ):
        getattr(estimator_checks, name)("StatsmodelsCox", clone(model))
    assert scores_concordance(model)


class TestWithStatsmodels:
    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("statsmodels")

    @pytest.mark.parametrize("ties", ["efron", "breslow"])
    @pytest.mark.parametrize("place", [0.0, 1e6], ids=["centred", "far from 0"])
    def test_it_finds_what_coxph_would(self, ties: Any, place: float) -> None:
        copies = np.random.default_rng(0).integers(0, 60, 60)
        table, y = place + X[copies] * [1e-2, 1e3], (EVENT[copies], TIME[copies])
        theirs, ours = StatsmodelsCox(ties).fit(table, y), CoxRegression(ties).fit(table, y)
        np.testing.assert_allclose(theirs.coef_, ours.coef_, rtol=1e-6)
        np.testing.assert_allclose(theirs.covariance_, ours.covariance_, rtol=1e-6)
        np.testing.assert_allclose(
            theirs.predict_survival_function(table), ours.predict_survival_function(table), atol=1e-6
        )
        assert theirs.score(table, y) == ours.score(table, y)

    def test_it_is_statsmodels_fit_and_its_hazard_a_step_sooner(self) -> None:
        from statsmodels.duration.hazard_regression import PHReg

        theirs = PHReg(TIME, X, status=EVENT.astype(float), ties="breslow").fit()
        ours = StatsmodelsCox("breslow").fit(X, Y)
        np.testing.assert_allclose(ours.coef_, theirs.params, rtol=1e-8)
        np.testing.assert_allclose(ours.covariance_, theirs.cov_params(), rtol=1e-8)
        times, until_before, _ = theirs.baseline_cumulative_hazard[0]
        hazard = ours.predict_cumulative_hazard_function(np.zeros((1, 2)), times=times)[0]
        np.testing.assert_allclose(hazard[:-1], until_before[1:], rtol=1e-8)

    def test_its_coefficients_are_read_with_the_names_of_columns(self) -> None:
        table = pd.DataFrame(X, columns=["age", "dose"])
        model = pickle.loads(pickle.dumps(StatsmodelsCox().fit(table, Y)))
        found = coefficients_of(model, table, Y)
        assert found is not None and found.names == ("age", "dose") and found.n_informative == EVENT.sum()
        np.testing.assert_array_equal(found.values, model.coef_)

    @pytest.mark.parametrize(
        ("column", "sentence"),
        [
            pytest.param(3 * X[:, 0] + 1, "no single best coefficients", id="a multiple"),
            pytest.param(np.full(60, 0.1), "no single best coefficients", id="a constant"),
            pytest.param(-TIME - 0.1 * ~EVENT, "no finite best coefficients", id="tells all"),
            pytest.param(TIME > 8.5, "no finite best coefficients", id="never has an event"),
        ],
    )
    @pytest.mark.parametrize("ties", ["efron", "breslow"])
    def test_coefficients_that_are_not_to_be_found(self, column: Any, sentence: str, ties: Any) -> None:
        with pytest.raises(InputError, match=sentence):
            StatsmodelsCox(ties).fit(np.column_stack([X[:, 0], column]), (EVENT & (TIME < 8.5), TIME))
