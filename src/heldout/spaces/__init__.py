"""Ready configuration spaces: models worth trying on a table, with the preprocessing that each needs."""

from heldout.spaces.preprocessing import default_preprocessing
from heldout.spaces.presets import PRESETS, Entry, preset, quick, standard

__all__ = ["PRESETS", "Entry", "default_preprocessing", "preset", "quick", "standard"]
