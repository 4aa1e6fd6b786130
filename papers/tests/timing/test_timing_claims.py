"""What a study of times says of the article's claims, and how its page shows it: from times that are made up."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from heldout_papers import TimingStudy, timing
from heldout_papers.engine.claims import Claim
from heldout_papers.engine.page import render_study
from heldout_papers.timing.claims import PUBLISHED, timing_claims
from heldout_papers.timing.page import timing_page
from heldout_papers.timing.problem import WAYS, TimingSetting
from heldout_papers.timing.study import CENTRE

Seconds = Callable[[str, TimingSetting], float]


def study(seconds: Seconds, ways: tuple[str, ...] = tuple(WAYS), repetitions: int = 5) -> TimingStudy:
    """The article's settings with these times, the same in each repetition but for a percent."""
    plan = timing.job(ways=ways).plan
    wobble = np.linspace(0.99, 1.01, repetitions)
    columns = [
        {f"{name}.seconds": seconds(name, setting) * wobble for name in ways}
        | {f"{name}.bound": np.full(repetitions, 0.8) for name in ways}
        for setting in plan.settings
    ]
    return TimingStudy(plan.settings, CENTRE, repetitions, tuple(columns), 0)


def published(name: str, setting: TimingSetting) -> float:
    return PUBLISHED[setting.rows, setting.configurations, setting.folds][name.endswith("bbc_f")]


def by_operations(name: str, setting: TimingSetting) -> float:
    """As counting operations has it: B C N and B C K."""
    units = setting.folds if name.endswith("bbc_f") else setting.rows
    return 1e-6 * setting.configurations * units


def claim(found: tuple[Claim, ...], start: str, whose: str = "plain code") -> Claim:
    return next(one for one in found if one.text.startswith(start) and whose in one.text)


def test_the_published_times_say_what_is_quoted_of_them() -> None:
    found = timing_claims(study(published, ("plain_bbc", "plain_bbc_f")))

    assert claim(found, "BBC-F is consistently").ours == "6.13 to 110 times"
    assert claim(found, "BBC and BBC-F scale").ours == "0.94 and 0.72"
    assert claim(found, "The time of BBC-F").ours == "1.28 times"
    assert claim(found, "The time of BBC is").ours == "1.13 times"
    order = claim(found, "The speed-up")
    assert order.ours == "0.033 to 1.6 of N/K"
    assert order.difference == "Within a factor of 10 of N/K in 15 of 17 settings."
    assert [one.holds for one in found] == [True, True, True, True, False]


def test_times_that_follow_the_operations_have_their_ratio_in_the_order_of_n_by_k() -> None:
    found = timing_claims(study(by_operations))

    assert len(found) == 10
    order = claim(found, "The speed-up")
    assert order.holds and order.ours == "1 to 1 of N/K"
    assert not claim(found, "BBC-F is consistently").holds  # 3333 times with 10 000 rows
    assert claim(found, "The time of BBC-F is not").holds


def test_a_fast_bbc_fails_the_claim_of_speed_and_the_sentence_counts_where() -> None:
    found = timing_claims(study(lambda name, setting: 1e-3 if name == "bbc" else published(name, setting)))
    ours = claim(found, "BBC-F is consistently", "heldout's code")

    assert not ours.holds
    assert ours.difference.endswith("and slower in 17.")
    assert claim(found, "BBC-F is consistently").holds
    assert not claim(found, "BBC and BBC-F scale", "heldout's code").holds


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("change", [{"ways": ("bbc", "plain_bbc")}, {"repetitions": 4}], ids=["no pair", "few"])
def test_without_both_methods_or_with_few_repetitions_nothing_is_tested(change: dict[str, object]) -> None:
    few = study(published, **change)  # type: ignore[arg-type]

    assert timing_claims(few) == ()
    assert "No claim of the article can be tested" in timing_page(few).claims_sentence


def test_without_much_variation_nothing_is_tested() -> None:
    whole = study(published)
    part = TimingStudy(whole.settings[:7], whole.centre, 5, whole.columns[:7], 0)

    assert timing_claims(part) == ()


def test_the_page_shows_all_three_panels_and_the_published_ratio(tmp_path: Path) -> None:
    page = timing_page(study(published), command="heldout study timing")
    text = render_study(page)

    assert [picture.title for picture in page.pictures] == ["By rows", "By configurations", "By folds"]
    head, row = page.tables[0].head, page.tables[0].rows[3]
    assert dict(zip(head, row, strict=True)) == {
        "": "N = 500, C = 5, K = 3",
        "BBC, heldout": "930",
        "BBC-F, heldout": "29.2",
        "BBC, plain": "930",
        "BBC-F, plain": "29.2",
        "BBC / BBC-F, heldout's code": "31.9",
        "BBC / BBC-F, plain code": "31.9",
        "BBC / BBC-F, published": "31.9",
        "N/K": "167",
    }
    assert page.lead == (
        "With 500 rows, 5 configurations and 3 folds, BBC takes 31.9 times by heldout's code and 31.9 times by "
        "plain code as long as BBC-F."
    )
    assert "Paraschakis, K." in text and "heldout study timing" in text
    assert "Median milliseconds with 50 and with 10,000 rows: BBC, heldout 800, 4.16e+03" in text


@pytest.mark.usefixtures("without_pictures")
def test_one_way_alone_has_a_page_without_comparisons() -> None:
    page = timing_page(study(published, ("bbc",)))

    assert page.lead == "With 500 rows, 5 configurations and 3 folds, BBC, heldout takes 930 ms."
    assert page.tables[0].head == ("", "BBC, heldout", "BBC / BBC-F, published", "N/K")
