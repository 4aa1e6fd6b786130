"""What Optuna proposes: spaces of distributions, and functions of a trial, made into proposals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.stats import rv_discrete
from scipy.stats.distributions import rv_frozen
from sklearn.base import clone, is_classifier, is_regressor

from heldout.configurations import Configuration, checked_entries
from heldout.data.task import shortened
from heldout.errors import ArgumentError, InputError, NoExit, reason_of
from heldout.search.optuna.sampler import optuna_package

TAILS = 0.001
"""Of a distribution that is proposed by its quantile: the probability beyond either end, which may be infinite."""


class Space(Protocol):
    @property
    def identity(self) -> Any:
        """What decides which configuration the parameters of a trial are; a store reads its canonical form."""

    def proposal(self, trial: Any) -> Configuration:
        """The configuration of a trial. It raises whatever the user's code raises."""


def space_of(estimator: Any, space: Any, argument: str = "space") -> Space:
    """The space of an estimator, or of a list of (name, estimator, space).

    Parameters
    ----------
    estimator : estimator or list of (name, estimator, distributions)
    space : dict or callable, optional
        Distributions of Optuna or SciPy or lists of values by the names of parameters, or a function that takes a
        trial and returns parameters or an estimator. None for a list of estimators.
    argument : str
        What the user calls the space.

    Raises
    ------
    InputError
        When the space is empty or no distribution; a TypeError too where it is neither a dict nor a function.
    """
    if isinstance(estimator, list | tuple):
        if space is not None:
            raise InputError(
                f"a list of (name, estimator, space) has its own spaces; leave {argument} out.", argument=argument
            )
        return ModelsSpace.of(checked_entries(estimator))
    if isinstance(space, Mapping):
        if not space:
            raise InputError(
                f"{argument} is empty; give a distribution of at least one parameter.", argument=argument
            )
        try:
            return ParametersSpace(estimator, _parameters(space))
        except InputError as error:
            error.argument = argument
            raise
    if callable(space) and not isinstance(space, type):
        return SuggestedSpace(estimator, space)
    raise ArgumentError(
        f"{argument} must be a dict of parameter names and distributions, or a function that takes a trial and "
        f"returns parameters or an estimator, got {shortened(space)}."
    )


@dataclass(frozen=True, eq=False)
class Parameter:
    """A parameter, as a study knows it."""

    name: str
    title: str
    """Its name in the study."""
    distribution: Any
    """Of Optuna."""
    value_of: Callable[[Any], Any] | None = None
    """The value of what Optuna proposes, where it is another: a label, or a quantile."""
    source: Any = None
    """As the user gave it."""

    def value(self, trial: Any, prefix: str = "") -> Any:
        proposed = _proposed(trial, prefix + self.title, self.distribution)
        return proposed if self.value_of is None else self.value_of(proposed)


@dataclass(frozen=True, eq=False)
class ParametersSpace:
    """Parameters of one estimator, each with a distribution."""

    estimator: Any
    parameters: Sequence[Parameter]

    @property
    def identity(self) -> Any:
        return [self.estimator, [(each.title, each.source) for each in self.parameters]]

    def proposal(self, trial: Any) -> Configuration:
        return Configuration(0, {each.name: each.value(trial) for each in self.parameters}, self.estimator)


@dataclass(frozen=True, eq=False)
class ModelsSpace:
    """Several models, each with its parameters, which are proposed where the model is."""

    models: Mapping[str, ParametersSpace]

    @classmethod
    def of(cls, entries: Sequence[tuple[str, Any, Any]]) -> ModelsSpace:
        return cls({name: ParametersSpace(model, _parameters_of_model(name, of)) for name, model, of in entries})

    @property
    def identity(self) -> Any:
        return [[name, space.identity] for name, space in self.models.items()]

    def proposal(self, trial: Any) -> Configuration:
        name = trial.suggest_categorical("model", list(self.models))
        space = self.models[name]
        params = {each.name: each.value(trial, f"{name}__") for each in space.parameters}
        return Configuration(0, {"model": name, **params}, space.estimator, name)


@dataclass(frozen=True, eq=False)
class SuggestedSpace:
    """A user's function of a trial, which returns parameters of the estimator, or another estimator."""

    estimator: Any
    suggest: Callable[[Any], Any]

    @property
    def identity(self) -> Any:
        return [self.estimator, self.suggest]

    def proposal(self, trial: Any) -> Configuration:
        with NoExit():
            found = self.suggest(trial)
        if isinstance(found, Mapping):
            return Configuration(0, dict(found), self.estimator)
        if isinstance(found, type) or not (hasattr(found, "fit") and hasattr(found, "get_params")):
            raise InputError(
                f"suggest must return a dict of parameters or an estimator, got {shortened(found)}", argument=""
            )
        for kind, is_kind in (("classifier", is_classifier), ("regressor", is_regressor)):
            if is_kind(self.estimator) and not is_kind(found):
                raise InputError(
                    f"suggest must return a {kind}, as estimator is one, got {type(found).__name__}", argument=""
                )
        # A clone, as the function may set other parameters on the same estimator the next time.
        return Configuration(0, dict(trial.params), clone(found), has_params=True)


def checked_proposal(proposal: Configuration) -> Configuration:
    """The proposal, if its estimator can be made.

    Raises InputError when the parameters do not fit the estimator.
    """
    proposal.fresh()
    return proposal


def _parameters_of_model(model: str, space: Any) -> list[Parameter]:
    space = {} if space is None else space
    if not isinstance(space, Mapping):
        raise InputError(
            f"the space of {model!r} must be a dict of parameter names and distributions, got {shortened(space)}."
        )
    if "model" in space:
        raise InputError(
            f"{model!r} has a parameter named 'model', which names the model in a list; search it alone."
        )
    return _parameters(space)


def _parameters(space: Mapping[Any, Any]) -> list[Parameter]:
    return [_parameter(name, source) for name, source in space.items()]


def _parameter(name: Any, source: Any) -> Parameter:
    if not isinstance(name, str):
        raise InputError(f"the name of a parameter must be text, got {shortened(name)}.")
    distributions = optuna_package().distributions
    if isinstance(source, distributions.BaseDistribution):
        return Parameter(name, name, source, source=source)
    if isinstance(source, rv_frozen):
        try:
            return _of_scipy(name, source)
        except ValueError as error:
            reason = reason_of(error)
            raise InputError(f"the distribution of parameter {name!r} cannot be used: {reason}.") from error
    is_list = isinstance(source, Sequence) and not isinstance(source, str | bytes)
    if is_list or (isinstance(source, np.ndarray) and source.ndim == 1):
        return _of_values(name, list(source))
    raise InputError(
        f"parameter {name!r} must have a distribution of Optuna or SciPy or a list of values, such as "
        f"optuna.distributions.FloatDistribution(0.01, 100, log=True), got {shortened(source)}."
    )


def _of_scipy(name: str, source: Any) -> Parameter:
    """Uniform, log-uniform and integer distributions are Optuna's own; any other is proposed by its quantile."""
    distributions = optuna_package().distributions
    kind, (low, high) = source.dist.name, source.support()
    # Parameters such as a negative scale give NaN and no error.
    if np.isnan(source.ppf(0.5)):
        raise ValueError(f"{kind} has no quantiles with its parameters {(*source.args, *source.kwds.values())}")
    # A log-uniform distribution that is shifted is none for Optuna.
    _, loc, _ = source.dist._parse_args(*source.args, **source.kwds)
    if kind == "uniform":
        return Parameter(name, name, distributions.FloatDistribution(float(low), float(high)), source=source)
    if kind in ("loguniform", "reciprocal") and loc == 0:
        distribution = distributions.FloatDistribution(float(low), float(high), log=True)
        return Parameter(name, name, distribution, source=source)
    if kind == "randint":
        return Parameter(name, name, distributions.IntDistribution(int(low), int(high)), source=source)
    # Quantiles of a discrete distribution are whole numbers, but floats by type.
    convert = int if isinstance(source.dist, rv_discrete) else float
    # Any distribution has quantiles, so a sampler that knows only uniform ones can search it.
    quantiles = distributions.FloatDistribution(TAILS, 1 - TAILS)
    return Parameter(name, f"{name} (quantile)", quantiles, lambda q: convert(source.ppf(q)), source)


def _of_values(name: str, values: list[Any]) -> Parameter:
    """A list; what Optuna does not take as a value has a label in the study."""
    if not values:
        raise InputError(f"parameter {name!r} has an empty list of values; give at least one.")
    categorical = optuna_package().distributions.CategoricalDistribution
    # Numbers of NumPy are plain ones for Optuna's storage, which writes JSON.
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    is_plain = all(value is None or isinstance(value, bool | int | float | str) for value in plain)
    if is_plain and len({*plain}) == len(plain):  # 1 and True are equal
        return Parameter(name, name, categorical(plain), source=values)
    texts = [shortened(value) for value in values]
    # Two values may look the same when shortened; their places tell them apart.
    labels = [text if texts.count(text) == 1 else f"{text} [{place}]" for place, text in enumerate(texts)]
    value_of = dict(zip(labels, values, strict=True))
    return Parameter(name, name, categorical(labels), value_of.__getitem__, values)


def _proposed(trial: Any, name: str, distribution: Any) -> Any:
    distributions = optuna_package().distributions
    if isinstance(distribution, distributions.CategoricalDistribution):
        return trial.suggest_categorical(name, distribution.choices)
    suggest = trial.suggest_int if isinstance(distribution, distributions.IntDistribution) else trial.suggest_float
    return suggest(name, distribution.low, distribution.high, step=distribution.step, log=distribution.log)
