"""How much faster one fit that serves many configurations is than a fit of each.

Each provider of submodels predicts a fifth of the rows for all values of its parameters from one fit on the others;
then each value is fitted and predicted by itself. Printed are both times (of the processor, so that other programs
do not count; medians of alternating runs), their ratio, the largest difference of predictions relative
to the largest prediction, and how many values the provider left to separate fits.

Run with ``OMP_NUM_THREADS=1 python benchmarks/submodels.py [part of a name] [--runs 3] [--scale 1.0]``.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from heldout.spaces.submodels import closed_form_of, family_of

Value = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """An estimator, the values of a group, the numbers of rows and columns, and the response that is compared."""

    name: str
    estimator: Any
    values: Sequence[Value]
    rows: int
    columns: int
    response: str = "predict"
    left_out: bool = False


def grid(**values: Sequence[Any]) -> list[Value]:
    """All combinations."""
    return [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]


def cases() -> list[Case]:
    """The searches of the table, one group each, and one of every other provider."""
    rounds, sizes = range(25, 501, 25), range(25, 501, 25)
    probabilities = "predict_proba"
    alphas = np.logspace(-2, 4, 100)
    process = GaussianProcessRegressor(ConstantKernel(1.0) * RBF(3.0), optimizer=None)
    return [
        Case(
            "histogram boosting, 20 rounds",
            HistGradientBoostingClassifier(),
            grid(max_iter=rounds),
            1000,
            10,
            probabilities,
        ),
        Case(
            "gradient boosting, 20 sizes",
            GradientBoostingClassifier(random_state=1),
            grid(n_estimators=rounds),
            1000,
            10,
            probabilities,
        ),
        Case(
            "AdaBoost, 10 sizes",
            AdaBoostClassifier(random_state=1),
            grid(n_estimators=rounds[:10]),
            1000,
            10,
            probabilities,
        ),
        Case(
            "random forest, 20 sizes",
            RandomForestClassifier(random_state=1),
            grid(n_estimators=sizes),
            1000,
            10,
            probabilities,
        ),
        Case(
            "bagging, 10 sizes",
            BaggingClassifier(random_state=1),
            grid(n_estimators=sizes[:10]),
            1000,
            10,
            probabilities,
        ),
        Case(
            "k-NN, 30 k, 2 weights",
            KNeighborsClassifier(),
            grid(n_neighbors=range(1, 60, 2), weights=("uniform", "distance")),
            5000,
            10,
            probabilities,
        ),
        Case(
            "k-NN regression, 30 k, 2 weights",
            KNeighborsRegressor(),
            grid(n_neighbors=range(1, 60, 2), weights=("uniform", "distance")),
            5000,
            10,
        ),
        Case("ridge, 100 alphas", Ridge(), grid(alpha=alphas), 2000, 200),
        Case("ridge classifier, 100 alphas", RidgeClassifier(), grid(alpha=alphas), 2000, 200, "decision_function"),
        Case("kernel ridge, 30 alphas", KernelRidge(kernel="rbf"), grid(alpha=alphas[30::2]), 1000, 10),
        Case(
            "logistic regression, 30 C",
            LogisticRegression(),
            grid(C=np.logspace(-3, 3, 30)),
            1000,
            30,
            probabilities,
        ),
        Case("partial least squares, 20 sizes", PLSRegression(), grid(n_components=range(1, 21)), 1000, 50),
        Case("LASSO, 50 alphas", Lasso(), grid(alpha=np.logspace(-2, 0, 50)), 2000, 100),
        Case("elastic net, 50 alphas", ElasticNet(), grid(alpha=np.logspace(-2, 0, 50)), 2000, 100),
        Case(
            "SVC, 6 C, 5 gamma",
            SVC(),
            grid(C=np.logspace(-1, 2, 6), gamma=np.logspace(-3, -1, 5)),
            569,
            30,
            "decision_function",
        ),
        Case(
            "pruned tree, 30 values",
            DecisionTreeClassifier(random_state=1),
            grid(ccp_alpha=np.linspace(0, 0.02, 30)),
            2000,
            20,
            probabilities,
        ),
        Case("SelectKBest, 20 k", SelectKBest(), grid(k=range(1, 21)), 569, 30, "transform"),
        Case(
            "RFE, 20 numbers",
            RFE(LogisticRegression(random_state=1)),
            grid(n_features_to_select=range(1, 21)),
            569,
            30,
            "transform",
        ),
        Case(
            "leave-one-out of LDA, 5 shrinkages",
            LinearDiscriminantAnalysis(solver="lsqr"),
            grid(shrinkage=(0.0, 0.1, 0.3, 0.6, 0.9)),
            1000,
            20,
            "decision_function",
            True,
        ),
        Case(
            "leave-one-out of ridge, 20 alphas",
            Ridge(),
            grid(alpha=np.logspace(-1, 3, 20)),
            1000,
            20,
            left_out=True,
        ),
        Case(
            "leave-one-out of kernel ridge, 5 alphas",
            KernelRidge(kernel="rbf"),
            grid(alpha=np.logspace(-1, 1, 5)),
            300,
            10,
            left_out=True,
        ),
        Case("leave-one-out of a process, 1 alpha", process, grid(alpha=[0.1]), 300, 10, left_out=True),
        Case(
            "leave-one-out of k-NN, 20 k",
            KNeighborsRegressor(),
            grid(n_neighbors=range(1, 21)),
            1000,
            5,
            left_out=True,
        ),
    ]


def table(case: Case, scale: float) -> tuple[Any, Any]:
    """Rows and targets: real ones for 569 rows, drawn ones otherwise."""
    if case.rows == 569:
        X, y = load_breast_cancer(return_X_y=True)
        return StandardScaler().fit_transform(X), y
    random = np.random.default_rng(0)
    rows = int(case.rows * scale)
    X = random.normal(size=(rows, case.columns))
    signal = X[:, 0] - X[:, 1] * X[:, 2] + random.normal(size=rows)
    classes = is_classifier(case.estimator)
    return X, (signal > 0).astype(int) if classes else signal


def shared(case: Case, X: Any, y: Any, X_new: Any) -> list[Any]:
    """All values from one fit."""
    if case.left_out:
        form = closed_form_of(case.estimator)
        assert form is not None
        return list(form.predict_left_out(clone(case.estimator), case.values, X, y, case.response))
    family = family_of(case.estimator, "tolerance")
    assert family is not None
    many: Any = family.fit_many(clone(case.estimator), case.values, X, y)
    if case.response == "transform":
        return [None if entry is None else entry[1].transform(X_new) for entry in many.fit_transform_many()]
    return list(many.predict_many(X_new, case.response))


def separate(case: Case, X: Any, y: Any, X_new: Any) -> list[Any]:
    """Each value by itself."""
    models = [clone(case.estimator).set_params(**value) for value in case.values]
    if not case.left_out:
        return [getattr(model.fit(X, y), case.response)(X_new) for model in models]
    everything = np.arange(len(X))
    return [
        np.array(
            [
                getattr(model.fit(X[everything != row], y[everything != row]), case.response)(X[row : row + 1])[0]
                for row in everything
            ]
        )
        for model in models
    ]


def timed(function: Callable[[], list[Any]]) -> tuple[float, list[Any]]:
    """Seconds of the processor, and what the function returns."""
    started = time.process_time()
    answers = function()
    return time.process_time() - started, answers


def difference(ours: Sequence[Any], theirs: Sequence[Any]) -> float:
    """The largest one of all values, relative to the largest prediction."""
    return max(
        (
            float(np.max(np.abs(our - their)) / np.max(np.abs(their)))
            for our, their in zip(ours, theirs, strict=True)
            if our is not None and np.size(their)
        ),
        default=np.nan,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'provider':<42}{'separate s':>11}{'shared s':>10}{'ratio':>8}{'difference':>12}{'alone':>7}")
    for case in (case for case in cases() if arguments.name.lower() in case.name.lower()):
        X, y = table(case, arguments.scale)
        training = len(X) if case.left_out else len(X) * 4 // 5
        data = X[:training], y[:training], X[training:]
        seconds = []
        for _ in range(arguments.runs):
            one_fit, ours = timed(partial(shared, case, *data))
            many_fits, theirs = timed(partial(separate, case, *data))
            seconds.append((many_fits, one_fit))
        many_fits, one_fit = np.median(seconds, axis=0)
        alone = sum(our is None for our in ours)
        gap = difference(ours, theirs)
        print(
            f"{case.name:<42}{many_fits:>11.3f}{one_fit:>10.4f}{many_fits / one_fit:>8.1f}{gap:>12.1e}{alone:>7}",
            flush=True,
        )


if __name__ == "__main__":
    main()
