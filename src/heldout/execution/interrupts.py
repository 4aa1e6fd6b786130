"""Signals that request the end, such as Ctrl-C: the first one raises, and the next ones are ignored for a while.

People press Ctrl-C twice, and schedulers send a second signal. A second one, while the first is handled, would stop
the code that ends the workers and closes the run file. It would also end the programs with which joblib finds the
children of its workers, and joblib would then wait for ever; these programs inherit that it is ignored. After some
seconds the signal raises again, in case the first one was lost in code that catches everything.
"""

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

SECONDS_TO_END = 5.0
"""How long a second signal is ignored."""


class Stop:
    """Treats some signals as requests to end; for the main thread, which alone may set handlers.

    ``is_requested``: whether a signal came.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self._before = {number: signal.getsignal(number) for number in numbers}
        self.is_requested = False

    def listen(self, *_: object) -> None:
        """Raise at the next signal."""
        for number in self._before:
            signal.signal(number, self._raise)

    def ignore(self) -> None:
        """Ignore the next signals."""
        self._forget_the_alarm()
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)

    def restore(self) -> None:
        """Restore the handlers from before."""
        self._forget_the_alarm()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _raise(self, *_: object) -> None:
        self.is_requested = True
        # Without an alarm (Windows) nothing could end the ignoring.
        if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, self.listen):
            self.ignore()
            signal.signal(signal.SIGALRM, self.listen)
            signal.setitimer(signal.ITIMER_REAL, SECONDS_TO_END)
        raise KeyboardInterrupt

    def _forget_the_alarm(self) -> None:
        if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) == self.listen:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextmanager
def one_ctrl_c_at_a_time() -> Iterator[None]:
    """Let nothing disturb the handling of a Ctrl-C; in the main thread, with Python's own handler."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is not signal.default_int_handler:
        yield
        return
    stop = Stop([signal.SIGINT])
    stop.listen()
    try:
        yield
    finally:
        stop.restore()
