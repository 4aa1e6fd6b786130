"""The store that survives its process: runs in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from heldout.errors import StoreError
from heldout.estimates.types import Estimate
from heldout.execution.store.base import RunIdentity
from heldout.execution.store.opening import claim, connect, explained, has_tables, read_as_written, set_owner, trust
from heldout.execution.store.runs import (
    Member,
    StoredRun,
    add_versions,
    already_there,
    changed_versions,
    differences,
    new_run,
    now,
    other_run,
    placed_members,
    stored_runs,
)
from heldout.execution.store.so_far import search_so_far
from heldout.execution.store.sqlite_run import SQLiteRun


@dataclass(frozen=True)
class SQLiteStore:
    """Runs in one SQLite file, each recognised by its fingerprints.

    Attributes
    ----------
    path : str or Path
        The file; made where there is none, in a folder that exists.
    accept_changed_code : bool
        Whether a run may be resumed after a change of a version or of the source of a class; the file records the
        change.
    one_run : bool
        Whether the file is for one run only, as on the command line: ``open`` then refuses to add another one, and
        says how they differ. Otherwise a file may hold many runs.
    terms : mapping of str to str
        The options of a new run, as the user wrote them; see ``RunIdentity``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> identity = RunIdentity(rows="r", folds="f", configurations="c", settings="{}", entropy=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = SQLiteStore(pathlib.Path(folder) / "run.db")
    ...     with store.open(identity, [("id of the first", "{}")], resume=True) as run:
    ...         run.acknowledged()
    ...     store.stored_entropy()
    frozenset()
    7
    """

    path: str | Path
    accept_changed_code: bool = False
    one_run: bool = False
    terms: Mapping[str, str] = field(default_factory=dict, compare=False)

    def stored_entropy(self) -> int | None:
        """The entropy of the latest run, or None if there is none.

        Raises
        ------
        StoreError
            When the file cannot be used.
        """
        path = Path(self.path)
        if not path.exists():
            return None
        with explained(path), closing(connect(path)) as connection, read_as_written(path):
            runs = stored_runs(connection) if has_tables(connection) else []
            return runs[-1].entropy if runs else None

    def open(self, identity: RunIdentity, configurations: Sequence[tuple[str, str]], *, resume: bool) -> SQLiteRun:
        """Start a run, or resume the one of the same identity.

        Parameters
        ----------
        identity : RunIdentity
        configurations : sequence of (id, canonical JSON)
            In order of position; a resumed run may have them in another order than before.
        resume : bool
            Whether an existing run of the same identity may be resumed. If there is none, a new one starts.

        Raises
        ------
        StoreError
            When the file holds this run and ``resume`` is False; when it holds another one and is for one run only;
            when other code started the run; when the file is damaged, of another program or schema, in use, or not
            writable.
        """
        path = Path(self.path)
        identity = replace(identity, terms={**self.terms, **identity.terms})
        with explained(path):
            connection = connect(path)
            try:
                claim(connection, path)
                with read_as_written(path):
                    number, stored = self._run(connection, path, identity, configurations, resume)
                members = placed_members(connection, number, stored, configurations)
                set_owner(connection, number)
                connection.execute(
                    "UPDATE run SET opened = ?, cells_then = (SELECT coalesce(sum(n_cells), 0) FROM block "
                    "WHERE run = run.number) WHERE number = ?",
                    (now("milliseconds"), number),
                )
                connection.execute("COMMIT")
                connection.execute("BEGIN IMMEDIATE")
                grows = identity.is_adaptive
                run = SQLiteRun(
                    connection, path, number, identity.entropy, stored if grows else members, grows=grows
                )
                trust(connection)
                run.checkpoint()  # from the start the file alone, without its log, identifies its run
                return run
            except BaseException:
                connection.close()
                raise

    def estimate_so_far(self, n_jobs: int | None = None) -> Estimate:
        """The estimate of the search in the file, of several the one that was opened last, finished or not.

        Of an unfinished search it rests on the folds that are complete for all remaining configurations (flag
        ``unfinished_search``). The file is not changed, and a process that writes it is not disturbed.

        Raises
        ------
        StoreError
            When no fold is complete yet, or the file holds no search with an estimate of its own.
        """
        return search_so_far(Path(self.path)).estimate(n_jobs)

    def _run(
        self,
        connection: sqlite3.Connection,
        path: Path,
        identity: RunIdentity,
        configurations: Sequence[tuple[str, str]],
        resume: bool,
    ) -> tuple[int, Sequence[Member]]:
        """Key of the run to write to, in the file already or new, and the configurations that it has there."""
        ids = frozenset(key for key, _ in configurations)
        # Latest first: of equally close runs a message names the latest.
        unlike = [(run, differences(run, identity, ids)) for run in reversed(stored_runs(connection))]
        if not unlike:
            return new_run(connection, identity), ()
        closest, found = min(unlike, key=lambda one: len(one[1]))
        if found and not self.one_run:
            return new_run(connection, identity), ()
        if not resume:
            raise StoreError(already_there(path, closest.n_cells))
        if found:
            raise StoreError(other_run(path, closest, identity, found))
        self._check_versions(connection, path, closest, identity)
        return closest.number, closest.members

    def _check_versions(
        self, connection: sqlite3.Connection, path: Path, stored: StoredRun, identity: RunIdentity
    ) -> None:
        there, here = stored.versions[-1], dict(identity.versions)
        if there == here:
            return
        if not self.accept_changed_code:
            raise StoreError(changed_versions(path, there, here))
        add_versions(connection, stored, here)
