"""``report.json`` with one value changed: it is read as it is, or said to be damaged, in one sentence."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from races import race
from results_by_hand import evaluation_by_hand, model_validated

from heldout.cli.report import page_of, read_content
from heldout.errors import InputError
from heldout.report import facts
from heldout.report.entries import facts_of_json

VALUES = (None, "x", [], {"a": 1})
MORE = (True, 1.5, -1, 10**400, 1e999, {}, [[1]], "\ud800")
PLAUSIBLE = (2**62, -1e308)


@pytest.fixture(scope="module")
def documents() -> dict[str, Any]:
    """Contents that between them hold every part of a report."""
    results = {
        "classes": race(),
        "numbers": evaluation_by_hand("regression", ("r2",)),
        "validation": model_validated(),
    }
    return {name: facts(made).to_dict() for name, made in results.items()}


def shortened(value: Any) -> Any:
    """With three items of each list: curves have many points, which all are read alike."""
    if isinstance(value, dict):
        return {name: shortened(item) for name, item in value.items()}
    return [shortened(item) for item in value[:3]] if isinstance(value, list) else value


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands, leaves and what holds them; of a list the first."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for name, item in inside:
        yield from places(item, (*path, name))


@contextmanager
def changed(document: Any, path: tuple[Any, ...], value: Any) -> Iterator[Any]:
    """The document with one value changed, for a while."""
    if not path:
        yield value
        return
    at = document
    for name in path[:-1]:
        at = at[name]
    before, at[path[-1]] = at[path[-1]], value
    try:
        yield document
    finally:
        at[path[-1]] = before


def check_sentence(error: InputError) -> None:
    assert "is damaged or of another version of heldout (" in str(error)
    assert "\n" not in str(error) and len(str(error)) < 600


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["one value", "all"])
def test_a_value_of_another_type_is_found(every: bool, documents: dict[str, Any]) -> None:
    n_refused, seen = 0, set[tuple[Any, ...]]()
    for whole in map(shortened, documents.values()):
        for number, place in enumerate(places(whole)):
            of_schema = (whole["kind"] == "validation", place)
            if of_schema in seen and not every:  # most places of a search are in both of its documents
                continue
            seen.add(of_schema)
            for value in (*VALUES, *MORE) if every else VALUES[number % len(VALUES) :][:1]:
                with changed(whole, place, value) as document:
                    try:
                        assert facts_of_json(json.dumps(document)).to_dict() == document, (place, value)
                    except ValueError as error:
                        assert str(error).isprintable() and len(str(error)) < 300
                        n_refused += 1
    assert n_refused > 200


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers", "validation"])
def test_values_of_the_right_type_are_drawn_or_refused(
    kind: str, documents: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    for place in places(documents[kind]):
        for value in PLAUSIBLE:
            with changed(documents[kind], place, value) as document:
                path.write_text(json.dumps(document))
            try:
                assert "</html>" in page_of(path, read_content(path))
            except InputError as error:
                check_sentence(error)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "it is nested too deep"),
        ('{"title": ' * 50_000, "it is nested too deep"),
        ("[]", "[] is not of type 'object'"),
        ("null", "None is not of type 'object'"),
        ("{", "Expecting property name"),
        ('{"title": 1' + "0" * 5000 + "}", "Exceeds the limit"),
        ("\xff", "can't decode"),
        ("", "Expecting value"),
    ],
)
def test_what_is_no_content_is_damaged(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match="is damaged or of another version") as caught:
        read_content(path)
    check_sentence(caught.value)
    assert why in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "report.json")
    with pytest.raises(InputError, match=r"is damaged or of another version of heldout \(it is a pipe\)"):
        read_content(tmp_path / "report.json")


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (
            ("headline", "metric", "decimals"),
            10**9,
            "headline.metric.decimals 1000000000 is greater than the maximum of 20",
        ),
        (("headline", "value"), "x", "headline.value 'x' is not of type 'number', 'null'"),
        (("facts",), {"Rows": 1}, "facts.Rows 1 is not of type 'string'"),
        (("distribution", "edges"), [], "index out of range"),
    ],
)
def test_the_command_says_what_is_wrong_and_where(
    place: tuple[Any, ...],
    value: Any,
    said: str,
    documents: dict[str, Any],
    command: Callable[..., Any],
    tmp_path: Path,
) -> None:
    with changed(documents["classes"], place, value) as document:
        (tmp_path / "report.json").write_text(json.dumps(document))
    ended = command("report", tmp_path)
    assert ended.code == 2 and said in ended.err
    assert not (tmp_path / "report.html").exists()


def test_a_table_with_a_row_too_many_is_refused(documents: dict[str, Any], tmp_path: Path) -> None:
    """A template that looks for what is not there, where all types are right."""
    document = json.loads(json.dumps(documents["classes"]))
    document["diagnostics"]["confusion"]["counts"] *= 2
    with pytest.raises(InputError, match="is damaged or of another version of heldout"):
        page_of(tmp_path / "report.json", facts_of_json(json.dumps(document)))
