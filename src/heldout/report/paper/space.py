"""The sentences on the configurations: kinds of models, their steps, and the values that were tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

from heldout.configurations import Configuration
from heldout.execution.store.search_note import StoredConfiguration
from heldout.methods_text import cited
from heldout.report.paper.data import counted_of, listed
from heldout.scales import plain

MOST_VALUES = 4
"""Values of a parameter that are named one by one."""


def space_sentences(configurations: Sequence[Configuration], origin: str | None) -> list[str]:
    """How many configurations of which models were compared, with which values.

    ``origin``: where they come from; None where it is not known.
    """
    if isinstance(configurations[0], StoredConfiguration):  # a run file has names, and no estimators
        n = len(configurations)
        verb = "was evaluated" if n == 1 else "were compared"
        return [f"{counted_of(n, 'configuration')} {verb}."]
    families: dict[str, list[Configuration]] = {}
    for each in configurations:
        families.setdefault(each.model or type(each.template).__name__, []).append(each)
    how = _ORIGINS.get(origin or "", "")
    compared = (
        f"{counted_of(len(configurations), 'configuration')}{how} {'was' if len(configurations) == 1 else 'were'}"
    )
    if len(families) == 1:
        (members,) = families.values()
        verb = "evaluated" if len(members) == 1 else "compared"
        return [f"{compared} {verb}: {_named(members[0])}{_values(members)}."]
    texts = [f"{len(members):,} of {_named(members[0])}{_values(members)}" for members in families.values()]
    return [f"{compared} compared: {'; '.join(texts)}."]


_ORIGINS = {
    "random": ", drawn at random before any score was known,",
    "optuna": f", proposed by Optuna because of the scores of those before{cited(['akiba2019'])},",
    "loop": ", proposed by a program while scores of those before were known,",
}
"""Where configurations come from, if not from a list or grid."""


def _named(configuration: Configuration) -> str:
    """The classes of a configuration, after the name that the user gave them."""
    words = model_words(configuration.template)
    return f"{configuration.model} ({words})" if configuration.model else words


def winner_words(configuration: Configuration) -> str:
    """The name of a configuration; a pipeline without a name of its own by the class of its last step."""
    kind, name = type(configuration.template).__name__, configuration.name
    if configuration.model or not name.startswith(kind):
        return name
    return f"{_classes(configuration.template)[-1]}{name.removeprefix(kind)}"


def model_words(estimator: Any) -> str:
    """The classes of an estimator and of the steps before it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> model_words(make_pipeline(StandardScaler(), SVC()))
    'SVC after StandardScaler'
    """
    *before, last = _classes(estimator)
    steps = list(dict.fromkeys(before))
    return f"{last} after {listed(steps)}" if steps else last


def _classes(estimator: Any) -> list[str]:
    """The classes of all parts in the order in which they work."""
    parts = _parts(estimator)
    if parts is None:
        own = type(estimator).__name__
        inner = estimator.get_params(deep=False).get("estimator") if hasattr(estimator, "get_params") else None
        return [f"{own} of {_classes(inner)[-1]}" if hasattr(inner, "get_params") else own]
    return [name for part in parts for name in _classes(part)] or [type(estimator).__name__]


def _parts(estimator: Any) -> list[Any] | None:
    """The steps of a pipeline, or the transformers that work side by side; None of any other estimator."""
    for name in ("steps", "transformers", "transformer_list"):
        entries = getattr(estimator, name, None)
        if isinstance(entries, list | tuple):
            return [each[1] for each in entries if hasattr(each[1], "get_params")]
    return None


def _values(members: Sequence[Configuration]) -> str:
    """The parameters that were set, and their values."""
    values: dict[str, dict[str, Any]] = {}
    for each in members:
        for name, value in each.params.items():
            if not (name == "model" and each.model):
                values.setdefault(name, {}).setdefault(_value(value), value)
    texts = [f"{name.rpartition('__')[2]} {_range(found)}" for name, found in values.items()]
    return f" with {listed(texts)}" if texts else ""


def _range(found: dict[str, Any]) -> str:
    """The distinct values of a parameter, numbers in order."""
    numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in found.values())
    if len(found) <= MOST_VALUES:
        return listed(sorted(found, key=lambda text: found[text]) if numbers else list(found), "or")
    if numbers:
        low, high = min(found.values()), max(found.values())
        return f"from {_value(low)} to {_value(high)} ({len(found):,} values)"
    return f"({len(found):,} values)"


def _value(value: Any) -> str:
    if hasattr(value, "get_params"):
        return model_words(value)
    return f"{value:.4g}" if isinstance(value, float) else plain(value)


def steps_of(estimators: Iterable[Any]) -> list[Any]:
    """All estimators inside some estimators, themselves included."""
    found: list[Any] = []
    for estimator in estimators:
        deep = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
        found += [estimator, *(value for value in deep if hasattr(value, "get_params"))]
    return found
