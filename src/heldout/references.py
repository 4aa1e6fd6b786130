"""The sources that methods, metrics and rules cite: one entry a work, cited by key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """A published work."""

    authors: str
    year: int
    title: str
    where: str
    doi: str = ""

    def __str__(self) -> str:
        link = f" doi:{self.doi}" if self.doi else ""
        return f"{self.authors} ({self.year}). {self.title}. {self.where}.{link}"


REFERENCES: dict[str, Reference] = {
    "tsamardinos2018": Reference(
        "Tsamardinos, I., Greasidou, E. and Borboudakis, G.",
        2018,
        "Bootstrapping the out-of-sample predictions for efficient and accurate cross-validation",
        "Machine Learning 107, 1895-1922",
        "10.1007/s10994-018-5714-4",
    ),
    "tibshirani2009": Reference(
        "Tibshirani, R. J. and Tibshirani, R.",
        2009,
        "A bias correction for the minimum error rate in cross-validation",
        "Annals of Applied Statistics 3, 822-829",
        "10.1214/08-AOAS224",
    ),
    "paraschakis2024": Reference(
        "Paraschakis, K., Castellani, A., Borboudakis, G. and Tsamardinos, I.",
        2024,
        "Confidence interval estimation of predictive performance in the context of AutoML",
        "International Conference on Automated Machine Learning",
        "10.48550/arXiv.2406.08099",
    ),
    "hansen2011": Reference(
        "Hansen, P. R., Lunde, A. and Nason, J. M.",
        2011,
        "The model confidence set",
        "Econometrica 79, 453-497",
        "10.3982/ECTA5771",
    ),
    "wilson1927": Reference(
        "Wilson, E. B.",
        1927,
        "Probable inference, the law of succession, and statistical inference",
        "Journal of the American Statistical Association 22, 209-212",
        "10.1080/01621459.1927.10502953",
    ),
    "ding2014": Reference(
        "Ding, Y., Tang, S., Liao, S. G., Jia, J., Oesterreich, S., Lin, Y. and Tseng, G. C.",
        2014,
        "Bias correction for selecting the minimal-error classifier from many machine learning models",
        "Bioinformatics 30, 3152-3158",
        "10.1093/bioinformatics/btu520",
    ),
    "bernau2013": Reference(
        "Bernau, C., Augustin, T. and Boulesteix, A.-L.",
        2013,
        "Correcting the optimal resampling-based error rate by estimating the error rate of wrapper algorithms",
        "Biometrics 69, 693-702",
        "10.1111/biom.12041",
    ),
    "nadeau2003": Reference(
        "Nadeau, C. and Bengio, Y.",
        2003,
        "Inference for the generalization error",
        "Machine Learning 52, 239-281",
        "10.1023/A:1024068626366",
    ),
    "efron1979": Reference(
        "Efron, B.",
        1979,
        "Bootstrap methods: another look at the jackknife",
        "Annals of Statistics 7, 1-26",
        "10.1214/aos/1176344552",
    ),
    "higham1988": Reference(
        "Higham, N. J.",
        1988,
        "Computing a nearest symmetric positive semidefinite matrix",
        "Linear Algebra and its Applications 103, 103-118",
        "10.1016/0024-3795(88)90223-6",
    ),
    "salmon2011": Reference(
        "Salmon, J. K., Moraes, M. A., Dror, R. O. and Shaw, D. E.",
        2011,
        "Parallel random numbers: as easy as 1, 2, 3",
        "International Conference for High Performance Computing, Networking, Storage and Analysis",
        "10.1145/2063384.2063405",
    ),
    "delong1988": Reference(
        "DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L.",
        1988,
        "Comparing the areas under two or more correlated receiver operating characteristic curves: "
        "a nonparametric approach",
        "Biometrics 44, 837-845",
        "10.2307/2531595",
    ),
    "sun2014": Reference(
        "Sun, X. and Xu, W.",
        2014,
        "Fast implementation of DeLong's algorithm for comparing the areas under correlated receiver operating "
        "characteristic curves",
        "IEEE Signal Processing Letters 21, 1389-1393",
        "10.1109/LSP.2014.2337313",
    ),
    "hanley1982": Reference(
        "Hanley, J. A. and McNeil, B. J.",
        1982,
        "The meaning and use of the area under a receiver operating characteristic (ROC) curve",
        "Radiology 143, 29-36",
        "10.1148/radiology.143.1.7063747",
    ),
    "efron1981": Reference(
        "Efron, B.",
        1981,
        "Nonparametric standard errors and confidence intervals",
        "Canadian Journal of Statistics 9, 139-158",
        "10.2307/3314608",
    ),
    "rink2022": Reference(
        "Rink, P. and Brannath, W.",
        2022,
        "Post-selection confidence bounds for prediction performance",
        "arXiv:2210.13206",
        "10.48550/arXiv.2210.13206",
    ),
    "clopper1934": Reference(
        "Clopper, C. J. and Pearson, E. S.",
        1934,
        "The use of confidence or fiducial limits illustrated in the case of the binomial",
        "Biometrika 26, 404-413",
        "10.1093/biomet/26.4.404",
    ),
    "hoeffding1963": Reference(
        "Hoeffding, W.",
        1963,
        "Probability inequalities for sums of bounded random variables",
        "Journal of the American Statistical Association 58, 13-30",
        "10.1080/01621459.1963.10500830",
    ),
    "sidak1967": Reference(
        "Šidák, Z.",
        1967,
        "Rectangular confidence regions for the means of multivariate normal distributions",
        "Journal of the American Statistical Association 62, 626-633",
        "10.1080/01621459.1967.10482935",
    ),
    "breiman1984": Reference(
        "Breiman, L., Friedman, J. H., Olshen, R. A. and Stone, C. J.",
        1984,
        "Classification and regression trees",
        "Wadsworth, section 3.4.3",
    ),
    "caruana2004": Reference(
        "Caruana, R., Niculescu-Mizil, A., Crew, G. and Ksikes, A.",
        2004,
        "Ensemble selection from libraries of models",
        "International Conference on Machine Learning",
        "10.1145/1015330.1015432",
    ),
    "caruana2006": Reference(
        "Caruana, R., Munson, A. and Niculescu-Mizil, A.",
        2006,
        "Getting the most out of ensemble selection",
        "International Conference on Data Mining, 828-833",
        "10.1109/ICDM.2006.76",
    ),
    "cohen1960": Reference(
        "Cohen, J.",
        1960,
        "A coefficient of agreement for nominal scales",
        "Educational and Psychological Measurement 20, 37-46",
        "10.1177/001316446002000104",
    ),
    "cohen1968": Reference(
        "Cohen, J.",
        1968,
        "Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit",
        "Psychological Bulletin 70, 213-220",
        "10.1037/h0026256",
    ),
    "brier1950": Reference(
        "Brier, G. W.",
        1950,
        "Verification of forecasts expressed in terms of probability",
        "Monthly Weather Review 78, 1-3",
        "10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2",
    ),
    "cox1958": Reference(
        "Cox, D. R.",
        1958,
        "Two further applications of a model for binary regression",
        "Biometrika 45, 562-565",
        "10.1093/biomet/45.3-4.562",
    ),
    "somers1962": Reference(
        "Somers, R. H.",
        1962,
        "A new asymmetric measure of association for ordinal variables",
        "American Sociological Review 27, 799-811",
        "10.2307/2090408",
    ),
    "nagelkerke1991": Reference(
        "Nagelkerke, N. J. D.",
        1991,
        "A note on a general definition of the coefficient of determination",
        "Biometrika 78, 691-692",
        "10.1093/biomet/78.3.691",
    ),
    "cleveland1979": Reference(
        "Cleveland, W. S.",
        1979,
        "Robust locally weighted regression and smoothing scatterplots",
        "Journal of the American Statistical Association 74, 829-836",
        "10.1080/01621459.1979.10481038",
    ),
    "vanhoorde2015": Reference(
        "Van Hoorde, K., Van Huffel, S., Timmerman, D., Bourne, T. and Van Calster, B.",
        2015,
        "A spline-based tool to assess and visualize the calibration of multiclass risk predictions",
        "Journal of Biomedical Informatics 54, 283-293",
        "10.1016/j.jbi.2014.12.016",
    ),
    "austin2019": Reference(
        "Austin, P. C. and Steyerberg, E. W.",
        2019,
        "The Integrated Calibration Index (ICI) and related metrics for quantifying the calibration of logistic "
        "regression models",
        "Statistics in Medicine 38, 4051-4065",
        "10.1002/sim.8281",
    ),
    "guo2017": Reference(
        "Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q.",
        2017,
        "On calibration of modern neural networks",
        "International Conference on Machine Learning, 1321-1330",
        "10.48550/arXiv.1706.04599",
    ),
    "mcclish1989": Reference(
        "McClish, D. K.",
        1989,
        "Analyzing a portion of the ROC curve",
        "Medical Decision Making 9, 190-195",
        "10.1177/0272989X8900900307",
    ),
    "hand2001": Reference(
        "Hand, D. J. and Till, R. J.",
        2001,
        "A simple generalisation of the area under the ROC curve for multiple class classification problems",
        "Machine Learning 45, 171-186",
        "10.1023/A:1010920819831",
    ),
    "harrell1996": Reference(
        "Harrell, F. E., Lee, K. L. and Mark, D. B.",
        1996,
        "Multivariable prognostic models: issues in developing models, evaluating assumptions and adequacy, and "
        "measuring and reducing errors",
        "Statistics in Medicine 15, 361-387",
        "10.1002/(SICI)1097-0258(19960229)15:4<361::AID-SIM168>3.0.CO;2-4",
    ),
    "uno2011": Reference(
        "Uno, H., Cai, T., Pencina, M. J., D'Agostino, R. B. and Wei, L. J.",
        2011,
        "On the C-statistics for evaluating overall adequacy of risk prediction procedures with censored survival "
        "data",
        "Statistics in Medicine 30, 1105-1117",
        "10.1002/sim.4154",
    ),
    "uno2007": Reference(
        "Uno, H., Cai, T., Tian, L. and Wei, L. J.",
        2007,
        "Evaluating prediction rules for t-year survivors with censored regression models",
        "Journal of the American Statistical Association 102, 527-537",
        "10.1198/016214507000000149",
    ),
    "graf1999": Reference(
        "Graf, E., Schmoor, C., Sauerbrei, W. and Schumacher, M.",
        1999,
        "Assessment and comparison of prognostic classification schemes for survival data",
        "Statistics in Medicine 18, 2529-2545",
        "10.1002/(SICI)1097-0258(19990915/30)18:17/18<2529::AID-SIM274>3.0.CO;2-5",
    ),
    "maron1994": Reference(
        "Maron, O. and Moore, A. W.",
        1994,
        "Hoeffding races: accelerating model selection search for classification and function approximation",
        "Advances in Neural Information Processing Systems 6, 59-66",
    ),
    "zheng2013": Reference(
        "Zheng, A. X. and Bilenko, M.",
        2013,
        "Lazy paired hyper-parameter tuning",
        "International Joint Conference on Artificial Intelligence, 1924-1931",
    ),
    "wilcoxon1945": Reference(
        "Wilcoxon, F.",
        1945,
        "Individual comparisons by ranking methods",
        "Biometrics Bulletin 1, 80-83",
        "10.2307/3001968",
    ),
    "akiba2019": Reference(
        "Akiba, T., Sano, S., Yanase, T., Ohta, T. and Koyama, M.",
        2019,
        "Optuna: a next-generation hyperparameter optimization framework",
        "International Conference on Knowledge Discovery and Data Mining, 2623-2631",
        "10.1145/3292500.3330701",
    ),
    "krueger2015": Reference(
        "Krueger, T., Panknin, D. and Braun, M.",
        2015,
        "Fast cross-validation via sequential testing",
        "Journal of Machine Learning Research 16, 1103-1155",
    ),
    "wald1947": Reference("Wald, A.", 1947, "Sequential analysis", "Wiley, New York"),
    "cochran1950": Reference(
        "Cochran, W. G.",
        1950,
        "The comparison of percentages in matched samples",
        "Biometrika 37, 256-266",
        "10.1093/biomet/37.3-4.256",
    ),
    "tate1970": Reference(
        "Tate, M. W. and Brown, S. M.",
        1970,
        "Note on the Cochran Q test",
        "Journal of the American Statistical Association 65, 155-160",
    ),
    "friedman1937": Reference(
        "Friedman, M.",
        1937,
        "The use of ranks to avoid the assumption of normality implicit in the analysis of variance",
        "Journal of the American Statistical Association 32, 675-701",
        "10.1080/01621459.1937.10503522",
    ),
    "bates2024": Reference(
        "Bates, S., Hastie, T. and Tibshirani, R.",
        2024,
        "Cross-validation: what does it estimate and how well does it do it?",
        "Journal of the American Statistical Association 119, 1434-1445",
        "10.1080/01621459.2023.2197686",
    ),
    "varma2006": Reference(
        "Varma, S. and Simon, R.",
        2006,
        "Bias in error estimation when using cross-validation for model selection",
        "BMC Bioinformatics 7, 91",
        "10.1186/1471-2105-7-91",
    ),
    "krstajic2014": Reference(
        "Krstajic, D., Buturovic, L. J., Leahy, D. E. and Thomas, S.",
        2014,
        "Cross-validation pitfalls when selecting and assessing regression and classification models",
        "Journal of Cheminformatics 6, 10",
        "10.1186/1758-2946-6-10",
    ),
    "efron1983": Reference(
        "Efron, B.",
        1983,
        "Estimating the error rate of a prediction rule: improvement on cross-validation",
        "Journal of the American Statistical Association 78, 316-331",
        "10.1080/01621459.1983.10477973",
    ),
    "efron1997": Reference(
        "Efron, B. and Tibshirani, R.",
        1997,
        "Improvements on cross-validation: the .632+ bootstrap method",
        "Journal of the American Statistical Association 92, 548-560",
        "10.1080/01621459.1997.10474007",
    ),
    "noma2021": Reference(
        "Noma, H., Shinozaki, T., Iba, K., Teramukai, S. and Furukawa, T. A.",
        2021,
        "Confidence intervals of prediction accuracy measures for multivariable prediction models based on the "
        "bootstrap-based optimism correction methods",
        "Statistics in Medicine 40, 5691-5701",
        "10.1002/sim.9148",
    ),
    "steyerberg2001": Reference(
        "Steyerberg, E. W., Harrell, F. E., Borsboom, G. J. J. M., Eijkemans, M. J. C., Vergouwe, Y. and "
        "Habbema, J. D. F.",
        2001,
        "Internal validation of predictive models: efficiency of some procedures for logistic regression analysis",
        "Journal of Clinical Epidemiology 54, 774-781",
        "10.1016/S0895-4356(01)00341-9",
    ),
    "harrell2015": Reference(
        "Harrell, F. E.",
        2015,
        "Regression modeling strategies: with applications to linear models, logistic and ordinal regression, and "
        "survival analysis",
        "Springer, Cham, 2nd edition",
        "10.1007/978-3-319-19425-7",
    ),
    "fawcett2006": Reference(
        "Fawcett, T.",
        2006,
        "An introduction to ROC analysis",
        "Pattern Recognition Letters 27, 861-874",
        "10.1016/j.patrec.2005.10.010",
    ),
    "vickers2006": Reference(
        "Vickers, A. J. and Elkin, E. B.",
        2006,
        "Decision curve analysis: a novel method for evaluating prediction models",
        "Medical Decision Making 26, 565-574",
        "10.1177/0272989X06295361",
    ),
    "rubin1987": Reference(
        "Rubin, D. B.",
        1987,
        "Multiple imputation for nonresponse in surveys",
        "Wiley",
        "10.1002/9780470316696",
    ),
    "barnard1999": Reference(
        "Barnard, J. and Rubin, D. B.",
        1999,
        "Small-sample degrees of freedom with multiple imputation",
        "Biometrika 86, 948-955",
        "10.1093/biomet/86.4.948",
    ),
    "buuren2011": Reference(
        "van Buuren, S. and Groothuis-Oudshoorn, K.",
        2011,
        "mice: Multivariate imputation by chained equations in R",
        "Journal of Statistical Software 45 (3)",
        "10.18637/jss.v045.i03",
    ),
    "white2009": Reference(
        "White, I. R. and Royston, P.",
        2009,
        "Imputing missing covariate values for the Cox model",
        "Statistics in Medicine 28, 1982-1998",
        "10.1002/sim.3618",
    ),
    "bartlett2020": Reference(
        "Bartlett, J. W. and Hughes, R. A.",
        2020,
        "Bootstrap inference for multiple imputation under uncongeniality and misspecification",
        "Statistical Methods in Medical Research 29, 3533-3546",
        "10.1177/0962280220932189",
    ),
    "schomaker2018": Reference(
        "Schomaker, M. and Heumann, C.",
        2018,
        "Bootstrap inference when using multiple imputation",
        "Statistics in Medicine 37, 2252-2266",
        "10.1002/sim.7654",
    ),
    "ahdesmaki2010": Reference(
        "Ahdesmäki, M. and Strimmer, K.",
        2010,
        "Feature selection in omics prediction problems using cat scores and false nondiscovery rate control",
        "Annals of Applied Statistics 4, 503-519",
        "10.1214/09-AOAS277",
    ),
    "schafer2005": Reference(
        "Schäfer, J. and Strimmer, K.",
        2005,
        "A shrinkage approach to large-scale covariance matrix estimation and implications for functional genomics",
        "Statistical Applications in Genetics and Molecular Biology 4 (1), 32",
        "10.2202/1544-6115.1175",
    ),
    "opgenrhein2007": Reference(
        "Opgen-Rhein, R. and Strimmer, K.",
        2007,
        "Accurate ranking of differentially expressed genes by a distribution-free shrinkage approach",
        "Statistical Applications in Genetics and Molecular Biology 6 (1), 9",
        "10.2202/1544-6115.1252",
    ),
    "hausser2009": Reference(
        "Hausser, J. and Strimmer, K.",
        2009,
        "Entropy inference and the James-Stein estimator, with application to nonlinear gene association networks",
        "Journal of Machine Learning Research 10, 1469-1484",
    ),
    "tsamardinos2006": Reference(
        "Tsamardinos, I., Brown, L. E. and Aliferis, C. F.",
        2006,
        "The max-min hill-climbing Bayesian network structure learning algorithm",
        "Machine Learning 65, 31-78",
        "10.1007/s10994-006-6889-7",
    ),
    "tsamardinos2012": Reference(
        "Tsamardinos, I., Lagani, V. and Pappas, D.",
        2012,
        "Discovering multiple, equivalent biomarker signatures",
        "7th Conference of the Hellenic Society for Computational Biology and Bioinformatics",
    ),
    "lagani2017": Reference(
        "Lagani, V., Athineou, G., Farcomeni, A., Tsagris, M. and Tsamardinos, I.",
        2017,
        "Feature selection with the R package MXM: discovering statistically equivalent feature subsets",
        "Journal of Statistical Software 80 (7)",
        "10.18637/jss.v080.i07",
    ),
}
