"""``--engine``: joblib fits there meanwhile, and where nobody is, it is said in a sentence."""

import re
import socket
import sys

import pytest
from joblib.parallel import get_active_backend

from heldout.cli import runs
from heldout.errors import InputError, MissingExtraError

pytestmark = pytest.mark.processes

pytest.importorskip("click")


def test_threads_are_joblibs() -> None:
    with runs.fitting_with("threads", 2):
        assert type(get_active_backend()[0]).__name__ == "ThreadingBackend"
    assert type(get_active_backend()[0]).__name__ == "LokyBackend"


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"heldout\[dask\]"), runs.fitting_with("tcp://127.0.0.1:1", 2):
        pass


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(runs, "_SECONDS_TO_CONNECT", 0.5)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with (
            pytest.raises(InputError, match=rf"--engine {re.escape(address)}: no Dask scheduler answers"),
            runs.fitting_with(address, 2),
        ):
            pass
