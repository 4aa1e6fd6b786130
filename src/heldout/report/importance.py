"""How much the winner relies on each column: permutation importance on held-out rows, and the model's own numbers.

The importance of a column is how much worse a fold model scores on the rows that it never saw when the values of
that column are shuffled among them (Breiman 2001). Columns that carry the same information share it: shuffling one
of them leaves the other.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import SVC, NuSVC

from heldout._sklearn import rows_at
from heldout._streams import stream
from heldout._types import Array, Floats, Indices
from heldout.errors import InputError
from heldout.execution.fit import Scoring, cell_model
from heldout.execution.fold_models import FoldModels
from heldout.execution.responses import coded_responses, fold_scores, has_responses, is_computable
from heldout.execution.threads import single_threaded
from heldout.metrics.base import Metric, Response
from heldout.report.columns import column_names
from heldout.report.entries import Facts
from heldout.result import Evaluation

REFIT_AGREEMENT = 1e-8
"""The largest difference between predictions of one fit and of the same fit again, relative to the largest."""


def scoring_of(metrics: Mapping[str, Metric | None]) -> Scoring:
    """What asks a model for the responses that metrics read; it has no scorer to run."""
    return Scoring(_no_scorer, metrics)


def _no_scorer(*_: Any) -> float:
    raise AssertionError("only the responses that metrics read are asked for")


def with_rows(evaluation: Evaluation, X: Any) -> Evaluation:
    """The evaluation with the rows that a saved search lacks.

    Raises InputError where they are others than it was made on.
    """
    X = X if len(getattr(X, "shape", ())) else np.asarray(X)
    task, known = replace(evaluation.task, X=X), evaluation.provenance.get("fingerprint_of_rows")
    rows = X.shape[0] if len(X.shape) else 0
    if rows != task.n_rows or (known is not None and task.fingerprint() != known):
        raise InputError(
            f"`X` holds other rows than the search was fitted on ({rows:,} rows here, {task.n_rows:,} there, or "
            "other values); give the same X as to fit.",
            argument="X",
        )
    return replace(evaluation, task=task)


def refitted_winner(evaluation: Evaluation) -> FoldModels:
    """One fit of the winner for each split, on the rows in the evaluation's task.

    Raises InputError where the fits give other predictions than the search's own.
    """
    # A search without a random_state left the estimators' own seeds.
    for entropy in (evaluation.provenance.get("entropy"), None):
        models = _refitted(evaluation, entropy)
        if models is not None:
            test_rows = {split.place: split.test for split in evaluation.folds.splits}
            return FoldModels(evaluation.winner, {evaluation.winner: models}, test_rows, len(models))
    raise InputError(
        "`importance='refit'`: the winner, fitted again on the training rows of each fold, gives other predictions "
        "than in the search (it draws without a seed, or its fits took weights or other parameters); search again "
        "with `keep_models='winner'`."
    )


def _refitted(evaluation: Evaluation, entropy: Any) -> dict[tuple[int, int], Any] | None:
    """None at the first model with other predictions."""
    task, winner = evaluation.task, evaluation.configurations[evaluation.winner]
    known, part = evaluation.predictions.responses, evaluation.predictions.part
    scoring = scoring_of(evaluation.metrics)
    models: dict[tuple[int, int], Any] = {}
    with single_threaded():
        for split in evaluation.folds.splits:
            model = cell_model(winner, entropy, *split.place)
            model.fit(rows_at(task.X, split.train), rows_at(task.target, split.train))
            again = coded_responses(task.truth, scoring, model, rows_at(task.X, split.test))
            places, there = (split.test, slice(None)) if part is None else part.places(split.test)
            at = places, evaluation.winner, split.repeat
            differences = [
                _difference(known[kind][at], array[there]) for kind, array in again.items() if kind in known
            ]
            if not differences or not max(differences) <= REFIT_AGREEMENT:
                return None
            models[split.place] = model
    return models


def _difference(before: Array, after: Array) -> float:
    largest = float(np.abs(before).max(initial=0.0)) or 1.0
    difference = float(np.abs(before.astype(np.float64) - after).max(initial=0.0)) / largest
    return difference if np.isfinite(difference) else float("inf")


PERMUTATIONS = 5
MOST_PERMUTED_COLUMNS = 100
MOST_PERMUTED_ROWS = 2000
"""Held-out rows of a split; of more a fixed sample."""


def unfit_for_importance(evaluation: Evaluation) -> str:
    """Why the importance of the columns cannot be computed, as the end of a sentence; empty if it can."""
    X = evaluation.task.X
    if evaluation.metrics.get(evaluation.refit_metric) is None:
        return (
            f"the scorer '{evaluation.refit_metric}' cannot be opened, so its scores of shuffled rows are not "
            "known; use a metric name, or a scorer made by make_scorer"
        )
    if len(getattr(X, "shape", ())) != 2 or hasattr(X, "tocsr"):
        return "the rows are no table or dense array whose columns could be shuffled"
    if X.shape[1] > MOST_PERMUTED_COLUMNS:
        return f"there are {X.shape[1]:,} columns, and importance is computed of at most {MOST_PERMUTED_COLUMNS}"
    return ""


def importance_of(evaluation: Evaluation) -> Facts | None:
    """The importance of every column for the winner's fold models; None without these, or where it is unfit."""
    models, metric = evaluation.fold_models, evaluation.metrics.get(evaluation.refit_metric)
    X = evaluation.task.X
    if models is None or metric is None or unfit_for_importance(evaluation) or not X.shape[1]:
        return None
    worse = (_losses(evaluation, metric, model, place) for place, model in models.items() if model is not None)
    per_split = [losses for losses in worse if losses is not None]
    if not per_split:
        return None
    lost = np.array(per_split)
    mean = lost.mean(axis=0)
    spread = lost.std(axis=0).tolist() if len(lost) > 1 else [None] * len(mean)
    names = column_names(X)
    order = np.argsort(-mean, kind="stable")
    columns = tuple(Facts(column=names[j], mean=float(mean[j]), spread=spread[j]) for j in order)
    return Facts(columns=columns, splits=len(per_split), permutations=PERMUTATIONS)


def _losses(evaluation: Evaluation, metric: Metric, model: Any, place: tuple[int, int]) -> Floats | None:
    """How much worse the split's score is for each column shuffled (columns,); None where it has no score."""
    assert evaluation.fold_models is not None, "the model is one of them"
    task, rows = evaluation.task, evaluation.fold_models.test_rows[place]
    entropy = int(evaluation.provenance.get("entropy", 0))
    generator = np.random.default_rng(stream(entropy, "importance", *place))
    if len(rows) > MOST_PERMUTED_ROWS:
        rows = np.sort(generator.choice(rows, MOST_PERMUTED_ROWS, replace=False))
    tests = task.truth.rows(rows)
    weight = None if task.sample_weight is None else task.sample_weight[rows]
    if not is_computable([metric], tests, weight):
        return None
    scoring = scoring_of({"": metric})
    shuffles = [generator.permutation(len(rows)) for _ in range(PERMUTATIONS)]
    copies = rows_at(task.X, np.tile(rows, PERMUTATIONS))
    places = np.concatenate([shuffle + n * len(rows) for n, shuffle in enumerate(shuffles)])
    found = [coded_responses(task.truth, scoring, model, rows_at(task.X, rows))]
    for column in range(task.X.shape[1]):
        answered = coded_responses(task.truth, scoring, model, _shuffled(copies, column, places))
        for n in range(PERMUTATIONS):
            part = slice(n * len(rows), (n + 1) * len(rows))
            found.append({response: array[part] for response, array in answered.items()})
    predictions: Mapping[Response, Array] = {
        response: np.stack([each[response] for each in found], axis=1) for response in found[0]
    }
    if not has_responses([metric], predictions):
        return None
    no_folds = np.zeros(len(rows), dtype=np.int32)
    scores = fold_scores({"": metric}, tests, predictions, no_folds, weight, scoring.times)[""][:, 0]
    worse: Floats = scores[0] - scores[1:].reshape(-1, PERMUTATIONS).mean(axis=1)
    return worse if np.isfinite(worse).all() else None


def _shuffled(X: Any, column: int, places: Indices) -> Any:
    """A copy with the values of one column in another order."""
    shuffled = X.copy()
    if hasattr(X, "isetitem"):
        shuffled.isetitem(column, X.iloc[places, column].array)
    else:
        shuffled[:, column] = X[places, column]
    return shuffled


MOST_COEFFICIENTS = 100


def coefficients_of(model: Any, fold_models: FoldModels | None, classes: tuple[str, ...]) -> Facts | None:
    """The coefficients of a fitted linear model; None for a model without coefficients.

    ``classes``: the labels of a classification in the order of the model's.
    """
    return _listed(model, fold_models, "coef_", classes)


def own_importances_of(model: Any, fold_models: FoldModels | None) -> Facts | None:
    """The ``feature_importances_`` of a fitted model: of scikit-learn's trees the mean decrease of the impurity.

    None for a model without any.
    """
    return _listed(model, fold_models, "feature_importances_")


def _listed(
    model: Any, fold_models: FoldModels | None, attribute: str, classes: tuple[str, ...] = ()
) -> Facts | None:
    known = _values(model, attribute)
    if known is None:
        return None
    names, values = known
    found = [_values(each, attribute) for each in fold_models.values()] if fold_models else []
    others = [each for each in found if each is not None]
    same = [other for other_names, other in others if other_names == names and other.shape == values.shape]
    spreads = np.std(same, axis=0) if len(same) > 1 else None
    entries = [
        Facts(name=name, of_class=of_class, value=value, spread=None if spreads is None else float(spreads[k, j]))
        for k, of_class in enumerate(_spoken_for(model, classes, len(values)))
        for j, (name, value) in enumerate(zip(names, values[k].tolist(), strict=True))
    ]
    entries.sort(key=lambda entry: -abs(entry.value))
    n_splits = len(same) if spreads is not None else 0
    return Facts(listed=tuple(entries[:MOST_COEFFICIENTS]), total=len(entries), splits=n_splits)


def _spoken_for(model: Any, classes: tuple[str, ...], rows: int) -> tuple[str, ...]:
    """The class, or the one of a pair, that positive coefficients of each row speak for; empty texts if unknown."""
    if len(classes) == 2 and rows == 1:
        return classes[1:]
    pairs = tuple(f"{one} against {other}" for one, other in combinations(classes, 2))
    if isinstance(_last_step(model), SVC | NuSVC) and rows == len(pairs):
        return pairs
    return classes if rows == len(classes) else ("",) * rows


def _last_step(model: Any) -> Any:
    steps = getattr(model, "steps", None)
    return steps[-1][1] if steps else model


def _values(model: Any, attribute: str) -> tuple[tuple[str, ...], Floats] | None:
    """The names of the columns that reach a model, and an attribute of it (outputs, columns)."""
    if not isinstance(model, BaseEstimator):
        return None
    if hasattr(model, "regressor_"):
        return _values(model.regressor_, attribute)
    last = _last_step(model)
    if last is not model and hasattr(last, "regressor_"):
        last = last.regressor_
    values = getattr(last, attribute, None)  # a property of a model that is not linear raises AttributeError
    if values is None:
        return None
    values = np.atleast_2d(values.toarray() if hasattr(values, "toarray") else np.asarray(values, dtype=float))
    if values.ndim != 2 or not np.isfinite(values).all():
        return None
    return _names_reaching(model, last, values.shape[1]), values


def _names_reaching(model: Any, last: Any, n: int) -> tuple[str, ...]:
    """The names of the columns after the steps before the last one; "column 0" and so on where they have none."""
    names: Any = getattr(last, "feature_names_in_", None)
    if names is None and len(getattr(model, "steps", ())) > 1:
        try:
            names = model[:-1].get_feature_names_out()
        except (AttributeError, ValueError, TypeError):
            names = None
    if names is None or len(names) != n:
        return tuple(f"column {place}" for place in range(n))
    return tuple(str(name) for name in names)
