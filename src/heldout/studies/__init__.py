"""Studies: the experiments of the literature, on its settings or on yours."""

from heldout.studies.bias import BiasSetting, BiasStudy, bias

__all__ = ["BiasSetting", "BiasStudy", "bias"]
