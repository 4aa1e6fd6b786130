"""The tables of papers/pages/interval_tables.md.

    python tests/slow/statistical/interval_tables.py --repetitions 400 --results results.json \
        > papers/pages/interval_tables.md

Settings whose summaries stand in the file of results already are not simulated again, so that a run can be
interrupted, and tables can be set anew.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from interval_simulation import ALTERNATIVES, Setting, Summary, Tally, grid, methods, simulate

Summaries = Mapping[str, Summary]
"""Of one setting, by "method, alternative"."""

INTRODUCTION = """\
# Coverage and width of every interval

Printed by `python tests/slow/statistical/interval_tables.py --repetitions {repetitions}`; what to make of it
stands in [intervals.md](intervals.md), and how predictions were drawn in
`tests/slow/statistical/interval_simulation.py`. Nominal level 95 %, B = {bootstraps:,} (tilting and mabt: ten
times as many), {repetitions} repetitions a setting, so that a coverage of .95 has a binomial standard error of
{error:.3f} and one of .50 of {half:.3f}. The truth is that of the configuration that the method selected.

A cell of a two-sided table is *coverage, mean width, (share of intervals on the flattering side of the truth / on
the other side)*; of a one-sided table (`alternative="greater"`) *coverage, mean distance from the bound to the
truth*; of a table of biases *mean of estimate - truth*, positive when flattering. ρ is the correlation of errors
between configurations. ° marks cells where some repetitions had no interval (NaN and a flag), which are left out.
"""


def column_title(setting: Setting) -> str:
    if setting.configurations == 1:
        return "C=1"
    return f"C={setting.configurations}, ρ={setting.correlation:g}"


def summaries_of(tallies: Mapping[tuple[str, str], Tally]) -> tuple[dict[str, Summary], dict[str, str]]:
    """Summaries by "method, alternative", and why the others have none."""
    found, reasons = {}, {}
    for (name, alternative), tally in tallies.items():
        summary = tally.summary()
        if summary is not None:
            found[f"{name}, {alternative}"] = summary
        else:
            reasons[f"{name}, {alternative}"] = (
                tally.refusals.most_common(1)[0][0] if tally.refusals else "no repetition gave it an interval"
            )
    return found, reasons


def share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def two_sided_cell(summary: Summary) -> str:
    return (
        f"{share(summary.coverage)}{mark(summary)}, {share(summary.width)} "
        f"({share(summary.truth_is_worse)}/{share(summary.truth_is_better)})"
    )


def one_sided_cell(summary: Summary) -> str:
    return f"{share(summary.coverage)}{mark(summary)}, {share(summary.tightness).replace('-0.', '-.')}"


def bias_cell(summary: Summary) -> str:
    return f"{summary.bias:+.3f}".replace("0.", ".")


def mark(summary: Summary) -> str:
    return "°" if summary.without else ""


def block(columns: Sequence[tuple[Setting, Summaries]], alternative: str) -> list[str]:
    """One table: settings of one law and N side by side, a line a method."""
    cell = two_sided_cell if alternative == "two-sided" else one_sided_cell
    return grid_of_cells(columns, lambda name: f"{name}, {alternative}", cell)


def bias_block(columns: Sequence[tuple[Setting, Summaries]]) -> list[str]:
    """Biases are of values, which do not depend on the alternative; variants of an interval share them."""
    return grid_of_cells(columns, lambda name: f"{name}, greater", bias_cell)


def grid_of_cells(
    columns: Sequence[tuple[Setting, Summaries]], key: Callable[[str], str], cell: Callable[[Summary], str]
) -> list[str]:
    names = dict.fromkeys(line.rsplit(", ", 1)[0] for _, summaries in columns for line in summaries)
    lines = [
        "| | " + " | ".join(column_title(setting) for setting, _ in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for name in names:
        found = [summaries.get(key(name)) for _, summaries in columns]
        if any(found) and not (cell is bias_cell and name == "bbc calibrated"):
            lines.append(f"| {name} | " + " | ".join(cell(each) if each else "none" for each in found) + " |")
    return lines


def document(
    results: Iterable[tuple[Setting, Summaries, Mapping[str, str]]], repetitions: int, bootstraps: int
) -> str:
    """The whole page."""
    error, half = ((p * (1 - p) / repetitions) ** 0.5 for p in (0.95, 0.5))
    parts = [INTRODUCTION.format(repetitions=repetitions, bootstraps=bootstraps, error=error, half=half)]
    by_law: dict[str, dict[int, list[tuple[Setting, Summaries]]]] = {}
    refused: dict[str, dict[str, list[str]]] = {}
    for setting, summaries, reasons in results:
        by_law.setdefault(setting.title, {}).setdefault(setting.rows, []).append((setting, summaries))
        for name, reason in reasons.items():
            listed = refused.setdefault(setting.title, {}).setdefault(reason, [])
            if name not in listed:
                listed.append(name)
    for title, by_rows in by_law.items():
        parts += [f"## {title}", ""]
        for rows, columns in by_rows.items():
            columns.sort(key=lambda column: (column[0].configurations, column[0].correlation))
            for alternative in ALTERNATIVES:
                parts += [f"N = {rows}, {alternative.replace('greater', 'one-sided')}:", ""]
                parts += [*block(columns, alternative), ""]
            parts += [f"N = {rows}, bias:", "", *bias_block(columns), ""]
        shown = {line for columns in by_rows.values() for _, summaries in columns for line in summaries}
        parts += ["Never with an interval here:", ""]
        for reason, names in refused[title].items():
            never = [name for name in names if name not in shown]
            if never:
                parts.append(f"- {methods_text(never)}: {reason.rstrip('.')}.")
        parts.append("")
    return "\n".join(parts)


def methods_text(lines: Sequence[str]) -> str:
    """Methods that lack both intervals by their name, the others with the one that they lack."""
    names: dict[str, list[str]] = {}
    for line in lines:
        name, alternative = line.rsplit(", ", 1)
        names.setdefault(name, []).append(alternative.replace("greater", "one-sided"))
    return ", ".join(
        name if len(lacking) == len(ALTERNATIVES) else f"{name} ({lacking[0]})" for name, lacking in names.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--bootstraps", type=int, default=1000)
    parser.add_argument("--methods", help="names, by commas; all by default")
    parser.add_argument("--results", type=Path, help="a JSON file to keep summaries in")
    chosen = parser.parse_args()
    asked = {"repetitions": chosen.repetitions, "bootstraps": chosen.bootstraps}
    named = methods() if chosen.methods is None else {name: methods()[name] for name in chosen.methods.split(",")}
    kept = json.loads(chosen.results.read_text()) if chosen.results and chosen.results.exists() else {}
    results = []
    for setting in grid():
        key = json.dumps({**asdict(setting), **asked, "methods": list(named)})
        if key not in kept:
            print(setting, file=sys.stderr, flush=True)
            tallies = simulate(setting, chosen.repetitions, asked=named, n_bootstraps=chosen.bootstraps)
            found, reasons = summaries_of(tallies)
            kept[key] = {"found": {name: asdict(summary) for name, summary in found.items()}, "reasons": reasons}
            if chosen.results:
                chosen.results.write_text(json.dumps(kept))
        summaries = {name: Summary(**fields) for name, fields in kept[key]["found"].items()}
        results.append((setting, summaries, kept[key]["reasons"]))
    print(document(results, **asked), end="")


if __name__ == "__main__":
    main()
