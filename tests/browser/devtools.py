"""A headless Chromium that tests steer through its own pipe (the DevTools protocol), without a driver beside it."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next((found for name in BROWSERS if (found := shutil.which(name))), None)
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
)  # fmt: skip
SECONDS = 180.0
"""The longest that anything may take."""


class Browser:
    """One page of a browser; ``messages`` is what it wrote to its console.

    ``folder`` is for its profile.
    """

    def __init__(self, folder: Path, *, width: int = 1200, height: int = 1000) -> None:
        assert CHROMIUM is not None
        to_browser, from_browser = os.pipe(), os.pipe()
        # It reads from 3 and writes to 4: the ends must not be there already.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser[0], from_browser[1])]
        nowhere = os.open(os.devnull, os.O_RDWR)
        self._pid = os.posix_spawn(
            CHROMIUM,
            [CHROMIUM, *FLAGS, f"--user-data-dir={folder}", f"--window-size={width},{height}", "about:blank"],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, nowhere, 1),
                (os.POSIX_SPAWN_DUP2, nowhere, 2),
                (os.POSIX_SPAWN_DUP2, ends[0], 3),
                (os.POSIX_SPAWN_DUP2, ends[1], 4),
            ],
            setpgroup=0,
        )
        for each in (*ends, nowhere, to_browser[0], from_browser[1]):
            os.close(each)
        self._into, self._out = to_browser[1], from_browser[0]
        self._read, self._number, self._session = b"", 0, ""
        self.messages: list[str] = []
        targets = self._until(lambda: self.call("Target.getTargets")["targetInfos"], lambda found: bool(found))
        page = next(each["targetId"] for each in targets if each["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """The result of a command of the protocol."""
        self._send(method, **parameters)
        deadline = time.monotonic() + SECONDS
        while True:
            got = self._next(deadline)
            if got.get("id") == self._number:
                assert "error" not in got, f"{method}: {got['error']}"
                return got["result"]
            self._note(got)

    def _send(self, method: str, **parameters: Any) -> None:
        """A command whose result may never come, as it can replace the page."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._into, json.dumps(message).encode() + b"\0")

    def go(self, address: str) -> None:
        """Open a page, and wait until all of it is there."""
        self.call("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def js(self, expression: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression holds, also while the page is replaced by another one."""

        def value() -> Any:
            with suppress(AssertionError):
                return self.js(expression)

        self._until(value, bool)

    def choose(self, selector: str, path: Path) -> None:
        """Choose a file in an input."""
        self.call("DOM.setFileInputFiles", files=[str(path)], objectId=self._object(selector))

    def drop(self, selector: str, path: Path) -> None:
        """Drop a file on an element, as a file manager does."""
        self.wait_for(
            "performance.getEntriesByName('first-contentful-paint').length > 0"
        )  # there is something to hit
        box = self.js(f"(e => [e.x + 20, e.y + 20])(document.querySelector({selector!r}).getBoundingClientRect())")
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver"):
            self.call("Input.dispatchDragEvent", type=kind, x=box[0], y=box[1], data=data)
        self._send("Input.dispatchDragEvent", type="drop", x=box[0], y=box[1], data=data)

    def press(self, key: str, code: int) -> None:
        """Press a key, such as Tab (9) or Enter (13)."""
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def picture(self, path: Path) -> None:
        """Write a picture of what the window shows."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self) -> None:
        """End the browser and all of its processes."""
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._into)
        os.close(self._out)

    def _object(self, selector: str) -> str:
        found = self.call("Runtime.evaluate", expression=f"document.querySelector({selector!r})")
        return str(found["result"]["objectId"])

    def _until(self, read: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
        deadline = time.monotonic() + SECONDS
        while not holds(found := read()):
            assert time.monotonic() < deadline, f"still {found!r} after {SECONDS:g} s"
            time.sleep(0.02)
        return found

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._read:
            left = deadline - time.monotonic()
            assert left > 0 and select.select([self._out], [], [], left)[0], "the browser does not answer"
            block = os.read(self._out, 2**16)
            assert block, "the browser has ended"
            self._read += block
        message, _, self._read = self._read.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                self.messages.append(" ".join(str(each.get("value")) for each in event["params"]["args"]))
            case "Runtime.exceptionThrown":
                self.messages.append(str(event["params"]["exceptionDetails"]))
            case "Log.entryAdded":
                self.messages.append(str(event["params"]["entry"]["text"]))
