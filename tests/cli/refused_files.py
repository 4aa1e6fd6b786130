"""The files that the command lines of ``refusals.txt`` name."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

N = 60
EXPORTS = Path(__file__).parents[1] / "readers" / "exports"
ROWS = np.arange(N)
LETTERS = ["a", "b", "c"] * 20

OWN_SPACE = """
import numpy as np
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.experimental import enable_halving_search_cv
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import heldout as ho


class Prior(ClassifierMixin, BaseEstimator):
    def __init__(self, add=1.0):
        self.add = add

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = (counts + self.add) / (counts + self.add).sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class KeepsColumns(Prior):
    def fit(self, X, y):
        self.means_ = X.select_dtypes("number").mean()
        return super().fit(X, y)


near, prior, keeps_columns = KNeighborsClassifier(), Prior(add=2.0), KeepsColumns()
models = [("near", near, {"n_neighbors": [1, 3]}), ("tree", DecisionTreeClassifier())]
priors = [("prior", Prior(), {"add": [1.0, 2.0]}), ("alone", Prior())]
drawn = [("logistic", LogisticRegression(), {"C": loguniform(0.1, 10)})]
three, empty, ridge = 3, [], Ridge()
grid_search = GridSearchCV(Prior(), {"add": [1.0, 2.0, 3.0]})
random_search = RandomizedSearchCV(Prior(), {"add": loguniform(0.1, 10)}, n_iter=4)
of_models = ho.HeldOutSearchCV(priors[:1])
halving = HalvingGridSearchCV(Prior(), {"add": [1.0, 2.0]})


def of_data(X, y):
    model = make_pipeline(ho.spaces.default_preprocessing(X), LogisticRegression())
    return [("logistic", model, {"logisticregression__C": [0.1, 1.0 + len(set(y))]})]


def prepared(X, y):
    prepare = ho.spaces.default_preprocessing(X)
    near = make_pipeline(prepare, KNeighborsClassifier())
    tree = make_pipeline(prepare, DecisionTreeClassifier(max_depth=2, random_state=0))
    return [("near", near, {"kneighborsclassifier__n_neighbors": [3, 9]}), ("tree", tree, {})]


def near_or_far(X, y):
    return [("near", prepared(X, y)[0][1], {"kneighborsclassifier__n_neighbors": [1, 45]})]


def raising(X, y):
    raise KeyError("nothing here")


def of_nothing():
    return models


def of_three(X, y):
    return 3


def suggest(trial):
    return KNeighborsClassifier(trial.suggest_int("n_neighbors", 1, 9))


def suggest_params(trial):
    return {"n_neighbors": trial.suggest_int("n_neighbors", 1, 9)}


def suggest_of_data(X, y):
    prepare = ho.spaces.default_preprocessing(X)

    def proposed(trial):
        return make_pipeline(prepare, LogisticRegression(C=trial.suggest_float("C", 0.01, 10, log=True)))

    return proposed


optuna_search = ho.HeldOutOptunaSearchCV(near, suggest_params, n_trials=3)
"""
OTHER_MODELS = """
from sklearn.dummy import DummyClassifier

model = [("dummy", DummyClassifier())]
"""


def write_files(frame: pd.DataFrame) -> None:
    """Write all into the current folder; ``frame`` is the table of the other tests of commands."""
    tables = {
        **tables_to_tune(frame), **wide_predictions(), **predictions_of_classes(), **long_predictions(),
        **tables_of_conversations(frame),
    }  # fmt: skip
    for name, table in tables.items():
        table.to_csv(name, index=False)
    for name, columns in german_tables().items():
        pd.DataFrame(columns).to_csv(name, index=False, sep=";")
    shutil.copy(EXPORTS / "caret-cv.csv", "caret.csv")
    files = {
        "ragged.csv": "a,b\n1,2\n3,4,5\n", "twice.csv": "a,b,a\n1,2,3\n4,5,6\n", "taken": "a file",
        "own_space.py": OWN_SPACE, "broken.py": "1 / 0\n", "other.py": OTHER_MODELS,
        "running/run.db": "", "a run/run.db": "", "old/run.db": "",
        "old/report.json": '{"title": "old"}', "empty/note": "",
        "begun/run.db": "", "table/run.db": "a,b\n1,2\n",
    }  # fmt: skip
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    Path("binary.csv").write_bytes(b"\x89PNG\0")


def tables_of_conversations(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Those that only ``said.txt`` names."""
    scores = wide_predictions()["scores.csv"]
    words = frame["text"].where(ROWS % 9 != 0, "lost")
    return {
        "other-a.csv": frame.assign(a=frame["a"] + 1),
        "few-rows.csv": pd.DataFrame({"a": [1.5, 4, 2], "y": [0.5, 1.5, 0.25]}),  # no bootstrap has an r2
        "words-for-nothing.csv": frame.assign(text=words, share=[f"{row} %" for row in ROWS]),
        "infinite.csv": scores.assign(two=scores["two"].where(ROWS != 3, np.inf)),
        "repeated.csv": long_predictions()["repeats.csv"].sort_values(["rep", "patient"]),
    }


def tables_to_tune(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    events = {"days": ROWS + 1.5, "none": 0, "one": ROWS == 3, "twice": 1 + (ROWS == 5), "seen": 1}
    weights = {
        "negative": np.where(ROWS == 7, -1.5, 1.0), "missing": np.where(ROWS == 4, np.nan, 1.0), "words": "a",
        "zero": 0.0,
    }  # fmt: skip
    return {
        "data.csv": frame,
        "estimate.csv": frame.assign(fold=ROWS % 5)[["a", "site", "outcome", "fold"]],
        "one-class.csv": frame.assign(outcome="no"),
        "missing.csv": frame.assign(outcome=[None, *["no", "yes"] * 29, "no"]),
        "rare.csv": frame.assign(outcome=["rare"] * 3 + ["no"] * 30 + ["yes"] * 27),
        "misspelt.csv": frame.assign(
            name=[f"row {i}" for i in ROWS],
            day=[f"{2000 + i}-01-01" for i in ROWS],
            answer=["yeah", *LETTERS[1:]],
        ),
        "lonely.csv": frame.assign(outcome=np.where(ROWS == 7, "yes", "no")),
        "bare.csv": frame.drop(columns=["a", "text", "site"]),
        "three-sites.csv": frame.assign(site=np.repeat([0, 1, 2], 20)),
        "towns.csv": frame.assign(text=[f"t{row % 40}" for row in ROWS]),
        "weights.csv": frame.assign(**weights),
        "survival.csv": frame.assign(**events).astype({"one": int}),
        "numbers.csv": frame.assign(y=ROWS / 7).drop(columns="outcome"),
        "series.csv": pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=["y", "m1", "m2"]),
    }


def wide_predictions() -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(1)
    truth = ROWS % 2
    names = ("one", "two", "three", "four")
    scores = pd.DataFrame({name: 1 / (1 + np.exp(-(truth + rng.normal(size=N)))) for name in names})
    scores.insert(0, "truth", truth)
    scores.insert(1, "fold", ROWS // 2 % 6)
    months = pd.DataFrame({"months": rng.exponential(12, N), "died": ROWS % 3 > 0})
    letters = pd.DataFrame({"truth": LETTERS})
    return {
        "scores.csv": scores,
        "gaps.csv": scores.assign(two=np.nan),
        "words.csv": scores.assign(two=["high", *scores["two"].astype(str)[1:]]),
        "constant.csv": scores.assign(outcome=1),
        "floats.csv": scores.assign(truth=truth + 1.0),
        "turned.csv": scores.assign(truth=np.where(truth, "a", "b")),
        "months.csv": months.astype({"died": int}).assign(cox=rng.normal(size=N), other=rng.normal(size=N)),
        "numbers-of-letters.csv": letters.assign(one=np.linspace(0, 1, N)),
        "another-letter.csv": letters.assign(one=["a", "b", "d"] * 20),
        "letters.csv": letters.assign(one=LETTERS),
        "letters-of-numbers.csv": pd.DataFrame({"truth": np.linspace(0, 1, N), "one": LETTERS}),
        "gap-in-truth.csv": pd.DataFrame({"truth": [None, *LETTERS[1:]], "one": 0.5}),
        "decision.csv": pd.DataFrame({"truth": truth, "one": np.linspace(2, 3, N)}),
    }


def predictions_of_classes() -> dict[str, pd.DataFrame]:
    columns: dict[str, dict[str, Any]] = {
        "lacking": {"m[a]": 0.5, "m[b]": 0.5},
        "mixed": {"m[a]": 0.5, "m[b]": 0.3, "m[c]": 0.2, "k": "a"},
        "sum": {"m[a]": 0.5, "m[b]": 0.5, "m[c]": 0.5},
        "others": {"m[1]": 0.5, "m[2]": 0.3, "m[3]": 0.2},
        "single": {"m": 0.5},
    }
    return {f"{name}.csv": pd.DataFrame({"truth": LETTERS, **shares}) for name, shares in columns.items()}


def long_predictions() -> dict[str, pd.DataFrame]:
    """As tidymodels saves them, row by row, and with something wrong; and repeats in different orders."""
    rng = np.random.default_rng(4)
    grid = [(penalty, mixture) for penalty in (0.001, 0.01) for mixture in (0.0, 0.5, 1.0)]
    row, model = np.repeat(ROWS, len(grid)), np.tile(np.arange(len(grid)), N)
    share = rng.random(len(row)).round(6)
    tidy = pd.DataFrame(
        {
            "id": [f"Fold{k + 1}" for k in row % 5], ".pred_class": np.where(share > 0.5, "M", "B"),
            ".pred_B": 1 - share, ".pred_M": share, ".row": row + 1,
            "penalty": [grid[j][0] for j in model], "mixture": [grid[j][1] for j in model],
            "Class": np.where(row % 2, "M", "B"), ".config": [f"mod{j + 1}" for j in model],
        }
    )  # fmt: skip

    def changed(column: str, value: Any) -> pd.DataFrame:
        return tidy.assign(**{column: tidy[column].astype(object).where(tidy.index != 7, value)})

    twice = pd.DataFrame({"y": ROWS * 1.0, "rep": 0, "patient": ROWS, "m0": rng.normal(size=N)})
    return {
        "tidy.csv": tidy,
        "tidy-1.csv": tidy[1:],
        "tidy-5.csv": tidy[5:],
        "tidy-twice.csv": pd.concat([tidy, tidy[:1]]),
        "tidy-class.csv": changed("Class", "x"),
        "tidy-fold.csv": changed("id", "Fold9"),
        "tidy-config.csv": changed(".config", None),
        "tidy-row.csv": changed(".row", None),
        "tidy-other.csv": tidy.assign(other=tidy.index * 1.5),
        "tidy-bare.csv": tidy.drop(columns=[".pred_class", ".pred_B", ".pred_M"]),
        "tidy-settings.csv": tidy[[".pred_B", ".pred_M", "penalty", "mixture", "Class"]],
        "repeats.csv": pd.concat([twice, twice.sample(frac=1, random_state=1).assign(rep=1)]),
        "same-folds.csv": pd.DataFrame(
            {"truth": row % 2, "rowIndex": row, "Resample": row % 5, "mtry": model, "M": share}
        ),
    }


def german_tables() -> dict[str, dict[str, Any]]:
    columns = {
        "pay": [f"{1000 + 7 * row},5" for row in ROWS],
        "seen": [f"{1 + row % 28}.{1 + row % 12}.2020" for row in ROWS],
        "stage": 1 + ROWS % 4,
        "ill": np.where(ROWS % 3, "ja", "nein"),
    }
    return {
        "german.csv": columns,
        "alike.csv": columns | {"ill": ["Ja", "ja", "nein"] * 20},
        "none.csv": columns | {"ill": ["None", "mild", "None"] * 20},
        "status.csv": columns | {"status": ROWS % 2, "days": ROWS * 3},
        "days.csv": columns | {"seen": "1/2/2020"},
        "may.csv": columns | {"seen": ["2020-01-02"] * 59 + ["May"]},
        "year.csv": columns | {"seen year": 1},
    }
