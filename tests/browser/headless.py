"""A headless Chromium, for the tests of pages."""

import os
import shutil
import signal
import subprocess
from contextlib import suppress
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
    """What the browser prints; its profiles are in the folder.

    A browser that hangs is ended with its helpers, and started anew. What it prints goes to files: a pipe would
    stay open as long as any helper lives.
    """
    assert CHROMIUM is not None
    for attempt in range(3):
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / f'profile {attempt}'}", *arguments]
        printed = [folder / f"{stream} {attempt}" for stream in ("stdout", "stderr")]
        with printed[0].open("wb") as out, printed[1].open("wb") as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True)
            try:
                code = process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                continue
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        told, said = (path.read_text(encoding="utf-8", errors="replace") for path in printed)
        assert code == 0, said
        return subprocess.CompletedProcess(command, code, told, said)
    raise AssertionError(f"the browser hung three times with {arguments}")
