"""``ho.advise``: its sentences, its warnings, and the input that it refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
from sections import renew, sections_in
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


RARE = np.array([0] * 140 + [1] * 20)
# Of 10 groups with 12 % in class 1, the simulation would have one row of it, and no fold of both classes.
RARE_IN_GROUPS = {"y": np.tile(np.r_[[1] * 2, [0] * 14], 10), "groups": np.arange(160) // 16}
NAMES = ("learning_rate", "max_leaf_nodes", "l2_regularization", "min_samples_leaf")
WIDE = [*SEVERAL, ("boosting", HistGradientBoostingClassifier(), {name: [1, 2] for name in NAMES})]
REGRESSION = dict(zip(("X", "y"), make_regression(120, 3, noise=5.0, random_state=0), strict=True))
ADVICE = {
    "several families": lambda: advised(),
    "two families": lambda: advised(SEVERAL[:2]),
    "eleven algorithms": lambda: advised([(f"knn {k}", KNeighborsClassifier(k), {}) for k in range(1, 12)]),
    "one family": lambda: advised((KNeighborsClassifier(), {"n_neighbors": [1, 5]})),
    "one configuration": lambda: advised(GaussianNB()),
    "few rows": lambda: advised(X=X[:90], y=Y[:90]),
    "fewer rows than those of the evidence": lambda: advised(X=X[:40], y=Y[:40]),
    "a scorer that cannot be opened": lambda: advised(scoring=lambda model, X, y: float(model.score(X, y))),
    "many hyper-parameters": lambda: advised(WIDE),
    "groups": lambda: advised(groups=np.arange(160) // 2),
    "time": lambda: advised(cv=TimeSeriesSplit(4)),
    "a rare class": lambda: advised(y=RARE),
    "an area": lambda: advised(scoring="roc_auc"),
    "an area of a rare class in groups": lambda: advised(scoring="roc_auc", **RARE_IN_GROUPS),
    "a regression": lambda: advised((Ridge(), {"alpha": [0.1, 1.0, 10.0]}), **REGRESSION),
    "a preset": lambda: advised("quick"),
    "two folds": lambda: advised(cv=2),
}
FILE = Path(__file__).with_name("advice.md")
WRITTEN = sections_in(FILE)


@pytest.mark.parametrize("name", ADVICE)
def test_the_advice_is_that_of_the_file(name):
    """After a change of words HELDOUT_RENEW=yes writes the file anew; the difference shows what users will read."""
    found = ADVICE[name]()
    costs = [f"{one.protocol}: {one.fewest} to {one.most} fits" for one in found.costs]
    simulated = "nothing" if found.worst_case is None else found.worst_case.metric
    families = f"{', '.join(one.name for one in found.families)}; {len(found.changes)} changes expected"
    warnings = [f"Warning: {text}" for text in found.warnings]
    said = "\n".join([*found.sentences, *warnings, *costs, f"Simulated: {simulated}.", families]) + "\n"
    renew(FILE, WRITTEN, ADVICE, name, said)
    assert said.strip() == WRITTEN[name].strip()


@pytest.mark.parametrize("n_rows", [300, 1000])
def test_rows_that_tables_of_the_evidence_have_are_no_warning(n_rows, monkeypatch):
    monkeypatch.setattr("heldout.advice.adviser.installed_evidence", installed_evidence)
    X, y = np.random.default_rng(0).normal(size=(n_rows, 2)), np.arange(n_rows) % 2
    assert not [said for said in ho.advise(X, y, SEVERAL, seconds=0).warnings if "of the evidence" in said]


def test_failures_are_counted_and_the_first_is_named():
    found = advised((KNeighborsClassifier(), {"n_neighbors": [3, 159]}), seconds=5.0)

    assert list(found.failures) == ["KNeighborsClassifier (n_neighbors=159)"]
    assert any(text.startswith("1 of 2 configurations that were fitted failed") for text in found.warnings)


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
