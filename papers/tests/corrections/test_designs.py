"""Designs of real searches: the halves of the tables, which tables fit, and what a sample holds."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from real_tables import write_tables

from heldout.errors import InputError
from heldout.metrics.named import metric_named
from heldout_papers.corrections import space
from heldout_papers.corrections.designs import (
    DESIGNS,
    METRICS,
    Design,
    arrays_of,
    half_of_tables,
    sample_of,
    scorer_of,
    seed_of,
    tables_of,
)


def numbers(n: int = 500, seed: int = 0) -> tuple[Any, np.ndarray]:
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return X, (X[:, 0] > 0.5).astype(np.intp)


def test_seeds_are_those_of_their_purpose() -> None:
    assert seed_of("rows", "b100", "adult", 0) == 7196986188803944023
    assert seed_of("rows", "b100", "adult", 0) != seed_of("rows", "b100", "adult", 1)


def test_every_second_table_is_of_the_other_half_and_groups_are_left_out(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "tables")

    assert half_of_tables(folder, "choosing") == {
        "classification": ["a_classes"], "regression": ["c_numbers"], "survival": [],
    }  # fmt: skip
    assert half_of_tables(folder, "judging") == {
        "classification": ["b_classes"], "regression": ["d_numbers"], "survival": [],
    }  # fmt: skip


@pytest.mark.parametrize(("design", "names"), [("b40", ["b_classes"]), ("r40", ["d_numbers"]), ("b100", [])])
def test_a_table_has_nine_times_the_rows_of_a_sample_beside_it(
    tmp_path: Path, design: str, names: list[str]
) -> None:
    folder = write_tables(tmp_path / "tables")

    assert [path.stem for path in tables_of(DESIGNS[design], folder, "judging")] == names


def test_a_folder_without_a_list_of_its_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^tables must be a folder with MANIFEST.csv \(columns name, task, n, p"):
        tables_of(DESIGNS["b40"], tmp_path, "judging")


@pytest.mark.parametrize(
    ("kind", "labels", "counts"),
    [
        ("binary", [0] * 3 + [1] * 9, [9, 3]),
        ("binary", [0] * 4 + [1] * 5 + [2] * 6, [9, 6]),
        ("three", [0] * 4 + [1] * 5 + [2] * 2 + [3] * 6, [4, 5, 6]),
    ],
)
def test_classes_become_two_or_three(tmp_path: Path, kind: Any, labels: list[int], counts: list[int]) -> None:
    frame = pd.DataFrame({"a": np.arange(len(labels)) + 0.5, "target": [f"class {label}" for label in labels]})
    frame.to_parquet(tmp_path / "table.parquet")

    X, y = arrays_of(tmp_path / "table.parquet", kind)

    assert np.bincount(y).tolist() == counts
    assert len(X) == len(y)


def test_times_and_events_are_the_target_of_survival(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "time": [3, 4], "event": [1, 0]})
    frame.to_parquet(tmp_path / "table.parquet")

    X, y = arrays_of(tmp_path / "table.parquet", "survival")

    assert list(X) == ["a"]
    assert y.tolist() == [(True, 3.0), (False, 4.0)]


def test_a_sample_has_the_prevalence_of_its_design() -> None:
    X, y = numbers()
    design = Design("rare", "binary", 100, 0.1)
    drawn = [sample_of(design, X, y, np.random.default_rng(seed)) for seed in range(60)]
    rare = [y[one[0]].sum() for one in drawn if one is not None]

    assert len(rare) == 60
    assert min(rare) >= 5
    assert 8.5 < np.mean(rare) < 11.5
    assert all(len(set(one[0])) == 100 for one in drawn if one is not None)


def test_rows_of_a_group_are_near_each_other() -> None:
    X, y = numbers()
    design = Design("groups", "binary", 50, folds=4, has_groups=True)

    drawn = sample_of(design, X, y, np.random.default_rng(0))

    assert drawn is not None
    rows, groups = drawn
    assert groups is not None
    assert np.bincount(groups).tolist() == [5] * 10
    assert len(set(rows)) == 50
    within = np.mean([X[rows[groups == g]].var(axis=0).sum() for g in range(10)])
    assert within < 0.2 * X[rows].var(axis=0).sum()


@pytest.mark.parametrize("kind", ["three", "survival"])
def test_a_table_of_one_class_or_without_events_has_no_sample(kind: Any) -> None:
    X, _ = numbers(200)
    y = np.zeros(200, dtype=np.intp)
    if kind == "survival":
        y = np.zeros(200, dtype=[("event", bool), ("time", float)])

    assert sample_of(Design("none", kind, 50), X, y, np.random.default_rng(0)) is None


def test_a_scorer_is_better_where_it_is_greater() -> None:
    assert [scorer_of(metric) for metric in ("accuracy", "log_loss")] == ["accuracy", "neg_log_loss"]
    assert [metric_named(metric).name for metric in METRICS] == list(METRICS)


def test_a_row_left_out_has_no_r2() -> None:
    assert DESIGNS["r40loo"].metrics == ("root_mean_squared_error", "mean_absolute_error")
    assert DESIGNS["r100k10"].metrics[0] == "r2"


def test_wide_spaces_have_two_hundred_configurations_of_different_names() -> None:
    for make in (space.classifiers, space.regressors):
        entries = make(np.zeros((5, 3)), many=True)
        sizes = [int(np.prod([len(values) for values in grid.values()])) for _, _, grid in entries]
        assert 190 <= sum(sizes) <= 230
        assert len({name for name, _, _ in entries}) == len(entries)


@pytest.mark.parametrize(
    ("design", "sizes", "is_usual"),
    [
        ("b100", ("one", "ten", "all"), True),
        ("w100", ("all",), True),
        ("s100", ("one", "all"), True),
        ("b100k10", ("one", "ten", "all"), False),
        ("b100rep3", ("one", "ten", "all"), False),
        ("b40loo", ("one", "ten", "all"), False),
    ],
)
def test_sizes_of_a_design(design: str, sizes: tuple[str, ...], is_usual: bool) -> None:
    assert (DESIGNS[design].sizes, DESIGNS[design].is_usual) == (sizes, is_usual)
