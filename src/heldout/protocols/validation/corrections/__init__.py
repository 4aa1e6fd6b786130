"""Corrections of an apparent score: each is one file, and reads nothing but the replicates."""
