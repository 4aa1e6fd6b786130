"""The engine on the Dask cluster of joblib's configuration.

Cells go to the client of the cluster, not through joblib's ``Parallel``, which would wait for ever for a task whose
workers were killed and could not name the task. The work is sent once, as one array that the cluster holds; workers
copy it from each other.
"""

from __future__ import annotations

import queue
import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from sklearn import get_config
from sklearn.utils.parallel import delayed

from heldout.errors import InputError
from heldout.execution.cells import CellKey, CellResult
from heldout.execution.executors import WorkersLostError
from heldout.execution.executors.payload import payload_array
from heldout.execution.executors.worker import Terms, abandon_round, do_sent_tasks
from heldout.execution.fit import Work

SECONDS_WITHOUT_WORKERS = 120.0
SECONDS_WITHOUT_SCHEDULER = 30.0

_SECONDS_A_TASK = 0.2
_TASKS_A_THREAD = 2
_LOOK_EVERY = 0.5
_LOST = ("cancelled", "lost")


class Cluster:
    """Cells run on the workers of a Dask cluster.

    The cluster repeats a task whose worker died, and gives it up after some deaths (its setting
    ``allowed-failures``). It counts every task on a dying worker, so a task that it gives up is only a suspect; if
    the task was alone, its cell is to blame and has cost as many workers as the cluster allowed.
    """

    def __init__(self, client: Any, fit_timeout: float | None = None) -> None:
        self.client = client
        self.terms = Terms(fit_timeout)
        self._sent: tuple[Work, str, Any] | None = None

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """See ``Executor.run``."""
        with _Round(self, work, cells) as round_:
            yield from round_.results()

    def payload_of(self, work: Work) -> tuple[str, Any]:
        """The token of the work, and the cluster's reference to it."""
        # Data that was lost with its workers must be sent again, although the work is the same.
        if self._sent is None or self._sent[0] is not work or self._sent[2].status in _LOST:
            if self.client.status != "running":
                raise self.gone("its scheduler has ended the connection")
            try:
                self.client.wait_for_workers(1, timeout=SECONDS_WITHOUT_WORKERS)
                # Without a hash, which would read all bytes once more; with broadcast, so that the death of one
                # worker loses nothing.
                packed = self.client.scatter(payload_array(work), broadcast=True, hash=False)
            except (TimeoutError, OSError) as error:
                raise self.gone(f"it does not take the data: {error or type(error).__name__}") from error
            self._sent = work, uuid4().hex, packed
        return self._sent[1], self._sent[2]

    def gone(self, why: str) -> InputError:
        """The error for a cluster that is lost."""
        return InputError(
            f"the Dask cluster at {self.client.scheduler.address if self.client.scheduler else 'its address'} is "
            f"lost ({why}); start it again and repeat this: results that a store has acknowledged are not "
            f"computed again."
        )

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *error: object) -> None:
        self._sent = None


class _Round:
    """The cells of one round: some wait, some are submitted in tasks of one or more."""

    def __init__(self, cluster: Cluster, work: Work, cells: Sequence[CellKey]) -> None:
        self._cluster = cluster
        self._client = cluster.client
        self._work = work
        self._name = uuid4().hex
        self._is_lone = len(cells) == 1
        self._n_threads = 0
        # The scheduler may not answer now; it is asked again while the round goes on.
        with suppress(OSError, TimeoutError):
            self._n_threads = sum(self._client.ncores().values())
        self._waiting = deque(
            work.tasks(cells, max(self._n_threads, 2) if cluster.terms.fit_timeout is None else 0)
        )
        # Cells of a task whose workers died: each by itself, to find which of them kills.
        self._alone: deque[tuple[CellKey, ...]] = deque()
        self._handed_out: dict[Any, tuple[CellKey, ...]] = {}
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._function = _carrying_settings(do_sent_tasks)
        self._looked, self._worked = -1.0, time.monotonic()
        self._answered = self._worked
        self._task_size = 1
        self._suspects: list[CellKey] = []
        self._reason, self._deaths = "", 1

    def results(self) -> Iterator[CellResult]:
        """Results as they come; raises at the end if cells are suspects."""
        while self._waiting or self._alone or self._handed_out:
            self._look()
            self._hand_out()
            finished = []
            for future in self._ended_futures():
                if future.status == "finished":
                    finished.append(future)
                else:
                    self._take_back(future)
            yield from self._gathered(finished)
        if self._suspects:
            raise WorkersLostError(self._suspects, self._reason, self._deaths)

    def _look(self) -> None:
        """Count the workers, now and then; raise if there were none for long."""
        now = time.monotonic()
        if self._looked >= 0 and now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        if self._client.status == "running":
            with suppress(OSError, TimeoutError):
                self._n_threads = sum(self._client.ncores().values())
                self._answered = now
        elif self._client.status in ("closing", "closed"):
            raise self._cluster.gone("its scheduler has ended the connection")
        # A scheduler that does not answer may still be "running" for its client.
        if now - self._answered > SECONDS_WITHOUT_SCHEDULER:
            raise self._cluster.gone("its scheduler does not answer")
        if self._n_threads:
            self._worked = now
        elif now - self._worked > SECONDS_WITHOUT_WORKERS:
            raise self._cluster.gone(f"it has had no worker for {SECONDS_WITHOUT_WORKERS:g} s")

    def _hand_out(self) -> None:
        """Submit tasks so that all threads are busy and a few tasks wait."""
        while (self._waiting or self._alone) and len(self._handed_out) < _TASKS_A_THREAD * max(self._n_threads, 1):
            size = 1
            if not self._alone:
                # Several short tasks in one message, but never so many that a thread has none.
                fair = len(self._waiting) // (_TASKS_A_THREAD * max(self._n_threads, 1))
                size = max(1, min(self._task_size, fair))
            tasks = [(self._alone or self._waiting).popleft() for _ in range(size)]
            token, packed = self._cluster.payload_of(self._work.to_send)
            terms, addition = self._cluster.terms, self._work.addition
            future = self._client.submit(
                self._function, token, packed, tasks, terms, self._name, addition, pure=False
            )
            self._handed_out[future] = tuple(cell for task in tasks for cell in task)
            future.add_done_callback(self._ended.put)

    def _ended_futures(self) -> list[Any]:
        ended = []
        with suppress(queue.Empty):
            ended.append(self._ended.get(timeout=_LOOK_EVERY))
            while True:
                ended.append(self._ended.get_nowait())
        # A future that was taken back meanwhile may still report its end.
        return [future for future in ended if future in self._handed_out]

    def _gathered(self, finished: list[Any]) -> Iterator[CellResult]:
        if not finished:
            return
        answers = self._client.gather(finished, errors="skip")
        if len(answers) < len(finished):  # some were lost with their worker before they were fetched
            answers = []
            # One by one, to learn which of them lost their data; the others keep their results.
            for future in finished:
                try:
                    answers.append(future.result())
                except Exception:
                    if future.status == "finished":
                        raise
                    self._take_back(future)
        for future in finished:
            self._handed_out.pop(future, None)
        results = [result for answer in answers for result in answer]
        if results:
            seconds = sum(result.fit_seconds + result.score_seconds for result in results) / len(results)
            # So many that a message takes about .2 s of work; at most twice as many as before, as one short task
            # proves little.
            self._task_size = int(min(max(_SECONDS_A_TASK / max(seconds, 1e-6), 1), 2 * self._task_size))
        yield from results

    def _take_back(self, future: Any) -> None:
        """A task failed as a whole: its workers died, its data are lost, or the user's code raised an error."""
        cells = self._handed_out.pop(future)
        if future.status in _LOST:
            if self._client.status != "running":
                raise self._cluster.gone("its scheduler has ended the connection")
            # All workers with the data died. With the data all tasks are lost, waiting ones too.
            self._suspect(cells, "all Dask workers that held the data died")
            return
        error = future.exception()
        if type(error).__name__ != "KilledWorker":
            raise error
        # Any cell of the task may be to blame.
        if len(cells) > 1:
            self._alone.extend((cell,) for cell in cells)
            return
        deaths = int(error.allowed_failures) + 1
        # Dask counts every task on a dying worker; only of a lone cell are all deaths its own.
        self._suspect(cells, f"{deaths} Dask workers died while doing it", deaths if self._is_lone else 1)

    def _suspect(self, cells: Sequence[CellKey], reason: str, deaths: int = 1) -> None:
        timeout = self._cluster.terms.fit_timeout
        perhaps = "" if timeout is None else f", perhaps of fit_timeout={timeout:g} s"
        self._suspects.extend(cells)
        self._reason, self._deaths = reason + perhaps, deaths

    def __enter__(self) -> _Round:
        return self

    def __exit__(self, *error: object) -> None:
        if self._handed_out and self._client.status == "running":
            futures, self._handed_out = list(self._handed_out), {}
            with suppress(Exception):  # the first error is the one to report
                self._client.cancel(futures)
                self._client.run(abandon_round, self._name, wait=False)


def _carrying_settings(function: Any) -> Any:
    """The function with scikit-learn's configuration and the warning filters, as its ``Parallel`` sends them."""
    wrapped, _, _ = delayed(function)()
    filters = getattr(warnings, "_get_filters", lambda: warnings.filters)()
    return wrapped.with_config_and_warning_filters(get_config(), list(filters))
