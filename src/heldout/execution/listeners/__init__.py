"""Watching a run: listeners that count, show and pass on its events, and change nothing."""
