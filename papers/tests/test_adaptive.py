"""The study of adaptive searches: its page, its resumption, its command, and the kept run on the page."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import heldout as ho
from heldout.cli.group import heldout
from heldout.errors import InputError
from heldout_papers.adaptive import AdaptiveSetting, AdaptiveStudy, adaptive
from heldout_papers.adaptive.claims import adaptive_claims
from heldout_papers.adaptive.page import markdown_lines
from heldout_papers.adaptive.study import METHODS
from heldout_papers.engine.page import StudyTable

SMALL: dict[str, Any] = {
    "searchers": ["random", "tpe"], "rows": 40, "trials": 5, "centre": (40, 5), "repetitions": 2, "n_nested": 1,
    "n_bootstraps": 20, "random_state": 0,
}  # fmt: skip


def made(biases: dict[str, float], n: int = 20) -> AdaptiveStudy:
    """A study of noise whose methods have these biases after TPE; after a random search a fifth of them."""
    settings, columns = [], []
    for searcher, share in (("tpe", 1.0), ("random", 0.2)):
        settings.append(AdaptiveSetting("noise", searcher, 60, 200, 200, n))
        noise = 0.01 * np.random.default_rng(1).standard_normal(n)
        of = {"search.fits": np.full(n, 1000.0), "search.more_fits": np.full(n, 285.0)}
        for method in METHODS:
            value = 0.5 + share * biases.get(method, 0.0) + noise
            of |= {
                f"{method}.value": value, f"{method}.truth": np.full(n, 0.5), f"{method}.low": value - 0.01,
                f"{method}.high": value + 0.01,
            }  # fmt: skip
        columns.append(of)
    return AdaptiveStudy(tuple(settings), (60, 200), n, tuple(columns), 0)


def test_bias_error_and_coverage_by_hand() -> None:
    study = made({"bbc": 0.1}, 2)
    study.columns[0]["bbc.value"][:] = [0.6, 0.4]
    study.columns[0]["bbc.low"][:] = [0.45, np.nan]
    study.columns[0]["bbc.high"][:] = [0.65, np.nan]
    found = study.summary(0, "bbc")
    assert found["bias"] == pytest.approx(0.0)
    assert found["rmse"] == pytest.approx(0.1)
    assert found["standard_error"] == pytest.approx(0.1)
    assert found["coverage"] == 1.0
    assert found["n"] == 2


@pytest.mark.parametrize(
    ("biases", "holds"),
    [
        ({"bbc": 0.1, "shrinkage": 0.12, "cross_fitted": 0.0}, [True, True, True, True]),
        ({"bbc": -0.1, "shrinkage": -0.12, "cross_fitted": 0.2}, [False, False, False, False]),
    ],
)
def test_claims_are_judged_both_ways(biases: dict[str, float], holds: list[bool]) -> None:
    assert [claim.holds for claim in adaptive_claims(made(biases))] == holds
    assert adaptive_claims(made(biases, 3)) == ()


def test_it_is_the_same_for_any_number_of_processes_and_continues(tmp_path: Path) -> None:
    one = adaptive(["noise"], **SMALL, folder=tmp_path / "batches")
    kept = sorted((tmp_path / "batches").glob("*.npz"))
    kept[0].unlink()
    done: list[int] = []
    again = adaptive(
        ["noise"], **SMALL, folder=tmp_path / "batches", told=lambda n, of, seconds: done.append(n), n_jobs=2
    )  # the batch that is missing is made by another process
    assert len(done) == 1
    pd.testing.assert_frame_equal(one.to_frame(each=True), again.to_frame(each=True))
    back = AdaptiveStudy.from_frame(one.to_frame(each=True), centre=(40, 5))
    assert back.place("noise", "tpe") == one.place("noise", "tpe")
    assert back.summary(0, "bbc")["bias"] == pytest.approx(one.summary(0, "bbc")["bias"], abs=1e-6)
    assert [row["n"] for row in one.rows()[:5]] == [2, 2, 2, 2, 1]
    assert "noise" in one.page().lead or "Bias" in one.page().lead


def test_tables_of_a_folder_are_worlds(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.resize([0, 1], 1200)
    frame = pd.DataFrame({"a": y + rng.normal(size=1200), "b": rng.normal(size=1200), "target": y})
    frame.to_csv(tmp_path / "plain.csv", index=False)
    frame.assign(b=np.where(frame["b"] > 0, "one", "two")).to_csv(tmp_path / "words.csv", index=False)
    job = adaptive.job(["noise"], **SMALL, tables=tmp_path)
    assert [one.world for one in job.plan.settings] == ["noise", "noise", "plain", "plain"]
    assert "not numbers" in job.left_out["words"]
    one = {"searchers": "tpe", "repetitions": 1, "n_nested": 0}
    found = adaptive(["noise"], **{**SMALL, **one}, tables=tmp_path)
    place = found.place("plain", "tpe")
    assert place is not None
    assert 0.5 < found.summary(place, "cv")["truth"] < 0.9


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"searchers": "grid"}, "searchers must be some of random, tpe, gp, cmaes, halving"),
        ({"rows": 5}, "rows must be a whole number from 20 on"),
        ({"centre": 60}, "centre must be two numbers: rows and trials, got 60"),
    ],
)
def test_bad_arguments_are_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        ho.studies.adaptive(["noise"], **{**SMALL, **settings})


@pytest.mark.usefixtures("without_pictures")
def test_the_command_leaves_its_files(tmp_path: Path) -> None:
    typed = (
        "study adaptive --quick --worlds noise --searchers tpe --rows 40 --trials 5 --centre 40,5 --repetitions 2 "
        f"--nested 0 --bootstraps 20 --seed 1 --out {tmp_path / 'out'}"
    )
    result = CliRunner().invoke(heldout, typed.split())
    assert result.exit_code == 0, result.output
    assert {"adaptive.parquet", "adaptive.csv", "study.json", "report.html"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    document = json.loads((tmp_path / "out" / "study.json").read_text())
    assert document["study"] == "adaptive" and document["rows"]
    assert document["claims_sentence"] in result.output
    assert "What we claim" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_tables_become_markdown() -> None:
    table = StudyTable("T", ("", "a"), (("x", "1"),))
    assert markdown_lines([table, table])[:6] == ["**T**", "", "|  | a |", "|---|---|", "| x | 1 |", ""]
