"""Every display draws the numbers that it says, from a search, an estimate, predictions and a validation."""

import io
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import heldout as ho
from heldout.errors import InputError, MissingExtraError
from heldout.report import facts
from heldout.report.displays.base import name_text

SENTENCE = r"^a plot needs packages of the extra 'plot': pip install 'heldout\[plot\]'$"
OTHERS = ("RaceDisplay", "LeaderboardDisplay")
OF_SEARCHES = [getattr(ho.plots, name) for name in ho.plots.__all__ if name not in OTHERS]


def draw(display: type, search: Any, **settings: Any) -> Any:
    more = {"metric": "accuracy"} if display is ho.plots.ThresholdChoiceDisplay else {}
    return display.from_search(search, **more, **settings)  # type: ignore[attr-defined]


def texts(display: Any) -> str:
    """All words of a plot."""
    figure = display.figure_
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    words = [text.get_text() for legend in legends for text in legend.get_texts()]
    for axes in figure.axes:
        words += [axes.get_xlabel(), axes.get_ylabel(), axes.get_title(), axes.get_title(loc="left")]
    return "\n".join(words)


@pytest.mark.parametrize("display", OF_SEARCHES)
def test_a_display_says_what_is_uncorrected_and_draws_again(display: type, search: Any) -> None:
    drawn = draw(display, search)
    assert "uncorrected" in texts(drawn) and drawn.ax_.figure is drawn.figure_
    _, ax = plt.subplots()
    again = drawn.plot(ax=ax)
    assert (
        again is drawn and drawn.ax_ is ax and ax.has_data() and ax.get_legend() is not None
    ) or "Plane" in repr(drawn)
    assert repr(drawn) == f"{display.__name__}()"


@pytest.mark.parametrize("display", [ho.plots.CorrectedScoreDisplay, ho.plots.ParameterPlaneDisplay])
def test_a_picture_is_the_same_each_time(display: type, search: Any) -> None:
    pictures = []
    for _ in range(2):
        file = io.BytesIO()
        draw(display, search).figure_.savefig(file, format="png", dpi=30, metadata={"Software": None})
        pictures.append(file.getvalue())
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("display", OF_SEARCHES)
@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        (None, InputError, "search must be a fitted search of heldout, or its evaluation, got None"),
        (GridSearchCV(KNeighborsClassifier(), {}), InputError, r"got GridSearchCV.*ho\.correct"),
        (ho.HeldOutSearchCV(KNeighborsClassifier(), {"p": [1]}), NotFittedError, "is not fitted yet"),
    ],
)
def test_what_is_no_fitted_search_is_refused(display: type, wrong: Any, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        draw(display, wrong)
    assert not plt.get_fignums()


# --- One by one ---------------------------------------------------------------------------------------------


def test_the_corrected_score_is_drawn_as_the_report_shows_it(search: Any) -> None:
    display = search.plot()
    content = facts(search.evaluation_)
    assert isinstance(display, ho.plots.CorrectedScoreDisplay)
    assert (display.value, display.low, display.high) == (search.corrected_score_, *search.confidence_interval_)
    assert display.distribution == content.distribution
    assert display.value_line_.get_xdata()[0] == search.corrected_score_
    assert display.uncorrected_line_.get_xdata()[0] == search.best_score_
    assert display.bars_.get_data().values.tolist() == list(content.distribution.counts)  # type: ignore[union-attr]
    assert search.evaluation_.plot().value == display.value
    assert "95 % confidence interval" in texts(display) and "ROC AUC (higher is better)" in texts(display)


def test_losses_are_positive_and_lower_is_better(search: Any) -> None:
    display = ho.plots.CorrectedScoreDisplay.from_search(search, scorer="neg_log_loss")
    assert display.value == -search.estimates_["neg_log_loss"].value > 0
    assert display.low is not None and display.high is not None and display.low < display.value < display.high
    assert display.ax_.get_xlabel() == "Log loss (lower is better)"


def test_an_estimate_draws_itself(search: Any) -> None:
    display = search.estimate_.plot(name="mine", line_kw={"color": "grey"})
    assert display.value_line_.get_color() == "grey"
    assert display.value == search.estimate_.value and display.ax_.get_title() == "mine"
    plain = ho.estimate([0, 1] * 20, np.arange(120).reshape(40, 3) % 7 / 7, metric="roc_auc", method="cv")
    drawn = plain.plot()
    assert drawn.label == "uncorrected" and drawn.uncorrected_line_ is None and drawn.bars_ is None
    with pytest.raises(InputError, match=r"estimate must be what ho\.estimate or another"):
        ho.plots.CorrectedScoreDisplay.from_estimate(search)


def test_a_line_takes_the_short_names_of_matplotlib(search: Any) -> None:
    short = {"c": "grey", "ls": ":", "lw": 4}
    number = search.estimate_.plot(line_kw=short).value_line_
    (curve,) = ho.plots.RocCurveDisplay.from_search(search, line_kw=short).lines_
    for line in (number, curve):
        assert (line.get_color(), line.get_linestyle(), line.get_linewidth()) == ("grey", ":", 4)


def test_the_direction_of_an_own_metric_follows_from_the_optimism() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    loss = ho.metrics.custom(
        lambda y, p: float(np.mean((y - p) ** 2)), greater_is_better=False, response="probabilities", name="own"
    )
    estimate = ho.estimate(y, rng.random((60, 9)), metric=loss, n_bootstraps=50, random_state=0)
    assert estimate.optimism > 0 and estimate.plot().ax_.get_xlabel() == "own (lower is better)"


def test_a_search_without_estimate_or_predictions_draws_what_it_has(rows: tuple[Any, Any]) -> None:
    settings = {"param_grid": {"n_neighbors": [1, 9]}, "n_bootstraps": 50, "random_state": 0}
    without = ho.HeldOutSearchCV(KNeighborsClassifier(), method=None, **settings).fit(*rows)
    ranking = without.plot()
    assert isinstance(ranking, ho.plots.RankingDisplay) and ranking.estimate_bar_ is None
    with pytest.raises(InputError, match="the search has no estimate of score"):
        ho.plots.CorrectedScoreDisplay.from_search(without)
    dropped = ho.HeldOutSearchCV(KNeighborsClassifier(), keep_predictions=False, **settings).fit(*rows)
    assert dropped.plot().value == dropped.corrected_score_
    with pytest.raises(InputError, match="this plot needs the held-out predictions; search with"):
        ho.plots.RankingDisplay.from_search(dropped)


def test_the_ranking_is_that_of_the_search(search: Any) -> None:
    display = ho.plots.RankingDisplay.from_search(search, max_configurations=3)
    means = search.cv_results_["mean_test_roc_auc"]
    assert display.drawn_.tolist() == np.argsort(-means, kind="stable")[:3].tolist()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[-1] == "and 5 more" and display.ax_.get_ylabel() == "KNeighborsClassifier"
    assert all("n_neighbors=" in label for label in labels[:3])
    assert display.estimate_bar_.lines[0].get_xdata().tolist() == [search.corrected_score_]
    (low, high) = display.estimate_bar_.lines[2][0].get_segments()[0][:, 0]
    assert (low, high) == pytest.approx(tuple(search.confidence_interval_))
    with pytest.raises(InputError, match="max_configurations must be an integer of at least 1, got 0"):
        display.plot(max_configurations=0)


def test_a_comparison_is_drawn_as_a_search_is(search: Any, rows: tuple[Any, Any]) -> None:
    compared = ho.compare_configurations(search)
    assert len(ho.plots.RankingDisplay.from_comparison(compared).drawn_) == 8
    optimism = ho.plots.OptimismCurveDisplay.from_comparison(compared)
    curve = compared.optimism_curve()
    assert optimism.uncorrected_line_.get_ydata().tolist() == curve.uncorrected.tolist()
    assert optimism.corrected_line_.get_ydata().tolist() == curve.corrected.tolist()
    for display in (ho.plots.RankingDisplay, ho.plots.OptimismCurveDisplay):
        with pytest.raises(InputError, match=r"comparison must be what .* returns, got list"):
            display.from_comparison([])  # type: ignore[arg-type]


def test_the_slice_draws_all_configurations_and_the_best(search: Any) -> None:
    display = ho.plots.ParameterSliceDisplay.from_search(search, "n_neighbors")
    x, y = display.points_.get_data()
    assert x.tolist() == [params["n_neighbors"] for params in search.cv_results_["params"]]
    assert y == pytest.approx(search.cv_results_["mean_test_roc_auc"])
    assert display.best_line_.get_xdata().tolist() == [1, 5, 9, 30]
    assert display.best_line_.get_ydata() == pytest.approx(y.reshape(4, 2).max(axis=1))
    assert display.winner_mark_.get_xdata() == [search.best_params_["n_neighbors"]]
    assert "95 % bootstrap interval" in texts(display)
    kinds = ho.plots.ParameterSliceDisplay.from_search(search)  # the most influential
    assert kinds.axis.name == "n_neighbors"


def test_the_plane_draws_the_best_at_each_pair(search: Any) -> None:
    display = ho.plots.ParameterPlaneDisplay.from_search(search, ("p", "n_neighbors"))
    means = search.cv_results_["mean_test_roc_auc"].reshape(4, 2)
    assert np.allclose(np.asarray(display.colours_.get_array()).reshape(4, 2), means)
    written = [text.get_text() for text in display.ax_.texts]
    assert len(written) == 8 and all("±" in text for text in written)
    outlined = display.scores.not_worse
    assert outlined is not None and len(display.ax_.patches) == outlined.sum()
    with pytest.raises(InputError, match="parameters must be two names"):
        ho.plots.ParameterPlaneDisplay.from_search(search, "p")


def test_scattered_pairs_are_points_over_contours(rows: tuple[Any, Any]) -> None:
    space = {"C": loguniform(0.01, 100), "coef0": uniform(0, 1)}
    settings = {"n_iter": 12, "scoring": "roc_auc", "n_bootstraps": 50, "random_state": 0}
    found = ho.HeldOutRandomizedSearchCV(SVC(), space, **settings).fit(*rows)
    display = ho.plots.ParameterPlaneDisplay.from_search(found, ("C", "coef0"))
    assert not display.is_grid and display.ax_.get_xscale() == "log"
    x, y = np.asarray(display.colours_.get_offsets()).T
    assert x.tolist() == [params["C"] for params in found.cv_results_["params"]]
    assert y.tolist() == [params["coef0"] for params in found.cv_results_["params"]]
    assert np.asarray(display.colours_.get_array()) == pytest.approx(found.cv_results_["mean_test_score"])


def test_the_history_ends_at_the_estimate(search: Any) -> None:
    display = ho.plots.SearchHistoryDisplay.from_search(search)
    assert display.corrected_line_.get_xdata().tolist() == list(range(1, 9))
    assert display.corrected_line_.get_ydata()[-1] == search.corrected_score_
    assert display.uncorrected_line_.get_ydata()[-1] == search.best_score_
    assert display.notes == () and "corrected by shrinkage" in texts(display)


def test_the_race_shows_which_was_dropped_after_which_split(raced: Any, search: Any) -> None:
    display = ho.plots.RaceDisplay.from_search(raced)
    evaluation = raced.evaluation_
    assert evaluation.dropped, "the search drops"
    assert display.lines[0].is_winner and display.lines[0].index == raced.best_index_
    assert {line.index: line.splits for line in display.lines if line.ending == "dropped"} == {
        j: left.after for j, left in evaluation.dropped.items()
    }
    assert [bar.get_width() for bar in display.bars_] == [line.splits for line in display.lines]
    for line in display.lines:
        own = evaluation.fold_scores["score"].values[:, line.index]
        assert line.score == pytest.approx(np.nanmean(own))
    assert f"{raced.n_fits_} of 27 fits made" in texts(display)
    notes = ho.plots.SearchHistoryDisplay.from_search(raced).notes
    assert len(notes) == 2 and "repeats the dropping" in notes[1]
    with pytest.raises(InputError, match="the search could drop no configuration"):
        ho.plots.RaceDisplay.from_search(search)


def test_dropped_configurations_are_marked_and_never_the_best(raced: Any) -> None:
    display = ho.plots.ParameterSliceDisplay.from_search(raced, "n_neighbors")
    evaluation = raced.evaluation_
    left = [
        params["n_neighbors"] for j, params in enumerate(raced.cv_results_["params"]) if j in evaluation.dropped
    ]
    assert left and display.dropped_points_.get_xdata().tolist() == left
    assert not {*left} & {*display.best_line_.get_xdata().tolist()}
    assert f"{len(left)} dropped, each on the splits that it had" in texts(display)
    ranking = ho.plots.RankingDisplay.from_search(raced)
    assert len(ranking.drawn_) == 3 - len(left) and "dropped or failed: not ranked" in texts(ranking)
    optimism = ho.plots.OptimismCurveDisplay.from_search(raced)
    assert f"without {len(left)} dropped or failed" in texts(optimism)


def test_an_adaptive_search_is_noted(rows: tuple[Any, Any]) -> None:
    opened = ho.open_search(*rows, scoring="roc_auc", n_bootstraps=30, random_state=0)
    for neighbours in (5, 30):
        opened.evaluate(KNeighborsClassifier(neighbours))
    found = opened.finish()
    for display in (ho.plots.OptimismCurveDisplay, ho.plots.SearchHistoryDisplay):
        assert "part of the optimism remains" in texts(display.from_search(found))


def test_a_one_sided_interval_is_not_drawn_to_the_end_of_the_range(rows: tuple[Any, Any]) -> None:
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [5, 30]}, scoring="neg_log_loss", alternative="greater",
        n_bootstraps=50, random_state=0,
    ).fit(*rows)  # fmt: skip
    assert search.confidence_interval_.high == 0
    display = search.plot()
    assert display.low is None and display.high == -search.confidence_interval_.low
    assert f"95 % one-sided confidence interval: at most {display.high:.2f}" in texts(display)
    assert display.ax_.get_xlim()[0] > 0.5 * display.value
    history = ho.plots.SearchHistoryDisplay.from_search(search)
    assert np.isnan(history.low).all() and history.ax_.get_ylim()[0] > 0.5 * -search.best_score_
    ranking = ho.plots.RankingDisplay.from_search(search)
    assert ranking.ax_.get_xlim()[0] > 0


def test_roc_and_precision_recall_have_scikit_learns_areas(search: Any, rows: tuple[Any, Any]) -> None:
    y = rows[1] == "malignant"
    scores = search.predictions_.responses["probabilities"][:, search.best_index_, 0]
    roc = ho.plots.RocCurveDisplay.from_search(search)
    assert f"area {roc_auc_score(y, scores):.3f}" in roc.lines[0].label
    assert f"{search.best_score_:.3f} uncorrected, {search.corrected_score_:.3f} corrected" in roc.lines[0].label
    assert "the search's ROC AUC, mean over the folds" in roc.lines[0].label
    precision = ho.plots.PrecisionRecallDisplay.from_search(search)
    assert f"average precision {average_precision_score(y, scores):.3f}" in precision.lines[0].label
    assert precision.prevalence == pytest.approx(y.mean())
    other = ho.plots.RocCurveDisplay.from_search(search, configuration=0)
    assert other.name == search.predictions_.names[0] and "the search's" not in other.lines[0].label
    with pytest.raises(InputError, match="there is no configuration 'x'"):
        ho.plots.RocCurveDisplay.from_search(search, configuration="x")
    with pytest.raises(InputError, match="or its index from 0 to 7, got 8"):
        ho.plots.RocCurveDisplay.from_search(search, configuration=8)


def test_curves_of_predictions_are_those_of_the_search(search: Any, rows: tuple[Any, Any]) -> None:
    best, y = search.best_index_, rows[1]
    every = search.predictions_.responses["probabilities"][:, :, 0]
    for display in (
        ho.plots.RocCurveDisplay, ho.plots.PrecisionRecallDisplay, ho.plots.CalibrationDisplay,
        ho.plots.DecisionCurveDisplay,
    ):  # fmt: skip
        of_search = display.from_search(search)
        assert of_search.lines[0].y == display.from_predictions(y, every[:, best], pos_label="malignant").lines[0].y
        estimate = ho.estimate(y, every, metric="neg_log_loss", n_bootstraps=20, random_state=0)
        selected = display.from_estimate(estimate, y, every)
        assert selected.lines[0].x == display.from_predictions(y, every[:, estimate.selected]).lines[0].x
        with pytest.raises(InputError, match="there are 8 configurations, and the plot is of one; name it"):
            display.from_predictions(y, every)
        plt.close("all")


def test_a_metric_of_the_other_class_does_not_stand_beside_the_curve(rows: tuple[Any, Any]) -> None:
    of_benign = make_scorer(average_precision_score, response_method="predict_proba", pos_label="benign")
    settings = {"scoring": {"own": of_benign}, "refit": "own", "n_bootstraps": 30, "random_state": 0}
    found = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [5, 30]}, **settings).fit(*rows)
    display = ho.plots.PrecisionRecallDisplay.from_search(found)
    scores = found.predictions_.responses["probabilities"][:, found.best_index_, 0]
    area = average_precision_score(rows[1] == "malignant", scores)
    assert display.lines[0].label == f"held-out, uncorrected: average precision {area:.3f}"
    assert "malignant is positive" in display.ax_.get_title()
    choice = ho.plots.ThresholdChoiceDisplay.from_search(found, metric="accuracy")
    assert "above it malignant is predicted" in choice.ax_.get_xlabel()


def test_of_many_classes_the_worst_are_drawn() -> None:
    rng = np.random.default_rng(0)
    y = np.resize(np.arange(9), 180)
    scores = rng.random((180, 1, 2, 9)) + 2 * np.linspace(0, 1, 9) * np.eye(9)[y][:, None, None]
    scores /= scores.sum(axis=3, keepdims=True)
    for display, area, words in [
        (ho.plots.RocCurveDisplay, roc_auc_score, "areas"),
        (ho.plots.PrecisionRecallDisplay, average_precision_score, "average precisions"),
    ]:
        drawn = display.from_predictions(y, scores)  # type: ignore[attr-defined]
        areas = {f"class {code}": area(y == code, scores[:, 0, 0, code]) for code in range(9)}
        least = sorted(areas.items(), key=lambda item: item[1])[:7]
        assert [line.label.split(": ")[0] for line in drawn.lines] == [name for name, _ in least]
        assert [float(line.label.split()[-1]) for line in drawn.lines] == pytest.approx(
            [value for _, value in least], abs=6e-4
        )
        title = drawn.ax_.get_title()
        assert "against the other classes, held-out, uncorrected, first of 2 repeats" in title
        assert f"the 7 of 9 classes with the smallest {words}" in title


def test_the_threshold_of_a_search_is_that_of_its_estimate(search: Any, rows: tuple[Any, Any]) -> None:
    display = ho.plots.ThresholdChoiceDisplay.from_search(search, metric="accuracy")
    assert display.threshold_line_.get_xdata()[0] == display.threshold
    assert display.line_.get_ydata().tolist() == display.scores.tolist()
    assert display.bars_ is not None and display.chose_winner.any()
    probabilities = search.predictions_.responses["probabilities"][:, :, 0]
    settings = {"metric": "accuracy", "pos_label": "malignant", "n_bootstraps": 100}
    settings |= {"folds": search.predictions_.folds, "aggregate": search.aggregate}
    own = ho.plots.ThresholdChoiceDisplay.from_predictions(rows[1], probabilities, random_state=0, **settings)
    assert own.threshold == display.threshold
    with pytest.raises(InputError, match="roc_auc reads decision or probabilities; use a metric of labels"):
        ho.plots.ThresholdChoiceDisplay.from_search(search)


def test_a_validation_is_drawn_apparent_and_corrected(validation: Any) -> None:
    score = ho.plots.CorrectedScoreDisplay.from_validation(validation)
    row = validation.rows["roc_auc"]
    assert (score.value, score.uncorrected) == (row.corrected, row.apparent) and "apparent" in texts(score)
    for display, curve in (
        (ho.plots.RocCurveDisplay, validation.roc_curve()),
        (ho.plots.CalibrationDisplay, validation.calibration_curve()),
        (ho.plots.DecisionCurveDisplay, validation.decision_curve()),
    ):
        drawn = display.from_validation(validation)  # type: ignore[attr-defined]
        assert drawn.lines_[0].get_ydata() == pytest.approx(curve.apparent, nan_ok=True)
        assert drawn.lines_[1].get_ydata() == pytest.approx(curve.corrected, nan_ok=True)
        assert "corrected for optimism, with 95 % band" in texts(drawn) and "apparent" in texts(drawn)
    with pytest.raises(InputError, match="a validation does not correct precision against recall"):
        ho.plots.PrecisionRecallDisplay.from_validation(validation)
    with pytest.raises(InputError, match=r"metric must be one of the validation's .*, got 'f1'"):
        ho.plots.CorrectedScoreDisplay.from_validation(validation, metric="f1")


def test_what_a_search_lacks_is_said(raced: Any) -> None:
    with pytest.raises(InputError, match=r"RocCurveDisplay needs decisions .* has labels only; search"):
        ho.plots.RocCurveDisplay.from_search(raced)
    with pytest.raises(InputError, match="a threshold cuts decisions or probabilities, and the search kept labels"):
        ho.plots.ThresholdChoiceDisplay.from_search(raced)
    with pytest.raises(InputError, match="no two parameters have several values"):
        ho.plots.ParameterPlaneDisplay.from_search(raced)
    with pytest.raises(InputError, match="CalibrationDisplay is for binary tasks, and this one is multiclass"):
        ho.plots.CalibrationDisplay.from_predictions([0, 1, 2] * 4, np.full((12, 1, 1, 3), 1 / 3))
    assert not plt.get_fignums()


def test_what_is_no_result_is_refused_in_a_sentence(search: Any) -> None:
    y, table = np.resize([0, 1], 40), np.random.default_rng(0).random((40, 4))
    settings = {"metric": "neg_log_loss", "selection": "greedy_ensemble", "n_bootstraps": 20, "random_state": 0}
    ensemble = ho.estimate(y, table, **settings)
    for call, sentence in [
        (lambda: ho.plots.RocCurveDisplay.from_estimate(None, [0, 1], [0.1, 0.2]), "estimate must be what"),
        (lambda: ho.plots.RocCurveDisplay.from_validation(3), r"validation must be what .* returns, got int"),
        (lambda: ho.plots.CorrectedScoreDisplay.from_validation(search), "validation must be what"),
        (lambda: ho.plots.ParameterPlaneDisplay.from_search(search, 3), "parameters must be two names"),
        (lambda: search.plot(scorer=["accuracy"]), "scorer must be one of the search's scorers"),
        (lambda: search.plot(plt.subplots(1, 2)[1]), "ax must be one matplotlib Axes, got ndarray"),
        (
            lambda: ho.plots.RocCurveDisplay.from_predictions([0, 1] * 9, np.full(18, np.nan)),
            r"needs decisions or probabilities .*, and configuration 0 has no predictions",
        ),
        (lambda: ho.plots.RocCurveDisplay.from_estimate(ensemble, y, table), "the estimate is of an ensemble of"),
    ]:
        with pytest.raises(InputError, match=sentence):
            call()


# --- matplotlib ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("display", OF_SEARCHES)
def test_without_matplotlib_the_extra_is_named(display: type, search: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=SENTENCE):
        draw(display, search)


def test_names_of_users_are_shown_as_they_are() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    estimate = ho.estimate(y, rng.random((60, 4)), metric="roc_auc", n_bootstraps=30, random_state=0)
    display = ho.plots.CorrectedScoreDisplay.from_estimate(estimate)
    display.name = r"price $\frac{ $ \x1b[31m_a^b"
    display.plot().figure_.savefig(io.BytesIO(), format="svg")  # it is no formula, which would be malformed
    assert name_text("a$b") == r"a\$b" and len(name_text("x" * 200)) == 44


@pytest.fixture(scope="module")
def near_one() -> Any:
    """A search of r2 near 1 on few rows, where scores less their control pass 1."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 5))
    y = X @ np.arange(1.0, 6.0) + 0.8 * rng.normal(size=24)
    grid = {"alpha": [0.001, 0.01, 0.1, 1, 10, 100]}
    search = ho.HeldOutSearchCV(
        Ridge(), grid, scoring="r2", method="bbc", n_bootstraps=200, return_train_score=True, random_state=0
    ).fit(X, y)
    assert search.estimate_.distribution.max() > 1 and max(search.cv_results_["mean_test_score"]) < 1
    return search


@pytest.mark.parametrize(
    ("display", "side"),
    [
        (ho.plots.CorrectedScoreDisplay, "x"),
        (ho.plots.RankingDisplay, "x"),
        (ho.plots.OptimismCurveDisplay, "y"),
        (ho.plots.SearchHistoryDisplay, "y"),
    ],
)
def test_a_plot_ends_where_the_range_of_its_metric_does(display: type, side: str, near_one: Any) -> None:
    drawn = draw(display, near_one)
    low, high = getattr(drawn.ax_, f"get_{side}lim")()
    ticks = [tick for tick in getattr(drawn.ax_, f"get_{side}ticks")() if low <= tick <= high]
    assert high <= 1 + 0.011 * (high - low) and max(ticks) <= 1
    drawn.ax_.plot([1.3], [1.3])  # what a user draws there later is in view
    assert getattr(drawn.ax_, f"get_{side}lim")()[1] > 1.3
    if display is ho.plots.CorrectedScoreDisplay:
        assert drawn.bars_.get_data().edges[-1] == 1


def test_figures_of_a_page_end_where_the_range_does(near_one: Any, tmp_path: Path) -> None:
    page = near_one.report(tmp_path / "report.html").read_text(encoding="utf-8")
    figures = {figure.split("<", 1)[0]: figure for figure in re.findall(r"<title id=[^>]*>(.*?)</svg>", page, re.S)}
    for title in ("Distribution of the bootstrapped R²", "Scores by rank", "Training and held-out rows"):
        ticks = [float(text) for text in re.findall(r">(\d+\.\d+)</text>", figures[title])]
        assert max(ticks) == 1, title
    # Bars reach as far as the tick of 1 to the right, or from the top of the figure down.
    histogram = figures["Distribution of the bootstrapped R²"]
    (end,) = re.findall(r'x="([\d.]+)"[^>]*>1\.0+<', histogram)
    (bars,) = re.findall(r'fill="var\(--sky\)"[^>]* d="([^"]+L[^"]+L[^"]+L[^"]+L[^"]+L[^"]+L[^"]+)"', histogram)
    assert max(map(float, re.findall(r"([\d.]+),[\d.]+", bars))) <= float(end) + 0.1
    spreads = re.findall(r'stroke-opacity="0.55"[^>]* d="([^"]+)"', figures["Scores by rank"])
    assert spreads and min(float(y) for d in spreads for y in re.findall(r"[\d.]+,([-\d.]+)", d)) >= 0


def test_a_leaderboard_draws_corrected_scores_and_tiers() -> None:
    right = np.random.default_rng(0).random((100, 4)) < [0.5, 0.5, 0.5, 0.9]
    compared = ho.compare_configurations(right.astype(float), metric="mean_score", random_state=0)
    board = ho.estimates.leaderboard(compared, baseline=0)
    display = ho.plots.LeaderboardDisplay.from_leaderboard(board)
    frame = display.frame()
    values = {row.value for row in board.rows}
    assert values <= {*frame["x"]}
    assert "worse than the best" in texts(display)
    assert len(display.ax_.get_yticklabels()) == 4
