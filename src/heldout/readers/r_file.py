"""Tables from files that R writes with ``saveRDS`` and ``save``.

Only parts that hold predictions are read: a data frame, the ``pred`` of caret's ``train``, and the ``.predictions``
of tidymodels' results (``tune_results``, ``workflow_set``) with the names of their resamples. Functions, calls and
environments are not converted, and no code of the file runs.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout._text import counted
from heldout.errors import InputError, MissingExtraError
from heldout.readers.columns import check_names, damage_refused, whole_numbers

if TYPE_CHECKING:
    from rdata.parser import RData


_BASE_NAMESPACE = b"\x00\x00\x00\xfa"
_UNPACK: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
}
"""By the first bytes of the file."""
_OF_SAVE = (b"RDX2\n", b"RDX3\n")
_XDR = b"X\n"


def r_tree(path: Path) -> RData:
    """The parsed content of a file of ``saveRDS`` or ``save``.

    Raises whatever the parser raises where the file is damaged, ``ImportError`` where rdata is not installed.
    """
    from rdata.parser import parse_file

    content = path.read_bytes()
    for start, unpack in _UNPACK.items():
        if content.startswith(start):
            content = unpack(content)
    for start in _OF_SAVE:
        content = content.removeprefix(start)
    if not content.startswith(_XDR):  # R writes other encodings only when asked to
        return parse_file(path)
    parser = _parser(memoryview(content.removeprefix(_XDR)))
    tree: RData = parser.parse_all()
    parser.check_complete()
    return tree


def _parser(content: memoryview) -> Any:
    from rdata.parser import DEFAULT_ALTREP_MAP, RObject, RObjectInfo, RObjectType
    from rdata.parser._xdr import ParserXDR

    class WithBaseNamespace(ParserXDR):
        """Reads the base namespace as NULL."""

        def parse_R_object(self, *others: Any, **named: Any) -> RObject:  # noqa: N802
            place = self.file.tell()
            if named.get("info_int") is None and len(others) < 3 and self.file.read(4) == _BASE_NAMESPACE:
                return RObject(RObjectInfo(RObjectType.NILVALUE, False, False, False, 0, 0), None, None)
            self.file.seek(place)
            return super().parse_R_object(*others, **named)

    return WithBaseNamespace(content, expand_altrep=True, altrep_constructor_dict=DEFAULT_ALTREP_MAP)


R_SUFFIXES = (".rds", ".rda", ".rdata")
_SAVE_ONE = "save a data frame with saveRDS(), such as fit$pred or collect_predictions(results)"
_CONVERTED = ("VEC", "LIST", "CHAR", "SYM", "LGL", "INT", "REAL", "CPLX", "STR", "NIL", "NILVALUE", "REF", "ALTREP")
"""The types of R that hold data."""


class Train(dict[str, Any]):
    """A ``train`` object of caret."""


def read_r(path: Path) -> tuple[Any, tuple[str, ...]]:
    """The table of a file of R as a pandas data frame, and a remark that names the object it comes from.

    A file of ``save`` must hold exactly one object that is such a table. Refused are damaged files, objects without
    predictions, and columns of lists.
    """
    with (
        damage_refused(path, "a file of R", f"is the file complete? If it is, {_SAVE_ONE}."),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of classes that are read as the vectors they are
        objects = _objects(path)
        found = {name: _table(path, name, value) for name, value in objects.items()}
    tables = {name: table for name, table in found.items() if table is not None}
    if len(tables) != 1:
        held = ", ".join(f"{name} ({type(value).__name__})" for name, value in [*objects.items()][:5])
        raise InputError(
            f"{path} holds {counted(len(tables), 'table')}, among {held or 'no objects'}; {_SAVE_ONE}."
        )
    ((name, (frame, part)),) = tables.items()
    check_names(path, list(frame.columns))
    remarks = [f"Read {part.format(name)} from {path.name}."]
    if n_failed := frame.attrs.get(_FAILED, 0):
        remarks.append(f"{counted(n_failed, 'resample')} in {path.name} without predictions: the fits failed.")
    return frame.apply(whole_numbers).reset_index(drop=True), tuple(remarks)


_FAILED = "resamples without predictions"


def _objects(path: Path) -> dict[str, Any]:
    """The objects of a file by their names; that of ``saveRDS`` by the name of the file."""
    try:
        from rdata.conversion import DEFAULT_CLASS_MAP, SimpleConverter

        tree = r_tree(path)
    except ImportError:
        raise MissingExtraError("Reading files of R", "r") from None

    class OfData(SimpleConverter):
        """Converts what holds data, and makes all else None."""

        def _convert_next(self, data: Any) -> Any:
            node = getattr(data, "object", data)
            return super()._convert_next(data) if node.info.type.name in _CONVERTED else None

    classes = {**DEFAULT_CLASS_MAP, "train": lambda value, attributes: Train(value)}
    value = OfData(classes).convert(tree)
    return value if tree.object.info.type.name == "LIST" else {path.stem: value}


def _table(path: Path, name: str, value: Any) -> tuple[Any, str] | None:
    """The table of an object, and words for the part of it that it is; None if it is none."""
    import pandas as pd

    if isinstance(value, Train):
        if not isinstance(value.get("pred"), pd.DataFrame):
            raise _without_predictions(name, path)
        return value["pred"], "{}$pred (caret)"
    if not isinstance(value, pd.DataFrame):
        return None
    if "wflow_id" in value and "result" in value:
        frames = [
            _of_resamples(path, name, result, wflow_id=workflow)
            for workflow, result in zip(value["wflow_id"], value["result"], strict=True)
        ]
        return _together(frames), "the .predictions of the workflows in {} (tidymodels)"
    if ".predictions" in value or ("splits" in value and ".metrics" in value):
        return _of_resamples(path, name, value), "the .predictions of {} (tidymodels)"
    return value, "the data frame {}"


def _without_predictions(name: str, path: Path) -> InputError:
    return InputError(
        f"{name} in {path} holds results of caret or tidymodels without predictions; fit it with "
        'trainControl(savePredictions = "all", classProbs = TRUE), or tune with control_grid(save_pred = TRUE).'
    )


def _of_resamples(path: Path, name: str, results: Any, **workflow: str) -> Any:
    """The predictions of all resamples, with the columns that identify workflow and resample."""
    import pandas as pd

    keys = [key for key in results if key == ".iter" or key.rstrip("0123456789") == "id"]
    frames = []
    for place, frame in enumerate(results.get(".predictions", ())):
        if isinstance(frame, pd.DataFrame):
            own = {**workflow, **{key: results[key].iloc[place] for key in keys}}
            frames.append(pd.concat([pd.DataFrame(own, index=frame.index), frame], axis=1))
    if not frames:
        raise _without_predictions(name, path)
    return _together(frames, len(results) - len(frames))


def _together(frames: Sequence[Any], n_failed: int = 0) -> Any:
    import pandas as pd

    frame = pd.concat(frames, ignore_index=True)
    frame.attrs[_FAILED] = n_failed + sum(each.attrs.get(_FAILED, 0) for each in frames)
    return frame
