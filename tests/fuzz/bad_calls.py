"""Calls of the library: arguments of the right kind, and of wrong types, shapes, orders and sizes."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from bad_values import JSON, NUMBERS, TEXTS, Generator, pick, some
from oracle import Case, fault_of_estimate, of_json
from scipy import sparse
from scipy.stats import norm, randint, uniform
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, mean_absolute_error, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, ShuffleSplit, TimeSeriesSplit
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils._param_validation import InvalidParameterError

import heldout as ho

mpl.use("Agg")

METRICS = (
    "roc_auc", "accuracy", "balanced_accuracy", "f1", "mcc", "average_precision", "log_loss", "brier_score", "r2",
    "mean_squared_error", "root_mean_squared_error", "neg_log_loss", "neg_mean_squared_error", "roc_auc_ovr",
    "kappa", "concordance_index", "spearman", "calibration_slope", "calibration_intercept", "nagelkerke_r2", "emax",
    "ici", "quality_index", "g_index", "calibration_emax", "likelihood_ratio", "median_absolute_error",
    "partial_roc_auc(max_fpr=0.2)", "fbeta_score(beta=2)", "f1(average='macro')", "nonsense", "f1(",
)  # fmt: skip
METHODS = (
    "shrinkage", "bbc", "bbc_f", "cv", "tt", "naive_bootstrap", "delong", "hanley_mcneil", "tilting", "mabt",
    "wilson", "clopper_pearson", "hoeffding", "wmc", "wmcs", "nested_cv", "nonsense", "wald_cv", "corrected_t",
    "conservative_z", "locally_simultaneous", "zoom", ho.estimates.WaldCV(variance="within_folds"),
    ho.estimates.LocallySimultaneous(plausible="scores"), ho.estimates.Zoom(share=0.0),
    ho.estimates.BBC(interval="calibrated"), ho.estimates.BBC(stratify=True), ho.estimates.BBC,
)  # fmt: skip


CURVES = ("RocCurveDisplay", "PrecisionRecallDisplay", "CalibrationDisplay", "DecisionCurveDisplay")


def fitted_tree(X: Any, y: Any, random_state: Any = None) -> Any:
    return DecisionTreeClassifier(max_depth=2, random_state=random_state).fit(X, y)


PROCEDURES = (
    fitted_tree, lambda X, y: None, lambda X: X, ho.spaces.TuningProcedure(fitted_tree, kind="classifier"),
    ho.spaces.TuningProcedure(fitted_tree), ho.spaces.TuningProcedure(LinearRegression()),
    ho.spaces.TuningProcedure("best"), ho.spaces.TuningProcedure,
)  # fmt: skip
SELECTIONS = (
    "best", "one_standard_error", "average_rank", "within(tolerance=0.1)", "top_k(k=2)", "threshold",
    "greedy_ensemble", "rank_over_repeats", "nonsense", lambda scores: np.zeros(len(scores), dtype=int),
    lambda scores: np.full(len(scores), 99), lambda scores: None, lambda scores: scores, ho.selection, 3,
)  # fmt: skip
# fmt: off
SETTINGS: dict[str, Sequence[Any]] = {
    "metric": METRICS,
    "method": METHODS,
    "methods": ("all", ["bbc", "cv"], [], ["bbc", "bbc"], "bbc", {"x": "bbc"}, METHODS[-3:]),
    "scoring": (*METRICS, ["accuracy", "roc_auc"], {"a": "accuracy"}, {}, [], lambda model, X, y: 0.5,
    lambda *a: None),
    "selection": SELECTIONS,
    "aggregate": ("pooled", "folds", "within", "mean", None),
    "alternative": ("two-sided", "greater", "less", "lesser", None),
    "response": ("auto", "probabilities", "decision", "labels", "scores"),
    "n_bootstraps": (2, 10, 30, 0, -1, 1, 10.0, "10", None, True, 10**12, np.int64(5), np.float64(5),
    float("nan")),
    "confidence_level": (0.5, 0.95, 0.999, 0, 1, 95, -0.1, float("nan"), "0.95", None, np.float32(0.9), [0.9]),
    "threshold": (0.5, 0, None, float("nan"), float("inf"), "0.5", [0.5]),
    "adaptive": (False, True, None, 1, "yes"),
    "block_length": (None, "auto", 3, 0, -1, 2.5, "moving:2", "x", True, 10**9, ho.estimates.Blocks(2, "moving")),
    "alike": (False, True, None, 1, "yes"),
    "only_scores": (False, True, None, 1, "yes"),
    "demand": (None, "nested_cv", "bbc", "cv", 5, []),
    "n_rows": (50, 2, 1, 0, -1, 10**12, 50.0, "50", None, True, np.int64(50), float("nan")),
    "n_configurations": (5, 1, 0, -1, 10**12, 5.0, "5", None, True),
    "random_state": (0, 7, 2**64 - 1, 2**64, -1, 1.5, "0", None, np.random.default_rng(0),
    np.random.RandomState(0)),
    "test_share": (0.2, 0, 1, 2, -1, None, "0.2", float("nan")),
    "halvings": (1, 2, 0, -1, 1.5, "2", None, True, 10**10),
    "greater_is_better": (True, False, None, "yes", 1),
    "range": ((0, 1), (1, 0), (0,), None, (float("nan"), 1), ("a", "b"), 5),
    "names": (None, ["a", "b", "c"], ["a"], [1, 2, 3], "abc", []),
    "classes": (None, [0, 1], [1, 0], [0, 1, 2], ["a", "b"], [], [0, 0], 5),
    "pos_label": (None, 0, 1, "yes", 5, float("nan")),
    "cv": (2, 3, None, 0, 1, -1, 2.5, "3", 10**9, KFold(3), LeaveOneOut(), ShuffleSplit(2), TimeSeriesSplit(2),
    [], [([0], [1])],
           [([0, 1], [1, 2])], [(["a"], ["b"])], ho.protocols.hold_out(), ho.protocols.repeated_hold_out(2, 0.3),
           ho.protocols.paired_hold_out(2, 0.3, 2)),
    "inner": ("remaining", "holdout", 2, 1, 0, None, "x", KFold(2)),
    "across": ("folds", "all", "some", None),
    "interval": ("nadeau_bengio", "bates_hastie_tibshirani", "test_part", None, "auto", "double", "x", 5),
    "scheme": ("cvt", "models", "x"),
    "imputation": (None, 2, 0, -1, "mean", 2.5,
                   ho.protocols.Imputation(2, selection=ho.protocols.BackwardSelection(0.3))),
    "n_inner_bootstraps": (2, 3, 1, 0, -1, 2.5, "2", None, True, 10**12),
    "n_second_bootstraps": (None, 3, 1, 0, -1, 2.5, "2", True, 10**12),
    "adjust_optimism": (False, True, None, 1, "yes"),
    "repeats": (1, 2, 0, -1, 1.5, "2", None, 10**10),
    "drop": (None, "bootstrap", "never", "paired", "sequential", "x", 5, "bootstrap(against='double')",
    "bootstrap(against='x')", "paired(pairs='all')", "paired(looks=5)"),
    "training_size_correction": (True, False, None, 1, "yes"),
    "stop_when_width": (None, 0.3, 0.01, 0, -1, float("nan"), float("inf"), "0.1", True),
    "refit": (True, False, "accuracy", None, lambda results: 0, lambda results: 99, 5),
    "error_score": (float("nan"), "raise", 0, "x", None),
    "fit_timeout": (None, 5, 0, -1, float("nan"), "5"),
    "n_jobs": (None, 1, 0, 1.5, "x"),
    "store": (None, "run.db", 5, "nodir/run.db"),
    "seconds": (0.0, -1, float("nan"), "x", None),
    "param_grid": ({"max_depth": [1, 2]}, {}, None, {"max_depth": []}, {"nothing": [1]}, {"max_depth": 3}, [],
    [{}], {"max_depth": "ab"},
                   {"max_depth": [float("nan"), -5]}, {1: [2]}, "x", {"max_depth": np.array([[1, 2]])},
        {"random_state": [object()]}),
    "param_distributions": ({"max_depth": randint(1, 3)}, {"max_depth": [1, 2]}, {}, None, {"max_depth": []},
        {"max_depth": 3}, [], [{}, {"max_depth": randint(1, 3)}], {"max_depth": "ab"}, {1: [2]}, "x",
        {"max_depth": norm}, {"max_depth": randint}, {"nothing": uniform()}),
    "n_iter": (1, 2, 10, 0, -1, 2.0, "2", None, True, 10**12, float("nan"), {"tree": 2}, {"tree": 0}, {}, [2]),
    "pre_dispatch": ("2*n_jobs", 1, "x", 0),
    "verbose": (0, "x"),
}
# fmt: on


def make(rng: Generator, folder: Path) -> Case:
    """A call with a healthy base, of which up to four arguments are drawn from other pools."""
    kinds = (
        "plain", "estimate", "estimate", "scores", "scores", "compare", "search", "protocol", "correct",
        "recommend", "pool", "plot", "read",
    )  # fmt: skip
    kind = pick(rng, kinds)
    return {
        "plain": _plain, "estimate": _estimate, "scores": _scores, "compare": _compare, "search": _search,
        "protocol": _protocol, "correct": _correct, "recommend": _recommend, "pool": _pool, "plot": _plot,
        "read": _read,
    }[kind](rng)  # fmt: skip


def _case(
    name: str, function: Callable[..., Any], arguments: dict[str, Any], right: Any = lambda found: None
) -> Case:
    words = ", ".join(f"{key}={of_json(value)}" for key, value in arguments.items())
    return Case(f"{name}({words})", partial(function, **arguments), right)


# --- arrays ------------------------------------------------------------------------------------------------


def odd_array(rng: Generator, array: np.ndarray) -> Any:
    """The array with other values, of another type, shape or layout, or something else in its place."""
    flat = (
        np.array(array, dtype=float)
        if array.dtype.kind in "biuf"
        else np.arange(array.size, dtype=float).reshape(array.shape)
    )
    some_value, row = pick(rng, NUMBERS), int(rng.integers(max(len(flat), 1)))

    def with_value() -> Any:
        found = flat.astype(object if isinstance(some_value, int) and abs(some_value) > 2**60 else float)
        if found.size:
            found[row] = some_value
        return found

    raw = np.zeros(flat.nbytes + 1, np.uint8)
    misaligned = raw[1:].view(np.float64).reshape(flat.shape)
    misaligned[...] = flat
    line = flat.ravel()[: len(flat)]
    makers: Sequence[Callable[[], Any]] = (
        with_value, with_value, with_value, lambda: misaligned, lambda: flat.astype(">f8"),
        lambda: flat.astype(np.float16), lambda: flat.astype(np.longdouble), lambda: flat.astype(complex) + 1j,
        lambda: flat.astype(str), lambda: flat.astype(object), lambda: flat.astype("datetime64[s]"),
        lambda: flat.astype(bool), lambda: np.asfortranarray(flat)[::-1],
        lambda: np.broadcast_to(flat[:1], flat.shape),
        lambda: np.ma.masked_array(flat, mask=flat > np.median(flat) if flat.size else False),
        lambda: sparse.csr_matrix(flat if flat.ndim == 2 else flat[:, None]), lambda: flat[: len(flat) // 2],
        lambda: flat[..., None], lambda: flat.ravel(), lambda: flat[:0], lambda: flat.T, lambda: flat.tolist(),
        lambda: pd.DataFrame(flat if flat.ndim == 2 else flat[:, None]),
        lambda: pd.Series(line, index=np.arange(len(line))[::-1]),
        lambda: pd.Series(pd.Categorical(line.astype(str))),
        lambda: pd.Series(np.where(line > 0, "b", "a"), dtype="string[pyarrow]"),
        lambda: pd.Series(line).astype("Float64").where(np.arange(len(line)) != row), lambda: iter(flat),
        lambda: {"a": flat}, lambda: [pick(rng, (*NUMBERS, *TEXTS[:12], None)) for _ in range(len(flat))],
        lambda: pick(rng, JSON),
    )  # fmt: skip
    return pick(rng, makers)()


def _target(rng: Generator, n: int) -> np.ndarray:
    y = np.arange(n) % 2
    event_time = np.array([(i % 3 > 0, 1.0 + i) for i in range(n)], dtype=[("event", bool), ("time", float)])
    return pick(rng, (y, y, y == 1, np.where(y, "yes", "no"), rng.normal(size=n), np.arange(n) % 3, event_time))


def _drawn(
    rng: Generator, function: Any, base: dict[str, Any], arrays: dict[str, Any], most: int = 3
) -> dict[str, Any]:
    """The base with some of the function's arguments drawn anew."""
    known = [name for name in inspect.signature(function).parameters if name in SETTINGS]
    given = dict(base)
    for name in some(rng, known, 0, most):
        given[name] = pick(rng, (*NUMBERS, *TEXTS, None)) if rng.random() < 0.1 else pick(rng, SETTINGS[name])
    for name, array in arrays.items():
        if rng.random() < 0.35:
            given[name] = odd_array(rng, array)
    return given


# --- what is called ----------------------------------------------------------------------------------------


def _plain(rng: Generator) -> Case:
    """Healthy predictions, compared with scikit-learn."""
    n, c = int(rng.integers(20, 70)), int(rng.integers(1, 7))
    y = rng.permutation(np.arange(n) % 2)
    P = 1 / (1 + np.exp(-rng.normal(size=(n, c)) - y[:, None] * rng.uniform(0, 2, c))).round(
        int(rng.integers(1, 9))
    )
    metric, of, P = pick(
        rng,
        (
            ("roc_auc", roc_auc_score, P),
            ("accuracy", accuracy_score, (P > 0.5).astype(int)),
            ("neg_mean_absolute_error", lambda t, p: -mean_absolute_error(t, p), P),
        ),
    )
    y = y.astype(float) if "mean" in metric else y
    best = max(of(y, P[:, j]) for j in range(c))
    given = {
        "y_true": y,
        "predictions": P,
        "metric": metric,
        "n_bootstraps": 20,
        "random_state": int(rng.integers(9)),
    }
    given["method"] = pick(rng, ("shrinkage", "bbc", "cv", "naive_bootstrap"))

    def right(found: Any) -> str | None:
        if abs(found.uncorrected - best) > 1e-12:
            return f"uncorrected {found.uncorrected}, and scikit-learn gives {best}"
        if abs(of(y, P[:, found.selected]) - best) > 1e-12:
            return f"selected {found.selected}, whose score is {of(y, P[:, found.selected])} and not {best}"
        return fault_of_estimate(found, c)

    return replace(_case("ho.estimate", ho.estimate, given, right), healthy=True)


def _base(rng: Generator) -> tuple[dict[str, Any], dict[str, Any]]:
    n, c = int(pick(rng, (0, 1, 2, 8, 40))), int(pick(rng, (0, 1, 3, 3)))
    y, P = _target(rng, n), rng.random((n, c))
    base: dict[str, Any] = {
        "y_true": y,
        "predictions": P,
        "metric": "roc_auc",
        "n_bootstraps": 10,
        "random_state": 0,
    }
    folds = np.arange(n) % 4
    for name, array in (("folds", folds), ("groups", np.arange(n) // 3), ("sample_weight", rng.random(n))):
        if rng.random() < 0.25:
            base[name] = array if rng.random() < 0.5 else odd_array(rng, array)
    return base, {"y_true": y, "predictions": P}


def _estimate(rng: Generator) -> Case:
    base, arrays = _base(rng)
    return _case("ho.estimate", ho.estimate, _drawn(rng, ho.estimate, base, arrays), fault_of_estimate)


def _read(rng: Generator) -> Case:
    """An export of caret as a data frame, or arrays of scikit-learn, with arguments of ``ho.read_predictions``."""
    n = int(pick(rng, (1, 6, 30)))
    row, k = np.tile(np.arange(1, n + 1), 2), np.repeat([3, 5], n)
    frame = pd.DataFrame({"pred": rng.random(2 * n), "obs": row % 5 + 0.5, "rowIndex": row, "k": k})
    source = pick(
        rng, (frame, frame.assign(Resample=row % 3), {"m": rng.random(n)}, frame.rename(columns={"k": "y"}))
    )
    given: dict[str, Any] = {"source": source, "target": rng.random(n) if isinstance(source, dict) else None}
    values = (*frame.columns, "Resample", "caret", "long", ["k"], ["k", "obs"], None, 3, *TEXTS)
    for name in some(rng, list(inspect.signature(ho.read_predictions).parameters)[1:], 0, 4):
        given[name] = odd_array(rng, rng.random(n)) if rng.random() < 0.2 else pick(rng, values)
    return _case("ho.read_predictions", ho.read_predictions, given, lambda found: repr(found) and None)


def _compare(rng: Generator) -> Case:
    base, arrays = _base(rng)
    name = pick(rng, ("compare_estimates", "compare_configurations"))
    function = getattr(ho, name)

    def right(found: Any) -> str | None:
        repr(found), found.to_dict() if hasattr(found, "to_dict") else None
        each = list(found.values()) if name == "compare_estimates" else []
        return next((fault for estimate in each if (fault := fault_of_estimate(estimate))), None)

    return _case(f"ho.{name}", function, _drawn(rng, function, base, arrays), right)


def _plot(rng: Generator) -> Case:
    base, arrays = _base(rng)
    display = getattr(ho.plots, pick(rng, CURVES))
    base = {name: value for name, value in base.items() if name in ("y_true", "predictions", "sample_weight")}
    base["configuration"] = pick(rng, (0, 1, None, -1, 5, "x", "configuration 0", 1.5, True))
    given = _drawn(rng, display.from_predictions, base, arrays)

    def right(found: Any) -> str | None:
        plt.close(found.figure_)
        return None if all(len(line.x) == len(line.y) > 0 for line in found.lines) else "a line without points"

    return _case(f"ho.plots.{display.__name__}.from_predictions", display.from_predictions, given, right)


def _scores(rng: Generator) -> Case:
    scores = rng.random((int(pick(rng, (0, 1, 2, 10, 10, 20))), int(pick(rng, (0, 1, 3, 3)))))
    base = {"scores": scores, "greater_is_better": True, "method": "bbc_f", "n_bootstraps": 10, "random_state": 0}
    given = _drawn(rng, ho.estimate_from_scores, base, {"scores": scores})
    return _case("ho.estimate_from_scores", ho.estimate_from_scores, given, fault_of_estimate)


def _recommend(rng: Generator) -> Case:
    base = {"metric": pick(rng, METRICS[:12]), "n_rows": 50, "n_configurations": 5}
    given = _drawn(rng, ho.estimates.recommendation, base, {})
    return _case(
        "ho.estimates.recommendation", ho.estimates.recommendation, given, lambda found: repr(found) and None
    )


def _pool(rng: Generator) -> Case:
    h = int(pick(rng, (0, 1, 2, 5)))
    scores, errors = rng.random(h), rng.random(h) / 10
    base = {"scores": scores, "standard_errors": errors, "metric": pick(rng, METRICS[:12]), "n_rows": 50}
    given = _drawn(rng, ho.protocols.pool_scores, base, {"scores": scores, "standard_errors": errors})
    return _case("ho.protocols.pool_scores", ho.protocols.pool_scores, given, lambda found: str(found) and None)


def _data(rng: Generator) -> tuple[Any, Any, dict[str, Any]]:
    n = int(pick(rng, (1, 4, 20, 20, 20)))
    X, y = rng.normal(size=(n, 2)), _target(rng, n)
    arrays = {name: odd_array(rng, array) for name, array in (("X", X), ("y", y)) if rng.random() < 0.3}
    return arrays.get("X", X), arrays.get("y", y), {}


MODELS = (
    DecisionTreeClassifier(max_depth=1), DecisionTreeRegressor(max_depth=1), DummyClassifier(), LinearRegression(),
    None, 5, [], [("tree", DecisionTreeClassifier(), {"max_depth": [1]})], [("x", 5, {})], DecisionTreeClassifier,
    "tree", GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}),
    ho.HeldOutSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}),
)  # fmt: skip


def _search(rng: Generator) -> Case:
    X, y, _ = _data(rng)
    model = pick(rng, (MODELS[0], MODELS[0], MODELS[1], *MODELS))
    kind, space = pick(
        rng, ((ho.HeldOutSearchCV, "param_grid"), (ho.HeldOutRandomizedSearchCV, "param_distributions"))
    )
    base = {"estimator": model, space: {"max_depth": [1, 2]}, "cv": 2, "n_bootstraps": 10, "random_state": 0}
    given = _drawn(rng, kind, base, {})

    def fit() -> Any:
        return kind(**given).fit(X, y)

    def right(search: Any) -> str | None:
        if search.estimate_ is None:
            return None
        return fault_of_estimate(search.estimate_, len(search.cv_results_["params"]))

    words = ", ".join(f"{key}={of_json(value)}" for key, value in given.items())
    return Case(
        f"ho.{kind.__name__}({words}).fit({of_json(X)}, {of_json(y)})",
        fit,
        right,
        (InvalidParameterError,),
        fits_models=True,
    )


def _protocol(rng: Generator) -> Case:
    X, y, _ = _data(rng)
    name = pick(rng, ("nested_cv", "bootstrap_search", "bootstrap_validate", "advise"))
    model = pick(rng, (MODELS[0], MODELS[0], MODELS[1], *MODELS))
    base: dict[str, Any] = {"X": X, "y": y, "random_state": 0}
    base |= {
        "nested_cv": {"estimator": model, "param_grid": {"max_depth": [1, 2]}, "cv": 3}
        if rng.random() < 0.7
        else {"estimator": pick(rng, PROCEDURES), "cv": 3},
        "bootstrap_search": {"estimator": model, "param_grid": {"max_depth": [1]}, "cv": 2, "n_bootstraps": 3},
        "bootstrap_validate": {"estimator": pick(rng, (LogisticRegression(), Ridge(), model)), "n_bootstraps": 4},
        "advise": {"configurations": pick(rng, (5, 0, None, "x", [], -1, model)), "seconds": 0.0},
    }[name]
    given = _drawn(rng, getattr(ho, name), base, {})
    if name == "advise":
        given["seconds"] = 0.0 if given["seconds"] == 10 else given["seconds"]

    def right(found: Any) -> str | None:
        repr(found)
        estimates = (
            found.estimates.values() if name == "bootstrap_validate" else [] if name == "advise" else [found]
        )
        return next((fault for estimate in estimates if (fault := fault_of_estimate(estimate))), None)

    case = _case(f"ho.{name}", getattr(ho, name), given, right)
    return replace(case, fits_models=True)


class Finished:
    """A search as scikit-learn leaves it."""

    def __init__(self, results: Any) -> None:
        self.cv_results_, self.refit, self.estimator, self.cv = results, True, DecisionTreeClassifier(), 3
        self.best_index_ = 0


def _correct(rng: Generator) -> Case:
    n = int(pick(rng, (1, 3, 3)))
    results: dict[str, Any] = {"params": [{"max_depth": j} for j in range(n)]}
    results |= {f"split{i}_test_score": np.sort(rng.random(n))[::-1] for i in range(int(pick(rng, (0, 1, 5, 5))))}
    for key in some(rng, list(results), 0, 2):
        results[key] = (
            odd_array(rng, np.asarray(results[key])) if key != "params" else pick(rng, ([], None, [{}], 5))
        )
    search = (
        Finished(results) if rng.random() < 0.75 else pick(rng, (None, 5, GridSearchCV, MODELS[0], MODELS[-1], "x"))
    )
    if rng.random() < 0.1:
        scores = {name: {"test_score": odd_array(rng, rng.random(5))} for name in ("a", "b")}
        search = pick(rng, (scores, {**scores, "b": {}}, scores["a"], {}))
    base = {"search": search, "n_bootstraps": 10, "random_state": 0}
    case = _case("ho.correct", ho.correct, _drawn(rng, ho.correct, base, {}), fault_of_estimate)
    return replace(case, words=f"{case.words} of cv_results_={of_json(results)}")
