"""The metadata of heldout's own Parquet file: whatever it says is checked, and refused in one sentence."""

import copy
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import heldout as ho
from heldout.errors import InputError
from heldout.readers.formats.own import REMEDY, ColumnRoles, SearchSettings, own_roles
from heldout.readers.tables import Table, read_table

GOOD: dict[str, Any] = {
    "target": "y", "event": None, "kind": "binary", "metric": "accuracy", "response": "labels",
    "classes": ["a", "b"], "positive": 1, "times": [], "names": ["m", "n"], "columns": [["m"], ["n"]],
    "failed": {"1": "it raised"},
    "dropped": {}, "exchangeable": True, "training_rows": 9.5, "training_range": [9, 10], "grouped": False,
    "adaptive": True, "test_share": None,
    "rows": 2, "repeats": 1, "settings": {"aggregate": "pooled", "entropy": 3},
}  # fmt: skip


def roles_of(content: Any) -> ColumnRoles:
    roles = own_roles(Table("p", None, metadata=json.dumps(content).encode()))
    assert roles is not None
    return roles


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
