"""The spaces of articles as presets: the same as their functions, for the targets that they are for."""

import re

import numpy as np
import pytest

import heldout as ho
from heldout.configurations import make_configurations
from heldout.data.task import TaskKind
from heldout.spaces import PRESETS, published_space

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.arange(60) % 2


@pytest.mark.parametrize(
    ("text", "made", "number"),
    [
        ("tsamardinos2018", lambda: ho.spaces.tsamardinos2018(X, Y), 610),
        ("tsamardinos2018(n_trees=7)", lambda: ho.spaces.tsamardinos2018(X, Y, n_trees=7), 610),
        ("wainer_cawley2021(small=True)", lambda: ho.spaces.wainer_cawley2021(X, Y, small=True), None),
    ],
)
def test_a_name_gives_what_its_function_gives(text, made, number) -> None:
    found, expected = published_space(text, X, Y, TaskKind.BINARY), made()
    assert [(name, repr(model), grid) for name, model, grid in found] == [
        (name, repr(model), grid) for name, model, grid in expected
    ]
    assert number is None or len(make_configurations(found)) == number


def test_a_preset_of_the_library_is_none() -> None:
    assert all(published_space(name, X, Y, TaskKind.BINARY) is None for name in PRESETS)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("tsamardinos2018", TaskKind.MULTICLASS, "is for binary classification, and the target is multiclass; use"),
        (
            "wainer_cawley2021",
            TaskKind.REGRESSION,
            "is for binary classification or multiclass classification, and",
        ),
        (
            "wainer_cawley2021(large=True)",
            TaskKind.BINARY,
            "'wainer_cawley2021' has no parameter 'large'; it has small.",
        ),
        (
            "wainer_cawley2021(small=3)",
            TaskKind.BINARY,
            "preset 'wainer_cawley2021(small=3)': small must be True or",
        ),
        ("tsamardinos2018(n_trees=0)", TaskKind.BINARY, "n_trees must be an integer of at least 1, got 0."),
        (
            "wainer2021",
            TaskKind.BINARY,
            "preset must be one of quick, standard, boosted, tsamardinos2018, wainer_caw",
        ),
    ],
)
def test_what_it_is_not_for_is_refused(text, kind, said) -> None:
    with pytest.raises(ho.InputError, match=re.escape(said)) as error:
        published_space(text, X, Y, kind)
    assert error.value.argument == "preset"


def test_advice_takes_the_name_too() -> None:
    named = ho.advise(X, Y, "wainer_cawley2021(small=True)", seconds=0)
    listed = ho.advise(X, Y, ho.spaces.wainer_cawley2021(X, Y, small=True), seconds=0)
    assert [cost.most for cost in named.costs] == [cost.most for cost in listed.costs]
