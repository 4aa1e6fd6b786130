"""The card in Markdown: the numbers of the result, its flags in words, and no markup of the user's own."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout._text import markdown_text
from heldout.report import facts
from heldout.report.render import card_of
from heldout.result import Evaluation

Make = Callable[..., Evaluation]
HOSTILE = "<script>alert(1)</script> | *bold* [link](x) `code` _under_ a_b\nnew"


def test_the_card_of_a_search(make_evaluation: Make) -> None:
    made = make_evaluation(metrics=("roc_auc", "neg_log_loss"), failures={1: "no"})
    card, estimate = ho.report_card(made), made.estimate
    assert estimate is not None and estimate.interval is not None
    first = card.splitlines()[2]
    assert card.startswith("## Performance\n\n**ROC AUC on new data: ")
    shown = [float(number) for number in re.findall(r"0\.\d+", first)]
    wanted = [estimate.value, *estimate.interval, estimate.uncorrected, estimate.constant]
    assert np.allclose(shown, wanted, atol=6e-3) and estimate.constant == 0.5
    assert "corrected for the selection (" in first and "95 % confidence interval" in first
    assert "| Log loss |" in card and "| Configurations | 6, 1 failed |" in card and "| Seed |" in card
    assert all(markdown_text(flag.text) in card for flag in facts(made).flags)
    assert "### How to reproduce it" in card and "Time of" not in card


def test_a_score_that_nothing_corrected_is_called_that(make_evaluation: Make) -> None:
    assert ", cross-validated and uncorrected for the selection." in ho.report_card(make_evaluation(method=None))
    assert ", uncorrected for the selection (" in ho.report_card(make_evaluation(method="cv"))


def test_what_the_user_wrote_is_no_markup(make_evaluation: Make) -> None:
    card = card_of(facts(make_evaluation(name=HOSTILE), command="heldout tune", title=HOSTILE))
    assert "<script" not in card.replace("\\<", "") and not re.search(r"(?<!\\)[*`](?!\*|\w)bold", card)
    assert "```bash\nheldout tune\n```" in card
    tables = [line for line in card.splitlines() if line.startswith("| ")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in tables}) == 1, "a bar of the user's own is a column"


def test_the_cards_of_other_results() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    estimate = ho.estimate(y, rng.random((60, 5)), metric="brier_score", n_bootstraps=50, random_state=0)
    card = ho.report_card(estimate, title="Ours")
    assert card.startswith("## Ours\n\n**Brier score on new data: ") and "Lower is better." in card
    model = ho.bootstrap_validate(LogisticRegression(), X, y, metric="roc_auc", n_bootstraps=40, random_state=0)
    assert "corrected for optimism (the optimism bootstrap)." in ho.report_card(model)
    nested = ho.nested_cv(KNeighborsClassifier(), X, y, {"n_neighbors": [1, 5]}, cv=3, random_state=0)
    assert "corrected for the selection (nested cross-validation)." in ho.report_card(nested)
    compared = ho.compare_algorithms(
        [("a", KNeighborsClassifier(), {"n_neighbors": [1, 5]}), ("b", LogisticRegression(), {})],
        X, y, cv=3, n_bootstraps=50, random_state=0,
    )  # fmt: skip
    assert f"| Model | {compared.deployed_name}" in ho.report_card(compared)


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
