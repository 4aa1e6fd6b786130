import numpy as np
import pytest

from heldout.errors import InputError
from heldout.selection import NONE_CHOSEN, Best, CallableRefit, ScoreTable, SelectionFailedError, rule_of
from heldout.selection.ties import tie_exactly

NAN = np.nan


def table(*rows, **more):
    return ScoreTable(np.array(rows, dtype=float)[:, :, None], ["score"], **more)


@pytest.mark.parametrize(
    "scores, chosen",
    [
        ([0.1, 0.3, 0.2], 1),
        ([0.3, 0.3, 0.2], 0),
        ([NAN, 0.1, 0.2], 2),
        ([NAN, -np.inf, -np.inf], 1),
        ([NAN, NAN, NAN], NONE_CHOSEN),
        ([np.inf, 0.1, np.inf], 0),
    ],
)
def test_best_takes_the_first_greatest_and_never_nan(scores, chosen):
    assert Best()(table(scores)).tolist() == [chosen]


def test_rounding_noise_does_not_break_ties():
    means = np.array([np.mean([0.9, 0.8, 0.7]), np.mean([0.7, 0.9, 0.8]), (0.7 + 0.8 + 0.9) / 3])
    assert len(np.unique(means)) > 1  # the noise is there
    assert len(np.unique(tie_exactly(means))) == 1
    near = np.array([0.5, 0.5 + 1e-12])
    assert len(np.unique(tie_exactly(near))) == 2


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -3.25, np.inf, -np.inf, 2.0**900, 5e-324])
def test_cutting_the_noise_keeps_round_numbers(value):
    assert tie_exactly(np.array([value]))[0] == value
    assert np.isnan(tie_exactly(np.array([NAN]))[0])


def test_a_callable_refit_reads_a_dict_like_cv_results():
    seen = []

    def simplest_within_a_hundredth(results):
        seen.append(results)
        good = np.flatnonzero(results["mean_test_score"] >= np.nanmax(results["mean_test_score"]) - 0.01)
        return int(good[np.argmin(results["param_depth"][good])])

    params = [{"depth": 5}, {"depth": 1}, {"depth": 2, "other": "x"}]
    folds = np.array([[[0.9, 0.8, NAN], [0.7, 0.78, NAN]]])[..., None]
    rule = CallableRefit(simplest_within_a_hundredth)
    chosen = rule(table([0.8, 0.795, NAN], params=params, fold_scores=folds))
    assert chosen.tolist() == [1]
    results = seen[0]
    assert results["params"] == params
    assert results["param_depth"].tolist() == [5, 1, 2]
    assert results["param_other"].mask.tolist() == [True, True, False]
    assert results["rank_test_score"].tolist() == [1, 2, 3]
    assert results["split1_test_score"][1] == 0.78
    assert results["std_test_score"][0] == pytest.approx(0.1)
    assert rule.name == "refit callable simplest_within_a_hundredth"


def test_a_callable_that_chooses_a_failed_configuration_has_chosen_none():
    assert CallableRefit(lambda results: 0)(table([NAN, 0.5], params=[{}, {}])).tolist() == [NONE_CHOSEN]


@pytest.mark.parametrize(
    "refit, said",
    [(lambda results: results["mean_fit_time"], "KeyError: 'mean_fit_time'"), (lambda results: 7, "returned 7")],
)
def test_a_callable_that_cannot_be_replayed_says_why(refit, said):
    with pytest.raises(SelectionFailedError, match=said):
        CallableRefit(refit)(table([0.1, 0.5], params=[{}, {}]))


def test_constants_serve_rules_that_read_fit_times():
    rule = CallableRefit(
        lambda results: int(np.argmin(results["mean_fit_time"])), {"mean_fit_time": np.array([2.0, 1.0])}
    )
    assert rule(table([0.9, 0.5], params=[{}, {}])).tolist() == [1]


def test_rules_go_by_name_or_themselves():
    assert rule_of("best") == Best()
    assert rule_of(Best()) == Best()
    with pytest.raises(InputError, match="selection must be one of best"):
        rule_of("first")
    with pytest.raises(InputError):
        rule_of(3)
    with pytest.raises(InputError):
        rule_of(Best)
