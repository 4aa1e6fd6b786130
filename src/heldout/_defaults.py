"""Decisions that signatures, options and texts share; without imports, so that a command's help is quick."""

DEFAULT_METHOD = "shrinkage"
"""The method of estimation where held-out predictions are known and a user names none."""
