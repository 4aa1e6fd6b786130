"""Bootstraps of what was held out, as all methods share them: of rows, and of folds."""
