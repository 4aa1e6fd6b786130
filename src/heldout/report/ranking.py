"""Configurations: their families and parameters, and their ranking by score, with selections and failures."""

import inspect
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from heldout._types import Floats
from heldout.configurations import Configuration
from heldout.report.entries import Facts
from heldout.scales import Scale, plain

ParameterValue: TypeAlias = bool | int | float | str | None

_NAME = re.compile(r"(?P<family>.*?) \((?P<parameters>\w+=.*)\)", re.DOTALL)
_NEXT = re.compile(r", (?=\w+=)")


@dataclass(frozen=True)
class ConfigurationParts:
    """What a configuration is a case of, and the values that distinguish it from others of its family."""

    family: str
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)


def parts_of(configurations: Sequence[Configuration]) -> tuple[ConfigurationParts, ...]:
    """Families and parameters of configurations; a parameter is named by its last part if that is unambiguous."""
    names: dict[str, set[str]] = {}
    for configuration in configurations:
        names.setdefault(configuration.family, set()).update(configuration.own_params)
    short = {family: _short_names(keys) for family, keys in names.items()}
    return tuple(
        ConfigurationParts(
            family := configuration.family,
            {short[family][key]: parameter_value(value) for key, value in configuration.own_params.items()},
        )
        for configuration in configurations
    )


def parts_in_name(name: str) -> ConfigurationParts:
    """The family and the parameters that a name such as "forest (max_features=0.5, min_samples_leaf=3)" holds.

    A name of another form is a family without parameters.

    Examples
    --------
    >>> parts_in_name("forest (max_features=0.5, criterion=gini)").parameters
    {'max_features': 0.5, 'criterion': 'gini'}
    >>> parts_in_name("my model").family
    'my model'
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return ConfigurationParts(name)
    pairs = (part.split("=", 1) for part in _NEXT.split(found["parameters"]))
    return ConfigurationParts(found["family"], {key: _value_of_text(text) for key, text in pairs})


def parameter_value(value: Any) -> ParameterValue:
    """A parameter as a plain number where it is one, else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return plain(value)


def _short_names(keys: set[str]) -> dict[str, str]:
    """Each key by its last part, or whole where several end alike."""
    last = [key.rpartition("__")[2] for key in keys]
    return {key: end if last.count(end) == 1 else key for key, end in zip(keys, last, strict=True)}


def _value_of_text(text: str) -> ParameterValue:
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[text]
    for kind in (int, float):
        try:
            return parameter_value(kind(text))
        except ValueError:
            continue
    return text


_CONTAINERS = ("steps", "transformers", "transformer_list", "estimators")


def parameters_of(estimator: Any) -> tuple[Facts, ...]:
    """All parameters of an estimator, except those that contain others."""
    whole = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    return tuple(
        Facts(name=name, text=plain(whole[name]), searched=False, is_default=_is_default(estimator, whole, name))
        for name in sorted(whole)
        if not (hasattr(whole[name], "get_params") or name.rpartition("__")[2] in _CONTAINERS)
    )


def _is_default(estimator: Any, whole: Mapping[str, Any], name: str) -> bool:
    """Whether a parameter has the value that its class gives it."""
    owner, _, own_name = name.rpartition("__")
    holder = whole.get(owner) if owner else estimator
    if holder is None or isinstance(holder, str):
        return False
    try:
        declared = inspect.signature(type(holder)).parameters.get(own_name)
    except (TypeError, ValueError):
        return False
    return declared is not None and declared.default is not declared.empty and (
        plain(declared.default) == plain(whole[name])
    )  # fmt: skip


MOST_SHOWN = 20
"""Configurations that a table shows at first."""
MOST_LISTED = 2000
MOST_LETTERS = 300_000
"""``MOST_LISTED``, ``MOST_LETTERS``: configurations, and letters of their names, that a report holds."""
MOST_TICKS = 100
MOST_FAMILIES = 50


def rank_configurations(
    names: Sequence[str],
    scale: Scale,
    *,
    fold_scores: Floats | None,
    pooled: Floats | None,
    selected: Floats | None,
    winner: int | None,
    failures: Mapping[int, str],
    by_mean: bool,
    weighs: bool = False,
    within: bool = False,
    dropped: Collection[int] = (),
    parts: Sequence[ConfigurationParts] = (),
    train: Floats | None = None,
) -> Facts:
    """Rank the configurations that neither failed nor were dropped; the winner and the best of families are shown.

    Parameters
    ----------
    fold_scores : ndarray of shape (splits, C) or None
    pooled, selected : ndarray of shape (C,) or None
    winner : int or None
        None for an ensemble of them.
    by_mean : bool
        Rank by the mean over folds (where there are fold scores) rather than by the pooled score.
    weighs : bool
        Whether ``selected`` are mean weights in ensembles.
    within : bool
        Whether ``pooled`` are of the pairs of rows of one fold.
    dropped : collection of int
        Configurations dropped early, whose scores are of fewer splits.
    parts : sequence of ConfigurationParts
        Their families and parameters; without any they have none.
    train : ndarray of shape (C,) or None
        Mean scores on the rows that trained them.
    """
    parts = parts or [ConfigurationParts(name) for name in names]
    if len({part.family for part in parts}) == len(parts):  # none has two members
        parts = [replace(part, family="") for part in parts]
    families = dict.fromkeys(part.family for part in parts)
    out = {*failures, *dropped}
    candidates = np.array([index for index in range(len(names)) if index not in out], dtype=np.intp)
    means = spreads = None
    if fold_scores is not None:
        means = column_means(fold_scores)
        spreads = scale.sign * np.sqrt(column_means((fold_scores - means) ** 2))
        spreads[(~np.isnan(fold_scores)).sum(axis=0) < 2] = np.nan
    ranked_by_mean = means is not None and (by_mean or pooled is None)
    one_split = ranked_by_mean and fold_scores is not None and len(fold_scores) == 1
    key = means if ranked_by_mean else pooled
    key = np.full(len(names), np.nan) if key is None else key
    loss = key * scale.sign * (-1 if scale.greater_is_better else 1)
    order = candidates[np.argsort(np.where(np.isnan(loss), np.inf, loss)[candidates], kind="stable")]

    def shown_of(scores: Floats | None, index: int) -> float | None:
        return None if scores is None else scale.shown(scores[index])

    def row(rank: int, index: int) -> Facts:
        return Facts(
            rank=rank,
            index=index,
            name=names[index],
            is_winner=index == winner,
            is_more=rank > MOST_SHOWN and index != winner,  # the table shows it on request
            mean=shown_of(means, index),
            spread=shown_of(spreads, index),
            pooled=shown_of(pooled, index),
            selected=None if selected is None else float(selected[index]),
            fold_scores=() if fold_scores is None else scale.many(fold_scores[:MOST_TICKS, index]),
            score=shown_of(key, index),
            train=shown_of(train, index),
            family=parts[index].family,
            parameters=parts[index].parameters,
        )

    rows = [row(rank, int(index)) for rank, index in enumerate(order, start=1)]
    listed = _n_listed(rows)
    best = best_of_families(rows)[:MOST_FAMILIES]
    always = {each.best.rank for each in best} | {row.rank for row in rows if row.is_winner}
    shown = rows[:listed] + [late for late in rows[listed:] if late.rank in always]
    rest = [late for late in rows[listed:] if late.rank not in always]
    ticks = [tick for ranked in shown for tick in ranked.fold_scores if tick is not None]
    return Facts(
        shown=tuple(shown),
        columns=_columns(shown),
        ranked_by="split" if one_split else "mean" if ranked_by_mean else "within" if within else "pooled",
        weighs=weighs,
        rest=_rest(rest),
        low=min(ticks, default=None),
        high=max(ticks, default=None),
        failures=failure_groups(failures, lambda index: names[index]),
        whole="Within folds" if within else "Pooled",
        families=best,
        families_out=tuple(family for family in families if family not in {row.family for row in rows}),
    )


def _columns(rows: Sequence[Facts]) -> tuple[str, ...]:
    """The columns of the table that hold values."""
    names = ("mean", "spread", "train", "pooled", "selected")
    known = [name for name in names if any(row[name] is not None for row in rows)]
    return (*known, *(["folds"] if any(len(row.fold_scores) > 1 for row in rows) else []))


def best_of_families(rows: Sequence[Facts]) -> tuple[Facts, ...]:
    """The best configuration of each family, the best family first, of all that are ranked, best first."""
    return tuple(
        Facts(
            family=family,
            best=members[0],
            configurations=len(members),
            selected=None if members[0].selected is None else sum(row.selected or 0.0 for row in members),
        )
        for family, members in by_family(rows).items()
    )


def by_family(rows: Iterable[Any]) -> dict[str, list[Any]]:
    """The rows, or slices, of each family, in their order."""
    families: dict[str, list[Any]] = {}
    for row in rows:
        families.setdefault(row.family, []).append(row)
    return families


def _n_listed(rows: Sequence[Facts]) -> int:
    """How many of the first rows a page holds."""
    letters = np.cumsum([len(row.name) for row in rows[:MOST_LISTED]])
    return max(int(np.searchsorted(letters, MOST_LETTERS, side="right")), min(len(rows), MOST_SHOWN))


def column_means(fold_scores: Floats) -> Floats:
    """(C,): the means of (splits, C) over the splits that each configuration had; NaN where it had none."""
    present = ~np.isnan(fold_scores)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(present, fold_scores, 0.0).sum(axis=0) / present.sum(axis=0)
    return mean


def _rest(rows: Sequence[Facts]) -> Facts | None:
    """Those that are not listed: how many, their scores, and how often they were selected; None if all are."""
    if not rows:
        return None
    scores = [row.score for row in rows if row.score is not None]
    shares = [row.selected for row in rows if row.selected is not None]
    return Facts(
        n=len(rows),
        best=scores[0] if scores else None,
        worst=scores[-1] if scores else None,
        selected=sum(shares) if shares else None,
    )


def share_text(share: float) -> str:
    """A share as a percentage; "< 1 %" below 1 %, and "0" for 0.

    Examples
    --------
    >>> share_text(0.0), share_text(0.004), share_text(0.254)
    ('0', '< 1 %', '25 %')
    """
    if not share:
        return "0"
    return "< 1 %" if share < 0.01 else f"{share * 100:.0f} %"


def failure_groups(failures: Mapping[int, str], name_of: Callable[[int], str]) -> tuple[Facts, ...]:
    """Failures by their message, with the names of the first ``MOST_SHOWN``."""
    by_message: dict[str, list[str]] = {}
    for index in sorted(failures):
        by_message.setdefault(failures[index], []).append(name_of(index))
    return tuple(
        Facts(message=message, names=tuple(names[:MOST_SHOWN]), unnamed=max(len(names) - MOST_SHOWN, 0))
        for message, names in by_message.items()
    )
