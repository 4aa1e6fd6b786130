"""Spaces of distributions, lists and functions of a trial become proposals."""

import warnings
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FixedTrial
from scipy.stats import binom, expon, loguniform, randint, uniform
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

from heldout.configurations import canonical_form
from heldout.errors import InputError
from heldout.search.optuna.space import checked_proposal, space_of

SEED = 0


def distributions_of(space: dict[str, Any]) -> dict[str, Any]:
    """What the study of one trial knows of the parameters."""
    return asked(space)[0].distributions


def asked(space: Any, estimator: Any = None) -> tuple[Any, Any]:
    """A trial, and its proposal."""
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=SEED))
    optuna.logging.set_verbosity(level)
    trial = study.ask()
    return trial, space_of(Ridge() if estimator is None else estimator, space).proposal(trial)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (FloatDistribution(0, 1, step=0.25), FloatDistribution(0, 1, step=0.25)),
        (IntDistribution(1, 8, log=True), IntDistribution(1, 8, log=True)),
        (CategoricalDistribution(["a", "b"]), CategoricalDistribution(["a", "b"])),
        (uniform(1, 2), FloatDistribution(1, 3)),
        (loguniform(0.01, 100), FloatDistribution(0.01, 100, log=True)),
        (randint(2, 6), IntDistribution(2, 5)),
        (randint(2, 6, loc=1), IntDistribution(3, 6)),
        ([1, 2, 4], CategoricalDistribution([1, 2, 4])),
        (np.array([1, 2, 4]), CategoricalDistribution([1, 2, 4])),
        (range(3), CategoricalDistribution([0, 1, 2])),
        ([None, "balanced"], CategoricalDistribution([None, "balanced"])),
        ([1, True], CategoricalDistribution(["1", "True"])),
    ],
)
def test_distributions_are_those_of_the_study(source: Any, expected: Any) -> None:
    assert distributions_of({"alpha": source}) == {"alpha": expected}


def test_other_distributions_are_proposed_by_their_quantile() -> None:
    trial, proposal = asked({"alpha": expon(scale=3), "max_iter": binom(100, 0.3)})
    quantiles = [trial.params["alpha (quantile)"], trial.params["max_iter (quantile)"]]
    assert proposal.params["alpha"] == pytest.approx(-3 * np.log1p(-quantiles[0]))
    assert proposal.params["max_iter"] == int(binom(100, 0.3).ppf(quantiles[1]))
    assert isinstance(proposal.params["max_iter"], int)


def test_values_that_optuna_does_not_take_have_labels() -> None:
    values = [(1, 2), KNeighborsClassifier(), (1, 2)]
    space = space_of(Ridge(), {"alpha": values})
    labels = ["(1, 2) [0]", "KNeighborsClassifier()", "(1, 2) [2]"]
    with warnings.catch_warnings():
        found = [space.proposal(FixedTrial({"alpha": label})).params["alpha"] for label in labels]
    assert all(one is other for one, other in zip(found, values, strict=True))


def test_an_estimator_that_is_changed_later_stays_as_it_was_returned() -> None:
    model = Ridge()
    space = space_of(Ridge(), lambda trial: model.set_params(alpha=trial.suggest_float("alpha", 0, 9)))
    first, second = (space.proposal(FixedTrial({"alpha": value})) for value in (1.0, 2.0))
    assert (first.template.alpha, second.template.alpha) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        (None, "must return a dict of parameters or an estimator, got None"),
        (Ridge, "must return a dict of parameters or an estimator, got the class Ridge"),
        (LogisticRegression(), "must return a regressor, as estimator is one, got LogisticRegression"),
        (KMeans(), "must return a regressor, as estimator is one, got KMeans"),
        ({"alpa": 1}, "the parameters do not fit the estimator: Invalid parameter 'alpa'"),
    ],
)
def test_what_a_function_returns_is_checked(returned: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        checked_proposal(space_of(Ridge(), lambda trial: returned).proposal(None))


def test_a_function_cannot_end_the_program() -> None:
    def suggest(trial: Any) -> Any:
        raise SystemExit(3)

    with pytest.raises(RuntimeError, match="SystemExit: 3"):
        space_of(Ridge(), suggest).proposal(None)


@pytest.mark.parametrize(
    ("space", "sentence"),
    [
        (None, "space must be a dict of parameter names and distributions, or a function .* got None"),
        ([{"alpha": [1]}], r"space must be a dict .* got \[\{'alpha': \[1\]\}\]"),
        ({}, "space is empty; give a distribution of at least one parameter"),
        ({1: [1]}, "the name of a parameter must be text, got 1"),
        ({"alpha": "yes"}, "parameter 'alpha' must have a distribution of Optuna or SciPy .* got 'yes'"),
        ({"alpha": 1.0}, "parameter 'alpha' must have a distribution of Optuna or SciPy .* got 1.0"),
        ({"alpha": uniform}, "parameter 'alpha' must have a distribution of Optuna or SciPy"),
        ({"alpha": []}, "parameter 'alpha' has an empty list of values"),
        ({"alpha": loguniform(-1, 2)}, "the distribution of parameter 'alpha' cannot be used"),
        ({"alpha": uniform(0, -1)}, "the distribution of parameter 'alpha' cannot be used"),
    ],
)
def test_a_space_that_is_none_is_refused(space: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        space_of(Ridge(), space)


@pytest.mark.parametrize(
    ("models", "space", "sentence"),
    [
        ([("a", Ridge(), {})], {"alpha": [1]}, "has its own spaces; leave space out"),
        ([("a", Ridge(), [1])], None, r"the space of 'a' must be a dict .* got \[1\]"),
        ([("a", Ridge(), {"model": [1]})], None, "'a' has a parameter named 'model'"),
        ([], None, "the list of estimators is empty"),
    ],
)
def test_a_list_of_models_is_checked(models: Any, space: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        space_of(models, space)


def test_the_identity_is_that_of_the_distributions() -> None:
    def identity(space: Any, estimator: Any = None) -> Any:
        return canonical_form(space_of(Ridge() if estimator is None else estimator, space).identity)

    own = identity({"alpha": uniform(0, 1)})
    assert identity({"alpha": uniform(0, 1)}) == own
    for name, other in (("alpha", uniform(0, 2)), ("tol", uniform(0, 1)), ("alpha", FloatDistribution(0, 1))):
        assert identity({name: other}) != own
    assert identity({"alpha": uniform(0, 1)}, Ridge(tol=1)) != own
    of_models = identity(None, [("a", Ridge(), {"alpha": [1]})])
    assert of_models != identity(None, [("b", Ridge(), {"alpha": [1]})])
    of_functions = [lambda trial: {"alpha": 1}]
    of_functions += [lambda trial: {"alpha": 2}]
    assert identity(of_functions[0]) != identity(of_functions[1])
