"""``ho.split_items``: halves of the items, with groups whole."""

import numpy as np
import pytest

import heldout as ho
from heldout.errors import InputError


def test_halves_are_equal_disjoint_and_of_all_items() -> None:
    propose, select = ho.split_items(11, random_state=0)
    assert {len(propose), len(select)} == {5, 6}
    assert sorted([*propose, *select]) == list(range(11))


def test_groups_stay_whole_and_halves_are_as_equal_as_they_allow() -> None:
    groups = np.repeat([f"document {i}" for i in range(10)], [30, 20, 10, 8, 8, 6, 6, 4, 4, 4])
    propose, select = ho.split_items(100, groups, random_state=1)
    assert not set(groups[propose]) & set(groups[select])
    assert abs(len(propose) - len(select)) <= 4


def test_a_seed_gives_the_same_halves_and_another_gives_others() -> None:
    first, again, other = (ho.split_items(40, random_state=seed)[0].tolist() for seed in (0, 0, 1))
    assert first == again != other


@pytest.mark.parametrize(
    ("n", "groups", "argument"), [(1, None, "n"), (4, ["a"] * 4, "groups"), (4, ["a", "b"], "groups")]
)
def test_what_has_no_halves_is_refused(n: int, groups: object, argument: str) -> None:
    with pytest.raises(InputError) as error:
        ho.split_items(n, groups)
    assert error.value.argument == argument
