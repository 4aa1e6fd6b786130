"""What is kept of bias studies in papers/evidence: it is what the study makes, and says what the page says."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from heldout_papers.bias import BiasMoments, bias
from heldout_papers.bias.claims import bias_claims

ROOT = Path(__file__).parents[3]
FILES = {"accuracy": "bias", "roc_auc": "bias-auc", "mean_squared_error": "bias-mse"}
SLOW = ("roc_auc", "mean_squared_error")
"""Ten seconds each; the study itself is the same for every metric."""
pytestmark = pytest.mark.pages


def kept(metric: str) -> BiasMoments:
    return BiasMoments.from_frame(pd.read_parquet(ROOT / "papers" / "evidence" / f"{FILES[metric]}.parquet"))


@pytest.mark.parametrize("metric", ["accuracy", *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW)])
def test_the_study_makes_it(metric: str) -> None:
    """One setting of it, to the last digits (which other processors may round otherwise)."""
    whole = kept(metric)
    again = bias(
        20, 50, [(9, 6)], metric=metric, repetitions=whole.repetitions, random_state=whole.entropy
    ).moments()
    rows = {(row["rows"], row["configurations"], row["beta"], row["protocol"]): row for row in whole.rows()}

    assert whole.settings[0] == again.settings[0]
    for row in again.rows():
        expected = rows[20, 50, "9,6", row["protocol"]]
        assert row["bias"] == pytest.approx(expected["bias"], abs=1e-9)
        assert row["standard_error"] == pytest.approx(expected["standard_error"], abs=1e-9)


@pytest.mark.parametrize("metric", FILES)
def test_the_page_s_table_is_of_it(metric: str) -> None:
    page = (ROOT / "papers" / "pages" / "study-bias.md").read_text(encoding="utf-8")
    table = page.split(f"### {metric}")[1].split("###")[0]
    lines = re.findall(r"^\| (\d+) \| (.*) \|$", table, flags=re.MULTILINE)
    rows = [row for row in kept(metric).rows() if row["beta"] == "9,6"]

    assert len(lines) == 7
    for n, cells in lines:
        for name, cell in zip(("cv", "tt", "nested_cv", "bbc", "bced"), cells.split(" | "), strict=True):
            mine = [row for row in rows if row["rows"] == int(n) and row["protocol"] == name]
            error = np.sqrt(sum(row["standard_error"] ** 2 for row in mine)) / len(mine)
            expected = f"{np.mean([row['bias'] for row in mine]):+.3f} ± {error:.3f}"

            assert cell.replace("−", "-") == expected.replace("+0.000 ±", "0.000 ±").replace("-0.000 ±", "0.000 ±")


def test_what_holds_of_accuracy() -> None:
    claims = bias_claims(kept("accuracy"))

    assert len(claims) == 27
    assert [claim.text for claim in claims if not claim.holds] == [
        "BBC-CV is almost unbiased, on average over C.",
        "Similarly for Be(14, 6), Be(24, 6) and Be(54, 6): TT over-corrects on average for N of 60, 80 and 100.",
    ]
