"""Flags and their sentences."""

from collections.abc import Mapping

import pytest

import heldout as ho
from heldout.data.declared import from_json


def test_documents_with_names_of_flags_are_read() -> None:
    read = from_json(Mapping[ho.Flag, str], '{"adaptive_search": "a", "undefined": "b"}')
    assert read == {ho.Flag.ADAPTIVE_SEARCH: "a", ho.Flag.UNDEFINED: "b"}
    with pytest.raises(ValueError, match=r"must be one of uncorrected, .*, got 'dynamic'"):
        from_json(ho.Flag, '"dynamic"')


def test_every_flag_has_one_name_and_its_sentence() -> None:
    for flag in ho.Flag:
        assert flag.sentence.endswith((".", "}")), flag
