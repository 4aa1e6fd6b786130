"""Who asks a search over a grid for a random one is told how to get it."""

import inspect
from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import ParameterSampler

import heldout as ho

X, Y = np.arange(40.0)[:, None], np.arange(40.0) % 7
DISTRIBUTIONS = {"alpha": loguniform(0.1, 10)}


@pytest.mark.parametrize("given", [{"n_iter": 5}, {"param_distributions": DISTRIBUTIONS}], ids=list)
def test_arguments_of_a_random_search_are_refused_with_the_way_out(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="HeldOutRandomizedSearchCV draws n_iter") as caught:
        ho.HeldOutSearchCV(Ridge(), **given)
    assert isinstance(caught.value, ho.InputError)
    assert f"`{next(iter(given))}=` is for a random search" in str(caught.value)


@pytest.mark.parametrize("grid", [DISTRIBUTIONS, [{}, DISTRIBUTIONS]], ids=["grid", "list"])
def test_a_distribution_in_a_grid_is_refused_with_the_way_out(grid: Any) -> None:
    with pytest.raises(ho.InputError, match=r"parameter 'alpha' has a distribution.*HeldOutRandomizedSearchCV"):
        ho.HeldOutSearchCV(Ridge(), grid).fit(X, Y)
    with pytest.raises(ho.InputError, match="parameter 'alpha' has a distribution"):
        ho.nested_cv([("ridge", Ridge(), grid)], X, Y)


def test_the_way_out_works() -> None:
    search = ho.HeldOutRandomizedSearchCV(Ridge(), DISTRIBUTIONS, n_iter=5, method=None, random_state=0).fit(X, Y)
    drawn = ParameterSampler(DISTRIBUTIONS, 5, random_state=0)
    assert search.cv_results_["params"] == list(drawn)
    assert "np.float64" not in " ".join(search.evaluation_.configurations.names)


def test_the_signature_is_that_of_the_search() -> None:
    assert list(inspect.signature(ho.HeldOutSearchCV).parameters)[:3] == ["estimator", "param_grid", "scoring"]
    assert clone(ho.HeldOutSearchCV(Ridge(), cv=3)).cv == 3


def test_the_searches_have_the_same_settings() -> None:
    of_grid = dict(inspect.signature(ho.HeldOutSearchCV).parameters)
    of_draws = dict(inspect.signature(ho.HeldOutRandomizedSearchCV).parameters)
    assert list(of_draws)[:2] == ["estimator", "param_distributions"]
    del of_draws["param_distributions"], of_draws["n_iter"], of_grid["param_grid"]
    assert {*map(str, of_draws.values())} == {*map(str, of_grid.values())}


def test_a_parameter_that_the_estimator_lacks_is_refused_as_input() -> None:
    with pytest.raises(ho.InputError, match="the parameters do not fit the estimator: Invalid parameter 'depth'"):
        ho.HeldOutSearchCV(Ridge(), {"depth": [1]}).fit(X, Y)


def test_a_class_in_place_of_an_estimator_is_refused_as_input() -> None:
    with pytest.raises(ho.InputError, match=r"estimator must be .* got the class Ridge; give Ridge\(\)"):
        ho.HeldOutSearchCV(Ridge, {"alpha": [1]}).fit(X, Y)
