"""Sentences on what a result is of: the data, the configurations, the software and the seed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from numbers import Real
from typing import Any

import numpy as np

from heldout._streams import DrawnSeed
from heldout._text import counted
from heldout.configurations import Configuration
from heldout.data.task import TaskKind, Truth
from heldout.execution.store.search_note import StoredConfiguration
from heldout.references import PACKAGE
from heldout.report.paper.marks import cited
from heldout.scales import plain

MOST_CLASSES = 6
"""Classes that are counted one by one."""


def rows_sentence(truth: Truth, n_predictors: int | None) -> str:
    """How many rows, predictors, and rows of each outcome.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> rows_sentence(truth_of(["no", "yes", "no"]), 4)
    'The data have 3 rows and 4 predictors, with 1 row of the positive class yes and 2 rows of class no.'
    """
    predictors = "" if n_predictors is None else f" and {counted_of(n_predictors, 'predictor')}"
    return f"The data have {counted_of(truth.n_rows, 'row')}{predictors}, {_outcome(truth)}."


def _outcome(truth: Truth) -> str:
    if truth.kind is TaskKind.SURVIVAL:
        return f"with {counted_of(int(truth.values['event'].sum()), 'event')}; the other rows are censored"
    if truth.kind is TaskKind.REGRESSION or truth.classes is None:
        values = truth.values
        return f"and a numeric outcome (from {values.min():.4g} to {values.max():.4g})"
    counts = truth.class_counts().tolist()
    if len(counts) > MOST_CLASSES:
        return f"in {len(counts)} classes of {min(counts):,} to {max(counts):,} rows"
    order = sorted(range(len(counts)), key=lambda code: code != truth.positive)
    texts = [
        f"{counted_of(counts[code], 'row')} of {'the positive class' if code == truth.positive else 'class'} "
        f"{truth.label_of(code)}"
        for code in order
    ]
    return f"with {listed(texts)}"


def missing_sentence(missing: Mapping[str, Any] | None) -> str:
    """How many values of the predictors are missing; empty where that is not known.

    ``missing`` holds the number of ``cells``, and how many ``values``, ``rows`` and ``columns`` lack some.

    Examples
    --------
    >>> missing_sentence({"values": 3, "rows": 2, "columns": 1, "cells": 400})
    'Of the values of the predictors 3 (0.75 %) are missing, in 2 rows and 1 predictor.'
    """
    if not missing:
        return ""
    if not missing["values"]:
        return "No value of the predictors is missing."
    share = 100 * missing["values"] / missing["cells"]
    verb = "is" if missing["values"] == 1 else "are"
    return (
        f"Of the values of the predictors {missing['values']:,} ({share:.2g} %) {verb} missing, in "
        f"{counted_of(missing['rows'], 'row')} and {counted_of(missing['columns'], 'predictor')}."
    )


def groups_sentence(groups: Any) -> str:
    """Into how many groups the rows fall; empty without groups."""
    return "" if groups is None else f"The rows fall into {counted_of(len(np.unique(groups)), 'group')}."


def listed(texts: list[str], last: str = "and") -> str:
    """Texts as a list in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return f"{', '.join(texts[:-1])} {last} {texts[-1]}" if len(texts) > 1 else "".join(texts)


def counted_of(n: int, noun: str) -> str:
    """A number with separators and its noun.

    >>> counted_of(1200, "row"), counted_of(1, "row")
    ('1,200 rows', '1 row')
    """
    return counted(n, noun).replace(str(n), f"{n:,}", 1)


_NAMES = {"numpy": "NumPy", "python": "Python"}
_WORKS = {"heldout": (PACKAGE,), "scikit-learn": ("pedregosa2011",)}
_LISTED = {"sklearn", "heldout", "heldout_papers", "numpy", "builtins", "__main__"}
"""Modules whose versions are listed anyway, or that have none."""


def software_sentence(versions: Mapping[str, Any], model: Any) -> str:
    """The packages with their versions: heldout, those of the model, scikit-learn, NumPy and Python."""
    known = {"heldout": "", **packages_of(model), "scikit-learn": "", "numpy": "", "python": "", **versions}
    texts = [
        f"{_NAMES.get(name, name)} {number}{cited(_WORKS.get(name, ()))}"
        for name, number in known.items()
        if number
    ]
    return f"The software was {listed(texts)}." if texts else ""


def packages_of(model: Any) -> dict[str, str]:
    """The packages other than scikit-learn that a model and its parts come from, with their versions."""
    tops = dict.fromkeys(
        type(each).__module__.partition(".")[0] for each in steps_of([] if model is None else [model])
    )
    return {top: number for top in tops if top not in _LISTED and (number := _version_of(top))}


def _version_of(module: str) -> str:
    number = getattr(sys.modules.get(module), "__version__", None)
    if isinstance(number, str):
        return number
    try:
        return version(module)
    except PackageNotFoundError:
        return ""


def seed_sentence(entropy: Any) -> str:
    """The seed, and whether the user set it.

    Examples
    --------
    >>> seed_sentence(7)
    'The seed was 7.'
    >>> seed_sentence(DrawnSeed(7))
    'No seed was set; the random numbers came from the seed 7, which the run recorded.'
    """
    if entropy is None:
        return ""
    if isinstance(entropy, DrawnSeed):
        return f"No seed was set; the random numbers came from the seed {int(entropy)}, which the run recorded."
    return f"The seed was {entropy}."


def unseeded_sentence(model: Any) -> str:
    """Which parts of a model have no seed; empty where each part that can take one has it."""
    unseeded = [
        type(each).__name__
        for each in steps_of([] if model is None else [model])
        if "random_state" in each.get_params(deep=False) and each.get_params(deep=False)["random_state"] is None
    ]
    names = listed(list(dict.fromkeys(unseeded)))
    return f"No seed was set for {names} (random_state=None)." if names else ""


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
