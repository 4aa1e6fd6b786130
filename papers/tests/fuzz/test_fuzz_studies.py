"""Wrong options of studies are refused with a sentence. ``tests/fuzz`` has the rest."""

import bad_studies
import pytest
import repeat


@pytest.mark.parametrize("numbers", [range(10), pytest.param(range(1000, 1500), marks=pytest.mark.slow)], ids=str)
def test_options_are_refused(numbers: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(repeat.KINDS, "studies", bad_studies)
    found = repeat.tally("studies", numbers)
    assert not found.faults, "\n\n".join([str(found), *found.faults[:5]])
    assert found.n_refused == len(numbers)
