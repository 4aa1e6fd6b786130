"""Draws of a random search: how many, of which model, by which seed, and which distributions are refused."""

import inspect
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import clone
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.model_selection import ParameterSampler

import heldout as ho
from heldout.arguments.random_search import sample_configurations
from heldout.errors import HeldoutWarning, InputError

ALPHA = {"alpha": loguniform(0.1, 10)}
MODELS = [("ridge", Ridge(), ALPHA), ("lasso", Lasso(), [{"alpha": [1, 2]}, {"tol": uniform()}])]


def test_draws_of_one_estimator_are_those_of_scikit_learn() -> None:
    assert sample_configurations(Ridge(), ALPHA, 5, 7).params == list(ParameterSampler(ALPHA, 5, random_state=7))


def test_draws_of_a_long_seed_are_of_that_seed() -> None:
    of_seed = [sample_configurations(Ridge(), ALPHA, 3, seed).params for seed in (2**40, 2**40, 2**40 + 1)]
    assert of_seed[0] == of_seed[1] != of_seed[2]


def test_models_are_drawn_like_a_list_of_dicts() -> None:
    dicts = [{"model": ["ridge"], **ALPHA}, *({"model": ["lasso"], **part} for part in MODELS[1][2])]
    drawn = sample_configurations(MODELS, None, 40, 1)
    assert drawn.params == list(ParameterSampler(dicts, 40, random_state=1))
    assert all(one.model == one.params["model"] for one in drawn)
    assert all(type(one.fresh()).__name__.lower() == one.model for one in drawn)
    assert Counter(one.model for one in drawn)["lasso"] > 20  # two of three dicts


def test_grids_of_models_are_drawn_without_repetition() -> None:
    models = [("ridge", Ridge(), {"alpha": [1, 2, 3]}), ("plain", LinearRegression(), None)]
    names = sample_configurations(models, None, 4, 0).names
    assert sorted(names) == ["plain", "ridge (alpha=1)", "ridge (alpha=2)", "ridge (alpha=3)"]


def test_numbers_of_each_model_do_not_depend_on_the_others() -> None:
    numbers = {"lasso": 3, "ridge": 2}
    drawn = sample_configurations(MODELS, None, numbers, 5)
    assert [one.model for one in drawn] == ["ridge", "ridge", "lasso", "lasso", "lasso"]
    alone = sample_configurations(MODELS[1:], None, {"lasso": 3}, 5)
    assert alone.params == drawn.params[2:]
    same_space = [("a", Ridge(), ALPHA), ("b", Ridge(), ALPHA)]
    first, second = sample_configurations(same_space, None, {"a": 1, "b": 1}, 5)
    assert first.params["alpha"] != second.params["alpha"]


@pytest.mark.parametrize(
    ("estimator", "distributions", "n_iter", "said"),
    [
        (Ridge(), {"alpha": [1, 2]}, 3, "the space has only 2 configurations, fewer than `n_iter=3`; all of them"),
        ([*MODELS[:1], ("plain", LinearRegression(), {})], None, {"ridge": 1, "plain": 2}, "space of 'plain' has "),
    ],
    ids=["one", "models"],
)
def test_more_draws_than_combinations_take_all(estimator: Any, distributions: Any, n_iter: Any, said: str) -> None:
    with pytest.warns(HeldoutWarning, match=said):
        assert len(sample_configurations(estimator, distributions, n_iter, 0)) == 2


def test_as_many_draws_as_combinations_are_no_reason_to_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(sample_configurations(Ridge(), {"alpha": [1, 2]}, 2, 0)) == 2


class Broken:
    """A distribution that fails."""

    def rvs(self, random_state: Any) -> float:
        raise ZeroDivisionError("no draws\ntoday.")


REFUSED = {
    "text": ("alpha", 3, "distributions must be a dict of parameter names .*, got 'alpha'"),
    "list of text": (["alpha"], 3, r"distributions must be a dict .*, got \['alpha'\]"),
    "none": (None, 3, "param_distributions must be a dict or a list of dicts, got None"),
    "no dicts": ([], 3, "the list of distributions is empty"),
    "no values": ({"alpha": []}, 3, "parameter 'alpha' has an empty list of values; give at least one"),
    "no values of an array": ({"alpha": np.array([])}, 3, "parameter 'alpha' has an empty list of values"),
    "one value": ({"alpha": 1.0}, 3, "parameter 'alpha' must have a list of values or a distribution .*, got 1.0"),
    "text as values": ({"alpha": "ab"}, 3, "parameter 'alpha' must have a list of values .*, got 'ab'"),
    "a set": ({"alpha": {1, 2}}, 3, r"parameter 'alpha' must have a list of values .*, got \{1, 2\}"),
    "a class": ({"alpha": Broken}, 3, "parameter 'alpha' must have a list .*, got the class Broken"),
    "a number as name": ({1: [2]}, 3, "the name of a parameter must be text, got 1"),
    "a broken distribution": (
        {"alpha": Broken()}, 3, "the distributions cannot be drawn from: ZeroDivisionError: no draws today\\.$"
    ),
    "a distribution without its shape": ({"alpha": loguniform}, 3, "cannot be drawn from: TypeError"),
    "no draws": (ALPHA, 0, "n_iter must be an integer of at least 1, got 0"),
    "half a draw": (ALPHA, 2.5, "n_iter must be an integer of at least 1, got 2.5"),
    "truth": (ALPHA, True, "n_iter must be an integer of at least 1, got True"),
    "numbers of models": (ALPHA, {"ridge": 2}, "n_iter must be a positive integer for one estimator, got {'ridge'"),
    "a space too large": (
        {f"p{k}": range(10) for k in range(30)}, 3, r"the lists have about 10\^30 combinations, more than"
    ),
    "too many": (ALPHA, 10**7, r"10,000,000 configurations \(`n_iter`\) are more than the 1,000,000"),
}  # fmt: skip


@pytest.mark.parametrize(("distributions", "n_iter", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_draws_of_one_estimator_are_refused(distributions: Any, n_iter: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        sample_configurations(Ridge(), distributions, n_iter, 0)


REFUSED_MODELS = {
    "distributions beside": (MODELS, ALPHA, 3, "has its own distributions; leave param_distributions out"),
    "a number is missing": (MODELS, None, {"ridge": 2}, "one number for each model .'ridge', 'lasso'"),
    "an unknown model": (MODELS, None, {"ridge": 2, "lasso": 1, "svm": 1}, "one number for each model"),
    "no draw of one": (
        MODELS,
        None,
        {"ridge": 2, "lasso": 0},
        "n_iter of 'lasso' must be an integer of at least 1, got 0",
    ),
    "no models": ([], None, 3, "the list of estimators is empty"),
    "a parameter named model": ([("a", Ridge(), {"model": [1]})], None, 3, "'a' has a parameter named 'model'"),
}


@pytest.mark.parametrize(
    ("models", "distributions", "n_iter", "said"), REFUSED_MODELS.values(), ids=REFUSED_MODELS.keys()
)
def test_bad_draws_of_models_are_refused(models: Any, distributions: Any, n_iter: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        sample_configurations(models, distributions, n_iter, 0)


X, Y = np.arange(40.0)[:, None], np.arange(40.0) % 7


@pytest.mark.parametrize("given", [{"n_iter": 5}, {"param_distributions": ALPHA}], ids=list)
def test_arguments_of_a_random_search_are_refused_with_the_way_out(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="HeldOutRandomizedSearchCV draws n_iter") as caught:
        ho.HeldOutSearchCV(Ridge(), **given)
    assert isinstance(caught.value, ho.InputError)
    assert f"`{next(iter(given))}=` is for a random search" in str(caught.value)


@pytest.mark.parametrize("grid", [ALPHA, [{}, ALPHA]], ids=["grid", "list"])
def test_a_distribution_in_a_grid_is_refused_with_the_way_out(grid: Any) -> None:
    with pytest.raises(ho.InputError, match=r"parameter 'alpha' has a distribution.*HeldOutRandomizedSearchCV"):
        ho.HeldOutSearchCV(Ridge(), grid).fit(X, Y)
    with pytest.raises(ho.InputError, match="parameter 'alpha' has a distribution"):
        ho.nested_cv([("ridge", Ridge(), grid)], X, Y)


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
