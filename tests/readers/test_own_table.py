"""Heldout's own table of predictions and the question in it: what is written reads back, damage is refused."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GroupKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import heldout as ho
from heldout.data.task import Task, checked_weights, truth_of
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates import BBC
from heldout.metrics import metric_named
from heldout.metrics.base import Response, times_of
from heldout.predictions import HeldOutPredictions
from heldout.readers.formats.own import REMEDY, ColumnRoles, SearchSettings, own_roles, table_of_predictions
from heldout.readers.formats.recognition import FORMATS
from heldout.readers.formats.tool import Export
from heldout.readers.long_table import ColumnUses
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.tables import Table, read_table
from heldout.selection import OneStandardError, Within

N, C = 12, 3


def read_back(table: Table) -> PredictionTable:
    """The predictions of a table as of a file with its columns and metadata."""
    export = Export("t")
    vars(export)["table"] = table
    return FORMATS["heldout"].read(export, ColumnUses())


def task_and_predictions(metric: str, repeats: int) -> tuple[Task, HeldOutPredictions]:
    rng = np.random.default_rng(1)
    folds = np.stack([rng.permutation(N) % 4 for _ in range(repeats)], axis=1).astype(np.int32)
    if metric == "r2":
        truth, held = truth_of(rng.normal(size=N)), {Response.VALUES: rng.normal(size=(N, C, repeats))}
    elif metric == "roc_auc":
        truth = truth_of(["no", "yes"] * 6)
        held = {Response.DECISION: rng.normal(size=(N, C, repeats))}
    elif metric == "concordance_index":
        truth = truth_of((np.arange(N) % 3 > 0, np.arange(N) + 0.5), "survival")
        held = {Response.RISK: rng.normal(size=(N, C, repeats))}
    elif metric.startswith(("integrated", "brier_score_at")):
        truth = truth_of((np.arange(N) % 3 > 0, np.arange(N) + 0.5), "survival")
        n_times = len(times_of(metric_named(metric)))
        held = {Response.SURVIVAL: rng.uniform(size=(N, C, repeats, n_times))}
    elif metric == "accuracy":
        truth = truth_of([1, 2, 3] * 4)
        held = {Response.LABELS: rng.integers(0, 3, size=(N, C, repeats)).astype(np.int32)}
        held[Response.LABELS][0, 0, 0] = -1
    else:
        truth = truth_of(["a", "b", "c"] * 4)
        held = {Response.PROBABILITIES: rng.dirichlet([1, 1, 1], size=(N, C, repeats))}
    predictions = HeldOutPredictions(
        held,
        ("same", "same", "other"),
        folds,
        truth.classes,
        truth.positive,
        {2: "it raised"},
        training_rows=9.0,
        training_range=(8, 10),
        adaptive=repeats > 1,
    )
    groups, weights = np.repeat(np.arange(6), 2), checked_weights(rng.random(N), N)
    return Task(np.zeros((N, 1)), truth, groups, weights), predictions


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("metric", [
    "r2", "roc_auc", "accuracy", "log_loss", "concordance_index", "integrated_brier_score(times=[2, 5])",
    "brier_score_at(time=5)",
])  # fmt: skip
def test_what_is_written_reads_back_the_same(metric: str, repeats: int) -> None:
    task, predictions = task_and_predictions(metric, repeats)
    measured = metric_named(metric)

    frame, roles = table_of_predictions(task, predictions, measured, "outcome")
    back = read_back(Table("t", frame, metadata=json.dumps(roles).encode()))

    held = back.predictions
    np.testing.assert_array_equal(held.for_metric(measured), predictions.for_metric(measured))
    np.testing.assert_array_equal(held.folds, predictions.folds)
    assert held.training_range == (8, 10)
    np.testing.assert_array_equal(back.truth, task.truth.labels())
    assert metric_named(roles["metric"]) == measured and held.times == times_of(measured)
    np.testing.assert_array_equal(back.groups, task.groups)
    np.testing.assert_array_equal(back.sample_weight, task.sample_weight)
    for name in ("names", "positive", "failed", "exchangeable", "training_rows", "adaptive"):
        assert getattr(held, name) == getattr(predictions, name)


def test_repeats_may_have_equal_folds_as_those_of_few_groups_have() -> None:
    task, predictions = task_and_predictions("roc_auc", 3)
    predictions = replace(predictions, folds=np.tile(np.arange(N)[:, None] // 4, (1, 3)).astype(np.int32))
    frame, roles = table_of_predictions(task, predictions, metric_named("roc_auc"), "y")
    found = read_back(Table("t", frame, metadata=json.dumps(roles).encode()))
    assert np.array_equal(found.predictions.folds, predictions.folds)


def test_columns_have_distinct_names_for_any_name_of_the_target() -> None:
    task, predictions = task_and_predictions("roc_auc", 1)

    frame, roles = table_of_predictions(task, predictions, metric_named("roc_auc"), "fold")

    assert frame.columns.is_unique
    assert roles["target"] == "fold (target)"
    assert [heads[0] for heads in roles["columns"]] == ["same", "same #2", "other"]


def test_a_table_without_groups_and_weights_has_no_columns_of_them() -> None:
    task, predictions = task_and_predictions("roc_auc", 1)

    frame, roles = table_of_predictions(
        replace(task, groups=None, sample_weight=None), predictions, metric_named("roc_auc"), "y"
    )

    assert list(frame.columns)[:4] == ["row", "repeat", "fold", "y"]
    assert read_back(Table("t", frame, metadata=json.dumps(roles).encode())).groups is None


def _long(metric: str, repeats: int = 3) -> tuple[pd.DataFrame, dict[str, Any]]:
    task, predictions = task_and_predictions(metric, repeats)
    frame, roles = table_of_predictions(task, predictions, metric_named(metric), "outcome")
    return frame, roles


@pytest.mark.parametrize("metric", ["r2", "accuracy", "log_loss", "integrated_brier_score(times=[2, 5])"])
@pytest.mark.parametrize("order", ["sorted", "shuffled", "reversed"])
def test_the_order_of_the_lines_means_nothing(metric: str, order: str) -> None:
    frame, roles = _long(metric)
    changed = {
        "sorted": frame.sort_values(["row", "repeat"]),
        "shuffled": frame.sample(frac=1, random_state=0),
        "reversed": frame[::-1],
    }[order].reset_index(drop=True)

    expected = read_back(Table("t", frame, metadata=json.dumps(roles).encode()))
    found = read_back(Table("t", changed, metadata=json.dumps(roles).encode()))

    measured = metric_named(metric)
    for part in ("truth", "groups", "sample_weight"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
    np.testing.assert_array_equal(found.predictions.folds, expected.predictions.folds)
    array, known = (each.predictions.for_metric(measured) for each in (found, expected))
    np.testing.assert_array_equal(array, known)
    assert array.strides == known.strides


def _changed(line: int, column: str, value: object) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.copy()
        frame[column] = frame[column].astype(object)
        frame.loc[line, column] = value
        frame[column] = frame[column].infer_objects()
        return frame

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame.drop(index=20), "row 8 of repeat 1 is in no line.*; the file was cut"),
        (lambda frame: frame[:30], r"row 6 of repeat 2 is in no line \(one of 6 that are missing\)"),
        (lambda frame: frame[frame["repeat"] < 2], "t has 2 repeats, and 3 in its metadata 'heldout'; the file"),
        (lambda frame: frame[frame["row"] < 11], "t has 11 rows, and 12 in its metadata 'heldout'; the file"),
        (lambda frame: pd.concat([frame, frame[3:4]]), "row 3 of repeat 0 is in two lines, 4 and 37; the file"),
        (_changed(15, "row", 4), "row 4 of repeat 1 is in two lines, 16 and 17"),
        (_changed(15, "row", 12), "row 3 of repeat 1 is in no line"),
        (_changed(15, "row", -1), "row -1 of repeat 0 is in no line"),
        (_changed(15, "row", 2**63 + 5), "row 3.* of repeat 1 is in no line"),
        (_changed(15, "row", None), "column 'row' .the rows. has 1 missing value in 36 rows"),
        (_changed(15, "row", "x"), "row 3 of repeat 1 is in no line"),
        (_changed(15, "repeat", 0.5), "row 0 of repeat 0.5 is in no line"),
        (_changed(15, "outcome", "a"), r"row 3 has two values of the target .*: b in line 4 and a in line 16"),
        (_changed(15, "outcome", None), r"column 'outcome' \(the target\) has 1 missing value in 36 rows"),
        (_changed(15, "group", 9), r"row 3 has two values of the groups \(column 'group'\)"),
        (_changed(15, "weight", 9.0), r"row 3 has two values of the weights \(column 'weight'\)"),
        (_changed(15, "fold", 0.5), "column 'fold' must number the folds from -1, got 0.5"),
        (_changed(15, "fold", 99), "column 'fold' must number the folds from -1, got 99"),
        (_changed(15, "same", "x"), "the predictions column 'same' must hold numbers, got 'x'"),
        (lambda frame: frame.drop(columns="row"), "t has no column 'row', which its metadata"),
        (lambda frame: frame.drop(columns="outcome"), "t has no column 'outcome', which its metadata"),
        (lambda frame: frame.drop(columns="other"), "t has no column 'other', which its metadata 'heldout' names"),
    ],
)  # fmt: skip
def test_lines_and_columns_that_do_not_fit_are_refused(
    change: Callable[[pd.DataFrame], pd.DataFrame], said: str
) -> None:
    task, predictions = task_and_predictions("roc_auc", 3)
    truth = truth_of(["a", "b"] * 6)
    held = replace(predictions, classes=truth.classes)
    frame, roles = table_of_predictions(replace(task, truth=truth), held, metric_named("roc_auc"), "outcome")

    with pytest.raises(InputError, match=said):
        read_back(Table("t", change(frame).reset_index(drop=True), metadata=json.dumps(roles).encode()))


def test_labels_that_only_begin_like_a_class_are_refused() -> None:
    frame, roles = _long("accuracy")
    frame = frame.astype({"outcome": object, "same": object})
    labels = roles | {"classes": ["1", "2", "3"]}
    for name in ("outcome", "same", "same #2", "other"):
        frame[name] = frame[name].map(lambda value: None if pd.isna(value) else str(int(value)))
    frame.loc[5, "same"] = "22"

    with pytest.raises(InputError, match="column 'same' holds 22 in row 6, which is none of the classes"):
        read_back(Table("t", frame, metadata=json.dumps(labels).encode()))


def test_columns_differ_for_any_names_of_configurations_and_classes() -> None:
    rng = np.random.default_rng(0)
    truth = truth_of(["x", "y = x", "z"] * 4)
    share = rng.dirichlet([1, 1, 1], size=(N, 3, 1))
    held = HeldOutPredictions({Response.PROBABILITIES: share}, ("m", "m = y", "m"), None, truth.classes)

    frame, roles = table_of_predictions(Task(np.zeros((N, 1)), truth), held, metric_named("log_loss"), "t")
    back = read_back(Table("t", frame, metadata=json.dumps(roles).encode()))

    np.testing.assert_array_equal(back.predictions.for_metric(metric_named("log_loss")), share)


GOOD: dict[str, Any] = {
    "target": "y", "event": None, "kind": "binary", "metric": "accuracy", "response": "labels",
    "classes": ["a", "b"], "positive": 1, "times": [], "names": ["m", "n"], "columns": [["m"], ["n"]],
    "failed": {"1": "it raised"},
    "dropped": {}, "exchangeable": True, "training_rows": 9.5, "training_range": [9, 10], "grouped": False,
    "adaptive": True, "test_share": None,
    "rows": 2, "repeats": 1, "settings": {"aggregate": "pooled", "entropy": 3},
}  # fmt: skip


def roles_of(content: Any) -> ColumnRoles | None:
    return own_roles(Table("p", None, metadata=json.dumps(content).encode()))


def test_what_heldout_writes_is_read() -> None:
    roles = roles_of(GOOD)

    assert roles.failed == {1: "it raised"} and roles.columns == (("m",), ("n",)) and roles.classes == ("a", "b")
    assert roles.settings == SearchSettings("pooled", 3) and roles.training_range == (9, 10)


def test_files_of_earlier_versions_lack_entries() -> None:
    later = ("rows", "repeats", "grouped", "test_share", "adaptive")
    earlier = roles_of({name: value for name, value in GOOD.items() if name not in later})

    assert earlier.rows is None and not earlier.adaptive
    assert roles_of(GOOD).adaptive
    assert own_roles(Table("p", None)) is None


NO_JSON = {
    "list": b"[]",
    "null": b"null", "brace": b"{", "nothing": b"", "no UTF-8": b"\xff\xfe{}", "deep": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000, "digits": b'{"rows": ' + b"9" * 5000 + b"}", "empty": b"{}", "text": b'"x"',
    "number": b"1", "no UTF-8 inside": b'{"target": "\xe9"}', "surrogate": b'{"target": "\\ud800"}',
}  # fmt: skip


@pytest.mark.parametrize("written", NO_JSON.values(), ids=NO_JSON.keys())
def test_metadata_that_is_no_object_is_refused(tmp_path: Path, written: bytes) -> None:
    path = tmp_path / "p.parquet"
    table = pa.table({"y": [0.1, 0.2, 0.3], "m": [0.1, 0.2, 0.3]})
    pq.write_table(table.replace_schema_metadata({b"heldout": written}), path)

    with pytest.raises(InputError, match="metadata 'heldout'") as whole:
        ho.read_predictions(path)
    assert str(whole.value).endswith(f"{REMEDY}.") and "\n" not in str(whole.value)
    assert read_table(path).frame.shape == (3, 2)  # to predict from, a table needs none


STRANGERS: tuple[Any, ...] = (
    None, True, -1, 0, 7, 2**70, 1.5, float("nan"), float("inf"), "", "x", [], [None], [[]], ["m"], [["m"]],
    [["m"], "n"], [["m"], ["m"]], [["m", "n"], ["k", "l"]], [1, 0], [1, 1], [2**80, 1], {}, {"x": "y"}, {"1": 1},
    {"9": "y"}, {"\u0663": "y"}, {"aggregate": 1}, {"entropy": -1}, {"n_bootstraps": 0}, {"confidence_level": 95},
    ["a", 1], [True, False], [[1], [2]],
)  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_every_entry_is_what_it_may_be_or_refused(name: str) -> None:
    for stranger in STRANGERS:
        found = copy.deepcopy(GOOD) | {name: stranger}
        try:
            roles_of(found)
        except InputError as refused:
            assert str(refused).startswith("p: "), (name, stranger)
            assert str(refused).endswith(f"{REMEDY}."), (name, stranger)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"target": 3}, "metadata 'heldout' does not say what the columns are .target must be text, got 3"),
        (
            {"kind": "ranking"},
            "kind must be one of binary, multiclass, regression, survival, other, got 'ranking'",
        ),
        ({"response": "values"}, "'response' of .* does not fit the other entries, got 'values'"),
        ({"classes": ["a"]}, "'classes' .* got .'a'."),
        ({"classes": ["a", "b", "c"]}, "'classes' .* got .'a', 'b', 'c'."),
        ({"classes": ["a", "a"]}, "'classes' .* got .'a', 'a'."),
        ({"classes": None}, "'classes' .* got .."),
        ({"positive": 2}, "'positive' .* got 2"),
        ({"positive": None}, "'positive' .* got None"),
        ({"positive": True}, "positive must be a whole number, got true"),
        ({"columns": [["m"]]}, "'columns' .* got ..'m'.."),
        ({"columns": [["m"], ["n", "k"]]}, "'columns' .* got ..'m'., .'n', 'k'.."),
        ({"columns": [["m"], ["m"]]}, "'columns' .* got ..'m'., .'m'.."),
        ({"columns": [["m"], ["y"]]}, "'columns' .* got ..'m'., .'y'.."),
        ({"failed": {"2": "x"}}, "'failed' .* got .2."),
        ({"event": "seen"}, "'event' .* got 'seen'"),
        ({"exchangeable": "no"}, "exchangeable must be true or false, got 'no'"),
        ({"adaptive": 1}, "adaptive must be true or false, got 1"),
        ({"training_range": [9]}, "training_range must hold 2 values, got 1"),
        (
            {"settings": {"n_bootstraps": 1e3}},
            "settings.n_bootstraps must be a whole number, got 1000.0",
        ),
        ({"training_range": [10, 9]}, "'training_range' .* got .10, 9."),
        ({"settings": {"winner": 99}}, "'winner' of its metadata 'heldout' does not fit .* got 99"),
        ({"settings": []}, "settings must be a record, got a list"),
    ],
)
def test_the_sentence_names_the_entry_and_its_value(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        roles_of(GOOD | changed)


ROWS = 80
RNG = np.random.default_rng(11)
X = RNG.normal(size=(ROWS, 3))
SIGNAL = X[:, 0] + RNG.normal(size=ROWS)
TEXT = np.where(SIGNAL > 0.2, "ill", "well")
KNN = {"n_neighbors": [1, 5, 15, 30]}


def search_of(y: Any = TEXT, model: Any = None, grid: Any = None, fit: Any = None, **settings: Any) -> Any:
    model = model or (KNeighborsRegressor() if y is SIGNAL else KNeighborsClassifier())
    settings = {"n_bootstraps": 30, "random_state": 5, **settings}
    return ho.HeldOutSearchCV(model, grid or KNN, **settings).fit(X, y, **(fit or {}))


@cache
def plain() -> Any:
    return search_of()


def written(search: Any, path: Path, change: Any = lambda table: table, **settings: Any) -> Path:
    """The file of a search, its lines moved; ``settings`` are changed in its metadata."""
    evaluation = search.evaluation_
    metric = evaluation.metrics[evaluation.refit_metric]
    frame, roles = table_of_predictions(evaluation.task, search.predictions_, metric, "outcome")
    roles["settings"] |= settings
    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({b"heldout": json.dumps(roles).encode()})
    pq.write_table(change(table), path)
    return path


SEARCHES: dict[str, dict[str, Any]] = {
    "plain": {},
    "regression": {"y": SIGNAL, "scoring": "r2", "aggregate": "folds"},
    "pooled, two repeats": {"scoring": "roc_auc", "aggregate": "pooled", "repeats": 2},
    "pairs of a fold": {"scoring": "roc_auc", "aggregate": "within", "method": "bbc"},
    "one standard error": {"selection": "one_standard_error", "method": BBC(interval="calibrated")},
    "a tolerance": {"selection": Within(0.05), "alternative": "greater", "confidence_level": 0.9},
    "dropping": {"drop": "bootstrap"},
    "blocks": {"block_length": "stationary:4"},
    "groups": {"cv": GroupKFold(4), "fit": {"groups": np.arange(ROWS) // 2}},
}


@pytest.mark.parametrize("settings", SEARCHES.values(), ids=SEARCHES)
def test_a_sorted_and_renamed_file_needs_no_keyword(settings: dict[str, Any], tmp_path: Path) -> None:
    search = search_of(**settings)
    renamed = written(search, tmp_path / "p.parquet", lambda table: table.sort_by([("row", "descending")]))
    table = ho.read_predictions(str(renamed.rename(tmp_path / "anything.parquet")))
    assert ho.estimate(table).to_dict() == search.estimate_.to_dict()
    assert ho.compare_configurations(table).winner == search.estimate_.selected_name
    compared = ho.compare_estimates(table, methods=[search.predictions_.question.method])
    assert compared[compared.main].value == search.estimate_.value
    with pytest.warns(HeldoutWarning, match=r"has `random_state=5`. With `random_state=6`"):
        ho.estimate(table, random_state=6)


def test_weights_of_a_file_are_those_of_the_search(tmp_path: Path) -> None:
    with config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = make_scorer(fbeta_score, beta=1, pos_label="well").set_score_request(sample_weight=True)
        fit = {"sample_weight": 1.0 + np.arange(ROWS) % 3}
        search = search_of(model=model, grid={"C": [0.01, 1]}, scoring=scorer, fit=fit)
    table = ho.read_predictions(str(written(search, tmp_path / "p.parquet")))
    assert ho.estimate(table).to_dict() == search.estimate_.to_dict()


def test_a_rule_that_a_file_cannot_hold_is_named(tmp_path: Path) -> None:
    several = {"scoring": ["accuracy", "roc_auc"], "refit": "accuracy", "selection": "average_rank"}
    for settings in (several, {"selection": OneStandardError("n_neighbors")}, {"refit": lambda results: 3}):
        table = ho.read_predictions(str(written(search_of(**settings), tmp_path / "p.parquet")))
        with pytest.warns(HeldoutWarning, match="of which the file has no more than the name"):
            assert ho.estimate(table).provenance["selection"] == "best"


WRONG: list[dict[str, Any]] = [
    {"method": "x"}, {"method": "bbc(x=1)"}, {"selection": "top_k"}, {"selection": "within(tolerance=-1)"},
    {"aggregate": "x"}, {"alternative": "x"}, {"block_length": "x"}, {"winner": 4}, {"flags": ["x"]},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_changed_question_is_read_or_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    path = written(plain(), tmp_path / "p.parquet", **wrong)
    with pytest.raises(InputError, match=f"{next(iter(wrong))}.*heldout"):
        ho.read_predictions(str(path))


def test_the_flags_of_a_search_are_in_its_file(tmp_path: Path) -> None:
    search = search_of(stop_when_width=0.9, repeats=3)
    table = ho.read_predictions(str(written(search, tmp_path / "p.parquet", flags={"of another version": "x"})))
    assert ho.Flag.STOPPED_EARLY in search.estimate_.flags
    assert ho.Flag.STOPPED_EARLY not in ho.estimate(table).flags
    table = ho.read_predictions(str(written(search, tmp_path / "p.parquet")))
    assert ho.estimate(table).to_dict() == search.estimate_.to_dict()
