"""``python -m heldout_papers.flat_vs_nested.advice_evidence PARQUET ...``: renew the evidence of ``ho.advise``.

The evidence is a CSV file with a line per table and scenario. It is computed from kept runs of this study and
installed with ``heldout``.
"""

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from heldout.advice import flat_vs_nested as installed
from heldout.advice.flat_vs_nested import PUBLISHED, TableEvidence
from heldout_papers.flat_vs_nested.accuracies import Accuracies
from heldout_papers.flat_vs_nested.analysis import gains, scenarios_of

DECIMALS = 6


def evidence_of(frame: Any) -> tuple[TableEvidence, ...]:
    """The evidence of a run: one entry per table and scenario.

    ``frame``: ``FlatVsNestedStudy.to_frame(each=True)``. A missing column is an ``InputError``.
    """
    accuracies = Accuracies.from_frame(frame)
    columns = dict(zip(frame["table"].astype(str), frame["columns"].astype(int), strict=True))
    rows = dict(zip(accuracies.tables, accuracies.rows.tolist(), strict=True))
    evidence = []
    for scenario, algorithms in scenarios_of(accuracies).items():
        if scenario not in PUBLISHED:
            continue
        comparison = gains(accuracies, algorithms, "main")
        measures = comparison.same, comparison.gain, comparison.threshold
        evidence += [
            TableEvidence(
                table, rows[table], columns[table], scenario, len(algorithms), accuracies.n_repetitions,
                *(round(float(values[place]), DECIMALS) for values in measures),
            )
            for place, table in enumerate(comparison.tables)
        ]  # fmt: skip
    return tuple(evidence)


def as_csv(evidence: Sequence[TableEvidence]) -> str:
    """The text of the installed file, which ``heldout.advice.flat_vs_nested.from_csv`` reads."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(TableEvidence)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(line) for line in evidence)
    return text.getvalue()


def write_evidence(*parquets: str | Path, into: str | Path | None = None) -> Path:
    """Write the evidence of runs, which may have cut the same tables to other numbers of rows.

    ``parquets``: files that ``heldout study flat-vs-nested`` writes: a row per table, repetition and
    algorithm; ``into``: the installed file by default.
    """
    import pandas as pd

    path = Path(installed.__file__).with_name(installed.FILE) if into is None else Path(into)
    evidence = [line for parquet in parquets for line in evidence_of(pd.read_parquet(parquet))]
    path.write_text(as_csv(evidence), encoding="utf-8")
    return path


def main(arguments: Sequence[str]) -> None:
    """The command: the Parquet files of the runs."""
    if not arguments:
        sys.exit(
            "give the Parquet files of the runs: flat-vs-nested.parquet and flat-large.parquet in papers/evidence"
        )
    print(write_evidence(*arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
