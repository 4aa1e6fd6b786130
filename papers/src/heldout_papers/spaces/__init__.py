"""The configuration spaces of the published experiments, and the estimators that only they need."""

from collections.abc import Mapping
from types import MappingProxyType

from heldout.data.task import TaskKind
from heldout.spaces.presets import PublishedSpace
from heldout_papers.spaces.boosted_linear import BoostedLinear
from heldout_papers.spaces.cawley_talbot import cawley_talbot2010
from heldout_papers.spaces.constant_without_columns import ConstantWithoutColumns
from heldout_papers.spaces.elastic_net_logistic import ElasticNetLogistic
from heldout_papers.spaces.glvq import GLVQ
from heldout_papers.spaces.least_squares_svm import LeastSquaresSVM
from heldout_papers.spaces.lvq1 import LVQ1
from heldout_papers.spaces.random_subspace_knn import RandomSubspaceKNN
from heldout_papers.spaces.ses import SES
from heldout_papers.spaces.shrinkage_discriminant import ShrinkageDiscriminant
from heldout_papers.spaces.square_root_forest import SquareRootForest
from heldout_papers.spaces.tsamardinos2018 import tsamardinos2018
from heldout_papers.spaces.wainer_cawley import wainer_cawley2021

__all__ = [
    "GLVQ",
    "LVQ1",
    "PUBLISHED",
    "SES",
    "BoostedLinear",
    "ConstantWithoutColumns",
    "ElasticNetLogistic",
    "LeastSquaresSVM",
    "RandomSubspaceKNN",
    "ShrinkageDiscriminant",
    "SquareRootForest",
    "cawley_talbot2010",
    "tsamardinos2018",
    "wainer_cawley2021",
]

PUBLISHED: Mapping[str, PublishedSpace] = MappingProxyType(
    {
        "tsamardinos2018": PublishedSpace((TaskKind.BINARY,), ("n_trees",)),
        "wainer_cawley2021": PublishedSpace((TaskKind.BINARY, TaskKind.MULTICLASS), ("small",)),
    }
)
"""What can be a preset, by the names of the functions."""

REVIEWED_TYPES = frozenset(
    f"heldout_papers.spaces.{name}"
    for name in (
        "boosted_linear.BoostedLinear",
        "boosted_linear._Steps",
        "cawley_talbot.as_text",
        "conditional_tests.FisherZ",
        "conditional_tests.LikelihoodRatio",
        "constant_without_columns.ConstantWithoutColumns",
        "constant_without_columns.QuietSES",
        "elastic_net_logistic.ElasticNetLogistic",
        "glvq.GLVQ",
        "least_squares_svm.LeastSquaresSVM",
        "lvq1.LVQ1",
        "random_subspace_knn.RandomSubspaceKNN",
        "ses.SES",
        "shrinkage.ShrunkCorrelation",
        "shrinkage_discriminant.ShrinkageDiscriminant",
        "square_root_forest.SquareRootForest",
    )
)
"""What a saved model may hold of this package: each was reviewed, and each only computes."""
