"""What a search needs of a store: recognise its run, acknowledge cells, give them back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from heldout.execution.cells import CellKey, CellResult
from heldout.folds.splits import Place

if TYPE_CHECKING:
    from heldout.dropping.base import Barrier


@dataclass(frozen=True)
class RunIdentity:
    """What makes two runs the same run.

    Attributes
    ----------
    rows, folds, configurations : str
        Fingerprints (sha256) of the task, the splits and the ids of the configurations.
    settings : str
        Canonical JSON of what else decides the cells: scorers, responses, error_score.
    entropy : int
        64 bits that seed everything.
    versions : mapping of str to str
        heldout, scikit-learn, NumPy, Python.
    terms : mapping of str to str
        The parts in words ("rows": "150"), and options as the user wrote them ("--preset": "quick"). They decide
        nothing; a refusal says by them what differs.
    """

    rows: str
    folds: str
    configurations: str
    settings: str
    entropy: int
    versions: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, str] = field(default_factory=dict, compare=False)


class Run(Protocol):
    """An open run of a store, as a context manager that commits and closes."""

    @property
    def entropy(self) -> int:
        """The entropy that the run was started with."""

    def acknowledged(self) -> frozenset[CellKey]:
        """Cells that need no work any more."""

    def results(self, repeats: Collection[int] | None = None) -> Iterator[CellResult]:
        """What came of them; of some repeats only, where these are named."""

    def record(self, result: CellResult) -> None:
        """Keep a result; it is acknowledged by the next ``commit`` (or at once)."""

    def commit(self) -> None:
        """Acknowledge everything that was recorded."""

    def note_plan(
        self,
        n_configurations: int,
        n_splits: int,
        n_cells: int,
        metric: str,
        *,
        title: str = "",
        n_rows: int | None = None,
        names: Sequence[str] = (),
    ) -> None:
        """Say what the run is going to do, for those who inspect it; forgets the barriers noted before.

        Parameters
        ----------
        n_configurations, n_splits, n_cells : int
            ``n_cells`` is the fits, were nobody ever to leave.
        metric : str
            The scorer that decides; greater = better.
        title : str
            What people call it, where its name does not tell.
        n_rows : int, optional
            Of the data.
        names : sequence of str
            Of the configurations, for people; none where they have none.
        """

    def note_barrier(self, race: Sequence[Place], barrier: Barrier) -> None:
        """Say what happened at a barrier, for those who inspect the run; kept by the next ``commit``.

        Nothing of it is read by a resumed run, which decides again from its cells, by whatever rule it has then.

        Parameters
        ----------
        race : sequence of (repeat, fold)
            The splits of the race in the order in which they are met; no other race has them.
        barrier : Barrier
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Store(Protocol):
    """Where runs are kept."""

    def stored_entropy(self, rows: str | None = None, configurations: str | None = None) -> int | None:
        """The entropy of the run that would be resumed, or None where there is none.

        Parameters
        ----------
        rows, configurations : str, optional
            Fingerprints that tell which one of several runs; the folds depend on the entropy, these do not.
        """

    def open(self, identity: RunIdentity, configurations: Sequence[tuple[str, str]], *, resume: bool) -> Run:
        """Start a run, or resume the one of the same identity.

        Parameters
        ----------
        identity : RunIdentity
        configurations : sequence of (id, canonical JSON)
            In order of position, the ids distinct.
        resume : bool
            Whether a run of this identity that is there already may be gone on with; with none, one is started.

        Raises
        ------
        StoreError
            When the file is of other data, another schema, damaged, locked, or not writable.
        """
