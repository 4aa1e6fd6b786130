"""What the tests of heldout share, and a fixture for tests of pages: pictures take most of their time."""

import pytest

pytest_plugins = ["suite"]


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages hold empty pictures."""
    monkeypatch.setattr("heldout_papers.engine.pictures.embedded", lambda *_, **__: "<svg></svg>")
