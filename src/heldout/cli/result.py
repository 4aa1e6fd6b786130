"""The result of a command, as lines for people and as one document, with as many digits as in the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heldout._text import counted, number_text

if TYPE_CHECKING:
    from heldout.cli.console import Row
    from heldout.estimates.types import Estimate
    from heldout.readers.table_task import TableTask
    from heldout.result import Evaluation


MOST_TIMES = 5
"""Of more barriers than these that dropped configurations, only the first and the last are printed."""


def estimate_rows(estimate: Estimate) -> list[Row]:
    """Labels and texts about an estimate, the result first."""
    result = estimate.tables()[0]
    rows: list[Row] = [*((label, text) for label, text in result.rows), ("metric", result.title)]
    if result.notes:
        rows.append(("note" if len(result.notes) == 1 else "notes", result.notes))
    return rows


def search_rows(
    evaluation: Evaluation,
    files: dict[str, str],
    n_resumed: int,
    *,
    seconds: float,
) -> list[Row]:
    """Labels and texts about a finished search."""
    from heldout.estimates.types import decimals_of
    from heldout.execution.listeners.words import command_words, shared_line

    estimate = evaluation.estimate
    rows: list[Row] = []
    if estimate is None:
        scores = evaluation.fold_scores[evaluation.refit_metric].values[:, evaluation.winner]
        decimals = decimals_of(None, scores.tolist())
        shown = number_text(float(scores.mean()), decimals)
        rows.append(("uncorrected", f"{shown} (no estimate: --method none)"))
    else:
        rows += estimate_rows(estimate)
        if estimate.selected != evaluation.winner:
            rows = [("estimate of" if label == "winner" else label, text) for label, text in rows]
    if "winner" not in dict(rows):
        rows.append(("winner", evaluation.configurations[evaluation.winner].name))
    if others := _other_estimates(evaluation):
        rows.append(("also", others))
    before = f" ({n_resumed:,} of them before)" if n_resumed else ""
    failed = f", {counted(len(evaluation.failures), 'configuration')} failed" if evaluation.failures else ""
    done = f"{evaluation.n_fits:,} done{before}"
    saved = f", {evaluation.n_fits_saved:,} saved by dropping" if evaluation.n_fits_saved else ""
    fits = f"{done}{saved}{failed}"
    part = evaluation.part_for_estimate
    rows.append(("fits", [fits, part] if part else fits))
    if shared := evaluation.shared_fits:
        in_all = shared_line(evaluation.n_fits_shared, evaluation.n_fits_of_search, shared)
        where = "" if evaluation.is_one_search else "in the search on all rows "
        rows.append(("shared", f"{where}{in_all}"))
    if stopped := _stopped(evaluation):
        rows.append(("stopped", stopped))
    if dropped := _dropped(evaluation):
        rows.append(("dropped", dropped))
    rows += [
        ("time", command_words(seconds)),
        ("files", list(files.values())),
    ]
    return rows


def estimate_document(evaluation: Evaluation) -> dict[str, Any]:
    """The estimate of the metric that chose the winner; with several metrics also ``estimates``, one of each."""
    if evaluation.estimate is None:
        return {}
    document = evaluation.estimate.to_dict()
    if len(evaluation.estimates) > 1:
        document["estimates"] = {name: each.to_dict() for name, each in evaluation.estimates.items()}
    return document


def search_document(
    evaluation: Evaluation, files: dict[str, str], found: TableTask, *, seconds: float
) -> dict[str, Any]:
    """The fields of the estimate and of the run."""
    from heldout._record import json_safe

    winner = evaluation.configurations[evaluation.winner]
    of_run = run_document(found, files, seconds)
    document: dict[str, Any] = json_safe(
        {
            **estimate_document(evaluation),
            **of_run,
            "seconds": {**evaluation.seconds, **of_run["seconds"]},
            "winner": {"name": winner.name, "params": winner.params},
            "n_configurations": len(evaluation.configurations),
            "n_fits": evaluation.n_fits,
            "n_fits_for_estimate": 0 if evaluation.cross_fit is None else evaluation.cross_fit.n_fits,
            "n_fits_saved": evaluation.n_fits_saved,
            "n_fits_shared": evaluation.n_fits_shared,
            "shared_fits": evaluation.shared_fits,
            "dropped": {
                position: {"after": dropped.after, "reason": dropped.reason}
                for position, dropped in evaluation.dropped.items()
                if position not in evaluation.failures
            },
            "stopped_after": _stopped_after(evaluation),
            "failures": evaluation.failures,
        }
    )
    return document


def run_document(found: TableTask, files: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """The fields of a run on a table, beside those of its result."""
    return {
        "task": found.task.truth.kind.value,
        "n_rows": found.task.n_rows,
        "columns": list(found.task.X.columns),
        "set_aside": dict(found.excluded),
        "seconds": {"command": seconds},
        "files": {name: str(path) for name, path in files.items()},
    }


def _other_estimates(evaluation: Evaluation) -> list[str]:
    """A line for each metric that did not choose, with its own notes below it."""
    from heldout._record import value_text
    from heldout.estimates.types import decimals_of

    main, lines = evaluation.estimate, []
    for name, estimate in evaluation.estimates.items():
        if name == evaluation.refit_metric:
            continue
        decimals = decimals_of(estimate)
        value = f"{estimate.metric} {value_text(estimate.value, decimals=decimals)}"
        interval = estimate.interval
        ends = "" if interval is None else f", {interval.ends_text(decimals)} ({interval.level_text})"
        lines.append(f"{value}{ends}, uncorrected {value_text(estimate.uncorrected, decimals=decimals)}")
        said = () if main is None else main.flags.values()
        lines += [f"  {note}" for note in estimate.flags.values() if note not in said]
    return lines


def _dropped(evaluation: Evaluation) -> str:
    """How many configurations were dropped, and after how many splits, or why none could be; else empty."""
    after = [dropped.after for j, dropped in evaluation.dropped.items() if j not in evaluation.failures]
    if not after:
        return _never_dropped(evaluation)
    times = sorted(set(after))
    total = f"{len(after)} of {len(evaluation.configurations)} configurations"
    if len(times) > MOST_TIMES:
        return f"{total}, after {times[0]} to {times[-1]} splits"
    each = ", ".join(f"{after.count(time)} after {time}" for time in times)
    return f"{total}: {each} splits" if len(times) > 1 else f"{total}, after {counted(times[0], 'split')}"


def _never_dropped(evaluation: Evaluation) -> str:
    """Why a rule could never drop; empty where it could."""
    least = (evaluation.provenance.get("drop") or {}).get("min_predictions", 0)
    most = max((barrier.n_rows for barrier in evaluation.barriers), default=least)
    if most >= least:
        return ""
    return f"none could be: the rule applies from {least:,} predicted rows, and the last split came after {most:,}"


def _stopped_after(evaluation: Evaluation) -> int | None:
    """The number of splits of a search that did not run all of them; None for others."""
    barriers = evaluation.barriers
    return barriers[-1].after if barriers and barriers[-1].stopped else None


def _stopped(evaluation: Evaluation) -> str:
    """After how many splits a search stopped because its interval was tight; empty where it did not."""
    after = _stopped_after(evaluation)
    if after is None or "stop_when_width" not in evaluation.provenance:
        return ""
    planned = counted(int(evaluation.provenance["n_splits_planned"]), "split")
    width = evaluation.barriers[-1].width
    wide = "" if width is None else f": the interval is {width:.3g} wide"  # a run file does not hold it
    return f"after {after} of {planned}{wide}"
