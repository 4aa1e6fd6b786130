"""Ways to search: at random, by Optuna's samplers, by a Gaussian process, and by successive halving.

Each ends in a search of heldout, whose held-out predictions any method can correct.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.model_selection import HalvingGridSearchCV, StratifiedKFold

from heldout._streams import numpy_seed
from heldout.errors import MissingExtraError
from heldout.search.grid import HeldOutSearchCV
from heldout.search.optuna.feedback import FEWEST_TRIALS, CrossFitting, affordable_trials
from heldout.search.optuna.sampler import optuna_package, quiet
from heldout.search.optuna.search import HeldOutOptunaSearchCV
from heldout_papers.adaptive.worlds import AdaptiveProblem
from heldout_papers.engine.results import Term

N_FOLDS = 5
FACTOR = 3
"""Of successive halving."""
TERMS: Mapping[str, Term] = {
    "random": Term("random", "as many configurations drawn at random"),
    "tpe": Term("TPE", "Optuna's TPE sampler, its default"),
    "gp": Term("GP", "a Gaussian process with expected improvement (Matérn 5/2, scikit-learn's)"),
    "cmaes": Term("CMA-ES", "Optuna's CMA-ES sampler"),
    "halving": Term("halving", "scikit-learn's successive halving of random configurations, by three"),
}
SEARCHERS = tuple(TERMS)


def fitted_search(problem: AdaptiveProblem, searcher: str, n_trials: int, seed: int, **settings: Any) -> Any:
    """A fitted search of heldout; of Optuna's samplers cross-fitted beside, so that both estimates exist."""
    shared = {"scoring": "accuracy", "cv": N_FOLDS, "random_state": seed, "n_jobs": 1, **settings}
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # flags are read by the study, not printed for each search
        if searcher == "halving":
            grid = [{name: [value] for name, value in each.items()} for each in _halved(problem, n_trials, seed)]
            found = HeldOutSearchCV(problem.estimator, grid, **shared).fit(problem.X, problem.y)
            kept = found.evaluation_
            kept = replace(kept, predictions=replace(kept.predictions, adaptive=True))
            found.evaluation_, found.predictions_ = kept, kept.predictions
            return found
        search = HeldOutOptunaSearchCV(
            problem.estimator, distributions_of(problem), n_trials=n_trials, sampler=_SAMPLERS[searcher](),
            feedback=cross_fitting_for(n_trials), **shared,
        )  # fmt: skip
        return search.fit(problem.X, problem.y)


def plain_search(problem: AdaptiveProblem, searcher: str, n_trials: int, seed: int) -> Any:
    """The same search, without an estimate, to be fitted on other rows: for nested cross-validation."""
    if searcher == "halving":
        return HalvedSearch(problem, n_trials, seed)
    return HeldOutOptunaSearchCV(
        problem.estimator, distributions_of(problem), n_trials=n_trials, sampler=_SAMPLERS[searcher](),
        scoring="accuracy", cv=N_FOLDS, random_state=seed, method=None,
    )  # fmt: skip


class HalvedSearch:
    """Successive halving, and its winner fitted on all rows."""

    def __init__(self, problem: AdaptiveProblem, n_trials: int, seed: int) -> None:
        self._problem, self._n_trials, self._seed = problem, n_trials, seed

    def fit(self, X: Any, y: Any) -> Any:
        """The fitted winner."""
        part = replace(self._problem, X=X, y=y)
        return fitted_search(part, "halving", self._n_trials, self._seed, method=None).best_estimator_


def cross_fitting_for(n_trials: int) -> CrossFitting:
    """As many trials of each sampler as .3 of the fits afford, but no fewer than a search needs."""
    return CrossFitting(n_trials=max(affordable_trials(n_trials, N_FOLDS, N_FOLDS), FEWEST_TRIALS))


def distributions_of(problem: AdaptiveProblem) -> dict[str, Any]:
    """The space as Optuna has it."""
    distribution = optuna_package().distributions.FloatDistribution
    return {name: distribution(low, high, log=log) for name, (low, high, log) in problem.space.items()}


def _drawn(problem: AdaptiveProblem, n: int, rng: np.random.Generator) -> list[dict[str, float]]:
    """Random configurations."""
    found = []
    for _ in range(n):
        point = {}
        for name, (low, high, log) in problem.space.items():
            share = rng.uniform()
            point[name] = float(low * (high / low) ** share if log else low + share * (high - low))
        found.append(point)
    return found


def _halved(problem: AdaptiveProblem, n_trials: int, seed: int) -> list[dict[str, float]]:
    """The configurations of the last round of successive halving that began with ``n_trials`` random ones."""
    drawn = _drawn(problem, n_trials, np.random.default_rng(numpy_seed(seed, "halving")))
    grid = [{name: [value] for name, value in each.items()} for each in drawn]
    cv = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed % 2**32)
    search = HalvingGridSearchCV(
        problem.estimator, grid, factor=FACTOR, cv=cv, scoring="accuracy", random_state=seed % 2**32, refit=False
    ).fit(problem.X, problem.y)
    results = search.cv_results_
    return [dict(results["params"][place]) for place in np.flatnonzero(results["iter"] == results["iter"].max())]


def _tpe() -> Any:
    return optuna_package().samplers.TPESampler()


def _random() -> Any:
    return optuna_package().samplers.RandomSampler()


def _cmaes() -> Any:
    try:
        import cmaes  # noqa: F401
    except ImportError:
        raise MissingExtraError("the sampler 'cmaes' of the study", "optuna") from None
    return optuna_package().samplers.CmaEsSampler(warn_independent_sampling=False)


def _gp() -> Any:
    """A sampler on scikit-learn's Gaussian process: Optuna's own needs a package of a gigabyte.

    Each proposal is the best of 500 random points by expected improvement; ten random ones come first. Lengths are
    fitted again every tenth trial.
    """
    optuna = optuna_package()

    class GaussianProcessSampler(optuna.samplers.BaseSampler):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            self._rng = optuna.samplers._lazy_random_state.LazyRandomState(None)
            self._kernel: Any = None

        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            return dict(optuna.search_space.intersection_search_space(study.get_trials(deepcopy=False)))

        def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> dict[str, Any]:
            state = optuna.trial.TrialState.COMPLETE
            trials = study.get_trials(deepcopy=False, states=(state,))
            if len(trials) < N_STARTUP or not search_space:
                return {}
            to_unit = optuna._transform._SearchSpaceTransform(search_space, transform_0_1=True)
            points = np.array([to_unit.transform(each.params) for each in trials])
            scores = np.array([each.value for each in trials])
            if np.ptp(scores) == 0:
                return {}
            process = self._process(points, scores)
            anywhere = self._rng.rng.uniform(size=(N_POINTS, points.shape[1]))
            mean, sd = process.predict(anywhere, return_std=True)
            gain = mean - scores.max()
            z = gain / np.maximum(sd, 1e-12)
            improvement = gain * ndtr(z) + sd * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
            return dict(to_unit.untransform(anywhere[int(improvement.argmax())]))

        def _process(self, points: Any, scores: Any) -> Any:
            anew = self._kernel is None or len(scores) % 10 == 0
            kernel = ConstantKernel() * Matern(0.5, (0.05, 20), nu=2.5) + WhiteKernel(0.1, (1e-5, 2))
            process = GaussianProcessRegressor(
                kernel if anew else self._kernel, normalize_y=True, random_state=0,
                optimizer="fmin_l_bfgs_b" if anew else None,
            ).fit(points, scores)  # fmt: skip
            self._kernel = process.kernel_
            return process

        def sample_independent(self, study: Any, trial: Any, name: str, distribution: Any) -> Any:
            low, high = distribution.low, distribution.high
            share = self._rng.rng.uniform()
            return float(low * (high / low) ** share if distribution.log else low + share * (high - low))

        def reseed_rng(self) -> None:
            self._rng.rng.seed()

    return GaussianProcessSampler()


N_STARTUP, N_POINTS = 10, 500
_SAMPLERS: Mapping[str, Callable[[], Any]] = {"random": _random, "tpe": _tpe, "gp": _gp, "cmaes": _cmaes}
