"""Configurations drawn at random from distributions, as scikit-learn's ``ParameterSampler`` draws them.

All are drawn before anything is fitted, so the search is fixed.
"""

import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterSampler

from heldout._streams import numpy_seed
from heldout._text import counted
from heldout.configurations import Configurations, checked_entries
from heldout.data.checks import check_count
from heldout.data.limits import MOST_CONFIGURATIONS, refuse_more_than
from heldout.data.task import shortened
from heldout.errors import ArgumentError, HeldoutWarning, InputError, reason_of

LARGEST_SEED = 2**32 - 1
"""Of NumPy's ``RandomState``, which scikit-learn draws with."""


def sample_configurations(estimator: Any, param_distributions: Any, n_iter: Any, entropy: int) -> Configurations:
    """Draw the configurations of one estimator, or of a list of (name, estimator, distributions).

    Parameters
    ----------
    estimator : estimator or list of (name, estimator, distributions)
    param_distributions : dict or list of dict, optional
        None for a list of estimators.
    n_iter : int or dict of str to int
        The number in all; for a list of estimators also the number of each by its name.
    entropy : int
        Of the run. Up to 2**32 - 1 the draws are those of a ``ParameterSampler`` with this ``random_state``.

    Raises
    ------
    InputError
        When the distributions or the number cannot be used.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sklearn.linear_model import Ridge
    >>> sample_configurations(Ridge(), {"alpha": uniform()}, 2, entropy=0).names
    ('Ridge (alpha=0.5488)', 'Ridge (alpha=0.7152)')
    >>> models = [("a", Ridge(), {"alpha": [1, 2, 3]}), ("b", Ridge(), {})]
    >>> sample_configurations(models, None, {"a": 2, "b": 1}, entropy=0).names
    ('a (alpha=2)', 'a (alpha=1)', 'b')
    """
    if isinstance(estimator, list | tuple):
        if param_distributions is not None:
            raise InputError(
                "a list of (name, estimator, distributions) has its own distributions; leave param_distributions "
                "out.",
                argument="param_distributions",
            )
        return _of_models(checked_entries(estimator), n_iter, entropy)
    if isinstance(n_iter, Mapping):
        raise InputError(
            f"n_iter must be a positive integer for one estimator, got {shortened(n_iter)}; a dict gives the "
            "number of each model of a list."
        )
    if param_distributions is None:
        raise InputError(
            "param_distributions must be a dict or a list of dicts, got None; only a list of (name, estimator, "
            "distributions) goes without."
        )
    drawn = _draws(_spaces(param_distributions), n_iter, _seed(entropy))
    return Configurations.of((params, estimator, None) for params in drawn)


def _of_models(entries: Sequence[tuple[str, Any, Any]], n_iter: Any, entropy: int) -> Configurations:
    models = {name: model for name, model, _ in entries}
    spaces = {name: _spaces({} if given is None else given) for name, _, given in entries}
    for name, parts in spaces.items():
        if any("model" in part for part in parts):
            raise InputError(
                f"{name!r} has a parameter named 'model', which names the model in a list; search it alone."
            )
    if isinstance(n_iter, Mapping):
        drawn = _draws_of_each(spaces, n_iter, entropy)
    else:
        joint = [{"model": [name], **part} for name, parts in spaces.items() for part in parts]
        drawn = iter(_draws(joint, n_iter, _seed(entropy)))
    return Configurations.of((params, models[params["model"]], params["model"]) for params in drawn)


def _draws_of_each(
    spaces: Mapping[str, Sequence[dict[str, Any]]], n_iter: Mapping[Any, Any], entropy: int
) -> Iterator[dict[str, Any]]:
    """Draws of each model by a seed of its own, so that they do not depend on the other models."""
    if set(n_iter) != set(spaces):
        raise InputError(
            f"n_iter must have one number for each model ({', '.join(map(repr, spaces))}), got {shortened(n_iter)}."
        )
    for name, parts in spaces.items():
        for params in _draws(parts, n_iter[name], numpy_seed(entropy, "configurations", name), name):
            yield {"model": name, **params}


def _seed(entropy: int) -> int:
    return entropy if entropy <= LARGEST_SEED else numpy_seed(entropy, "configurations")


def _draws(
    spaces: Sequence[dict[str, Any]], number: Any, seed: int, model: str | None = None
) -> list[dict[str, Any]]:
    of_model = "" if model is None else f" of {model!r}"
    check_count(f"n_iter{of_model}", number, argument="n_iter")
    refuse_more_than(MOST_CONFIGURATIONS, int(number), "configurations (`n_iter`)", "a smaller `n_iter`")
    size = _size(spaces)
    if size is not None and size > sys.maxsize:
        raise InputError(
            f"the lists{of_model} have about 10^{math.log10(size):.0f} combinations, more than can be numbered; "
            "give one of them as a distribution, such as scipy.stats.randint(1, 1000)."
        )
    if size is not None and size < number:
        warnings.warn(
            f"the space{of_model} has only {counted(size, 'configuration')}, fewer than `n_iter={number!r}`; all "
            "of them are searched, as in a grid.",
            HeldoutWarning,
            stacklevel=2,
        )
        number = size
    try:
        return list(ParameterSampler(list(spaces), int(number), random_state=seed))
    except Exception as error:  # a distribution of one's own may raise anything
        reason = reason_of(error)
        raise InputError(
            f"the distributions{of_model} cannot be drawn from: {type(error).__name__}: {reason}."
        ) from error


def _size(spaces: Sequence[dict[str, Any]]) -> int | None:
    """The number of combinations of lists; None with a distribution."""
    if any(hasattr(values, "rvs") for part in spaces for values in part.values()):
        return None
    return sum(math.prod(len(values) for values in part.values()) for part in spaces)


def _spaces(distributions: Any) -> list[dict[str, Any]]:
    """Distributions as a list of dicts, each value checked."""
    parts = [distributions] if isinstance(distributions, Mapping) else distributions
    if not isinstance(parts, list | tuple) or not all(isinstance(part, Mapping) for part in parts):
        raise InputError(
            "distributions must be a dict of parameter names and distributions or lists, or a list of such dicts, "
            f"got {shortened(distributions)}.",
            argument="param_distributions",
        )
    if not parts:
        raise InputError(
            "the list of distributions is empty; give at least one dict.", argument="param_distributions"
        )
    for part in parts:
        for name, values in part.items():
            _check_values(name, values)
    return [dict(part) for part in parts]


def _check_values(name: Any, values: Any) -> None:
    if not isinstance(name, str):
        raise InputError(f"the name of a parameter must be text, got {shortened(name)}.")
    if hasattr(values, "rvs") and not isinstance(values, type):
        return
    is_list = isinstance(values, np.ndarray) and values.ndim == 1
    is_list |= isinstance(values, Sequence) and not isinstance(values, str | bytes)
    if not is_list:
        raise ArgumentError(
            f"parameter {name!r} must have a list of values or a distribution with a method rvs, such as "
            f"scipy.stats.loguniform(0.01, 100), got {shortened(values)}.",
            argument="param_distributions",
        )
    if not len(values):
        raise InputError(
            f"parameter {name!r} has an empty list of values; give at least one.", argument="param_distributions"
        )
