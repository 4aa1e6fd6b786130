"""Metrics: what they are (``base``), which there are, and how they become a configuration's score."""

from heldout.metrics.agreement import CohenKappa
from heldout.metrics.base import Metric, Needs, Response
from heldout.metrics.calibration import (
    CalibrationIntercept,
    CalibrationInterceptError,
    CalibrationSlope,
    CalibrationSlopeError,
    ExpectedCalibrationError,
)
from heldout.metrics.classification import (
    Accuracy,
    BalancedAccuracy,
    Brier,
    FScore,
    LogLoss,
    MatthewsCorrelation,
    Precision,
    Recall,
    ZeroOneLoss,
)
from heldout.metrics.custom import custom
from heldout.metrics.g_index import GIndex
from heldout.metrics.likelihood import (
    DiscriminationIndex,
    LikelihoodRatio,
    NagelkerkeR2,
    QualityIndex,
    UnreliabilityIndex,
)
from heldout.metrics.named import all_names, check_fits, metric_named
from heldout.metrics.operating_points import PartialRocAuc, SensitivityAtSpecificity
from heldout.metrics.ranking import AveragePrecision, RocAuc, RocAucOneVsOne, RocAucOneVsRest
from heldout.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MeanSquaredError,
    MedianAbsoluteError,
    PinballLoss,
    RootMeanSquaredError,
    Spearman,
)
from heldout.metrics.signed import Bounded
from heldout.metrics.smooth_calibration import E90, ECI, ICI, CalibrationEmax, Emax
from heldout.metrics.survival import ConcordanceIndex, ConcordanceUno, SomersD
from heldout.metrics.survival_brier import BrierAt, IntegratedBrier, RocAucAt
from heldout.metrics.to_scorer import scorer

__all__ = [
    "E90",
    "ECI",
    "ICI",
    "R2",
    "Accuracy",
    "AveragePrecision",
    "BalancedAccuracy",
    "Bounded",
    "Brier",
    "BrierAt",
    "CalibrationEmax",
    "CalibrationIntercept",
    "CalibrationInterceptError",
    "CalibrationSlope",
    "CalibrationSlopeError",
    "CohenKappa",
    "ConcordanceIndex",
    "ConcordanceUno",
    "DiscriminationIndex",
    "Emax",
    "ExpectedCalibrationError",
    "FScore",
    "GIndex",
    "IntegratedBrier",
    "LikelihoodRatio",
    "LogLoss",
    "MatthewsCorrelation",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "MedianAbsoluteError",
    "Metric",
    "NagelkerkeR2",
    "Needs",
    "PartialRocAuc",
    "PinballLoss",
    "Precision",
    "QualityIndex",
    "Recall",
    "Response",
    "RocAuc",
    "RocAucAt",
    "RocAucOneVsOne",
    "RocAucOneVsRest",
    "RootMeanSquaredError",
    "SensitivityAtSpecificity",
    "SomersD",
    "Spearman",
    "UnreliabilityIndex",
    "ZeroOneLoss",
    "all_names",
    "check_fits",
    "custom",
    "metric_named",
    "scorer",
]
