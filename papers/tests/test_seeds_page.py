"""The page on the articles is true: its names, arguments, options and links exist, and its calls run."""

import ast
import inspect
import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from command_lines import check_read
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.cli.group import heldout
from heldout.execution.store import SQLiteStore

PAGE = Path(__file__).parents[1] / "pages" / "seeds.md"
TEXT = PAGE.read_text(encoding="utf-8")
HEAD = ("in the document", "in Python", "on the command line", "page", "note")
LEAST_ROWS = {"Tsamardinos": 40, "Paraschakis": 25, "Wainer": 20, "Klamer": 12, "Lecture": 12}


class Row(NamedTuple):
    """What a document has, the calls that give it, where it is explained, and how heldout deviates."""

    what: str
    python: str
    command: str
    page: str
    note: str


def rows_of_tables(text: str) -> list[Row]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in lines]
    return [Row(*found) for found in cells if found != HEAD and found[0] != "---"]


ROWS = rows_of_tables(TEXT)
SPANS = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))
CALLS = list(dict.fromkeys(span for span in SPANS if span.startswith("ho.")))
COMMANDS = list(dict.fromkeys(span for span in SPANS if re.match(r"heldout \w+ \w", span)))


def resolved(dotted: str) -> Any:
    """What a name such as ``ho.protocols.k_folds`` stands for."""
    found: Any = ho
    for name in dotted.split(".")[1:]:
        found = getattr(found, name)
    return found


def calls_of_ho(text: str) -> list[ast.Call]:
    """The calls in an expression whose function is a name of ho."""
    tree = ast.parse(text, mode="eval")
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and re.fullmatch(r"ho(\.\w+)+", ast.unparse(node.func))
    ]


def of_result(text: str) -> tuple[Any, list[str]]:
    """The function of the first call in an expression, and the names that are read from its result."""
    node: ast.expr = ast.parse(text, mode="eval").body
    names: list[str] = []
    while not (isinstance(node, ast.Call) and re.fullmatch(r"ho(\.\w+)+", ast.unparse(node.func))):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return None, []
    return resolved(ast.unparse(node.func)), names


@pytest.mark.parametrize(("document", "least"), LEAST_ROWS.items())
def test_every_document_has_its_section(document: str, least: int) -> None:
    sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    assert len(sections) == len(LEAST_ROWS)
    found = [rows_of_tables(section) for section in sections if section.startswith(document)]
    assert len(found) == 1
    assert len(found[0]) >= least


def test_every_row_has_a_call_or_says_that_there_is_none() -> None:
    for row in ROWS:
        assert row.what, row
        assert "`ho." in row.python or row.python.startswith("not offered"), row
        assert "`heldout " in row.command or row.command.startswith("not offered"), row
        assert "](" in row.page or row.python.startswith("not offered"), row


def test_every_name_of_ho_exists() -> None:
    names = set(re.findall(r"\bho(?:\.[A-Za-z]\w*)+", " ".join(SPANS)))
    results = {"ho.advise", "ho.compare_algorithms"}
    assert names > results
    for name in sorted(names):
        resolved(name)


@pytest.mark.parametrize("text", CALLS)
def test_every_call_fits_the_signature(text: str) -> None:
    if not re.match(r"ho[\w.]*\(", text):
        return
    for call in calls_of_ho(text):
        function = resolved(ast.unparse(call.func))
        named = {keyword.arg: keyword for keyword in call.keywords}
        assert None not in named, "written out, please"
        inspect.signature(function).bind(*call.args, **named)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_line_can_be_read(command: str) -> None:
    check_read(command)


# The rest runs the page: every call and every command, with small settings in place of the published ones.

SMALL_STUDIES: dict[str, dict[str, Any]] = {
    "bias": {"rows": 20, "configurations": 5, "repetitions": 2, "folds": 5, "n_bootstraps": 20},
    "search": {
        "rows": 40,
        "subsamples": 1,
        "repeats": 2,
        "space": "quick",
        "configurations": 3,
        "n_bootstraps": 20,
    },
    "intervals": {"rows": 50, "configurations": 10, "repetitions": 2, "n_bootstraps": 50},
    "intervals_on_tables": {"train_rows": 50, "repetitions": 1, "configurations": 4, "n_bootstraps": 50},
    "timing": {"rows": [50], "configurations": [5], "folds": [3], "centre": (50, 5, 3), "repetitions": 2},
    "flat_vs_nested": {"algorithms": ["knn", "nb"], "small": True, "repetitions": 1, "max_rows": 80},
}
SMALL: dict[str, dict[str, Any]] = {
    "bootstrap_validate": {"n_bootstraps": 8},
    "bootstrap_search": {"n_bootstraps": 3},
    "HeldOutSearchCV": {"n_bootstraps": 50},
}
CLASSES = load_breast_cancer(as_frame=True)
NUMBERS = load_diabetes(as_frame=True)
MODELS = """
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.model_selection import GridSearchCV
import heldout as ho

logistic = make_pipeline(StandardScaler(), LogisticRegression(C=10))
one = KNeighborsClassifier(5)
tree = GridSearchCV(DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 10]})
tuned = ho.spaces.TuningProcedure(GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 15]}, cv=3))
space = [
    ("neighbours", KNeighborsClassifier(), {"n_neighbors": [1, 15]}),
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 10]}),
]
"""


def smaller(function: Any, settings: dict[str, Any]) -> Any:
    """The function with small settings; a number that the page names is made small too, a list or text is kept."""
    signature = inspect.signature(function)

    def call(*arguments: Any, **named: Any) -> Any:
        given = signature.bind(*arguments, **named).arguments
        kept = {name: value for name, value in given.items() if name not in settings or isinstance(value, str)}
        return function(
            **{**{name: value for name, value in settings.items() if name in signature.parameters}, **kept}
        )

    return call


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """``ho`` with small settings, in a folder with the files that the page names."""
    monkeypatch.chdir(tmp_path)
    X, y = CLASSES.data.iloc[:, :5], CLASSES.target
    (tmp_path / "tables").mkdir()
    X[["mean texture", "mean smoothness"]].assign(target=y).to_csv("tables/mine.csv", index=False)
    rows = np.arange(20, 80)
    X.iloc[rows].assign(y=y.iloc[rows].to_numpy()).to_csv("data.csv", index=False)
    NUMBERS.data.iloc[:60, :4].assign(y=NUMBERS.target[:60] / 100).to_csv("numbers.csv", index=False)
    rng = np.random.default_rng(0)
    shares = 1 / (1 + np.exp(-(rng.normal(size=(60, 3)) + 2 * y.iloc[rows].to_numpy()[:, None] - 1)))
    table = pd.DataFrame(shares, columns=["a", "b", "c"]).assign(y=y.iloc[rows].to_numpy(), fold=np.arange(60) % 10)
    table.to_csv("predictions.csv", index=False)
    table.assign(**{name: table[name].where(table.fold < 6) for name in "abc"}).to_csv(
        "incomplete.csv", index=False
    )
    Path("models.py").write_text(MODELS)
    Path("model.py").write_text(MODELS + "model = one\n")
    studies = SimpleNamespace(
        **{name: smaller(getattr(ho.studies, name), some) for name, some in SMALL_STUDIES.items()}
    )
    return SimpleNamespace(
        **{name: getattr(ho, name) for name in dir(ho) if name not in {"studies", *SMALL}},
        studies=studies,
        **{name: smaller(getattr(ho, name), settings) for name, settings in SMALL.items()},
    )


def names_of_the_page() -> dict[str, Any]:
    """What the page's calls call ``X``, ``model``, ``predictions`` and so on."""
    from optuna.distributions import IntDistribution

    table = pd.read_csv("predictions.csv")
    numbers = pd.read_csv("data.csv")
    models = [("logistic", LogisticRegression(max_iter=5000)), ("neighbours", KNeighborsClassifier())]
    return {
        "X": numbers.drop(columns="y"),
        "y": numbers["y"].to_numpy(),
        "model": KNeighborsClassifier(),
        "grid": {"n_neighbors": [1, 15]},
        "models": models,
        "algorithms": [(name, model, {}) for name, model in models],
        "search": ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 15]}, n_bootstraps=50),
        "predictions": table[["a", "b", "c"]].to_numpy(),
        "incomplete": pd.read_csv("incomplete.csv")[["a", "b", "c"]].to_numpy(),
        "folds": table["fold"].to_numpy(),
        "scores": np.random.default_rng(1).uniform(0.6, 0.8, size=(10, 3)),
        "regressor": Ridge(),
        "values": {"alpha": [0.1, 10.0]},
        "loss": lambda y_true, y_pred: (y_true - y_pred) ** 2,
        "space": {"n_neighbors": IntDistribution(1, 20)},
        "tree": DecisionTreeClassifier(random_state=0),
        "leaves": {"min_samples_leaf": [1, 10]},
        "GridSearchCV": GridSearchCV,
        "fitted": lambda X, y: KNeighborsClassifier(5).fit(X, y),
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [text for text in CALLS if "(" in text])
def test_every_call_runs(text: str, small: SimpleNamespace) -> None:
    names = names_of_the_page()
    if "store" in text:
        names["store"] = SQLiteStore(Path("run.db"))
        names["search"].set_params(store=names["store"]).fit(names["X"], names["y"])
    found = eval(text, {"ho": small, **names})
    if isinstance(found, ho.HeldOutSearchCV | ho.HeldOutRandomizedSearchCV | ho.HeldOutOptunaSearchCV):
        if "regressor" in text:
            numbers = pd.read_csv("numbers.csv")
            found.fit(numbers.drop(columns="y"), numbers["y"])
        else:
            found.fit(names["X"], names["y"])
        assert found.estimate_ is not None
    if ".report(" in text:
        assert Path("report.html").stat().st_size > 1000


SMALL_OPTIONS = {
    "tune": "--n-bootstraps 20",
    "compare": "--n-bootstraps 20",
    "validate": "--bootstraps 6",
    "estimate": "--n-bootstraps 50",
    "advise": "--seconds 0",
    "study bias": "--rows 20 --configurations 5 --repetitions 2 --folds 5 --bootstraps 20",
    "study search": "--rows 40 --subsamples 1 --repeats 2 --space quick --configurations 3 --bootstraps 20",
    "study intervals": "--rows 50 --configurations 10 --repetitions 2 --bootstraps 50",
    "study intervals-on-tables": "--train-rows 50 --repetitions 1 --configurations 4 --bootstraps 50",
    "study timing": "--rows 50 --configurations 5 --folds 3 --centre 50,5,3 --repetitions 2",
    "study flat-vs-nested": "--max-rows 80 --repetitions 1 --small",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(command: str) -> None:
    words = shlex.split(command)[1:]
    name = " ".join(words[: 1 + (words[0] == "study")])
    more = SMALL_OPTIONS[name].split() + ([] if name in {"estimate", "study timing"} else ["--n-jobs", "1"])
    if name == "study flat-vs-nested" and "--scenario" not in words:
        more += ["--algorithms", "knn,nb"]
    if words[0] == "tune" and not {"--space", "--preset"} & set(words) and words[1] == "data.csv":
        more = [*more, "--space", "models.py:space"]
    if "--preset" in words:
        of_preset = {"tsamardinos2018": "forest", "wainer_cawley2021": "knn,nb"}[words[-1]]
        words[-1] = words[-1].replace("tsamardinos2018", "tsamardinos2018(n_trees=2)")
        more = [*more, "--models", of_preset]
    if words[:2] == ["estimate", "out"]:
        run = ["tune", "data.csv", "--target", "y", "--space", "models.py:space", "--n-jobs", "1", "--out", "out"]
        assert CliRunner().invoke(heldout, run).exit_code == 0
        more = []
    ended = CliRunner().invoke(heldout, [*words, *more])
    assert ended.exit_code == 0, ended.output
