"""What early dropping saves and costs on real tables: fits, time, and the score of the winner on rows left out.

    python benchmarks/dropping.py TABLE.parquet ... [--target target] [--rows 500] [--draws 20] [--rules bootstrap]

Each draw takes ``--rows`` rows of a table at random (stratified), searches the preset on them completely and then
with each rule, and scores the winners, fitted on all of these rows, on all the others. The searches of a draw share
a run file in ``--work``, so that a rule fits nothing that the complete search has fitted (its count is of what it
would have), and the whole can be stopped at any time and gone on with. One line of a Markdown table is printed for
each table and rule: means over the draws, with their standard errors.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import get_scorer
from sklearn.model_selection import train_test_split

import heldout as ho
from heldout.execution.cells import CellState

HEADINGS = (
    "table", "rule", "fits", "times fewer", "share of fit time", "relative loss (%)", "worst draw (%)",
    "same winner", "estimated risk",
)  # fmt: skip


class Draw(NamedTuple):
    """One search with a rule beside the complete one."""

    fewer: float
    share_of_time: float
    relative_loss: float
    same_winner: bool
    n_fits: int
    risk: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--target", default="target")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--preset", default="standard")
    parser.add_argument("--metric", default="roc_auc")
    parser.add_argument("--cv", type=int, default=5)
    parser.add_argument("--rules", default="bootstrap")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=None, help="where run files are kept; a temporary folder")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # a preset holds settings that do not suit every table
    print("| " + " | ".join(HEADINGS) + " |\n|" + " --- |" * len(HEADINGS))
    with tempfile.TemporaryDirectory() as temporary:
        for path in options.tables:
            found = [
                draws_of(path, number, options, options.work or Path(temporary)) for number in range(options.draws)
            ]
            for rule in options.rules.split(","):
                print(row(path.stem, rule, [each[rule] for each in found]), flush=True)


def draws_of(path: Path, number: int, options: argparse.Namespace, work: Path) -> dict[str, Draw]:
    """What each rule comes to on one draw of rows."""
    table = pd.read_parquet(path)
    y = table.pop(options.target).to_numpy()
    X, X_rest, y, y_rest = train_test_split(table, y, train_size=options.rows, stratify=y, random_state=number)
    models = getattr(ho.spaces, options.preset)(X, y)

    def search(drop: Any) -> ho.HeldOutSearchCV:
        return ho.HeldOutSearchCV(
            models, scoring=options.metric, cv=options.cv, n_jobs=options.n_jobs, random_state=number, method=None,
            drop=drop, store=work / f"{path.stem}-{number}.db",
        ).fit(X, y)  # fmt: skip

    score = get_scorer(options.metric)
    complete = search(None)
    reached = score(complete.best_estimator_, X_rest, y_rest)
    seconds = time_fitted(complete)
    found = {}
    for rule in options.rules.split(","):
        dropped = search(rule)
        same = dropped.best_index_ == complete.best_index_
        theirs = reached if same else score(dropped.best_estimator_, X_rest, y_rest)
        found[rule] = Draw(
            fewer=complete.n_fits_ / dropped.n_fits_,
            share_of_time=time_fitted(dropped) / seconds,
            relative_loss=100 * (reached - theirs) / abs(reached),
            same_winner=same,
            n_fits=dropped.n_fits_,
            risk=sum(barrier.risk for barrier in dropped.evaluation_.barriers),
        )
    return found


def time_fitted(search: ho.HeldOutSearchCV) -> float:
    """Seconds that the fits took which the search counts, whoever made them."""
    cells = search.evaluation_.cells
    return sum(cell.fit_seconds + cell.score_seconds for cell in cells if cell.state is not CellState.DROPPED)


def row(table: str, rule: str, draws: list[Draw]) -> str:
    """A line of the Markdown table."""

    def mean(values: list[float], digits: int) -> str:
        error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
        return f"{np.mean(values):.{digits}f} ± {error:.{digits}f}"

    cells = [
        table,
        rule,
        f"{np.mean([draw.n_fits for draw in draws]):.0f}",
        mean([draw.fewer for draw in draws], 2),
        f"{np.mean([draw.share_of_time for draw in draws]):.2f}",
        mean([draw.relative_loss for draw in draws], 3),
        f"{max(draw.relative_loss for draw in draws):.2f}",
        f"{sum(draw.same_winner for draw in draws)} of {len(draws)}",
        f"{np.mean([draw.risk for draw in draws]):.3f}",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
