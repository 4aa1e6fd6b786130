"""How biased each protocol's estimate is, where the truth is known."""

from heldout_papers.bias.moments import BiasMoments
from heldout_papers.bias.setting import BiasSetting
from heldout_papers.bias.study import BiasStudy, bias

__all__ = ["BiasMoments", "BiasSetting", "BiasStudy", "bias"]
