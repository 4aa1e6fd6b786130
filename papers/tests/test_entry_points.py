"""heldout finds what heldout-papers adds, under the names that both have promised."""

from importlib.metadata import entry_points, requires

import heldout as ho
import heldout_papers
from heldout import _defaults
from heldout.cli.group import STUDY
from heldout.spaces import PRESETS, published_name
from heldout_papers import spaces


def test_groups() -> None:
    assert requires("heldout-papers") == [f"heldout[app]=={ho.__version__}"]
    for group, name in (("heldout.commands", STUDY), ("heldout.studies", "papers"), ("heldout.spaces", "papers")):
        assert name in entry_points(group=group).names


def test_studies_and_spaces_have_all_public_names() -> None:
    assert dir(ho.studies) == sorted(heldout_papers.__all__)
    assert all(getattr(ho.studies, name) is getattr(heldout_papers, name) for name in heldout_papers.__all__)
    assert {*dir(ho.spaces)} == {*ho.spaces.__all__, *spaces.__all__}
    assert all(getattr(ho.spaces, name) is getattr(spaces, name) for name in spaces.__all__)


def test_no_name_is_one_of_ours() -> None:
    assert not {*spaces.__all__} & {*ho.spaces.__all__}
    assert not {*ho.spaces.PUBLISHED} & {*PRESETS} and {*ho.spaces.PUBLISHED} <= {*spaces.__all__}
    assert tuple(ho.spaces.PUBLISHED) == _defaults.PUBLISHED_PRESETS, (
        "a command knows their names without the package"
    )
    assert published_name("tsamardinos2018(n_trees=100)") == ("tsamardinos2018", {"n_trees": 100})
