"""Spaces for studies of searches, in a module that other processes can import."""

from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from heldout.spaces import default_preprocessing


def prepared(*steps: tuple[str, Any]) -> Pipeline:
    return Pipeline([("impute", SimpleImputer()), ("scale", StandardScaler()), *steps])


SPACE = [
    ("svm", prepared(("fit", SVC())), {"fit__C": [0.1, 10.0], "fit__gamma": [0.1, 1.0]}),
    ("selected", prepared(("select", SelectKBest(k=3)), ("fit", LogisticRegression())), {"fit__C": [0.01, 1.0]}),
    ("forest", prepared(("fit", RandomForestClassifier(5))), {"fit__min_samples_leaf": [1, 5]}),
    ("tree", prepared(("select", SelectKBest(k=3)), ("fit", DecisionTreeClassifier(max_features=1))), {}),
    ("constant", prepared(("none", "passthrough"), ("fit", DecisionTreeClassifier(max_depth=1))), {}),
]
"""Ten configurations after two preparations, some of which draw random numbers."""


def of_table(X: Any, y: Any) -> list[Any]:
    """A few quick models of any table."""
    steps = [("prepare", default_preprocessing(X)), ("fit", LogisticRegression())]
    bayes = Pipeline([("prepare", default_preprocessing(X)), ("fit", GaussianNB())])
    return [
        ("logistic", Pipeline(steps), {"fit__C": [0.001, 0.1, 10.0]}),
        ("bayes", bayes, {"fit__var_smoothing": [1e-9, 1.0]}),
    ]
