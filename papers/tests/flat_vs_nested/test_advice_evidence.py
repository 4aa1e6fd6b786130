"""The evidence is computed from a kept run, written to the installed file, and read back by ``ho.advise``."""

from pathlib import Path

import pandas as pd
import pytest

from heldout.advice import flat_vs_nested as installed
from heldout.advice.flat_vs_nested import TableEvidence, from_csv, installed_evidence
from heldout_papers.flat_vs_nested.advice_evidence import as_csv, evidence_of, main, write_evidence

EVIDENCE = Path(__file__).parents[2] / "evidence"
RUNS = [EVIDENCE / "flat-vs-nested.parquet", EVIDENCE / "flat-large.parquet"]


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


def test_the_written_file_reads_back():
    evidence = (*evidence_of(run_of(("b", "a"))), TableEvidence("a", 9, 1, "full", 12, 6, 1 / 3, -0.25, 0.0))

    assert from_csv(TableEvidence, as_csv(evidence)) == evidence
    assert [line.table for line in evidence] == ["a", "b", "a"]


@pytest.mark.pages
def test_the_installed_evidence_is_that_of_the_kept_runs(tmp_path):
    written = from_csv(
        TableEvidence, write_evidence(*RUNS, into=tmp_path / "evidence.csv").read_text(encoding="utf-8")
    )

    assert len(written) == len(installed_evidence()) > 0
    for mine, kept in zip(written, installed_evidence(), strict=True):
        assert mine.table == kept.table
        assert (mine.rows, mine.columns, mine.scenario, mine.algorithms, mine.repetitions) == (
            kept.rows, kept.columns, kept.scenario, kept.algorithms, kept.repetitions,
        )  # fmt: skip
        for name in ("same_choice", "gain", "threshold"):
            assert getattr(mine, name) == pytest.approx(getattr(kept, name), abs=2e-6)


def test_the_command_writes_the_installed_file(tmp_path, monkeypatch, capsys):
    run_of().to_parquet(tmp_path / "run.parquet")
    monkeypatch.setattr(installed, "__file__", str(tmp_path / "evidence.py"))

    main([str(tmp_path / "run.parquet")])
    assert capsys.readouterr().out.strip() == str(tmp_path / "evidence.csv")
    assert from_csv(TableEvidence, (tmp_path / "evidence.csv").read_text(encoding="utf-8")) == evidence_of(run_of())

    with pytest.raises(SystemExit, match="give the Parquet file"):
        main([])
