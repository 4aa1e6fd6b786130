"""Where cells are done: in this process, in processes or threads of this machine, or on a cluster.

Which of them is joblib's to say (``joblib.parallel_config``): there is no engine of our own, and no
parameter for it.
"""

from heldout.execution.executors.from_joblib import JoblibExecutor

__all__ = ["JoblibExecutor"]
