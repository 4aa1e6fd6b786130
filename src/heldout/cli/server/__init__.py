"""Pages on the loopback address, for ``heldout open``: what serves them, and the pages of a run and of a file."""
