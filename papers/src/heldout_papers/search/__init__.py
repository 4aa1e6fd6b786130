"""Searches on real tables: bias, winners, costs and intervals of each protocol, against rows never searched."""

from heldout_papers.search.result import SearchStudy
from heldout_papers.search.study import SearchSetting, search

__all__ = ["SearchSetting", "SearchStudy", "search"]
