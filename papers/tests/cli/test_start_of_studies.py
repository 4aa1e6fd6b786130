"""Help and a refused option of a study answer at once; studies are functions."""

import subprocess
import sys

from light_process import ends_of

from heldout_papers.cli import STUDIES


def test_help() -> None:
    (code, text), *helps = ends_of(
        ["--help"], ["study", "--help"], *(["study", name, "--help"] for name in STUDIES)
    )
    assert code == 0 and "Repeat an experiment of the literature" in text
    assert {code for code, _ in helps} == {0} and all("Usage: " in text for _, text in helps)
    assert all(name in helps[0][1] for name in STUDIES)


def test_refused_options() -> None:
    ends = ends_of(["study", "nothing"], *(["study", name, "--nothing"] for name in STUDIES))
    assert {code for code, _ in ends} == {2}


def test_studies_are_functions_whichever_part_is_imported_first() -> None:
    script = (
        "import heldout_papers.bias.study, heldout_papers.search, heldout as ho\n"
        "from heldout_papers import timing\n"
        "print(*map(callable, (ho.studies.bias, ho.studies.search, timing)), ho.studies.BiasStudy.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["True", "True", "True", "BiasStudy"]
