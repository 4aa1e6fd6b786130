from types import ModuleType

import numpy as np
import pytest


def test_by_hand(kernels: ModuleType) -> None:
    wrong = np.array([[0, -1], [-1, 0], [-1, -1], [0, 0]], dtype=np.int32)
    sums = kernels.CellSums(wrong, 1)
    counts = np.array([[0, 1, 3, 0], [3, 0, 0, 1], [1, 1, 2, 0]], dtype=np.uint8)
    # Errors drawn: (0, 1), (4, 1), (1, 1): the last is a tie, which the first column wins.
    columns, left_out = kernels.best_out_of_bag(sums, counts, greatest=False)
    assert columns.tolist() == [0, 1, 0]
    assert left_out.tolist() == [[2], [1], [1]]
    columns, left_out = kernels.best_out_of_bag(sums, counts, greatest=True)
    assert columns.tolist() == [1, 0, 0]
    assert left_out.tolist() == [[1], [0], [1]]


@pytest.mark.parametrize("greatest", [True, False])
@pytest.mark.parametrize("kind", ["ranks", "cells", "losses"])
def test_is_the_selection_in_the_bag_scored_out_of_it(kernels: ModuleType, kind: str, greatest: bool) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(40) < 0.5
    # Repeated columns make ties certain.
    scores = np.tile(np.round(rng.normal(size=(40, 5)), 1), 3)
    sums = {
        "ranks": lambda: kernels.RankSums(scores, y, ~y),
        "cells": lambda: kernels.CellSums(np.where(scores > 0.5, 0, -1).astype(np.int32), 1),
        "losses": lambda: kernels.LossSums(scores**2, 40),
    }[kind]()
    counts = kernels.draw_units(7, np.arange(150, dtype=np.uint64), 0, 40)
    columns, left_out = kernels.best_out_of_bag(sums, counts, greatest=greatest)
    in_bag = sums.all(counts).reshape(150, 15)
    best = in_bag.max(axis=1) if greatest else in_bag.min(axis=1)
    assert columns.tolist() == [
        next(j for j in range(15) if row[j] == b) for row, b in zip(in_bag, best, strict=True)
    ]
    np.testing.assert_array_equal(left_out, sums.selected((counts == 0).astype(np.uint8), columns))


def test_a_constant_column_does_not_win_by_being_undefined(kernels: ModuleType) -> None:
    y = np.arange(10) >= 5
    scores = np.column_stack([np.zeros(10), np.arange(10.0)])
    counts = np.ones((1, 10), dtype=np.uint8)
    columns, _ = kernels.best_out_of_bag(kernels.RankSums(scores, y, ~y), counts, greatest=True)
    assert columns.tolist() == [1]
