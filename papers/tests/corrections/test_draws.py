"""Draws: what a search on a sample holds, that it is kept and not repeated, and methods on it."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from real_tables import few_configurations, write_tables
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score

import heldout as ho
from heldout.errors import InputError, StoreError
from heldout_papers.corrections import TablesStudy, corrections, draw_scores, draws, space
from heldout_papers.corrections.designs import DESIGNS, Design
from heldout_papers.corrections.draws import DrawFolder, DrawSource, KeptDraw, draw
from heldout_papers.corrections.page import corrections_page
from heldout_papers.corrections.space import ALIKE

N = 40


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tables(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module", autouse=True)
def small_spaces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        few_configurations(patch)
        yield


def source(tables: Path, design: Design, name: str) -> DrawSource:
    return DrawSource(design, "judging", (tables / f"{name}.parquet",))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {
        "designs": ["b40", "r40"], "searches": tmp_path_factory.mktemp("searches"), "repetitions": 2,
        "metrics": ["roc_auc", "r2"], "n_bootstraps": 50, "n_jobs": 1, "random_state": 0,
    }  # fmt: skip


@pytest.fixture(scope="module")
def first(tables: Path, asked: dict[str, Any]) -> TablesStudy:
    found = corrections("tables", tables=tables, **asked)
    assert isinstance(found, TablesStudy)
    return found


@pytest.fixture(scope="module")
def searches(first: TablesStudy, asked: dict[str, Any]) -> Path:
    """Two draws of classes and two of numbers."""
    return Path(asked["searches"])


def of_folder(searches: Path, design: str, repetition: int = 0) -> KeptDraw:
    found = DrawFolder(searches).kept(DrawSource(DESIGNS[design], "judging", ()), repetition)
    assert found is not None
    return found


def test_the_bits_of_a_draw(searches: Path) -> None:
    found = of_folder(searches, "b40").arrays
    labels = found["P_labels"][:, ALIKE:]  # of neighbours, which no library of linear algebra changes
    parts = b"".join(
        np.ascontiguousarray(one, dtype=np.int64).tobytes() for one in (found["y"], found["folds"], labels)
    )

    assert int(found["seed"]) == 1562438045
    assert hashlib.sha256(parts).hexdigest()[:16] == "b8d7b5cbae5daabc"


def test_a_draw_holds_what_its_models_predict(tables: Path, searches: Path) -> None:
    kept = of_folder(searches, "r40")
    rows = pd.read_parquet(tables / "d_numbers.parquet")
    place = [int(np.flatnonzero(rows["target"] == value)[0]) for value in kept.y]
    X, y, folds = rows[list("abc")].to_numpy()[place], kept.y, kept.arrays["folds"][:, 0]

    # The first configuration is a ridge regression on scaled columns with penalty 1e4: fitted again on a fold.
    train = folds != 0
    scaled = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    model = Ridge(alpha=1e4).fit(scaled[train], y[train])
    assert kept.arrays["P_values"][~train, 0, 0] == pytest.approx(model.predict(scaled[~train]))
    # Its true score is that of the model of all rows on all others.
    rest = rows.drop(index=place)
    centre, scale = X.mean(axis=0), X.std(axis=0)
    predicted = (
        Ridge(alpha=1e4).fit((X - centre) / scale, y).predict((rest[list("abc")].to_numpy() - centre) / scale)
    )
    assert kept.arrays["T_r2"][0] == pytest.approx(r2_score(rest["target"], predicted))
    assert float(kept.arrays["sd"]) == pytest.approx(rest["target"].std(ddof=0))


def test_true_scores_are_those_of_the_prevalence(tables: Path) -> None:
    rare = source(tables, Design("rare", "binary", N, 0.2), "a_classes")
    found, drawn = draw(rare, 0), draws.sample(rare, 0)

    assert found is not None
    assert drawn is not None
    assert drawn.rest.mean() > 0.45
    weights = np.where(drawn.rest == 1, 0.2 / drawn.rest.mean(), 0.8 / (1 - drawn.rest.mean()))
    _, model, grid = rare.design.entries(*drawn.of_search)[1]
    model.set_params(**{name: values[0] for name, values in grid.items()}).fit(*drawn.of_search)
    right = model.predict(drawn.X[N:]) == drawn.rest
    assert found["T_accuracy"][ALIKE] == pytest.approx(np.average(right, weights=weights))
    assert found["T_accuracy"][ALIKE] != pytest.approx(right.mean())


def test_draws_with_groups_repeats_and_one_row_left_out_keep_what_they_need(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = space.classifiers
    monkeypatch.setattr(space, "classifiers", lambda X, many: few(X, many=many)[1:])
    folder = DrawFolder(tmp_path)
    in_groups = folder.kept(source(tables, Design("groups", "binary", N, folds=2, has_groups=True), "a_classes"), 0)
    repeated = folder.kept(source(tables, Design("repeats", "binary", 20, folds=2, repeats=2), "a_classes"), 0)
    one_out = folder.kept(source(tables, Design("one", "binary", 12, folds=12), "a_classes"), 0)

    assert in_groups is not None
    assert repeated is not None
    assert one_out is not None
    assert in_groups.predictions.grouped
    groups, folds = in_groups.arrays["groups"], in_groups.arrays["folds"][:, 0]
    assert all(len(set(folds[groups == group])) == 1 for group in set(groups))
    assert repeated.predictions.folds is not None
    assert repeated.predictions.folds.shape == (20, 2)
    assert sorted(one_out.arrays["folds"][:, 0]) == list(range(12))


def test_what_is_kept_is_not_searched_again(
    tables: Path, searches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_classes = source(tables, DESIGNS["b40"], "b_classes")

    def fails(*arguments: object) -> None:
        raise InputError("all models failed")

    monkeypatch.setattr(draws, "draw", fails)
    again = DrawFolder(searches).kept(of_classes, 1)
    lacking = DrawFolder(tmp_path).kept(of_classes, 1)

    assert again is not None
    assert lacking is None
    assert (tmp_path / "b40" / "judging_0001.none").read_text() == "all models failed"
    monkeypatch.setattr(draws, "draw", lambda *arguments: pytest.fail("searched again"))
    assert DrawFolder(tmp_path).kept(of_classes, 1) is None


def test_draws_that_could_not_be_made_are_no_result(
    tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draws, "draw", lambda *arguments: None)

    with pytest.raises(InputError, match=r"^no draw has a search; files NAME.none among the searches say why\.$"):
        corrections("tables", tables=tables, searches=tmp_path, designs="b40", repetitions=2, n_jobs=1)
    assert (tmp_path / "b40" / "judging_0001.none").read_text() == "no sample"


def test_an_interrupted_draw_leaves_no_file(tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(file: Path, **arrays: Any) -> None:
        Path(file).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(draws, "draw", lambda *arguments: {})
    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        DrawFolder(tmp_path).kept(source(tables, DESIGNS["b40"], "b_classes"), 0)

    assert list((tmp_path / "b40").iterdir()) == []


def test_a_folder_that_cannot_be_written_to(tables: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(
        StoreError, match=r"^the folder of searches, .*file, cannot be written to \(not a directory\)"
    ):
        DrawFolder(tmp_path / "file").kept(source(tables, DESIGNS["b40"], "b_classes"), 0)


def test_the_study_searches_and_scores_as_users_do(first: TablesStudy, asked: dict[str, Any]) -> None:
    again = corrections("tables", **asked)

    assert isinstance(again, TablesStudy)
    frame = first.to_frame(each=True)
    same = [name for name in frame if name != "seconds"]
    pd.testing.assert_frame_equal(frame[same], again.to_frame(each=True)[same])
    assert frame["number"].tolist() == [0] * 6 + [1] * 6 + [0] * 6 + [1] * 6
    assert frame["size"].tolist()[:6:2] == ["one", "ten", "all"]
    kept = of_folder(asked["searches"], "b40", 1)
    expected = ho.estimate(
        kept.y, kept.predictions.of(list(range(ALIKE))), metric="roc_auc", aggregate="auto", method="bbc",
        n_bootstraps=50, random_state=int(kept.arrays["seed"]),
    )  # fmt: skip
    (row,) = (
        frame[(frame["size"] == "ten") & (frame["method"] == "bbc") & (frame["design"] == "b40")]
        .iloc[1:]
        .to_dict("records")
    )
    assert (row["value"], row["uncorrected"]) == (expected.value, expected.uncorrected)
    assert (row["low"], row["high"]) == tuple(expected.interval or ())
    assert row["truth"] == kept.arrays["T_roc_auc"][expected.selected]
    assert row["rarer"] == min(np.bincount(kept.y))
    # One draw of each design was searched once more, with one metric.
    assert first.checks["is_equal"].tolist() == [True, True]
    assert again.checks["is_equal"].tolist() == []


def test_a_search_that_differs_is_named(tables: Path, searches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def other_seed(design: Design, drawn: draws.Sample, **settings: Any) -> Any:
        return draws.search_of(design, replace(drawn, seed=drawn.seed + 1), **settings)

    monkeypatch.setattr(draw_scores, "search_of", other_seed)
    found = corrections(
        "tables", tables=tables, searches=searches, designs="b40", repetitions=1, n_bootstraps=20, n_jobs=1
    )

    assert found.checks["is_equal"].tolist() == [False]
    assert found.parameters()["searched_again"] == 1
    claim = found.page().claims[-1]
    assert claim.holds is False
    assert claim.difference.startswith("Does not hold: 1 of 1 searches differ: b40, judging 0, ")


def test_a_method_that_refuses_leaves_its_reason(searches: Path) -> None:
    found = corrections(
        "tables", searches=searches, designs="r40", repetitions=1, metrics="r2", methods=["bbc", "wilson"],
        n_jobs=1, n_bootstraps=20,
    )  # fmt: skip
    frame = found.to_frame(each=True)

    refused = frame[frame["method"] == "wilson"]
    assert refused["value"].isna().all()
    assert all("wilson" in reason for reason in refused["flags"])
    assert [row["repetitions"] for row in found.rows() if row["method"] == "wilson"] == [0, 0, 0]


def test_the_page_of_real_searches(searches: Path, without_pictures: None) -> None:
    found = corrections(
        "tables", searches=searches, designs=["b40", "b100"], repetitions=2, metrics="log_loss", n_jobs=1,
        n_bootstraps=20,
    )  # fmt: skip
    page = corrections_page(found, command="heldout study corrections")

    assert found.left_out == {"b100": "its judging half has no kept search, and no table with enough rows"}
    assert page.facts["scores"] == "auto"
    assert any(sentence.startswith("The oracle subtracts the mean optimism") for sentence in page.method)
    assert any(sentence.startswith("Cells with fewer than 10 rows") for sentence in page.method)
    assert [row["bias"] for row in found.rows() if row["method"] == "oracle"] == pytest.approx([0, 0, 0], abs=1e-12)
