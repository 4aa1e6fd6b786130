"""``ho.split_items``: two halves of the rows, to propose configurations on one and select on the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from heldout._streams import RandomState, entropy_of
from heldout._types import Indices
from heldout.data.checks import check_count
from heldout.data.task import checked_groups, distinct
from heldout.errors import InputError


def split_items(n: int, groups: Any = None, *, random_state: RandomState = None) -> tuple[Indices, Indices]:
    """Divide n items into two random halves that keep groups whole: one to propose on, one to select on.

    Prompts that an optimiser or a person changes because of scores are fitted to the items that gave these scores.
    Propose on the first half, and select and estimate on the second, which no proposal has seen.

    Parameters
    ----------
    n : int
        The number of items, at least 2.
    groups : array-like of shape (n,), optional
        The group of each item, such as its document. The halves are as equal as whole groups allow.
    random_state : int, RandomState or Generator, optional
        Seeds the draw.

    Returns
    -------
    (propose, select) : two arrays of int
        Numbers of items, from 0, ascending.

    Raises
    ------
    InputError
        When there are fewer than two items or groups.

    Examples
    --------
    >>> propose, select = split_items(6, groups=["a", "a", "b", "b", "c", "c"], random_state=0)
    >>> sorted([*propose.tolist(), *select.tolist()]), len({*propose} & {*select})
    ([0, 1, 2, 3, 4, 5], 0)
    """
    check_count("n", n, least=2)
    labels = checked_groups(np.arange(n) if groups is None else groups, n)
    assert labels is not None, "None was replaced"
    codes = distinct(labels, "groups")[1]
    sizes = np.bincount(codes)
    if len(sizes) < 2:
        raise InputError("groups must be at least 2, to make two halves of them, got 1.", argument="groups")
    order = np.random.default_rng(entropy_of(random_state)).permutation(len(sizes))
    filled, half = [0, 0], np.zeros(len(sizes), dtype=np.intp)
    for group in order[np.argsort(-sizes[order], kind="stable")]:  # the largest first, each into the smaller half
        half[group] = filled[1] < filled[0]
        filled[half[group]] += int(sizes[group])
    first = half[codes] == 0
    return np.flatnonzero(first), np.flatnonzero(~first)
