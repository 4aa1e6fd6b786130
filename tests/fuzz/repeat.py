"""Try cases by kind and number: ``python tests/fuzz/repeat.py calls 17``, or ``calls 0 10000`` for many.

A case that is not answered rightly is printed with its input. The last line counts them.
"""

import os
import shutil
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType

import bad_calls
import bad_documents
import bad_exports
import bad_options
import bad_run_files
import bad_tables
from oracle import Verdict, generator, judged, light

KINDS: dict[str, ModuleType] = {
    "tables": bad_tables,
    "options": bad_options,
    "calls": bad_calls,
    "run_files": bad_run_files,
    "documents": bad_documents,
    "exports": bad_exports,
}


@dataclass(frozen=True)
class Tally:
    """What came of many cases."""

    n_cases: int
    n_refused: int
    faults: tuple[str, ...]

    def __str__(self) -> str:
        answered = self.n_cases - self.n_refused - len(self.faults)
        return f"{self.n_cases} cases: {self.n_refused} refused, {answered} answered, {len(self.faults)} faults"


def tried(kind: str, number: int) -> tuple[str, Verdict]:
    """A case's words and what came of it, in a folder that is gone afterwards."""
    folder = Path(mkdtemp(prefix="fuzz-"))
    try:
        with light():
            case = KINDS[kind].make(generator(kind, number), folder)
            return case.words, judged(case, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def tally(kind: str, numbers: Iterable[int]) -> Tally:
    """Try many."""
    n_cases, n_refused, faults = 0, 0, []
    for number in numbers:
        words, verdict = tried(kind, number)
        n_cases += 1
        n_refused += verdict.refused and not verdict.fault
        if verdict.fault:
            faults.append(
                f"repeat: python tests/fuzz/repeat.py {kind} {number}\n"
                f"input: {words[:600]}\nfault: {verdict.fault[-1500:]}"
            )
    return Tally(n_cases, n_refused, tuple(faults))


def main(kind: str, first: str, last: str | None = None) -> int:
    """Print what came of cases, and how long the slowest took."""
    if last is None:
        words, verdict = tried(kind, int(first))
        print(f"{words}\n{verdict}")
        return bool(verdict.fault)
    n_refused, n_faults, slowest = 0, 0, (0.0, 0)
    for number in range(int(first), int(last)):
        began = time.perf_counter()
        found = tally(kind, [number])
        slowest = max(slowest, (time.perf_counter() - began, number))
        n_refused, n_faults = n_refused + found.n_refused, n_faults + len(found.faults)
        print(*found.faults, sep="\n", end="\n\n" if found.faults else "", flush=True)
    n = int(last) - int(first)
    print(f"{kind}: {Tally(n, n_refused, ('',) * n_faults)}; the slowest, {slowest[1]}, took {slowest[0]:.1f} s")
    return bool(n_faults)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main(*sys.argv[1:]))
