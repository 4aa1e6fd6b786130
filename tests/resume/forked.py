"""Programs to be killed, forked from one process that has imported heldout: each starts at once."""

import multiprocessing
import os
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

PRELOADED = [
    "heldout.cli.tune",
    "heldout.cli.validate",
    "heldout.search",
    "matplotlib.figure",
    "pandas",
    "skops.io",
]
if os.name == "posix":  # every test imports this module
    _CONTEXT = multiprocessing.get_context("forkserver")
    _CONTEXT.set_forkserver_preload(PRELOADED)


class Forked:
    """``python -c SCRIPT ARGUMENTS``, with the methods of ``subprocess.Popen`` that tests call.

    Its stdout is a pipe, its stderr a file that is read at the end. It leads a process group of its own.
    """

    def __init__(self, script, *arguments):
        folder = tempfile.TemporaryDirectory(prefix="heldout-forked-")
        self._folder, self._errors = folder, Path(folder.name, "stderr")
        pipe = Path(folder.name, "stdout")
        os.mkfifo(pipe)
        texts = [str(argument) for argument in arguments]
        self._process = _CONTEXT.Process(target=_run, args=(script, texts, str(pipe), str(self._errors)))
        self._process.start()
        self.pid = self._process.pid
        self.stdout = pipe.open()

    def poll(self):
        return self._process.exitcode

    @property
    def returncode(self):
        return self._process.exitcode

    def wait(self, timeout=60):
        self._process.join(timeout)
        if self._process.exitcode is None:
            self.kill()
            raise TimeoutError(f"process {self.pid} did not end in {timeout} s")
        return self._process.exitcode

    def communicate(self, timeout=60):
        out = self.stdout.read()
        self.wait(timeout)
        errors = self._errors.read_text()
        self.close()
        return out, errors

    def send_signal(self, number):
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def close(self):
        self.stdout.close()
        self._folder.cleanup()


def _run(script, arguments, stdout, stderr):
    os.setsid()
    for path, descriptor in ((stdout, 1), (stderr, 2)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, descriptor)
        os.close(file)
    sys.argv = ["-c", *arguments]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    exec(compile(script, "<forked>", "exec"), {"__name__": "__main__"})
