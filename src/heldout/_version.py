"""The version, in one place, and those of what decides the numbers."""

import platform

__version__ = "0.1.0"


def versions() -> dict[str, str]:
    """The versions of the packages that decide the numbers."""
    import numpy as np  # here, because a command that prints the version must be quick
    import sklearn

    return {
        "heldout": __version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__,
        "python": platform.python_version(),
    }  # fmt: skip
