"""Folds: plans of training and test rows, and the splits that they make."""
