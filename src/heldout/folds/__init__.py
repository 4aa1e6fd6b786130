"""Folds: plans of which rows train and which are held out, and the splits that they make."""
