"""Estimates: methods that need only the held-out matrix or the fold scores."""

from typing import Any

from heldout._registry import function_of
from heldout.estimates.base import Method
from heldout.estimates.evidence import Evidence
from heldout.estimates.methods import METHODS, method_of
from heldout.estimates.methods.bbc import BBC
from heldout.estimates.methods.bbc_f import BBCF
from heldout.estimates.methods.corrected_t import ConservativeZ, CorrectedT
from heldout.estimates.methods.cv import CV
from heldout.estimates.methods.hoeffding import Hoeffding
from heldout.estimates.methods.locally_simultaneous import LocallySimultaneous, Zoom
from heldout.estimates.methods.naive_bootstrap import NaiveBootstrap
from heldout.estimates.methods.shrinkage import Shrinkage
from heldout.estimates.methods.tt import TT
from heldout.estimates.methods.two_part.closed_forms import ClopperPearson, DeLong, HanleyMcNeil, Wilson
from heldout.estimates.methods.two_part.tilting import MABT, Tilting
from heldout.estimates.methods.wald_cv import WaldCV
from heldout.estimates.methods.wmc import WMC, WMCS
from heldout.estimates.ordered_rows import automatic_length
from heldout.estimates.paired.leaderboard import Leaderboard, LeaderboardRow, leaderboard
from heldout.estimates.question import Blocks, Settings
from heldout.estimates.training_size import distance_to_best
from heldout.estimates.types import Coverage, Estimate, Interval
from heldout.flags import Flag

__all__ = [
    "BBC",
    "BBCF",
    "CV",
    "MABT",
    "METHODS",
    "TT",
    "WMC",
    "WMCS",
    "Blocks",
    "ClopperPearson",
    "ConservativeZ",
    "CorrectedT",
    "Coverage",
    "DeLong",
    "Estimate",
    "Evidence",
    "Flag",
    "HanleyMcNeil",
    "Hoeffding",
    "Interval",
    "Leaderboard",
    "LeaderboardRow",
    "LocallySimultaneous",
    "Method",
    "NaiveBootstrap",
    "Settings",
    "Shrinkage",
    "Tilting",
    "WaldCV",
    "Wilson",
    "Zoom",
    "automatic_length",
    "distance_to_best",
    "leaderboard",
    "method_of",
    "recommendation",
]


def __getattr__(name: str) -> Any:
    if name == "recommendation":  # it lives layers above, with the advice
        return function_of("recommendation")
    raise AttributeError(f"module 'heldout.estimates' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
