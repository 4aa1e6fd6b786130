"""Rows with equal predictors, of arrays, tables, sparse matrices and texts; a missing value equals a missing value.

A copy of a row in another fold lets a model that memorises rows know the answer. Tables of few categories are full
of equal rows that are no copies, so their number is compared with what the same columns give when each is permuted
on its own.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from heldout._types import Array, Indices
from heldout.data.task import missing

COPIES = "copies"
"""What ``groups`` says to keep rows with equal predictors together."""
MOST_CELLS = 10**7
"""Cells of a sparse matrix whose columns are looked at one by one; the rows of a larger one are compared whole."""
MOST_WORDS = 50
N_PERMUTATIONS = 10


def row_numbers(X: Any, y: Any = None) -> Indices:
    """A number a row, (N,): the same for rows of equal predictors, and of equal targets where ``y`` is given.

    Examples
    --------
    >>> row_numbers([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan]]).tolist()
    [0, 1, 0]
    """
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    targets = np.empty((0, n_rows)) if y is None else np.asarray(y).reshape(n_rows, -1).T
    return _numbers(map(codes_of_column, chain(columns_of(X), targets)), n_rows)


def columns_of(X: Any) -> Iterator[Array]:
    """The columns of a table; of a single column of texts their words, by position."""
    columns: Iterator[Array]
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        columns = (np.asarray(X.iloc[:, place]) for place in range(X.shape[1]))
    elif hasattr(X, "tocsr"):
        # A sparse matrix of many cells would not fit as a table; then whole rows are compared as bytes.
        columns = iter(X.toarray().T if np.prod(X.shape) <= MOST_CELLS else [_whole_rows(X)])
    else:
        is_text = isinstance(X, list | tuple) and bool(X) and isinstance(X[0], str)
        table = np.asarray(X, dtype=object if is_text else None)  # one long text would make all of them long
        columns = iter(table.reshape(len(table), -1).T)
    first = list(islice(columns, 2))
    is_text = len(first) == 1 and len(first[0]) > 0 and isinstance(first[0][0], str)
    # Text is divided into words, whose permutation tells how often equal texts come by chance.
    yield from _words(first[0]) if is_text else first
    yield from columns


def codes_of_column(column: Array) -> Indices:
    """A number a value, (N,): in the order of the values; of objects in that of their first occurrence."""
    if column.dtype.kind != "O":
        return np.unique(column, return_inverse=True)[1].reshape(-1)
    code: dict[Any, int] = {}
    # A missing value never equals itself, but two missing ones are alike here.
    values = [None if absent else value for value, absent in zip(column, missing(column), strict=True)]
    keys = (value if getattr(value, "__hash__", None) else repr(value) for value in values)
    return np.array([code.setdefault(key, len(code)) for key in keys], dtype=np.intp)


def number_of_copies(numbers: Indices, folds: Array) -> int:
    """How many rows of a fold have an equal row outside it; folds (N,) of -1 only train."""
    # A row's number and its fold in one number: a number with two folds has copies in both.
    pairs = np.unique(numbers * (folds.max() + 2) + folds + 1) // (folds.max() + 2)
    return int(((np.bincount(pairs) > 1)[numbers] & (folds >= 0)).sum())


def copies_by_chance(X: Any, folds: Array, strata: Array, seed: int) -> Indices:
    """(N_PERMUTATIONS,): ``number_of_copies`` when each column is permuted on its own, within strata (N,).

    Columns that depend on each other because they tell classes apart make equal rows within a class.
    """
    rng, columns = np.random.default_rng(seed), [codes_of_column(column) for column in columns_of(X)]
    order = np.argsort(strata, kind="stable")
    ends = np.flatnonzero(np.diff(strata[order])) + 1

    def permuted(column: Indices) -> Indices:
        column = column.copy()
        column[order] = np.concatenate([rng.permutation(part) for part in np.split(column[order], ends)])
        return column

    return np.array(
        [number_of_copies(_numbers(map(permuted, columns), len(folds)), folds) for _ in range(N_PERMUTATIONS)]
    )


def linked(numbers: Indices, groups: Array | None) -> Indices:
    """Groups (N,) in which rows of one number, and those of one group, are together."""
    if groups is None:
        return numbers
    codes = np.unique(groups, return_inverse=True)[1].reshape(-1)
    # Rows of one group and equal rows are joined in one graph, so neither ever lies on two sides.
    links = csr_array((np.ones(len(codes)), (numbers, numbers.max() + 1 + codes)), shape=(2 * len(codes),) * 2)
    return connected_components(links, directed=False)[1][numbers].astype(np.intp)


def _numbers(columns: Iterable[Indices], n_rows: int) -> Indices:
    number = np.zeros(n_rows, dtype=np.intp)
    for codes in columns:
        # One column after the other, renumbered without gaps: products of all columns would overflow.
        number = np.unique(number * (codes.max() + 1) + codes, return_inverse=True)[1].reshape(-1)
        if number.max() == n_rows - 1:
            break  # no two rows are equal so far
    return number


def _words(texts: Array) -> Iterator[Array]:
    split = [str(text).split(" ", MOST_WORDS) for text in texts]
    for place in range(max(map(len, split))):
        yield np.array([words[place] if len(words) > place else None for words in split], dtype=object)


def _whole_rows(X: Any) -> Array:
    """(N,): the content of each row of a sparse matrix."""
    rows = csr_array(X, copy=True)
    # Two forms of one sparse row (zeros stored or not) must have equal bytes.
    rows.sum_duplicates()
    rows.eliminate_zeros()
    ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    content = np.empty(rows.shape[0], dtype=object)
    content[:] = [rows.indices[first:last].tobytes() + rows.data[first:last].tobytes() for first, last in ends]
    return content
