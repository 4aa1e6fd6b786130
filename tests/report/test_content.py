"""Facts that no page shows, or beside other values, and cards; what pages show is in ``page_texts.md``."""

import errno
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from races import race
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout._text import markdown_text
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.references import REFERENCES
from heldout.report import facts, render_html, write_report
from heldout.report.entries import Facts
from heldout.report.headline import distribution_of
from heldout.report.labels import _moment, positive_text
from heldout.report.render import card_of
from heldout.result import Evaluation
from heldout.scales import scale_of

Make = Callable[..., Evaluation]


def test_moments_are_written_for_people() -> None:
    assert _moment("2026-01-02T03:04:05+00:00") == "2026-01-02 03:04:05 UTC"
    assert _moment("heldout tune x.csv") == "heldout tune x.csv"


def test_fingerprints_and_versions_are_those_of_the_parts(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    said = facts(evaluation).reproduction
    assert said["Fingerprint of rows"] == evaluation.task.fingerprint()
    assert said["Fingerprint of folds"] == evaluation.folds.fingerprint()
    assert len(said["Fingerprint of configurations"]) == 64
    assert f"heldout {ho.__version__}" in said["Versions"]
    known = facts(replace(evaluation, provenance={"fingerprint_of_rows": "abc"}))
    assert known.reproduction["Fingerprint of rows"] == "abc"


def test_parameters_in_full_what_the_search_set_first(make_evaluation: Make) -> None:
    parameters = facts(make_evaluation()).parameters
    assert [(p.name, p.text) for p in parameters if p.searched] == [("model", "model"), ("C", "5.0")]
    others = {p.name: p.text for p in parameters if not p.searched}
    assert others["max_iter"] == "100" and "C" not in others


def test_the_numbers_are_those_of_the_search(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    estimate, content = evaluation.estimate, facts(evaluation)
    head, first = content.headline, content.ranking.shown[0]
    numbers = (head.value, head.uncorrected, head.optimism, head.low, head.high)
    assert numbers == (estimate.value, estimate.uncorrected, estimate.optimism, *estimate.interval)
    assert first.pooled == evaluation.pooled_scores["roc_auc"][evaluation.winner]
    assert first.selected == estimate.selection_frequency[evaluation.winner]


def test_a_metric_of_the_other_class_is_named_beside_the_class_of_the_curves() -> None:
    truth = truth_of(["ill", "well", "well"], pos_label="ill")
    f1: Any = metric_named("f1")
    assert positive_text(truth, [f1, None]) == "ill"
    assert positive_text(truth, [f1, replace(f1, pos_label="well")]) == "of the curves and tables ill, of f1 well"


def test_only_the_sources_that_were_used_are_cited(make_evaluation: Make) -> None:
    evaluation = make_evaluation("regression", ("r2",), method="tt")
    used = {REFERENCES[key].doi for key in evaluation.estimate.provenance["sources"]}
    assert {work.doi for work in facts(evaluation).citations} == used
    of_the_rule = {work.doi for work in facts(replace(race(), estimates={})).citations}
    assert REFERENCES["tsamardinos2018"].doi in of_the_rule


def test_histogram_counts_every_bootstrap_even_of_a_constant_score(make_evaluation: Make) -> None:
    estimate = make_evaluation().estimate
    scale = scale_of("roc_auc", True, estimate)
    whole = distribution_of(estimate, scale)
    constant = distribution_of(replace(estimate, distribution=np.full(50, 0.75), value=0.75), scale)
    assert whole is not None and sum(whole.counts) == 200
    assert constant is not None and sum(constant.counts) == 50


@pytest.mark.parametrize(
    ("kind", "metric", "classes", "drawn"),
    [
        ("binary", "roc_auc", ("a", "b"), {"roc", "calibration", "confusion"}),
        ("multiclass", "accuracy", ("a", "b", "c"), {"roc", "confusion"}),
        ("regression", "r2", ("a",), {"residuals"}),
    ],
)
def test_pictures_are_those_of_the_kind_of_task(
    make_evaluation: Make, kind: str, metric: str, classes: tuple[str, ...], drawn: set[str]
) -> None:
    held = facts(make_evaluation(kind, (metric,), classes=classes)).diagnostics
    assert {name for name in ("roc", "calibration", "confusion", "residuals") if held[name]} == drawn


def test_a_page_that_cannot_be_written_is_one_sentence(
    make_evaluation: Make, tmp_path: Path, monkeypatch: Any
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    content = facts(make_evaluation(configurations=1))
    text = render_html(content)
    assert "configurations-data" not in text and text.count("<script>") == 1  # which copies: nothing to explore
    said = r"could not be written to '.*nowhere.*': no such file or directory; give"
    with pytest.raises(InputError, match=said):
        write_report(content, tmp_path / "nowhere" / "report.html")
    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(InputError, match=r"could not be written .*: no space left on device; give a path"):
        write_report(content, tmp_path / "report.html")


def test_arguments_in_flags_are_code(make_evaluation: Make) -> None:
    content = Facts(facts(make_evaluation()), flags=(Facts(title="T", text="Give `groups=`, or `drop='<b>'`."),))
    assert "<li><b>T.</b> Give <code>groups=</code>, or <code>drop=&#39;&lt;b&gt;&#39;</code>.</li>" in render_html(
        content
    )


HOSTILE = "<script>alert(1)</script> | *bold* [link](x) `code` _under_ a_b\nnew"


def test_the_card_of_a_search(make_evaluation: Make) -> None:
    made = make_evaluation(metrics=("roc_auc", "neg_log_loss"), failures={1: "no"})
    card, estimate = ho.report_card(made), made.estimate
    first = card.splitlines()[2]
    assert card.startswith("## Performance\n\n**ROC AUC on new data: ")
    shown = [float(number) for number in re.findall(r"0\.\d+", first)]
    wanted = [estimate.value, *estimate.interval, estimate.uncorrected, estimate.constant]
    assert np.allclose(shown, wanted, atol=6e-3) and estimate.constant == 0.5
    assert "corrected for the selection (" in first and "95 % confidence interval" in first
    assert "| Log loss |" in card and "| Configurations | 6, 1 failed |" in card and "| Seed |" in card
    assert all(markdown_text(flag.text) in card for flag in facts(made).flags)
    assert "### How to reproduce it" in card and "Time of" not in card


def test_what_the_user_wrote_is_no_markup(make_evaluation: Make) -> None:
    card = card_of(facts(make_evaluation(name=HOSTILE), command="heldout tune", title=HOSTILE))
    assert "<script" not in card.replace("\\<", "") and not re.search(r"(?<!\\)[*`](?!\*|\w)bold", card)
    assert "```bash\nheldout tune\n```" in card
    tables = [line for line in card.splitlines() if line.startswith("| ")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in tables}) == 1, "a bar of the user's own is a column"


@pytest.mark.parametrize(
    ("thing", "remedy"),
    [
        (3, r"got 3\."),
        (ho.HeldOutSearchCV(KNeighborsClassifier(), {}), "fit it first"),
        (GridSearchCV(KNeighborsClassifier(), {}), "ho.correct makes an estimate"),
    ],
)
def test_what_is_no_result_is_refused(thing: object, remedy: str) -> None:
    with pytest.raises(ho.InputError, match=f"a fitted search of heldout, an estimate.*{remedy}"):
        ho.report_card(thing)


def test_a_search_without_its_record_is_refused() -> None:
    X, y = (np.arange(20.0) * 7 % 20)[:, None], np.arange(20) % 2
    search = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1]}, keep_predictions=False, cv=2)
    with pytest.raises(ho.InputError, match="search with `keep_predictions=True`"):
        ho.report_card(search.fit(X, y))
