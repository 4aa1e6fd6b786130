"""Estimates from tables that do not fit the memory: blocks of rows in, sums that add up out."""

from heldout.estimates.out_of_core.blocks import Block, BlockSource
from heldout.estimates.out_of_core.estimating import estimate_from_blocks

__all__ = ["Block", "BlockSource", "estimate_from_blocks"]
