"""Classes of a test's file for worker processes, which cannot import it."""

import sys

try:  # joblib prefers it where it is installed
    import cloudpickle
except ImportError:
    from joblib.externals import cloudpickle


def send_by_value(module: str) -> None:
    """Let the classes of a module travel with their code."""
    cloudpickle.register_pickle_by_value(sys.modules[module])
