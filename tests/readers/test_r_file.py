"""Tables from files of R: what is read of an object, its types, and files that are refused."""

import sys
from pathlib import Path

import numpy as np
import pytest

import heldout as ho
from heldout.errors import MissingExtraError
from heldout.readers.r_file import read_r
from heldout.readers.tables import read_table

EXPORTS = Path(__file__).parent / "exports" / "r"


def test_columns_have_the_types_that_a_csv_file_of_the_same_table_gives() -> None:
    assert read_r(EXPORTS / "types.rds")[1] == ("Read the data frame types from types.rds.",)
    plain = read_table(EXPORTS / "types.rds").frame
    assert [plain[name].dtype.kind for name in plain] == ["f", "f", "O", "O", "b"]
    assert plain.isna().to_numpy().tolist() == [[False] * 5, [True] * 4 + [False]]
    assert list(plain.iloc[0]) == [1.0, 3.0, "a", "b", True]
    assert read_r(EXPORTS / "fit.rds")[0]["k"].dtype == np.int64


def test_results_of_tidymodels_are_joined_with_the_columns_that_identify_their_resamples() -> None:
    frame, _ = read_r(EXPORTS / "iterations.rds")
    assert list(frame) == ["id", ".iter", ".pred", ".row", "neighbors", "y", ".config"]
    assert frame["id"].tolist() == ["Fold1"] * 3 + ["Fold2"] * 3 and frame[".iter"].tolist() == [0] * 3 + [1] * 3
    frame, remarks = read_r(EXPORTS / "workflows.rds")
    assert frame.groupby(["wflow_id", "id"])[".row"].apply(list).tolist() == [[1, 2, 3], [4, 5, 6]] * 2
    assert remarks == ("Read the .predictions of the workflows in workflows (tidymodels) from workflows.rds.",)
    names = ho.read_predictions(EXPORTS / "workflows.rds").predictions.names
    assert len(names) == 2 and "knn" in names[0] and "trees" in names[1]


def test_a_model_that_holds_functions_of_r_itself_is_read_to_the_scores_that_caret_printed() -> None:
    table = ho.read_predictions(EXPORTS / "preprocessed.rds")
    assert table.predictions.names == ("k=1", "k=4") and table.predictions.n_repeats == 2
    found = ho.estimate(table, metric="root_mean_squared_error", method="cv", aggregate="folds")
    assert found.selected_name == "k=4" and found.value == pytest.approx(2.55534499, abs=5e-9)


def test_resamples_whose_fits_failed_are_counted() -> None:
    frame, remarks = read_r(EXPORTS / "failed.rds")
    assert len(frame) == 3
    assert remarks[1] == "1 resample in failed.rds without predictions: the fits failed."
    assert remarks[1] in ho.read_predictions(EXPORTS / "failed.rds").remarks


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("numbers.rds", r"holds 0 tables, among numbers \(ndarray\); save a data frame with saveRDS"),
        ("two.rda", r"holds 2 tables, among fit \(Train\), other \(Train\); save"),
        (
            "without_predictions.rds",
            r"results of caret or tidymodels without predictions; fit it with trainControl",
        ),
        (
            "metrics.rds",
            r"results of caret or tidymodels without predictions; .* tune with control_grid\(save_pred = TRUE\)",
        ),
        ("lists.rds", r"column 'b' holds cells of type ndarray; the cells of a column must be all numbers"),
    ],
)
def test_objects_without_a_table_of_predictions_are_refused(name: str, said: str) -> None:
    with pytest.raises(ho.InputError, match=said):
        read_table(EXPORTS / name)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", ["pred.rda", "fit.rds"])
def test_a_file_that_was_cut_or_is_of_another_kind_is_refused(name: str, share: float, tmp_path: Path) -> None:
    whole = (EXPORTS / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ho.InputError, match=r"cannot be read as a file of R: .*; is the file complete"):
        read_table(path)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ho.InputError, match="cannot be read as a file of R"):
        read_table(path)


def test_without_rdata_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdata.parser", None)
    with pytest.raises(MissingExtraError, match=r"Reading files of R needs .*pip install 'heldout\[r\]'"):
        read_table(EXPORTS / "fit.rds")
