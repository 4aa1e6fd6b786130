"""Pages that teach: blocks print what the pages show, and the messages that they quote are real."""

import re
import shlex
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HOW_TO = sorted(page for page in (DOCS / "how-to").glob("*.md") if page.name != "index.md")
COMPARE = sorted(page for page in (DOCS / "compare").glob("*.md") if page.name != "index.md")
TUTORIALS = [DOCS / "start.md", *sorted((DOCS / "tutorials").glob("*.md"))]
TEACHING = [DOCS / "index.md", *TUTORIALS, *sorted((DOCS / "understand").glob("*.md"))]
PAGES = [*HOW_TO, *COMPARE, *TEACHING]
REFERENCES = {"tune-command", "other-tools", "plots"}
"""How-to pages that list commands, formats and pictures."""
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
HEADINGS = ["## The numbers", "## What can go wrong", "## More"]
NEEDED = {"optuna": ("optuna-search", "optuna"), "distributed": ("cluster",)}
"""Packages of extras, and the pages that import them."""


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Language, further words and text of each block of a page."""
    return FENCE.findall(page.read_text(encoding="utf-8"))


@pytest.fixture(params=PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def page(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for package, pages in NEEDED.items():
        if request.param.stem in pages and find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    return request.param


def lines_of(text: str) -> list[str]:
    """Lines without the seconds that a command took."""
    return [re.sub(r"^(time ) +.*", r"\1", line.rstrip()) for line in text.strip().splitlines()]


def printed_by(line: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What a command line prints to standard output."""
    from heldout.cli import main

    with pytest.raises(SystemExit) as ended:
        main(shlex.split(line)[1:])
    assert not ended.value.code
    return lines_of(capsys.readouterr().out)


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block, and the lines that follow it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, lines_of(output)


FAILING = {
    "random-search": [
        "ho.HeldOutRandomizedSearchCV(model, {'C': loguniform(1, 9)}).fit(X, y)",
        "ho.HeldOutRandomizedSearchCV(model, {'svc__C': loguniform}).fit(X, y)",
        "ho.HeldOutRandomizedSearchCV(model, {'svc__C': [1, 2]}, n_iter=30).fit(X, y)",
    ],
    "optuna-search": ["ho.HeldOutOptunaSearchCV(model, space, n_trials=50, feedback='cross-fitted').fit(X, y)"],
    "boosted-rounds": [
        "from sklearn.linear_model import LogisticRegression\n"
        "ho.HeldOutSearchCV(LogisticRegression(), {'C': [1]}, early_stopping=ho.inner_split(0.2)).fit(X, y)",
    ],
    "groups": [
        "ho.HeldOutSearchCV(model, grid, cv=GroupKFold(5)).fit(X, y)",
        "ho.HeldOutSearchCV(model, grid, cv=list(StratifiedKFold(5).split(X, y))).fit(X, y, groups=patient)",
        "ho.HeldOutSearchCV(model, grid, cv=GroupKFold(5)).fit(X, y, groups=patient[:10])",
    ],
    "survival": [
        "search.fit(X, (years, died))",
        "search.fit(X, (died, years - 1))",
        "search.set_params(scoring='brier_score_at(time=50)').fit(X, (died, years))",
    ],
    "time-series": [
        "clone(search).set_params(method='tt', block_length=5).fit(X, y)",
        "clone(search).set_params(block_length=150).fit(X, y)",
        "clone(search).set_params(repeats=2).fit(X, y)",
    ],
    "imputation": [
        "ho.HeldOutSearchCV(LogisticRegression(), {'C': [1]}).fit(X, y)",
        "from sklearn.impute import SimpleImputer\n"
        "search.set_params(imputation=ho.protocols.Imputation(5, imputer=SimpleImputer())).fit(X, y)",
        "search.set_params(imputation=ho.protocols.Imputation(5, order='mi_boot')).fit(X, y)",
    ],
    "thresholds": [
        "search.set_params(selection='threshold').fit(X, y)",
        "ho.estimate(y, search.predictions_, metric='roc_auc', selection='threshold')",
        "labels = ho.HeldOutSearchCV(LogisticRegression(), grid, scoring='f1').fit(X, y).predictions_\n"
        "ho.estimate(y, labels, metric='f1', selection='threshold')",
    ],
    "ensembles": [
        "ho.HeldOutSearchCV(models, selection=ho.selection.TopK(3)).fit(X, y)",
        "ho.estimate(y, search.predictions_, metric='roc_auc', selection=ho.selection.TopK(10))",
        "from sklearn.svm import SVC\n"
        "mixed = ho.HeldOutSearchCV([('svc', SVC(), {'C': [1, 10]}), models[0]], scoring='roc_auc').fit(X, y)\n"
        "ho.estimate(y, mixed.predictions_, metric='roc_auc', selection=ho.selection.TopK(3))",
    ],
    "several-models": [
        "ho.HeldOutSearchCV([models[1], models[1]]).fit(X, y)",
        "ho.HeldOutSearchCV([(logistic, {})]).fit(X, y)",
        "ho.HeldOutSearchCV(models, {'C': [1]}).fit(X, y)",
    ],
    "finished-search": [
        "ho.correct(GridSearchCV(search.estimator, grid))",
        "ho.correct(search, method='shrinkage')",
    ],
    "own-metric": [
        "ho.HeldOutSearchCV(LogisticRegression(), grid, scoring=['roc_auc', 'f1']).fit(X, y)",
    ],
    "predictions-from-r": [
        "import heldout as ho\nho.read_predictions(pd.read_csv('caret.csv').drop(columns='B'))",
        "ho.read_predictions(pd.concat([*tables, tables[0].head(3)]))",
    ],
    "report-in-a-paper": ["ho.HeldOutSearchCV(model, grid).methods_text()"],
    "cluster": [
        "with joblib.parallel_config('threading', n_jobs=2):\n    search.set_params(fit_timeout=10).fit(X, y)",
    ],
}
"""What brings the messages that a page quotes, after its blocks have run."""


def quoted(page: Path) -> list[str]:
    """The messages that a page quotes."""
    text = page.read_text(encoding="utf-8").split("## What can go wrong")[1].split("\n## ")[0]
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)]


def check_messages(page: Path, names: dict[str, Any]) -> None:
    """Each failing call, with what the blocks of the page have made, gives a message that the page quotes."""
    for code in FAILING.get(page.stem, ()) if page.parent.name == "how-to" else ():
        with pytest.raises(Exception) as failed, warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(code, page.name, "exec"), names)
        message = " ".join(str(failed.value).replace("`", "").split())  # in pages they are code
        assert any(len(span) > 20 and span in message for span in quoted(page)), message


def test_a_page_prints_what_it_shows_and_its_messages_are_real(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {"__name__": "__main__" if page.stem == "cluster" else "page"}
    waiting = False
    for language, words, text in blocks(page):
        if "no-run" in words:
            continue
        if language == "python":
            assert not waiting or not capsys.readouterr().out, "a block whose output is not shown"
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compile(text, page.name, "exec"), names)
            waiting = True
        elif language == "text":
            assert lines_of(capsys.readouterr().out) == lines_of(text)
            waiting = False
        elif language == "console":
            assert [(line, printed_by(line, capsys)) for line, _ in commands(text)] == list(commands(text))
    assert not capsys.readouterr().out, "output that is not shown"
    check_messages(page, names)


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.stem)
def test_a_how_to_has_its_parts(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^## .*$", text, flags=re.MULTILINE)
    assert text.startswith("# How to ")
    assert any(language == "python" for language, _, _ in blocks(page))
    assert len(text.splitlines()) <= 170
    if page.stem not in REFERENCES:
        assert [heading for heading in headings if heading in HEADINGS] == HEADINGS
        assert "](" in text.split(HEADINGS[-1])[1]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_is_short(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert len(text.split()) <= 700


@pytest.mark.parametrize("page", COMPARE, ids=lambda page: page.stem)
def test_a_comparison_has_its_table(page: Path) -> None:
    if page.stem in {"drop-in", "psfmi", "reports"}:  # written by a script; lists of calls and of contents
        return
    text = page.read_text(encoding="utf-8")
    table = text.split("## What you know at the end")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    assert len(rows) >= 8
    assert len({row.count(" |") for row in rows}) == 1
    assert "does better" in text
