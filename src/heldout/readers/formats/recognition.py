"""Which format an export has; two that recognise one are an error that names both, and nothing is guessed."""

from collections.abc import Mapping

from heldout.data.checks import check_format
from heldout.errors import InputError
from heldout.readers.formats import evaluations
from heldout.readers.formats.autogluon import AutoGluon
from heldout.readers.formats.caret import Caret
from heldout.readers.formats.h2o import H2O
from heldout.readers.formats.mljar import Mljar
from heldout.readers.formats.mlr3 import Mlr3
from heldout.readers.formats.openml import OpenMLRun
from heldout.readers.formats.orange import Orange
from heldout.readers.formats.own import OwnFile
from heldout.readers.formats.plain import LongFormat, WideFormat
from heldout.readers.formats.scikit_learn import ScikitLearn
from heldout.readers.formats.tabrepo import TabRepo
from heldout.readers.formats.tidymodels import Tidymodels
from heldout.readers.formats.tool import Export, Tool, parts_of
from heldout.readers.formats.weka import Weka
from heldout.readers.long_table import ColumnUses

_OF_FILES: tuple[Tool, ...] = (
    Weka(),
    Orange(),
    Mljar(),
    TabRepo(),
    evaluations.LmEvalHarness(),
    evaluations.Inspect(),
    evaluations.Helm(),
    evaluations.Promptfoo(),
    evaluations.OpenAIEvals(),
)
"""Recognised by the names and first lines of files, which need not be tables; they come first."""
_OF_COLUMNS: tuple[Tool, ...] = (
    OwnFile(),
    WideFormat(),
    LongFormat(),
    Caret(),
    Tidymodels(),
    Mlr3(),
    ScikitLearn(),
    H2O(),
    OpenMLRun(),
    AutoGluon(),
    evaluations.Evalstats(),
    evaluations.Scores(),
)
FORMATS: Mapping[str, Tool] = {tool.name: tool for tool in (*_OF_COLUMNS, *_OF_FILES)}
"""By name; to add a tool, write one file and one line here."""


def format_of(export: Export, uses: ColumnUses, name: str = "auto") -> Tool:
    """The format of an export: the one named, or the only one that recognises it.

    A description of all columns by the user comes first. A table that no format recognises is a wide one, and
    a folder of such tables has one for each model.
    """
    check_format(name)
    if name != "auto":
        return FORMATS[name]
    if FORMATS["long"].recognises(export, uses):
        return FORMATS["long"]
    tools = [tool for tool in _OF_FILES if tool.recognises(export, uses)] or [
        tool for tool in _OF_COLUMNS if tool.recognises(export, uses)
    ]
    if len(tools) > 1:
        raise InputError(
            f"{export.name} can be read in {len(tools)} ways: "
            + ", or ".join(f"as {tool.title} (`format={tool.name!r}`, by {tool.signs})" for tool in tools)
            + "; say which with `format=`.",
            argument="format",
        )
    if tools:
        return tools[0]
    if export.table is not None:
        return FORMATS["wide"]
    parts = {} if export.path is None else parts_of(export, *AutoGluon.endings)
    files = [
        str(part.path) for part in parts.values() if part.table is not None and part.table.metadata is not None
    ]
    if files:
        raise InputError(f"{export.name} is a folder; name the file of predictions in it, {files[0]}.")
    if parts:
        return FORMATS["autogluon"]
    raise InputError(
        f"{export.name} is not of a known format ({', '.join(FORMATS)}); give a file, a folder, a data frame, or a "
        "mapping from names of configurations to arrays or tables of predictions."
    )
