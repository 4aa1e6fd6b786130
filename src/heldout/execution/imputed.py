"""A configuration whose every fit imputes missing values by itself."""

from __future__ import annotations

from dataclasses import replace

from heldout.configurations import Configuration
from heldout.imputation.imputed_model import ImputedModel
from heldout.imputation.settings import Imputation


def imputed(configuration: Configuration, imputation: Imputation) -> Configuration:
    """The same configuration inside an ``ImputedModel``, called as it was.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> one = imputed(Configuration(0, {"alpha": 2.0}, Ridge()), Imputation(3))
    >>> one.name, one.fresh().estimator
    ('Ridge (alpha=2)', Ridge(alpha=2.0))
    """
    kind = configuration.kind or type(configuration.template).__name__
    return replace(
        configuration, template=ImputedModel(configuration.fresh(), imputation), has_params=True, kind=kind
    )
