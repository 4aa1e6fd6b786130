"""notes/extend: the example of each page runs, its messages are real, and its table lists the whole Protocol."""

import ast
import inspect
import re
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sklearn.base import BaseEstimator, clone

ROOT = Path(__file__).parents[2]
FOLDER, SOURCE = ROOT / "notes" / "extend", ROOT / "src" / "heldout"

METRIC, DROP_RULE = "heldout.metrics.base:Metric", "heldout.dropping.base:DropRule"


class Documented(NamedTuple):
    """A Protocol, or a base class, and where its members are listed."""

    path: str
    """``module:class``."""
    pages: tuple[str, ...]
    beyond: str = ""
    """Another Protocol, whose members are on pages of their own."""

    @property
    def name(self) -> str:
        return self.path.split(":")[1]


DOCUMENTED = (
    Documented(METRIC, ("metric", "metric-members")),
    Documented("heldout.metrics.base:Statistic", ("metric",)),
    Documented("heldout.metrics.row_losses:OfRowLosses", ("row-loss-metric",), beyond=METRIC),
    Documented("heldout.estimates.base:Method", ("method",)),
    Documented("heldout.selection.base:SelectionRule", ("selection-rule",)),
    Documented("heldout.selection.base:WeightRule", ("weight-rule",)),
    Documented("heldout.selection.base:Library", ("weight-rule",)),
    Documented(DROP_RULE, ("drop-rule",)),
    Documented("heldout.dropping.base:SearchStrategy", ("search-strategy",), beyond=DROP_RULE),
    Documented("heldout.folds.plans:Splitter", ("splitter",)),
    Documented("heldout.folds.plans:FoldPlan", ("fold-plan",)),
    Documented("heldout.spaces.submodels.base:Submodels", ("submodels",)),
    Documented("heldout.spaces.submodels.base:Subtransformers", ("submodels",)),
    Documented("heldout.protocols.validation.corrections:Correction", ("correction",)),
    Documented("heldout.execution.store:Store", ("store",)),
    Documented("heldout.execution.store:Run", ("store",)),
)
OPTIONAL = ("OfParts", "Fused", "Failing")
"""Protocols of ``heldout.metrics.base`` in a table of the page ``row-loss-metric``."""
INTERNAL = frozenset({"Executor", "DoSplit", "FitsOfSplit", "Proposals", "Space", "LeftOut"})
"""Protocols that no argument of a public function takes; the page ``internal`` names them."""
PLUMBING = frozenset(
    {
        *("RuleDeclaration", "Sums", "PairStatistic"),
        *("KnownPredictions", "StoredSearch", "Equation"),
        *("Branch", "SimulatedStandings", "SimulatedCourse", "ResponseRequest", "FittedSearch"),
    }
)
"""Protocols with which modules of the library describe their own classes to each other."""

PAGES = sorted({*(page for each in DOCUMENTED for page in each.pages), "imputer", "internal"})


@cache
def text_of(page: str) -> str:
    folder = FOLDER.parent if page == "internal" else FOLDER
    return (folder / f"{page}.md").read_text(encoding="utf-8")


class Example(NamedTuple):
    code: str
    printed: str


@cache
def example_of(page: str) -> Example:
    (found,) = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text_of(page), flags=re.M | re.S)
    assert text_of(page).count("```python") == 1
    return Example(*found)


class Member(NamedTuple):
    """A member as a row of a table has it."""

    signature: str
    type: str
    required: bool


def members_of(path: str) -> dict[str, Member]:
    """The annotations and functions of a class and of the Protocols that are its bases, by their code."""
    module, name = path.split(":")
    cls = getattr(import_module(module), name)
    found = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("heldout.") and (
            base is cls or base.__name__ == "Metric" or getattr(base, "_is_protocol", False)
        ):
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            assert isinstance(tree, ast.ClassDef)
            found |= {name: member for node in tree.body for name, member in _declared(node)}
    return found


def _declared(node: ast.stmt) -> list[tuple[str, Member]]:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        name, kind = node.target.id, re.sub(r"^ClassVar\[(.*)\]$", r"\1", ast.unparse(node.annotation))
        return [] if name.startswith("_") else [(name, Member(name, kind, node.value is None))]
    dunders = ("__call__", "__enter__", "__exit__")
    if not isinstance(node, ast.FunctionDef) or (node.name.startswith("_") and node.name not in dunders):
        return []
    does = [part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
    required = not does or isinstance(does[0], ast.Raise)
    returned = "" if node.returns is None else ast.unparse(node.returns)
    if any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list):
        return [(node.name, Member(node.name, returned, required))]
    arguments = [each.arg for each in node.args.args[1:]]
    arguments += [f"*{node.args.vararg.arg}"] if node.args.vararg else []
    arguments += [each.arg for each in node.args.kwonlyargs]
    return [(node.name, Member(f"{node.name}({', '.join(arguments)})", returned, required))]


def listed_on(page: str, name: str) -> dict[str, Member]:
    """The rows of the table under "Members of `name`"."""
    (section,) = re.findall(rf"^## Members of `{name}`.*?\n(.*?)^## ", text_of(page), flags=re.M | re.S)
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| (.+?) \| (yes|no)\b[^|]*\|$", section, flags=re.M)
    assert len(rows) == section.count("\n| `")
    return {
        signature.split("(")[0]: Member(signature, kind.replace("\\|", "|"), required == "yes")
        for signature, kind, _, required in rows
    }


class Course(NamedTuple):
    """What an example made and printed."""

    names: dict[str, Any]
    printed: str
    attributes: dict[type, dict[str, Any]]
    """Of its classes, which mistakes change."""


@cache
def course_of(page: str) -> Course:
    names: dict[str, Any] = {"__name__": "example"}
    with warnings.catch_warnings(), redirect_stdout(StringIO()) as out:
        warnings.simplefilter("error")
        exec(compile(example_of(page).code, f"{page}.md", "exec", dont_inherit=True), names)
    classes = [each for each in names.values() if isinstance(each, type) and each.__module__ == "example"]
    return Course(names, out.getvalue(), {cls: dict(vars(cls)) for cls in classes})


@pytest.mark.parametrize("page", PAGES)
def test_the_example_prints_what_the_page_shows(page: str) -> None:
    assert course_of(page).printed == example_of(page).printed


@contextmanager
def names_after(page: str) -> Iterator[dict[str, Any]]:
    """The names that the example of a page makes, models not fitted; afterwards its classes are as they were."""
    course = course_of(page)
    names = course.names.items()
    yield {name: clone(each) if isinstance(each, BaseEstimator) else each for name, each in names}
    for cls, attributes in course.attributes.items():
        changed = [name for name, each in vars(cls).items() if attributes.get(name) is not each]
        for name in changed:
            if name in attributes:
                setattr(cls, name, attributes[name])
            else:
                delattr(cls, name)


@pytest.mark.parametrize("documented", DOCUMENTED, ids=lambda each: each.name)
def test_the_tables_list_the_members_of_the_protocol(documented: Documented) -> None:
    inherited = members_of(documented.beyond) if documented.beyond else {}
    own = {name: each for name, each in members_of(documented.path).items() if name not in inherited}
    listed = [listed_on(page, documented.name) for page in documented.pages]
    assert {name: each for rows in listed for name, each in rows.items()} == own
    assert sum(map(len, listed)) == len(own)


@pytest.mark.parametrize("name", OPTIONAL)
def test_the_optional_protocols_of_metrics_have_these_members(name: str) -> None:
    (row,) = re.findall(rf"^\| `{name}` \| (.+?) \|", text_of("row-loss-metric"), flags=re.M)
    assert re.findall(r"`(\w+)`", row) == list(members_of(f"heldout.metrics.base:{name}"))


def test_every_protocol_has_a_page_or_is_internal() -> None:
    """A new Protocol gets a page and a line above, or a row of ``internal.md``."""
    found = {name for path in SOURCE.rglob("*.py") for name in _protocols_in(path)}
    known = {each.name for each in DOCUMENTED} | {*OPTIONAL}
    assert not known & (INTERNAL | PLUMBING)
    assert found == (known - {"FoldPlan", "Method", "Metric", "OfRowLosses", "Run"}) | INTERNAL | PLUMBING


def _protocols_in(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if "Protocol" not in text:
        return []
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
    return [node.name for node in nodes if any(ast.unparse(base) == "Protocol" for base in node.bases)]


def test_the_page_on_internal_parts_names_them() -> None:
    assert {name for name in INTERNAL if f"`{name}`" in text_of("internal")} == INTERNAL
    declared = members_of("heldout.readers.formats.tool:Tool")
    for name in ("tables", "columns", "roles"):
        assert name in declared and f"`{name}`" in text_of("internal")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_short(page: str) -> None:
    assert text_of(page).count("\n") <= 90


MISTAKES = [
    ("metric", "class Bare: pass\nho.estimate(y, predictions, metric=Bare())"),
    ("metric", "ho.estimate(y, predictions, metric=WithinTolerance)"),
    ("metric", "ShareOfHits.all = lambda self, counts: counts @ self.hits * np.nan\n"
        "ho.estimate(y, predictions, metric=WithinTolerance(0.5))"),
    ("metric", "ShareOfHits.all = lambda self, counts: (counts @ self.hits)[:, 1:]\n"
        "ho.estimate(y, predictions, metric=WithinTolerance(0.5))"),
    ("metric", "WithinTolerance.statistic = ho.metrics.Metric.statistic\n"
        "ho.estimate(y, predictions, metric=WithinTolerance(0.5))"),
    ("metric-members", "ho.estimate(y, labels, metric=Specificity('sick'), response='labels')"),
    ("row-loss-metric", "Huber.losses = OfRowLosses.losses\nho.estimate(y, predictions, metric=Huber())"),
    ("row-loss-metric", "Huber.losses = lambda self, truth, p: p.mean(axis=0)\n"
        "ho.estimate(y, predictions, metric=Huber())"),
    ("row-loss-metric", "Huber.losses = lambda self, truth, p: 0 * p - 0.5\n"
        "ho.estimate(y, predictions, metric=Huber())"),
    ("row-loss-metric", "Huber.losses = lambda self, truth, p: p * np.nan\n"
        "ho.estimate(y, predictions, metric=Huber())"),
    ("method", "class Bare: pass\nho.estimate(y, predictions, metric='roc_auc', method=Bare())"),
    ("method", "Halves.unfit = lambda self, evidence: 'it never fits'\n"
        "ho.estimate(y, predictions, metric='roc_auc', method=Halves())"),
    ("method", "Halves.estimate = ho.estimates.Method.estimate\n"
        "ho.estimate(y, predictions, metric='roc_auc', method=Halves())"),
    ("selection-rule", "class Bare:\n    reads_fold_scores = True\n    __call__ = WorstFold.__call__\n"
        "ho.estimate(y, predictions, metric='roc_auc', selection=Bare())"),
    ("selection-rule", "ho.estimate(y, predictions, metric='roc_auc', selection=WorstFold)"),
    ("selection-rule", "def fail(*arguments): raise ho.selection.SelectionFailedError('no fold')\n"
        "WorstFold.__call__ = fail\n"
        "ho.estimate(y, predictions, metric='roc_auc', folds=np.arange(200) % 5, selection=WorstFold())"),
    ("selection-rule", "WorstFold.__call__ = lambda self, table: np.full(len(table.values), 99)\n"
        "ho.estimate(y, predictions, metric='roc_auc', folds=np.arange(200) % 5, selection=WorstFold())"),
    ("selection-rule", "WorstFold.__call__ = lambda self, table: np.zeros(len(table.values))\n"
        "ho.estimate(y, predictions, metric='roc_auc', folds=np.arange(200) % 5, selection=WorstFold())"),
    ("selection-rule", "ho.estimate(y, predictions, metric='roc_auc', selection=WorstFold())"),
    ("weight-rule", "class Bare: pass\nho.estimate(y, predictions, metric='roc_auc', selection=Bare())"),
    ("weight-rule", "from sklearn.linear_model import LogisticRegression\n"
        "ho.HeldOutSearchCV(LogisticRegression(), {'C': [1, 2]}, scoring='roc_auc', selection=RankWeights())"
        ".fit(predictions, y)"),
    ("weight-rule", "RankWeights.weigh = lambda self, library: library.scores * np.nan\n"
        "ho.estimate(y, predictions, metric='roc_auc', selection=RankWeights())"),
    ("weight-rule", "RankWeights.weigh = lambda self, library: np.ones(len(library.scores))\n"
        "ho.estimate(y, predictions, metric='roc_auc', selection=RankWeights())"),
    ("drop-rule", "class Bare: pass\nsearch.set_params(drop=Bare()).fit(X, y)"),
    ("drop-rule", "search.set_params(drop=Behind).fit(X, y)"),
    ("drop-rule", "search.set_params(drop=Behind(), cv=[(np.arange(200), np.arange(200, 300))]).fit(X, y)"),
    ("drop-rule", "class NoUnfit(ho.dropping.Racing):\n    judge = Behind.judge\n"
        "search.set_params(drop=NoUnfit()).fit(X, y)"),
    ("drop-rule", "class NoName(ho.dropping.Racing):\n    distance, judge = 0.1, Behind.judge\n"
        "    unfit = Behind.unfit\nsearch.set_params(drop=NoName()).fit(X, y)"),
    ("drop-rule", "Behind.judge = lambda self, standing: None\nsearch.fit(X, y)"),
    ("search-strategy", "search.set_params(cv=3).fit(X, y)"),
    ("search-strategy", "search.set_params(selection='one_standard_error').fit(X, y)"),
    ("search-strategy", "HalvedHoldOuts.folds = lambda self, task, entropy: None\nsearch.fit(X, y)"),
    ("search-strategy", "class Partly(ho.dropping.Racing):\n    unfit, judge, folds = HalvedHoldOuts.unfit, "
        "HalvedHoldOuts.judge, HalvedHoldOuts.folds\nsearch.set_params(drop=Partly()).fit(X, y)"),
    ("search-strategy", "HalvedHoldOuts.folds = lambda self, task, entropy: Folds("
        "(Split(0, 0, np.arange(300), np.arange(99)), Split(1, 0, np.arange(99), np.arange(99, 300))), 300)\n"
        "search.fit(X, y)"),
    ("splitter", "class Bare:\n    get_n_splits = ByParity.get_n_splits\nsearch.set_params(cv=Bare()).fit(X, y)"),
    ("splitter", "search.set_params(cv=[(np.arange(200), np.arange(9))]).fit(X, y)"),
    ("splitter", "search.set_params(cv=[(np.arange(100), np.repeat(np.arange(100, 200), 2))]).fit(X, y)"),
    ("splitter", "search.set_params(cv=[(np.arange(100), np.arange(0))]).fit(X, y)"),
    ("splitter", "ByParity.split = lambda self, X, y=None, groups=None: iter(())\nsearch.fit(X, y)"),
    ("splitter", "class NoSplit(ByParity):\n    def split(self, *_, **__): raise ValueError('too few rows')\n"
        "search.set_params(cv=NoSplit()).fit(X, y)"),
    ("splitter", "search.set_params(repeats=2).fit(X, y)"),
    ("fold-plan", "search.set_params(repeats=3).fit(X, y)"),
    ("submodels", "ho.spaces.register_submodels(NearestMean, ('n_neighbors',), 1)"),
    ("submodels", "ho.spaces.register_submodels(NearestMean, ('n_neighbors',), fit_many, exact='yes')"),
    ("submodels", "AllNeighbours.predict_many = lambda self, X, response: [np.zeros(3)] * 4\nsearch.fit(X, y)"),
    ("correction", "ho.bootstrap_validate(LogisticRegression(), X, y, method=MedianOptimism)"),
    ("correction", "class Bare: pass\nho.bootstrap_validate(LogisticRegression(), X, y, method=Bare())"),
    ("correction", "class NoLeftOut:\n    name, sources, corrected = 'a', (), MedianOptimism.corrected\n"
        "ho.bootstrap_validate(LogisticRegression(), X, y, n_bootstraps=9, method=NoLeftOut())"),
    ("correction", "MedianOptimism.corrected = lambda self, replicates, scores: 0.5\n"
        "ho.bootstrap_validate(LogisticRegression(), X, y, n_bootstraps=9, method=MedianOptimism())"),
    ("store", "search.set_params(store=1).fit(X, y)"),
    ("store", "class NoEntropy:\n    open = LoggedStore.open\n"
        "search.set_params(store=NoEntropy(), random_state=None).fit(X, y)"),
    ("store", "LoggedStore.open = lambda self, identity, configurations, *, resume: None\nsearch.fit(X, y)"),
    ("imputer", "ho.protocols.Imputation(5, imputer=3)"),
    ("imputer", "from sklearn.impute import SimpleImputer\nho.protocols.Imputation(5, imputer=SimpleImputer())"),
    *(
        ("imputer", f"class {name}(DrawObserved):\n    def transform(self, X): return {answer}\n"
            f"ho.bootstrap_validate(LogisticRegression(), X, y, imputation=ho.protocols.Imputation(2, {name}()))")
        for name, answer in (
            ("Changes", "super().transform(X) + 1"), ("Drops", "super().transform(X)[:, :3]"), ("Leaves", "X")
        )
    ),
]  # fmt: skip
"""A page, and code behind its example that the page says what happens on."""


@cache
def quoted_on(page: str) -> list[re.Pattern[str]]:
    """The messages that a page quotes; an ellipsis stands for any text."""
    section = text_of(page).split("## What the library checks")[1]
    results = re.findall(r"^\| .+ \| (.+) \|$", section, flags=re.M)
    quoted = [text for result in results for text in re.findall(r"`([^`]+)`", result) if text.count(" ") > 2]
    return [re.compile(re.escape(text).replace("…", ".*"), flags=re.S) for text in quoted]


@pytest.mark.parametrize("page", sorted({page for page, _ in MISTAKES}))
def test_the_page_quotes_the_messages_of_mistakes(page: str) -> None:
    quoted = quoted_on(page)
    found = set()
    for code in [code for on, code in MISTAKES if on == page]:
        with names_after(page) as names, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(Exception) as caught:
                exec(compile(code, f"{page}.md", "exec", dont_inherit=True), names)
        message = str(caught.value).replace("`", "")  # pages quote messages as code, which holds no backquotes
        matching = [number for number, pattern in enumerate(quoted) if pattern.fullmatch(message)]
        assert matching, f"{code}\n{type(caught.value).__name__}: {caught.value}"
        found.update(matching)
    unseen = [quoted[number].pattern for number in range(len(quoted)) if number not in found]
    assert not unseen, f"no mistake of this test gives the message {unseen}"
