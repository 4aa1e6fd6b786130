"""Each private name of scikit-learn and joblib that two files read (test_raise_sites.py) does what users need."""

from numbers import Integral
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sklearn
from joblib.externals.loky.backend.context import LokyContext
from sklearn.base import BaseEstimator
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, check_scoring, f1_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.fixes import parse_version
from sklearn.utils.parallel import Parallel

from heldout import _loky, _sklearn

X, Y = make_classification(60, 4, random_state=0)


def test_rows_and_checks() -> None:
    assert _sklearn.rows_at(X, [1]).tolist() == X[1:2].tolist()
    assert _sklearn.split_rows(Ridge(), X, Y, [0, 1])[1].tolist() == Y[:2].tolist()
    assert _sklearn.params_at(X, {"sample_weight": Y, "other": 1}, [3]) == {"sample_weight": [Y[3]], "other": 1}
    assert _sklearn.n_rows_of(X) == 60
    assert _sklearn.checked_weight(None, X).tolist() == [1.0] * 60
    model = Ridge()
    _sklearn.check_n_features(model, X, reset=True)
    _sklearn.check_feature_names(model, X, reset=True)
    assert model.n_features_in_ == 4
    _sklearn.check_params(model)
    with pytest.raises(ValueError, match="alpha"):
        _sklearn.check_params(Ridge(alpha=-1))


def test_constraints_of_searches() -> None:
    assert {"cv", "n_jobs", "refit", "scoring"} <= set(_sklearn.CONSTRAINTS_OF_SEARCH)
    assert _sklearn.StrOptions({"a"}).is_satisfied_by("a")
    assert not _sklearn.Interval(Integral, 1, None, closed="left").is_satisfied_by(0)
    assert _sklearn.HasMethods(["fit"]).is_satisfied_by(Ridge())
    assert _sklearn.takes_splitter(GridSearchCV(Ridge(), {}))

    class Fitted(BaseEstimator):  # type: ignore[misc]
        _parameter_constraints = {}  # noqa: RUF012

        @_sklearn.fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
        def fit(self) -> int:
            return 1

    assert Fitted().fit() == 1


def test_scorers_are_opened() -> None:
    scorers, refit = _sklearn.scorers_of_search(GridSearchCV(LogisticRegression(), {}, scoring="f1"))
    assert refit == "score"
    parts = _sklearn.scorer_parts(scorers)
    assert parts is not None and parts.function is f1_score and parts.sign == 1
    assert parts.methods == ("predict",) and parts.is_its_function
    assert parts.pos_label == 1
    changed = _sklearn.scorer_with(scorers, accuracy_score, {"normalize": False})
    model = LogisticRegression().fit(X, Y)
    assert changed(model, X, Y) == (model.predict(X) == Y).sum()
    assert scorers(model, X, Y) == f1_score(Y, model.predict(X))
    assert _sklearn.scorer_parts(check_scoring(model)) is None
    assert _sklearn.scoring_model(check_scoring(model)) is model
    assert _sklearn.scoring_model(scorers) is None
    assert _sklearn.gathered_scorers(scorers) is None


def test_scorers_are_gathered() -> None:
    weighted, unweighted = make_scorer(accuracy_score), make_scorer(lambda y, predicted: 0.5)
    search = GridSearchCV(LogisticRegression(), {}, scoring={"a": weighted, "b": unweighted}, refit="a")
    gathered, _ = _sklearn.scorers_of_search(search)
    members = _sklearn.gathered_scorers(gathered)
    assert members is not None and list(members) == ["a", "b"]
    assert not _sklearn.takes_weights(unweighted)
    assert _sklearn.takes_weights(weighted) == (parse_version(sklearn.__version__) >= parse_version("1.7"))
    assert list(_sklearn.with_members(gathered, {"c": weighted})(LogisticRegression().fit(X, Y), X, Y)) == ["c"]
    assert _sklearn.gathered_scorers(gathered) == members


def test_a_derived_scorer_may_score_by_itself() -> None:
    class OfOneColumn(_sklearn.DerivedScorer):
        def score_of(self, function: Any, estimator: Any, X: Any, y_true: Any, **params: Any) -> float | None:
            return None if X.shape[1] == 4 else 2.0

    model, scorer = LogisticRegression().fit(X, Y), OfOneColumn(accuracy_score, -1, ("predict",))
    assert scorer(model, X, Y) == -accuracy_score(Y, model.predict(X))
    assert scorer(model, X[:, :1], Y) == -2.0
    parts = _sklearn.scorer_parts(scorer)
    assert parts is not None and not parts.is_its_function
    without_signature = _sklearn.scorer_parts(OfOneColumn(max, 1, ("predict",)))
    assert without_signature is not None and without_signature.function is max
    with pytest.raises(ValueError, match="signature"):
        _ = without_signature.pos_label


def test_boosting_and_forests() -> None:
    boosted = GradientBoostingClassifier(n_estimators=3).fit(X, Y)
    stages = [raw.copy() for raw in _sklearn.raw_stages(boosted, X)]
    assert len(stages) == 3
    assert np.array_equal(stages[-1], getattr(boosted, _sklearn.RAW_PREDICTION)(X.astype(np.float32)))
    rounds = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5).fit(X, Y)
    leaves = _sklearn.n_leaves_of_rounds(rounds)
    _sklearn.keep_rounds(rounds, 2)
    assert rounds.n_iter_ == 2 and 0 < (_sklearn.n_leaves_of_rounds(rounds) or 0) < (leaves or 0)
    assert _sklearn.n_leaves_of_rounds(boosted) is None
    assert _sklearn.rows_of_boosting(AdaBoostClassifier(n_estimators=2).fit(X, Y), X).shape == X.shape
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    assert forest.estimators_[0].predict(_sklearn.rows_of_forest(forest, X), check_input=False).shape == (60,)
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y)
    tree.ccp_alpha = 0.1
    _sklearn.prune(tree)
    assert tree.get_n_leaves() == DecisionTreeClassifier(random_state=0, ccp_alpha=0.1).fit(X, Y).get_n_leaves()


def test_neighbours() -> None:
    model = KNeighborsClassifier(algorithm="brute").fit(X, np.array(["a", "b"])[Y])
    assert _sklearn.is_brute(model) and _sklearn.class_codes(model).tolist() == Y.tolist()
    assert np.array_equal(_sklearn.indexed_rows(model), X)
    tree = KNeighborsClassifier(algorithm="kd_tree").fit(X, Y)
    assert not _sklearn.is_brute(tree)
    assert {name: getattr(tree, name) for name in _sklearn.WITHOUT_BRUTE_FORCE} == _sklearn.WITHOUT_BRUTE_FORCE


def test_linear_models() -> None:
    model = KernelRidge(kernel="linear").fit(X, Y)
    assert np.allclose(_sklearn.kernel_of(model, X), X @ X.T)
    assert np.allclose(_sklearn.kernel_of(model, X[:2], X), X[:2] @ X.T)
    of_columns, of_target = _sklearn.scales_of_pls(PLSRegression().fit(X, Y))
    assert np.allclose(of_columns, X.std(axis=0, ddof=1)) and np.allclose(of_target, Y.std(ddof=1))
    assert _sklearn.keeps_scores_of_fit(PCA(2, svd_solver="full").fit(X))
    assert not _sklearn.keeps_scores_of_fit(PCA(2, svd_solver="covariance_eigh").fit(X))


def test_names_of_joblib() -> None:
    assert issubclass(_loky.WORKERS_ENDED, RuntimeError)
    with Parallel(n_jobs=2, backend="loky") as parallel:
        assert _loky.gives_results_one_by_one(parallel)
        pool: Any = parallel._backend._workers
        assert {"_context", "_initializer", "_initargs"} <= set(vars(pool))
    ours, another = (SimpleNamespace(_context=kind(), _initializer=None) for kind in (LokyContext, object))
    for pool in (ours, another):
        _loky.set_first_call(SimpleNamespace(_backend=SimpleNamespace(_workers=pool)), print, "first")
    assert (ours._initializer, ours._initargs) == (print, ("first",))
    assert another._initializer is None  # a server forks its workers


def test_a_tracked_folder_may_be_forgotten(tmp_path: Path) -> None:
    _loky.track_folder(str(tmp_path))
    _loky.forget_folder(str(tmp_path))
    assert tmp_path.is_dir()
