"""What early dropping saves and costs on real tables: fits, time, and the score of the winner on rows left out.

    python benchmarks/dropping.py TABLE.parquet ... [--target target] [--rows 500] [--draws 20] [--rules bootstrap]

Each draw takes ``--rows`` rows of a table at random (stratified), searches the preset on them completely and then
with each rule, and scores the winners, fitted on all of these rows, on all the others. The searches of a draw share
a run file in ``--work``, so that a rule fits nothing that the complete search has fitted (its count is of what it
would have), and the whole can be stopped at any time and gone on with. One line of a Markdown table is printed for
each table and rule: means over the draws, with their standard errors.

``--space grid`` and ``--space random`` search support vector machines and nearest neighbours in place of a preset,
by a grid and at random; ``halving`` among the rules is scikit-learn's successive halving of the same
configurations, whose fits are counted in fits on all rows. ``--csv FILE`` keeps every draw; ``python
benchmarks/dropping.py --summary FILE`` prints the table of papers/pages/dropping.md from it.
"""

import argparse
import csv
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import loguniform, randint
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import get_scorer
from sklearn.model_selection import HalvingGridSearchCV, ParameterSampler, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

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
    loss_of_cv: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--target", default="target")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--space", choices=("preset", "grid", "random"), default="preset")
    parser.add_argument("--preset", default="standard")
    parser.add_argument("--metric", default="roc_auc")
    parser.add_argument("--cv", type=int, default=5)
    parser.add_argument("--rules", default="bootstrap")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--work", type=Path, default=None, help="where run files are kept; a temporary folder")
    parser.add_argument("--csv", type=Path, default=None, help="a file that receives every draw")
    parser.add_argument("--summary", type=Path, default=None, help="a file of draws, to print as one table")
    options = parser.parse_args()
    if options.summary is not None:
        print("\n".join(summary_lines(options.summary)))
        return
    warnings.simplefilter("ignore")  # a preset holds settings that do not suit every table
    print("| " + " | ".join(HEADINGS) + " |\n|" + " --- |" * len(HEADINGS))
    with tempfile.TemporaryDirectory() as temporary:
        for path in options.tables:
            found = [
                draws_of(path, number, options, options.work or Path(temporary)) for number in range(options.draws)
            ]
            for rule in options.rules.split(","):
                print(row(path.stem, rule, [each[rule] for each in found]), flush=True)
                if options.csv is not None:
                    keep(options.csv, options.space, path.stem, rule, [each[rule] for each in found])


def keep(file: Path, space: str, table: str, rule: str, draws: list[Draw]) -> None:
    """Add draws to a file, a row each."""
    begins = not file.exists()
    with file.open("a", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        if begins:
            writer.writerow(
                ["space", "table", "rule", "draw", "share_of_fits", "relative_loss", "loss_of_cv", "same_winner"]
            )
        for number, draw in enumerate(draws):
            numbers = (1 / draw.fewer, draw.relative_loss, draw.loss_of_cv)
            writer.writerow(
                [space, table, rule, number, *(f"{each:.5g}" for each in numbers), int(draw.same_winner)]
            )


def summary_lines(file: Path) -> list[str]:
    """The lines of the table over all tables of a file: a mean over tables, with the standard error of tables."""
    found = pd.read_csv(file)
    lines = [
        "| search | rule | fits saved | loss on the rest (%) | worst table (%) | loss of the cross-validated score "
        "(%) | same winner |",
        "|---|---|---|---|---|---|---|",
    ]
    for (space, rule), rows in found.groupby(["space", "rule"], sort=False):
        by_table = rows.groupby("table")[["share_of_fits", "relative_loss", "loss_of_cv", "same_winner"]].mean()
        error = by_table["relative_loss"].std(ddof=1) / np.sqrt(len(by_table))
        cells = [
            space,
            "scikit-learn's halving" if rule == "halving" else f"`{rule}`",
            f"{1 - by_table['share_of_fits'].mean():.0%}",
            f"{by_table['relative_loss'].mean() + 0.0:.2f} ± {error:.2f}",
            f"{by_table['relative_loss'].max() + 0.0:.2f}",
            f"{by_table['loss_of_cv'].mean() + 0.0:.2f}",
            f"{by_table['same_winner'].mean():.0%}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def grid_of(space: str, number: int) -> list[tuple[str, Any, Any]]:
    """Support vector machines and nearest neighbours, with a grid each: 56 configurations."""
    svc, neighbors = make_pipeline(StandardScaler(), SVC()), make_pipeline(StandardScaler(), KNeighborsClassifier())
    if space == "grid":
        of_svc: Any = {"svc__C": np.logspace(-2, 3, 6), "svc__gamma": np.logspace(-4, 1, 6)}
        of_neighbors: Any = {"kneighborsclassifier__n_neighbors": [1, 2, 3, 5, 7, 10, 15, 20, 30, 50],
                             "kneighborsclassifier__weights": ["uniform", "distance"]}  # fmt: skip
        return [("svc", svc, of_svc), ("neighbors", neighbors, of_neighbors)]
    drawn = ParameterSampler(
        {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-4, 10)}, 36, random_state=number
    )
    weights = ["uniform", "distance"]
    of_neighbors = {"kneighborsclassifier__n_neighbors": randint(1, 60), "kneighborsclassifier__weights": weights}
    also = ParameterSampler(of_neighbors, 20, random_state=number)
    return [
        ("svc", svc, [as_lists(each) for each in drawn]),
        ("neighbors", neighbors, [as_lists(each) for each in also]),
    ]


def as_lists(params: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [value] for name, value in params.items()}


def halved(
    models: Any, X: Any, y: Any, options: argparse.Namespace, number: int
) -> tuple[float, Any, dict[str, Any]]:
    """Halving of each model's configurations: fits in fits on all rows, the better winner, its parameters."""
    cost, best = 0.0, None
    for _, model, grid in models:
        cv = StratifiedKFold(options.cv)
        search = HalvingGridSearchCV(model, grid, scoring=options.metric, cv=cv, random_state=number, refit=False)
        search.fit(X, y)
        cost += options.cv * sum(np.multiply(search.n_candidates_, search.n_resources_)) / len(y)
        top = search.cv_results_["iter"] == search.cv_results_["iter"].max()
        score = search.cv_results_["mean_test_score"][top].max()
        if best is None or score > best[0]:
            best = score, model, search.best_params_ if hasattr(search, "best_params_") else _best_params(search)
    assert best is not None, "there are models"
    return cost, best[1], best[2]


def _best_params(search: Any) -> dict[str, Any]:
    results = search.cv_results_
    last = np.flatnonzero(results["iter"] == results["iter"].max())
    return dict(results["params"][last[np.nanargmax(results["mean_test_score"][last])]])


def draws_of(path: Path, number: int, options: argparse.Namespace, work: Path) -> dict[str, Draw]:
    """What each rule comes to on one draw of rows."""
    table = pd.read_parquet(path)
    y = table.pop(options.target).to_numpy()
    X, X_rest, y, y_rest = train_test_split(table, y, train_size=options.rows, stratify=y, random_state=number)
    if options.space == "preset":
        models = getattr(ho.spaces, options.preset)(X, y)
    else:
        X, X_rest = X.to_numpy(float), X_rest.to_numpy(float)
        models = grid_of(options.space, number)

    def search(drop: Any) -> ho.HeldOutSearchCV:
        cv = None if drop == "sequential" else options.cv  # that rule plans its own splits
        return ho.HeldOutSearchCV(
            models, scoring=options.metric, cv=cv, n_jobs=options.n_jobs, random_state=number, method=None,
            drop=drop, store=work / f"{path.stem}-{number}.db",
        ).fit(X, y)  # fmt: skip

    score = get_scorer(options.metric)
    complete = search(None)
    reached = score(complete.best_estimator_, X_rest, y_rest)
    seconds = time_fitted(complete)
    found = {}
    scores = complete.cv_results_["mean_test_score"]
    for rule in options.rules.split(","):
        if rule == "halving":
            cost, model, params = halved(models, X, y, options, number)
            place = next(
                j for j, each in enumerate(complete.cv_results_["params"]) if params.items() <= each.items()
            )
            theirs = score(model.set_params(**params).fit(X, y), X_rest, y_rest)
            loss, of_cv = (reached - theirs) / abs(reached), (scores.max() - scores[place]) / abs(scores.max())
            same, nan = place == complete.best_index_, float("nan")
            found[rule] = Draw(complete.n_fits_ / cost, nan, 100 * loss, same, round(cost), nan, 100 * of_cv)
            continue
        dropped = search(rule)
        same = dropped.best_index_ == complete.best_index_
        theirs = reached if same else score(dropped.best_estimator_, X_rest, y_rest)
        found[rule] = Draw(
            fewer=rows_trained(complete) / rows_trained(dropped),
            share_of_time=time_fitted(dropped) / seconds,
            relative_loss=100 * (reached - theirs) / abs(reached),
            same_winner=same,
            n_fits=dropped.n_fits_,
            risk=sum(barrier.risk for barrier in dropped.evaluation_.barriers),
            loss_of_cv=100 * (scores.max() - scores[dropped.best_index_]) / abs(scores.max()),
        )
    return found


def time_fitted(search: ho.HeldOutSearchCV) -> float:
    """Seconds that the fits took which the search counts, whoever made them."""
    cells = search.evaluation_.cells
    return sum(cell.fit_seconds + cell.score_seconds for cell in cells if cell.state is not CellState.DROPPED)


def rows_trained(search: ho.HeldOutSearchCV) -> int:
    """The training rows of all fits that the search counts: those of a rule with its own splits may have few."""
    made = ~search.evaluation_.cells.is_in(CellState.DROPPED)
    return int((made * np.array([len(split.train) for split in search.evaluation_.folds.splits])).sum())


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
