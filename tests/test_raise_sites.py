"""Every error and every sentence names arguments that users can pass."""

from __future__ import annotations

import re

from raise_sites import errors_without_their_argument, public_parameters, unknown_arguments

import heldout as ho
from heldout.flags import Flag


def test_named_arguments_are_parameters_of_public_callables_or_commands() -> None:
    in_flags = [name for flag in Flag for name in re.findall(r"{argument:(\w+)=", flag.sentence)]
    assert in_flags and not [name for name in in_flags if name not in public_parameters()]
    assert not unknown_arguments(ho, public_parameters())


def test_a_sentence_on_an_argument_knows_it() -> None:
    assert not errors_without_their_argument(ho, public_parameters())
