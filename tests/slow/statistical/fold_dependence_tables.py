"""The tables of papers/pages/interval_tables_kfold.md.

    python tests/slow/statistical/fold_dependence_tables.py --results kfold.json \\
        > papers/pages/interval_tables_kfold.md

Settings whose coverages stand in the file of results already are not simulated again.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby, product
from pathlib import Path

from fold_dependence_simulation import TRUTHS, Coverage, KFoldSetting, grid, simulate_folds

Coverages = Mapping[str, Coverage]

INTRODUCTION = """\
# Coverage with real K-fold fits

Printed by `python tests/slow/statistical/fold_dependence_tables.py --repetitions {repetitions}`; what to make of it
stands in [intervals.md](intervals.md), and how rows were drawn, fitted and predicted in
`tests/slow/statistical/fold_dependence_simulation.py`. The predictions are those of ridge regressions that were
fitted on the training part of each fold, of N rows with ten columns, so that models share most of their training
rows. Nominal level 95 %, two-sided (tilting and mabt: their lower bound), B = {bootstraps} (tilting and mabt: ten
times as many), {repetitions} repetitions, so that a coverage of .95 has a standard error of {error:.3f}.

A cell holds three coverages, each of another truth of the configuration that the method selected: *the mean
performance on new rows of the K models that predicted the rows* / *its expectation over samples of N rows* / *the
performance of the model fitted on all rows*. Of one configuration the two-part methods take all rows
(`evaluation_share=1.0`); of ten penalties a fourth. ° marks cells where some repetitions had no interval. In the
last table the rows are a hold-out: one model of other rows predicted them, and the first number is the one that an
interval of such rows is for.
"""


def cell(found: Coverage | None, repetitions: int) -> str:
    """Three coverages without their zeros."""
    if found is None:
        return "none"
    shares = " / ".join(_short(found.held[each]) for each in TRUTHS)
    return shares + ("°" if found.repetitions < repetitions else "")


def table(columns: Sequence[tuple[str, Coverages]], repetitions: int) -> Iterator[str]:
    """A line a method, a column a setting."""
    yield "| | " + " | ".join(title for title, _ in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for name in dict.fromkeys(name for _, found in columns for name in found):
        yield f"| {name} | " + " | ".join(cell(found.get(name), repetitions) for _, found in columns) + " |"


def summary(results: Sequence[tuple[KFoldSetting, Coverages]]) -> Iterator[str]:
    """The lowest and highest coverage of each method, over metrics, folds and truths."""
    columns = list(product((1, 10), sorted({setting.rows for setting, _ in results if setting.folds > 1})))
    yield "| | " + " | ".join(f"{'one' if c == 1 else f'best of {c}'}, N={rows}" for c, rows in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for name in dict.fromkeys(name for _, found in results for name in found):
        cells = []
        for configurations, rows in columns:
            held = [
                share
                for setting, found in results
                if setting.folds > 1 and (setting.configurations, setting.rows) == (configurations, rows)
                for share in (found[name].held.values() if name in found else ())
            ]
            cells.append(f"{_short(min(held))} to {_short(max(held))}" if held else "none")
        if set(cells) != {"none"}:
            yield f"| {name} | " + " | ".join(cells) + " |"


def _short(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


def document(results: Sequence[tuple[KFoldSetting, Coverages]], repetitions: int, bootstraps: int) -> str:
    """The whole page."""
    error = (0.95 * 0.05 / repetitions) ** 0.5
    lines = [INTRODUCTION.format(repetitions=repetitions, bootstraps=bootstraps, error=error)]
    lines += ["## The lowest and the highest coverage", "", *summary(results), ""]
    folded = [each for each in results if each[0].folds > 1]
    for (kind, configurations), of_law in groupby(folded, lambda each: (each[0].kind, each[0].configurations)):
        what = "one configuration" if configurations == 1 else f"the best of {configurations} penalties"
        lines += [f"## {kind}, {what}", ""]
        columns = [(f"N={setting.rows}, K={setting.folds}", found) for setting, found in of_law]
        lines += [*table(columns, repetitions), ""]
    whole = [(f"{setting.kind}, N={setting.rows}", found) for setting, found in results if setting.folds == 1]
    lines += ["## one configuration, a hold-out", "", *table(whole, repetitions), ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--bootstraps", type=int, default=500)
    parser.add_argument("--results", type=Path, help="a JSON file to keep coverages in")
    chosen = parser.parse_args()
    kept = json.loads(chosen.results.read_text()) if chosen.results and chosen.results.exists() else {}
    results = []
    for setting in grid():
        key = json.dumps({**asdict(setting), "repetitions": chosen.repetitions, "bootstraps": chosen.bootstraps})
        if key not in kept:
            print(setting, file=sys.stderr, flush=True)
            found = simulate_folds(setting, chosen.repetitions, n_bootstraps=chosen.bootstraps)
            kept[key] = {name: asdict(each) for name, each in found.items()}
            if chosen.results:
                chosen.results.write_text(json.dumps(kept))
        results.append((setting, {name: Coverage(**fields) for name, fields in kept[key].items()}))
    print(document(results, chosen.repetitions, chosen.bootstraps), end="")


if __name__ == "__main__":
    main()
