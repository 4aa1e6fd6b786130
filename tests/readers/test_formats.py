"""Exports of other tools: recognised by certain signs, read to the scores that the tools report, or refused."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.flags import Flag
from heldout.readers.formats.recognition import FORMATS, format_of
from heldout.readers.formats.tool import Export
from heldout.readers.long_table import ColumnUses
from heldout.readers.prediction_table import PredictionTable

EXPORTS = Path(__file__).with_name("exports")

# fit$results of the same fits, as caret prints them; {k: score}.
OF_CARET = {
    ("cv", "accuracy", "folds"): {1: 0.675, 3: 0.7, 5: 0.75, 9: 0.65},
    ("labels", "accuracy", "folds"): {1: 0.675, 3: 0.7, 5: 0.75, 9: 0.65},
    ("repeats", "accuracy", "folds"): {1: 0.6, 3: 0.6166666667, 5: 0.6083333333, 9: 0.65},
    ("final", "accuracy", "folds"): {5: 0.75},
    ("loo", "accuracy", "pooled"): {1: 0.6, 3: 0.6, 5: 0.65, 9: 0.6},
    ("classes", "accuracy", "folds"): {1: 0.5218253968, 3: 0.5281746032, 5: 0.5031746032, 9: 0.5273809524},
    ("weights", "accuracy", "folds"): {0.0: 0.725, 0.3: 0.625, 0.6: 0.55},
    ("boot", "root_mean_squared_error", "folds"): {
        1: 1.404635418, 3: 1.167876439, 5: 1.178869226, 9: 1.206035641,
    },
    ("boot", "mean_absolute_error", "pooled"): {1: 1.1599101153, 3: 0.9722479326, 5: 0.9737066376, 9: 0.9573228266},
    ("regression", "mean_absolute_error", "folds"): {
        1: 1.1147745530, 3: 0.8706000373, 5: 0.8481776555, 9: 0.9020210759,
    },
}  # fmt: skip


def caret(name: str) -> pd.DataFrame:
    return pd.read_csv(EXPORTS / f"caret-{name}.csv")


def tidymodels(frame: pd.DataFrame, spelling: str = "pre0_mod{}_post0") -> pd.DataFrame:
    """The same predictions as ``collect_predictions()`` has them."""
    number = frame["k"].rank(method="dense").astype(int)
    named = {"pred": ".pred_class", "no": ".pred_no", "yes": ".pred_yes", "rowIndex": ".row", "k": "neighbors"}
    if frame["pred"].dtype.kind == "f":
        named["pred"] = ".pred"
    made = frame.rename(columns={**named, "obs": "diagnosis"}).drop(columns="Resample")
    made[".config"] = [spelling.format(each) for each in number]
    parts = frame["Resample"].str.split(".", expand=True)
    if parts.shape[1] > 1:
        return made.assign(id=parts[1].str.replace("Rep", "Repeat"), id2=parts[0])
    return made.assign(id=parts[0])


def mlr3(frame: pd.DataFrame) -> pd.DataFrame:
    """The same predictions as ``as.data.table()`` of a benchmark has them."""
    parts = frame["Resample"].str.extract(r"Fold(\d+)(?:\.Rep(\d+))?").astype(float)
    n_folds, repeat = parts[0].max(), parts[1].fillna(1)
    return frame.assign(
        row_ids=frame["rowIndex"], truth=frame["obs"], response=frame["pred"], task_id="t", resampling_id="cv",
        learner_id="knn.k" + frame["k"].astype(str), iteration=((repeat - 1) * n_folds + parts[0]).astype(int),
    ).rename(columns={"no": "prob.no", "yes": "prob.yes"}).drop(
        columns=["rowIndex", "obs", "pred", "k", "Resample"]
    )  # fmt: skip


def score_of_each(table: PredictionTable, metric: str, aggregate: Any) -> list[float]:
    held = table.predictions
    scores = []
    for place, name in enumerate(held.names):
        alone = {kind: array[:, [place]] for kind, array in held.responses.items()}
        one = replace(held, responses=alone, names=(name,))
        scores.append(ho.estimate(table.truth, one, metric=metric, method="cv", aggregate=aggregate).value)
    return scores


@pytest.mark.parametrize(("name", "metric", "aggregate"), list(OF_CARET), ids="-".join)
def test_every_configuration_has_the_score_that_caret_reports(name: str, metric: str, aggregate: str) -> None:
    expected = OF_CARET[name, metric, aggregate]
    table = ho.read_predictions(EXPORTS / f"caret-{name}.csv")

    assert table.source.format == "caret"
    setting = "cp" if name == "weights" else "k"
    assert table.predictions.names == tuple(f"{setting}={value}" for value in expected)
    np.testing.assert_allclose(score_of_each(table, metric, aggregate), list(expected.values()), atol=2e-9)


@pytest.mark.parametrize("name", ["cv", "repeats", "boot"])
def test_the_order_of_the_lines_means_nothing(name: str) -> None:
    frame, metric = caret(name), "neg_mean_absolute_error" if name == "boot" else "accuracy"
    settings: dict[str, Any] = {"metric": metric, "n_bootstraps": 30, "random_state": 0}
    straight = ho.estimate(ho.read_predictions(frame), **settings)

    shuffled = frame.sample(frac=1, random_state=0)[np.random.default_rng(0).permutation(frame.columns)]
    found = ho.estimate(ho.read_predictions(shuffled), **settings)
    for part in ("value", "interval", "selected_name"):
        assert getattr(found, part) == getattr(straight, part)


@pytest.mark.parametrize("name", ["labels", "repeats"])
@pytest.mark.parametrize("spelling", ["pre0_mod{}_post0", "Preprocessor1_Model{}", "mlr3"])
def test_the_same_predictions_give_the_same_estimate_from_any_tool(name: str, spelling: str) -> None:
    metric = "accuracy" if name == "labels" else "neg_log_loss" if spelling == "mlr3" else "roc_auc"
    settings: dict[str, Any] = {"metric": metric, "n_bootstraps": 30, "random_state": 0, "method": "bbc"}
    of_caret = ho.read_predictions(caret(name))
    other = ho.read_predictions(mlr3(caret(name)) if spelling == "mlr3" else tidymodels(caret(name), spelling))

    assert other.source.format == ("mlr3" if spelling == "mlr3" else "tidymodels")
    np.testing.assert_array_equal(other.folds, of_caret.folds)
    one, two = ho.estimate(of_caret, **settings), ho.estimate(other, **settings)
    assert (one.value, one.interval, one.selected) == (two.value, two.interval, two.selected)
    k = one.selected_name.removeprefix("k=")
    assert two.selected_name == f"knn.k{k}" if spelling == "mlr3" else f"(neighbors={k})" in two.selected_name


def test_either_class_can_be_the_positive_one_and_a_threshold_cuts_its_probability() -> None:
    frame = caret("cv")
    table = ho.read_predictions(frame)
    frame["hit"] = np.where(frame["no"] > 0.6, "no", "yes") == frame["obs"]
    of_all: dict[str, Any] = {"method": "cv", "random_state": 0}

    best = ho.estimate(table, metric="accuracy", pos_label="no", threshold=0.6, **of_all)
    assert best.value == pytest.approx(frame.groupby("k")["hit"].mean().max(), abs=1e-12)
    by_label = [
        ho.estimate(table, metric="average_precision", pos_label=label, **of_all).value for label in ("no", "yes")
    ]
    assert by_label[1] == ho.estimate(table, metric="average_precision", **of_all).value != by_label[0]
    assert ho.estimate(table, metric="roc_auc", response="probabilities", **of_all).selected_name == "k=3"
    for wrong, said in (
        ({"predictions": [[1]]}, "predictions must be left out beside a table"),
        ({"response": "decision"}, "does not fit a table that holds labels and probabilities"),
    ):
        with pytest.raises(ho.InputError, match=said):
            ho.estimate(table, **{"metric": "accuracy", **of_all, **wrong})


def test_every_comparison_takes_a_table() -> None:
    table = ho.read_predictions(EXPORTS / "caret-labels.csv")
    compared = ho.compare_estimates(table, metric="accuracy", methods=["cv", "tt"], random_state=0)

    assert set(compared) == {"cv", "tt"}
    assert ho.compare_configurations(table, metric="accuracy", n_bootstraps=30, random_state=0).winner == "k=5"
    with pytest.raises(ho.InputError, match="metric must be given"):
        ho.estimate(table)


@pytest.mark.parametrize(
    ("name", "flag", "said"),
    [
        ("final", Flag.ONE_CONFIGURATION_KEPT, 'savePredictions = "all"'),
        ("loo", Flag.FOLDS_UNKNOWN, r"does not say in which fold"),
        ("boot", Flag.ROWS_NOT_HELD_OUT, "has no prediction of 3 of 40 rows"),
        ("boot", Flag.INCOMPLETE_PREDICTIONS, "each in 36% of the repeats"),
    ],
)
def test_what_an_export_lacks_is_flagged(name: str, flag: Flag, said: str) -> None:
    metric = "r2" if name == "boot" else "accuracy"
    found = ho.estimate(ho.read_predictions(EXPORTS / f"caret-{name}.csv"), metric=metric, method="cv")
    assert said in found.flags[flag]
    assert Flag.SINGLE_CONFIGURATION not in found.flags  # nothing says that nothing was selected


def test_means_over_resamples_are_flagged() -> None:
    frame = tidymodels(caret("cv")).drop(columns="id")
    found = ho.estimate(ho.read_predictions(frame), metric="accuracy", method="cv")
    assert "collect_predictions(summarize = FALSE)" in found.flags[Flag.AVERAGED_REPEATS]
    assert Flag.FOLDS_UNKNOWN in found.flags


def test_a_configuration_that_a_race_dropped_is_no_candidate() -> None:
    frame = caret("labels")
    raced = frame[(frame["k"] != 5) | (frame["Resample"] < "Fold4")]
    found = ho.estimate(ho.read_predictions(raced), metric="accuracy", method="cv")

    assert found.selected_name == "k=3"
    assert "1 of 4 configurations lack" in found.flags[Flag.INCOMPLETE_CONFIGURATIONS]


def test_slices_of_time_and_proposed_configurations_are_flagged() -> None:
    of_time = caret("labels").assign(Resample=lambda it: it["Resample"].str.replace("Fold", "Training"))
    slices = tidymodels(caret("labels")).assign(id=lambda it: it["id"].str.replace("Fold", "Slice"), **{".iter": 1})
    for frame, flags in (
        (of_time, {Flag.NOT_EXCHANGEABLE}),
        (slices, {Flag.NOT_EXCHANGEABLE, Flag.ADAPTIVE_SEARCH}),
    ):
        found = ho.estimate(ho.read_predictions(frame), metric="accuracy", method="cv")
        assert {*found.flags} - {Flag.NO_INTERVAL, Flag.UNCORRECTED} == flags


def test_predictions_of_training_rows_are_left_out() -> None:
    frame = tidymodels(caret("boot"))
    apparent = frame[frame["id"] == "Resample1"].assign(id="Apparent")
    table = ho.read_predictions(pd.concat([frame, apparent], ignore_index=True))

    assert len(table.remarks) == 1 and "'Apparent'" in table.remarks[0]
    np.testing.assert_array_equal(table.folds, ho.read_predictions(frame).folds)


def test_names_of_lines_that_r_writes_are_no_setting(tmp_path: Path) -> None:
    caret("cv").set_axis(range(1, 161)).sample(frac=1, random_state=0).to_csv(tmp_path / "rows.csv")
    table = ho.read_predictions(tmp_path / "rows.csv")
    as_polars_reads_it = pd.read_csv(tmp_path / "rows.csv").rename(columns={"Unnamed: 0": ""})
    assert ho.read_predictions(as_polars_reads_it).remarks == table.remarks

    assert isinstance(table.predictions, ho.HeldOutPredictions) and table.predictions.names[0] == "k=1"
    assert "without a name" in table.remarks[0]


def test_the_outcome_is_the_column_that_was_predicted_or_must_be_named() -> None:
    frame = tidymodels(caret("cv"))
    with_names = frame.assign(patient="p" + frame[".row"].astype(str), site=frame[".row"] % 3)
    assert ho.read_predictions(with_names).source.columns["truth"] == "diagnosis"

    twice = frame.assign(other=np.where(frame[".row"] % 2 == 0, "no", "yes"))
    with pytest.raises(ho.InputError, match=r"'diagnosis', 'other' may each be the outcome; name .* `target=`"):
        ho.read_predictions(twice)
    named = ho.read_predictions(twice, target="diagnosis", group="other")
    assert named.source.columns["truth"] == "diagnosis"
    with pytest.raises(ho.InputError, match="no column can be the outcome"):
        ho.read_predictions(frame.drop(columns="diagnosis"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda it: pd.concat([it, it.tail(1)]), "is in two lines, 160 and 161; .*name the column"),
        (lambda it: it.assign(patient=it["rowIndex"]), "would make 160 configurations of 160 lines.*exclude"),
        (lambda it: it.assign(half=it["rowIndex"] % 2), "is in no line .*, but others predicted it .*exclude="),
        (lambda it: it.assign(line=np.arange(len(it))), "would make 160 configurations of 160 lines"),
        (lambda it: it.assign(site=it["Resample"]), "no configuration has predictions of all folds .*exclude"),
        (lambda it: it.drop(columns="no"), "class 'no' has no column of probabilities beside 'yes'"),
        (lambda it: it.assign(no=it["no"] / 2), "k=3 has probabilities that sum to 0.6667 in row 1"),
        (lambda it: it.assign(Resample=None), r"'Resample' \(the folds\) has 160 missing values"),
        (lambda it: it.assign(obs=np.where(np.arange(160) == 7, "yes", it["obs"])), "has two values of the target"),
        (lambda it: it.drop(columns="k"), "is in two lines, .*configurations: one"),
        (lambda it: it.iloc[1:], "row 1 of configuration k=1 is in no line"),
        (lambda it: it.drop(columns=["no", "yes"]).assign(pred="no", obs="no"), "'obs' holds one class, 'no'"),
        (lambda it: it.assign(obs=(it["obs"] == "yes") + 1), "'obs' holds numbers .* and 'pred' holds text"),
        (lambda it: tidymodels(it).assign(**{".pred_time": 1.0}), "'.pred_time', the predictions of a censored"),
        (lambda it: it.assign(obs=np.nan), r"'obs' \(the target\) has 160 missing values"),
    ],
)  # fmt: skip
def test_what_could_be_read_in_two_ways_is_refused(change: Any, said: str) -> None:
    with pytest.raises(ho.InputError, match=said):
        ho.read_predictions(change(caret("cv")))


def test_classes_may_have_any_names_and_predictions_of_them_may_be_missing() -> None:
    expected = list(OF_CARET["cv", "accuracy", "folds"].values())
    frame = caret("cv")
    named = [("yes", "a b"), ("pred", "obs"), ("x", "weights"), ("0", "1"), ("FALSE", "TRUE")]
    for no, yes in named:
        own = frame.assign(**{name: frame[name].map({"no": no, "yes": yes}) for name in ("obs", "pred")})
        # caret itself writes no probabilities of classes that are called like its columns
        own = own.drop(columns=["no", "yes"]) if no == "pred" else own.rename(columns={"no": no, "yes": yes})
        predicted = own.columns.isin(["pred"] if no == "pred" else ["pred", no, yes])
        gap = (own["Resample"] == "Fold1") & (own["k"] == 9)
        blank = own.mask(gap.to_numpy()[:, None] & predicted[None, :])
        for each, n_whole in ((own, 4), (blank, 3)):
            table = ho.read_predictions(pd.read_csv(io.StringIO(each.to_csv(index=False))))
            assert table.remarks == () and table.source.columns["configurations"] == "k"
            assert ("probabilities" in table.source.columns) == (no != "pred")
            scores = score_of_each(table, "accuracy", "folds")
            assert scores[:n_whole] == pytest.approx(expected[:n_whole])


def test_whole_numbers_of_few_values_are_labels_and_can_be_read_as_amounts() -> None:
    codes = {"low": 1, "mid": 2, "high": 3}
    frame = caret("classes").drop(columns=[*codes])
    numbers = frame.assign(obs=frame["obs"].map(codes), pred=frame["pred"].map(codes))
    table = ho.read_predictions(numbers)
    assert len(table.remarks) == 1 and "'pred' are read as labels of classes" in table.remarks[0]
    expected = list(OF_CARET["classes", "accuracy", "folds"].values())
    assert score_of_each(table, "accuracy", "folds") == pytest.approx(expected)

    named = {"target": "obs", "row": "rowIndex", "fold": "Resample", "configuration": "k", "prediction": "pred"}
    amounts = ho.estimate(ho.read_predictions(numbers, **named), metric="neg_mean_absolute_error", method="cv")
    off = (numbers["obs"] - numbers["pred"]).abs().groupby(numbers["k"]).mean()
    assert amounts.value == pytest.approx(-off.min())


def test_probabilities_alone_are_read_and_settings_of_other_models_may_be_missing() -> None:
    frame = caret("cv")
    alone = ho.read_predictions(tidymodels(frame).drop(columns=".pred_class"))
    assert alone.source.columns["truth"] == "diagnosis" and "labels" not in alone.source.columns
    settings: dict[str, Any] = {"metric": "roc_auc", "method": "cv"}
    assert ho.estimate(alone, **settings).value == ho.estimate(ho.read_predictions(frame), **settings).value

    assert ho.read_predictions(frame.replace({"k": {5: np.nan, 9: np.inf}})).predictions.names[2] == "k=inf"
    both = pd.concat([frame, frame[frame["k"] < 4].rename(columns={"k": "cp"}).assign(pred="no")])
    table = ho.read_predictions(both)
    assert table.predictions.names == ("k=1", "k=3", "k=5", "k=9", "cp=1", "cp=3")
    of_no = (frame["obs"] == "no")[frame["k"] == 1].groupby(frame["Resample"]).mean().mean()
    expected = [*OF_CARET["cv", "accuracy", "folds"].values(), of_no, of_no]
    assert score_of_each(table, "accuracy", "folds") == pytest.approx(expected)


def test_a_column_named_by_the_user_tells_exports_apart() -> None:
    for made in (tidymodels, mlr3):
        own = made(caret("cv"))
        both = pd.concat([own.assign(model="knn"), own.assign(model="svm")])
        with pytest.raises(ho.InputError, match=r"two lines.*with `configuration=`"):
            ho.read_predictions(both)
        table = ho.read_predictions(both, configuration="model")
        assert table.held is not None and table.held.n_configurations == 8
        assert table.held.names[0].startswith("model=knn")
    with pytest.raises(ho.InputError, match=r"configuration='m'` needs `row=`"):
        ho.read_predictions(pd.DataFrame({"y": [0, 1], "m": [0.2, 0.9]}), target="y", configuration="m")


@pytest.mark.parametrize(
    ("name", "said"),
    [("heldout", "was not written by heldout tune"), ("scikit_learn", "reads a mapping from names")],
)
def test_a_format_that_the_user_names_must_fit(name: str, said: str) -> None:
    with pytest.raises(ho.InputError, match=said):
        ho.read_predictions(caret("cv"), format=name)


def test_tasks_of_mlr3_are_read_one_at_a_time() -> None:
    frame = mlr3(caret("cv"))
    frame["task_id"] = np.where(frame["row_ids"] > 20, "one", "two")
    with pytest.raises(ho.InputError, match=r"has 2 values of 'task_id' \('two', 'one'\), and its lines must be"):
        ho.read_predictions(frame)
    alone = mlr3(caret("cv"))
    alone = alone[alone["learner_id"] == "knn.k5"][["row_ids", "truth", "response", "prob.no", "prob.yes"]]
    found = ho.estimate(ho.read_predictions(alone), metric="accuracy", method="cv")
    assert (found.selected_name, found.value) == ("the learner", pytest.approx(0.75))


def test_an_export_of_two_formats_is_refused_with_both_names() -> None:
    both = caret("cv").assign(**mlr3(caret("cv"))[["row_ids", "truth", "response"]])
    said = r"read in 2 ways: as fit\$pred of caret \(`format='caret'`, by columns pred.*\), or as .*mlr3"
    with pytest.raises(ho.InputError, match=said):
        ho.read_predictions(both)
    named = ho.read_predictions(both, exclude=["row_ids", "truth", "response"])
    assert (named.source.format, named.predictions.names) == ("caret", ("k=1", "k=3", "k=5", "k=9"))
    with pytest.raises(
        ho.InputError, match=r"format must be auto or one of .*, got 'carret'. Did you mean caret\?"
    ):
        ho.read_predictions(both, format="carret")
    with pytest.raises(ho.InputError, match=r"the list is not of a known format \(heldout, .*; give a file"):
        ho.read_predictions([1, 2])


@pytest.mark.parametrize("known", FORMATS.values(), ids=list(FORMATS))
def test_a_format_recognises_no_table_of_another(known: Any) -> None:
    frames = {
        "caret": caret("cv"),
        "tidymodels": tidymodels(caret("cv")),
        "mlr3": mlr3(caret("cv")),
        "wide": pd.DataFrame({"y": [0, 1], "one": [0.2, 0.3]}),
    }
    for name, frame in frames.items():
        assert known.recognises(Export.of(frame), ColumnUses()) == (known.name == name and name != "wide")
    assert format_of(Export.of(frames["wide"]), ColumnUses()).name == "wide"


def test_what_the_user_says_of_columns_is_used_or_contradicted() -> None:
    frame = caret("cv")
    same = ho.read_predictions(frame, target="obs", row="rowIndex", fold="Resample")
    assert same.source.format == "caret"
    with pytest.raises(ho.InputError, match=r"`fold='k'` contradicts what was recognised, .* this is 'Resample'"):
        ho.read_predictions(frame, fold="k")
    with pytest.raises(ho.InputError, match=r"`target=...` contradicts what was recognised, .* this is 'obs'"):
        ho.read_predictions(frame, target=np.zeros(160))
    long = ho.read_predictions(frame, target="obs", configuration="k", row="rowIndex", fold="Resample")
    assert long.source.format == "long"
    settings: dict[str, Any] = {"metric": "roc_auc", "n_bootstraps": 30, "random_state": 0}
    assert ho.estimate(long, **settings).value == ho.estimate(same, **settings).value
    weighed = ho.read_predictions(EXPORTS / "caret-weights.csv", weight="weights")
    assert weighed.sample_weight is not None and set(np.round(weighed.sample_weight, 3)) == {0.667, 1.333}


def test_arrays_side_by_side_are_the_predictions_of_configurations() -> None:
    rng = np.random.default_rng(0)
    y, folds = rng.integers(0, 3, 60), np.arange(60) % 5
    shares = {f"m{j}": rng.dirichlet(np.ones(3), size=60) for j in range(4)}
    settings: dict[str, Any] = {"metric": "neg_log_loss", "n_bootstraps": 30, "random_state": 0}
    table = ho.read_predictions(shares, target=y, fold=folds)

    stacked = np.stack(list(shares.values()), axis=1)[:, :, None]
    found, expected = ho.estimate(table, **settings), ho.estimate(y, stacked, folds=folds, **settings)
    assert (found.value, found.interval) == (expected.value, expected.interval)
    assert found.selected_name == f"m{expected.selected}"
    labels = {name: share.argmax(axis=1).tolist() for name, share in shares.items()}
    of_labels = ho.estimate(ho.read_predictions(labels, target=y), metric="accuracy", method="cv")
    assert of_labels.value == max(np.mean(column == y) for column in labels.values())
    for wrong, said in (
        ((shares, {}), "hold no true values; pass them as `target=y`, got None"),
        (({"m": shares["m0"][:, :2]}, {"target": y}), "a column for each of the 3 classes"),
        (({"m": y, "n": y[1:]}, {"target": y}), "must be of the same rows, got m: 60, n: 59"),
        (({"fit_time": y, "score_time": y}, {"target": y}), "cross_validate holds scores and models"),
        (({"m": y}, {"target": y[1:]}), "one value for each of the 60 lines"),
    ):
        with pytest.raises(ho.InputError, match=said):
            ho.read_predictions(wrong[0], **wrong[1])


def test_no_configuration_is_lost_to_another_of_its_name() -> None:
    y, rng = np.arange(40) % 2, np.random.default_rng(0)
    scores, labels = rng.random((2, 40)), np.where(y, "yes", "no")
    shares = [pd.DataFrame({"yes": share, "no": 1 - share}) for share in scores]
    for arrays, target in ((scores, y), (shares, labels)):
        with pytest.raises(ho.InputError, match=r"two configurations are named .1.; name each once"):
            ho.read_predictions({1: arrays[0], "1": arrays[1]}, target=target)

    # Prompts that differ beyond what names show.
    prompts = [f"{'Think step by step. ' * 20}{end}" for end in "ab"]
    lines = {"row": np.tile(np.arange(40), 2), "prompt": np.repeat(prompts, 40), "y": np.tile(y, 2)}
    long = pd.DataFrame(lines | {"p": scores.ravel()})
    table = ho.read_predictions(long, target="y", configuration="prompt", row="row")
    found, expected = (
        ho.estimate(*asked, metric="roc_auc", n_bootstraps=20, random_state=0)
        for asked in ((table,), (y, scores.T))
    )
    assert (found.value, found.uncorrected) == (expected.value, expected.uncorrected)
    assert (found.selected_name or "").endswith(" #2") == (expected.selected == 1)
