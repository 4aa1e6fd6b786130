"""Run a search: the scheduler decides what is next, and the loop does it."""
