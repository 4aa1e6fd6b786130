"""``python -m heldout_papers.corrections.advice_evidence FOLDER``: renew the figures of recommended methods.

They are a CSV file with a line per cell and method, of real searches and of hold-outs. It is computed from kept
runs of the test bed, and installed with ``heldout``. Of real searches those count that chose no form of a
method, of designs that are like a search without settings.
"""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, get_type_hints

from heldout.estimates import coverage as installed
from heldout.estimates.coverage import HOLD_OUT, TABLES, CellEvidence
from heldout_papers.corrections.designs import DESIGNS
from heldout_papers.corrections.scores import ORACLE
from heldout_papers.engine.results import check_columns

PLACE = ("part", "kind", "metric", "rows", "rarer", "configurations")
DECIMALS = 4
COLUMNS = {field.name: field.name for field in fields(CellEvidence)} | {
    "intervals": "intervals_95",
    "coverage": "coverage_95",
    "coverage_error": "coverage_95_error",
    "width_ratio": "width_ratio_95",
    "bound_coverage": "coverage_bound_95",
    "bound_coverage_error": "coverage_bound_95_error",
}
"""Fields of the evidence → columns of a run."""


def cell_files(folder: str | Path) -> list[Path]:
    """The files of a folder that hold cells of the test bed; others hold searches or single repetitions."""
    import pyarrow.parquet as pq

    files = sorted(Path(folder).glob("corrections-*.parquet"))
    needed = set(COLUMNS.values()) - {"rarer"}  # which simulated cells need not say
    return [path for path in files if needed <= set(pq.read_schema(path).names)]


def kept_cells(folder: str | Path) -> Any:
    """The cells of every file, a row per cell and method; the first file in order of names counts.

    Searches of a design replace all older ones of the same method.
    """
    import pandas as pd

    frames = [pd.read_parquet(path) for path in cell_files(folder)]
    found = pd.concat(frames, ignore_index=True)
    if "design" in found:
        usual = [name for name, design in DESIGNS.items() if design.is_usual]
        of_design = found["design"].isin(usual) & (found["half"] == "judging")
        renewed = (found["part"] == TABLES) & found["method"].isin(found.loc[of_design, "method"])
        found = found[of_design | (found["design"].isna() & ~renewed)]
    found = found.assign(rarer=found.get("rarer", 0))
    return found.drop_duplicates([*PLACE, "method"], ignore_index=True)


def bed_evidence_of(frame: Any) -> tuple[CellEvidence, ...]:
    """The evidence of a run: one entry per cell and method that gave values.

    ``frame``: ``CorrectionsStudy.to_frame()``. A missing column is an ``InputError``.
    """
    check_columns(frame, tuple(COLUMNS.values()), "the cells of a test bed")
    kinds: dict[Any, Callable[[Any], Any]] = {str: str, int: int, float: _rounded}
    hints = get_type_hints(CellEvidence)
    return tuple(
        CellEvidence(**{name: kinds[hint](line[COLUMNS[name]]) for name, hint in hints.items()})
        for line in frame.to_dict("records")
        if line["part"] in (TABLES, HOLD_OUT) and line["method"] != ORACLE and line["repetitions"] > 0
    )


def _rounded(value: Any) -> float:
    return round(float(value), DECIMALS)


def bed_as_csv(evidence: Sequence[CellEvidence]) -> str:
    """The text of the installed file, which ``from_csv`` reads; NaN is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(CellEvidence)], lineterminator="\n")
    writer.writeheader()
    for line in evidence:
        cells = asdict(line)
        writer.writerow({name: "" if cell != cell or cell == math.inf else cell for name, cell in cells.items()})
    return text.getvalue()


def write_bed_evidence(folder: str | Path, into: str | Path | None = None) -> Path:
    """Write the evidence of the runs that a folder keeps.

    ``folder``: of files of cells, as ``heldout study corrections`` writes them; ``into``: the installed file by
    default.
    """
    path = Path(installed.__file__).with_name(installed.FILE) if into is None else Path(into)
    path.write_text(bed_as_csv(bed_evidence_of(kept_cells(folder))), encoding="utf-8")
    return path


def main(arguments: Sequence[str]) -> None:
    """The command: the folder of kept runs."""
    if len(arguments) != 1 or not cell_files(arguments[0]):
        sys.exit("give a folder with files of cells, corrections-*.parquet: papers/evidence")
    print(write_bed_evidence(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
