"""``python -m heldout.advice.refresh PARQUET``: make the installed evidence from a run of the study."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from heldout.advice.evidence import FILE, as_csv, evidence_of


def refresh(parquet: str | Path, into: str | Path | None = None) -> Path:
    """Write the evidence of a run.

    Parameters
    ----------
    parquet : path
        What ``heldout study flat-vs-nested`` leaves: a row a table, repetition and algorithm.
    into : path, optional
        The file that is installed, by default.

    Returns
    -------
    Path
    """
    import pandas as pd

    path = Path(__file__).with_name(FILE) if into is None else Path(into)
    path.write_text(as_csv(evidence_of(pd.read_parquet(parquet))), encoding="utf-8")
    return path


def main(arguments: Sequence[str]) -> None:
    """Of the command line."""
    if len(arguments) != 1:
        sys.exit("give the Parquet file of the run: docs/evidence/flat-vs-nested.parquet")
    print(refresh(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
