"""A folder of MLJAR's AutoML: ``MODEL/predictions_out_of_folds.csv``, ``MODEL/framework.json`` and ``folds/*.npy``.

The file of a model has a line for each row: ``target``, and ``prediction`` (a number, or the probability of class
1 of 0 and 1), ``prediction_0_for_A_1_for_B``, or ``prediction_CLASS`` for each class, whose number the target
holds. Where the cross-validation was repeated, it is the mean over the repeats. The weights of MLJAR's ensemble
were fitted on these predictions, so that is left out.
"""

import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.readers.columns import check_numbers, damage_refused, quoted
from heldout.readers.formats.tool import Export, Tool, with_prefix
from heldout.readers.long_table import ColumnUses
from heldout.readers.tables import Table, read_table
from heldout.readers.text_lines import entry, json_of

_FILE, _FRAMEWORK, _ENSEMBLE = "predictions_out_of_folds.csv", "framework.json", "predictions_ensemble.csv"
_DATA = "data_info.json"
_FOLD_FILE = re.compile(r"fold_(\d+)(_repeat_\d+)?_validation_indices\.npy")
_ADAPTIVE_STEPS = (
    "hill_climbing_steps", "features_selection", "stack_models", "boost_on_errors", "golden_features",
    "kmeans_features", "mix_encoding",
)  # fmt: skip
"""Steps that propose models because of the scores of earlier ones, by their names in params.json."""
_STOPPED_EARLY = ("Xgboost", "LightGBM", "CatBoost", "Random Forest", "Extra Trees")
"""Types of models that MLJAR stops by their score on the fold that they predict."""
_CLASSES = ("binary_classification", "multiclass_classification")
_OF_CLASS = "prediction_"


class Mljar(Tool):
    """The folder of a run, that of one of its models, or the file in it."""

    name = "mljar"
    title = "the out-of-fold predictions of MLJAR"
    signs = f"a folder with MODEL/{_FILE} and MODEL/{_FRAMEWORK}"
    needs = ("target", "row")
    columns: ClassVar = {"target": ("target",), "row": ("row",), "fold": ("fold",)}
    endings = (f"MODEL/{_FILE} with {_FRAMEWORK} beside it",)

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return bool(_model_folders(export))

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        folders = _model_folders(export)
        if not folders:
            return {}, uses
        models = {folder.name: _model_frame(folder) for folder in folders}
        first, run = models[folders[0].name], folders[0].parent
        _check_no_copies(run, len(first))
        folds, _ = _folds(run)
        rows = {*range(1, len(first) + 1)}
        if folds is not None and not {*folds["row"]} <= rows:
            raise InputError(f"the folds of {run} hold numbers of more than {len(first)} rows; are all of one run?")
        if folds is not None and {*folds["row"]} < rows:
            folds = None
        tables = {}
        for model, frame in models.items():
            frame = _with_target_of(first, frame).assign(row=np.arange(1, len(frame) + 1))
            tables[model] = Table(export.name, frame if folds is None else frame.merge(folds, on="row", how="left"))
        return tables, uses

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        folders = _model_folders(export)
        run = folders[0].parent
        settings = json_of(run / "params.json") if (run / "params.json").is_file() else {}
        frameworks = {folder.name: json_of(folder / _FRAMEWORK) for folder in folders}
        flags: dict[Flag, str] = {}
        if stopped := [
            name
            for name, about in frameworks.items()
            if str(entry(about, "params", "learner", "model_type")) in _STOPPED_EARLY
        ]:
            flags |= Flag.STOPPED_ON_PREDICTED_ROWS.of(tool="MLJAR", which=quoted(stopped, 3))
        if (n_repeats := _folds(run)[1]) > 1:
            flags |= Flag.AVERAGED_REPEATS.of(
                source=export.name, what=f"{n_repeats} repeats", remedy='run MLJAR with "repeats": 1'
            )
        return uses.with_roles(
            probabilities=with_prefix(table.frame, _OF_CLASS),
            values="prediction" if "prediction" in table.frame else None,
            weight="sample_weight" if "sample_weight" in table.frame else uses.weight,
            n_rows=_n_given(run),
            flags=flags,
            adaptive=any(settings.get(step) for step in _ADAPTIVE_STEPS),
            remarks=_left_out(run, folders),
        )


def _model_folders(export: Export) -> list[Path]:
    """The folders of models in a run, or the one that is named itself or by its file."""
    if export.path is None:
        return []
    path = export.path.parent if export.path.name == _FILE else export.path
    inner = [path] if (path / _FILE).is_file() else sorted(file.parent for file in path.glob(f"*/{_FILE}"))
    return [folder for folder in inner if (folder / _FRAMEWORK).is_file()]


def _model_frame(folder: Path) -> Any:
    """The target of a model with labels, and a column ``prediction_CLASS`` for each class, or ``prediction``."""
    table = read_table(folder / _FILE)
    frame, about = table.frame, json_of(folder / _FRAMEWORK)
    target = table.column("target", "the target")
    predicted = [name for name in frame.columns if name.startswith("prediction")] or ["prediction"]
    for name in predicted:
        check_numbers(table.column(name, "the predictions"), "the predictions")
    frame = frame[["target", *predicted, *(name for name in frame.columns if name == "sample_weight")]]
    if entry(about, "params", "ml_task") not in _CLASSES:
        return frame
    labels = _labels(folder, about)
    if labels:
        frame = frame.assign(target=target.map(labels))
    if len(predicted) > 1:
        return frame
    codes = {*labels} or {*target.dropna().unique().tolist()}
    if codes != {0, 1}:  # or {False, True}, which is equal to it
        raise InputError(
            f"{folder / _FILE} has one column of predictions, so the target must be 0 and 1, got "
            f"{quoted(sorted(codes))}; is the file complete?"
        )
    of_two = (False, True) if target.dtype.kind == "b" else (0, 1)
    zero, one = (labels.get(code, code) for code in of_two)
    share = frame[predicted[0]]
    return frame.drop(columns=predicted).assign(**{f"{_OF_CLASS}{zero}": 1 - share, f"{_OF_CLASS}{one}": share})


def _with_target_of(first: Any, frame: Any) -> Any:
    """The table with the target of the first model where it differs by rounding, as MLJAR scales it for some."""
    target, other = first["target"], frame["target"]
    are_floats = len(target) == len(other) and target.dtype.kind == other.dtype.kind == "f"
    return frame.assign(target=target) if are_floats and np.allclose(target, other, 1e-9) else frame


def _labels(folder: Path, about: dict[str, Any]) -> dict[int, str]:
    """The label of each number in the target; none where MLJAR kept the labels as they were."""
    steps = about.get("preprocessing")
    coded = entry(steps[0], "categorical_y") if isinstance(steps, list) and steps else None
    if not isinstance(coded, dict):
        return {}
    codes = list(coded.values())
    if not all(type(code) is int for code in codes) or len({*codes}) < len(codes):
        raise InputError(
            f"{folder / _FRAMEWORK} does not number the classes ({shortened(coded)}); is the file complete?"
        )
    return {code: label for label, code in coded.items()}


def _folds(run: Path) -> tuple[Any, int]:
    """A line for each row, counted from 1, with its fold, None where that is unknown; and the number of repeats."""
    import pandas as pd

    files = {path: match for path in (run / "folds").glob("*.npy") if (match := _FOLD_FILE.fullmatch(path.name))}
    n_repeats = len({match[2] for match in files.values()}) or 1
    if not files or n_repeats > 1:
        return None, n_repeats
    folds = pd.concat(
        [pd.DataFrame({"row": _rows(path) + 1, "fold": int(match[1])}) for path, match in files.items()]
    )
    again = folds["row"].duplicated()
    if again.any():
        raise InputError(
            f"the folds of {run} hold row {folds['row'][again].iloc[0] - 1}, counted from 0, a second time; each "
            "row is held out once: are the files of one run?"
        )
    return folds, n_repeats


def _rows(path: Path) -> Any:
    with damage_refused(path, "numbers of rows"):
        rows = np.load(path, allow_pickle=False)
        if rows.dtype.kind not in "iu" or rows.ndim != 1:
            raise ValueError("they are of another type or shape")
        return rows.astype(np.int64)


def _n_given(run: Path) -> int | None:
    """How many rows the data had."""
    n_rows = json_of(run / _DATA).get("rows") if (run / _DATA).is_file() else None
    return n_rows if type(n_rows) is int else None


def _check_no_copies(run: Path, n_rows: int) -> None:
    """Refuse a run whose data MLJAR enlarged: it copies rows of rare classes before it draws the folds."""
    n_given = _n_given(run)
    if n_given is not None and n_rows > n_given:
        raise InputError(
            f"{run} predicts {n_rows} rows and its data had {n_given} ({_DATA}): MLJAR appended copies of rows of "
            "classes with fewer than 20 rows, and a model may have been trained on the copy of a row that it "
            "predicts, so these are no held-out predictions; give MLJAR at least 20 rows of each class."
        )


def _left_out(run: Path, folders: list[Path]) -> list[str]:
    """What is in the run and not among the configurations, and what could not be checked."""
    models, ensembles = (
        [file.parent.name for file in sorted(run.glob(f"*/{name}"))] for name in (_FRAMEWORK, _ENSEMBLE)
    )
    others = [name for name in models if run / name not in folders]
    remarks = []
    if not (run / _DATA).is_file():
        remarks.append(
            f"Without {_DATA} it is not known whether MLJAR appended copies of rows of classes with few rows."
        )
    if len(folders) > 1 and others:
        remarks.append(f"Left out: {quoted(others)}, which have no {_FILE}.")
    if len(folders) > 1 and ensembles:
        remarks.append(f"Left out: {quoted(ensembles)}, because MLJAR fitted its weights on these predictions.")
    return remarks
