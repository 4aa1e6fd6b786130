"""What was seen on real tables: made from a run, kept with the library, and read for tables like the user's."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from heldout.advice import refresh
from heldout.advice.evidence import (
    N_NEAREST,
    TableEvidence,
    as_csv,
    evidence_of,
    expected_change,
    from_csv,
    installed_evidence,
)

RUN = Path(__file__).parents[2] / "docs" / "evidence" / "flat-vs-nested.parquet"


def run_of(tables=("one",)) -> pd.DataFrame:
    """Two repetitions of three algorithms: the same choice in the first, another in the second."""
    listed = [
        # repetition, algorithm, flat, nested, future
        (0, "rf", 0.90, 0.88, 0.85),
        (0, "gbm", 0.80, 0.78, 0.80),
        (0, "svmRadial", 0.70, 0.68, 0.70),
        (1, "rf", 0.85, 0.84, 0.81),
        (1, "gbm", 0.90, 0.80, 0.79),
        (1, "svmRadial", 0.60, 0.60, 0.60),
    ]
    frame = pd.DataFrame(listed, columns=["repetition", "algorithm", "flat", "nested", "future"])
    return pd.concat([frame.assign(table=name, rows=200, columns=7) for name in tables], ignore_index=True)


def test_a_table_by_hand():
    """Repetition 0: gain 0, threshold .03; repetition 1: .81 - .79 = .02, threshold min(.03, .01) = .01."""
    (found,) = evidence_of(run_of())

    assert found == TableEvidence("one", 200, 7, "top3", 3, 2, 0.5, 0.01, 0.02)


def test_the_file_says_what_was_written():
    evidence = (*evidence_of(run_of(("b", "a"))), TableEvidence("a", 9, 1, "full", 12, 6, 1 / 3, -0.25, 0.0))

    assert from_csv(as_csv(evidence)) == evidence
    assert [line.table for line in evidence] == ["a", "b", "a"]


def test_the_evidence_that_is_installed_is_that_of_the_run_that_is_kept(tmp_path):
    written = from_csv(refresh.refresh(RUN, tmp_path / "evidence.csv").read_text(encoding="utf-8"))

    assert len(written) == len(installed_evidence()) > 0
    for mine, installed in zip(written, installed_evidence(), strict=True):
        assert mine.table == installed.table
        assert (mine.rows, mine.columns, mine.scenario, mine.algorithms, mine.repetitions) == (
            installed.rows, installed.columns, installed.scenario, installed.algorithms, installed.repetitions,
        )  # fmt: skip
        for name in ("same_choice", "gain", "threshold"):
            assert getattr(mine, name) == pytest.approx(getattr(installed, name), abs=2e-6)


def test_the_command_that_refreshes_it(tmp_path, monkeypatch, capsys):
    run_of().to_parquet(tmp_path / "run.parquet")
    monkeypatch.setattr(refresh, "__file__", str(tmp_path / "refresh.py"))

    refresh.main([str(tmp_path / "run.parquet")])
    assert capsys.readouterr().out.strip() == str(tmp_path / "evidence.csv")
    assert from_csv((tmp_path / "evidence.csv").read_text(encoding="utf-8")) == evidence_of(run_of())

    with pytest.raises(SystemExit, match="give the Parquet file"):
        refresh.main([])


def lines(n=40, scenario="top3"):
    """Tables of 20, 40, ... rows; those of fewer than 400 agree in half of the cases, the others always."""
    return [
        TableEvidence(
            f"t{k:02}", 20 * k, 5, scenario, 3, 6, 0.5 if k < 20 else 1.0, 0.01 * (-1) ** k, 0.02 + k / 1e4
        )
        for k in range(1, n + 1)
    ]


def test_tables_that_are_nearest_in_rows_speak():
    (found,) = expected_change(lines(), 103)

    assert (found.tables, found.algorithms) == (N_NEAREST, 3)
    assert found.least_rows < 103 < found.most_rows
    nearest = sorted(lines(), key=lambda line: abs(math.log(line.rows / 206)))[:N_NEAREST]
    assert found.same_choice == np.mean([line.same_choice for line in nearest])
    assert found.gain == pytest.approx(0.01), "its size, whatever its sign"
    assert found.difference == pytest.approx(found.gain - found.threshold)
    assert found.difference_range[0] < found.difference < found.difference_range[1]
    assert (found.published.tables, found.published.same_choice, found.published_rows) == (115, 0.71, 0)


def test_tables_that_are_as_near_as_the_last_speak_too():
    alike = [TableEvidence(f"t{k}", 400, 5, "full", 12, 6, k % 2, 0.0, 0.01) for k in range(40)]
    smaller = [TableEvidence("small", 100, 5, "full", 12, 6, 1.0, 0.0, 0.01)]

    (found,) = expected_change([*smaller, *alike], 1000)
    assert (found.tables, found.least_rows, found.most_rows, found.same_choice) == (40, 200, 200, 0.5)


def test_where_all_tables_agree_there_is_no_interval():
    (found,) = expected_change(lines(), 10)

    assert found.same_choice == 0.5
    assert all(map(math.isnan, found.same_choice_range))
    assert not any(map(math.isnan, found.difference_range))

    (found,) = expected_change(lines(4), 10)
    assert all(map(math.isnan, found.difference_range)), "of 4 tables"


def test_large_tables_have_the_figures_of_large_tables_beside_them():
    found = {one.scenario: one for one in expected_change([*lines(), *lines(scenario="full")], 1000)}

    assert [(one.published.tables, one.published_rows) for one in found.values()] == [(32, 2000)] * 2
    assert found["full"].published.same_choice == 0.71
    assert expected_change((), 100) == ()
