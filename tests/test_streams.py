import numpy as np
import pytest

from heldout._streams import entropy_of, numpy_seed, stream
from heldout.errors import InputError


def test_an_integer_is_its_own_entropy():
    assert entropy_of(7) == 7
    assert entropy_of(np.uint64(2**64 - 1)) == 2**64 - 1


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_gives_one_draw_that_its_seed_decides(make):
    assert entropy_of(make(3)) == entropy_of(make(3))
    generator = make(3)
    assert entropy_of(generator) != entropy_of(generator)


def test_none_draws_from_the_system():
    assert entropy_of(None) != entropy_of(None)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "0", True])
def test_other_seeds_are_refused(seed):
    with pytest.raises(InputError, match="random_state must be"):
        entropy_of(seed)


def test_streams_differ_by_entropy_domain_and_part_and_by_nothing_else():
    seeds = {stream(e, d, *p) for e in (0, 1) for d in ("draws", "folds") for p in ((), (1,), (1, 2), (12,))}
    assert len(seeds) == 16
    assert stream(0, "draws") == stream(0, "draws") < 2**64
    assert 0 <= numpy_seed(5, "cells", "abc", 0, 1) < 2**32
