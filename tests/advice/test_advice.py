"""``ho.advise``: its sentences, its warnings, and the input that it refuses."""

import json
import math

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.advice import Advice
from heldout.advice.flat_vs_nested import TableEvidence, installed_evidence
from heldout.errors import InputError

X, Y = make_classification(160, 4, n_informative=3, n_redundant=0, random_state=3)
SEVERAL = [
    ("knn", KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}),
    ("lr", LogisticRegression(), {"C": [0.1, 1.0]}),
    ("nb", GaussianNB(), {}),
]
EVIDENCE = [
    TableEvidence(f"t{k}", rows, 5, scenario, algorithms, 6, k % 2 / 2 + 0.25, 0.004, 0.02)
    for scenario, algorithms in (("top3", 3), ("full", 12))
    for k, rows in enumerate(range(100, 1000, 100))
]


@pytest.fixture(autouse=True)
def evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.advice.adviser.installed_evidence", lambda: EVIDENCE)


def advised(configurations=SEVERAL, *, X=X, y=Y, seconds=0.0, **settings) -> Advice:
    return ho.advise(X, y, configurations, seconds=seconds, random_state=0, **settings)


def test_the_whole_advice():
    found = ho.advise(X, Y, SEVERAL, seconds=60, random_state=0)

    assert found.sentences[0].startswith("For held-out predictions of a fixed search of several configurations")
    assert "Nested cross-validation makes 156 fits where the search alone makes 31." in found.sentences
    assert found.cost("nested_cv").seconds > found.cost("cv").seconds > 0
    assert found.cost("nothing") is None
    frame = found.to_frame()
    assert list(frame["protocol"]) == [one.protocol for one in found.costs]
    assert frame.set_index("protocol").loc["cv", "bias"] > 0
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["protocols"][0]["most"] == 31
    assert document["protocols"][2]["seconds"] is None
    text = str(found)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert " ".join(text.split()).count("at no further fit") == 1
    assert "nested, by family" in found._repr_html_()
    assert repr(found).startswith("Advice(160 rows, 6 configurations; method: shrinkage; fits: cv 31")


def test_the_same_seed_gives_the_same_advice():
    first, second = (ho.advise(X, Y, SEVERAL, seconds=0, random_state=7) for _ in range(2))

    assert first.to_dict() == second.to_dict()
    assert first.seconds_spent == 0


def test_the_evidence_is_of_about_as_many_algorithms_as_the_search():
    found = advised()
    (sentence,) = [text for text in found.sentences if "most similar number of rows" in text]
    (published,) = [text for text in found.sentences if "Wainer & Cawley chose" in text]

    assert "the same of 3 algorithms in 47%" in sentence
    assert "differed by 0.004 (– to –) on average; the article's threshold of irrelevance is 0.020" in sentence
    assert "On 115 of their 115 tables" in published and "the same of 3 algorithms in 71%" in published
    assert "−0.004 (−0.007 to −0.002)" in published

    many = [(f"knn {k}", KNeighborsClassifier(k), {}) for k in range(1, 12)]
    (sentence,) = [text for text in advised(many).sentences if "most similar number of rows" in text]
    assert "the same of 12 algorithms" in sentence


def test_with_one_family_nesting_changes_nothing():
    found = advised((KNeighborsClassifier(), {"n_neighbors": [1, 5]}))

    assert found.changes == ()
    assert any("does not change it" in text for text in found.sentences)
    assert not any("Wainer" in text for text in found.sentences)


def test_with_one_configuration_there_is_nothing_to_choose():
    found = advised(GaussianNB())

    assert any(text.startswith("There is one configuration, so nothing is chosen") for text in found.sentences)
    assert not any("where the search alone makes" in text for text in found.sentences)
    assert found.worst_case is None
    assert not any("not simulated" in text for text in found.warnings)


@pytest.mark.parametrize(("rows", "expected"), [(90, "repeats as time allows"), (160, "drop='bootstrap'")])
def test_the_articles_advice_depends_on_the_rows(rows, expected):
    assert sum(expected in text for text in advised(X=X[:rows], y=Y[:rows]).sentences) == 1


def test_with_a_scorer_that_cannot_be_opened_only_nesting_applies():
    found = advised(scoring=lambda model, X, y: float(model.score(X, y)))

    assert any("cannot be opened" in text for text in found.sentences)
    assert found.cost("bbc") is None
    assert not any("drop='bootstrap'" in text for text in found.sentences)


def warned(text, **settings) -> bool:
    return any(text in warning for warning in advised(**settings).warnings)


def test_it_warns_about_data_unlike_the_evidence():
    names = ("learning_rate", "max_leaf_nodes", "l2_regularization", "min_samples_leaf")
    wide = {name: [1, 2] for name in names}
    wide = [*SEVERAL, ("boosting", HistGradientBoostingClassifier(), wide)]
    assert warned("More than 3 hyper-parameters vary in boosting.", configurations=wide)
    assert warned("80 groups", groups=np.arange(160) // 2)
    assert warned("follow time", cv=TimeSeriesSplit(4))
    assert warned("not simulated: the simulation needs folds that test every row once", cv=TimeSeriesSplit(4))
    assert warned("is not counted", cv=TimeSeriesSplit(4))
    rare = np.array([0] * 140 + [1] * 20)
    assert warned("Class 1 has 20 rows for 5 folds", y=rare)
    assert warned("yours is roc_auc of a binary target", scoring="roc_auc")
    assert warned("You tune on 40 rows, and the tables of the evidence on 50 to 450.", X=X[:40], y=Y[:40])

    assert advised().warnings == ()


@pytest.mark.parametrize("n_rows", [300, 1000])
def test_rows_that_tables_of_the_evidence_have_are_no_warning(n_rows, monkeypatch):
    monkeypatch.setattr("heldout.advice.adviser.installed_evidence", installed_evidence)
    X, y = np.random.default_rng(0).normal(size=(n_rows, 2)), np.arange(n_rows) % 2
    assert not [said for said in ho.advise(X, y, SEVERAL, seconds=0).warnings if "of the evidence" in said]


def test_a_regression_is_simulated_as_one_with_a_warning_that_the_evidence_has_none():
    X, y = make_regression(120, 3, noise=5.0, random_state=0)
    found = advised((Ridge(), {"alpha": [0.1, 1.0, 10.0]}), X=X, y=y)

    assert found.worst_case.metric == "mean_squared_error"
    assert any("r2 of a regression target" in text for text in found.warnings)


def test_an_area_is_simulated_with_the_share_of_the_rarer_class():
    assert advised(scoring="roc_auc").worst_case.metric == "roc_auc"
    # Of 10 groups with 12 % in class 1, the simulation would have one row of it, and no fold of both classes.
    rare = np.tile(np.r_[[1] * 2, [0] * 14], 10)
    assert advised(y=rare, scoring="roc_auc", groups=np.arange(160) // 16).worst_case.metric == "accuracy"


def test_failures_are_counted_and_the_first_is_named():
    found = advised((KNeighborsClassifier(), {"n_neighbors": [3, 159]}), seconds=5.0)

    assert list(found.failures) == ["KNeighborsClassifier (n_neighbors=159)"]
    assert any(text.startswith("1 of 2 configurations that were fitted failed") for text in found.warnings)


def test_a_preset_is_passed_by_name():
    found = advised("quick")

    assert [one.name for one in found.families][:2] == ["logistic", "linear svm"]
    assert math.isnan(found.cost("cv").seconds)


@pytest.mark.parametrize(
    ("configurations", "match"),
    [
        ("fast", r"configurations must be .* a preset \(quick, standard, boosted.*\), got 'fast'"),
        (3, "configurations must be"),
        ([], "the list of estimators is empty"),
        ((GridSearchCV(GaussianNB(), {})), "an estimator that is no search, or a preset .*, got GridSearchCV"),
        ([("nb", GaussianNB())], "triple"),
    ],
    ids=["preset", "number", "empty", "search", "pairs"],
)
def test_configurations_that_cannot_be_searched_are_refused(configurations, match):
    with pytest.raises(InputError, match=match):
        ho.advise(X, Y, configurations)


def test_invalid_settings_are_refused():
    with pytest.raises(InputError, match="inner must be"):
        ho.advise(X, Y, GaussianNB(), inner="outer")
    with pytest.raises(InputError, match="needs at least 3 outer folds"):
        ho.advise(X, Y, SEVERAL, cv=2, inner="remaining")
    assert "needs at least 3 outer folds" in ho.advise(X, Y, SEVERAL, cv=2, seconds=0).warnings[0]
    assert ho.advise(X, Y, GaussianNB(), cv=2, seconds=0).costs[-1].most == 3


@pytest.mark.parametrize("n_jobs", [0, 1.5, True])
def test_invalid_n_jobs_is_refused_before_anything_is_fitted(n_jobs):
    with pytest.raises(InputError, match="n_jobs must be a number of processes"):
        ho.advise(X, Y, GaussianNB(), n_jobs=n_jobs)


@pytest.mark.parametrize(
    "grid", [{"neighbours": [3]}, [{"n_neighbors": [3]}, {"neighbours": [3]}]], ids=["one", "two"]
)
def test_a_misspelt_parameter_is_refused_also_where_nothing_is_fitted(grid):
    message = "the parameters do not fit the estimator: Invalid parameter 'neighbours'"
    with pytest.raises(InputError, match=message):
        ho.advise(X, Y, [("nb", GaussianNB(), {}), ("knn", KNeighborsClassifier(), grid)], seconds=0)


def test_html_is_escaped():
    names = [("<b>", GaussianNB(), {}), ("knn", KNeighborsClassifier(), {"n_neighbors": [3, 900]})]
    page = advised(names, seconds=1.0)._repr_html_()

    assert "<b>" not in page
    assert "&lt;= n_samples_fit" in page
