"""A headless Chromium, for the tests of pages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next((found for name in BROWSERS if (found := shutil.which(name))), None)
MARKS = [
    pytest.mark.processes,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason=f"no browser found: none of {', '.join(BROWSERS)} is on the PATH"),
]
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def chromium(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What the browser prints; its profile is in the folder."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
