"""Validation of a model by resampling: fit it on bootstrap samples, and take out what it flattered itself by."""
