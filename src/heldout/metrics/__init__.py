"""Metrics: what they are (``base``), which there are, and how they become a configuration's score."""

from heldout.metrics.base import Metric, Needs, Response
from heldout.metrics.calibration import (
    E90,
    ECI,
    ICI,
    CalibrationEmax,
    CalibrationIntercept,
    CalibrationInterceptError,
    CalibrationSlope,
    CalibrationSlopeError,
    Emax,
    ExpectedCalibrationError,
)
from heldout.metrics.classification import (
    Accuracy,
    BalancedAccuracy,
    Brier,
    CohenKappa,
    FScore,
    LogLoss,
    MatthewsCorrelation,
    Precision,
    Recall,
    ZeroOneLoss,
)
from heldout.metrics.custom import custom
from heldout.metrics.likelihood import (
    DiscriminationIndex,
    GIndex,
    LikelihoodRatio,
    NagelkerkeR2,
    QualityIndex,
    UnreliabilityIndex,
)
from heldout.metrics.named import all_names, check_fits, declare, metric_named, scorer
from heldout.metrics.ranking import (
    AveragePrecision,
    PartialRocAuc,
    RocAuc,
    RocAucOneVsOne,
    RocAucOneVsRest,
    SensitivityAtSpecificity,
)
from heldout.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MeanSquaredError,
    MedianAbsoluteError,
    PinballLoss,
    RootMeanSquaredError,
    Spearman,
)
from heldout.metrics.row_losses import Bounded, MeanScore
from heldout.metrics.survival import BrierAt, ConcordanceIndex, ConcordanceUno, IntegratedBrier, RocAucAt, SomersD

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
    "MeanScore",
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

for _name in __all__:
    _member = globals()[_name]
    if isinstance(_member, type) and issubclass(_member, Metric) and _member not in (Metric, Bounded):
        declare(_member)
