"""Paired questions: configurations compared with each other on the same matrix of held-out predictions."""
