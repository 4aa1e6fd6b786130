"""Every error and every sentence names arguments that users can pass."""

from raise_sites import errors_without_their_argument, public_parameters, unknown_arguments

import heldout as ho


def test_named_arguments_are_parameters_of_public_callables_or_commands() -> None:
    assert not unknown_arguments(ho, public_parameters())


def test_a_sentence_on_an_argument_knows_it() -> None:
    assert not errors_without_their_argument(ho, public_parameters())
