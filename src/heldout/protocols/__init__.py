"""Protocols: procedures that need fits of their own, beyond those of one search."""
