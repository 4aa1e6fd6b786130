"""Work that several configurations have in common is done once on each split.

``steps`` finds the equal leading steps of pipelines, ``prefixes`` fits each of them once, and ``groups`` finds the
configurations that one fit serves.
"""
