"""``python -m heldout_papers.corrections.advice_evidence PARQUET ...``: renew the figures of recommended methods.

They are a CSV file with a line per cell and method, of real searches and of hold-outs. It is computed from kept
runs of the test bed, and installed with ``heldout``.
"""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from heldout.advice import bed as installed
from heldout.advice.bed import HOLD_OUT, TABLES, CellEvidence
from heldout_papers.engine.results import check_columns

DECIMALS = 4
COLUMNS = {
    "part": "part",
    "kind": "kind",
    "metric": "metric",
    "rows": "rows",
    "configurations": "configurations",
    "method": "method",
    "repetitions": "repetitions",
    "bias": "bias",
    "bias_error": "bias_error",
    "rmse_ratio": "rmse_ratio",
    "rmse_ratio_error": "rmse_ratio_error",
    "intervals": "intervals_95",
    "coverage": "coverage_95",
    "coverage_error": "coverage_95_error",
    "width_ratio": "width_ratio_95",
    "bound_coverage": "coverage_bound_95",
    "bound_coverage_error": "coverage_bound_95_error",
}
"""Fields of the evidence → columns of a run."""


def bed_evidence_of(frame: Any) -> tuple[CellEvidence, ...]:
    """The evidence of a run: one entry per cell and method that gave values.

    ``frame``: ``CorrectionsStudy.to_frame()``. A missing column is an ``InputError``.
    """
    check_columns(frame, tuple(COLUMNS.values()), "the cells of a test bed")
    kinds: dict[str, Callable[[Any], Any]] = {"str": str, "int": int, "float": _rounded}
    return tuple(
        CellEvidence(
            **{field.name: kinds[str(field.type)](line[COLUMNS[field.name]]) for field in fields(CellEvidence)}
        )
        for line in frame.to_dict("records")
        if line["part"] in (TABLES, HOLD_OUT) and line["repetitions"] > 0
    )


def _rounded(value: Any) -> float:
    return round(float(value), DECIMALS)


def bed_as_csv(evidence: Sequence[CellEvidence]) -> str:
    """The text of the installed file, which ``heldout.advice.bed.bed_from_csv`` reads; NaN is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(CellEvidence)], lineterminator="\n")
    writer.writeheader()
    for line in evidence:
        cells = asdict(line)
        writer.writerow({name: "" if cell != cell or cell == math.inf else cell for name, cell in cells.items()})
    return text.getvalue()


def write_bed_evidence(parquets: Sequence[str | Path], into: str | Path | None = None) -> Path:
    """Write the evidence of kept runs.

    ``parquets``: files of cells, as ``heldout study corrections`` writes them; ``into``: the installed file by
    default.
    """
    import pandas as pd

    path = Path(installed.__file__).with_name(installed.FILE) if into is None else Path(into)
    evidence = [line for one in parquets for line in bed_evidence_of(pd.read_parquet(one))]
    path.write_text(bed_as_csv(evidence), encoding="utf-8")
    return path


def main(arguments: Sequence[str]) -> None:
    """The command: the Parquet files of cells."""
    if not arguments:
        sys.exit("give the Parquet files of cells: docs/evidence/corrections-tables.parquet")
    print(write_bed_evidence(arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
