"""Where cells run: in this process, in processes or threads of this machine, or on a cluster.

``joblib.parallel_config`` decides which: there is no engine of our own, and no parameter for it.
"""
