"""heldout: tune as many models as you like, and report a performance you can believe."""

from heldout import metrics
from heldout._version import __version__
from heldout.estimates.from_predictions import estimate

__all__ = ["__version__", "estimate", "metrics"]
