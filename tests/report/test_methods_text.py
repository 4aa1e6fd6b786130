"""The paragraph for a paper: its sentences stand in one file, its facts and numbers are those of the run."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from results_of_every_kind import RESULTS, SETTINGS, KNeighborsClassifier, tumours
from sklearn.model_selection import GridSearchCV, LeaveOneOut, PredefinedSplit
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.estimates.methods import METHODS
from heldout.references import PACKAGE, REFERENCES, bibtex_of
from heldout.report.study import study

SENTENCES = Path(__file__).with_name("methods_texts.md")
WITH_WARNINGS = pytest.mark.filterwarnings("ignore::heldout.HeldoutWarning")


def of_search(found: Any) -> Any:
    """What has a methods text: the record of a search, or the result itself."""
    return getattr(found, "evaluation_", found)


def without_versions(text: str) -> str:
    """The text with the versions that are installed by their names."""
    return re.sub(r"(?<=NumPy |ython |learn |ldout |ptuna )\d+(?:\.\w+)*", "VERSION", text)


def written() -> str:
    texts = [f"## {name}\n\n{without_versions(str(make().methods_text()))}\n" for name, make in RESULTS.items()]
    return "\n".join(["# Methods texts\n", *texts])


@WITH_WARNINGS
def test_the_sentences_are_those_of_the_file() -> None:
    """To renew the file after a change of words, write ``written()`` to it, and read every sentence."""
    assert written() == SENTENCES.read_text(encoding="utf-8")


def facts_in(value: Any) -> Iterator[str]:
    """All texts and numbers in facts, numbers as Python writes them."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from facts_in(item)
    elif isinstance(value, list):
        yield str(len(value))
        for item in value:
            yield from facts_in(item)
    elif value is not None and not isinstance(value, bool):
        yield repr(value) if isinstance(value, float) else str(value)


def is_among(token: str, known: list[float]) -> bool:
    """Whether a number of a text is one of these, rounded, or a percentage of one."""
    decimals = len(token.partition(".")[2])
    number = abs(float(token.replace(",", "")))
    close = 0.51 * 10.0**-decimals
    return any(abs(number - abs(one)) <= close or abs(number - 100 * abs(one)) <= close for one in known)


NUMBER = r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])"


@WITH_WARNINGS
@pytest.mark.parametrize("name", RESULTS)
def test_every_number_in_a_text_is_of_the_result(name: str) -> None:
    found = RESULTS[name]()
    facts = study(of_search(found))
    folds = facts["folds"] or {"splits": 0, "repeats": 1}
    nested = (facts["estimate"]["settings"] or {}).get("n_outer_folds", 0)
    derived = [
        folds["splits"] / folds["repeats"],
        nested / folds["repeats"],
        len((facts["comparison"] or {}).get("nested", ())),
    ]
    missing = facts["data"]["missing"] if facts["data"] else None
    derived += [missing["values"] / missing["cells"]] if missing else []
    texts = list(facts_in(facts))
    known = [float(number) for text in texts for number in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", text)] + derived
    prose = re.sub(r" \\citep\{[^}]*\}", "", found.methods_text().latex).replace("\\", "")
    assert [token for token in re.findall(NUMBER, prose) if not is_among(token.rstrip(","), known)] == []
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


@WITH_WARNINGS
def test_facts_are_those_of_the_run() -> None:
    X, y = tumours()
    search = RESULTS["grid"]()
    facts, estimate = study(search.evaluation_), search.estimate_
    data, folds = facts["data"], facts["folds"]
    assert (data["rows"], data["predictors"], data["outcome"]) == (*X.shape, "binary")
    assert data["classes"] == [
        {"label": label, "rows": int((y == label).sum()), "is_positive": label == "malignant"}
        for label in ("benign", "malignant")
    ]
    assert data["missing"]["values"] == 0 and data["groups"] is None and not data["weighted"]
    (family,) = facts["configurations"]["families"]
    assert (family["steps"], family["model"]) == (["StandardScaler"], "KNeighborsClassifier")
    assert family["parameters"] == [
        {"name": "n_neighbors", "number": 6, "values": ["1", "25"]},
        {"name": "weights", "number": 2, "values": ["uniform", "distance"]},
    ]
    assert (folds["kind"], folds["splits"], folds["training_rows"], folds["stratified"]) == (
        "folds",
        5,
        [120, 120],
        True,
    )
    assert (facts["selection"]["best"], facts["selection"]["candidates"]) == ("highest", 12)
    assert facts["estimate"]["value"] == estimate.value and facts["estimate"]["low"] == estimate.interval.low
    assert facts["estimate"]["bootstraps"] == 50 and facts["seed"] == "1" and not facts["seed_was_drawn"]
    assert facts["software"]["heldout"] == ho.__version__ and facts["model"] == {"rows": 150, "tested": None}
    for absent in ("dropping", "validation", "comparison"):
        assert facts[absent] is None


@WITH_WARNINGS
@pytest.mark.parametrize(
    ("settings", "place", "expected"),
    [
        ({"cv": LeaveOneOut(), "method": None}, ("folds", "kind"), "leave-one-out"),
        ({"cv": PredefinedSplit([-1] * 50 + [0] * 50 + [1] * 50)}, ("folds", "rows_tested"), 100),
        ({"alternative": "greater"}, ("estimate", "high"), None),
        ({"method": None}, ("estimate",), None),
        ({"scoring": "neg_log_loss"}, ("selection", "best"), "lowest"),
        ({"aggregate": "pooled"}, ("selection", "scale"), "pooled"),
        ({"selection": ho.selection.Within(0.02)}, ("selection", "settings", "tolerance"), "0.02"),
        ({"refit": False}, ("model", "rows"), None),
        ({"random_state": None}, ("seed_was_drawn",), True),
    ],
)  # fmt: skip
def test_settings_are_in_the_facts(settings: dict[str, Any], place: tuple[str, ...], expected: Any) -> None:
    given: dict[str, Any] = {"cv": 3, **SETTINGS, **settings}
    found = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, **given).fit(*tumours())
    fact: Any = study(found.evaluation_)
    for name in place:
        fact = fact[name]
    assert fact == expected
    assert str(found.methods_text()).endswith(".") and " ." not in str(found.methods_text())


@WITH_WARNINGS
def test_where_configurations_come_from_is_a_fact() -> None:
    X, y = tumours()
    loop = ho.open_search(X, y, cv=3, n_bootstraps=50, groups=np.arange(150) // 2)
    for size in (1, 5):
        loop.evaluate(KNeighborsClassifier(size))
    facts = study(loop.finish())
    assert facts["configurations"]["origin"] == "loop" and facts["data"]["groups"] == 75
    assert facts["folds"]["grouped"] and facts["estimate"]["settings"]["grouped"]
    assert study(RESULTS["area with groups"]().evaluation_)["configurations"]["origin"] == "random"
    assert study(RESULTS["cross fitted optuna"]().evaluation_)["configurations"]["origin"] == "optuna"
    assert study(RESULTS["table of the command line"]())["data"]["columns"]["categories"] == ["sex"]
    unseeded = ho.HeldOutSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=3).fit(X, y)
    assert study(unseeded.evaluation_)["unseeded"] == ["DecisionTreeClassifier"]


@WITH_WARNINGS
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_failed_configurations_and_no_estimate() -> None:
    X, y = tumours()
    sizes = {"n_neighbors": [5, 1000]}
    failed = ho.HeldOutSearchCV(KNeighborsClassifier(), sizes, cv=3, **SETTINGS).fit(X, y)
    selection = study(failed.evaluation_)["selection"]
    assert (selection["failed"], selection["candidates"]) == (1, 1)
    assert "no selection to correct" in str(failed.methods_text())
    rare = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=LeaveOneOut(), **SETTINGS)
    rare.fit(X[:40], np.arange(40) == 0)
    assert study(rare.evaluation_)["estimate"]["value"] is None
    assert "could not be estimated: method 'shrinkage' does not fit" in str(rare.methods_text())
    kept = ho.HeldOutSearchCV(KNeighborsClassifier(), {}, cv=3, keep_predictions=False).fit(X, y)
    with pytest.raises(ho.InputError, match="a methods text needs the held-out predictions"):
        kept.methods_text()


@WITH_WARNINGS
def test_of_predictions_and_of_scores_nothing_is_known_of_the_models() -> None:
    facts = study(RESULTS["predictions of a file"]())
    assert facts["data"] is facts["folds"] is facts["model"] is None
    finished = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, cv=4).fit(*tumours())
    text = str(ho.correct(finished, random_state=0).methods_text())
    assert text.startswith("The analysis was based on the scores of 3 configurations on 4 splits")


@WITH_WARNINGS
def test_each_work_is_cited_for_what_it_defines() -> None:
    y, scores = np.arange(60) % 2, np.random.default_rng(0).random((60, 3))
    asked: dict[str, Any] = {"metric": "brier_score", "method": "bbc", "selection": "one_standard_error"}
    sources = study(ho.estimate(y, scores, folds=np.arange(60) // 2 % 5, **asked, **SETTINGS))["estimate"][
        "sources"
    ]
    assert {use: keys for use, keys in sources.items() if keys} == {
        "metric": ["brier1950"],
        "rule": ["breiman1984"],
        "method": ["tsamardinos2018"],
        "random_numbers": ["salmon2011"],
    }
    own = [name for name, make in METHODS.items() if PACKAGE in make().sources]
    assert own == ["shrinkage"]
    entry = bibtex_of([PACKAGE])
    assert entry.startswith("@misc{heldout,\n  author = {{the heldout developers}},\n")
    assert f"howpublished = {{Python package, version {ho.__version__}}}" in entry


@pytest.mark.parametrize("key", REFERENCES)
def test_every_reference_is_an_entry(key: str) -> None:
    work = REFERENCES[key]
    assert work.entry.startswith("@") and f"{{{key},\n" in work.entry
    assert work.entry.count("{") == work.entry.count("}") and f"{{{work.title}}}" in work.entry
    authors = re.search(r"author = \{(.*)\},", work.entry)
    person = r"[^,]+, (?:[^,]\S*\.[ -]?)+"
    names = authors[1].split(" and ")
    assert all(re.fullmatch(rf"{person}|\{{[^,]+\}}", name) for name in names), names
    assert work.cited.startswith(names[0].partition(",")[0].strip("{}")) and work.cited.endswith(f", {work.year}")
    # no number of the place is lost, and each stands in the entry
    assert set(re.findall(r"\d+", work.where)) <= set(re.findall(r"\d+", work.entry))
    assert work.doi in work.entry and str(work).startswith(
        f"{work.authors} ({work.year}). {work.title}. {work.where}."
    )


@WITH_WARNINGS
def test_values_are_escaped_in_every_form_and_cite_nothing() -> None:
    name = "50%_a&b {x} [@efron1979] <b> |\n"
    entries = [(name, DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]})]
    text = ho.HeldOutSearchCV(entries, cv=3, **SETTINGS).fit(*tumours()).methods_text()
    assert r"50%_a&b {x} [@efron1979] <b> |\n" in str(text) and "efron1979" not in text.keys
    assert r"50\%\_a\&b \{x\} [@efron1979] \textless{}b\textgreater{} \textbar{}\textbackslash{}n" in text.latex
    assert r"50%\_a\&b {x} \[\@efron1979\] \<b> \|\\n" in text.markdown
    assert "&lt;b&gt;" in text._repr_html_() and "<b>" not in text._repr_html_()


@WITH_WARNINGS
@pytest.mark.parametrize("name", RESULTS)
def test_the_three_forms_say_the_same(name: str) -> None:
    text = RESULTS[name]().methods_text()
    plain = re.sub(r"\((?:[^()]*?, (?:19|20)\d\d)\)", "CITED", text.text)
    latex = re.sub(r"\\citep\{[\w,]+\}", "CITED", text.latex).replace("$-$", "−")
    markdown = re.sub(r"\[(?:@\w+(?:; )?)+\]", "CITED", text.markdown)
    assert re.sub(r"\\([%&_#$])", r"\1", latex) == plain == re.sub(r"\\(.)", r"\1", markdown)
    assert not re.search(r"(?<!\\)[%&_#$^~<>|]", latex)
    assert set(text.keys) == set(re.findall(r"@(\w+)", text.markdown))
    assert text.bibtex.count("\n@") + 1 == len(text.keys) and text.to_markdown().endswith("```\n")
