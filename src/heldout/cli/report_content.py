"""``report.json`` back into the report's plain data, field by field as the dataclasses declare it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.data.declared import UNREADABLE, from_json, of_type
from heldout.errors import InputError, MissingExtraError
from heldout.execution.store.opening import what_it_is

if TYPE_CHECKING:
    from heldout.report import ReportContent
    from heldout.report.validation_content import ValidationContent

MOST_BYTES = 2**29


def read_content(path: Path) -> ReportContent | ValidationContent:
    """The content that ``heldout tune``, ``heldout validate`` or ``heldout estimate --out`` saved.

    Raises
    ------
    InputError
        When the file is missing, damaged, or of another version of the report.
    """
    from heldout.report import ReportContent
    from heldout.report.validation_content import ValidationContent

    if not path.parent.is_dir():
        raise InputError(
            f"there is no folder {path.parent}; give the folder that heldout tune, heldout validate, or "
            "heldout estimate --out, left its files in."
        )
    if not path.exists():
        unfinished = (path.parent / "run.db").exists()
        raise InputError(
            f"{path.parent} holds no {path.name}: "
            + (
                "its run is not finished; go on with it by the same command and --resume."
                if unfinished
                else "give the folder that heldout tune, heldout validate, or heldout estimate --out, left its "
                "files in."
            )
        )
    try:
        _check_file(path)
        document = from_json(Any, path.read_text(encoding="utf-8"))
        kind = ValidationContent if "table_sentence" in document else ReportContent
        content: ReportContent | ValidationContent = of_type(kind, document)
    except UNREADABLE as error:
        raise InputError(_unlike_any(path, error)) from None
    return content


def _check_file(path: Path) -> None:
    """Refuse what would be read for ever, or into more memory than any report takes."""
    if (found := what_it_is(path)) != "a file":
        raise ValueError(f"it is {found}")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"it has {path.stat().st_size / 2**20:,.0f} MiB, and no report has {MOST_BYTES >> 20}")


def page_of(path: Path, content: ReportContent | ValidationContent) -> str:
    """The content as a page.

    Raises
    ------
    InputError
        When values that are each of their type do not go together, so that nothing can be drawn from them.
    """
    from heldout.report.render import render_html

    try:
        from jinja2 import TemplateError
    except ImportError:
        raise MissingExtraError("The report", "app") from None
    try:
        return render_html(content)
    except (*UNREADABLE, TemplateError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(_unlike_any(path, error)) from None


def _unlike_any(path: Path, error: Exception) -> str:
    """The sentence for a file that is no report's content, or that no page can be made of."""
    said = " ".join(str(error).split()) or type(error).__name__
    return (
        f"{path} is damaged or of another version of heldout ({said}); run the same heldout estimate again, or "
        "heldout tune or validate with --resume, to write it anew."
    )
