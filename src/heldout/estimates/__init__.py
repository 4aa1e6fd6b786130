"""Estimates: methods that need only the held-out matrix or the fold scores, one a file."""

from heldout.estimates.base import Evidence, Method, Settings
from heldout.estimates.bbc import BBC
from heldout.estimates.bbc_f import BBCF
from heldout.estimates.binomial import ClopperPearson, Wilson
from heldout.estimates.cv import CV
from heldout.estimates.delong import DeLong
from heldout.estimates.hanley_mcneil import HanleyMcNeil
from heldout.estimates.hoeffding import Hoeffding
from heldout.estimates.mabt import MABT
from heldout.estimates.naive_bootstrap import NaiveBootstrap
from heldout.estimates.named import METHODS, method_of
from heldout.estimates.tilting import Tilting
from heldout.estimates.tt import TT
from heldout.estimates.types import Estimate, Interval
from heldout.estimates.wmc import WMC, WMCS
from heldout.wording import Flag

__all__ = [
    "BBC",
    "BBCF",
    "CV",
    "MABT",
    "METHODS",
    "TT",
    "WMC",
    "WMCS",
    "ClopperPearson",
    "DeLong",
    "Estimate",
    "Evidence",
    "Flag",
    "HanleyMcNeil",
    "Hoeffding",
    "Interval",
    "Method",
    "NaiveBootstrap",
    "Settings",
    "Tilting",
    "Wilson",
    "method_of",
]
