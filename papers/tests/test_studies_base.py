"""The frame of every study: batches done in any order by any number of processes, kept, and gone on with."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dice import Dice, throw

from heldout.errors import InputError, StoreError
from heldout_papers.engine.arguments import checked_sizes
from heldout_papers.engine.batches import Batch, Columns, StudyJob, StudyPlan


@pytest.fixture
def study(tmp_path: Path) -> StudyPlan[Dice]:
    marks = tmp_path / "marks"
    marks.mkdir()
    return StudyPlan("dice", (Dice(1, str(marks)), Dice(3, str(marks))), 10, 7, throw)


def run(study: StudyPlan[Dice], **settings: Any) -> list[Columns]:
    return StudyJob(study, list, **settings).run()


def done_since(study: StudyPlan[Dice]) -> list[str]:
    """The batches that were done since this was last asked."""
    marks = sorted(Path(study.settings[0].marks).iterdir())
    for mark in marks:
        mark.unlink()
    return [mark.name for mark in marks]


def sums(found: list[Columns]) -> list[list[int]]:
    return [columns["sum"].tolist() for columns in found]


def test_every_repetition_of_every_setting_is_in_some_batch(study: StudyPlan[Dice]) -> None:
    spans = [(batch.setting.dice, batch.first, batch.last) for batch in study.batches(4)]

    assert spans == [(1, 0, 4), (1, 4, 8), (1, 8, 10), (3, 0, 4), (3, 4, 8), (3, 8, 10)]


@pytest.mark.parametrize(("batch_size", "n_jobs"), [(1, 1), (4, 2), (10, 2), (99, 1)])
def test_batches_and_processes_change_nothing(study: StudyPlan[Dice], batch_size: int, n_jobs: int) -> None:
    expected = [[int(throw(Batch(s, r, r + 1), 7)["sum"][0]) for r in range(10)] for s in study.settings]

    found = run(study, batch_size=batch_size, n_jobs=n_jobs)

    assert sums(found) == expected
    assert all(columns["repetition"].tolist() == list(range(10)) for columns in found)


def test_only_what_is_missing_is_done(study: StudyPlan[Dice], tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    heard: list[tuple[int, int]] = []

    def told(done: int, total: int, seconds: float) -> None:
        heard.append((done, total))
        if len(heard) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(study, batch_size=4, n_jobs=1, folder=kept, told=told)
    before = done_since(study)
    left = len(list(kept.iterdir()))
    found = run(study, batch_size=4, n_jobs=1, folder=kept, told=lambda *said: heard.append(said[:2]))
    after = done_since(study)
    again = run(study, batch_size=4, n_jobs=1, folder=kept)

    assert left == 2
    assert len(after) == 4
    assert len({*before[:2], *after}) == 6
    assert heard == [(1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]
    assert done_since(study) == []
    assert sums(found) == sums(again) == sums(run(study, batch_size=4))


def test_a_longer_study_does_only_what_is_new(study: StudyPlan[Dice], tmp_path: Path) -> None:
    run(replace(study, repetitions=8), batch_size=4, folder=tmp_path / "kept")
    done_since(study)

    found = run(study, batch_size=4, folder=tmp_path / "kept")

    assert done_since(study) == ["1-8-10", "3-8-10"]
    assert sums(found) == sums(run(study, batch_size=4))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(lambda study: replace(study, name="other"), id="another study"),
        pytest.param(lambda study: replace(study, entropy=8), id="another seed"),
        pytest.param(
            lambda study: replace(study, settings=tuple(replace(s, dice=s.dice + 1) for s in study.settings)),
            id="other settings",
        ),
    ],
)
def test_studies_that_share_a_folder_do_not_mix(
    study: StudyPlan[Dice], tmp_path: Path, other: Callable[[StudyPlan[Dice]], StudyPlan[Dice]]
) -> None:
    run(study, batch_size=5, folder=tmp_path / "kept")
    done_since(study)

    found = run(other(study), batch_size=5, folder=tmp_path / "kept")

    assert len(done_since(study)) == 4
    assert sums(found) == sums(run(other(study), batch_size=5))


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(lambda whole: whole[: len(whole) // 2], id="cut"),
        pytest.param(lambda whole: b"", id="empty"),
        pytest.param(lambda whole: b"no archive", id="strange"),
        pytest.param(lambda whole: whole[:150] + b"\xff" * 16 + whole[166:], id="overwritten"),
    ],
)
def test_a_damaged_batch_is_refused_by_name(
    study: StudyPlan[Dice], tmp_path: Path, damaged: Callable[[bytes], bytes]
) -> None:
    kept = tmp_path / "kept"
    run(study, batch_size=5, folder=kept)
    victim = sorted(kept.iterdir())[0]
    victim.write_bytes(damaged(victim.read_bytes()))

    with pytest.raises(StoreError) as refused:
        run(study, batch_size=5, folder=kept)
    victim.unlink()

    assert str(refused.value) == f"{victim} cannot be read (it is damaged); remove it, and the batch is repeated."
    assert sums(run(study, batch_size=5, folder=kept)) == sums(run(study, batch_size=5))


def test_a_folder_that_is_a_file_is_refused(study: StudyPlan[Dice], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match=r"the folder of the study, .*file, cannot be written to \(it is a file\)"):
        run(study, batch_size=5, folder=tmp_path / "file")


def test_sizes_are_whole_numbers_each_once() -> None:
    assert checked_sizes("rows", [20, 40, 20], 2) == (20, 40)
    assert checked_sizes("rows", np.int64(3), 2) == (3,)


@pytest.mark.parametrize("values", [1, [20, 1], [], 2.5, "20", [True, 20], None], ids=repr)
def test_other_sizes_are_refused(values: object) -> None:
    with pytest.raises(InputError, match=r"rows must be (a whole number|whole numbers) from 2 on, got "):
        checked_sizes("rows", values, 2)


@pytest.mark.parametrize("n_jobs", [0, 1.5, True, "2"])
def test_jobs_that_cannot_be_are_refused(study: StudyPlan[Dice], n_jobs: object) -> None:
    with pytest.raises(InputError, match="n_jobs must be a number of processes, -1 for every core, or None, got"):
        run(study, batch_size=4, n_jobs=n_jobs)
