"""The suite draws no entropy of the system's, so that a test that passes always does."""

from heldout._streams import entropy_of


def test_entropy_that_is_drawn_is_that_of_the_test() -> None:
    drawn = [entropy_of(None), entropy_of(None)]

    assert drawn == [1453353369643554760, 11191655501201435278]
