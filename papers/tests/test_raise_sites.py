"""Every error and every sentence of heldout-papers names arguments that users can pass."""

from raise_sites import errors_without_their_argument, public_parameters, unknown_arguments

import heldout_papers
from heldout_papers import spaces


def test_named_arguments_are_parameters_of_public_callables_or_commands() -> None:
    public = public_parameters(heldout_papers, spaces)
    assert not unknown_arguments(heldout_papers, public)
    assert not errors_without_their_argument(heldout_papers, public)
