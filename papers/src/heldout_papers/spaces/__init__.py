"""The configuration spaces of the published experiments, and the estimators that only they need."""
