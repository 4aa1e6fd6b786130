"""How biased each protocol's estimate is, where the truth is known."""

from heldout.studies.bias.moments import BiasMoments
from heldout.studies.bias.setting import BiasSetting
from heldout.studies.bias.study import BiasStudy, bias, bias_plan

__all__ = ["BiasMoments", "BiasSetting", "BiasStudy", "bias", "bias_plan"]
