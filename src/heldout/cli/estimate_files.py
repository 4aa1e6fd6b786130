"""What ``heldout estimate --out DIR`` leaves: the estimate, the comparison, and the report with its plain data."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from heldout.cli.option_words import in_options

if TYPE_CHECKING:
    from heldout.cli.folder import OutputFolder
    from heldout.estimates.comparison import Comparison
    from heldout.estimates.inputs import Inputs
    from heldout.estimates.types import Estimate


def leave(
    folder: OutputFolder, asked: Inputs, result: Estimate | Comparison, *, table: str, command: str
) -> dict[str, str]:
    """Write the files; those of an earlier estimate in the folder give way to them.

    Returns
    -------
    dict
        Their paths by name.
    """
    from heldout.estimates.types import Estimate
    from heldout.report import estimate_content, write_report

    single = isinstance(result, Estimate)
    main = result if isinstance(result, Estimate) else result[result.main]
    folder.check_writable()
    content = estimate_content(
        main, asked, comparison=None if isinstance(result, Estimate) else result, command=command, title=table
    )
    content = replace(
        content,
        flags=tuple(in_options(sentence) for sentence in content.flags),
        refused=tuple(replace(entry, text=in_options(entry.text)) for entry in content.refused),
    )
    written = [folder.write_json("estimate.json", main.to_dict())]
    if single:
        with suppress(FileNotFoundError):  # of other methods than this report's
            (folder.path / "comparison.json").unlink()
    else:
        written.append(folder.write_json("comparison.json", result.to_dict()))
    written.append(folder.write_json("report.json", content.to_dict()))
    written.append(folder.write("report.html", lambda partial: write_report(content, partial)))
    return {path.name: str(path) for path in written}
