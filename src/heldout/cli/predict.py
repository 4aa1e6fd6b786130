"""``heldout predict``: what a saved model predicts for the rows of a table."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.cli.console import Console, command_of
from heldout.cli.options import (
    DATA,
    OPTIONS,
    RUNNING,
    argument,
    json_option,
    missing_option,
    not_missing_option,
    option,
    quiet_option,
)
from heldout.cli.runs import run_context
from heldout.errors import InputError

KINDS = (".csv", ".parquet")


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """The options of ``heldout predict``."""

    model: str = argument("MODEL")
    data: str = argument()
    out: str = option("The file to write, which ends in .csv or .parquet.", "predicted.csv", metavar="FILE")
    overwrite: bool = option("Replace the file if it is there.", False)
    trust: tuple[str, ...] = option(
        "The full name of a type in MODEL that you have reviewed and trust; repeatable.", (), metavar="TYPE"
    )
    time: tuple[float, ...] = option(
        "Survival: a time until which to give the probability of no event; repeatable. By default those at which "
        "the model was scored.",
        (),
        metavar="T",
    )
    missing: tuple[str, ...] = missing_option()
    not_missing: tuple[str, ...] = not_missing_option()
    as_json: bool = json_option()
    quiet: bool = quiet_option()


@command_of(
    PredictOptions,
    "predict",
    "Predict the rows of a table by a saved model.",
    {DATA: DATA, OPTIONS: OPTIONS, RUNNING: RUNNING},
)
def command(options: PredictOptions, console: Console, _: str) -> None:
    """Predict the rows of DATA by MODEL: a .skops file, or the folder in which heldout tune or validate wrote one.

    DATA is a CSV or Parquet file with the columns that the model was fitted on; it needs no target. The file that
    is written has the other columns of DATA, such as identifiers, as they are, then `prediction`, or one column per
    output, and the probability of each class. Of a survival model they are the log hazard (of a Cox regression) or
    the risk, and the probability of no event until each time.
    """
    out = _file_to_write(options)
    with run_context(console):
        from heldout._text import counted
        from heldout.cli.files import OutputFolder
        from heldout.readers.cells import cleaned, with_words
        from heldout.readers.csv_table import CellFormat
        from heldout.readers.new_rows import rows_for_model, table_of_predictions
        from heldout.readers.saved_model import load_model, note_of
        from heldout.readers.tables import read_table

        file = _model_file(options.model)
        model = load_model(file, options.trust)
        remembered = note_of(file)
        before = CellFormat(**remembered.get("format", {}))
        like = with_words(before, options.missing, options.not_missing)
        values = [word for word in options.not_missing if word not in before.missing]
        table = read_table(options.data, not_missing=values, like=like)
        rows = rows_for_model(model, cleaned(table, like.missing, like.not_missing, like=like))
        for note in rows.notes:
            console.note(note)
        found, notes = table_of_predictions(model, rows, options.time, remembered.get("times", ()))
        for note in notes:
            console.note(note)
        folder = OutputFolder(out.parent)
        folder.check_writable()
        folder.write(out.name, lambda path: _write(found, path, out.suffix.lower()))
        console.lines([f"{out}: {counted(len(found), 'row')}, with {', '.join(_new_columns(found, rows))}."])
    console.document({"file": str(out), "n_rows": len(found), "columns": _new_columns(found, rows)})
    console.check_all_was_printed(f"the predictions are in {out}")


def _new_columns(found: Any, rows: Any) -> list[str]:
    return list(found.columns[rows.others.shape[1] :])


def _model_file(name: str) -> Path:
    from heldout.cli.files import path_named

    path = path_named(name, "MODEL")
    return path / "model.skops" if path.is_dir() else path


def _file_to_write(options: PredictOptions) -> Path:
    """The file to write; refused before the work if it is there, or of another kind."""
    from heldout.cli.files import path_named

    out = path_named(options.out, "--out")
    if out.suffix.lower() not in KINDS:
        raise InputError(f"--out {out} must end in {' or '.join(KINDS)}.")
    data = Path(options.data)
    if out.exists() and data.exists() and out.samefile(data):
        raise InputError(f"--out {out} is DATA, which would be lost; name another file with --out.")
    if out.exists() and not options.overwrite:
        raise InputError(f"{out} is there already; replace it with --overwrite, or name another file with --out.")
    return out


def _write(found: Any, path: Path, suffix: str) -> None:
    found.to_csv(path, index=False) if suffix == ".csv" else found.to_parquet(path, index=False)
