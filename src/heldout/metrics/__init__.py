"""Metrics: what they are (``base``), which there are, and how they become a configuration's score."""

from heldout.metrics.base import Metric as Metric
from heldout.metrics.base import Needs as Needs
from heldout.metrics.base import Response as Response
from heldout.metrics.calibration import E90 as E90
from heldout.metrics.calibration import ECI as ECI
from heldout.metrics.calibration import ICI as ICI
from heldout.metrics.calibration import CalibrationEmax as CalibrationEmax
from heldout.metrics.calibration import CalibrationIntercept as CalibrationIntercept
from heldout.metrics.calibration import CalibrationInterceptError as CalibrationInterceptError
from heldout.metrics.calibration import CalibrationSlope as CalibrationSlope
from heldout.metrics.calibration import CalibrationSlopeError as CalibrationSlopeError
from heldout.metrics.calibration import Emax as Emax
from heldout.metrics.calibration import ExpectedCalibrationError as ExpectedCalibrationError
from heldout.metrics.classification import Accuracy as Accuracy
from heldout.metrics.classification import BalancedAccuracy as BalancedAccuracy
from heldout.metrics.classification import Brier as Brier
from heldout.metrics.classification import CohenKappa as CohenKappa
from heldout.metrics.classification import FScore as FScore
from heldout.metrics.classification import LogLoss as LogLoss
from heldout.metrics.classification import MatthewsCorrelation as MatthewsCorrelation
from heldout.metrics.classification import Precision as Precision
from heldout.metrics.classification import Recall as Recall
from heldout.metrics.classification import ZeroOneLoss as ZeroOneLoss
from heldout.metrics.custom import custom as custom
from heldout.metrics.likelihood import DiscriminationIndex as DiscriminationIndex
from heldout.metrics.likelihood import GIndex as GIndex
from heldout.metrics.likelihood import LikelihoodRatio as LikelihoodRatio
from heldout.metrics.likelihood import NagelkerkeR2 as NagelkerkeR2
from heldout.metrics.likelihood import QualityIndex as QualityIndex
from heldout.metrics.likelihood import UnreliabilityIndex as UnreliabilityIndex
from heldout.metrics.named import all_names as all_names
from heldout.metrics.named import check_fits as check_fits
from heldout.metrics.named import declare
from heldout.metrics.named import metric_named as metric_named
from heldout.metrics.named import scorer as scorer
from heldout.metrics.ranking import AveragePrecision as AveragePrecision
from heldout.metrics.ranking import PartialRocAuc as PartialRocAuc
from heldout.metrics.ranking import RocAuc as RocAuc
from heldout.metrics.ranking import RocAucOneVsOne as RocAucOneVsOne
from heldout.metrics.ranking import RocAucOneVsRest as RocAucOneVsRest
from heldout.metrics.ranking import SensitivityAtSpecificity as SensitivityAtSpecificity
from heldout.metrics.regression import R2 as R2
from heldout.metrics.regression import MeanAbsoluteError as MeanAbsoluteError
from heldout.metrics.regression import MeanSquaredError as MeanSquaredError
from heldout.metrics.regression import MedianAbsoluteError as MedianAbsoluteError
from heldout.metrics.regression import PinballLoss as PinballLoss
from heldout.metrics.regression import RootMeanSquaredError as RootMeanSquaredError
from heldout.metrics.regression import Spearman as Spearman
from heldout.metrics.row_losses import Bounded as Bounded
from heldout.metrics.row_losses import MeanScore as MeanScore
from heldout.metrics.survival import BrierAt as BrierAt
from heldout.metrics.survival import ConcordanceIndex as ConcordanceIndex
from heldout.metrics.survival import ConcordanceUno as ConcordanceUno
from heldout.metrics.survival import IntegratedBrier as IntegratedBrier
from heldout.metrics.survival import RocAucAt as RocAucAt
from heldout.metrics.survival import SomersD as SomersD

_declared = [
    member
    for member in globals().copy().values()
    if isinstance(member, type) and issubclass(member, Metric) and member not in (Metric, Bounded)
]
for _member in _declared:
    declare(_member)

__all__ = sorted(
    [
        *(member.__name__ for member in _declared),
        *("Bounded", "Metric", "Needs", "Response", "all_names", "check_fits", "custom", "metric_named", "scorer"),
    ]
)
