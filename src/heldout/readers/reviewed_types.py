"""The types and functions that a saved model may hold: each was reviewed, and each only computes.

The list is part of the package, because anybody who can write a model file can also write the files beside it. It
holds what heldout's estimators and those of scikit-learn need beyond what skops itself trusts (scikit-learn's
estimators, containers, arrays, and the ufuncs of NumPy and SciPy). A function is listed by its own name, never by
its module. Types that call other code are left out on purpose: ``functools.partial``, ``operator``, bound methods,
and ``PyFuncDistance``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_TYPES: Mapping[str, str] = {
    "builtins": "object",
    "numpy": "dtype",
    "scipy.interpolate._bsplines": "BSpline",
    "scipy.sparse._csc": "csc_array csc_matrix",
    "scipy.sparse._csr": "csr_array csr_matrix",
    "heldout.imputation.chained": "ChainedImputer",
    "heldout.imputation.coded": "CategoryColumn NumberColumn",
    "heldout.imputation.pooled": "PooledModel",
    "heldout.imputation.posterior": "CategoryEquation LinearEquation",
    "heldout_papers.spaces.boosted_linear": "BoostedLinear _Steps",
    "heldout_papers.spaces.conditional_tests": "FisherZ LikelihoodRatio",
    "heldout_papers.spaces.constant_without_columns": "ConstantWithoutColumns QuietSES",
    "heldout.spaces.cox": "CoxRegression",
    "heldout.spaces.cox_statsmodels": "StatsmodelsCox",
    "heldout_papers.spaces.elastic_net_logistic": "ElasticNetLogistic",
    "heldout_papers.spaces.glvq": "GLVQ",
    "heldout_papers.spaces.lvq1": "LVQ1",
    "heldout_papers.spaces.random_subspace_knn": "RandomSubspaceKNN",
    "heldout_papers.spaces.ses": "SES",
    "heldout_papers.spaces.shrinkage": "ShrunkCorrelation",
    "heldout_papers.spaces.shrinkage_discriminant": "ShrinkageDiscriminant",
    "heldout_papers.spaces.square_root_forest": "SquareRootForest",
    "sklearn._loss.link": "HalfLogitLink IdentityLink Interval LogLink LogitLink MultinomialLogit",
    "sklearn._loss.loss": "AbsoluteError ExponentialLoss HalfBinomialLoss HalfGammaLoss HalfMultinomialLoss "
    "HalfPoissonLoss HalfSquaredError HalfTweedieLoss HalfTweedieLossIdentity HuberLoss PinballLoss",
    "sklearn.calibration": "_CalibratedClassifier _SigmoidCalibration _TemperatureScaling",
    "sklearn.cluster._bisect_k_means": "_BisectingTree",
    "sklearn.compose._column_transformer": "_RemainderColsList make_column_selector",
    "sklearn.ensemble._hist_gradient_boosting.binning": "_BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor": "TreePredictor",
    "sklearn.gaussian_process._gpc": "_BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels": "CompoundKernel ConstantKernel DotProduct ExpSineSquared Exponentiation "
    "Matern PairwiseKernel Product RBF RationalQuadratic Sum WhiteKernel",
    "sklearn.impute._iterative": "IterativeImputer _ImputerTriplet",
    "sklearn.metrics._scorer": "_CurveScorer _PassthroughScorer _Scorer",
    "sklearn.model_selection._search_successive_halving": "HalvingGridSearchCV HalvingRandomSearchCV",
    "sklearn.model_selection._split": "GroupKFold GroupShuffleSplit KFold LeaveOneGroupOut LeaveOneOut "
    "LeavePGroupsOut LeavePOut PredefinedSplit RepeatedKFold RepeatedStratifiedKFold ShuffleSplit "
    "StratifiedGroupKFold StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit",
    "sklearn.multiclass": "_ConstantPredictor",
    "sklearn.neighbors._ball_tree": "BallTree",
    "sklearn.neighbors._kd_tree": "KDTree",
    "sklearn.neural_network._stochastic_optimizers": "AdamOptimizer SGDOptimizer",
    "sklearn.tree._tree": "Tree",
    "sklearn.utils._bunch": "Bunch",
    "sklearn.utils._metadata_requests": "MetadataRequest MethodMetadataRequest",
}

_DISTANCES = (
    "BrayCurtis Canberra Chebyshev Dice Euclidean Hamming Haversine Jaccard Mahalanobis Manhattan Minkowski "
    "RogersTanimoto RussellRao SEuclidean SokalSneath"
)

_FUNCTIONS: Mapping[str, str] = {
    "numpy": "max mean median min",
    "scipy._lib.array_api_compat.numpy._aliases": "asarray",
    "sklearn.cluster._kmeans": "_kmeans_single_elkan _kmeans_single_lloyd",
    "sklearn.feature_selection._mutual_info": "mutual_info_classif mutual_info_regression",
    "sklearn.feature_selection._univariate_selection": "chi2 f_classif f_regression r_regression",
    "sklearn.metrics._classification": "accuracy_score balanced_accuracy_score brier_score_loss cohen_kappa_score "
    "d2_brier_score d2_log_loss_score f1_score fbeta_score hinge_loss jaccard_score log_loss matthews_corrcoef "
    "precision_score recall_score zero_one_loss",
    "sklearn.metrics._ranking": "average_precision_score roc_auc_score top_k_accuracy_score",
    "sklearn.metrics._regression": "d2_absolute_error_score d2_pinball_score d2_tweedie_score "
    "explained_variance_score max_error mean_absolute_error mean_absolute_percentage_error mean_gamma_deviance "
    "mean_pinball_loss mean_poisson_deviance mean_squared_error mean_squared_log_error mean_tweedie_deviance "
    "median_absolute_error r2_score root_mean_squared_error root_mean_squared_log_error",
    "sklearn.metrics._scorer": "negative_likelihood_ratio positive_likelihood_ratio",
}


def _names() -> Iterator[str]:
    for listed in (_TYPES, _FUNCTIONS):
        for module, names in listed.items():
            yield from (f"{module}.{name}" for name in names.split())
    for name in _DISTANCES.split():
        yield from (f"sklearn.metrics._dist_metrics.{name}Distance{bits}" for bits in (32, 64))


REVIEWED_TYPES = frozenset(_names())
"""Full names, as skops writes them."""
