"""What is shared with the tests of heldout-papers."""

from __future__ import annotations

pytest_plugins = ["suite"]
