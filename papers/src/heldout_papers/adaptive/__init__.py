"""Adaptive searches: what a corrected score is worth when candidates were proposed because of scores."""

from heldout_papers.adaptive.study import AdaptiveSetting, AdaptiveStudy, adaptive

__all__ = ["AdaptiveSetting", "AdaptiveStudy", "adaptive"]
