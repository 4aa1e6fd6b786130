"""The figures of recommended methods are computed from kept runs, and written to the installed file."""

import math
from pathlib import Path

import pandas as pd
import pytest

from heldout.errors import InputError
from heldout.estimates import coverage as installed
from heldout.estimates.coverage import CellEvidence, from_csv, installed_bed
from heldout_papers.corrections.advice_evidence import (
    COLUMNS,
    bed_as_csv,
    bed_evidence_of,
    main,
    write_bed_evidence,
)

EVIDENCE = Path(__file__).parents[2] / "evidence"
RUNS = [EVIDENCE / f"corrections-{part}.parquet" for part in ("tables", "hold-out")]
"""Without these nothing can be recommended with figures."""


def cells(**other):
    rows = [
        dict.fromkeys(COLUMNS.values(), 0.12345)
        | {
            "part": part,
            "kind": "one",
            "metric": "r2",
            "rows": 40,
            "rarer": 0,
            "configurations": 1,
            "method": method,
        }
        | {"repetitions": 400, "intervals_95": 400}
        | other
        for part in ("tables", "correlated")
        for method in ("bbc", "shrinkage")
    ]
    return pd.DataFrame(rows)


def test_the_file_holds_real_searches_and_reads_back():
    found = bed_evidence_of(cells())

    assert [(one.part, one.method, one.coverage) for one in found] == [
        ("tables", "bbc", 0.1235),
        ("tables", "shrinkage", 0.1235),
    ]
    assert from_csv(CellEvidence, bed_as_csv(found)) == found


def test_what_is_not_there_is_an_empty_cell():
    (found, _) = bed_evidence_of(cells(coverage_95=math.nan))

    assert math.isnan(found.coverage)
    assert math.isnan(from_csv(CellEvidence, bed_as_csv([found]))[0].coverage)
    assert bed_evidence_of(cells(repetitions=0)) == ()
    with pytest.raises(InputError, match="width_ratio_95"):
        bed_evidence_of(cells().drop(columns="width_ratio_95"))


def test_real_searches_of_the_judging_half_and_of_usual_designs_count(tmp_path):
    rows = [("b100", "judging", "bbc", 50), ("b100k10", "judging", "bbc", 50), ("b100", "choosing", "bbc", 49)]
    rows += [("i100_10", "judging", "bbc", 10), ("b100", "judging", "oracle", 50)]
    searched = cells().iloc[[0] * len(rows)].reset_index(drop=True)
    searched[["design", "half", "method", "rarer"]] = rows
    searched.to_parquet(tmp_path / "corrections-tables.parquet")
    cells(part="hold-out").drop(columns="rarer").iloc[:1].assign(rarer=20).to_parquet(
        tmp_path / "corrections-hold-out.parquet"
    )

    found = from_csv(CellEvidence, write_bed_evidence(tmp_path, tmp_path / "bed.csv").read_text(encoding="utf-8"))

    assert [(one.part, one.rarer) for one in found] == [("hold-out", 20), ("tables", 50), ("tables", 10)]


@pytest.mark.skipif(not all(run.exists() for run in RUNS), reason="the runs are not there")
def test_the_installed_figures_are_those_of_the_kept_runs(tmp_path):
    written = write_bed_evidence(EVIDENCE, tmp_path / "bed.csv").read_text(encoding="utf-8")

    kept = Path(installed.__file__).with_name(installed.FILE).read_text(encoding="utf-8")
    assert written.splitlines() == kept.splitlines()
    assert len(installed_bed()) > 0


def test_the_command_writes_the_installed_file(tmp_path, monkeypatch, capsys):
    cells().to_parquet(tmp_path / "corrections-a.parquet")
    again = cells(bias=0.5)
    pd.concat([again, again.assign(method="cv")]).to_parquet(tmp_path / "corrections-b.parquet")
    cells()[["part", "method"]].to_parquet(tmp_path / "corrections-searches.parquet")
    monkeypatch.setattr(installed, "__file__", str(tmp_path / "coverage.py"))

    main([str(tmp_path)])
    assert capsys.readouterr().out.strip() == str(tmp_path / "coverage.csv")
    found = from_csv(CellEvidence, (tmp_path / "coverage.csv").read_text(encoding="utf-8"))
    assert [(one.method, one.bias) for one in found] == [("bbc", 0.1235), ("shrinkage", 0.1235), ("cv", 0.5)]

    for wrong in ([], [str(tmp_path / "nothing")]):
        with pytest.raises(SystemExit, match="give a folder"):
            main(wrong)
