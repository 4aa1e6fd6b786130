"""Flags: their sentences, and names of earlier versions."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import numpy as np
import pytest

import heldout as ho
from heldout.data.declared import from_json


def test_a_saved_estimate_with_the_old_name_of_a_flag_is_still_read() -> None:
    rng = np.random.default_rng(0)
    found = ho.estimate(rng.integers(0, 2, 40), rng.random((40, 3)), metric="roc_auc", method="cv", adaptive=True)
    written = pickle.dumps(found, protocol=0)  # texts are written as they are
    assert written.count(b"adaptive_search") == 1
    old = pickle.loads(written.replace(b"adaptive_search", b"dynamic_search"))
    assert dict(old.flags) == dict(found.flags)
    assert "adaptive_search" in old.flags


def test_documents_with_the_old_name_of_a_flag_are_still_read() -> None:
    assert ho.Flag("dynamic_search") is ho.Flag.ADAPTIVE_SEARCH is ho.Flag.DYNAMIC_SEARCH
    read = from_json(Mapping[ho.Flag, str], '{"dynamic_search": "a", "undefined": "b"}')
    assert read == {ho.Flag.ADAPTIVE_SEARCH: "a", ho.Flag.UNDEFINED: "b"}
    with pytest.raises(ValueError, match=r"must be one of uncorrected, .*, got 'dynamic'"):
        from_json(ho.Flag, '"dynamic"')
    with pytest.raises(ValueError, match="'dynamic' is not a valid Flag"):
        ho.Flag("dynamic")


def test_every_flag_has_one_name_and_its_sentence() -> None:
    assert "dynamic_search" not in list(ho.Flag)
    for flag in ho.Flag:
        assert flag.sentence.endswith((".", "}")), flag
