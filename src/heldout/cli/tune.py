"""``heldout tune``: from a table to a fitted model, an estimate that can be believed, and a report."""

from heldout.cli.console import Console, command_of
from heldout.cli.files import folder_for
from heldout.cli.options import DATA, RUNNING
from heldout.cli.result import search_document, search_rows
from heldout.cli.runs import resumable, run_context
from heldout.cli.tune_options import CONCLUDED, SCORED, TRIED, TuneOptions, check_options


@command_of(
    TuneOptions,
    "tune",
    "Tune models on a table and estimate how good the best one is.",
    {section: section for section in (DATA, TRIED, SCORED, CONCLUDED, RUNNING)},
)
def command(options: TuneOptions, console: Console, typed: str) -> None:
    """Try many models on DATA and estimate how good the best one is, corrected for having been the best.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, predictions.parquet, estimate.json and report.html; methods.md, a paragraph for a paper
    with its BibTeX; and card.md, the result for the README of a repository.
    """
    with run_context(console):
        options.check()
        check_options(options)
        folder = folder_for(options.out, options.resume, console)
        from heldout.cli.tune_job import bytes_of, evaluated, job_of, times_predicted, write_files

        job = job_of(options, console)
        n_bytes = times_predicted(options, job.search, console) * bytes_of(job)
        with resumable(folder, n_bytes, typed, options.resume):
            evaluation, n_resumed = evaluated(options, job, folder, console)
            files = write_files(evaluation, job, options.selection, folder, typed, console)
    seconds = console.seconds()
    console.table(search_rows(evaluation, files, n_resumed, seconds=seconds))
    if evaluation.estimate is not None:
        console.show(evaluation.estimate.tables()[1:])
    console.document(
        {**search_document(evaluation, files, job.found, seconds=seconds), "n_fits_resumed": n_resumed}
    )
    console.check_all_was_printed(f"the files are in {folder.path}")
