"""What heldout-papers adds is found by entry points, and without it one sentence says how to install it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.data.task import TaskKind
from heldout.errors import MissingPapersError
from heldout.spaces.presets import PublishedSpace, published_space

Command = Callable[..., Any]
NEEDS = "needs heldout-papers: pip install heldout-papers"
X, Y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2


@pytest.mark.usefixtures("entries")
def test_without_it_studies_and_spaces_say_how_to_install_it() -> None:
    for module, name in ((ho.studies, "bias"), (ho.spaces, "SES")):
        with pytest.raises(MissingPapersError, match=f"^{module.__name__}.{name} {NEEDS}$"):
            getattr(module, name)
        assert not hasattr(module, "pytest_plugins")  # which pytest asks for
    with pytest.raises(ImportError, match=NEEDS):
        from heldout.studies import bias  # noqa: F401
    assert dir(ho.studies) == [] and dir(ho.spaces) == sorted(ho.spaces.__all__)


@pytest.mark.usefixtures("entries")
def test_without_it_all_public_names_are_there() -> None:
    names: dict[str, Any] = {}
    exec("from heldout import *\nfrom heldout.spaces import *", names)
    assert names.keys() > {*ho.__all__, *ho.spaces.__all__} - {"__version__"}


@pytest.mark.usefixtures("entries")
def test_without_it_the_command_says_so(command: Command) -> None:
    ended = command("study", "bias")
    assert (ended.code, ended.err) == (2, f"Error: heldout study {NEEDS}\n")
    assert "\n  study " not in command("--help").out
    assert (
        command("stady")
        .err.splitlines()[-1]
        .startswith("Error: there is no command 'stady'; the commands are tune")
    )


@pytest.mark.parametrize("preset", ["tsamardinos2018", "tsamardinos2018(n_trees=3)", "nothing"])
@pytest.mark.usefixtures("entries")
def test_without_it_a_preset_may_need_it(command: Command, preset: str) -> None:
    presets = "quick, standard, boosted or, after pip install heldout-papers, the space of an article"
    ended = command("tune", "nowhere.csv", "--target", "y", "--preset", preset)
    assert (ended.code, ended.err) == (2, f"Error: --preset must be one of {presets}, got {preset!r}.\n")
    with pytest.raises(ho.InputError) as error:
        ho.advise(X, Y, preset)
    assert f"a preset ({presets}), got {preset!r}." in str(error.value)


@pytest.mark.usefixtures("entries")
def test_without_it_an_advice_simulates_no_worst_case() -> None:
    found = ho.advise(X, Y, (KNeighborsClassifier(), {"n_neighbors": [1, 3]}), seconds=0, random_state=0)
    assert found.worst_case is None and found.recommendation.method == "shrinkage"
    said = "Biases at worst were not simulated: their study needs heldout-papers (pip install heldout-papers)."
    assert said in found.warnings


def test_what_is_installed_is_found(entries: dict[str, dict[str, Any]], command: Command) -> None:
    @click.command(short_help="Repeat an experiment.")
    def study() -> None:
        click.echo("repeated")

    space = SimpleNamespace(
        PUBLISHED={"tsamardinos2018": PublishedSpace((TaskKind.BINARY,), ("depth",))},
        tsamardinos2018=lambda X, y, depth=1: [("tree", depth, {})],
        hidden=1,
    )
    entries["heldout.commands"] = {"study": study}
    entries["heldout.spaces"] = {"papers": space}
    assert command("study").out == "repeated\n"
    assert "\n  study     Repeat an experiment.\n" in command("--help").out
    assert ho.spaces.tsamardinos2018 is space.tsamardinos2018 and "tsamardinos2018" in dir(ho.spaces)
    assert not hasattr(ho.spaces, "hidden")
    assert published_space("tsamardinos2018(depth=3)", X, Y, TaskKind.BINARY) == [("tree", 3, {})]
    with pytest.raises(ho.InputError, match=", boosted, tsamardinos2018, wainer_cawley2021, got 'tsamardinos'"):
        published_space("tsamardinos", X, Y, TaskKind.BINARY)
