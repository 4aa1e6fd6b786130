"""Worker processes end when the process that they work for is killed, which cannot tell them any more.

A worker of joblib waits up to five minutes for more work. It does not see that its parent has gone, because workers
hold both ends of the pipes that join them. The system gives an orphan another parent; that is what is looked for.
(The signal that Linux sends on a parent's death also comes when only the thread that started the worker ends.)
"""

from __future__ import annotations

import os
import threading
import time
from functools import lru_cache

SECONDS_BETWEEN_LOOKS = 1.0


def end_with(parent: int) -> None:
    """From now on, end this process soon after its parent; nothing where that is no parent of this process.

    Parameters
    ----------
    parent : int
        The number of the process that handed out the work. On Windows a parent's death does not show.
    """
    if os.name == "posix" and parent == os.getppid():
        _watch(os.getpid(), parent)


@lru_cache(maxsize=1)
def _watch(process: int, parent: int) -> threading.Thread:
    """One thread a process, which a process that is forked off does not inherit."""
    watch = threading.Thread(target=_end_as_orphan, args=(parent,), name="heldout-orphan", daemon=True)
    watch.start()
    return watch


def _end_as_orphan(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)
