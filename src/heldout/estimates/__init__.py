"""Estimates: methods that need only the held-out matrix or the fold scores, one a file."""

from heldout.estimates.base import Evidence, Method, Settings
from heldout.estimates.bbc import BBC
from heldout.estimates.cv import CV
from heldout.estimates.named import METHODS, method_of
from heldout.estimates.tt import TT
from heldout.estimates.types import Estimate, Interval
from heldout.wording import Flag

__all__ = [
    "BBC",
    "CV",
    "METHODS",
    "TT",
    "Estimate",
    "Evidence",
    "Flag",
    "Interval",
    "Method",
    "Settings",
    "method_of",
]
