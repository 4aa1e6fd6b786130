"""Tables from files that R writes with ``saveRDS`` and ``save``.

Only the parts that hold predictions are converted: a data frame, the ``pred`` of caret's ``train``, and the
``.predictions`` of tidymodels' results (``tune_results``, ``workflow_set``) with the names of their resamples. The
rest of such objects (models, calls, environments) is parsed and not looked at; no code of the file runs.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout._text import counted
from heldout.errors import InputError, MissingExtraError
from heldout.readers.columns import check_names, first_line, quoted, whole_numbers

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


def read_r(path: Path) -> tuple[Any, tuple[str, ...]]:
    """The table of a file of R as a pandas data frame, and a remark that names the object it comes from.

    A file of ``save`` must hold exactly one object that is such a table. Refused are damaged files, objects without
    predictions, and columns of lists.
    """
    with _refusing_damage(path):
        objects = _parsed(path)
        found = {name: table for name, each in objects.items() if (table := _table(path, name, each)) is not None}
    if len(found) > 1:
        raise InputError(
            f"{path} holds {counted(len(found), 'table')} ({quoted(list(found))}), and nothing says which is "
            "meant; save the one with saveRDS()."
        )
    if not found:
        held = ", ".join(f"{name} ({' '.join(each.classes) or each.kind})" for name, each in [*objects.items()][:5])
        raise InputError(f"{path} holds no table: {held or 'no object'}; {_SAVE_ONE}.")
    ((name, table),) = found.items()
    check_names(path, list(table.frame.columns))
    lost = (f"{counted(table.n_failed, 'resample')} in {path.name} without predictions: the fits failed.",) * bool(
        table.n_failed
    )
    return table.frame, (f"Read {table.part.format(name)} from {path.name}.", *lost)


@contextmanager
def _refusing_damage(path: Path) -> Iterator[None]:
    """Turn what the parser raises into a refusal: the file is untrusted, and it can raise anything."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes that are read as the vectors they are
            yield
    except (InputError, MissingExtraError, MemoryError):
        raise
    except Exception as error:
        raise InputError(
            f"{path} cannot be read as a file of R: {first_line(error)} ({type(error).__name__}); is the file "
            f"complete? If it is, {_SAVE_ONE}."
        ) from None


@dataclass(frozen=True, eq=False)
class _RTable:
    """A table of R."""

    frame: Any
    part: str = "the data frame {}"
    """Words for the part of the object that it is, with a gap for the object's name."""
    n_failed: int = 0
    """Resamples without predictions."""


@dataclass(frozen=True)
class _RObject:
    """An object of R, parsed and not converted."""

    parsed: Any
    """``rdata.parser.RData`` with this object in it, for the encoding of its texts."""

    @property
    def kind(self) -> str:
        return str(self.parsed.object.info.type.name.lower())

    @property
    def attributes(self) -> dict[str, _RObject]:
        """The attributes, such as names and class."""
        return dict(self._pairs(self.parsed.object.attributes))

    @property
    def pairs(self) -> dict[str, _RObject]:
        """The objects of a list of pairs, as ``save`` writes them."""
        return dict(self._pairs(self.parsed.object))

    @property
    def classes(self) -> list[str]:
        return self._texts("class")

    @property
    def elements(self) -> Mapping[str, _RObject]:
        """The elements of a named list; empty for all other objects."""
        if self.kind != "vec":
            return {}
        names, values = self._texts("names"), self.parsed.object.value
        return {name: self._other(each) for name, each in zip(names, values, strict=False)}

    @property
    def items(self) -> list[_RObject]:
        """The elements of a list, in order."""
        return [self._other(each) for each in self.parsed.object.value]

    def value(self) -> Any:
        """The object as a value of Python."""
        from rdata.conversion import convert

        return convert(self.parsed)

    def _texts(self, attribute: str) -> list[str]:
        found = self.attributes.get(attribute)
        return [] if found is None else [str(text) for text in found.value()]

    def _pairs(self, node: Any) -> Iterator[tuple[str, _RObject]]:
        while node is not None and node.info.type.name in ("LIST", "ATTRLIST"):
            tag = node.tag
            while tag is not None and tag.referenced_object is not None:
                tag = tag.referenced_object
            if tag is not None:
                yield tag.value.value.decode("utf-8", "replace"), self._other(node.value[0])
            node = node.value[1]

    def _other(self, node: Any) -> _RObject:
        return _RObject(replace(self.parsed, object=node))


def _parsed(path: Path) -> dict[str, _RObject]:
    """The objects of a file by their names; that of ``saveRDS`` by the name of the file."""
    try:
        whole = _RObject(r_tree(path))
    except ImportError:
        raise MissingExtraError("Reading files of R", "r") from None
    return whole.pairs if whole.kind == "list" else {path.stem: whole}


def _table(path: Path, name: str, each: _RObject) -> _RTable | None:
    """The table of an object; None if it is none."""
    if "train" in each.classes:
        pred = each.elements.get("pred")
        if pred is None or "data.frame" not in pred.classes:
            raise InputError(
                f"{name} in {path} is a train object of caret without predictions; fit it with "
                'trainControl(savePredictions = "all", classProbs = TRUE).'
            )
        return _RTable(_frame(path, pred), "{}$pred (caret)")
    if "data.frame" not in each.classes:
        return None
    columns = each.elements
    if ".predictions" in columns:
        return _of_resamples(path, name, columns)
    if "wflow_id" in columns and "result" in columns:
        return _of_workflows(path, name, columns)
    if "splits" in columns and ".metrics" in columns:
        raise InputError(
            f"{name} in {path} holds results of tidymodels without predictions; tune with control_grid(save_pred = "
            "TRUE) or control_resamples(save_pred = TRUE)."
        )
    return _RTable(_frame(path, each))


def _frame(path: Path, each: _RObject) -> Any:
    """A data frame of plain columns."""
    import pandas as pd

    columns = each.elements
    lists = [name for name, column in columns.items() if column.kind == "vec"]
    if lists:
        raise InputError(
            f"{quoted(lists)} of the table in {path} {'holds' if len(lists) == 1 else 'hold'} lists, and a cell "
            "must hold one number or text; save the table without, or its parts as columns of their own."
        )
    return pd.DataFrame({name: whole_numbers(pd.Series(column.value())) for name, column in columns.items()})


def _of_resamples(path: Path, name: str, columns: Mapping[str, _RObject]) -> _RTable:
    """The predictions of all resamples, with the columns that identify the resample."""
    import pandas as pd

    keys = {
        key: each.value() for key, each in columns.items() if key == ".iter" or key.rstrip("0123456789") == "id"
    }
    frames, resamples = [], columns[".predictions"].items
    for place, each in enumerate(resamples):
        if each.kind in ("nilvalue", "nil"):
            continue
        frame = _frame(path, each)
        for key, values in reversed(keys.items()):
            frame.insert(0, key, values[place])
        frames.append(frame)
    if not frames:
        raise InputError(f"{name} in {path} has no predictions in any resample: did all fits fail?")
    whole = pd.concat(frames, ignore_index=True)
    return _RTable(whole, "the .predictions of {} (tidymodels)", len(resamples) - len(frames))


def _of_workflows(path: Path, name: str, columns: Mapping[str, _RObject]) -> _RTable:
    """The predictions of all workflows of a set, with a column ``wflow_id``."""
    import pandas as pd

    frames, n_failed = [], 0
    for workflow, result in zip(columns["wflow_id"].value(), columns["result"].items, strict=True):
        if ".predictions" not in result.elements:
            raise InputError(
                f"workflow {workflow!r} of {name} in {path} has no predictions; run workflow_map() with "
                "control_grid(save_pred = TRUE)."
            )
        table = _of_resamples(path, name, result.elements)
        table.frame.insert(0, "wflow_id", workflow)
        frames.append(table.frame)
        n_failed += table.n_failed
    if not frames:
        raise InputError(f"{name} in {path} is a set of no workflows; {_SAVE_ONE}.")
    return _RTable(
        pd.concat(frames, ignore_index=True), "the .predictions of the workflows in {} (tidymodels)", n_failed
    )
