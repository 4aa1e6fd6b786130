"""The estimate that comes with a search beside nested cross-validation: bias and fits beside a large hold-out.

    python benchmarks/nested.py TABLE.parquet ... [--target target] [--rows 100] [--draws 60]

Each draw takes ``--rows`` rows of a table at random (stratified), runs nested cross-validation on them, and
corrects the search on all rows that is a part of it in the ways that cost no fits. The truth is the score of the
model that is deployed (the search's winner, fitted on all of these rows) on all the other rows of the table. One
line of a Markdown table is printed for each table and method: the mean of estimate - truth with its standard error,
the root of its mean square, the difference to nested cross-validation on the same draws, and the fits.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

METHODS = ("nested_cv", "bbc", "bbc_f", "tt", "cv")
HEADINGS = ("table", "method", "fits", "bias", "root mean square", "minus nested CV", "covers")


def quick_models() -> list[tuple[str, Any, dict[str, list[Any]]]]:
    """Some seventy configurations that fit in milliseconds."""

    def scaled(model: Any) -> Any:
        return make_pipeline(StandardScaler(), model)

    return [
        (
            "logistic",
            scaled(LogisticRegression(max_iter=2000)),
            {"logisticregression__C": list(np.logspace(-4, 3, 12))},
        ),
        (
            "svm",
            scaled(SVC()),
            {"svc__C": [0.1, 1.0, 10.0, 100.0], "svc__gamma": list(np.logspace(-4, 0, 6))},
        ),
        (
            "neighbours",
            scaled(KNeighborsClassifier()),
            {"kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15, 25], "kneighborsclassifier__p": [1, 2]},
        ),
        ("tree", DecisionTreeClassifier(), {"max_depth": [1, 2, 3, 5, 8], "min_samples_leaf": [1, 3, 8, 15]}),
        ("bayes", GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 1e-1]}),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--target", default="target")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--metric", default="roc_auc")
    parser.add_argument("--cv", type=int, default=5)
    parser.add_argument("--n-jobs", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # some settings do not suit some tables
    print("| " + " | ".join(HEADINGS) + " |\n|" + " --- |" * len(HEADINGS))
    for path in options.tables:
        frame = pd.DataFrame([draw(path, number, options) for number in range(options.draws)])
        for method in METHODS:
            print(row(path.stem, method, frame), flush=True)


def draw(path: Path, number: int, options: argparse.Namespace) -> dict[str, float]:
    """Every method's error on one draw of rows, whether its interval holds the truth, and the fits."""
    table = pd.read_parquet(path)
    y = table.pop(options.target).to_numpy()
    X, X_rest, y, y_rest = train_test_split(table, y, train_size=options.rows, stratify=y, random_state=number)
    nested = ho.nested_cv(
        quick_models(), X, y, scoring=options.metric, cv=options.cv, random_state=number, n_jobs=options.n_jobs
    )
    search = nested.evaluation
    truth = get_scorer(options.metric)(nested.model, X_rest, y_rest)
    found = {
        method: ho.estimate(
            y, search.predictions, metric=options.metric, method=method, aggregate="folds", random_state=number
        )
        for method in METHODS
        if method != "nested_cv"
    }
    found["nested_cv"] = nested
    n_configurations = len(search.configurations)
    line: dict[str, float] = {"truth": truth}
    for method, estimate in found.items():
        line[f"{method} error"] = estimate.value - truth
        covers = np.nan if estimate.interval is None else float(truth in estimate.interval)
        line[f"{method} covers"] = covers
        line[f"{method} fits"] = n_configurations * options.cv + 1
    line["nested_cv fits"] = options.cv**2 * n_configurations + options.cv + 1
    return line


def row(table: str, method: str, draws: pd.DataFrame) -> str:
    """A line of the Markdown table."""

    def mean(values: pd.Series) -> str:
        return f"{values.mean():+.4f} ± {values.std() / np.sqrt(len(values)):.4f}"

    errors = draws[f"{method} error"]
    covers = draws[f"{method} covers"]
    cells = [
        table,
        method,
        f"{draws[f'{method} fits'].iloc[0]:.0f}",
        mean(errors),
        f"{np.sqrt((errors**2).mean()):.4f}",
        "" if method == "nested_cv" else mean(errors - draws["nested_cv error"]),
        "" if covers.isna().all() else f"{covers.mean():.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
