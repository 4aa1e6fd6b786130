"""The calls of ``snapshot.py``, in sections: each yields names and functions that make the calls."""

import io
import json
import runpy
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import optuna
import pandas as pd
from optuna.distributions import FloatDistribution, IntDistribution
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

Cases = Iterator[tuple[str, Callable[[], Any]]]
Settings = dict[str, Any]
EXPORTS = Path(__file__).parents[1] / "tests" / "readers" / "exports"

# --- Names, and small data.


def words(text: str) -> list[str]:
    return text.split()


def given(**settings: Any) -> Settings:
    return settings


METHODS = words(
    "cv tt bbc shrinkage bbc_f naive_bootstrap wald_cv corrected_t conservative_z locally_simultaneous zoom delong"
    " hanley_mcneil tilting mabt wilson clopper_pearson hoeffding wmc wmcs"
)
METRICS = {
    "binary": words(
        "accuracy average_precision balanced_accuracy brier_score calibration_emax calibration_intercept"
        " calibration_intercept_error calibration_slope neg_calibration_slope_error cohen_kappa"
        " discrimination_index e90 eci emax expected_calibration_error f1 fbeta_score(beta=2) g_index ici"
        " likelihood_ratio log_loss matthews_corrcoef nagelkerke_r2 neg_log_loss partial_roc_auc(max_fpr=0.2)"
        " precision quality_index recall roc_auc sensitivity_at_specificity somers_d unreliability_index"
        " zero_one_loss"
    ),
    "multiclass": words(
        "accuracy balanced_accuracy f1_macro precision_weighted recall_micro roc_auc_ovr roc_auc_ovo_weighted"
        " log_loss brier_score quadratic_weighted_kappa linear_weighted_kappa matthews_corrcoef"
    ),
    "regression": words(
        "r2 mean_absolute_error neg_mean_squared_error root_mean_squared_error median_absolute_error"
        " mean_pinball_loss spearman calibration_slope g_index"
    ),
    "survival": words(
        "concordance_index concordance_index_ipcw somers_d discrimination_index nagelkerke_r2 calibration_slope"
    ),
}
AT_TIMES = ["brier_score_at(time=1)", "roc_auc_at(time=1)", "integrated_brier_score(times=[0.5, 1])"]
DROP_RULES = words("bootstrap hoeffding_race paired wilcoxon forgiving aggressive sequential")
N_ROWS, N_CONFIGURATIONS = 80, 6
RACED = 125
"""Rows of searches that drop: two of five folds are just the 50 rows before which no rule drops."""
FOLDS = np.arange(N_ROWS) % 5
GROUPS = np.arange(N_ROWS) // 4
WEIGHTS = 0.5 + (np.arange(N_ROWS) % 7) / 4
WHOLE_GROUPS = given(groups=GROUPS, folds=GROUPS % 5)
EVENTS = [("event", bool), ("time", float)]


@cache
def matrix(kind: str, n_repeats: int = 1) -> tuple[Any, Any]:
    """A target and held-out predictions of six configurations of similar quality."""
    rng = np.random.default_rng(len(kind) + n_repeats)
    latent = rng.normal(size=N_ROWS)
    noise = rng.normal(size=(N_ROWS, N_CONFIGURATIONS, n_repeats))
    scores = latent[:, None, None] * np.linspace(0.4, 0.9, N_CONFIGURATIONS)[:, None] + noise
    predictions = scores if n_repeats > 1 else scores[..., 0]
    if kind == "regression":
        return 3 * latent + rng.normal(size=N_ROWS), predictions
    if kind == "survival":
        life, end = rng.exponential(np.exp(-latent)), rng.uniform(0, 3, N_ROWS)
        return np.array([*zip(life <= end, np.minimum(life, end), strict=True)], dtype=EVENTS), predictions
    if kind == "multiclass":
        weights = np.exp(scores[..., None] * np.array([-1.0, 0.0, 1.0]))
        return np.digitize(latent, [-0.5, 0.5]), weights / weights.sum(axis=3, keepdims=True)
    return (latent + rng.normal(size=N_ROWS) > 0).astype(int), 1 / (1 + np.exp(-predictions))


@cache
def data(kind: str, n_rows: int = N_ROWS) -> tuple[Any, Any]:
    """Rows and their target: a signal in two of five columns."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, 5))
    signal = X[:, 0] - 0.7 * X[:, 1]
    if kind == "survival":
        life, end = rng.exponential(np.exp(-signal)), rng.uniform(0.5, 3, n_rows)
        return X, (life <= end, np.minimum(life, end))
    noisy = signal + rng.normal(size=n_rows)
    if kind == "gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
    targets = {
        "regression": noisy,
        "outputs": np.column_stack([noisy, X[:, 2]]),
        "multiclass": np.digitize(noisy, [-0.7, 0.7]),
        "words": np.where(noisy > 0, "yes", "no"),
    }
    return X, targets.get(kind, (noisy > 0).astype(int))


@cache
def tables() -> dict[str, Any]:
    """The binary matrix as a table with a column for each configuration, and with a line for each row of each."""
    y, predictions = matrix("binary")
    columns = {f"model {j}": predictions[:, j] for j in range(N_CONFIGURATIONS)}
    wide = pd.DataFrame({"row": np.arange(N_ROWS), "truth": y, "fold": FOLDS} | columns)
    long = wide.melt(["row", "truth", "fold"], var_name="model", value_name="score")
    return {"wide": wide.drop(columns="row"), "long": long}


TREE = (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]})
LOGISTIC = (LogisticRegression(), {"C": [0.01, 1.0]})
NEIGHBOURS = (KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]})
RIDGE = (Ridge(), {"alpha": [0.1, 10.0]})
ALGORITHMS = {
    "binary": [("neighbours", *NEIGHBOURS), ("tree", *TREE), ("logistic", *LOGISTIC)],
    "regression": [("ridge", *RIDGE), ("neighbours", KNeighborsRegressor(), {"n_neighbors": [1, 3, 9]})],
}


def parts_of(kind: str, model: Any) -> Any:
    """The model and the grid of a search; a list of both by default."""
    if model is None and kind == "survival":
        return ho.spaces.CoxRegression(), {"alpha": [0.1, 1.0, 10.0, 100.0]}
    return model or (ALGORITHMS.get(kind, ALGORITHMS["binary"]), None)


# --- Estimates of arrays.


def estimate(kind: str, metric: Any, *, n_repeats: int = 1, **settings: Any) -> Any:
    settings = given(folds=FOLDS, n_bootstraps=100, random_state=0) | settings
    return ho.estimate(*matrix(kind, n_repeats), metric=metric, **settings)


def variant(name: str, parameters: Settings) -> Any:
    method = getattr(ho.estimates, name)(**parameters)
    return estimate("binary", "accuracy", method=method, alternative="greater" if name == "MABT" else "two-sided")


def compared(**settings: Any) -> Any:
    settings = given(folds=FOLDS, n_bootstraps=200, random_state=0) | settings
    return parts_of_comparison(ho.compare_configurations(*matrix("binary"), **settings))


def parts_of_comparison(comparison: Any) -> Any:
    return {
        "text": str(comparison), "table": comparison.to_frame(), "set": comparison.confidence_set(0.9),
        "difference": comparison.difference(0, 1, fixed=[0]), "curve": comparison.optimism_curve(),
        "flags": comparison.flags,
    }  # fmt: skip


def estimates() -> Cases:
    questions = [
        ("binary", "roc_auc", "folds"), ("binary", "accuracy", "pooled"), ("binary", "log_loss", "auto"),
        ("binary", "f1", "auto"), ("regression", "r2", "auto"), ("survival", "concordance_index", "within"),
    ]  # fmt: skip
    for method in METHODS:
        side = "greater" if method in ("mabt", "tilting") else "two-sided"
        for kind, metric, aggregate in questions:
            settings = given(method=method, aggregate=aggregate, alternative=side)
            yield f"{method}/{metric}/{aggregate}", partial(estimate, kind, metric, **settings)
    aggregates = cycle(("pooled", "folds", "auto"))
    methods = cycle(("shrinkage", "shrinkage", "bbc", "naive_bootstrap", "bbc_f"))
    for kind, metrics in METRICS.items():
        for metric, aggregate, method in zip(metrics, aggregates, methods, strict=False):
            call = partial(estimate, kind, metric, aggregate=aggregate, method=method)
            yield f"metrics/{kind}/{metric}/{aggregate}", call
    three = np.stack([FOLDS, np.roll(FOLDS, 7), np.sort(FOLDS)], axis=1)
    options = {
        "repeats": given(n_repeats=3, folds=three), "groups": WHOLE_GROUPS, "weights": given(sample_weight=WEIGHTS),
        "groups-and-weights": given(sample_weight=WEIGHTS, aggregate="within", **WHOLE_GROUPS),
        "blocks": given(block_length="auto"), "blocks-of-5": given(block_length=5, aggregate="folds"),
        "blocks-stationary": given(block_length="stationary:4"), "without-folds": given(folds=None),
        "lower-bound": given(alternative="greater"), "upper-bound": given(alternative="less"),
        "level": given(confidence_level=0.8), "more-bootstraps": given(n_bootstraps=400),
        "adaptive": given(adaptive=True), "other-class": given(pos_label=0), "another-seed": given(random_state=5),
        "threads": given(n_jobs=2),
    }  # fmt: skip
    for name, settings in options.items():
        for method in ("shrinkage", "bbc"):
            yield f"options/{name}/{method}", partial(estimate, "binary", "roc_auc", method=method, **settings)
    variants = [
        ("BBC", given(interval="calibrated")), ("BBC", given(interval="sampling")), ("BBC", given(stratify=True)),
        ("BBC", given(ties="average")), ("BBC", given(ties="wrong")), ("NaiveBootstrap", given(unit="folds")),
        ("WaldCV", given(variance="within_folds")), ("MABT", given(candidates=0.5)), ("Zoom", given(share=0.2)),
        ("Wilson", given(configuration=2, evaluation_share=1.0)),
        ("LocallySimultaneous", given(plausible="scores")),
    ]  # fmt: skip
    for name, parameters in variants:
        yield f"variants/{name}{parameters}", partial(variant, name, parameters)
    for text in ("shrinkag", "nested_cv", None):
        yield f"names/{text}", partial(estimate, "binary", "roc_auc", method=text)
    for method in ("hoeffding", "clopper_pearson"):
        yield f"hold-out/{method}", partial(estimate, "binary", "accuracy", method=method, folds=None)
    rules = {
        **{name: name for name in words("best one_standard_error threshold rank_over_repeats bset")},
        "median": ho.selection.Best(over_repeats="median"), "greedy_ensemble": ho.selection.GreedyEnsemble(5),
        "average_rank": "average_rank(metrics=['roc_auc', 'log_loss'])", "top_k": "top_k(k=3)",
        "within": "within(tolerance=0.02)",
        "callable": lambda scores: int(np.flatnonzero(scores >= scores.max() - 0.01)[0]),
    }  # fmt: skip
    for name, rule in rules.items():
        repeated = given(n_repeats=3, folds=three, selection=rule)
        yield f"selection/{name}/brier_score", partial(estimate, "binary", "brier_score", **repeated)
        yield f"selection/{name}/f1", partial(estimate, "binary", "f1", selection=rule, aggregate="pooled")
    distance = partial(ho.metrics.custom, lambda y, p: float(np.mean(np.abs(y - p))), response="probabilities")
    yield "own-metric", lambda: estimate("binary", distance(greater_is_better=False))
    for metric in ("roc_auc", "log_loss", "accuracy"):
        yield f"compare_configurations/{metric}", partial(compared, metric=metric)
        yield f"compare_configurations/{metric}/groups", partial(compared, metric=metric, **WHOLE_GROUPS)
        settings = given(metric=metric, folds=FOLDS, n_bootstraps=100, random_state=0)
        yield f"compare_estimates/{metric}", partial(ho.compare_estimates, *matrix("binary"), **settings)


def corrected(search: Any, method: str) -> Any:
    return ho.correct(search.fit(*data("binary")), method=method, random_state=0)


def scores() -> Cases:
    """Estimates of fold scores alone, and of a search of scikit-learn."""
    rng = np.random.default_rng(3)
    table = np.clip(0.7 + 0.1 * rng.normal(size=(20, 1)) + 0.05 * rng.normal(size=(20, 8)), 0, 1)
    settings = given(greater_is_better=True, random_state=0, n_bootstraps=200, range=(0, 1))
    for method in METHODS:
        share = 0.2 if method in ("corrected_t", "wmc", "wmcs") else None
        call = partial(ho.estimate_from_scores, table, method=method, test_share=share, **settings)
        yield method, call
        if method in ("cv", "tt", "bbc_f", "corrected_t"):
            yield f"{method}/repeats", partial(call, repeats=np.arange(20) // 5, selection="one_standard_error")
    halves = np.concatenate([table] * 3)[:42]
    call = partial(ho.estimate_from_scores, halves, method="conservative_z", halvings=10, **settings)
    yield "conservative_z/halvings", call
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15]}, scoring="roc_auc", cv=5)
    for method in ("bbc_f", "tt", "corrected_t", "shrinkage"):
        yield f"correct/{method}", partial(corrected, search, method)


# --- Searches.


def searched(
    kind: str = "binary", model: Any = None, *, n_rows: int = N_ROWS, fit: Any = None, **settings: Any
) -> Any:
    """A search on small data, after ``fit``."""
    settings = given(n_bootstraps=100, random_state=0, n_jobs=1) | settings
    return ho.HeldOutSearchCV(*parts_of(kind, model), **settings).fit(*data(kind, n_rows), **(fit or {}))


@cache
def kept(kind: str) -> Any:
    """A search that several calls read."""
    return searched(kind)


def proposed(**settings: Any) -> Any:
    """A search with Optuna."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {"n_neighbors": IntDistribution(1, 30), "p": FloatDistribution(1, 3)}
    settings = given(n_trials=10, random_state=0, n_jobs=1, n_bootstraps=100, cv=4) | settings
    search = ho.HeldOutOptunaSearchCV(KNeighborsClassifier(), space, **settings).fit(*data("binary"))
    return {"search": search, "trials": [trial.params for trial in search.study_.trials]}


def open_search() -> Any:
    search = ho.open_search(*data("binary"), scoring="roc_auc", random_state=0, n_jobs=1, n_bootstraps=100)
    values = [float(search.evaluate(KNeighborsClassifier(n_neighbors=k))) for k in (1, 4, 9)]
    result = search.finish()
    return {"values": values, "estimate": result.estimate, "text": repr(result)}


@contextmanager
def interruption(number: int) -> Iterator[list[float]]:
    """Ctrl-C during a fit of naive Bayes; the fits that were begun."""
    fit, fits = GaussianNB.fit, []

    def interrupted(self: Any, *arguments: Any, **settings: Any) -> Any:
        fits.append(self.var_smoothing)
        if len(fits) == number:
            raise KeyboardInterrupt
        return fit(self, *arguments, **settings)

    with patch.object(GaussianNB, "fit", interrupted):
        yield fits


def resumed() -> Any:
    """A search that Ctrl-C ends during the tenth fit, its estimate, and the rest."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder), interruption(10) as fits:
        search = partial(searched, model=(GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 1.0, 10.0]}), store="run.db")
        try:
            search()
        except KeyboardInterrupt:
            early = ho.estimate("run.db")
        return {"early": early, "search": search(), "fits": fits}


def dropped(name: str, parameters: Settings) -> Any:
    n_rows = 600 if name == "HoeffdingRace" else RACED
    return searched(drop=getattr(ho.dropping, name)(**parameters), scoring="accuracy", n_rows=n_rows)


def questions_of(kind: str) -> Cases:
    """What the same predictions answer, and the texts of a search."""
    search = partial(kept, kind)
    yield "estimate", lambda: ho.estimate(search())
    yield "other-method", lambda: ho.estimate(search(), method="bbc", n_bootstraps=150)
    yield "some", lambda: ho.estimate(data(kind)[1], search().predictions_.of([0, 1, 2]), random_state=0)
    yield "compared", lambda: parts_of_comparison(ho.compare_configurations(search()))
    yield "all-methods", lambda: ho.compare_estimates(search())
    yield "predictions", lambda: np.asarray(search().predict(data(kind)[0][:9]))
    yield "overtuning", lambda: search().evaluation_.overtuning
    yield "card", lambda: ho.report_card(search())
    yield "notebook", lambda: search().estimate_._repr_html_()
    yield "latex", lambda: search().methods_text().latex
    yield "markdown", lambda: search().methods_text().markdown
    yield "bibtex", lambda: search().methods_text().bibtex


def searches() -> Cases:
    scorings = {
        "binary": "roc_auc accuracy neg_log_loss f1 average_precision", "multiclass": "accuracy roc_auc_ovr",
        "regression": "r2 neg_root_mean_squared_error", "words": "roc_auc", "survival": "concordance_index",
    }  # fmt: skip
    for kind, metrics in scorings.items():
        for metric in words(metrics):
            yield f"scoring/{kind}/{metric}", partial(searched, kind, scoring=metric)
    plans = ho.protocols
    boosting = HistGradientBoostingClassifier(max_iter=15, max_depth=2, random_state=0)
    options = {
        "several-scorers": given(scoring=["roc_auc", "f1", "neg_brier_score"], refit="f1"),
        "repeats": given(repeats=2, scoring="roc_auc"), "auto-folds": given(cv="auto"),
        "leave-one-out": given(cv=plans.leave_one_out()), "bootstrap": given(cv=plans.bootstrap(8)),
        "hold-out": given(cv=plans.hold_out(0.3), deploy="bounded"), "in-time": given(cv=TimeSeriesSplit(4)),
        "repeated-hold-out": given(cv=plans.repeated_hold_out(10, 0.2), method="wmcs"),
        "paired-hold-out": given(cv=plans.paired_hold_out(4, 0.2, 3), method="conservative_z"),
        "groups": given(cv=GroupKFold(4), fit={"groups": GROUPS}), "copies": given(fit={"groups": "copies"}),
        "pooled": given(aggregate="pooled", scoring="f1"), "within": given(aggregate="within", scoring="roc_auc"),
        "folds": given(aggregate="folds", scoring="f1"), "positive": given(scoring="f1", pos_label=0),
        "bbc": given(method="bbc"), "mabt": given(method="mabt", alternative="greater"),
        "no-method": given(method=None), "no-refit": given(refit=False),
        "own-refit": given(refit=lambda table: int(np.argmax(table["std_test_score"]))),
        "training-size": given(training_size_correction=True), "width": given(stop_when_width=0.3, repeats=3),
        "train-score": given(return_train_score=True), "without-sharing": given(share=False),
        "tolerance": given(share="tolerance"), "keep-all": given(keep_models="all"),
        "blocks": given(block_length=4), "default": given(default={"n_neighbors": 5}, model=NEIGHBOURS),
        "imputation": given(kind="gaps", model=LOGISTIC, imputation=2), "survival": given(kind="survival", cv=3),
        "outputs": given(kind="outputs", model=RIDGE, scoring="r2"),
        "failures": given(model=(LogisticRegression(), {"C": [-1.0, 1.0]})),
        "all-fail": given(model=(LogisticRegression(), {"C": [-1.0]})),
        "early-stopping": given(
            model=(boosting, {"learning_rate": [0.1, 0.5]}), early_stopping=ho.inner_split(0.2, rounds=3), cv=3
        ),
        "survival-at-times": given(
            kind="survival", refit="concordance_index",
            scoring=[ho.metrics.metric_named(name) for name in METRICS["survival"] + AT_TIMES],
        ),
    }  # fmt: skip
    for name, settings in options.items():
        yield f"options/{name}", partial(searched, **settings)
    for rule in words(
        "best one_standard_error average_rank within(tolerance=0.05) rank_over_repeats top_k threshold"
    ):
        yield (
            f"selection/{rule}",
            partial(searched, selection=rule, scoring=["roc_auc", "accuracy"], refit="roc_auc"),
        )
    for rule in DROP_RULES:
        for metric in ("roc_auc", "neg_log_loss", "accuracy"):
            yield f"drop/{rule}/{metric}", partial(searched, drop=rule, scoring=metric, n_rows=RACED)
    rules = [
        ("Bootstrap", given(threshold=0.8, min_predictions=20, replay=True)),
        ("Bootstrap", given(against="best_of_each", min_predictions=20, threshold=0.8)),
        ("Paired", given(pairs="all", min_predictions=20, alpha=0.2)), ("Wilcoxon", given(p_threshold=0.5)),
        ("Paired", given(looks="power_analysis", min_predictions=20)), ("Sequential", given(steps=6, alpha=0.1)),
        ("HoeffdingRace", given(delta=0.9, shuffle_folds=True)),
    ]  # fmt: skip
    for name, parameters in rules:
        yield f"drop/{name}{parameters}", partial(dropped, name, parameters)
    yield "drop/pooled", partial(searched, drop="bootstrap", aggregate="pooled", scoring="roc_auc", n_rows=RACED)
    yield "drop/survival", partial(searched, "survival", drop="bootstrap", n_rows=RACED)
    yield "drop/estimate", lambda: ho.estimate(searched(drop="bootstrap", n_rows=RACED), method="bbc")
    random = partial(ho.HeldOutRandomizedSearchCV, ALGORITHMS["binary"], n_iter=5, random_state=3, n_jobs=1)
    yield "randomized", lambda: random().fit(*data("binary"))
    yield "optuna/all", partial(proposed, feedback="all")
    yield "optuna/batches", partial(proposed, batch_size=4)
    yield "optuna/cross-fitted", lambda: proposed(n_trials=24, feedback=ho.optuna.CrossFitting(n_trials=5))
    yield "open", open_search
    yield "resume", resumed
    for kind in ("binary", "regression", "survival"):
        for name, call in questions_of(kind):
            yield f"of-one/{kind}/{name}", call


def shared() -> Cases:
    """Fits that support vector machines share, which differ by rounding from fits of their own."""
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.2]}
    for kernel in ("rbf", "linear", "poly"):
        for share in ("exact", False):
            call = partial(searched, model=(SVC(kernel=kernel), grid), share=share, scoring="roc_auc")
            yield f"svc/{kernel}/{share}", call
    pipeline = make_pipeline(StandardScaler(), SVC())
    yield "svc/pipeline", partial(searched, model=(pipeline, {"svc__C": [0.1, 1.0, 10.0]}), repeats=2)
    yield "svc/multiclass", partial(searched, "multiclass", model=(SVC(), {"C": [0.1, 1.0, 10.0]}))
    epsilons = {"C": [0.1, 1.0, 10.0], "epsilon": [0.1, 0.3]}
    yield "svr/rbf", partial(searched, "regression", model=(SVR(), epsilons), scoring="r2")


# --- Protocols and validation.


def nested(kind: str = "binary", model: Any = None, **settings: Any) -> Any:
    estimator, grid = parts_of(kind, model)
    return ho.nested_cv(estimator, *data(kind), grid, **given(random_state=0, n_jobs=1, cv=4) | settings)


def pooled_performance() -> Any:
    search = searched("gaps", model=LOGISTIC, imputation=2, keep_models="winner", scoring="roc_auc")
    return ho.protocols.pooled_performance(search, *data("gaps"), n_bootstraps=50, random_state=0)


def protocols() -> Cases:
    hold_out = ho.protocols.hold_out
    options = {
        "roc_auc": given(scoring="roc_auc"), "f1": given(scoring="f1"),
        "r2": given(kind="regression", scoring="r2"), "multiclass": given(kind="multiclass"),
        "survival": given(kind="survival"), "inner-3": given(inner=3), "inner-hold-out": given(inner=hold_out(0.3)),
        "repeats": given(repeats=2), "all": given(across="all"),
        "groups": given(groups=GROUPS), "weights": given(sample_weight=WEIGHTS, model=TREE),
        "bates": given(interval=ho.protocols.BatesHastieTibshirani(3), model=TREE), "none": given(interval=None),
        "drop": given(drop="bootstrap"), "pooled": given(aggregate="pooled"),
        "within": given(aggregate="within", scoring="roc_auc"), "selection": given(selection="one_standard_error"),
        "hold-out": given(cv=hold_out(0.3), inner=3),
        "imputation": given(kind="gaps", model=LOGISTIC, imputation=2),
    }  # fmt: skip
    for name, settings in options.items():
        yield f"nested_cv/{name}", partial(nested, **settings)
    yield "nested_cv/search", lambda: ho.nested_cv(kept("binary"), *data("binary"))
    bootstraps = {
        "cvt": {}, "models": given(scheme="models"), "groups": given(groups=GROUPS),
        "drop": given(drop="bootstrap"), "f1": given(scoring="f1"),
    }  # fmt: skip
    few = given(random_state=0, n_jobs=1)
    for name, settings in bootstraps.items():
        settings = settings | few | given(n_bootstraps=8)
        yield (
            f"bootstrap_search/{name}",
            partial(ho.bootstrap_search, TREE[0], *data("binary"), TREE[1], **settings),
        )
    sizes = given(n_subsamples=4, training_sizes=(0.3, 0.5, 0.7, 0.8), **few)
    for kind, (estimator, grid), metric in (("binary", TREE, "accuracy"), ("regression", RIDGE, "r2")):
        curve = partial(ho.protocols.learning_curve, estimator, *data(kind), grid, scoring=metric, **sizes)
        yield f"learning_curve/{metric}", curve
    comparisons = {
        "accuracy": given(scoring="accuracy"), "roc_auc": given(scoring="roc_auc", deploy="corrected"),
        "inner": given(inner=3), "pooled": given(aggregate="pooled", scoring="f1"), "drop": given(drop="bootstrap"),
        "relevant": given(relevant=0.01),
    }  # fmt: skip
    compare = partial(ho.compare_algorithms, n_bootstraps=100, cv=4, **few)
    for name, settings in comparisons.items():
        yield f"compare_algorithms/{name}", partial(compare, ALGORITHMS["binary"], *data("binary"), **settings)
    yield "compare_algorithms/r2", partial(compare, ALGORITHMS["regression"], *data("regression"), scoring="r2")
    yield "pooled_performance", pooled_performance
    imputations = [0.7, 0.75, 0.72], [0.05, 0.06, 0.05]
    yield "pool_scores", partial(ho.protocols.pool_scores, *imputations, metric="roc_auc", n_rows=100)


PLAIN = LogisticRegression(C=np.inf)


def validated(kind: str = "binary", model: Any = PLAIN, **settings: Any) -> Any:
    few = given(metric=["roc_auc", "brier_score"], n_bootstraps=12, random_state=0, n_jobs=1)
    return ho.bootstrap_validate(model, *data(kind), **few | settings)


def curves(kind: str, model: Any, metric: str, **at: Any) -> Any:
    validation = validated(kind, model, metric=metric)
    lines = {"calibration": validation.calibration_curve(**at), "decision": validation.decision_curve(**at)}
    return lines if at else lines | {"roc": validation.roc_curve()}


def validations() -> Cases:
    tree, cox, linear = DecisionTreeClassifier(random_state=0), ho.spaces.CoxRegression(), LinearRegression()
    for method in ("auto", "optimism", "632", "632+", "oob"):
        for name, model in (("logistic", PLAIN), ("tree", tree)):
            yield f"{method}/{name}", partial(validated, model=model, method=method)
    several = [("plain", PLAIN), ("tree", tree)]
    imputation = ho.protocols.Imputation
    options = {
        "two_stage": given(model=several, method="two_stage"), "several": given(model=several),
        "rms": given(metric="rms"), "usual-metrics": given(metric=None), "weights": given(sample_weight=WEIGHTS),
        "groups": given(groups=GROUPS), "lower-bound": given(alternative="greater"), "words": given(kind="words"),
        "double": given(interval="double", n_inner_bootstraps=4),
        "adjusted": given(adjust_optimism=True, n_inner_bootstraps=4),
        "percentile": given(method="oob", interval="percentile"),
        "linear": given(kind="regression", model=linear, metric=["r2", "calibration_slope"]),
        "linear-rms": given(kind="regression", model=linear, metric="rms"),
        "multiclass": given(kind="multiclass", metric=["accuracy", "roc_auc_ovr"]),
        "cox-rms": given(kind="survival", model=cox, metric="rms"),
        "cox": given(kind="survival", model=cox, metric=["concordance_index", *AT_TIMES]),
        "imputation": given(kind="gaps", imputation=2),
        "mi_boot": given(kind="gaps", imputation=imputation(2, order="mi_boot")),
        "backward": given(kind="gaps", imputation=imputation(3, selection=ho.protocols.BackwardSelection(0.3))),
    }  # fmt: skip
    for name, settings in options.items():
        yield f"options/{name}", partial(validated, **settings)
    yield "curves/binary", partial(curves, "binary", PLAIN, "roc_auc")
    yield "curves/survival", partial(curves, "survival", cox, "brier_score_at(time=1)", time=1)


# --- Readers.

READ = """
accuracy: caret-cv.csv caret-classes.csv caret-labels.csv caret-repeats.csv caret-boot.csv caret-loo.csv
accuracy: weka/printed.txt weka/other_seed mljar/three_classes mljar/repeated orange/iris.tab openml/runs
accuracy: r/fit.rds r/pred.rda r/lists.rds r/without_predictions.rds autogluon/cells=diagnosis
accuracy: orange/iris_without_types.csv=iris
r2: caret-regression.csv weka/cpu.csv openml/numbers r/tidymodels.rda r/workflows.rds orange/housing.csv
r2: h2o/numbers.csv=progression mljar/numbers=target autogluon/sugar=progression
roc_auc: caret-weights.csv mlr3/grid.csv tidymodels/grid.csv h2o/models=diagnosis
log_loss: mljar/two_classes
"""
"""Exports by the metric that is estimated; behind = the column of true values."""


def read(source: Any, metric: str, **uses: Any) -> Any:
    table = ho.read_predictions(source, **uses)
    parts = {name: getattr(table, name) for name in words("truth folds groups sample_weight remarks")}
    parts |= {"names": getattr(table.predictions, "names", ()), "flags": table.predictions.flags}
    result = ho.estimate(table, metric=metric, n_bootstraps=50, random_state=0)
    return {"estimate": result, "source": str(table.source)} | parts


def readers() -> Cases:
    for line in READ.strip().splitlines():
        metric, _, exports = line.partition(":")
        for export in words(exports):
            name, _, target = export.partition("=")
            yield name, partial(read, EXPORTS / name, metric, target=target or None)
    yield "wide", partial(read, tables()["wide"], "roc_auc", target="truth", fold="fold")
    yield "wide/guess", partial(read, tables()["wide"], "roc_auc")
    lines = given(target="truth", fold="fold", row="row", configuration="model")
    yield "long", partial(read, tables()["long"], "roc_auc", **lines)
    y, predictions = matrix("regression")
    models = {"a": predictions[:, 0], "b": predictions[:, 1]}
    yield "scikit-learn", partial(read, models, "r2", target=y, fold=FOLDS)
    yield "no-file", partial(ho.read_predictions, "nothing.csv")


# --- Spaces, metrics as scorers, advice, and refused arguments.


def fitted(name: str, settings: Settings) -> Any:
    """What an estimator of ``ho.spaces`` predicts."""
    X, y = data("survival" if "Cox" in name else "binary")
    if "Cox" in name:
        y = np.array([*zip(*y, strict=True)], dtype=EVENTS)
    model = getattr(ho.spaces, name)(**settings).fit(X, y)
    responses = [name for name in words("predict predict_proba decision_function") if hasattr(model, name)]
    return {name: getattr(model, name)(X) for name in responses}


def entries(name: str) -> Any:
    space = getattr(ho.spaces, name)(*data("binary"))
    return [{"name": name, "keys": sorted(grid), "values": repr(grid)} for name, _, grid in space]


def scored(metric: str) -> Any:
    return ho.metrics.scorer(metric)(LogisticRegression().fit(*data("binary")), *data("binary"))


REFUSED: dict[str, list[Settings]] = {
    "estimate": [
        given(metric="rocauc"), given(aggregate="mean"), given(n_bootstraps=0), given(confidence_level=95),
        given(alternative="lesser"), given(folds=FOLDS[:9]), given(groups=GROUPS), given(sample_weight=-WEIGHTS),
        given(response="scores"), given(block_length=70), given(pos_label="yes"), given(random_state="0"),
        given(threshold=0.5), given(classes=[1, 2]), given(n_jobs=0),
    ],
    "search": [
        given(scoring="rocauc"), given(cv=1), given(cv=100), given(drop="botstrap"), given(method="bcc"),
        given(keep_models="some"), given(repeats=0), given(imputation=-1), given(deploy="bounded"),
        given(stop_when_width=-1), given(training_size_correction=True, cv=20), given(store=3),
        given(default={"C": 1}), given(aggregate="within", scoring="f1"), given(model=([("a", PLAIN)], None)),
    ],
    "nested": [given(cv=2), given(inner="outer"), given(across="some"), given(interval="normal")],
    "validate": [
        given(method="boot"), given(interval="wide"), given(metric=[]), given(n_bootstraps=-5),
        given(imputation="two"),
    ],
}  # fmt: skip


def others() -> Cases:
    estimators = [
        ("CoxRegression", {}), ("CoxRegression", given(ties="breslow", alpha=1.0)), ("StatsmodelsCox", {}),
        ("BoostedLinear", {}), ("ElasticNetLogistic", {}), ("GLVQ", given(random_state=0)), ("LeastSquaresSVM", {}),
        ("LVQ1", given(random_state=0)), ("RandomSubspaceKNN", given(n_estimators=20, random_state=0)),
        ("ShrinkageDiscriminant", {}), ("SquareRootForest", given(n_trees=20, random_state=0)),
    ]  # fmt: skip
    for name, settings in estimators:
        yield f"spaces/{name}{settings}", partial(fitted, name, settings)
    for name in words("quick standard boosted tsamardinos2018 wainer_cawley2021 cawley_talbot2010"):
        yield f"spaces/{name}", partial(entries, name)
    yield "metrics/names", lambda: {"names": list(ho.metrics.all_names())}
    for metric in words("roc_auc neg_log_loss f1 calibration_slope_error mcc nonsense"):
        yield f"metrics/scorer/{metric}", partial(scored, metric)
    cases = given(n_configurations=40), given(n_configurations=1), given(n_configurations=5, only_scores=True)
    for metric, n_rows in (("roc_auc", 120), ("accuracy", 60), ("r2", 300)):
        for settings in cases:
            call = partial(ho.estimates.recommendation, metric, n_rows=n_rows, **settings)
            yield f"recommendation/{metric}/{settings}", call
    for kind, algorithms in ALGORITHMS.items():
        yield f"advise/{kind}", partial(ho.advise, *data(kind), algorithms, seconds=0, random_state=0)
    yield "rows_needed", partial(ho.rows_needed, 0.05, candidates=50)
    yield "distance_to_best", partial(ho.estimates.distance_to_best, 500, candidates=50)
    yield "automatic_length", lambda: ho.estimates.automatic_length(matrix("regression")[0])
    calls: dict[str, Callable[..., Any]] = {
        "estimate": lambda metric="accuracy", **settings: estimate("binary", metric, **settings),
        "search": searched,
        "nested": nested,
        "validate": validated,
    }
    for name, refused in REFUSED.items():
        for place, settings in enumerate(refused):
            yield f"refused/{name}/{place}/{' '.join(settings)}", partial(calls[name], **settings)


# --- Commands, in this process and a folder of their own.

SPACE = """
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import heldout as ho


def space(X, y):
    bayes = make_pipeline(ho.spaces.default_preprocessing(X), GaussianNB())
    tree = make_pipeline(ho.spaces.default_preprocessing(X), DecisionTreeClassifier(random_state=0))
    return [
        ("bayes", bayes, {"gaussiannb__var_smoothing": [1e-9, 0.1, 1.0]}),
        ("tree", tree, {"decisiontreeclassifier__max_depth": [1, 3]}),
    ]
"""
BINARY = "binary.csv --target outcome --space space.py:space --n-jobs 1 --quiet --out"
SURVIVAL = "survival.csv --target time --event event --n-jobs 1 --quiet --out"
WIDE = "wide.csv --target truth --fold fold --n-bootstraps 100"
VALIDATED = "binary.csv --target outcome --n-jobs 1 --quiet --out"
COMMANDS = f"""
tune {BINARY} binary
tune {BINARY} binary --n-bootstraps 100
tune {BINARY} binary --resume
tune {BINARY} binary --resume --cv 4
tune {BINARY} json --json --n-bootstraps 100
tune {BINARY} drop --json --drop bootstrap --metric accuracy,f1
tune {BINARY} nested --json --method nested
tune {BINARY} groups --json --groups site --weight weight --positive no
tune {BINARY} optuna --json --search optuna --n-trials 6
tune {SURVIVAL} survival --models cox
tune regression.csv --target outcome --models ridge --n-jobs 1 --quiet --out regression
compare {BINARY} compared --n-bootstraps 100
validate {VALIDATED} validated --model logistic --n-bootstraps 15 --imputations 2
validate {SURVIVAL} cox --model cox --n-bootstraps 15 --metric rms --json
estimate {WIDE} --out estimated
estimate {WIDE} --method all
estimate {WIDE} --metric auc
estimate {WIDE} --metod bbc
estimate {WIDE} --method bcc
estimate long.csv --target truth --row row --configuration model --fold fold --json
estimate caret-cv.csv --n-bootstraps 50
estimate binary/predictions.parquet
estimate binary --json
estimate binary.csv
report binary --to page.html
report .
status binary
status binary --json
status nothing
open nothing
tuen
tune
tune nothing.csv --target a
tune binary.csv --target outcom
tune binary.csv --target outcome --models forrest
tune binary.csv --target outcome --cv 1
tune binary.csv --target outcome --drop soon
tune binary.csv --target outcome --n-jobs 0
validate binary.csv --target outcome --model cox
compare binary.csv --target outcome --models forest
tune --help
compare --help
estimate --help
validate --help
report --help
status --help
open --help
"""
"""In the order in which they run: some read the folders of those before."""
FIGURES = words("value uncorrected optimism constant selected selected_name interval flags n_fits")


def commands() -> Cases:
    for line in COMMANDS.strip().splitlines():
        name = line
        for common in (BINARY, SURVIVAL, VALIDATED, WIDE):
            name = name.replace(f" {common}", "")
        yield name, partial(after_first, line)
    yield "interrupted", interrupted


@cache
def workplace() -> Any:
    """A folder with what the commands read; it goes when this process ends."""
    folder = tempfile.TemporaryDirectory()
    for kind in ("binary", "regression", "survival"):
        X, y = data(kind)
        frame = pd.DataFrame(X, columns=list("abcde"))
        frame = frame.assign(event=y[0].astype(int), time=y[1]) if kind == "survival" else frame.assign(outcome=y)
        if kind == "binary":
            answers, text = np.where(y == 1, "yes", "no"), np.where(X[:, 0] > 1, "u", "v")
            frame = frame.assign(
                outcome=answers, site=GROUPS, weight=WEIGHTS, text=text, a=frame["a"].where(GROUPS > 0)
            )
        frame.to_csv(f"{folder.name}/{kind}.csv", index=False)
    for name, table in tables().items():
        table.to_csv(f"{folder.name}/{name}.csv", index=False)
    Path(folder.name, "space.py").write_text(SPACE, encoding="utf-8")
    Path(folder.name, "caret-cv.csv").write_bytes((EXPORTS / "caret-cv.csv").read_bytes())
    return folder


@cache
def after_first(line: str) -> Any:
    """A command; where it reads the folder of the first one, that one runs before."""
    first = COMMANDS.strip().splitlines()[0]
    if line != first and "binary" in words(line.replace("/", " ")):
        after_first(first)
    return command(line)


def command(line: str) -> Any:
    """What a command prints, its exit code and the texts in its folder."""
    arguments = shlex.split(line)
    out, err, code = io.StringIO(), io.StringIO(), 0
    with chdir(workplace().name), patch.object(sys, "argv", ["heldout", *arguments]):
        try:
            with redirect_stdout(out), redirect_stderr(err):
                runpy.run_module("heldout", run_name="__main__")
        except SystemExit as end:
            code = int(end.code or 0)
        folder = arguments[arguments.index("--out") + 1] if "--out" in arguments else "nothing"
        written = [path for path in sorted(Path(folder).glob("*")) if path.suffix in (".json", ".md") and not code]
        files = {path.name: document(path.read_text(encoding="utf-8")) for path in written}
    return {"code": str(code), "out": document(out.getvalue()), "err": err.getvalue(), "files": files}


def document(text: str) -> Any:
    """A text; of a JSON document the main figures, and each of its parts as text."""
    try:
        parts = json.loads(text)
    except ValueError:
        return text
    if not isinstance(parts, dict):
        return text
    parts.pop("seconds", None)
    figures = {name: parts.pop(name) for name in FIGURES if name in parts}
    return {"figures": figures} | {f"{name} as text": json.dumps(part) for name, part in parts.items() if part}


def interrupted() -> Any:
    """A command that Ctrl-C ends during the tenth fit, what can be asked then, and the rest."""
    line = f"tune {BINARY} interrupted"
    with interruption(10):
        first = command(line)
    early = {name: command(name) for name in ("status interrupted", "estimate interrupted --json")}
    return {"first": first, "early": early, "rest": command(f"{line} --resume")}


SECTIONS: dict[str, Callable[[], Cases]] = {
    "estimate": estimates, "scores": scores, "search": searches, "shared": shared, "protocols": protocols,
    "validate": validations, "readers": readers, "others": others, "commands": commands,
}  # fmt: skip
