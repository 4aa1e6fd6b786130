"""The result of a command, as lines for people and as one document, with as many digits as in the report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from heldout._text import counted, number_text

if TYPE_CHECKING:
    from heldout.cli.console import Row
    from heldout.cli.tune_job import TuneJob
    from heldout.estimates.comparison import Comparison
    from heldout.estimates.types import Estimate, Interval
    from heldout.result import Evaluation


MOST_TIMES = 5
"""Of more barriers than these that dropped configurations, only the first and the last are printed."""


def estimate_rows(estimate: Estimate) -> list[Row]:
    """Labels and texts about an estimate."""
    from heldout.estimates.types import optimism_beyond_rounding
    from heldout.scales import scale_of

    rows = [("metric", str(estimate.metric))]
    decimals = scale_of(str(estimate.metric), True, estimate).decimals
    if estimate.method == "cv":
        rows.append(("uncorrected", _number(estimate.uncorrected, decimals)))
    else:
        rows += [
            (value_label(estimate), f"{_number(estimate.value, decimals)} by {estimate.method}"),
            ("interval", "none" if estimate.interval is None else _interval(estimate.interval, decimals)),
            *([] if estimate.coverage is None else [("coverage", str(estimate.coverage))]),
            ("uncorrected", _number(estimate.uncorrected, decimals)),
            ("optimism", _number(optimism_beyond_rounding(estimate), decimals)),
        ]
    if estimate.constant is not None:
        constant = _number(estimate.constant, decimals)
        rows.append(("constant", f"{constant} by a model that predicts the same for every row"))
    notes = list(estimate.flags.values())
    return rows + ([("note" if len(notes) == 1 else "notes", notes)] if notes else [])


def value_label(estimate: Estimate) -> str:
    """The label of the value: corrected, or value where it is uncorrected or needs no correction."""
    from heldout.estimates.types import is_uncorrected, was_named

    return "value" if is_uncorrected(estimate) or was_named(estimate) else "corrected"


def comparison_lines(comparison: Comparison) -> list[str]:
    """The table of several methods, the main one marked, with its notes and why the others do not apply."""
    from heldout._notebook import aligned
    from heldout.estimates.comparison import HEADINGS
    from heldout.scales import scale_of

    main = comparison[comparison.main]
    decimals = scale_of(str(main.metric), True, main).decimals
    headings = tuple(_interval_heading(comparison) if heading == "interval" else heading for heading in HEADINGS)
    lines = [f"{main.metric} of {main.selected_name}", ""]
    lines += aligned([headings, *comparison.rows(decimals)])
    if comparison.coverage:
        lines += ["", *comparison.coverage_sentences]
    if main.flags:
        lines += ["", f"About {comparison.main}:", *(f"- {sentence}" for sentence in main.flags.values())]
    if comparison.refused:
        lines += ["", "These do not apply:"]
        lines += aligned([(f"- {name}:", reason) for name, reason in comparison.refused.items()])
    return lines


def _interval_heading(comparison: Comparison) -> str:
    interval = next((found.interval for found in comparison.values() if found.interval is not None), None)
    if interval is None:
        return "interval"
    sides = "" if interval.alternative == "two-sided" else f", {interval.alternative}"
    return f"interval ({interval.confidence_level * 100:.4g}%{sides})"


def search_rows(
    evaluation: Evaluation,
    files: dict[str, str],
    n_resumed: int,
    of_protocol: Sequence[Row] = (),
    *,
    seconds: float,
) -> list[Row]:
    """Labels and texts about a finished search and the protocol that repeated it."""
    from heldout.execution.listeners.words import command_words, shared_line
    from heldout.scales import scale_of

    estimate = evaluation.estimate
    rows = [("winner", evaluation.configurations[evaluation.winner].name)]
    if estimate is None:
        scores = evaluation.fold_scores[evaluation.refit_metric].values[:, evaluation.winner]
        decimals = scale_of(str(evaluation.refit_metric), True, scores=scores.tolist()).decimals
        shown = number_text(float(scores.mean()), decimals)
        rows.append(("uncorrected", f"{shown} (no estimate: --method none)"))
    else:
        if estimate.selected != evaluation.winner:
            rows.append(("estimate of", estimate.selected_name))
        rows += estimate_rows(estimate)
    if others := _other_estimates(evaluation):
        rows.append(("also", others))
    rows += of_protocol
    before = f" ({n_resumed:,} of them before)" if n_resumed else ""
    failed = f", {counted(len(evaluation.failures), 'configuration')} failed" if evaluation.failures else ""
    done = f"{evaluation.n_fits:,} done{before}"
    fits = f"{done}, {evaluation.n_fits_saved:,} saved{failed}"
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
    evaluation: Evaluation, files: dict[str, str], job: TuneJob, *, seconds: float
) -> dict[str, Any]:
    """The fields of the estimate and of the run."""
    from heldout.estimates.types import json_safe

    estimate = estimate_document(evaluation)
    winner = evaluation.configurations[evaluation.winner]
    document: dict[str, Any] = json_safe(
        {
            **estimate,
            "winner": {"name": winner.name, "params": winner.params},
            "task": job.task.truth.kind.value,
            "n_rows": job.task.n_rows,
            "columns": list(job.task.X.columns),
            "set_aside": job.found.excluded,
            "n_configurations": len(evaluation.configurations),
            "n_fits": evaluation.n_fits,
            "n_fits_for_estimate": 0 if evaluation.cross_fit is None else evaluation.cross_fit.n_fits,
            "n_fits_saved": evaluation.n_fits_saved,
            "n_fits_shared": evaluation.n_fits_shared,
            "shared_fits": {what: asdict(each) for what, each in evaluation.shared_fits.items()},
            "dropped": {
                str(position): {"after": dropped.after, "reason": dropped.reason}
                for position, dropped in evaluation.dropped.items()
                if position not in evaluation.failures
            },
            "stopped_after": _stopped_after(evaluation),
            "failures": {str(position): reason for position, reason in evaluation.failures.items()},
            "seconds": {**evaluation.seconds, "command": seconds},
            "files": files,
        }
    )
    return document


def _other_estimates(evaluation: Evaluation) -> list[str]:
    """A line for each metric that did not choose, with its own notes below it."""
    from heldout.scales import scale_of

    main, lines = evaluation.estimate, []
    for name, estimate in evaluation.estimates.items():
        if name == evaluation.refit_metric:
            continue
        decimals = scale_of(str(estimate.metric), True, estimate).decimals
        value = f"{estimate.metric} {_number(estimate.value, decimals)}"
        interval = "" if estimate.interval is None else f", {_interval(estimate.interval, decimals)}"
        lines.append(f"{value}{interval}, uncorrected {_number(estimate.uncorrected, decimals)}")
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


def _number(value: float, decimals: int) -> str:
    return number_text(value, decimals) if math.isfinite(value) else "none"


def _interval(interval: Interval, decimals: int) -> str:
    sides = "" if interval.alternative == "two-sided" else f", {interval.alternative}"
    low, high = (
        number_text(end, decimals) if math.isfinite(end) else str(end) for end in (interval.low, interval.high)
    )
    return f"{low} to {high} ({interval.confidence_level * 100:.4g}% confidence{sides})"
