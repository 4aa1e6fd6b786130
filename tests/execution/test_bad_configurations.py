"""One bad configuration fails alone, with its reason; the search goes on."""

import re
from typing import Any

import numpy as np
import pytest
from by_value import send_by_value
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression

import heldout as ho
from heldout.errors import HeldoutWarning, InputError

send_by_value(__name__)

pytestmark = pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
VALUES = X[:, 0] + RNG.normal(size=60)


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("there is no text")


class SilentBase(BaseException):
    __str__ = SilentError.__str__


CHANGES = {
    "few": lambda answer: answer[:-1],
    "many": lambda answer: np.concatenate([answer, answer[:1]]),
    "none": lambda answer: answer[:0],
    "scalar": lambda answer: 1,
    "nothing": lambda answer: None,
    "mapping": lambda answer: {"a": 1},
    "two columns": lambda answer: np.stack([answer, answer], axis=1),
    "three axes": lambda answer: answer[..., None],
    "ragged": lambda answer: [[1], [1, 2]] * (len(answer) // 2),
    "text": lambda answer: np.full(len(answer), "a"),
    "huge": lambda answer: [10**400] * len(answer),
    "nan": lambda answer: answer * np.nan,
    "infinite": lambda answer: answer + np.inf,
    "complex": lambda answer: answer + 0j,
    "beyond": lambda answer: answer * 1.5 - 0.2,
    "negative": lambda answer: np.where(np.arange(answer.size).reshape(answer.shape) == 1, -1e-3, answer),
    "objects": lambda answer: answer.astype(object),
    "copy": lambda answer: answer.copy(),
}


class Changed(BaseEstimator):
    """Its answers are changed; or its fit raises."""

    def __init__(self, how: str = "copy", method: str = "predict") -> None:
        self.how, self.method = how, method

    def fit(self, X: Any, y: Any) -> Any:
        if isinstance(self, ClassifierMixin):
            self.classes_ = np.unique(y)
        self.model_ = (LogisticRegression() if isinstance(self, ClassifierMixin) else LinearRegression()).fit(X, y)
        if self.how == "raises":
            raise SilentError
        if self.how == "raises base":
            raise SilentBase
        return self

    def _answer(self, method: str, X: Any) -> Any:
        answer = getattr(self.model_, method)(X)
        if method != self.method:
            return answer
        if self.how == "raises there":
            raise SilentError
        return CHANGES[self.how](answer)

    def predict(self, X: Any) -> Any:
        return self._answer("predict", X)


class Classifier(ClassifierMixin, Changed):
    def predict_proba(self, X: Any) -> Any:
        return self._answer("predict_proba", X)


class Regressor(RegressorMixin, Changed):
    pass


def searched(model: Any, how: str, y: Any, scoring: str, **settings: Any) -> Any:
    fast = {"cv": 3, "n_bootstraps": 10, "random_state": 0}
    search = ho.HeldOutSearchCV(model, {"how": ["copy", how]}, scoring=scoring, **fast, **settings)
    return search.fit(X, y)


ROWS = [("few", "19 rows, where 20"), ("many", "21 rows, where 20"), ("none", "0 rows, where 20")]
SHAPES = [*ROWS, ("scalar", "no rows"), ("mapping", "no rows"), ("ragged", "inhomogeneous")]
TEXTS = [("raises", "SilentError"), ("raises there", "SilentError"), ("raises base", "SilentBase")]
FEW = [ROWS[0], ("scalar", "no rows"), ("ragged", "inhomogeneous"), TEXTS[1]]


@pytest.mark.parametrize(
    ("method", "scoring", "how", "why"),
    [
        *(("predict", "accuracy", *case) for case in [*SHAPES, *TEXTS]),
        ("predict", "accuracy", "nothing", "no rows"),
        ("predict", "accuracy", "two columns", r"shape \(20, 2\), not one label per row"),
        ("predict", "accuracy", "text", "'a', which is not a class"),
        ("predict", "accuracy", "huge", "not a class"),
        ("predict", "accuracy", "nan", "nan, which is not a class"),
        *(("predict_proba", "neg_log_loss", *case) for case in FEW),
        ("predict_proba", "neg_log_loss", "two columns", "2 rows|shape"),
        ("predict_proba", "neg_log_loss", "three axes", "shape"),
        ("predict_proba", "neg_log_loss", "nan", "NaN or infinite"),
        ("predict_proba", "neg_log_loss", "infinite", "NaN or infinite"),
        ("predict_proba", "neg_log_loss", "complex", "complex"),
        ("predict_proba", "neg_log_loss", "beyond", "probabilities from 0 to 1, got values from -"),
        ("predict_proba", "neg_log_loss", "negative", "probabilities from 0 to 1, got values from -0.001"),
        ("predict_proba", "neg_brier_score", "beyond", "probabilities from 0 to 1"),
        *(("predict", "r2", *case) for case in FEW),
        ("predict", "r2", "text", "could not convert"),
        ("predict", "r2", "huge", "too large"),
        ("predict", "r2", "nan", "NaN or infinite"),
        ("predict", "r2", "infinite", "NaN or infinite"),
        ("predict", "r2", "complex", "complex"),
        ("predict", "r2", "two columns", "not one number per row"),
    ],
)
def test_it_fails_alone(method: str, scoring: str, how: str, why: str) -> None:
    model, y = (Regressor, VALUES) if scoring == "r2" else (Classifier, Y)
    with pytest.warns(HeldoutWarning, match="1 of 2 configurations failed"):
        search = searched(model(method=method), how, y, scoring)
    assert search.best_index_ == 0 and list(search.predictions_.failed) == [1]
    assert re.search(why, search.predictions_.failed[1])
    assert np.isfinite(search.estimate_.value)
    assert search.cv_results_["rank_test_score"].tolist() == [1, 2]


@pytest.mark.processes
@pytest.mark.parametrize(("how", "why"), [TEXTS[2], ("beyond", "from 0 to 1")])
def test_it_fails_alone_in_a_worker_and_with_a_run_file(how: str, why: str, tmp_path: Any) -> None:
    model = Classifier(method="predict_proba")
    with pytest.warns(HeldoutWarning, match="1 of 2 configurations failed"):
        search = searched(model, how, Y, "neg_log_loss", n_jobs=2, store=tmp_path / "run.db")
    assert search.best_index_ == 0 and why in search.predictions_.failed[1]
    with pytest.warns(HeldoutWarning, match="1 of 2 configurations failed"):
        again = searched(model, how, Y, "neg_log_loss", store=tmp_path / "run.db")
    assert again.predictions_.failed == search.predictions_.failed
    assert again.estimate_.value == search.estimate_.value


@pytest.mark.parametrize(("how", "scoring"), [("objects", "accuracy"), ("objects", "r2"), ("beyond", "roc_auc")])
def test_what_can_be_scored_is_scored(how: str, scoring: str) -> None:
    model, y = (Regressor, VALUES) if scoring == "r2" else (Classifier, Y)
    method = "predict_proba" if how == "beyond" else "predict"
    search = searched(model(method=method), how, y, scoring)
    assert search.predictions_.failed == {}


def test_the_first_error_is_raised_where_that_is_asked_for() -> None:
    model = Classifier(method="predict_proba")
    with pytest.raises(InputError, match="probabilities from 0 to 1"):
        searched(model, "beyond", Y, "neg_log_loss", error_score="raise")
    with pytest.raises(SilentError):
        searched(model, "raises", Y, "neg_log_loss", error_score="raise")


def test_one_of_two_metrics_may_read_probabilities_that_the_other_cannot() -> None:
    with pytest.warns(HeldoutWarning, match="No estimate: .*probabilities from 0 to 1"):
        search = ho.HeldOutSearchCV(Classifier("beyond", "predict_proba"), {}, scoring=["roc_auc", "neg_log_loss"],
                                    refit="roc_auc", cv=3, n_bootstraps=50, random_state=0).fit(X, Y)  # fmt: skip
    assert np.isfinite(search.estimate_.value) and np.isnan(search.estimates_["neg_log_loss"].value)
