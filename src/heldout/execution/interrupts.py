"""Requests to end, as Ctrl-C is one: the first raises, and those that follow in its wake are ignored.

People press Ctrl-C twice, and schedulers send a second signal. Raised while the first is being followed, it would
cut off what ends the workers and closes the run file; and it would end the programs by which joblib finds its
workers' children, whereupon joblib waits for ever. Those inherit that it is ignored. After some seconds requests
are heeded again, should the first have been lost in code that catches everything.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

SECONDS_TO_END = 5.0
"""How long a second request to end is not heeded."""


class Stop:
    """Takes some signals as requests to end; in the main thread, which alone may set handlers.

    Parameters
    ----------
    numbers : sequence of int

    Attributes
    ----------
    is_asked : bool
        Whether a request came.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self._before = {number: signal.getsignal(number) for number in numbers}
        self.is_asked = False

    def heed(self, *_: object) -> None:
        """Raise at the next request."""
        for number in self._before:
            signal.signal(number, self._raise)

    def ignore(self) -> None:
        """Do nothing at the next requests."""
        self._forget_the_alarm()
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)

    def restore(self) -> None:
        """Leave it as it was."""
        self._forget_the_alarm()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _raise(self, *_: object) -> None:
        self.is_asked = True
        # Without an alarm (Windows) nothing could make it heed them again.
        if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, self.heed):
            self.ignore()
            signal.signal(signal.SIGALRM, self.heed)
            signal.setitimer(signal.ITIMER_REAL, SECONDS_TO_END)
        raise KeyboardInterrupt

    def _forget_the_alarm(self) -> None:
        if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) == self.heed:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextmanager
def one_ctrl_c_at_a_time() -> Iterator[None]:
    """Let a Ctrl-C be followed undisturbed; where Python's own handler takes it, and in the main thread."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is not signal.default_int_handler:
        yield
        return
    stop = Stop([signal.SIGINT])
    stop.heed()
    try:
        yield
    finally:
        stop.restore()
