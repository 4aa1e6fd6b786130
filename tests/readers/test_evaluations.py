"""Evaluations of language models: small files as each tool writes them, read as scores of systems on items."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.errors import InputError

SYSTEMS, ITEMS = ("alpha", "beta", "gamma"), 12
RNG = np.random.default_rng(8)
RIGHT = (RNG.random((ITEMS, len(SYSTEMS))) < 0.6).astype(float)


def lines(path: Path, objects: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in objects), encoding="utf-8")


def whole(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def lm_eval(folder: Path, right: Any = RIGHT, task: str = "arc_easy", time: str = "2026-01-02T03-04-05.6") -> None:
    for system, scores in zip(SYSTEMS, right.T, strict=True):
        rows = [
            {"doc_id": i, "doc": {"topic": f"t{i % 4}"}, "filter": "none", "metrics": ["acc"], "acc": score,
             "doc_hash": f"{task} {i}"}
            for i, score in enumerate(scores)
        ]  # fmt: skip
        lines(folder / system / f"samples_{task}_{time}.jsonl", rows)


EXPORTS = Path(__file__).with_name("exports") / "evaluations"
"""The scores ``RIGHT`` as each tool writes them."""


@pytest.mark.parametrize("tool", ["lm_eval", "inspect", "helm", "promptfoo", "openai_evals", "evalstats"])
def test_every_tool_gives_the_scores_of_the_systems(tool: str) -> None:
    table = ho.read_predictions(EXPORTS / tool)
    assert table.source.format == tool
    names = [name.removeprefix("openai:x: ") for name in table.held.names]
    assert names == list(SYSTEMS)
    found = ho.estimate(table, random_state=0)
    alone = ho.estimate(RIGHT, metric="mean_score", random_state=0)
    assert found.metric == "mean_score"
    assert found.uncorrected == alone.uncorrected
    assert found.selected == alone.selected
    assert not {"folds_unknown", "incomplete_configurations"} & {*found.flags}


def test_of_equal_systems_the_first_by_name_is_best(tmp_path: Path) -> None:
    lm_eval(tmp_path, np.tile(RIGHT[:, :1], (1, 3)))
    assert ho.estimate(ho.read_predictions(tmp_path), random_state=0).selected_name == "alpha"


def test_the_score_of_several_tasks_is_their_mean(tmp_path: Path) -> None:
    lm_eval(tmp_path)
    few = RIGHT[:5]
    lm_eval(tmp_path, few, task="law")
    table = ho.read_predictions(tmp_path)
    means = (RIGHT.mean(axis=0) + few.mean(axis=0)) / 2
    found = ho.estimate(table, random_state=0)
    assert found.uncorrected == pytest.approx(means.max())
    assert found.provenance["stratified"]
    assert "stratified" not in found.flags
    whole_tasks = ho.estimate(ho.read_predictions(tmp_path, tasks="whole"), random_state=0)
    assert whole_tasks.uncorrected == pytest.approx(means.max())
    assert "few_groups" in whole_tasks.flags


def test_items_within_tasks_are_drawn_more_quietly_than_all_items_together(tmp_path: Path) -> None:
    # All of one task are right and of the other wrong: within tasks there is nothing to draw.
    lm_eval(tmp_path, np.tile([[0.0], [1.0]], (20, 3)), task="mixed")
    lm_eval(tmp_path, np.ones((40, 3)), task="sure")
    table = ho.read_predictions(tmp_path)
    found = ho.estimate(table, random_state=0, method=ho.estimates.Shrinkage(stratify=True))
    every = ho.estimate(table, random_state=0, method=ho.estimates.Shrinkage())
    assert found.standard_error < every.standard_error


def test_runs_are_repeats_and_as_many_of_each_are_read(tmp_path: Path) -> None:
    lm_eval(tmp_path)
    lm_eval(tmp_path, 1 - RIGHT, time="2026-01-03T03-04-05.6")
    table = ho.read_predictions(tmp_path)
    assert table.held.n_repeats == 2
    assert ho.estimate(table, random_state=0).uncorrected == pytest.approx(0.5)
    next((tmp_path / "beta").glob("*01-03*")).unlink()
    fewer = ho.read_predictions(tmp_path)
    assert fewer.held.n_repeats == 1
    assert any("the first 1 run of each are read" in remark for remark in fewer.remarks)


def test_what_is_kept_of_items_makes_groups(tmp_path: Path) -> None:
    lm_eval(tmp_path)
    table = ho.read_predictions(tmp_path, group="topic")
    assert sorted(set(table.groups)) == ["t0", "t1", "t2", "t3"]
    with pytest.raises(InputError, match="got 'author'; there is 'topic'") as error:
        ho.read_predictions(tmp_path, group="author")
    assert error.value.argument == "group"


def test_one_of_several_scores_is_read_and_named(tmp_path: Path) -> None:
    rows = [
        {"doc_id": i, "filter": name, "metrics": ["exact_match", "brier"], "exact_match": score, "brier": 0.5}
        for i in range(9)
        for name, score in (("strict", 0.0), ("flexible", 1.0))
    ]
    lines(tmp_path / "m" / "samples_gsm8k_2026-01-02T03-04-05.6.jsonl", rows)
    table = ho.read_predictions(tmp_path)
    assert any("'exact_match,strict' is the score" in remark for remark in table.remarks)
    assert ho.estimate(table, random_state=0).uncorrected == 0
    other = ho.read_predictions(tmp_path, prediction="exact_match,flexible")
    assert ho.estimate(other, random_state=0).uncorrected == 1
    for name in ("brier,strict", "rouge"):
        with pytest.raises(InputError, match="name one of which more is better") as error:
            ho.read_predictions(tmp_path, prediction=name)
        assert error.value.argument == "prediction"


def test_settings_tell_runs_of_one_model_apart_in_inspect(tmp_path: Path) -> None:
    for temperature in (0.0, 0.7):
        head = {"task": "qa", "model": "m", "created": "c", "model_generate_config": {"temperature": temperature}}
        samples = [{"id": i, "epoch": 1, "scores": {"s": {"value": {"a": 1, "b": 0}}}} for i in range(9)]
        whole(tmp_path / f"{temperature}.json", {"version": 2, "eval": head, "samples": samples})
    table = ho.read_predictions(tmp_path, prediction="s/b")
    assert table.held.names == ("m (temperature=0.0)", "m (temperature=0.7)")


def test_two_runs_of_one_test_are_repeats_in_promptfoo(tmp_path: Path) -> None:
    content = json.loads((EXPORTS / "promptfoo" / "out.json").read_text(encoding="utf-8"))
    content["results"]["results"] *= 2
    whole(tmp_path / "out.json", content)
    assert ho.read_predictions(tmp_path).held.n_repeats == 2


def changed(folder: Path, change: Callable[[str], str]) -> None:
    path = next((folder / "beta").glob("*.jsonl"))
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda folder: changed(folder, lambda text: re.sub(r'(?m)^\{"doc_id": 3,.*\n', "", text)),
            "3 of configuration beta is in no line",
        ),
        (lambda folder: changed(folder, lambda text: text * 2), "two lines|2 lines"),
        (lambda folder: changed(folder, lambda text: text.replace("arc_easy 3", "other")), "row 3"),
        (lambda folder: changed(folder, lambda text: text[:-20]), "line 12 of .* cannot be read as JSON"),
        (lambda folder: lm_eval_of_one(folder), "system alpha has no 'acc' of task law"),
        (lambda folder: shutil.copytree(EXPORTS / "inspect", folder, dirs_exist_ok=True), "can be read in 2 ways"),
    ],
    ids=["missing", "twice", "other", "cut", "task", "two tools"],
)
def test_items_that_are_missing_repeated_or_others_are_refused(
    damage: Callable[[Path], None], message: str, tmp_path: Path
) -> None:
    lm_eval(tmp_path)
    damage(tmp_path)
    with pytest.raises(InputError, match=message):
        ho.read_predictions(tmp_path)


def lm_eval_of_one(folder: Path) -> None:
    rows = [{"doc_id": 0, "filter": "none", "metrics": ["acc"], "acc": 1.0}]
    lines(folder / "beta" / "samples_law_2026-01-02T03-04-05.6.jsonl", rows)


def test_scores_in_columns_need_no_target() -> None:
    frame = pd.DataFrame(RIGHT, columns=SYSTEMS).assign(item=[f"q{i}" for i in range(ITEMS)])
    table = ho.read_predictions(frame, format="scores", row="item")
    assert table.held.names == SYSTEMS
    assert ho.estimate(table, random_state=0).uncorrected == pytest.approx(RIGHT.mean(axis=0).max())


def test_a_long_table_is_read_with_runs_models_and_one_evaluator() -> None:
    frame = pd.read_csv(EXPORTS / "evalstats" / "scores.csv")
    frame = pd.concat([frame.assign(run=run, model="m", judge="j") for run in (1, 2)])
    table = ho.read_predictions(frame)
    assert table.held.n_repeats == 2
    assert table.held.names == ("m: alpha", "m: beta", "m: gamma")


def test_draws_of_tasks_have_two_names(tmp_path: Path) -> None:
    lm_eval(tmp_path)
    with pytest.raises(InputError, match="tasks must be one of stratified, whole") as error:
        ho.read_predictions(tmp_path, tasks="all")
    assert error.value.argument == "tasks"


def test_errors_of_providers_are_no_wrong_answers_and_one_name_can_be_two_configurations(tmp_path: Path) -> None:
    results = [
        {"provider": {"id": "x"}, "promptIdx": j, "prompt": {"label": "p"}, "vars": {"q": i}, "testIdx": i,
         "score": float(i % 2 == j), "success": i % 2 == j} | ({"score": 0, "failureReason": 2} if i == 0 else {})
        for i in range(20)
        for j in range(2)
    ]  # fmt: skip
    whole(tmp_path / "out.json", {"evalId": "e", "results": {"version": 3, "results": results}})
    table = ho.read_predictions(tmp_path)
    assert table.held.names == ("x #0", "x #1") and len(table.truth) == 19
    assert any("2 answers without 'score'" in remark for remark in table.remarks), table.remarks


def test_answers_without_a_grade_are_counted_and_failed_runs_refused(tmp_path: Path) -> None:
    for system in SYSTEMS:
        samples = [{"id": f"q{i}", "epoch": 1, "scores": {"m": {"value": "CI?"[i % 3]}}} for i in range(12)]
        head = {"task": "qa", "model": system, "created": "c"}
        whole(tmp_path / f"{system}.json", {"version": 2, "status": "success", "eval": head, "samples": samples})
    table = ho.read_predictions(tmp_path)
    assert len(table.truth) == 8 and any(" answers without 'm'" in remark for remark in table.remarks)
    whole(tmp_path / "z.json", {"version": 2, "status": "error", "eval": head, "samples": samples[:3]})
    with pytest.raises(InputError, match="of a run with status error"):
        ho.read_predictions(tmp_path)


def test_a_system_without_the_score_of_the_others_is_refused(tmp_path: Path) -> None:
    for system, scorer in (("a", "match"), ("b", "match"), ("c", "graded")):
        samples = [{"id": i, "epoch": 1, "scores": {scorer: {"value": 1}}} for i in range(9)]
        whole(
            tmp_path / f"{system}.json", {"version": 2, "eval": {"task": "t", "model": system}, "samples": samples}
        )
    with pytest.raises(InputError, match="system c has no 'match' of task t, which others have"):
        ho.read_predictions(tmp_path)


def test_scores_beyond_one_keep_their_range(tmp_path: Path) -> None:
    frame = pd.DataFrame({"best": [3.0, 7.0, 9.0] * 5, "part": [4.0, 6.0, 5.0] * 5})
    frame.to_csv(tmp_path / "scores.csv", index=False)
    table = ho.read_predictions(tmp_path / "scores.csv", format="scores")
    found = ho.estimate(table, metric="mean_score(least=0, greatest=10)", random_state=0)
    assert table.held.names == ("best", "part") and found.uncorrected == pytest.approx(19 / 3)


def test_scores_say_right_and_wrong_in_words_or_as_booleans() -> None:
    right = np.array([[1, 0], [1, 1], [0, 0], [1, 0]])
    expected = ho.estimate(right, metric="mean_score", random_state=0).value
    words = {name: np.where(column == 1, "Right", " wrong") for name, column in zip("ab", right.T, strict=True)}
    for frame in (pd.DataFrame(words), pd.DataFrame(right == 1, columns=["a", "b"])):
        assert ho.estimate(ho.read_predictions(frame, "scores"), random_state=0).value == expected


def test_a_line_for_each_item_and_system_needs_no_target() -> None:
    right = RNG.integers(0, 2, (30, 3))
    frame = pd.DataFrame(right, columns=["a", "b", "c"]).rename_axis("item").reset_index()
    long = frame.melt("item", var_name="prompt", value_name="correct").assign(question="what?")
    found = ho.read_predictions(long.sample(frac=1, random_state=0), "scores", configuration="prompt", row="item")
    wide = ho.read_predictions(frame, "scores", row="item")
    answers = [ho.estimate(table, random_state=0) for table in (found, wide)]
    assert answers[0].value == answers[1].value
    assert answers[0].selected_name == answers[1].selected_name
    with pytest.raises(
        InputError, match=r"its one column of scores with `prediction=` \(there is 'correct', 'cost'\)"
    ):
        ho.read_predictions(long.assign(cost=0.5), "scores", configuration="prompt", row="item")


def test_a_column_of_text_is_no_system() -> None:
    frame = pd.DataFrame({"id": ["q1", "q2"], "a": [1, 0], "b": [0, 0]})
    with pytest.raises(InputError, match=r"'id' holds 'q1' in row 1, which is no score .* `row='id'`"):
        ho.read_predictions(frame, "scores")
    assert ho.estimate(ho.read_predictions(frame, "scores", row="id"), random_state=0).selected_name == "a"
