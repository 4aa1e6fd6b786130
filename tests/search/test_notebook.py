"""A fitted search in a notebook: the estimate first, then scikit-learn's diagram."""

import pytest
import sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:150], Y[:150]


def shown(search: ho.HeldOutSearchCV) -> str:
    page: str = search._repr_mimebundle_()["text/html"]
    assert search._repr_html_()[:200] == page[:200]
    return page


def test_the_estimate_comes_first() -> None:
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 9]}, confidence_level=0.9, n_bootstraps=30, random_state=0
    )
    assert shown(search).startswith("<style>")  # scikit-learn's diagram alone
    page = shown(search.fit(X, Y))
    assert page.startswith("<table><caption>accuracy by shrinkage</caption>")
    estimate = search.estimate_
    for text in (f"{number:.4f}"[:4] for number in (estimate.value, estimate.interval.low, estimate.uncorrected)):
        assert text in page[: page.index("<style>")]
    assert "(90%)" in page and "sk-estimator" in page
    for sentence in estimate.flags.values():  # 30 bootstraps are few
        assert f"<li>{sentence}</li>".replace("'", "&#x27;") in page
    assert shown(search.set_params(method=None).fit(X, Y)).startswith("<style>")


def test_each_scorer_has_its_estimate_and_the_deciding_one_is_first() -> None:
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 9]}, scoring=["accuracy", "roc_auc"], refit="roc_auc",
        n_bootstraps=30, random_state=0,
    ).fit(X, Y)  # fmt: skip
    page = shown(search)
    assert page.count("by shrinkage</caption>") == 2
    assert page.index("roc_auc by") < page.index("accuracy by")


def test_text_is_shown_where_the_user_asked_for_text() -> None:
    search = ho.HeldOutSearchCV(KNeighborsClassifier(), n_bootstraps=30, random_state=0).fit(X, Y)
    with sklearn.config_context(display="text"):
        assert "text/html" not in search._repr_mimebundle_()
        with pytest.raises(AttributeError):
            search._repr_html_()
