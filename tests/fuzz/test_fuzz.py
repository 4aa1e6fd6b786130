"""Bad input of every kind is refused with a sentence, and good input is answered rightly.

Each case is drawn by its kind and number alone; a failure says how to repeat it.
"""

import pytest
from repeat import KINDS, tally

ALWAYS = {"exports": 60, "tables": 60, "options": 30, "calls": 200, "run_files": 20, "documents": 25}
SLOW = {
    "exports": 2000, "tables": 2000, "options": 2000, "calls": 4000, "run_files": 1000, "documents": 1000,
}  # fmt: skip
PARTS = 10


def all_right(kind: str, numbers: range) -> None:
    found = tally(kind, numbers)
    assert not found.faults, "\n\n".join([str(found), *found.faults[:5]])
    assert 0 < found.n_refused < found.n_cases, f"{found}: the cases have become one-sided"


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_hundred_cases(kind: str) -> None:
    all_right(kind, range(ALWAYS[kind]))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_cases(kind: str, part: int) -> None:
    size = SLOW[kind] // PARTS
    all_right(kind, range(1000 + part * size, 1000 + (part + 1) * size))


def test_a_case_is_the_same_whenever_it_is_drawn() -> None:
    from repeat import tried

    for kind in KINDS:
        assert tried(kind, 3) == tried(kind, 3)
