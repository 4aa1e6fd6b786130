"""A fixture for tests of pages: drawing pictures takes most of their time."""

from __future__ import annotations

import pytest


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages hold empty pictures."""
    monkeypatch.setattr("heldout_papers.engine.pictures.inline_svg", lambda *chart: "<svg></svg>")
