"""NumPy's scalars look like numbers wherever heldout shows a value."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.configurations import make_configurations
from heldout.errors import HeldoutWarning, installation, plain_values, repository_of
from heldout.execution.fit import error_line
from heldout.scales import plain

SCALARS = [
    np.float64(2.5), np.float32(0.25), np.int64(-3), np.uint8(7), np.complex128(1 + 2j), np.True_, np.False_,
    np.str_("a (b) 'c'"), np.bytes_(b"x"), np.float64("nan"), np.float64("-inf"),
]  # fmt: skip


@pytest.mark.parametrize("value", SCALARS, ids=repr)
def test_a_scalar_is_shown_as_the_value_of_python(value: np.generic) -> None:
    for shown in (value, [value], {"key": (value, 1)}):
        python = repr(shown).replace(repr(value), repr(value.item()).strip("()"))
        assert plain_values(repr(shown)) == python
        assert str(ho.InputError(f"got {shown!r}")) == f"got {python}"
        assert str(HeldoutWarning(f"got {shown!r}")) == f"got {python}"
        assert error_line(ValueError(f"got {shown!r}")) == f"ValueError: got {python}"
        assert plain([shown]) == f"[{python}]"


@pytest.mark.parametrize(
    ("text", "named", "argument"),
    [
        ("cv must be at least 2, got 1.", None, "cv"),
        ("`cv=1` has no test rows.", None, "cv"),
        ("`cv=1` has no test rows.", "folds", "folds"),
        ("probabilities must lie in [0, 1].", "", None),
        ("the target must be one column.", None, None),
        ("use `cv=5`.", None, None),
    ],
)
def test_an_error_is_on_the_argument_that_its_text_begins_with(
    text: str, named: str | None, argument: str | None
) -> None:
    assert ho.InputError(text, argument=named).argument == argument


def test_what_is_no_scalar_stays_as_it_is() -> None:
    for text in ("np.float64(2.0", "np.array([1.0])", "my_np.float64(1)", "numpy.float64(1)", "np.True_ish"):
        assert plain_values(text) == text


def test_names_of_configurations_hold_plain_values() -> None:
    grid = {"alpha": [np.float64(2.0)], "fit_intercept": [np.True_], "solver": [(np.str_("svd"), np.int64(1))]}
    (name,) = make_configurations(Ridge(), grid).names
    assert name == "Ridge (alpha=2, fit_intercept=True, solver=('svd', 1))"


def test_a_message_of_the_library_holds_plain_values() -> None:
    with pytest.raises(ho.InputError, match=r"got 2\.0; "):
        ho.estimate([0, 1] * 10, np.linspace(0, 1, 20)[:, None], metric="roc_auc", confidence_level=np.float64(2.0))


def test_a_name_without_an_end_is_shortened() -> None:
    shown = str(ho.InputError(f"column '{'9' * 5000}' is odd; see {'x' * 400}."))
    assert shown == f"column '{'9' * 199}… is odd; see {'x' * 400}."


def test_what_is_missing_is_installed_from_where_heldout_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A copy of the repository, in which the command works, or else an index."""
    origins = {tmp_path.as_uri(): tmp_path, "https://example.org/heldout.git": None, "file:///no/such/folder": None}
    (tmp_path / "pyproject.toml").touch()
    for address, folder in origins.items():
        text = json.dumps({"url": address, "dir_info": {"editable": True}})
        found = SimpleNamespace(read_text=lambda _, text=text: text)
        monkeypatch.setattr("importlib.metadata.distribution", lambda _, found=found: found)
        assert repository_of.__wrapped__() == folder
    assert (installation("app"), installation()) == ("pip install 'heldout[app]'", "pip install heldout-papers")
    monkeypatch.setattr("heldout.errors.repository_of", lambda: tmp_path)
    assert installation("app") == f"pip install '{tmp_path}[app]'"
    assert installation() == "pip install heldout-papers"  # as in a source distribution
    (tmp_path / "papers").mkdir()
    assert installation() == f"pip install {tmp_path / 'papers'}"
