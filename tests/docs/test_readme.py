"""The README's Python and that of the page on the saved model run as printed, and print what they promise."""

import re
import warnings
from pathlib import Path

import pandas as pd
import pytest

README = Path(__file__).parents[2] / "README.md"
TUNE_PAGE = README.with_name("docs") / "how-to" / "tune-command.md"


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python[^\n]*\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


BLOCKS = blocks(README)
LOAD_MODEL = next(code for code in blocks(TUNE_PAGE) if "ho.load_model" in code)


@pytest.fixture
def where_tune_has_run(tmp_path, monkeypatch):
    """A folder with the model that ``heldout tune`` leaves."""
    from sklearn.linear_model import LogisticRegression

    from heldout.cli.files import OutputFolder, write_model

    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    write_model(LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"]), OutputFolder(tmp_path / "demo"))


@pytest.fixture(scope="module")
def finished():
    """The finished searches that the README corrects, by the names that it gives them."""
    import optuna
    from sklearn.datasets import load_breast_cancer
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_val_score, cross_validate
    from sklearn.tree import DecisionTreeClassifier

    import heldout as ho

    X, y = load_breast_cancer(return_X_y=True)
    tree, grid = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4]}

    def objective(trial):
        model = DecisionTreeClassifier(max_depth=trial.suggest_int("max_depth", 1, 4), random_state=0)
        scores = cross_val_score(model, X, y, cv=5)
        for fold, score in enumerate(scores):
            trial.report(score, step=fold)
        return float(scores.mean())

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=4)
    return {
        "ho": ho,
        "grid_search": GridSearchCV(tree, grid, cv=5).fit(X, y),
        "halving": HalvingGridSearchCV(tree, grid, cv=5, factor=2, min_resources=100, random_state=0).fit(X, y),
        "study": study,
        "results": cross_validate(tree, X, y, cv=5),
        "others": cross_validate(DecisionTreeClassifier(max_depth=1), X, y, cv=5),
    }


CORRECT = next(code.splitlines() for code in BLOCKS if code.startswith("ho.correct"))


@pytest.mark.parametrize("line", CORRECT, ids=range(len(CORRECT)))
def test_what_is_finished_is_corrected(line, finished):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = eval(line.partition("  #")[0], dict(finished))
    assert 0 < estimate.value < 1 and estimate.interval is not None


@pytest.mark.usefixtures("where_tune_has_run")
@pytest.mark.parametrize(
    "code",
    [LOAD_MODEL, *(code for code in BLOCKS[1:] if not code.startswith("ho.correct"))],
    ids=["model", "predictions"],
)
def test_examples_run(code, capsys):
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    promised = re.findall(r"print\(.*?\)  # ([\d.]+)", code)
    for line, number in zip(printed, promised, strict=False):
        assert line.startswith(number), (line, number)


def test_the_first_example_prints_what_stands_below_it(capsys):
    promised = re.search(r"```text\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(compile(BLOCKS[0], "README.md", "exec"), {})
    assert promised is not None and capsys.readouterr().out == promised[1]


def test_its_figures_are_those_of_the_kept_samples():
    table = pd.read_csv(README.parent / "papers" / "evidence" / "hundred-tumours.csv")
    off = {name: table[name] - table["rest"] for name in ("uncorrected", "corrected")}
    nearer = int((off["corrected"].abs() < off["uncorrected"].abs()).sum())
    held = int(table["rest"].between(table["low"], table["high"]).sum())
    text = " ".join(README.read_text(encoding="utf-8").split())
    best, corrected = (f".{1000 * off[name].mean():03.0f}" for name in off)
    assert f"the best score was {best} too high on average and the corrected one {corrected};" in text
    assert f"was nearer in {nearer}, and the interval held the accuracy on the rest in {held}" in text


def test_setting_up_is_two_commands():
    commands = re.findall(r"^python3 -m venv .*$", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(commands) == 2
    assert "heldout tune example:breast_cancer --target target --out demo" in commands[0]
    assert commands[1].endswith("&& .venv/bin/pytest -n 2")
