"""``heldout report``: draw the report of a finished run again, from what its folder holds."""

from __future__ import annotations

import click

from heldout.cli.console import Console


@click.command(name="report", short_help="Draw the report of a finished run again.")
@click.argument("folder", metavar="DIR")
@click.option("--to", "destination", metavar="FILE", help="Where to write it; DIR/report.html unless told.")
def command(folder: str, destination: str | None) -> None:
    """Draw report.html again from DIR/report.json, the plain data that `heldout tune`,
    `heldout validate` or `heldout estimate --out` left beside it.

    Nothing is fitted or computed again, so a newer heldout can give an old run a newer page.
    """
    from heldout.cli.folder import OutputFolder, path_named
    from heldout.cli.report_content import page_of, read_content
    from heldout.errors import InputError
    from heldout.report.render import written as write_page

    source = path_named(folder, "DIR") / "report.json"
    target = source.with_name("report.html") if destination is None else path_named(destination, "--to")
    if target.is_dir():
        raise InputError(f"--to {target} is a folder; name a file, such as {target / 'report.html'}.")
    page = page_of(source, read_content(source))
    output = OutputFolder(target.parent)
    output.check_writable()
    written = output.write(target.name, lambda partial: write_page(page, partial, "the report"))
    console = Console()
    console.say(str(written))
    console.check_all_was_printed(f"the report is {written}")
