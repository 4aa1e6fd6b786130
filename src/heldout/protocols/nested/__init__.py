"""Nested cross-validation: the whole search, cross-validated."""
