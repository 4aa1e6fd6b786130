"""The identity of a run: fingerprints of its parts, and the versions of its code."""

import functools
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from heldout._text import counted
from heldout._version import versions
from heldout.configurations import Configuration, NotHashableError, canonical_form, estimators_within, source_of
from heldout.errors import StoreError
from heldout.execution.fit import Work
from heldout.execution.sharing.groups import Share, Sharing
from heldout.execution.store import RunIdentity

FILE_OF_USER = "__source_for_heldout__"
"""The attribute of a module that holds its source, where the command line ran it as a file of the user."""
_OUR_OWN = ("heldout", "heldout_papers", "sklearn", "numpy", "scipy", "builtins")


@dataclass(frozen=True, eq=False)
class AdaptivePlan:
    """The plan of an adaptive search.

    Attributes
    ----------
    n_planned : int
        How many configurations there will be at most; 0 if that is unknown.
    proposer : object
        What decides the proposals.
    share : "exact", "tolerance" or False
        What the configurations of one batch share.
    """

    n_planned: int
    proposer: Any
    share: Share


def run_identity(
    work: Work,
    adaptive: AdaptivePlan | None = None,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[RunIdentity, list[tuple[str, str]]]:
    """The identity of a stored run, and (id, canonical JSON) of each configuration.

    ``more``: further settings that decide which cells are done.

    Raises StoreError when a configuration, scorer, provider of submodels or parameter has no canonical form.
    """
    with storable():
        ids = work.configurations.identities()
        settings = json.dumps({**_settings(work, adaptive), **more}, sort_keys=True)
        # Packages have versions; a class of the user's has only its source to tell that it changed.
        sources = sources_of(work.configurations) | _sources_of_providers(work.sharing)
        what = "".join(key for key, _ in ids)
        if adaptive is not None:
            what = json.dumps(canonical_form(adaptive.proposer), sort_keys=True)
    identity = RunIdentity(
        rows=work.task.fingerprint(),
        folds=work.folds.fingerprint(),
        configurations=hashlib.sha256(what.encode()).hexdigest(),
        settings=settings,
        entropy=work.entropy,
        versions=versions() | sources,
        terms={
            "rows": str(work.task.n_rows),
            "folds": counted(work.folds.n_splits, "split"),
            "configurations": "adaptive" if adaptive is not None else str(len(work.configurations)),
        },
        is_adaptive=adaptive is not None,
    )
    return identity, ids


@contextmanager
def storable() -> Iterator[None]:
    """Say in one sentence what a later run could not recognise."""
    try:
        yield
    except (NotHashableError, RecursionError) as error:
        reason = "a setting contains itself" if isinstance(error, RecursionError) else error
        raise StoreError(
            f"this search cannot be stored, because a later run could not recognise it: {reason}; run it without a "
            "store, or use importable classes and functions."
        ) from error


def _settings(work: Work, adaptive: AdaptivePlan | None) -> dict[str, Any]:
    """The other settings that decide the cells, by their names for users: a refusal says which differ."""
    own = {} if work.do is None else {"what is done in a fit": canonical_form(work.do.identity)}
    stopping = {} if work.stopping is None else {"early_stopping": work.stopping.split.words}
    shared = {} if work.sharing is None else {"share": work.sharing.identity}
    # What an adaptive search shares is known only as it runs, so its setting stands for that.
    if adaptive is not None and adaptive.share:
        shared = {"share": ["tolerance" if adaptive.share == "tolerance" else "exact"]}
    return {
        "error_score": str(work.error_score),
        "return_train_score": work.return_train_score,
        "whether estimators are seeded": work.seeds is not None and not work.seeds_only_repeat,
        "scoring": canonical_form(work.scoring.scorer),
        "predictions that are kept": [list(group) for group in work.scoring.wanted],
        "positive class": work.task.truth.positive,
        "parameters of fit": canonical_form(
            [_as_arrays(work.routed.fit), {k: _as_arrays(v) for k, v in work.routed.fit_of_model.items()}]
        ),
        "parameters of scoring": canonical_form(_as_arrays(work.routed.score)),
        **({"the complexity of the selection": "measured"} if work.measures_complexity else {}),
        **own,
        **stopping,
        **shared,
    }


def _as_arrays(params: Mapping[str, Any]) -> dict[str, Any]:
    return {key: np.asarray(value) if hasattr(value, "__array__") else value for key, value in params.items()}


def sources_of(configurations: Sequence[Configuration]) -> dict[str, str]:
    """Hashes of the source of estimator classes outside packages with a version here.

    Of a class in a file that the user named it is the whole file, whose functions it may call.
    """
    sources = {}
    for kind in estimators_within(configurations):
        if not _is_our_own(kind):
            whole: str | None = getattr(sys.modules.get(kind.__module__), FILE_OF_USER, None)
            text = source_of(kind) if whole is None else whole
            sources[f"source of {kind.__module__}.{kind.__qualname__}"] = _digest(text)
    return sources


def _sources_of_providers(sharing: Sharing | None) -> dict[str, str]:
    """Hashes of the functions of providers that users registered."""
    families = () if sharing is None else sharing.families
    return {
        f"source of the submodels of {family.name}": _digest(
            json.dumps(canonical_form([family.fit_many, family.applies]), sort_keys=True)
        )
        for family in families
        if not _is_our_own(family.fit_many)
    }


def _is_our_own(thing: Any) -> bool:
    if isinstance(thing, functools.partial):
        return all(_is_our_own(part) for part in (thing.func, *thing.args))
    return str(getattr(thing, "__module__", "")).partition(".")[0] in _OUR_OWN


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
