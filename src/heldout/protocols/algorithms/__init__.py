"""Selecting an algorithm: the flat, the corrected and the nested score of each, on the same folds."""
