"""How biased each protocol's estimate is, where the truth is known."""

from heldout.studies.bias.study import BiasSetting, BiasStudy, bias, bias_plan

__all__ = ["BiasSetting", "BiasStudy", "bias", "bias_plan"]
